#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "io/file/input_file.hpp"
#include "io/model/colmap_rigs.hpp"
#include "scene/scene.hpp"

namespace recon {

/// A COLMAP quaternion of any non-zero length.
struct Quaternion {
  double w, x, y, z;
};

/// The rotation of q / |q|; q must be finite and non-zero.
Mat3d rotation_of(Quaternion q);

/// The unit quaternion of a rotation, w >= 0.
Quaternion quaternion_of(const Mat3d& rotation);

/// The pose of a quaternion and a translation; empty where they are none: not finite, or all zero.
std::optional<Pose> pose_of(Quaternion q, Vec3d translation);

/// Builds a scene from the text or binary parser, in the order cameras, rigs and frames, views, points, and
/// checks each part against the previous ones. Values that are not finite cost their element alone: a view
/// without a pose, or of a camera with such a parameter, is one of the unusable ones, a point is left out, an
/// observation loses its point; one warning states their numbers. Every member throws InputError with
/// `place`.
class ColmapBuilder {
 public:
  /// @param memory_limit  max bytes of the model, including temporary memory for reading
  explicit ColmapBuilder(std::size_t memory_limit = std::numeric_limits<std::size_t>::max())
      : memory_limit_(memory_limit) {}

  /// Reserves budget for the observations of a view, and for a point and its track; in binary files, before
  /// they are allocated.
  /// @throws OutOfMemory if they exceed the remaining budget
  void claim_observations(std::uint64_t count, const FilePlace& place);
  void claim_point(std::uint64_t track_length, const FilePlace& place);
  void claim_frame_image(const FilePlace& place);

  void warn(std::string text) { scene_.warnings.push_back(std::move(text)); }

  /// Rigs and frames, to be filled before views are added.
  ColmapRigs& rigs() { return rigs_; }

  void add_camera(std::uint32_t id, Camera camera, const FilePlace& place);

  /// @param view   the view except `camera` and the rotation, which are given by `camera_id` and `q`; where
  /// there are frames, its pose is that of its frame
  void add_view(View view, std::uint32_t camera_id, Quaternion q, const FilePlace& place);

  /// Adds points in the order of the file; their tracks are checked in parallel.
  /// @param points    track elements have the id of the image, as in the files, in place of the view
  /// @param place_of  of a point, by its index; thread-safe
  void add_points(std::vector<SparsePoint> points, const std::function<FilePlace(int)>& place_of);

  /// The scene, views sorted by name. Track elements of missing views and observations are omitted, and
  /// observations lose the ids of missing points; warnings state their numbers.
  /// @param images_file   file name in messages about observations of missing points
  Scene finish(const std::string& images_file);

 private:
  /// References to what is not there, which are ignored.
  struct Dangling {
    std::uint64_t count = 0;
    std::string first;  ///< its place, and what refers to what
  };
  /// Those of the track of a point, by what is missing.
  struct TrackFaults {
    std::uint64_t without_view = 0, without_observation = 0;
    std::string first_view, first_observation;
  };
  /// Elements that are left out because a value of theirs is not finite.
  struct NotFinite {
    std::uint64_t points = 0, observations = 0, errors = 0;
    std::string first;  ///< its place and value
  };
  static void add(std::uint64_t count, const std::string& first, Dangling& dangling);
  void warn(const Dangling& dangling, const char* what);
  void warn_of_not_finite();
  void warn_of_stale_poses();

  std::optional<Pose> pose_of_view(const View& view, std::uint32_t camera_id, Quaternion q,
                                   const FilePlace& place);
  std::string reason_of_no_pose(const View& view, Quaternion q, const FilePlace& place) const;
  void check_observations(const View& view, const FilePlace& place);

  void claim(std::uint64_t count, std::size_t each, const FilePlace& place);
  bool check_point(SparsePoint& point, const FilePlace& place);
  TrackFaults link_track(SparsePoint& point, const FilePlace& place) const;
  void unlink_missing_points(const std::string& images_file);
  void sort_views();

  Scene scene_;
  std::unordered_map<std::uint32_t, int> camera_index_;              ///< -1: it is unusable
  std::unordered_map<std::uint32_t, std::string> unusable_cameras_;  ///< and why
  std::unordered_map<std::uint32_t, int> view_index_;                ///< -1: it is left out
  std::unordered_set<std::string> names_;
  std::unordered_set<std::uint64_t> point_ids_;
  std::size_t memory_limit_;
  std::size_t memory_ = 0;
  Dangling without_view_, without_observation_, without_point_;
  ColmapRigs rigs_;
  std::uint64_t stale_poses_ = 0;
  std::string first_stale_pose_;
  NotFinite not_finite_;
  std::unordered_set<std::uint64_t> left_out_points_;
};

}  // namespace recon
