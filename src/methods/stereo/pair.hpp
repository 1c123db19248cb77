#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "match/ad_census.hpp"
#include "methods/stereo/block/block_step.hpp"
#include "methods/stereo/pipeline_options.hpp"
#include "methods/stereo/winner_disparity.hpp"
#include "optimize/belief/belief_layout.hpp"

namespace recon {

/// The disparities searched: min <= d < min + count, with x_right = x_left - d; min may be negative, and
/// count may exceed the image width.
struct DisparityRange {
  int min = 0;
  int count = 0;
};

/// A rectified pair of grey images of the same size. Images of more than 8 bits are given in both depths: the
/// 8-bit images are scaled by a common factor.
struct GreyPair {
  ImageView<const std::uint8_t> left, right;
  ImageView<const std::uint16_t> left16, right16;  ///< empty, or the same images in their stored depth
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
  ColourPair colour = {};  ///< the same images in colour, for kPipeline; otherwise empty
};

/// Disparity of each pixel of the left image; NaN where unknown.
struct DisparityMap {
  Image<float> disparity;
};

inline constexpr int kMaxDisparities = 4096;   ///< max number of disparities searched
inline constexpr int kMaxDisparity = 1 << 20;  ///< max absolute value of the min disparity

/// @throws std::logic_error for invalid images or range
void check_pair(const PairProblem& problem);

/// Runs the method given in the options on the CPU; see its header.
DisparityMap match_pair(const PairProblem& problem);

/// Max bytes that `match_pair` uses, including images and result.
std::size_t match_pair_bytes(int width, int height, const PairOptions& options, int threads);

/// Block matching by rolling windows; see BlockMatchingOptions. Source: J. Stam, 2008.
/// Runs on the threads of the surrounding task arena; the same bits for any number of threads and on every
/// processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap block_matching(const PairProblem& problem);

/// Max bytes that the call uses, including images and result.
std::size_t block_matching_bytes(int width, int height, const PairOptions& options, int threads);

/// Semi-global matching of a pair; see SemiGlobalPairOptions. Sources: H. Hirschmueller, TPAMI 2008; C. Banz,
/// H. Blume and P. Pirsch, 2011. Runs on the threads of the surrounding task arena; the same bits for any
/// number of threads and on every processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap semi_global_matching(const PairProblem& problem);

/// Max bytes that the call uses, including images and result.
std::size_t semi_global_matching_bytes(int width, int height, const PairOptions& options, int threads);

/// Hierarchical belief propagation on a pair; see BeliefOptions. Sources: P. Felzenszwalb and D.
/// Huttenlocher, IJCV 2006; S. Grauer-Gray and C. Kambhamettu, 2009. Runs on the threads of the surrounding
/// task arena; the same bits for any number of threads and on every processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap belief_matching(const PairProblem& problem);

/// Max bytes that the call uses, including images and result.
std::size_t belief_matching_bytes(int width, int height, const PairOptions& options, int threads);

}  // namespace recon
