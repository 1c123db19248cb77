#pragma once

#include <cstdint>

#include "aggregate/aggregation.hpp"
#include "core/volume.hpp"
#include "cuda/testing/cuda_sweep.hpp"
#include "match/ad_census.hpp"

/// Cost aggregation on a GPU by parts, for tests and the benchmark: no CUDA type appears here, and a build
/// without CUDA has these functions too, which then throw DeviceUnavailable. What is in the device's memory
/// before is `poison` in every byte.

namespace recon::cuda {

/// As recon::cross_arms.
Image<Cross> run_cross_arms(ImageView<const Rgb8> image, const CrossOptions& options, std::uint8_t poison,
                            int device = 0);

/// As recon::constant_window.
Volume<float> run_constant_window(VolumeView<const float> costs, int radius, float max_cost,
                                  std::uint8_t poison, int device = 0);

/// As recon::adaptive_weight.
Volume<float> run_adaptive_weight(const SupportViews<Rgb8>& views, const AdaptiveWeightOptions& options,
                                  VolumeView<const float> costs, std::uint8_t poison, int device = 0);

/// As recon::cross_based on a copy of the costs.
/// @param longest  no arm is longer, see CrossOptions::reach
Volume<float> run_cross_based(const SupportViews<Cross>& views, int longest, const CrossBasedOptions& options,
                              float max_cost, VolumeView<const float> costs, std::uint8_t poison,
                              int device = 0);

/// What is timed: the left view of a pair in truncated colour differences, aggregated, its planes of least
/// cost chosen.
struct AggregationCase {
  ColourPair pair;
  int planes = 0;
  float cost_cap = 20;
  bool two_views = true;       ///< of weights and crosses
  AggregationOptions options;  ///< crosses: their rule is options.cross
};

/// Milliseconds by events of the four steps of Fang et al. 2012, each alone on the device.
struct AggregationTimes {
  TimeSpread costs;
  TimeSpread arms;  ///< of both views; 0 without crosses. Weights are made within the aggregation
  TimeSpread aggregation;
  TimeSpread winner;
};
AggregationTimes time_aggregation(const AggregationCase& problem, int repeats, int device = 0);

}  // namespace recon::cuda
