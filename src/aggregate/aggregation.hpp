#pragma once

#include <cstddef>

#include "aggregate/adaptive_weight_step.hpp"
#include "aggregate/cross_based.hpp"
#include "aggregate/support_views.hpp"
#include "core/volume.hpp"

namespace recon {

/// Aggregation of the costs around each pixel.
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
  CrossOptions cross;  ///< of the arms, for the caller that computes them
  CrossBasedOptions cross_based;
};

/// Aggregates costs by the method in the options; see constant_window, adaptive_weight, cross_based.
/// @param costs    (y, d, x), finite or +infinity (no cost); returned unchanged with kNone
/// @param colours  for kAdaptiveWeight, otherwise ignored
/// @param arms     for kCrossBased, otherwise ignored
/// @param max_cost upper bound of the finite costs; for kConstantWindow and kCrossBased, see cost_unit
/// @throws std::logic_error where sizes differ or an option is out of range; OutOfMemory
Volume<float> aggregated(Volume<float> costs, const SupportViews<Rgb8>& colours,
                         const SupportViews<Cross>& arms, const AggregationOptions& options, float max_cost);

/// Max bytes that `aggregated` allocates on `threads` threads, including its result, excluding `costs`.
std::size_t aggregation_bytes(int width, int height, int planes, const AggregationOptions& options,
                              int threads);

}  // namespace recon
