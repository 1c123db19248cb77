#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pose.hpp"

namespace recon {

/// A thinned cloud for a web page.
struct CloudView {
  /// x, y, z in units of `step` from `origin`: three numbers a point, 0..65535.
  std::vector<std::uint16_t> positions;
  std::vector<Rgb8> colours;
  Vec3d origin;
  double step = 0;  ///< scene units

  Vec3d target;         ///< the middle of the points, in the units of `positions`
  double distance = 0;  ///< from which most points are in view, in the same units
  Vec3d up, forward;    ///< unit, of the mean camera

  std::size_t size() const { return colours.size(); }
};

inline constexpr std::size_t kMaxViewedPoints = 300000;

/// Every n-th point of a cloud that this program wrote, as few as `max_points`; those far from most others
/// are left out. Memory: that of these points.
/// @param cameras  cam_from_world, at least one
/// @throws InputError
CloudView view_cloud(const std::filesystem::path& ply, const std::vector<Pose>& cameras,
                     std::size_t max_points = kMaxViewedPoints);

/// As the script of the page takes it: an object with the arrays in base64.
std::string cloud_view_json(const CloudView& view);

/// Source: RFC 4648, section 4.
std::string base64(std::string_view bytes);

}  // namespace recon
