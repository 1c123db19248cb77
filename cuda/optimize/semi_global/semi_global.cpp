#include "cuda/optimize/semi_global/semi_global.hpp"

#include <limits>

#include "core/aligned_buffer.hpp"
#include "cuda/optimize/semi_global/path_kernels.hpp"

namespace recon::cuda {
namespace {

PathStorage storage_of(const SemiGlobalInput& input) {
  const int most = input.max_cost + input.options.p2;
  if (input.sums > 0 || most > 255) return PathStorage::kWords;
  return 2 * most > 255 ? PathStorage::kBytes : PathStorage::kFewBytes;
}

std::size_t pixels_of(const SemiGlobalInput& input) {
  return element_count({input.width, input.height});
}

PathVolumes volumes_of(const SemiGlobalInput& input, uint4* first) {
  const PathStorage storage = storage_of(input);
  const bool words = storage == PathStorage::kWords;
  const int bytes = path_planes(input.planes) * (words ? 2 : 1);
  const std::size_t stride = element_count({input.width, input.height, bytes}) / sizeof(uint4);
  const int sums = input.sums > 0 ? input.sums : 2;
  return {first, static_cast<std::ptrdiff_t>(stride), words ? sums : input.options.paths, storage};
}

/// Number of pieces in all volumes.
std::size_t size_of(const PathVolumes& volumes) {
  return element_count({volumes.stride, volumes.count});
}

PathArgs args_of(const SemiGlobalInput& input) {
  return {input.costs,  input.guide,  input.guide_pitch, input.width,
          input.height, input.planes, input.options};
}

}  // namespace

SemiGlobal::Buffers SemiGlobal::take(const SemiGlobalInput& input, Arena& arena) {
  const std::size_t pixels = pixels_of(input);
  Buffers at{};
  at.volumes = arena.take<uint4>(size_of(volumes_of(input, nullptr)));
  at.winners = arena.take<PathWinner>(pixels);
  if (input.right_view) at.right_keys = arena.take<std::uint32_t>(pixels);
  return at;
}

SemiGlobal::SemiGlobal(const SemiGlobalInput& input, const Buffers& at) : input_(input), at_(at) {
  const SemiGlobalOptions& options = input.options;
  EXPECTS(input.width >= 1 && input.height >= 1 &&
          input.height <= std::numeric_limits<int>::max() / input.width);
  EXPECTS(options.paths == 4 || options.paths == 8);
  EXPECTS(input.sums >= 0 && input.sums <= 2);
  EXPECTS(options.p1 >= 0 && options.p2 >= options.p1 && options.p2_falloff >= 0);
  EXPECTS(input.max_cost >= 0 && input.max_cost <= 255 && options.p2 <= kMaxPathCost - input.max_cost);
  // The kernels index pieces of 16 planes with 31 bits.
  EXPECTS(element_count({input.width, input.height, path_planes(input.planes) / 16}) <=
          std::size_t{std::numeric_limits<int>::max()});
  EXPECTS(input.guide_pitch <= std::numeric_limits<int>::max() / input.height);
}

void SemiGlobal::queue(const Stream& stream) const {
  queue_clear(stream);
  queue_paths(stream);
  queue_winner(stream);
}

void SemiGlobal::queue_clear(const Stream& stream) const {
  if (at_.right_keys)
    RECON_CUDA_TRY(
        cudaMemsetAsync(at_.right_keys, 0xFF, pixels_of(input_) * sizeof(std::uint32_t), stream.get()));
}

void SemiGlobal::queue_paths(const Stream& stream) const {
  launch_paths(args_of(input_), volumes_of(input_, at_.volumes), stream.get());
}

void SemiGlobal::queue_winner(const Stream& stream) const {
  launch_path_winner(args_of(input_), volumes_of(input_, at_.volumes), input_.min_disparity, at_.winners,
                     at_.right_keys, stream.get());
}

}  // namespace recon::cuda
