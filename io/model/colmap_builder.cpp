#include "io/model/colmap_builder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/parallel.hpp"
#include "core/plain_number.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_size.hpp"

namespace recon {
namespace {

/// Bytes of a view and of a point besides their elements, including the lookup tables.
constexpr std::size_t kViewBytes = sizeof(View) + 256;
constexpr std::size_t kPointMemory = 2 * sizeof(SparsePoint) + 64;  // the array doubles when it grows

constexpr int kPointGrain = 256;      ///< points per task of a parallel loop
constexpr double kUnknownError = -1;  ///< as COLMAP writes it

bool is_finite(Vec3d v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

bool is_finite(const Observation& observation) {
  return std::isfinite(observation.pixel.x) && std::isfinite(observation.pixel.y);
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

std::optional<Pose> pose_of(Quaternion q, Vec3d translation) {
  constexpr double kMinLength = 1e-100;
  const bool finite = std::isfinite(q.w) && std::isfinite(q.x) && std::isfinite(q.y) && std::isfinite(q.z) &&
                      is_finite(translation);
  if (!finite || largest_component(q) < kMinLength) return std::nullopt;
  return Pose{rotation_of(q), translation};
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
    if (!std::isfinite(value)) {
      camera_index_[id] = -1;
      unusable_cameras_[id] = fmt::format("{}: camera {} has the parameter {}; it has to be a finite number",
                                          place.text(), id, plain(value));
      return;
    }
    if (value <= 0 && i < static_cast<std::size_t>(focal_length_count(camera.model)))
      place.fail("camera {} has the focal length {}; it has to be positive, in pixels", id, plain(value));
    if (value <= 0 && is_panorama(camera.model))
      place.fail("camera {} has the width or height {}; it has to be positive, in pixels", id, plain(value));
  }
  if (is_panorama(camera.model) && (std::abs(camera.params[0] - camera.width) > 0.01 * camera.width ||
                                    std::abs(camera.params[1] - camera.height) > 0.01 * camera.height))
    place.fail("camera {} is a panorama of {} x {} pixels, and its size is {}; they have to be the same", id,
               plain(camera.params[0]), plain(camera.params[1]), size_text(camera.width, camera.height));
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

void ColmapBuilder::claim_frame_image(const FilePlace& place) {
  constexpr std::size_t kBytes = 2 * sizeof(std::pair<std::uint32_t, Pose>) + 64;
  claim(1, kBytes, place);
}

void ColmapBuilder::add_view(View view, std::uint32_t camera_id, Quaternion q, const FilePlace& place) {
  claim(1, kViewBytes + 2 * view.name.size(), place);
  check_relative_name(view.name, place);
  view.name = normalised_name(view.name);
  const auto [index, is_new] = view_index_.emplace(view.id, static_cast<int>(scene_.views.size()));
  if (!is_new) place.fail("image {} is there twice; give every image an id of its own", view.id);
  if (!names_.insert(view.name).second)
    place.fail("the image name {} is there twice; every image needs a name of its own", in_quotes(view.name));
  const auto camera = camera_index_.find(camera_id);
  if (camera == camera_index_.end())
    place.fail("image {} ({}) refers to camera {}, which the cameras file does not have", view.id,
               in_quotes(view.name), camera_id);
  if (camera->second < 0) {
    index->second = -1;
    scene_.unusable.push_back({view.name, unusable_cameras_.at(camera_id)});
    return;
  }
  view.camera = camera->second;
  const std::optional<Pose> pose = pose_of_view(view, camera_id, q, place);
  if (!pose) {
    index->second = -1;
    scene_.unusable.push_back({view.name, reason_of_no_pose(view, q, place)});
    return;
  }
  check_observations(view, place);
  view.cam_from_world = *pose;
  scene_.views.push_back(std::move(view));
}

/// The pose of its frame, or else the one that the file states.
std::optional<Pose> ColmapBuilder::pose_of_view(const View& view, std::uint32_t camera_id, Quaternion q,
                                                const FilePlace& place) {
  const std::optional<Pose> stated = pose_of(q, view.cam_from_world.translation);
  if (!rigs_.has_frames()) return stated;
  const std::optional<Pose> of_frame = rigs_.pose_of(view.id, camera_id);
  if (of_frame && stated && rigs_.differ(*of_frame, *stated) && stale_poses_++ == 0)
    first_stale_pose_ = fmt::format(
        "{}: the pose of image {} ({}) is another one than that of its frame and its rig, with its centre "
        "{} away",
        place.text(), view.id, in_quotes(view.name),
        plain(norm(camera_centre(*of_frame) - camera_centre(*stated)), 4));
  return of_frame;
}

std::string ColmapBuilder::reason_of_no_pose(const View& view, Quaternion q, const FilePlace& place) const {
  const auto [x, y, z] = view.cam_from_world.translation;
  const std::string image = fmt::format("{}: image {}", place.text(), view.id);
  if (rigs_.has_frames())
    return image +
           " has no pose: the rigs and frames files have no frame with it, or its pose or that of its camera "
           "in the rig is not finite; without these two files the poses of the images file are used";
  if (!is_finite(view.cam_from_world.translation))
    return fmt::format("{} has the translation {} {} {}; it has to be three finite numbers", image, plain(x),
                       plain(y), plain(z));
  return fmt::format(
      "{} has the rotation {} {} {} {}, which is no quaternion of a rotation (QW QX QY QZ, finite and not "
      "all zero)",
      image, plain(q.w), plain(q.x), plain(q.y), plain(q.z));
}

/// Counts the observations that `finish` takes the point from: its track has their indices.
void ColmapBuilder::check_observations(const View& view, const FilePlace& place) {
  for (std::size_t i = 0; i < view.observations.size(); ++i) {
    const Observation& observation = view.observations[i];
    if (is_finite(observation)) continue;
    ++not_finite_.observations;
    if (not_finite_.first.empty())
      not_finite_.first = fmt::format("{}: observation {} of image {} is at {} {}", place.text(), i, view.id,
                                      plain(observation.pixel.x), plain(observation.pixel.y));
  }
}

void ColmapBuilder::add_points(std::vector<SparsePoint> points,
                               const std::function<FilePlace(int)>& place_of) {
  std::vector<TrackFaults> ignored(points.size());
  std::vector<FirstException> faults(points.size());
  parallel_for(
      static_cast<int>(points.size()),
      [&](int i) { faults[i].guard([&] { ignored[i] = link_track(points[i], place_of(i)); }); }, kPointGrain);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!check_point(points[i], place_of(static_cast<int>(i)))) continue;
    faults[i].rethrow();
    add(ignored[i].without_view, ignored[i].first_view, without_view_);
    add(ignored[i].without_observation, ignored[i].first_observation, without_observation_);
    scene_.points.push_back(std::move(points[i]));
  }
}

/// Checks all of a point except its track; false for one that is left out.
bool ColmapBuilder::check_point(SparsePoint& point, const FilePlace& place) {
  if (point.id == kNoPoint)
    place.fail("point {} has the id that stands for no point; give it another one", point.id);
  if (!point_ids_.insert(point.id).second)
    place.fail("point {} is there twice; give every point an id of its own", point.id);
  const bool has_position = is_finite(point.position);
  if (has_position && std::isfinite(point.error)) return true;
  if (not_finite_.first.empty())
    not_finite_.first = fmt::format("{}: point {} is at {} {} {} with the error {}", place.text(), point.id,
                                    plain(point.position.x), plain(point.position.y), plain(point.position.z),
                                    plain(point.error));
  ++(has_position ? not_finite_.errors : not_finite_.points);
  point.error = kUnknownError;
  if (!has_position) left_out_points_.insert(point.id);
  return has_position;
}

/// Replaces the ids of images in a track by the indices of their views, and leaves out the elements whose
/// image or observation is not there. Thread-safe.
ColmapBuilder::TrackFaults ColmapBuilder::link_track(SparsePoint& point, const FilePlace& place) const {
  TrackFaults ignored;
  std::size_t kept = 0;
  for (const TrackElement element : point.track) {
    const auto image_id = static_cast<std::uint32_t>(element.view);
    const auto view = view_index_.find(image_id);
    if (view == view_index_.end()) {
      if (ignored.without_view++ == 0)
        ignored.first_view =
            fmt::format("{}: point {} is seen by image {}, which the images file does not have", place.text(),
                        point.id, image_id);
      continue;
    }
    if (view->second < 0) continue;  // of a view that is left out
    const auto& observations = scene_.views[view->second].observations;
    const bool is_there = element.observation < observations.size();
    if (is_there && observations[element.observation].point_id == point.id) {
      if (is_finite(observations[element.observation]))
        point.track[kept++] = {view->second, element.observation};
      continue;
    }
    if (is_there && observations[element.observation].point_id != kNoPoint)
      place.fail(
          "point {} is said to be observation {} of image {}, which is of point {}; without the points3D "
          "file the scene is read without points",
          point.id, element.observation, image_id, observations[element.observation].point_id);
    if (ignored.without_observation++ == 0)
      ignored.first_observation =
          fmt::format("{}: point {} is said to be observation {} of image {}, which does not know it",
                      place.text(), point.id, element.observation, image_id);
  }
  point.track.resize(kept);
  return ignored;
}

void ColmapBuilder::add(std::uint64_t count, const std::string& first, Dangling& dangling) {
  if (dangling.count == 0) dangling.first = first;
  dangling.count += count;
}

void ColmapBuilder::warn(const Dangling& dangling, const char* what) {
  if (dangling.count > 0)
    scene_.warnings.push_back(fmt::format("{}; {} such {}", dangling.first, dangling.count, what));
}

Scene ColmapBuilder::finish(const std::string& images_file) {
  unlink_missing_points(images_file);
  sort_views();
  std::ranges::sort(scene_.unusable, {}, &LeftOut::name);
  warn_of_stale_poses();
  warn_of_not_finite();
  warn(without_view_, "elements are ignored; if these views are to be used, export the whole model again");
  warn(without_observation_, "elements are ignored");
  warn(without_point_, "observations are ignored; their points may have been removed from the model");
  return std::move(scene_);
}

void ColmapBuilder::warn_of_stale_poses() {
  if (stale_poses_ > 0)
    warn(fmt::format("{}; so it is with {} of {} images: the poses of the frames are used, as COLMAP does",
                     first_stale_pose_, stale_poses_, view_index_.size()));
}

void ColmapBuilder::warn_of_not_finite() {
  if (not_finite_.first.empty()) return;
  warn(fmt::format("{}; values that are not finite are left out: {} points, {} observations, {} errors",
                   not_finite_.first, not_finite_.points, not_finite_.observations, not_finite_.errors));
}

/// Without points3D, no observation has a point, and that is no fault; nor where its point is left out.
void ColmapBuilder::unlink_missing_points(const std::string& images_file) {
  const bool has_points = !point_ids_.empty();
  std::vector<std::uint64_t> missing(scene_.views.size()), first(scene_.views.size());
  parallel_for(static_cast<int>(scene_.views.size()), [&](int i) {
    for (Observation& observation : scene_.views[i].observations.edit()) {
      if (!is_finite(observation)) observation = {};
      const std::uint64_t point = observation.point_id;
      if (point == kNoPoint) continue;
      const bool left_out = left_out_points_.contains(point);
      if (has_points && point_ids_.contains(point) && !left_out) continue;
      if (!left_out && missing[i]++ == 0) first[i] = point;
      observation.point_id = kNoPoint;
    }
  });
  for (std::size_t i = 0; has_points && i < missing.size(); ++i)
    if (missing[i] > 0)
      add(missing[i],
          fmt::format("{}: image {} ({}) observes point {}, which the points3D file does not have",
                      images_file, scene_.views[i].id, in_quotes(scene_.views[i].name), first[i]),
          without_point_);
}

void ColmapBuilder::sort_views() {
  std::vector<int> order(scene_.views.size());
  std::iota(order.begin(), order.end(), 0);
  const auto view = [&](int i) -> View& { return scene_.views[i]; };
  std::ranges::sort(order, [&](int a, int b) { return view(a).name < view(b).name; });
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
