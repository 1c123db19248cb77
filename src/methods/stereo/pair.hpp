#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "match/ad_census.hpp"
#include "match/block_options.hpp"
#include "methods/stereo/pipeline_options.hpp"
#include "methods/stereo/semi_global_pair_options.hpp"
#include "optimize/belief/belief_options.hpp"

namespace recon {

/// The disparities searched: min <= d < min + count, with x_right = x_left - d; min may be negative, and
/// count larger than the images are wide.
struct DisparityRange {
  int min = 0;
  int count = 0;
};

/// A rectified pair of grey images of one size. Images of more than 8 bits come in both depths: the 8-bit
/// ones are scaled by one factor common to both images.
struct GreyPair {
  ImageView<const std::uint8_t> left, right;
  ImageView<const std::uint16_t> left16, right16;  ///< empty, or the same pictures as they were stored
};

enum class PairMethod { kBlockMatching, kSemiGlobal, kBeliefPropagation, kPipeline };

struct PairOptions {
  PairMethod method = PairMethod::kSemiGlobal;
  DisparityRange range;
  BlockMatchingOptions block;
  SemiGlobalPairOptions semi_global;
  BeliefOptions belief;
  PipelineOptions pipeline;
};

struct PairProblem {
  GreyPair images;
  PairOptions options;
  ColourPair colour = {};  ///< the same pictures in colour, for kPipeline; else empty
};

/// Disparity of each pixel of the left image; NaN where none is trusted.
struct DisparityMap {
  Image<float> disparity;
};

inline constexpr int kMaxDisparities = 4096;   ///< most that are searched
inline constexpr int kMaxDisparity = 1 << 20;  ///< greatest absolute value of the least one

/// @throws std::logic_error when images or range are not what they have to be
void check_pair(const PairProblem& problem);

/// The method that the options name, on the CPU; see its header.
DisparityMap match_pair(const PairProblem& problem);

/// Bytes that `match_pair` takes at most, images and result included.
std::size_t match_pair_bytes(int width, int height, const PairOptions& options, int threads);

}  // namespace recon
