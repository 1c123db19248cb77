#include "session/scene/cloud_offset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/log.hpp"
#include "core/quantile.hpp"
#include "fuse/fusion.hpp"
#include "io/file/text_scanner.hpp"

namespace recon {

namespace {

constexpr std::array<double Vec3d::*, 3> kCoordinates = {&Vec3d::x, &Vec3d::y, &Vec3d::z};

Pose pose_less(const Pose& cam_from_world, Vec3d offset) {
  return {cam_from_world.rotation, cam_from_world.translation + cam_from_world.rotation * offset};
}

/// Whether floats hold the points of some views less an offset.
bool floats_hold(const ScenePlan& plan, int spacing, const std::vector<int>& views, Vec3d offset) {
  return std::ranges::all_of(views, [&](int view) {
    const FusionView it{plan.view(view).camera, pose_less(plan.scene_view(view).cam_from_world, offset), {}};
    return floats_suffice(it, plan.view(view).range.near, spacing);
  });
}

/// The median of the camera centres on each axis.
Vec3d middle_of_cameras(const ScenePlan& plan) {
  Vec3d middle{};
  for (const auto axis : kCoordinates) {
    std::vector<double> values;
    for (const View& view : plan.scene.views) values.push_back(camera_centre(view.cam_from_world).*axis);
    middle.*axis = lower_quantile(values, 0.5);
  }
  return middle;
}

Vec3d rounded_to(Vec3d point, double step) {
  for (const auto axis : kCoordinates) point.*axis = step * std::round(point.*axis / step) + 0.0;  // no -0
  return point;
}

Vec3d automatic_offset(const ScenePlan& plan, int spacing) {
  std::vector<int> views;
  for (std::size_t i = 0; i < plan.views.size(); ++i)
    if (plan.views[i].range.near > 0) views.push_back(static_cast<int>(i));
  if (floats_hold(plan, spacing, views, {})) return {};
  const Vec3d middle = middle_of_cameras(plan);
  constexpr double kRoundest = 1e6;
  for (double step = kRoundest; step > 1; step /= 10)
    if (floats_hold(plan, spacing, views, rounded_to(middle, step)))
      return rounded_to(middle, std::max(step / 10, 1.0));
  return rounded_to(middle, 1);
}

std::string joined(Vec3d v, const char* separator) {
  return fmt::format("{}{}{}{}{}", decimal(v.x), separator, decimal(v.y), separator, decimal(v.z));
}

}  // namespace

bool has_offset(Vec3d offset) {
  return dot(offset, offset) > 0;
}

Vec3d cloud_offset(const ScenePlan& plan, const CloudSettings& cloud) {
  return cloud.offset.automatic ? automatic_offset(plan, cloud.spacing) : cloud.offset.value;
}

PlyCoordinates cloud_coordinates(const ScenePlan& plan, const CloudSettings& cloud,
                                 const std::vector<int>& views) {
  const Vec3d offset = cloud_offset(plan, cloud);
  return {floats_hold(plan, cloud.spacing, views, offset) ? PlyPosition::kFloat : PlyPosition::kDouble,
          offset};
}

void subtract_offset(Scene& scene, Vec3d offset) {
  if (!has_offset(offset)) return;
  for (View& view : scene.views) view.cam_from_world = pose_less(view.cam_from_world, offset);
  for (SparsePoint& point : scene.points.edit()) point.position = point.position - offset;
}

/// NumPy's loadtxt reads the numbers.
std::string offset_file_text(Vec3d offset) {
  const Vec3d shift = Vec3d{} - offset;
  return fmt::format(
      "# The coordinates of {}, tiles/ and splat/ are those of the scene less these numbers.\n"
      "# All other files have the coordinates of the scene.\n{}\n"
      "# The global shift with which CloudCompare shows other clouds of the scene in the same place,\n"
      "# as a line of its global_shift_list.txt:\n# reconstruct; {}; 1;\n",
      Workspace::cloud_file(), joined(offset, " "), joined(shift, "; "));
}

void log_offset(const ScenePlan& plan, const CloudSettings& cloud) {
  if (!cloud.offset.automatic) return;
  const Vec3d offset = cloud_offset(plan, cloud);
  messages().info("--offset auto: {}",
                  has_offset(offset)
                      ? joined(offset, ",") + " is subtracted from the coordinates of the cloud"
                      : "none is needed, as floats hold the coordinates of the cloud");
}

}  // namespace recon
