#pragma once

#include <cstddef>
#include <functional>

#include "core/image.hpp"
#include "fuse/agreement.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "session/options/scene_settings.hpp"

namespace recon {

/// The depths of a view in small that its sources confirm.
struct ConfirmedDepths {
  Image<float> depth;        ///< NaN = not confirmed
  Image<float> reliability;  ///< of these depths, see recon::reliability; else 0
};

/// The best sources of a view, so many, are asked about its depths in small.
inline constexpr std::size_t kAskedSources = 8;

/// Every `factor`-th pixel of the maps of a view, from the middles of blocks.
ViewDepth thinned(const ViewDepth& maps, const Pinhole& small, int factor);

/// The depths that the check across views would keep by what the asked sources say of them.
/// @param depth            before the check
/// @param sources          how many are asked
/// @param count_agreement  what they say, with these options
ConfirmedDepths confirmed_depths(
    ImageView<const float> depth, std::size_t sources, const CheckSettings& settings,
    const std::function<Image<Agreement>(const ConsistencyOptions&)>& count_agreement);

}  // namespace recon
