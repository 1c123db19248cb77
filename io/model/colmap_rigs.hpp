#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "io/file/input_file.hpp"
#include "scene/pose.hpp"

namespace recon {

class ColmapBuilder;

/// The rigs and frames of a model, which COLMAP has since 3.12: a rig is a set of cameras that are fixed to
/// each other, a frame the images that one of them took at one time. Where there are frames, the pose of an
/// image is camera_from_rig * rig_from_world, and that in the images file is not used.
class ColmapRigs {
 public:
  /// A camera of a rig; identity for its reference.
  /// @param camera_from_rig  empty: it is unknown, or not finite
  void add_camera(std::uint32_t rig, std::uint32_t camera, std::optional<Pose> camera_from_rig);

  /// An image of a frame.
  /// @param rig_from_world  empty: it is not finite
  /// @throws InputError with `place` when another frame has the image
  void add_image(std::uint32_t image, std::uint32_t rig, const std::optional<Pose>& rig_from_world,
                 const FilePlace& place);

  bool has_frames() const { return !images_.empty(); }

  /// cam_from_world of an image; empty: no frame has it, or one of the two poses is not known.
  std::optional<Pose> pose_of(std::uint32_t image, std::uint32_t camera) const;

  /// Whether two poses of one image differ by more than rounding to seven digits.
  bool differ(const Pose& a, const Pose& b) const;

 private:
  struct ImageOfFrame {
    std::uint32_t rig = 0;
    std::optional<Pose> rig_from_world;
  };
  void note_scale(const std::optional<Pose>& pose);

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<Pose>> cameras_;  ///< by rig and camera
  std::unordered_map<std::uint32_t, ImageOfFrame> images_;
  double scale_ = 0;  ///< of the longest translation
};

/// Parsers of rigs and frames, as those of colmap_formats.hpp. Sensors that are no cameras are ignored.
void parse_rigs_text(InputStream& stream, const std::string& file, ColmapBuilder& builder);
void parse_frames_text(InputStream& stream, const std::string& file, ColmapBuilder& builder);
void parse_rigs_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder);
void parse_frames_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder);

}  // namespace recon
