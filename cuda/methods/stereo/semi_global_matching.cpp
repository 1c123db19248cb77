#include "cuda/methods/stereo/semi_global_matching.hpp"

#include "cuda/methods/stereo/semi_global_stream.hpp"

namespace recon::cuda {

DisparityMap semi_global_matching(const PairProblem& problem, PairWorkspace& workspace) {
  const GreyPair& images = problem.images;
  const SemiGlobalPairOptions& options = problem.options.semi_global;
  EXPECTS(options.outside_cost >= 0 && options.outside_cost <= 255);
  EXPECTS(options.uniqueness >= 0 && options.uniqueness < 100 && options.left_right >= -1);
  const SemiGlobalStream matching(images.left.width, images.left.height, problem.options,
                                  !images.left16.empty(), workspace.arena);
  matching.upload(images, workspace.staging, workspace.stream);
  matching.queue(workspace.stream);
  return {matching.download(workspace.staging, workspace.stream)};
}

std::size_t semi_global_matching_bytes(int width, int height, const PairOptions& options) {
  return SemiGlobalStream::bytes(width, height, options, true);
}

}  // namespace recon::cuda
