#pragma once

#include "fuse/agreement.hpp"
#include "fuse/fusion.hpp"

namespace recon::reference {

/// The check across views and the fusion of depth maps, implemented from their definitions in double
/// precision: one pixel after the other, all maps in memory. Shares no code with the program.

/// The numbers of sources that say something of a depth.
struct Counts {
  int visible = 0, known = 0, agree = 0, close = 0, through = 0;
  int placed = 0;  ///< of those that agree, with a plane that the ray of the reference meets near its depth
  double offset = 0;  ///< sum of how much farther that is, relative to the depth
};

/// What `sources` say of the depth of pixel (x, y) of `reference`; all 0 where it is unknown.
Counts agreement(const DepthView& reference, const std::vector<DepthView>& sources,
                 const ConsistencyOptions& options, int x, int y);

/// The noise of the normals of a view, degrees; see recon::normal_noise.
float normal_noise(const FusionMaps& maps);

struct CloudPoint : FusedPoint {
  std::vector<std::uint32_t> views;  ///< indices of the views that agree, ascending
};

/// The points in the order of the program: by view, by row, and in a row by x modulo the spacing.
/// @param maps  of all views
std::vector<CloudPoint> fused_points(const std::vector<FusionView>& views,
                                     const std::vector<FusionMaps>& maps, const FusionOptions& options);

}  // namespace recon::reference
