#include "cuda/methods/stereo/pair.hpp"

#include "cuda/methods/stereo/belief_matching.hpp"
#include "cuda/methods/stereo/block_matching.hpp"
#include "cuda/methods/stereo/pipeline_matching.hpp"
#include "cuda/methods/stereo/semi_global_matching.hpp"

namespace recon::cuda {

DisparityMap match_pair(const PairProblem& problem, PairWorkspace& workspace) {
  switch (problem.options.method) {
    case PairMethod::kBlockMatching:
      return block_matching(problem, workspace);
    case PairMethod::kSemiGlobal:
      return semi_global_matching(problem, workspace);
    case PairMethod::kPipeline:
      return pipeline_matching(problem, workspace);
    case PairMethod::kBeliefPropagation:
      break;
  }
  return belief_matching(problem, workspace);
}

std::size_t match_pair_bytes(int width, int height, const PairOptions& options) {
  switch (options.method) {
    case PairMethod::kBlockMatching:
      return block_matching_bytes(width, height, options);
    case PairMethod::kSemiGlobal:
      return semi_global_matching_bytes(width, height, options);
    case PairMethod::kPipeline:
      return pipeline_matching_bytes(width, height, options);
    case PairMethod::kBeliefPropagation:
      break;
  }
  return belief_matching_bytes(width, height, options);
}

}  // namespace recon::cuda
