#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/content_hash.hpp"

namespace recon {

/// Most tiles that a cloud is divided into.
inline constexpr std::size_t kMaxPlyTiles = 10000;

/// A written tile.
struct PlyTile {
  std::string name;  ///< of its file, such as "1200_m300.ply"
  FileIdentity identity;
};

/// Divides a cloud by a grid over x and y into the files X_Y.ply of `folder`, named by the corner of a tile:
/// X = size floor(x / size), Y = size floor(y / size), "m" before the digits of a negative one. What the
/// header says was subtracted from the coordinates counts in names, and stays subtracted in the files. A
/// point is in exactly one of them, with the bytes and in the order of the cloud; there is a file for each
/// tile that has points. The memory does not grow with the cloud; meanwhile a temporary file beside the cloud
/// takes as much space as its points. Deterministic.
/// @param cloud  as PlyWriter writes it
/// @param size   of a tile, in the unit of the cloud, > 0
/// @param claim  called once with the names of all files, before the first is written
/// @returns the files, in the order of X, then Y
/// @throws UsageError with the size to be given if there would be more than kMaxPlyTiles
/// @throws InputError for files of another form, and for points that are not finite
/// @throws OutputError, Interrupted
std::vector<PlyTile> divide_ply(
    const std::filesystem::path& cloud, double size, const std::filesystem::path& folder,
    const std::function<void(const std::vector<std::string>&)>& claim = [](const auto&) {});

}  // namespace recon
