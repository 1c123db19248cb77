#pragma once

#include <vector>

#include "reconstruct/device.hpp"
#include "reconstruct/view.hpp"
#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"

/// What sweeps of images in host memory and in device memory have in common.

namespace reconstruct::detail {

/// @param call  what messages call it. @throws UsageError for options that have no meaning for it
recon::SceneSettings sweep_settings(const Options& given, const char* call);

/// A view without its image.
struct PlacedView {
  const Camera& camera;
  const Pose& cam_from_world;
  int width, height;  ///< pixels
};

/// The plan of the first view, which the others are the sources of.
/// @throws UsageError for a camera or a pose that is none and for the number of sources; InputError where all
/// cameras are in one place
recon::ScenePlan sweep_plan(const std::vector<PlacedView>& views, const recon::SceneSettings& settings);

}  // namespace reconstruct::detail
