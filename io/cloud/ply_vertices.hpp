#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "io/cloud/ply_header.hpp"
#include "io/file/input_file.hpp"

namespace recon {

/// The vertices of a binary PLY file whose first element is "vertex", without lists, as PlyWriter writes it.
/// They are read where they are needed: the file may be larger than the memory.
class PlyVertices {
 public:
  /// @throws InputError with file and line for other files, and for counts that the size of the file
  /// contradicts
  explicit PlyVertices(const std::filesystem::path& path);

  const std::string& file() const { return file_; }
  PlyFormat format() const { return format_; }
  /// The properties and the number of the vertices.
  const PlyElement& element() const { return element_; }
  std::uint64_t count() const { return element_.count; }
  /// See PlyHeader.
  const Vec3d& offset() const { return offset_; }

  /// Size of a vertex in bytes.
  std::size_t bytes() const { return bytes_; }

  /// Whether the file has nothing but vertices.
  bool alone() const { return alone_; }

  /// The header of a file with `count` of the vertices.
  std::string header(std::uint64_t count) const;

  /// Appends the bytes of `count` vertices to `out`. Thread-safe.
  /// @throws InputError if they are no longer there; Error as InputStream
  void read(std::uint64_t first, std::uint64_t count, std::string& out) const {
    read(stream_, first, count, out);
  }

  /// The same by another descriptor of the file: threads that share one wait for one another at each read.
  void read(const InputStream& own, std::uint64_t first, std::uint64_t count, std::string& out) const;

  /// The same for `count` vertices of which each is `step` after the one before.
  void read_every(std::uint64_t step, const InputStream& own, std::uint64_t first, std::uint64_t count,
                  std::string& out) const;

  /// @throws InputError with the line of the header that describes the vertices
  [[noreturn]] void fail(const std::string& message) const;

 private:
  std::string file_;
  InputStream stream_;
  std::string header_;
  PlyFormat format_ = PlyFormat::kAscii;
  PlyElement element_;
  Vec3d offset_{};
  std::size_t bytes_ = 0;
  bool alone_ = false;
};

}  // namespace recon
