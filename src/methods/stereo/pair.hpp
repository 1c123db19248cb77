#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "match/ad_census.hpp"
#include "methods/hypotheses.hpp"
#include "methods/method_spec.hpp"
#include "methods/presets.hpp"
#include "methods/stereo/winner_disparity.hpp"

namespace recon {

/// A rectified pair of grey images of the same size. Images of more than 8 bits are given in both depths: the
/// 8-bit images are scaled by a common factor.
struct GreyPair {
  ImageView<const std::uint8_t> left, right;
  ImageView<const std::uint16_t> left16, right16;  ///< empty, or the same images in their stored depth
};

/// A method, and the disparities that it searches.
struct PairSpec : MethodSpec {
  PairSpec(const MethodSpec& method = presets::semi_global(), DisparityRange searched = {})
      : MethodSpec(method), range(searched) {}

  DisparityRange range;
};

struct PairProblem {
  GreyPair images;  ///< of every method; costs of colours take their size, other stages guide by them
  PairSpec options;
  ColourPair colour = {};  ///< the same images in colour, for stages one by one; otherwise empty
};

/// Disparity of each pixel of the left image; NaN where unknown.
struct DisparityMap {
  Image<float> disparity;
};

/// @throws std::logic_error for invalid images or range
void check_pair(const PairProblem& problem);

/// Runs the method given in the options on the CPU. Each of the functions below has its own function for the
/// max bytes that it uses, including images and result.
DisparityMap match_pair(const PairProblem& problem);
std::size_t match_pair_bytes(int width, int height, const PairSpec& options, int threads);

/// Block matching by rolling windows; see BlockMatchingOptions. Source: J. Stam, 2008.
/// Runs on the threads of the surrounding task arena; the same bits for any number of threads and on every
/// processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap block_matching(const PairProblem& problem);
std::size_t block_matching_bytes(int width, int height, const PairSpec& options, int threads);

/// The checks of WholeMethod::kSemiGlobal. @throws std::logic_error when an option is out of range
WinnerChecks winner_checks(const MethodSpec& spec);

/// Semi-global matching of a pair; see WinnerChecks. Sources: H. Hirschmueller, TPAMI 2008; C. Banz,
/// H. Blume and P. Pirsch, 2011. Runs on the threads of the surrounding task arena; the same bits for any
/// number of threads and on every processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap semi_global_matching(const PairProblem& problem);
std::size_t semi_global_matching_bytes(int width, int height, const PairSpec& options, int threads);

/// Hierarchical belief propagation on a pair; see BeliefOptions. Sources: P. Felzenszwalb and D.
/// Huttenlocher, IJCV 2006; S. Grauer-Gray and C. Kambhamettu, 2009. Runs on the threads of the surrounding
/// task arena; the same bits for any number of threads and on every processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap belief_matching(const PairProblem& problem);
std::size_t belief_matching_bytes(int width, int height, const PairSpec& options, int threads);

/// Matches a pair by separate stages over a cost volume: cost, aggregation, optimizer, and the refinement in
/// the order of Refinement. The right view is matched separately if the left-right check is enabled.
/// After the optimizer every pixel has a disparity, the lowest one on ties; only outliers that are not
/// repaired become unknown. The sub-pixel stage uses the parabola through the path sums with kSemiGlobal,
/// otherwise through the costs. Runs on the threads of the surrounding task arena; the same bits for any
/// number of threads. Sources: see the headers of the stages; the order of the stages is that of X. Mei et
/// al. 2011.
/// @throws std::logic_error for invalid sizes, range or options, OutOfMemory
DisparityMap pipeline_matching(const PairProblem& problem);
std::size_t pipeline_matching_bytes(int width, int height, const PairSpec& options, int threads);

}  // namespace recon
