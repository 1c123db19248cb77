#include "session/scene/dense_model.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/parallel.hpp"
#include "io/model/colmap_model.hpp"
#include "scene/camera.hpp"

namespace recon {

namespace {

/// Where the undistorted image has what the photo has at `pixel`; nothing outside it.
std::optional<Vec2d> undistorted_pixel(const Lens& lens, const Pinhole& target, Vec2d pixel) {
  const std::optional<Vec3d> ray = lens.unproject(pixel);
  if (!ray || !(ray->z > 0)) return std::nullopt;
  const Vec2d moved = target.project(*ray);
  if (!(moved.x >= 0 && moved.y >= 0 && moved.x <= target.width && moved.y <= target.height))
    return std::nullopt;
  return moved;
}

constexpr std::uint32_t kDropped = std::numeric_limits<std::uint32_t>::max();

/// Moves the observations of one view to its undistorted image. Returns the new index of each, or kDropped;
/// an empty list when all are kept.
std::vector<std::uint32_t> move_observations(View& view, const Lens& lens, const Pinhole& target) {
  std::vector<Observation> kept;
  std::vector<std::uint32_t> new_index;
  kept.reserve(view.observations.size());
  new_index.reserve(view.observations.size());
  for (const Observation& observation : view.observations) {
    const auto pixel = undistorted_pixel(lens, target, observation.pixel);
    new_index.push_back(pixel ? static_cast<std::uint32_t>(kept.size()) : kDropped);
    if (pixel) kept.push_back({*pixel, observation.point_id});
  }
  if (kept.size() == new_index.size()) new_index = {};
  view.observations = std::move(kept);
  return new_index;
}

/// Moves the observations of all views to their undistorted images; tracks follow those that are dropped.
void move_observations(Scene& scene, const std::vector<Pinhole>& targets) {
  const std::vector<Lens> lenses(scene.cameras.begin(), scene.cameras.end());
  std::vector<std::vector<std::uint32_t>> new_index(scene.views.size());
  parallel_for(static_cast<int>(scene.views.size()), [&](int i) {
    View& view = scene.views[i];
    new_index[i] = move_observations(view, lenses[view.camera], targets[i]);
  });
  if (std::ranges::all_of(new_index, [](const auto& list) { return list.empty(); })) return;
  for (SparsePoint& point : scene.points.edit()) {
    for (TrackElement& element : point.track)
      if (const auto& indices = new_index[element.view]; !indices.empty())
        element.observation = indices[element.observation];
    std::erase_if(point.track, [](const TrackElement& element) { return element.observation == kDropped; });
  }
}

/// Gives every view the camera of its undistorted image; views that shared one still do.
void replace_cameras(Scene& scene, const std::vector<Pinhole>& targets) {
  std::vector<int> new_index(scene.cameras.size(), -1);
  std::vector<Camera> cameras;
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < scene.views.size(); ++i) {
    const int old = scene.views[i].camera;
    if (new_index[old] < 0) {
      new_index[old] = static_cast<int>(cameras.size());
      cameras.push_back(to_camera(targets[i]));
      ids.push_back(scene.camera_ids[old]);
    }
    scene.views[i].camera = new_index[old];
  }
  scene.cameras = std::move(cameras);
  scene.camera_ids = std::move(ids);
}

/// COLMAP up to 3.8 counts images in the order of the file, later versions by their ids: make both the same.
void renumber_views(Scene& scene) {
  if (std::ranges::is_sorted(scene.views, {}, &View::id)) return;
  std::uint32_t id = 0;
  for (View& view : scene.views) view.id = ++id;
}

}  // namespace

Scene undistorted_scene(const ScenePlan& plan) {
  const std::vector<int> order = plan.needed_views();
  Scene scene = keep_views(plan.scene, order);
  std::vector<Pinhole> targets;
  for (std::size_t i = 0; i < order.size(); ++i) {
    targets.push_back(plan.view(order[i]).camera);
    scene.views[i].name = plan.view(order[i]).output_name;
  }
  move_observations(scene, targets);
  replace_cameras(scene, targets);
  renumber_views(scene);
  return scene;
}

std::vector<int> dense_indices(const ScenePlan& plan) {
  std::vector<int> indices(plan.views.size(), -1);
  const std::vector<int> order = plan.needed_views();
  for (std::size_t i = 0; i < order.size(); ++i) indices[order[i]] = static_cast<int>(i);
  return indices;
}

void write_dense_model(const ScenePlan& plan, const Workspace& workspace) {
  write_colmap_model(workspace.path("sparse"), undistorted_scene(plan), ColmapFormat::kBinary);
  std::vector<PatchMatchEntry> entries;
  std::vector<std::string> names;
  for (const int view : plan.views_in_scope()) {
    PatchMatchEntry entry{plan.view(view).output_name, {}};
    for (const int source : plan.view(view).sources) entry.sources.push_back(plan.view(source).output_name);
    names.push_back(entry.reference);
    entries.push_back(std::move(entry));
  }
  write_patch_match_config(workspace.path("stereo/patch-match.cfg"), entries);
  write_fusion_config(workspace.path("stereo/fusion.cfg"), names);
}

}  // namespace recon
