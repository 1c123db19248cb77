#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregate/aggregation.hpp"
#include "core/image.hpp"
#include "match/ad_census.hpp"
#include "match/ad_census_step.hpp"
#include "match/transform_step.hpp"
#include "methods/stereo/block/block_step.hpp"
#include "methods/stereo/winner_disparity.hpp"
#include "optimize/belief/belief_layout.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/scanline/scanline_step.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "refine/outliers.hpp"

namespace recon {

/// Cost of a pipeline.
enum class PipelineCost {
  kColourDifference,  ///< mean of |difference| over red, green and blue, truncated at `colour_cap`
  kAdCensus,          ///< colour difference plus census, each saturated: 0 .. 2
  kTransform,         ///< a rank or a census of the grey levels
};

/// Optimizer of a pipeline.
enum class PipelineOptimizer {
  kWinnerTakeAll,
  kSemiGlobal,
  kScanline,
  kGraphCut,
};

/// The refinement stages, in the order in which they run.
struct PipelineRefinement {
  bool graph_cut = false;   ///< minimises the energy, starting from the winners
  bool left_right = false;  ///< finds outliers; outliers that are not repaired become unknown
  bool vote = false;        ///< repairs outliers by region voting; needs left_right
  /// Repairs all other outliers; needs left_right. Before voting and interpolation, small surfaces become
  /// outliers and others are extended to the border: see invalidate_small_segments and extend_surfaces.
  bool interpolate = false;
  bool edges = false;
  bool subpixel = false;
  bool median = false;
};

/// A pipeline of separate stages over a cost volume. Penalties are in the unit of the costs: bits, ranks or
/// grey levels.
struct PipelineOptions {
  PipelineCost cost = PipelineCost::kTransform;
  float colour_cap = 20.0f;  ///< grey levels, 2^-60 .. 255
  AdCensusOptions ad_census;
  TransformOptions transform;
  int outside_cost = 8;  ///< for kTransform: cost where the match lies outside the other view; 0 .. 255
  AggregationOptions aggregation;
  PipelineOptimizer optimizer = PipelineOptimizer::kSemiGlobal;
  /// Costs are rounded to integers; AD-Census costs are scaled by kAdCensusSteps.
  SemiGlobalOptions semi_global;
  ScanlineOptions scanline;
  GraphCutOptions graph_cut;  ///< for the optimizer or the refinement
  PipelineRefinement refinement;
  float left_right = 0.0f;  ///< max difference between both views' disparities, pixels
  VotingOptions voting;
};

/// Whether a stage of a pipeline is a graph cut, which the CPU computes.
constexpr bool has_graph_cut(const PipelineOptions& pipeline) {
  return pipeline.optimizer == PipelineOptimizer::kGraphCut || pipeline.refinement.graph_cut;
}

/// Steps per unit of quantized AD-Census costs.
inline constexpr int kAdCensusSteps = 100;

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
  GreyPair images;  ///< of every method; costs of colours take their size, other stages guide by them
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

/// Runs the method given in the options on the CPU. Each of the functions below has its own function for the
/// max bytes that it uses, including images and result.
DisparityMap match_pair(const PairProblem& problem);
std::size_t match_pair_bytes(int width, int height, const PairOptions& options, int threads);

/// Block matching by rolling windows; see BlockMatchingOptions. Source: J. Stam, 2008.
/// Runs on the threads of the surrounding task arena; the same bits for any number of threads and on every
/// processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap block_matching(const PairProblem& problem);
std::size_t block_matching_bytes(int width, int height, const PairOptions& options, int threads);

/// Semi-global matching of a pair; see SemiGlobalPairOptions. Sources: H. Hirschmueller, TPAMI 2008; C. Banz,
/// H. Blume and P. Pirsch, 2011. Runs on the threads of the surrounding task arena; the same bits for any
/// number of threads and on every processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap semi_global_matching(const PairProblem& problem);
std::size_t semi_global_matching_bytes(int width, int height, const PairOptions& options, int threads);

/// Hierarchical belief propagation on a pair; see BeliefOptions. Sources: P. Felzenszwalb and D.
/// Huttenlocher, IJCV 2006; S. Grauer-Gray and C. Kambhamettu, 2009. Runs on the threads of the surrounding
/// task arena; the same bits for any number of threads and on every processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap belief_matching(const PairProblem& problem);
std::size_t belief_matching_bytes(int width, int height, const PairOptions& options, int threads);

/// Matches a pair by separate stages over a cost volume: cost, aggregation, optimizer, and the refinement in
/// the order of PipelineRefinement. The right view is matched separately if the left-right check is enabled.
/// After the optimizer every pixel has a disparity, the lowest one on ties; only outliers that are not
/// repaired become unknown. The sub-pixel stage uses the parabola through the path sums with kSemiGlobal,
/// otherwise through the costs. Runs on the threads of the surrounding task arena; the same bits for any
/// number of threads. Sources: see the headers of the stages; the order of the stages is that of X. Mei et
/// al. 2011.
/// @throws std::logic_error for invalid sizes, range or options, OutOfMemory
DisparityMap pipeline_matching(const PairProblem& problem);
std::size_t pipeline_matching_bytes(int width, int height, const PairOptions& options, int threads);

/// The AD-Census stereo system as a pipeline: AD-Census costs of both views, cross-based aggregation on the
/// intersection of the arms of both views, scanline optimisation, the winners of both views (lowest disparity
/// on ties), then left-right check, region voting, interpolation, discontinuity adjustment, sub-pixel
/// enhancement and a 3 x 3 median. The parameters are those of Mei et al. 2011, table 1, except for two
/// aggregation iterations instead of four: larger supports remove detail, and the scanline optimisation makes
/// them unnecessary (0.14 points of the mean error of Middlebury's four pairs). Differences from the paper,
/// explained at each step: small surfaces are invalidated and others extended into the strip outside the
/// right view (invalidate_small_segments, extend_surfaces), voting and interpolation are checked against the
/// right map (contradicted), and sub-pixel shifts are multiples of 1/16 pixel (enhance_subpixel). With the
/// paper's steps only, the mean error of Middlebury's four pairs, three figures each, is 5.27 % instead of
/// 4.44 %; the paper reports 3.97 %. Every pixel gets a disparity, unless no pixel of the image is reliable
/// or has a winner. Source: X. Mei, X. Sun, M. Zhou, S. Jiao, H. Wang and X. Zhang, On building an accurate
/// stereo matching system on graphics hardware, ICCV workshops 2011.
PipelineOptions ad_census_pipeline();

}  // namespace recon
