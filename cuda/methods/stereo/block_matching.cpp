#include "cuda/methods/stereo/block_matching.hpp"

#include "cuda/methods/stereo/block_stream.hpp"

namespace recon::cuda {

DisparityMap block_matching(const PairProblem& problem, PairWorkspace& workspace) {
  check_pair(problem);
  const GreyPair& images = problem.images;
  const BlockStream lane(images.left.width, images.left.height, problem.options, workspace.arena);
  lane.upload(images, workspace.staging, workspace.stream);
  lane.queue(workspace.stream);
  return {lane.download(workspace.staging, workspace.stream)};
}

std::size_t block_matching_bytes(int width, int height, const PairOptions& options) {
  return BlockStream::bytes(width, height, options);
}

}  // namespace recon::cuda
