#include "cuda/methods/stereo/pair_stream.hpp"

#include "cuda/methods/stereo/pipeline_stream.hpp"

namespace recon::cuda {

PairShape pair_shape(const PairProblem& problem) {
  const GreyPair& images = problem.images;
  return {images.left.width, images.left.height, !images.left16.empty()};
}

std::unique_ptr<PairStream> make_pair_stream(const PairShape& shape, const PairSpec& options, Arena& arena) {
  switch (options.whole) {
    case WholeMethod::kBlockMatching:
      return std::make_unique<BlockStream>(shape, options, arena);
    case WholeMethod::kSemiGlobal:
      return std::make_unique<SemiGlobalStream>(shape, options, arena);
    case WholeMethod::kNone:
      return std::make_unique<PipelineStream>(shape, options, arena);
    default:
      return std::make_unique<BeliefStream>(shape, options, arena);
  }
}

std::size_t pair_stream_bytes(const PairShape& shape, const PairSpec& options) {
  switch (options.whole) {
    case WholeMethod::kBlockMatching:
      return BlockStream::bytes(shape, options);
    case WholeMethod::kSemiGlobal:
      return SemiGlobalStream::bytes(shape, options);
    case WholeMethod::kNone:
      return PipelineStream::bytes(shape, options);
    default:
      return BeliefStream::bytes(shape, options);
  }
}

DisparityMap match_pair(const PairProblem& problem, PairWorkspace& workspace) {
  check_pair(problem);
  const auto stream = make_pair_stream(pair_shape(problem), problem.options, workspace.arena);
  stream->upload(problem, workspace);
  stream->queue(workspace);
  return {stream->download(workspace)};
}

}  // namespace recon::cuda
