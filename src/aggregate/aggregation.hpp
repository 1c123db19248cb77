#pragma once

#include <cstddef>

#include "aggregate/adaptive_weight_step.hpp"
#include "aggregate/cross_based.hpp"
#include "aggregate/support_views.hpp"
#include "core/volume.hpp"

namespace recon {

/// What sums up the costs around each pixel.
enum class Aggregation {
  kNone,
  kConstantWindow,
  kAdaptiveWeight,
  kCrossBased,
};

struct AggregationOptions {
  Aggregation kind = Aggregation::kNone;
  int constant_radius = 4;  ///< of the constant window, pixels
  AdaptiveWeightOptions adaptive_weight;
  CrossOptions cross;  ///< of the arms, for who makes them
  CrossBasedOptions cross_based;
};

/// The costs after the aggregation that the options name; see constant_window, adaptive_weight, cross_based.
/// @param costs    (y, d, x), finite or +infinity (no cost); given back as they are with kNone
/// @param colours  of kAdaptiveWeight, else not looked at
/// @param arms     of kCrossBased, else not looked at
/// @param greatest no finite cost is greater; of kConstantWindow and kCrossBased, see cost_unit
/// @throws std::logic_error where sizes differ or an option is out of range; OutOfMemory
Volume<float> aggregated(Volume<float> costs, const SupportViews<Rgb8>& colours,
                         const SupportViews<Cross>& arms, const AggregationOptions& options, float greatest);

/// Bytes that `aggregated` takes at most on `threads` threads beside `costs`, its result included.
std::size_t aggregation_bytes(int width, int height, int planes, const AggregationOptions& options,
                              int threads);

}  // namespace recon
