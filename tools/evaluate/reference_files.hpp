#pragma once

#include <filesystem>
#include <vector>

#include "core/vec.hpp"
#include "evaluate/crop_volume.hpp"

namespace recon {

/// An affine map of space, such as a motion with a scale.
struct AffineMap {
  Mat3d linear = identity<double>();
  Vec3d translation{0, 0, 0};

  Vec3d operator*(Vec3d point) const { return linear * point + translation; }
};

/// Reads a text of 16 numbers, the rows of a matrix of 4 x 4 whose last one is 0 0 0 1.
/// @throws InputError
AffineMap read_transform(const std::filesystem::path& path);

/// Reads a SelectionPolygonVolume, a JSON file of Open3D.
/// @throws InputError
CropVolume read_crop_volume(const std::filesystem::path& path);

/// The points of a PLY file or, from a project of MeshLab (.mlp), those of all its meshes, moved as it says:
/// the aligned scans of ETH3D. The meshes are looked for beside the project.
/// @throws InputError, also when there are no points
std::vector<Vec3d> read_reference(const std::filesystem::path& path);

}  // namespace recon
