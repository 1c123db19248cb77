#include <algorithm>

#include "core/parallel.hpp"
#include "cuda/methods/stereo/pair_stages.hpp"
#include "cuda/optimize/belief/belief.hpp"
#include "match/gaussian_blur.hpp"

namespace recon::cuda {
namespace {

bool blurs(const BeliefOptions& options) {
  return options.smoothing_sigma > 0.0f;
}

/// Device memory; images and winners without padding.
struct BeliefBuffers {
  BeliefGrids grids;
  std::byte* messages;      ///< and costs, of all levels
  std::byte* images;        ///< left above right: bytes, or floats if they are blurred
  std::size_t image_bytes;  ///< of one
  std::uint16_t* winners;
  unsigned* counters;
};

BeliefBuffers take_belief_buffers(const PairShape& shape, const PairSpec& options, Arena& arena) {
  const BeliefOptions& belief = options.belief;
  const BeliefShape problem{shape.width, shape.height, options.range.count};
  check_belief(problem, belief);
  const std::size_t pixels = shape.pixels();
  BeliefBuffers at{};
  at.image_bytes = pixels * (blurs(belief) ? sizeof(float) : 1);
  at.grids = belief_grids(problem, belief);
  at.messages = arena.take<std::byte>(at.grids.bytes);
  at.images = arena.take<std::byte>(2 * at.image_bytes);
  at.winners = arena.take<std::uint16_t>(pixels);
  at.counters = arena.take<unsigned>(kBeliefCounters);
  return at;
}

BeliefArgs belief_args(const PairShape& shape, const PairSpec& options, const BeliefBuffers& at) {
  const BeliefOptions& belief = options.belief;
  const int disparities = options.range.count;
  const std::vector<BeliefGrid>& levels = at.grids.levels;
  EXPECTS(levels.size() <= kMaxBeliefLevels);
  BeliefArgs args;
  std::copy(levels.begin(), levels.end(), args.levels);
  args.level_count = static_cast<int>(levels.size());
  args.disparities = disparities;
  args.iterations = belief.iterations;
  args.cap = belief_cap(belief, disparities);
  args.cost = {belief.data_weight, belief.data_cap};
  args.min_disparity = options.range.min;
  args.arena = at.messages;
  args.winners = at.winners;
  args.winner_pitch = shape.width;
  args.counters = at.counters;
  args.images.pitch = shape.width;
  const std::byte *left = at.images, *right = at.images + at.image_bytes;
  if (blurs(belief)) {
    args.images.blurred_left = reinterpret_cast<const float*>(left);
    args.images.blurred_right = reinterpret_cast<const float*>(right);
  } else {
    args.images.left = reinterpret_cast<const std::uint8_t*>(left);
    args.images.right = reinterpret_cast<const std::uint8_t*>(right);
  }
  return args;
}

void upload_images(const GreyPair& images, const BeliefOptions& options, const BeliefBuffers& at,
                   Workspace& workspace) {
  const Stream& stream = workspace.stream;
  std::byte* to = at.images;
  for (const auto& image : {images.left, images.right}) {
    if (blurs(options)) {
      const Image<float> blurred = gaussian_blur(image, options.smoothing_sigma);
      workspace.staging.upload(blurred.view(), reinterpret_cast<float*>(to), image.width, stream);
    } else {
      workspace.staging.upload(image, reinterpret_cast<std::uint8_t*>(to), image.width, stream);
    }
    to += at.image_bytes;
  }
}

Image<float> download_disparities(const std::uint16_t* device, const PairShape& shape, int min_disparity,
                                  Workspace& workspace) {
  Image<std::uint16_t> winners(shape.width, shape.height);
  workspace.staging.download(device, shape.width, winners.view(), workspace.stream);
  Image<float> disparity(shape.width, shape.height);
  parallel_for(
      shape.height,
      [&](int y) {
        const std::uint16_t* plane = winners.row(y);
        float* out = disparity.row(y);
        for (int x = 0; x < shape.width; ++x) out[x] = static_cast<float>(min_disparity + plane[x]);
      },
      512);
  return disparity;
}

}  // namespace

void add_belief_stages(const PairShape& shape, const PairSpec& options, Arena& arena, PairStages& stages) {
  const BeliefOptions& belief = options.belief;
  const BeliefBuffers at = take_belief_buffers(shape, options, arena);
  stages.constants.push_back([=](Workspace& workspace) {
    RECON_CUDA_TRY(
        cudaMemsetAsync(at.counters, 0, kBeliefCounters * sizeof(unsigned), workspace.stream.get()));
  });
  stages.uploads.push_back([=](const PairProblem& problem, Workspace& workspace) {
    upload_images(problem.images, belief, at, workspace);
  });
  if (!blurs(belief)) {
    for (int i = 0; i < 2; ++i)
      stages.targets.grey[i] = reinterpret_cast<std::uint8_t*>(at.images + i * at.image_bytes);
    stages.targets.grey_pitch = shape.width;
  }
  stages.left = {{"belief", [=, args = belief_args(shape, options, at)](StageRun& run) {
                    launch_belief(args, belief.storage, run.get());
                  }}};
  stages.result = {
      .of_planes = true, .planes = at.winners, .min_disparity = options.range.min, .pitch = shape.width};
  stages.download = [=, min = options.range.min](Workspace& workspace) {
    return download_disparities(at.winners, shape, min, workspace);
  };
}

}  // namespace recon::cuda
