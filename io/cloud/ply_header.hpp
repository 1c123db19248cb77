#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/vec.hpp"

namespace recon {

enum class PlyFormat { kAscii, kBinaryLittleEndian, kBinaryBigEndian };

enum class PlyType { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kFloat, kDouble };

struct PlyProperty {
  std::string name;
  PlyType type = PlyType::kFloat;  ///< type of the value, or of the members of a list
  bool is_list = false;
  PlyType count_type = PlyType::kUint8;  ///< type of the length of a list
};

struct PlyElement {
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t line = 0;  ///< line in the header, for messages
  std::vector<PlyProperty> properties;
};

struct PlyHeader {
  PlyFormat format = PlyFormat::kAscii;
  std::vector<PlyElement> elements;
  std::uint64_t line_count = 0;  ///< lines up to and including end_header
  std::string_view body;         ///< bytes after the header
  Vec3d offset{};                ///< to be added to x, y and z; not 0 only in files of PlyWriter
};

/// Comments of PlyWriter: who wrote the file, and before three numbers what it subtracted from x, y and z.
inline constexpr std::string_view kPlyAuthor = "written by reconstruct";
inline constexpr std::string_view kPlyOffset = "offset";

/// Size of a number in a binary file, bytes.
std::size_t byte_count(PlyType type);

/// Parses the header of a PLY file. Its counts cause no allocation.
/// @throws InputError with file and line
PlyHeader parse_ply_header(std::string_view bytes, const std::string& file);

}  // namespace recon
