#include "methods/stereo/pair.hpp"

#include "core/error.hpp"

namespace recon {

void check_pair(const PairProblem& problem) {
  const GreyPair& images = problem.images;
  EXPECTS(images.left.width > 0 && images.left.height > 0);
  EXPECTS(images.left.width == images.right.width && images.left.height == images.right.height);
  EXPECTS(images.left16.empty() == images.right16.empty());
  EXPECTS(images.left16.empty() ||
          (images.left16.width == images.left.width && images.left16.height == images.left.height &&
           images.right16.width == images.left.width && images.right16.height == images.left.height));
  const DisparityRange range = problem.options.range;
  EXPECTS(range.count >= 1 && range.count <= kMaxDisparities);
  EXPECTS(range.min >= -kMaxDisparity && range.min <= kMaxDisparity);
}

DisparityMap match_pair(const PairProblem& problem) {
  check_pair(problem);
  switch (problem.options.method) {
    case PairMethod::kBlockMatching:
      return block_matching(problem);
    case PairMethod::kSemiGlobal:
      return semi_global_matching(problem);
    case PairMethod::kPipeline:
      return pipeline_matching(
          {problem.images, problem.colour, problem.options.range, problem.options.pipeline});
    default:
      return belief_matching(problem);
  }
}

std::size_t match_pair_bytes(int width, int height, const PairOptions& options, int threads) {
  switch (options.method) {
    case PairMethod::kBlockMatching:
      return block_matching_bytes(width, height, options, threads);
    case PairMethod::kSemiGlobal:
      return semi_global_matching_bytes(width, height, options, threads);
    case PairMethod::kPipeline:
      return pipeline_matching_bytes(width, height, options, threads);
    default:
      return belief_matching_bytes(width, height, options, threads);
  }
}

}  // namespace recon
