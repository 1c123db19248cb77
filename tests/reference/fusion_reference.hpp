#pragma once

#include "fuse/fusion.hpp"

namespace recon::reference {

/// The check across views and the fusion of depth maps, implemented from their definitions in double
/// precision: one pixel after the other, all maps in memory. Shares no code with the program.

/// The depths of `reference` on which at least `min_views` of `sources` agree; NaN elsewhere.
Image<float> consistent_depth(const DepthView& reference, const std::vector<DepthView>& sources,
                              const ConsistencyOptions& options);

/// The points in the order of the program: by view, by row, and in a row by x modulo the spacing.
/// @param maps  of all views
std::vector<FusedPoint> fused_points(const std::vector<FusionView>& views,
                                     const std::vector<const FusionMaps*>& maps,
                                     const FusionOptions& options);

}  // namespace recon::reference
