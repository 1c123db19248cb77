#include "session/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/quantile.hpp"
#include "io/cloud/ply.hpp"
#include "io/map/map_files.hpp"

namespace recon {

namespace {

/// Of the coordinates of an axis, this share at either end does not determine the extent.
constexpr double kOutliers = 0.01;
/// By this share of it, the extent is larger.
constexpr double kMargin = 0.25;
constexpr double kGridSteps = 65535;

struct Extent {
  double min, max;
};

Extent extent(const std::vector<Vec3d>& positions, double Vec3d::*axis) {
  std::vector<double> values;
  values.reserve(positions.size());
  for (const Vec3d& position : positions) values.push_back(position.*axis);
  const double low = lower_quantile(values, kOutliers), high = lower_quantile(values, 1 - kOutliers);
  const double margin = kMargin * (high - low);
  return {low - margin, high + margin};
}

/// The axis around which the view turns: what is up for most cameras, if that is upright in the first view
/// and not along it, as for photos straight down; else what is up in it.
Vec3d turning_axis(const std::vector<Pose>& cameras, const FirstView& first) {
  constexpr double kMinUpright = 0.5, kMaxAlong = 0.87;
  const Mat3d& rotation = first.cam_from_world.rotation;
  const Vec3d right = transpose(rotation) * Vec3d{1, 0, 0}, own = transpose(rotation) * Vec3d{0, -1, 0},
              forward = transpose(rotation) * Vec3d{0, 0, 1};
  Vec3d sum{0, 0, 0};
  for (const Pose& camera : cameras) sum = sum + transpose(camera.rotation) * Vec3d{0, -1, 0};
  const double length = std::sqrt(dot(sum, sum));
  if (!(length > kMinUpright * static_cast<double>(cameras.size()))) return own;
  const Vec3d up = (1 / length) * sum, upright = up - dot(up, right) * right;
  if (dot(upright, upright) < kMinUpright || dot(upright, own) <= 0) return own;
  const Vec3d axis = normalized(upright);
  return std::abs(dot(axis, forward)) < kMaxAlong ? axis : own;
}

/// The extents of the points on the axes.
using Box = std::array<Extent, 3>;
constexpr std::array<double Vec3d::*, 3> kAxes = {&Vec3d::x, &Vec3d::y, &Vec3d::z};

Box box_of(const std::vector<Vec3d>& positions) {
  Box box{};
  parallel_for(3, [&](int i) { box[i] = extent(positions, kAxes[i]); });
  return box;
}

void set_first_view(CloudView& view, const std::vector<Pose>& cameras, const FirstView& first) {
  const Pose world_from_cam = inverse(first.cam_from_world);
  const auto in_steps = [&](Vec3d point) { return (1 / view.step) * (point - view.origin); };
  view.eye = in_steps(world_from_cam.translation);
  view.target = in_steps(world_from_cam * Vec3d{0, 0, first.distance});
  view.up = turning_axis(cameras, first);
  const Pinhole& camera = first.camera;
  view.half_width = std::max(camera.cx, camera.width - camera.cx) / camera.fx;
  view.half_height = std::max(camera.cy, camera.height - camera.cy) / camera.fy;
}

/// Adds the point `index` of a cloud if it is in the box.
void add_point(CloudView& view, const PlyCloud& cloud, std::size_t index, const Box& box) {
  std::array<std::uint16_t, 3> steps{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = cloud.positions[index].*kAxes[i];
    if (!(value >= box[i].min && value <= box[i].max)) return;
    steps[i] = static_cast<std::uint16_t>(std::min((value - box[i].min) / view.step + 0.5, kGridSteps));
  }
  view.positions.insert(view.positions.end(), steps.begin(), steps.end());
  view.colours.push_back(index < cloud.colours.size() ? cloud.colours[index] : Rgb8{128, 128, 128});
  const float confidence = index < cloud.confidences.size() ? cloud.confidences[index] : 0;
  view.confidences.push_back(
      static_cast<std::uint8_t>(std::clamp(std::round(255 * confidence), 0.0f, 255.0f)));
}

nlohmann::json triple(Vec3d v) {
  return {v.x, v.y, v.z};
}

}  // namespace

std::size_t central_camera(const std::vector<Pose>& cameras) {
  EXPECTS(!cameras.empty());
  std::vector<Vec3d> centres;
  for (const Pose& camera : cameras) centres.push_back(inverse(camera).translation);
  Vec3d middle{0, 0, 0};
  for (const Vec3d& centre : centres) middle = middle + (1 / static_cast<double>(centres.size())) * centre;
  const auto distance = [&](const Vec3d& centre) { return dot(centre - middle, centre - middle); };
  const auto nearest = std::ranges::min_element(
      centres, [&](const Vec3d& a, const Vec3d& b) { return distance(a) < distance(b); });
  return static_cast<std::size_t>(nearest - centres.begin());
}

CloudView view_cloud(const std::filesystem::path& ply, const std::vector<Pose>& cameras,
                     const FirstView& first, std::size_t max_points) {
  EXPECTS(first.distance > 0 && max_points >= 1);
  const PlyCloud cloud = read_ply_sample(ply, max_points);
  CloudView view;
  if (cloud.positions.empty()) return view;
  const Box box = box_of(cloud.positions);
  double widest = 0;
  for (const Extent& side : box) widest = std::max(widest, side.max - side.min);
  view.step = widest > 0 ? widest / kGridSteps : 1;
  view.origin = {box[0].min, box[1].min, box[2].min};
  set_first_view(view, cameras, first);
  for (std::size_t i = 0; i < cloud.positions.size(); ++i) add_point(view, cloud, i, box);
  if (std::adjacent_find(view.confidences.begin(), view.confidences.end(), std::not_equal_to<>()) ==
      view.confidences.end())
    view.confidences.clear();
  return view;
}

nlohmann::json cloud_view_json(const CloudView& view) {
  nlohmann::json object = {{"eye", triple(view.eye)},
                           {"target", triple(view.target)},
                           {"up", triple(view.up)},
                           {"field", {view.half_width, view.half_height}},
                           {"positions", base64(view.positions)},
                           {"colours", base64(view.colours)}};
  if (!view.confidences.empty()) object["confidences"] = base64(view.confidences);
  return object;
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

namespace {

/// Nothing in the data ends their element.
std::string data_element(const char* kind, const nlohmann::json& data) {
  std::string element = data_mark(kind);
  for (const char c : data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    if (c == '<')
      element += "\\u003c";
    else
      element += c;
  return element + "</script>\n";
}

}  // namespace

std::string web_page(const char* kind, nlohmann::json data, const CloudView& cloud) {
  data["palette"] = base64(preview_colours());
  std::string page = std::string(embedded_page()) + data_element(kind, data);
  if (cloud.size() > 0 && !embedded_cloud_script().empty())
    page.append(data_element("points", cloud_view_json(cloud))).append(embedded_cloud_script());
  return page;
}

std::string data_mark(const char* kind) {
  return fmt::format("<script type=\"application/json\" id={}>", kind);
}

std::string file_address(const std::string& file) {
  constexpr std::string_view kPlain = "/-_.~";
  std::string address;
  for (const char c : file) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 128 && std::isalnum(byte)) || kPlain.find(c) != std::string_view::npos)
      address += c;
    else
      address += fmt::format("%{:02X}", byte);
  }
  return address;
}

}  // namespace recon
