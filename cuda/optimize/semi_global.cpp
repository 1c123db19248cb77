#include "cuda/optimize/semi_global.hpp"

#include <limits>

#include "core/aligned_buffer.hpp"
#include "cuda/optimize/path_kernels.hpp"

namespace recon::cuda {
namespace {

constexpr std::ptrdiff_t kSweeps = 2, kDirections = 3, kBorderPixels = 3;

int first_half_rows(const SemiGlobalInput& input) {
  return (input.height + 1) / 2;
}

bool fits_bytes(const SemiGlobalInput& input) {
  return input.max_cost + input.options.p2 <= 255;
}

/// How many elements each piece of memory has.
struct Sizes {
  std::size_t pixels, sums, row_paths, states, borders, tickets, right_keys;
  int strips;
};

Sizes sizes_of(const SemiGlobalInput& input) {
  const SweepShape shape = sweep_shape(input.planes);
  Sizes sizes{};
  sizes.pixels = element_count({input.width, input.height});
  sizes.sums = element_count({input.width, input.height, shape.vector});
  sizes.row_paths = fits_bytes(input) ? sizes.sums / 2 : sizes.sums;
  sizes.states = element_count({kSweeps, kDirections, input.width, shape.slot});
  sizes.strips = (input.width + first_half_rows(input) - 2) / shape.strip_width + 1;
  sizes.borders = element_count({kSweeps, sizes.strips, first_half_rows(input), kBorderPixels, shape.vector});
  sizes.tickets = 2 * kSweeps;
  sizes.right_keys = input.right_view ? sizes.pixels : 0;
  return sizes;
}

PathArgs args_of(const SemiGlobalInput& input) {
  return {input.costs,  input.guide,  input.guide_pitch, input.width,
          input.height, input.planes, input.options};
}

}  // namespace

int padded_planes(int planes) {
  return sweep_shape(planes).vector * 8;
}

std::size_t SemiGlobal::bytes(const SemiGlobalInput& input) {
  const Sizes sizes = sizes_of(input);
  return arena_bytes(sizes.sums * sizeof(uint4)) + 2 * arena_bytes(sizes.row_paths * sizeof(uint4)) +
         arena_bytes(sizes.states * sizeof(uint4)) + arena_bytes(sizes.borders * sizeof(uint4)) +
         arena_bytes(sizes.tickets * sizeof(unsigned)) + arena_bytes(sizes.pixels * sizeof(PathWinner)) +
         arena_bytes(sizes.right_keys * sizeof(std::uint32_t));
}

SemiGlobal::SemiGlobal(const SemiGlobalInput& input, Arena& arena) : input_(input) {
  const SemiGlobalOptions& options = input.options;
  EXPECTS(input.width >= 1 && input.height >= 1 &&
          input.height <= std::numeric_limits<int>::max() / input.width);
  EXPECTS(options.paths == 4 || options.paths == 8);
  EXPECTS(options.p1 >= 0 && options.p2 >= options.p1 && options.p2_falloff >= 0);
  EXPECTS(input.max_cost >= 0 && input.max_cost <= 255 && options.p2 <= kMaxPathCost - input.max_cost);
  const Sizes sizes = sizes_of(input);
  sums_ = arena.take<uint4>(sizes.sums);
  rightward_ = arena.take<uint4>(sizes.row_paths);
  leftward_ = arena.take<uint4>(sizes.row_paths);
  states_ = arena.take<uint4>(sizes.states);
  borders_ = arena.take<uint4>(sizes.borders);
  tickets_ = arena.take<unsigned>(sizes.tickets);
  winners_ = arena.take<PathWinner>(sizes.pixels);
  right_keys_ = input.right_view ? arena.take<std::uint32_t>(sizes.right_keys) : nullptr;
}

void SemiGlobal::queue(const Stream& main, SideStream& side) const {
  queue_clear(main);
  queue_first_half(main, side);
  queue_second_half(main);
  queue_winner(main);
}

void SemiGlobal::queue_clear(const Stream& stream) const {
  const Sizes sizes = sizes_of(input_);
  RECON_CUDA_TRY(cudaMemsetAsync(borders_, 0, sizes.borders * sizeof(uint4), stream.get()));
  RECON_CUDA_TRY(cudaMemsetAsync(tickets_, 0, sizes.tickets * sizeof(unsigned), stream.get()));
  if (right_keys_)
    RECON_CUDA_TRY(
        cudaMemsetAsync(right_keys_, 0xFF, sizes.right_keys * sizeof(std::uint32_t), stream.get()));
}

void SemiGlobal::queue_first_half(const Stream& main, SideStream& side) const {
  const int half = first_half_rows(input_), strips = sizes_of(input_).strips;
  const RowPaths row_paths{rightward_, leftward_, fits_bytes(input_)};
  side.begin_after(main);
  launch_path_rows(args_of(input_), row_paths, side.stream.get());
  launch_path_sweep(
      args_of(input_),
      {false, half, input_.height - half, row_paths, sums_, states_, borders_, half, strips, tickets_},
      main.get());
  side.end_before(main);
}

void SemiGlobal::queue_second_half(const Stream& stream) const {
  const int half = first_half_rows(input_), strips = sizes_of(input_).strips;
  launch_path_sweep(args_of(input_),
                    {true,
                     input_.height - half,
                     half,
                     {rightward_, leftward_, fits_bytes(input_)},
                     sums_,
                     states_,
                     borders_,
                     half,
                     strips,
                     tickets_ + kSweeps},
                    stream.get());
}

void SemiGlobal::queue_winner(const Stream& stream) const {
  launch_path_winner(args_of(input_), sums_, input_.min_disparity, winners_, right_keys_, stream.get());
}

}  // namespace recon::cuda
