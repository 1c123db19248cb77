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
  PairSpec() : MethodSpec(presets::semi_global()) {}
  /// No range yet.
  explicit PairSpec(const MethodSpec& method) : MethodSpec(method) {}
  PairSpec(const MethodSpec& method, DisparityRange searched) : MethodSpec(method), range(searched) {}

  DisparityRange range;
};

struct PairProblem {
  GreyPair images;  ///< of every method; costs of colours take their size, other stages guide by them
  PairSpec options;
  ColourPair colour = {};  ///< the same images in colour, for stages that are not fused; otherwise empty
};

/// Disparity of each pixel of the left image; NaN where unknown.
struct DisparityMap {
  Image<float> disparity;
};

/// @throws std::logic_error for invalid images or range, and stages that do not belong together
void check_pair(const PairProblem& problem);

/// Matches a pair on the CPU by the method of the options, stage by stage (see PairStages) or fused. The
/// right view is matched separately if both views are checked. Runs on the threads of the surrounding task
/// arena; the same bits for any number of threads and, but for adaptive weights, on every processor. Sources:
/// see the headers of the stages; semi-global matching: H. Hirschmueller, TPAMI 2008; C. Banz, H. Blume and
/// P. Pirsch, 2011.
/// @throws std::logic_error for invalid sizes, range or options, OutOfMemory
DisparityMap match_pair(const PairProblem& problem);

/// The checks of WinnerJudge::kSums. @throws std::logic_error when an option is out of range
WinnerChecks winner_checks(const MethodSpec& spec);

/// FusedStages::kBlocks, by rolling windows; see BlockMatchingOptions. Source: J. Stam, 2008.
DisparityMap block_matching(const PairProblem& problem);

/// FusedStages::kBeliefs, hierarchical; see BeliefOptions. Sources: P. Felzenszwalb and D.
/// Huttenlocher, IJCV 2006; S. Grauer-Gray and C. Kambhamettu, 2009.
DisparityMap belief_matching(const PairProblem& problem);

}  // namespace recon
