#pragma once

#include <array>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "reconstruct/device.hpp"
#include "reconstruct/export.hpp"
#include "reconstruct/view.hpp"

namespace reconstruct {

/// The depth map of a view, of `sweep` or of another program.
struct FusionView {
  MapView<float> depth;  ///< z, scene units; unknown: NaN, infinite, zero or less
  Camera camera;
  Pose cam_from_world;
  MapView<float> confidence = {};  ///< [0, 1]; or no data: all depths have the confidence 1
  ImageView colour = {};           ///< of the points; or no data: they are black
  ImageView mask = {};             ///< 0 where depths are ignored, kGrey8; or no data
  std::vector<int> sources = {};   ///< indices of up to 32 other views that check it, best first
  /// Sparse points that the view sees, x, y, z in the world: the depths are compared with them, and nothing
  /// else depends on them. Or none
  std::vector<std::array<double, 3>> points = {};
  /// Values of a network or a sensor, up to a scale, a shift and a smooth bend, as files of --prior-maps have
  /// them: of all of the view, in any resolution of the same shape; 0 and NaN are unknown. Or no data
  MapView<float> prior = {};
  /// Of the prior, in any resolution of the same shape, [0, 1]: values below 0.1 are not used, others count
  /// by their confidence. Or no data: all have the confidence 1
  MapView<float> prior_confidence = {};
};

struct CloudPoint {
  double position[3];  ///< world, scene units
  float normal[3];     ///< world, unit
  std::uint8_t colour[3];
  float confidence;          ///< [0, 1]
  std::uint32_t view_count;  ///< views that agree on it
};

struct Cloud {
  std::vector<CloudPoint> points;
  std::vector<std::uint32_t> views;  ///< of each point in turn the indices of its views, rising
};

struct Fusion {
  /// Of each view the depths that others confirm, each the mean with those that agree closely, with normals
  /// that follow from them; small holes are filled.
  std::vector<DepthMaps> checked;
  Cloud cloud;  ///< it may be empty
  /// What seems wrong with the maps, for people: depths in another unit, distances to the camera, scales and
  /// shifts of single maps, maps of other images, or no depths, by comparison of each view with its sparse
  /// points, or where these are few, with other views.
  std::vector<std::string> warnings;
};

/// Checks depth maps across views and fuses what is confirmed into a cloud, as the program does with its own
/// where it searches no planes of the scene (`--scene-planes 0`):
/// the same points in the same order.
/// The priors of views are used as those of --prior-maps: fitted to the depths that other views confirm, they
/// fill what photos do not show, where other views agree; one that does not follow the depths is not used,
/// and a warning says so. `sweep` takes none, as nothing of its single depth map is confirmed yet.
/// @param device  what it computes on, not empty
/// @param views    at least 2. Where no view has sources, they are chosen by the positions of the cameras
/// @param options  by name, of the check and the cloud: min-views, max-depth-error, max-normal-angle,
/// min-confidence, max-hole, speckle, min-fused-views, point-spacing, roi, prior-kind (of priors), and of the
/// choice of sources; or a SceneOptions
/// @param stop  ends the call, as a rule within a tenth of a second
/// @throws UsageError that names the option or map, the value found and what it may be
/// @throws InputError where all cameras are in one place, and where next to nothing of the maps agrees with
/// points or each other
/// @throws OutOfMemory, DeviceError; Interrupted once `stop` is stopped
/// Memory: all maps are copied, those that priors fill twice. Thread safety: may be called from several
/// threads. Determinism: the same result for any number of threads.
RECONSTRUCT_API Fusion fuse(const Device& device, const std::vector<FusionView>& views,
                            const Options& options = {}, std::stop_token stop = {});

}  // namespace reconstruct
