#include "io/colmap_builder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/parallel.hpp"
#include "io/image_size.hpp"
#include "io/text_scanner.hpp"

namespace recon {
namespace {

/// Bytes of a view and of a point besides their elements, including the lookup tables.
constexpr std::size_t kViewBytes = sizeof(View) + 256;
constexpr std::size_t kPointMemory = 2 * sizeof(SparsePoint) + 64;  // the array doubles when it grows

constexpr int kPointGrain = 256;  ///< points per task of a parallel loop

bool is_finite(Vec3d v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

double largest_component(Quaternion q) {
  return std::max({std::abs(q.w), std::abs(q.x), std::abs(q.y), std::abs(q.z)});
}

}  // namespace

Mat3d rotation_of(Quaternion q) {
  // Scaled by the largest component first, so that no square overflows or underflows.
  const double scale = 1 / largest_component(q);
  const double w0 = q.w * scale, x0 = q.x * scale, y0 = q.y * scale, z0 = q.z * scale;
  const double n = std::sqrt(w0 * w0 + x0 * x0 + y0 * y0 + z0 * z0);
  const double w = w0 / n, x = x0 / n, y = y0 / n, z = z0 / n;
  return {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),  //
           2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),  //
           2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
}

Quaternion quaternion_of(const Mat3d& r) {
  // The largest of 4w^2, 4x^2, 4y^2, 4z^2 is at least 1: dividing by its square root loses no precision.
  const double squares[4] = {1 + r(0, 0) + r(1, 1) + r(2, 2), 1 + r(0, 0) - r(1, 1) - r(2, 2),
                             1 - r(0, 0) + r(1, 1) - r(2, 2), 1 - r(0, 0) - r(1, 1) + r(2, 2)};
  const auto largest = std::max_element(squares, squares + 4) - squares;
  const double root = std::sqrt(squares[largest]);
  const double wx = r(2, 1) - r(1, 2), wy = r(0, 2) - r(2, 0), wz = r(1, 0) - r(0, 1);
  const double xy = r(0, 1) + r(1, 0), xz = r(0, 2) + r(2, 0), yz = r(1, 2) + r(2, 1);
  const double s = 0.5 / root;
  const Quaternion candidates[4] = {{0.5 * root, wx * s, wy * s, wz * s},
                                    {wx * s, 0.5 * root, xy * s, xz * s},
                                    {wy * s, xy * s, 0.5 * root, yz * s},
                                    {wz * s, xz * s, yz * s, 0.5 * root}};
  const Quaternion& q = candidates[largest];
  return q.w < 0 ? Quaternion{-q.w, -q.x, -q.y, -q.z} : q;
}

void ColmapBuilder::add_camera(std::uint32_t id, Camera camera, const FilePlace& place) {
  if (!camera_index_.emplace(id, static_cast<int>(scene_.cameras.size())).second)
    place.fail("camera {} is there twice; give every camera an id of its own", id);
  if (!is_image_size(camera.width, camera.height))
    place.fail("camera {} has a size of {} pixels; {}", id, size_text(camera.width, camera.height),
               kImageSizeRule);
  for (std::size_t i = 0; i < camera.params.size(); ++i) {
    const double value = camera.params[i];
    if (!std::isfinite(value))
      place.fail("camera {} has the parameter {}; it has to be a finite number", id, decimal(value));
    if (value <= 0 && i < static_cast<std::size_t>(focal_length_count(camera.model)))
      place.fail("camera {} has the focal length {}; it has to be positive, in pixels", id, decimal(value));
  }
  scene_.camera_ids.push_back(id);
  scene_.cameras.push_back(std::move(camera));
}

void ColmapBuilder::claim(std::uint64_t count, std::size_t each, const FilePlace& place) {
  const std::size_t left = memory_limit_ - memory_;
  if (count > left / each)
    throw OutOfMemory(fmt::format(
        "{}: the model takes more memory than the {} MiB that are left for it; raise --memory-limit, or make "
        "the model smaller: observations without a point are not needed, nor is the points3D file",
        place.text(), memory_limit_ >> 20));
  memory_ += static_cast<std::size_t>(count) * each;
}

void ColmapBuilder::claim_observations(std::uint64_t count, const FilePlace& place) {
  claim(count, sizeof(Observation), place);
}

void ColmapBuilder::claim_point(std::uint64_t track_length, const FilePlace& place) {
  constexpr std::size_t kListBytes = 8;  // visibility lists for view selection
  claim(track_length, sizeof(TrackElement) + kListBytes, place);
  claim(1, kPointMemory, place);
}

void ColmapBuilder::add_view(View view, std::uint32_t camera_id, Quaternion q, const FilePlace& place) {
  claim(1, kViewBytes + 2 * view.name.size(), place);
  check_relative_name(view.name, place);
  view.name = normalised_name(view.name);
  if (!view_index_.emplace(view.id, static_cast<int>(scene_.views.size())).second)
    place.fail("image {} is there twice; give every image an id of its own", view.id);
  if (!names_.insert(view.name).second)
    place.fail("the image name {} is there twice; every image needs a name of its own", in_quotes(view.name));
  const auto camera = camera_index_.find(camera_id);
  if (camera == camera_index_.end())
    place.fail("image {} ({}) refers to camera {}, which the cameras file does not have", view.id,
               in_quotes(view.name), camera_id);
  const double length = largest_component(q);
  if (!(std::isfinite(q.w) && std::isfinite(q.x) && std::isfinite(q.y) && std::isfinite(q.z)) ||
      length < 1e-100)
    place.fail(
        "image {} has the rotation {} {} {} {}, which is no quaternion of a rotation (QW QX QY QZ, "
        "finite and not all zero)",
        view.id, decimal(q.w), decimal(q.x), decimal(q.y), decimal(q.z));
  if (!is_finite(view.cam_from_world.translation))
    place.fail("image {} has a translation that is not finite; it has to be three finite numbers", view.id);
  for (std::size_t i = 0; i < view.observations.size(); ++i)
    if (!std::isfinite(view.observations[i].pixel.x) || !std::isfinite(view.observations[i].pixel.y))
      place.fail("observation {} of image {} is not finite", i, view.id);
  view.camera = camera->second;
  view.cam_from_world.rotation = rotation_of(q);
  scene_.views.push_back(std::move(view));
}

void ColmapBuilder::add_points(std::vector<SparsePoint> points,
                               const std::function<FilePlace(int)>& place_of) {
  std::vector<std::vector<std::uint32_t>> without_view(points.size());
  std::vector<FirstException> faults(points.size());
  parallel_for(
      static_cast<int>(points.size()),
      [&](int i) { faults[i].guard([&] { without_view[i] = link_track(points[i], place_of(i)); }); },
      kPointGrain);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const FilePlace place = place_of(static_cast<int>(i));
    check_point(points[i], place);
    faults[i].rethrow();
    if (!without_view[i].empty() && elements_without_view_ == 0)
      first_without_view_ = fmt::format("{}: point {} is seen by image {}", place.text(), points[i].id,
                                        without_view[i].front());
    elements_without_view_ += without_view[i].size();
    scene_.points.push_back(std::move(points[i]));
  }
}

/// Checks all of a point except its track.
void ColmapBuilder::check_point(const SparsePoint& point, const FilePlace& place) {
  if (point.id == kNoPoint)
    place.fail("point {} has the id that stands for no point; give it another one", point.id);
  if (!point_ids_.insert(point.id).second)
    place.fail("point {} is there twice; give every point an id of its own", point.id);
  if (!is_finite(point.position) || !std::isfinite(point.error))
    place.fail("point {} has a position or an error that is not finite", point.id);
}

/// Replaces the ids of images in a track by the indices of their views. Thread-safe.
/// @returns the images that are not there, whose elements are left out
std::vector<std::uint32_t> ColmapBuilder::link_track(SparsePoint& point, const FilePlace& place) const {
  std::vector<std::uint32_t> without_view;
  std::size_t kept = 0;
  for (const TrackElement element : point.track) {
    const auto image_id = static_cast<std::uint32_t>(element.view);
    const auto view = view_index_.find(image_id);
    if (view == view_index_.end()) {
      without_view.push_back(image_id);
      continue;
    }
    const auto& observations = scene_.views[view->second].observations;
    if (element.observation >= observations.size() || observations[element.observation].point_id != point.id)
      place.fail(
          "point {} is said to be observation {} of image {}, which does not know it; without the "
          "points3D file the scene is read without points",
          point.id, element.observation, image_id);
    point.track[kept++] = {view->second, element.observation};
  }
  point.track.resize(kept);
  return without_view;
}

Scene ColmapBuilder::finish(const std::string& images_file) {
  check_observations(images_file);
  sort_views();
  if (elements_without_view_ > 0)
    scene_.warnings.push_back(fmt::format(
        "{}, which the images file does not have; of all tracks {} such elements are ignored; if these views "
        "are to be used, export the whole model again",
        first_without_view_, elements_without_view_));
  return std::move(scene_);
}

void ColmapBuilder::check_observations(const std::string& images_file) {
  const bool has_points = !scene_.points.empty();
  std::vector<std::optional<std::uint64_t>> unknown(scene_.views.size());
  parallel_for(static_cast<int>(scene_.views.size()), [&](int i) {
    for (Observation& observation : scene_.views[i].observations.edit()) {
      if (!has_points) observation.point_id = kNoPoint;
      if (observation.point_id == kNoPoint || point_ids_.count(observation.point_id) != 0) continue;
      unknown[i] = observation.point_id;
      return;
    }
  });
  for (std::size_t i = 0; i < unknown.size(); ++i)
    if (unknown[i])
      FilePlace{images_file}.fail(
          "image {} ({}) observes point {}, which the points3D file does not have; without that file the "
          "scene "
          "is read without points",
          scene_.views[i].id, in_quotes(scene_.views[i].name), *unknown[i]);
}

void ColmapBuilder::sort_views() {
  std::vector<int> order(scene_.views.size());
  std::iota(order.begin(), order.end(), 0);
  const auto view = [&](int i) -> View& { return scene_.views[i]; };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return view(a).name < view(b).name; });
  std::vector<int> new_index(order.size());
  std::vector<View> sorted;
  sorted.reserve(order.size());
  for (const int old : order) {
    new_index[old] = static_cast<int>(sorted.size());
    sorted.push_back(std::move(view(old)));
  }
  scene_.views = std::move(sorted);
  std::vector<SparsePoint>& points = scene_.points.edit();
  parallel_for(
      static_cast<int>(points.size()),
      [&](int i) {
        for (TrackElement& element : points[i].track) element.view = new_index[element.view];
      },
      kPointGrain);
}

}  // namespace recon
