#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/image.hpp"
#include "fuse/agreement.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "session/options/scene_settings.hpp"

namespace recon {

/// A view to check, and its sources.
struct ViewCheck {
  DepthSource reference;
  std::vector<DepthSource> sources;
  ImageView<const std::uint8_t> mask;                 ///< 0: ignored; may be empty
  std::function<Image<Agreement>()> count_agreement;  ///< what the sources say of the reference
  /// Those of depths of the reference's camera, see checked_normals.
  std::function<Image<Vec3f>(ImageView<const float> depth)> normals;
};

/// What priors of other views say counts for depths of priors only.
/// @param confidence   of the reference, where priors have filled it
/// @param with_priors  what sources say that priors have filled
/// @param said         what they say without; set where it does not count
void take_said_of_priors(ImageView<const float> confidence, const Image<Agreement>& with_priors,
                         Image<Agreement>& said);

/// The depths of a view that its sources confirm and, for patches, that are reliable enough, see keeps_depth:
/// their confidence is then the reliability. Each is the mean with those of the sources that agree closely,
/// see mean_depth, and normals follow from it. Small holes are filled, islands removed.
/// @param maps  of the reference, not checked
ViewDepth check_view(const ViewCheck& check, const ViewDepth& maps, const CheckSettings& settings);

}  // namespace recon
