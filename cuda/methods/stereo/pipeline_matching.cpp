#include "cuda/methods/stereo/pipeline_matching.hpp"

#include "cuda/methods/stereo/pipeline_stream.hpp"

namespace recon::cuda {

DisparityMap pipeline_matching(const PairProblem& problem, PairWorkspace& workspace) {
  const ImageView<const Rgb8> left = problem.colour.left, right = problem.colour.right;
  EXPECTS(!left.empty() && right.width == left.width && right.height == left.height);
  const PipelineStream matching(left.width, left.height, problem.options, workspace.arena);
  matching.upload(problem.colour, workspace.staging, workspace.stream);
  matching.queue(workspace.stream);
  return {matching.download(workspace.staging, workspace.stream)};
}

std::size_t pipeline_matching_bytes(int width, int height, const PairOptions& options) {
  return PipelineStream::bytes(width, height, options);
}

}  // namespace recon::cuda
