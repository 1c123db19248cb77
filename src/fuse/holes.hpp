#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "fuse/agreement.hpp"
#include "fuse/consistency.hpp"

namespace recon {

/// The maps of a view after the check across views, of one size; unknown is NaN in all three.
struct CheckedMaps {
  ImageView<float> depth;                   ///< z, scene units
  ImageView<Vec3f> normal;                  ///< unit, camera frame
  ImageView<float> confidence;              ///< [0, 1]
  ImageView<const std::uint8_t> mask = {};  ///< 0: ignored, stays unknown; may be empty
};

/// Criteria for a depth that fills a hole.
struct HoleOptions {
  int reach = 16;                ///< max distance to the known pixels on both sides, rows or columns; 0: none
  float min_confidence = 0.5f;   ///< see reliability
  ConsistencyOptions agreement;  ///< two sources must agree, where there are two, and `min_views`
};

/// Fills small holes in a continuous surface. An unknown pixel is in such a hole if along at least three of
/// four lines through it (row, column, both diagonals) the nearest known pixels on either side belong to one
/// surface. Its depth is interpolated between these pixels; it is kept if the sources agree with it, at most
/// as many see through it, and its reliability suffices. Deterministic for any number of threads.
///
/// @param[in,out] maps  of `view`
/// @param view     camera and pose; its maps are not loaded
/// @param sources  asked one after the other, so that only one is in memory
/// @throws what loading a map throws
void fill_holes(const CheckedMaps& maps, const DepthSource& view, const std::vector<DepthSource>& sources,
                const HoleOptions& options);

}  // namespace recon
