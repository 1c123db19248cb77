#include <algorithm>

#include "core/parallel.hpp"
#include "cuda/methods/stereo/pair_stream.hpp"
#include "match/gaussian_blur.hpp"

namespace recon::cuda {
namespace {

bool blurs(const BeliefOptions& options) {
  return options.smoothing_sigma > 0.0f;
}

BeliefStream::Buffers take_buffers(const PairShape& shape, const PairSpec& options, Arena& arena) {
  const BeliefOptions& belief = options.belief;
  const BeliefShape problem{shape.width, shape.height, options.range.count};
  check_belief(problem, belief);
  const std::size_t pixels = element_count({shape.width, shape.height});
  BeliefStream::Buffers at{};
  at.image_bytes = pixels * (blurs(belief) ? sizeof(float) : 1);
  at.messages = arena.take<std::byte>(element_count({belief_grids(problem, belief).elements}) *
                                      belief_storage_bytes(belief.storage));
  at.images = arena.take<std::byte>(2 * at.image_bytes);
  at.winners = arena.take<std::uint16_t>(pixels);
  at.counters = arena.take<unsigned>(kBeliefCounters);
  return at;
}

BeliefArgs args_of(const PairShape& shape, const PairSpec& options, const BeliefStream::Buffers& at) {
  const BeliefOptions& belief = options.belief;
  const int disparities = options.range.count;
  const BeliefGrids grids = belief_grids({shape.width, shape.height, disparities}, belief);
  EXPECTS(grids.levels.size() <= kMaxBeliefLevels);
  BeliefArgs args;
  std::copy(grids.levels.begin(), grids.levels.end(), args.levels);
  args.level_count = static_cast<int>(grids.levels.size());
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

}  // namespace

std::size_t BeliefStream::bytes(const PairShape& shape, const PairSpec& options) {
  return bytes_taken([&](Arena& arena) { take_buffers(shape, options, arena); });
}

BeliefStream::BeliefStream(const PairShape& shape, const PairSpec& options, Arena& arena)
    : shape_(shape),
      range_(options.range),
      options_(options.belief),
      at_(allocate(arena, [&](Arena& memory) { return take_buffers(shape, options, memory); })),
      args_(args_of(shape, options, at_)) {}

void BeliefStream::upload(const PairProblem& problem, PairWorkspace& workspace) {
  const Stream& stream = workspace.stream;
  RECON_CUDA_TRY(cudaMemsetAsync(at_.counters, 0, kBeliefCounters * sizeof(unsigned), stream.get()));
  std::byte* to = at_.images;
  for (const auto& image : {problem.images.left, problem.images.right}) {
    if (blurs(options_)) {
      const Image<float> blurred = gaussian_blur(image, options_.smoothing_sigma);
      workspace.staging.upload(blurred.view(), reinterpret_cast<float*>(to), shape_.width, stream);
    } else {
      workspace.staging.upload(image, reinterpret_cast<std::uint8_t*>(to), shape_.width, stream);
    }
    to += at_.image_bytes;
  }
}

void BeliefStream::queue(PairWorkspace& workspace) const {
  launch_belief(args_, options_.storage, workspace.stream.get());
}

Image<float> BeliefStream::download(PairWorkspace& workspace) const {
  Image<std::uint16_t> winners(shape_.width, shape_.height);
  workspace.staging.download(at_.winners, shape_.width, winners.view(), workspace.stream);
  Image<float> disparity(shape_.width, shape_.height);
  parallel_for(
      shape_.height,
      [&](int y) {
        const std::uint16_t* plane = winners.row(y);
        float* out = disparity.row(y);
        for (int x = 0; x < shape_.width; ++x) out[x] = static_cast<float>(range_.min + plane[x]);
      },
      512);
  return disparity;
}

}  // namespace recon::cuda
