#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace recon {

/// Bytes that thinning to this many points takes, at most.
constexpr std::size_t thinning_bytes(std::size_t max_points) {
  return 96 * max_points;
}

/// Chooses points of a cloud that are evenly distributed in space: of each occupied cell of a grid of cubes
/// the one that is nearest to the centre, the first of several. The cubes are the smallest of which at most
/// `max_points` are occupied, within a few percent. The cloud is read several times, and is not in memory.
/// The result is the same on every machine.
/// @param cloud       binary and little-endian, with vertices alone, as PlyWriter writes it
/// @param max_points  >= 1
/// @returns the indices of the points, rising; all where the cloud has no more
/// @throws InputError for other files; Interrupted
std::vector<std::uint64_t> thin_ply(const std::filesystem::path& cloud, std::uint64_t max_points);

}  // namespace recon
