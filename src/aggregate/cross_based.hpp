#pragma once

#include "aggregate/support_views.hpp"
#include "core/volume.hpp"
#include "match/cross_arms_step.hpp"

namespace recon {

/// Order of the two summations: a cross-based support is the union of the horizontal arms of the pixels on
/// p's vertical arms, or vice versa.
enum class CrossOrder {
  kHorizontal,  ///< sums along rows, then along columns
  kVertical,
};

struct CrossBasedOptions {
  int iterations = 4;  ///< number of aggregation iterations, 0 .. 64; the order alternates
  CrossOrder first = CrossOrder::kHorizontal;  ///< order of the first iteration
};

/// Cross-based aggregation (CROSS), in place: S(p, d) is the union of the arms in one direction of all pixels
/// on p's arms in the other direction, w = 1. The arms on plane d are the shorter of those of the reference
/// pixel and of its match. Each iteration averages the result of the previous one over the supports, by two
/// passes of prefix sums of costs in units of cost_unit(max_cost), which are exact. Deterministic for any
/// number of threads. Sources: K. Zhang, J. Lu and G. Lafruit 2009, section III; X. Mei et al. 2011, section
/// 2.2 (iterations of alternating order).
/// @param views  crosses of both views, or of the reference view only, which was better with AD-Census costs
///               on Middlebury's pairs; see cross_arms
/// @param max_cost  upper bound of the finite costs; see cost_unit
/// @param costs     (y, d, x), 0 .. `max_cost`, or +infinity (no cost): each iteration assigns such a sample
///                  the mean of its support, so gaps shrink
/// @throws std::logic_error where sizes differ or an option or the maximum cost is out of range; OutOfMemory
void cross_based(const SupportViews<Cross>& views, const CrossBasedOptions& options, float max_cost,
                 VolumeView<float> costs);

}  // namespace recon
