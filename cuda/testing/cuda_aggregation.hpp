#pragma once

#include <cstdint>

#include "aggregate/aggregation.hpp"
#include "core/volume.hpp"

/// Cost aggregation on a GPU by parts, for tests: no CUDA type appears here. What is in the device's memory
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

}  // namespace recon::cuda
