#pragma once

#include "aggregate/support_views.hpp"
#include "core/volume.hpp"
#include "match/cross_arms_step.hpp"

namespace recon {

/// Which arms are followed first: a cross-based support is made of the horizontal arms of the pixels on p's
/// vertical arms, or the other way round.
enum class CrossOrder {
  kHorizontal,  ///< sums along rows, then of these along columns
  kVertical,
};

struct CrossBasedOptions {
  int iterations = 4;                          ///< 0 .. 64, the order changes with each
  CrossOrder first = CrossOrder::kHorizontal;  ///< of the first iteration
};

/// Cross-based aggregation (CROSS), in place: S(p, d) is the union of the arms, in one direction, of all
/// pixels on p's arms in the other, w = 1. Arms on plane d are those that the views have in common: the
/// shorter one of the reference's pixel and of its match. Each iteration takes means over the supports, of
/// what the one before gave. Two passes of prefix sums of costs in units of cost_unit(greatest), which are
/// exact. Deterministic for any number of threads. Sources: K. Zhang, J. Lu and G. Lafruit 2009, section III;
/// X. Mei et al. 2011, section 2.2 (iterations of alternating order).
/// @param views  crosses of both views, or of the reference view alone, which was better with AD-Census costs
///               on Middlebury's pairs; see cross_arms
/// @param greatest  no finite cost is greater; see cost_unit
/// @param costs     (y, d, x), 0 .. `greatest`, or +infinity (no cost): an iteration gives such a sample the
///                  mean of its support, so that gaps close with every iteration
/// @throws std::logic_error where sizes differ or an option or the greatest cost is out of range; OutOfMemory
void cross_based(const SupportViews<Cross>& views, const CrossBasedOptions& options, float greatest,
                 VolumeView<float> costs);

}  // namespace recon
