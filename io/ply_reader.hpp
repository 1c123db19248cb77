#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"

namespace recon {

/// The vertices of a PLY file. Missing properties are empty vectors; all others have the same length.
struct PlyCloud {
  std::vector<Vec3d> positions;
  std::vector<Vec3f> normals;      ///< nx ny nz
  std::vector<Rgb8> colours;       ///< red green blue: uchar, 16 bit (/257) or floats in [0, 1]
  std::vector<float> confidences;  ///< confidence, otherwise quality
};

/// Reads the vertices of a PLY file: ascii or binary of either byte order, any elements, properties and lists
/// in any order; properties not named above are skipped. Numbers may have any type. Vertices that are not
/// finite are omitted.
/// @throws InputError with file and line (header, ascii) or byte (binary): not a PLY, no vertices with x y z,
/// counts that
///         the size of the file contradicts, truncated
PlyCloud read_ply(const std::filesystem::path& path);
PlyCloud parse_ply(std::string_view bytes, const std::string& file);

}  // namespace recon
