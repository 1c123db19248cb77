#pragma once

#include <stop_token>
#include <vector>

#include "reconstruct/device.hpp"
#include "reconstruct/export.hpp"
#include "reconstruct/view.hpp"

namespace reconstruct {

/// An undistorted photo with its camera.
struct View {
  ImageView image;
  Camera camera;
  Pose cam_from_world;
  ImageView mask = {};  ///< of the reference: 0 where it is ignored, kGrey8, of the image's size; or no data
};

/// The depth of a reference view by a plane sweep over sources, with slanted patches unless the options name
/// planes or stages: before the check across views. It is that of the program's *.photometric.bin, bit for
/// bit, with its sources in their order, undistorted images, and the same depth-min and depth-max: without
/// both, the program takes the sparse points and all views of the scene too, to find the depths to search.
/// A prior of the view goes to `fuse`, not here: it is fitted to depths that other views confirm.
/// @param device  what it computes on, not empty
/// @param reference  the view whose depth is computed
/// @param sources  1 to 32, best first; they see what the reference sees from other places
/// @param options  by name, what belongs to the method planesweep and its depth maps: depth-min and depth-max
/// (without them the depths at which there are surfaces are searched for), window, planes, quality (of which
/// the iterations count) and others; or a SceneOptions. Images are swept at the size that they have
/// @param stop  ends the call, as a rule within a tenth of a second
/// @throws UsageError that names the option, image or camera, the value found and what it may be
/// @throws OutOfMemory, DeviceError; Interrupted once `stop` is stopped
/// Thread safety: may be called from several threads. Determinism: the same bits for any number of threads.
RECONSTRUCT_API DepthMaps sweep(const Device& device, const View& reference, const std::vector<View>& sources,
                                const Options& options = {}, std::stop_token stop = {});

}  // namespace reconstruct
