#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "io/file/output_file.hpp"

namespace recon {

/// The kind of numbers of an array of NumPy.
enum class NpyType { kFloat16, kFloat32, kFloat64, kUint8, kUint16 };

/// What the header of a .npy file says of a map.
struct NpyHeader {
  NpyType type = NpyType::kFloat32;
  bool big_endian = false;
  bool by_columns = false;  ///< Fortran's order: the numbers of a column come first
  int width = 0, height = 0;
  std::size_t bytes = 0;  ///< of the header

  bool has_integers() const { return type == NpyType::kUint8 || type == NpyType::kUint16; }
};

/// The dictionary in the header of a .npy file is read up to so many bytes, and lies with what is before it
/// in so many at the beginning of the file.
inline constexpr std::size_t kMaxNpyHeader = 1 << 16, kMaxNpyBeginning = kMaxNpyHeader + 12;

/// The header of a .npy file of version 1, 2 or 3 with an array of two dimensions, rows and columns; further
/// ones of length 1 before or behind them do not count.
/// @param bytes       the beginning of the file, with all of the header
/// @param file_bytes  of the whole file
/// @throws InputError with file and byte for damage, other numbers, other dimensions, and where the file has
/// not the bytes of the array
NpyHeader parse_npy_header(std::string_view bytes, std::uint64_t file_bytes, const std::string& file);

/// The numbers of a .npy file as they are, rounded to float.
/// @throws InputError as parse_npy_header
Image<float> parse_npy(std::string_view bytes, const std::string& file);

/// Writes floats as rows and columns, and of vectors as three numbers a pixel; unknown becomes 0.
/// @throws OutputError
FileIdentity write_npy(const std::filesystem::path& path, ImageView<const float> image);
FileIdentity write_npy(const std::filesystem::path& path, ImageView<const Vec3f> image);

}  // namespace recon
