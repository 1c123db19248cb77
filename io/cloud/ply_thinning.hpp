#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

#include "core/vec.hpp"

namespace recon {

/// Bytes that thinning takes for each point that is left, at most.
inline constexpr std::size_t kThinningBytes = 96;

/// The part of space that cameras see from near; without bounds by default.
struct NearBall {
  Vec3d centre;
  double radius = std::numeric_limits<double>::infinity();
};

/// The point from the centre, in units of the radius r, and all outside the ball drawn into one of twice the
/// radius: of the distance d to the distance 2 - r / d. Without bounds the point itself. As much of what is
/// far is left as cameras in the middle see of it: angles and disparities (Barron, Mildenhall, Verbin,
/// Srinivasan, Hedman 2022, "Mip-NeRF 360", equation 10).
Vec3d contracted(Vec3d point, const NearBall& near);

/// Chooses points of a cloud that are evenly distributed in contracted space: of each occupied cell of a grid
/// of cubes the one that is nearest to the centre, the first of several. The cubes are the smallest of which
/// at most `max_points` are occupied, within a few percent. The cloud is read several times, and is not in
/// memory. The result is the same on every machine.
/// @param cloud       binary and little-endian, with vertices alone, as PlyWriter writes it
/// @param max_points  >= 1
/// @param near        beyond it, cubes grow with the distance: a large far surface does not take them all
/// @returns the indices of the points, rising; all where the cloud has no more
/// @throws InputError for other files; Interrupted
std::vector<std::uint64_t> thin_ply(const std::filesystem::path& cloud, std::uint64_t max_points,
                                    const NearBall& near = {});

}  // namespace recon
