#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "io/place.hpp"
#include "scene/scene.hpp"

namespace recon {

/// A quaternion as COLMAP writes it, of any length but zero.
struct Quaternion {
  double w, x, y, z;
};

/// The rotation of q / |q|; q has to be finite and not zero.
Mat3d rotation_of(Quaternion q);

/// The unit quaternion of a rotation, w >= 0.
Quaternion quaternion_of(const Mat3d& rotation);

/// One element of a track as the files have it.
struct RawTrackElement {
  std::uint32_t image_id;
  std::uint32_t observation;
};

/// Puts a scene together from what the text and the binary reader find, in the order cameras, views, points,
/// and checks each part against those before it. Every member throws InputError that names `place`.
class ColmapBuilder {
 public:
  void add_camera(std::uint32_t id, Camera camera, const FilePlace& place);

  /// @param view   all but `camera` and the rotation, which are given by `camera_id` and `q`
  void add_view(View view, std::uint32_t camera_id, Quaternion q, const FilePlace& place);

  /// @param point   all but the track, which is given by `track`
  void add_point(SparsePoint point, const std::vector<RawTrackElement>& track, const FilePlace& place);

  /// The scene, views sorted by name.
  /// @param images_file   name for messages about observations of points that do not exist
  Scene finish(const std::string& images_file);

 private:
  void check_observations(const std::string& images_file);
  void sort_views();

  Scene scene_;
  std::unordered_map<std::uint32_t, int> camera_index_;
  std::unordered_map<std::uint32_t, int> view_index_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::uint64_t> point_ids_;
};

}  // namespace recon
