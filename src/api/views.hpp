#pragma once

#include <cstdint>
#include <string>

#include "core/image.hpp"
#include "reconstruct/view.hpp"
#include "scene/scene.hpp"

/// Views of the caller as a scene.

namespace reconstruct::detail {

/// Adds a view with a pinhole camera.
/// @param name  what messages call it
/// @throws UsageError for a camera or a pose that is none
void add_view(const Camera& camera, const Pose& cam_from_world, int width, int height,
              const std::string& name, recon::Scene& scene);

/// The pixels to use of a view, empty without a mask.
/// @throws UsageError for a mask that is not kGrey8 or of another size
recon::Image<std::uint8_t> mask_of(const ImageView& mask, int width, int height, const std::string& name);

}  // namespace reconstruct::detail
