#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "core/image.hpp"

namespace recon {

/// Bytes in a file without a name, mapped into memory: the system takes its pages back when it needs them
/// elsewhere. The file vanishes with the object or the process.
class MappedFile {
 public:
  /// Writes `bytes`, at least one.
  /// @param folder  on the disk that the file takes its space from
  /// @throws OutputError with folder and reason
  MappedFile(const std::filesystem::path& folder, std::string_view bytes);

  /// A file of `bytes` zeros, at least one, to `write` to. Its space on the disk is taken at once.
  MappedFile(const std::filesystem::path& folder, std::size_t bytes);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const void* data() const { return data_; }

  /// Replaces bytes of a file that was made to be written.
  void write(std::size_t offset, std::string_view bytes);

  /// Gives back the memory of what was read or written; it may be read again. Other threads may read
  /// meanwhile.
  void drop_pages() const noexcept;

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
  bool writable_;
};

/// The pixels of an image in a mapped file.
template <class T>
class MappedImage {
 public:
  /// @param image  not empty
  /// @throws OutputError
  MappedImage(const std::filesystem::path& folder, ImageView<const T> image)
      : image_(image),
        file_(folder, {reinterpret_cast<const char*>(image.data), sizeof(T) * image.pitch * image.height}) {
    image_.data = static_cast<const T*>(file_.data());
  }

  ImageView<const T> view() const { return image_; }
  void drop_pages() const noexcept { file_.drop_pages(); }

 private:
  ImageView<const T> image_;
  MappedFile file_;
};

}  // namespace recon
