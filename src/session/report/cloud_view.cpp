#include "session/report/cloud_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "io/ply.hpp"

namespace recon {

namespace {

/// Of the coordinates of an axis, this share at either end does not determine the extent.
constexpr double kOutliers = 0.01;
/// By this share of it, the extent is larger.
constexpr double kMargin = 0.25;
constexpr double kGridSteps = 65535;

struct Extent {
  double min, middle, max;
};

double quantile(std::vector<double>& values, double share) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Extent extent(const std::vector<Vec3d>& positions, double Vec3d::*axis) {
  std::vector<double> values;
  values.reserve(positions.size());
  for (const Vec3d& position : positions) values.push_back(position.*axis);
  const double low = quantile(values, kOutliers), high = quantile(values, 1 - kOutliers);
  const double margin = kMargin * (high - low);
  return {low - margin, quantile(values, 0.5), high + margin};
}

/// The mean of an axis of the cameras, unit; `otherwise` where their directions cancel out.
Vec3d mean_axis(const std::vector<Pose>& cameras, Vec3d in_camera, Vec3d otherwise) {
  constexpr double kMinLength = 0.2;
  Vec3d sum{0, 0, 0};
  for (const Pose& camera : cameras) sum = sum + transpose(camera.rotation) * in_camera;
  const double length = std::sqrt(dot(sum, sum)) / static_cast<double>(cameras.size());
  return length > kMinLength ? normalized(sum) : otherwise;
}

nlohmann::json triple(Vec3d v) {
  return {v.x, v.y, v.z};
}

}  // namespace

CloudView view_cloud(const std::filesystem::path& ply, const std::vector<Pose>& cameras,
                     std::size_t max_points) {
  EXPECTS(!cameras.empty() && max_points >= 1);
  const PlyCloud cloud = read_ply_sample(ply, max_points);
  CloudView view;
  view.forward = mean_axis(cameras, {0, 0, 1}, {0, 0, 1});
  // Of photos straight down in strips to and fro, none is up: they look down.
  view.up = mean_axis(cameras, {0, -1, 0}, -view.forward);
  if (cloud.positions.empty()) return view;
  const std::array<double Vec3d::*, 3> axes = {&Vec3d::x, &Vec3d::y, &Vec3d::z};
  std::array<Extent, 3> box{};
  double widest = 0;
  parallel_for(3, [&](int i) { box[i] = extent(cloud.positions, axes[i]); });
  for (const Extent& side : box) widest = std::max(widest, side.max - side.min);
  view.step = widest > 0 ? widest / kGridSteps : 1;
  view.origin = {box[0].min, box[1].min, box[2].min};
  double diagonal = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    view.target.*axes[i] = (box[i].middle - box[i].min) / view.step;
    diagonal = std::hypot(diagonal, (box[i].max - box[i].min) / view.step);
  }
  view.distance = 0.6 * diagonal;
  for (std::size_t p = 0; p < cloud.positions.size(); ++p) {
    std::array<std::uint16_t, 3> steps{};
    bool inside = true;
    for (std::size_t i = 0; i < 3; ++i) {
      const double value = cloud.positions[p].*axes[i];
      inside = inside && value >= box[i].min && value <= box[i].max;
      if (inside)
        steps[i] = static_cast<std::uint16_t>(std::min((value - box[i].min) / view.step + 0.5, kGridSteps));
    }
    if (!inside) continue;
    view.positions.insert(view.positions.end(), steps.begin(), steps.end());
    view.colours.push_back(p < cloud.colours.size() ? cloud.colours[p] : Rgb8{128, 128, 128});
  }
  return view;
}

std::string cloud_view_json(const CloudView& view) {
  const auto bytes = [](const auto& values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
  };
  const nlohmann::json camera = {{"target", triple(view.target)},
                                 {"distance", view.distance},
                                 {"up", triple(view.up)},
                                 {"forward", triple(view.forward)}};
  std::string text = camera.dump();
  text.back() = ',';
  return text + "\"positions\":\"" + base64(bytes(view.positions)) + "\",\"colours\":\"" +
         base64(bytes(view.colours)) + "\"}";
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  std::size_t at = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 3, at += 4) {
    const std::size_t left = std::min<std::size_t>(bytes.size() - i, 3);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < left; ++k)
      group |= std::uint32_t{static_cast<unsigned char>(bytes[i + k])} << (16 - 8 * k);
    for (std::size_t k = 0; k <= left; ++k) text[at + k] = kDigits[group >> (18 - 6 * k) & 63u];
  }
  return text;
}

}  // namespace recon
