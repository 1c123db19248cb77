#include "cuda/methods/stereo/block_matching.hpp"

#include "cuda/methods/stereo/block_stream.hpp"

namespace recon::cuda {

DisparityMap block_matching(const PairProblem& problem, PairWorkspace& workspace) {
  check_pair(problem);
  const GreyPair& images = problem.images;
  const BlockStream matching(images.left.width, images.left.height, problem.options, workspace.arena);
  matching.upload(images, workspace.staging, workspace.stream);
  matching.queue(workspace.stream);
  return {matching.download(workspace.staging, workspace.stream)};
}

std::size_t block_matching_bytes(int width, int height, const PairOptions& options) {
  return BlockStream::bytes(width, height, options);
}

}  // namespace recon::cuda
