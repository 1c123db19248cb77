#pragma once

#include "aggregate/adaptive_weight_step.hpp"
#include "aggregate/support_views.hpp"
#include "core/volume.hpp"

namespace recon {

/// Adaptive weight (AW): S(p) is the square of side 2 radius + 1 around p, clipped to the image, and
///   w(p, q) = exp(-(Dc(p, q) / gamma_c + Dg(p, q) / gamma_s))
///   w(p, q, d) = w(p, q) w(p', q')
/// with Dc the Euclidean distance in CIELab, Dg that in the image, p', q' the matches of p and q on plane d
/// in the source view. A pixel whose match lies outside the source is excluded, unless the match of p lies
/// outside too: then the weight is w(p, q). The full window is summed without approximation: the time grows
/// with the square of the radius. Deterministic for any number of threads; between processors weights differ
/// in the last bits. Source: K.-J. Yoon and I. S. Kweon, "Adaptive support-weight approach for correspondence
/// search", TPAMI 2006, equations 6 and 7.
/// @param costs       (y, d, x), finite or +infinity (no cost)
/// @param aggregated  of the same shape, not overlapping `costs`
/// @throws std::logic_error where sizes differ or an option is out of range; OutOfMemory
void adaptive_weight(const SupportViews<Rgb8>& views, const AdaptiveWeightOptions& options,
                     VolumeView<const float> costs, VolumeView<float> aggregated);

}  // namespace recon
