#pragma once

#include <vector>

#include "methods/stereo/block/block_step.hpp"
#include "methods/stereo/pair.hpp"

namespace recon {

/// One level of the image pyramid. Of L levels, level l uses images halved l times (each pixel the mean of
/// four, odd sizes rounded up, the border repeated). The coarsest level searches the whole range of
/// disparities min .. max in its own pixels; each finer level searches the same number of disparities,
/// starting at the smallest: the level above the finest searches twice as far, the next four times. A pixel
/// takes the disparity of the coarser level where it is beyond the range of the finer level, otherwise that
/// of the finer level: near objects are matched coarsely.
struct BlockLevel {
  int width, height;
  DisparityRange searched;  ///< disparities of this level, in its pixels
  int hypotheses;           ///< searched.count x steps per pixel
  Region region;            ///< region of this level; never empty
  BlockLimits limits;
};

/// The levels, finest first.
/// @throws std::logic_error when the options are out of range or the region exceeds the image
std::vector<BlockLevel> plan_block_levels(int width, int height, DisparityRange range,
                                          const BlockMatchingOptions& options);

}  // namespace recon
