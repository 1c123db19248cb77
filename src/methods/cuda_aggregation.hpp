#pragma once

#include <cstdint>

#include "aggregate/adaptive_weight_step.hpp"
#include "aggregate/cross_based.hpp"
#include "aggregate/support_views.hpp"
#include "core/volume.hpp"

/// Cost aggregation on a GPU by parts, for tests and the benchmark: no CUDA type appears here, and a build
/// without CUDA has these functions too, which then throw DeviceUnavailable. What is in the device's memory
/// before is `poison` in every byte.

namespace recon::cuda {

/// As recon::cross_arms.
Image<Cross> run_cross_arms(ImageView<const Rgb8> image, const CrossOptions& options, std::uint8_t poison,
                            int device = 0);

/// As recon::cross_based on a copy of the costs.
/// @param longest  no arm is longer, see CrossOptions::reach
Volume<float> run_cross_based(const SupportViews<Cross>& views, int longest, const CrossBasedOptions& options,
                              VolumeView<const float> costs, std::uint8_t poison, int device = 0);

}  // namespace recon::cuda
