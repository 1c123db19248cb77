#include <fmt/format.h>

#include <algorithm>

#include "session/plan/plan.hpp"

namespace recon {

std::string reduced_images_text(const ScenePlan& plan, const ImageSizes& images) {
  if (images.longest_side > 0) return {};
  const auto is_reduced = [&](int view) {
    const Camera& camera = plan.scene.cameras[plan.scene_view(view).camera];
    const int side = images.max_side(camera.width, camera.height);
    return side > 0 && side < std::max(camera.width, camera.height);
  };
  const auto reduced = std::ranges::count_if(plan.needed_views(), is_reduced);
  if (reduced == 0) return {};
  const bool one = reduced == 1;
  const std::string count = fmt::format("{} image{} reduced to ", reduced, one ? " is" : "s are");
  if (!images.halved)
    return count + fmt::format("{} pixels; --quality high keeps {} size", images.most, one ? "its" : "their");
  const auto is_large = [&](int view) {
    const Camera& camera = plan.scene.cameras[plan.scene_view(view).camera];
    return std::max(camera.width, camera.height) > images.most;
  };
  const bool limited = images.most > 0 && std::ranges::any_of(plan.needed_views(), is_large);
  const std::string most = limited ? fmt::format(", {} pixels at most", images.max_side(images.most, 1)) : "";
  return count + "half of " + (one ? "its" : "their") + " size" + most + "; --quality normal keeps more";
}

}  // namespace recon
