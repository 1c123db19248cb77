#include "cuda/methods/stereo/belief_matching.hpp"

#include <algorithm>
#include <cstring>

#include "core/parallel.hpp"
#include "cuda/methods/stereo/belief_call.hpp"
#include "match/gaussian_blur.hpp"

namespace recon::cuda {
namespace {

BeliefShape shape_of(const PairProblem& problem) {
  return {problem.images.left.width, problem.images.left.height, problem.options.range.count};
}

bool blurs(const BeliefOptions& options) {
  return options.smoothing_sigma > 0.0f;
}

std::size_t bytes_of_images(int width, int height, const BeliefOptions& options) {
  return element_count({width, height, 2}) * (blurs(options) ? sizeof(float) : 1);
}

std::size_t bytes_of_winners(int width, int height) {
  return element_count({width, height, static_cast<std::ptrdiff_t>(sizeof(std::uint16_t))});
}

template <class T>
std::byte* copy_rows(ImageView<const T> image, std::byte* to) {
  const std::size_t row = static_cast<std::size_t>(image.width) * sizeof(T);
  for (int y = 0; y < image.height; ++y, to += row) std::memcpy(to, image.row(y), row);
  return to;
}

}  // namespace

std::size_t BeliefCall::device_bytes(int width, int height, const PairOptions& options) {
  const BeliefOptions& belief = options.belief;
  const BeliefShape shape{width, height, options.range.count};
  check_belief(shape, belief);
  const BeliefGrids grids = belief_grids(shape, belief);
  return arena_bytes(element_count({grids.elements}) * belief_storage_bytes(belief.storage)) +
         arena_bytes(bytes_of_images(width, height, belief)) + arena_bytes(bytes_of_winners(width, height)) +
         arena_bytes(kBeliefCounters * sizeof(unsigned));
}

BeliefCall::BeliefCall(const PairProblem& problem, PairWorkspace& workspace)
    : problem_(problem), workspace_(workspace) {
  check_pair(problem);
  const BeliefOptions& options = problem.options.belief;
  const BeliefShape shape = shape_of(problem);
  check_belief(shape, options);
  image_bytes_ = bytes_of_images(shape.width, shape.height, options);
  winner_bytes_ = bytes_of_winners(shape.width, shape.height);
  if (workspace.staging.bytes() < image_bytes_ + winner_bytes_) {
    workspace.staging = PinnedBuffer();  // before the new allocation, so that the two never coexist
    workspace.staging = PinnedBuffer(image_bytes_ + winner_bytes_);
  }
  workspace.arena.reset(device_bytes(shape.width, shape.height, problem.options));

  const BeliefGrids grids = belief_grids(shape, options);
  EXPECTS(grids.levels.size() <= kMaxBeliefLevels);
  std::copy(grids.levels.begin(), grids.levels.end(), args_.levels);
  args_.level_count = static_cast<int>(grids.levels.size());
  args_.disparities = shape.disparities;
  args_.iterations = options.iterations;
  args_.cap = belief_cap(options, shape.disparities);
  args_.cost = {options.data_weight, options.data_cap};
  args_.min_disparity = problem.options.range.min;
  args_.arena = workspace.arena.take<std::byte>(static_cast<std::size_t>(grids.elements) *
                                                belief_storage_bytes(options.storage));
  images_ = workspace.arena.take<std::byte>(image_bytes_);
  args_.winners = workspace.arena.take<std::uint16_t>(winner_bytes_ / sizeof(std::uint16_t));
  args_.winner_pitch = shape.width;
  args_.counters = workspace.arena.take<unsigned>(kBeliefCounters);
  args_.images.pitch = shape.width;
  if (blurs(options)) {
    args_.images.blurred_left = reinterpret_cast<const float*>(images_);
    args_.images.blurred_right = reinterpret_cast<const float*>(images_ + image_bytes_ / 2);
  } else {
    args_.images.left = reinterpret_cast<const std::uint8_t*>(images_);
    args_.images.right = reinterpret_cast<const std::uint8_t*>(images_ + image_bytes_ / 2);
  }
}

void BeliefCall::stage() {
  const BeliefOptions& options = problem_.options.belief;
  std::byte* to = workspace_.staging.data();
  for (const ImageView<const std::uint8_t> image : {problem_.images.left, problem_.images.right}) {
    if (blurs(options)) {
      const Image<float> blurred = gaussian_blur(image, options.smoothing_sigma);
      to = copy_rows(blurred.view(), to);
    } else {
      to = copy_rows(image, to);
    }
  }
}

void BeliefCall::upload() {
  RECON_CUDA_TRY(
      cudaMemsetAsync(args_.counters, 0, kBeliefCounters * sizeof(unsigned), workspace_.stream.get()));
  RECON_CUDA_TRY(cudaMemcpyAsync(images_, workspace_.staging.data(), image_bytes_, cudaMemcpyHostToDevice,
                                 workspace_.stream.get()));
}

void BeliefCall::propagate() {
  launch_belief(args_, problem_.options.belief.storage, workspace_.stream.get());
}

void BeliefCall::download() {
  RECON_CUDA_TRY(cudaMemcpyAsync(workspace_.staging.data() + image_bytes_, args_.winners, winner_bytes_,
                                 cudaMemcpyDeviceToHost, workspace_.stream.get()));
}

DisparityMap BeliefCall::result() const {
  const BeliefShape shape = shape_of(problem_);
  const auto* winners = reinterpret_cast<const std::uint16_t*>(workspace_.staging.data() + image_bytes_);
  DisparityMap map{Image<float>(shape.width, shape.height)};
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x)
      map.disparity(x, y) =
          static_cast<float>(problem_.options.range.min + winners[std::ptrdiff_t{y} * shape.width + x]);
  return map;
}

DisparityMap belief_matching(const PairProblem& problem, PairWorkspace& workspace) {
  BeliefCall call(problem, workspace);
  call.stage();
  call.upload();
  call.propagate();
  call.download();
  workspace.stream.synchronize();
  return call.result();
}

std::size_t belief_matching_bytes(int width, int height, const PairOptions& options) {
  return BeliefCall::device_bytes(width, height, options);
}

}  // namespace recon::cuda
