#pragma once

#include <vector>

#include "core/hd.hpp"
#include "methods/stereo/block_winner_step.hpp"
#include "methods/stereo/pair.hpp"

namespace recon {

/// What one level of the image pyramid does. Of L levels, level l works on images halved l times (each pixel
/// the mean of four, odd sizes rounded up, the border repeated). Of the disparities min .. max that are
/// searched in all, the coarsest level takes the whole range in its own pixels, and each finer one the
/// smallest disparities of it, as many as the coarsest: the level above the finest searches twice as far, the
/// next four times. A pixel takes what a coarser level found where that is beyond the range of the finer
/// level, and what the finer level found everywhere else: near objects are matched coarsely.
struct BlockLevel {
  int width, height;
  DisparityRange searched;  ///< of this level, in its pixels
  int hypotheses;           ///< searched.count x steps per pixel
  Region region;            ///< of this level; never empty
  BlockLimits limits;
};

/// The levels from the finest on.
/// @throws std::logic_error when the options are out of range or the region leaves the image
std::vector<BlockLevel> plan_block_levels(int width, int height, DisparityRange range,
                                          const BlockMatchingOptions& options);

}  // namespace recon
