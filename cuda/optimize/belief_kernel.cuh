#pragma once

#include "cuda/optimize/belief.hpp"
#include "cuda/optimize/belief_meet.cuh"
#include "cuda/optimize/belief_value.cuh"
#include "optimize/belief_step.hpp"

/// Belief propagation as one kernel between that of the costs and that of the choice: every iteration of
/// every level spreads its pixels over the grid, which then meets. A warp takes 32 neighbouring pixels of one
/// parity; phases before and after write and read the same memory, so that nothing here may go through the
/// read-only cache.

namespace recon::cuda {

inline constexpr int kWarp = kBeliefGroup;
/// Disparities whose costs a thread works out at a time, and whose messages it reads at a time.
inline constexpr int kCostChunk = 8, kBatch = 16;
/// The same where the number of disparities is known and small.
template <int kDisparities>
inline constexpr int kBatchOf = kDisparities > 0 && kDisparities < 32 ? kDisparities : kBatch;

/// Where an update keeps its values of four messages between its two passes over the disparities.
enum class BeliefKeep { kRegisters, kShared, kGlobal };

template <int kDisparities, BeliefKeep kKeep>
struct KeptValues {
  float* first;
  int stride;

  __device__ explicit KeptValues(float* global) {
    extern __shared__ float shared_values[];
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (kKeep == BeliefKeep::kShared) {
      first = shared_values + thread;
      stride = static_cast<int>(blockDim.x);
    } else {
      first = global + blockIdx.x * blockDim.x + thread;
      stride = static_cast<int>(gridDim.x * blockDim.x);
    }
  }
  __device__ float& at(int d, int message) {
    return first[static_cast<std::ptrdiff_t>(kMessageCount * d + message) * stride];
  }
};

template <int kDisparities>
struct KeptValues<kDisparities, BeliefKeep::kRegisters> {
  float values[kDisparities][kMessageCount];
  __device__ explicit KeptValues(float*) {}
  __device__ float& at(int d, int message) { return values[d][message]; }
};

/// The work of a phase in pieces of 32 pixels of a row, with `copies` pieces for each.
struct WarpItems {
  int groups, count;
  __device__ WarpItems(int columns, int rows, int copies)
      : groups((columns + kWarp - 1) / kWarp), count(groups * rows * copies) {}
  __device__ static int first() { return static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / kWarp); }
  __device__ static int step() { return static_cast<int>(gridDim.x * blockDim.x / kWarp); }
  __device__ static int lane() { return static_cast<int>(threadIdx.x % kWarp); }
};

template <class T>
__device__ T* arena_of(const BeliefArgs& args) {
  return static_cast<T*>(args.arena);
}

/// Adds the costs of pixel (x, y) of the finest level from the images, and stores them.
template <class T, class Pixel>
__device__ void add_image_costs(const BeliefArgs& args, const Pixel* left, const Pixel* right, int x, int y,
                                int first, int count, T* cost, float* sums) {
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * args.images.pitch;
  const float own = left[row + x];
  const int last = args.levels[0].width - 1;
#pragma unroll
  for (int d = 0; d < kCostChunk; ++d) {
    const int other = x - args.min_disparity - (first + d);
    // Read in any case, so that the reads do not wait for each other.
    const float pixel = right[row + min(max(other, 0), last)];
    const float value = other >= 0 && other <= last ? args.cost.inside(own, pixel) : args.cost.outside();
    if (d < count) sums[d] += store_cost(value, cost + d * kWarp);
  }
}

/// Adds the costs of pixel (x, y) of a level for some disparities.
template <class T>
__device__ void add_costs(const BeliefArgs& args, int index, int x, int y, int first, int count,
                          float* sums) {
  const BeliefGrid& grid = args.levels[index];
  if (x >= grid.width || y >= grid.height) return;
  T* cost = arena_of<T>(args) + grid.costs + grid.offset(x, y) + first * kWarp;
  if (index > 0) {
#pragma unroll
    for (int d = 0; d < kCostChunk; ++d)
      if (d < count) sums[d] += load_value(cost + d * kWarp);
  } else if (args.images.left) {
    add_image_costs(args, args.images.left, args.images.right, x, y, first, count, cost, sums);
  } else {
    add_image_costs(args, args.images.blurred_left, args.images.blurred_right, x, y, first, count, cost,
                    sums);
  }
}

/// Costs of the finest level from the images, and those of the next coarser level; each thread takes the 2 x
/// 2 pixels of one coarser pixel and some disparities.
template <class T>
__device__ void costs_phase(const BeliefArgs& args, int index) {
  const BeliefGrid& fine = args.levels[index];
  const int width = (fine.width + 1) / 2, height = (fine.height + 1) / 2;
  const int chunks = (args.disparities + kCostChunk - 1) / kCostChunk;
  const WarpItems items(width, height, chunks);
  for (int item = items.first(); item < items.count; item += items.step()) {
    const int x = item / chunks % items.groups * kWarp + items.lane(), y = item / chunks / items.groups;
    if (x >= width) continue;
    const int first = item % chunks * kCostChunk;
    const int count = min(kCostChunk, args.disparities - first);
    float sums[kCostChunk] = {};
    for (int k = 0; k < 4; ++k)
      add_costs<T>(args, index, 2 * x + (k & 1), 2 * y + (k >> 1), first, count, sums);
    if (index + 1 >= args.level_count) continue;
    const BeliefGrid& coarse = args.levels[index + 1];
    T* cost = arena_of<T>(args) + coarse.costs + coarse.offset(x, y) + first * kWarp;
#pragma unroll
    for (int d = 0; d < kCostChunk; ++d)
      if (d < count) store_cost(sums[d], cost + d * kWarp);
  }
}

/// Where the messages of a neighbourhood come from: the level itself or, at first, the next coarser one
/// (shift 1).
struct MessageSource {
  BeliefGrid grid;  // a copy: the compiler then reads it from the constant memory that it came in
  int width, height;
  int shift;
  bool none;

  __device__ MessageSource(const BeliefArgs& args, int index, bool first)
      : grid(args.levels[first && index + 1 < args.level_count ? index + 1 : index]),
        width(args.levels[index].width),
        height(args.levels[index].height),
        shift(first ? 1 : 0),
        none(first && index + 1 >= args.level_count) {}

  /// What the neighbour at (x, y) has sent; zeros where there is none.
  template <class T>
  __device__ const T* from(const T* arena, int message, int x, int y) const {
    if (none || x < 0 || x >= width || y < 0 || y >= height) return arena + WarpItems::lane();
    return arena + grid.messages[message] + grid.offset(x >> shift, y >> shift);
  }
};

/// What arrives at a pixel, from the lowest disparity on.
template <class T>
struct Inputs {
  const T *cost, *above, *below, *left, *right;

  __device__ Inputs(const T* arena, const MessageSource& source, const T* own_cost, int x, int y)
      : cost(own_cost),
        above(source.from(arena, kMessageDown, x, y - 1)),
        below(source.from(arena, kMessageUp, x, y + 1)),
        left(source.from(arena, kMessageRight, x - 1, y)),
        right(source.from(arena, kMessageLeft, x + 1, y)) {}
};

/// Numbers of some disparities, read at once.
template <class T, int kCount>
struct Batch {
  float cost[kCount], above[kCount], below[kCount], left[kCount], right[kCount];

  /// Behind the last disparity: something, but inside the arena.
  __device__ Batch(const Inputs<T>& in, int first) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int at = (first + i) * kWarp;
      cost[i] = load_value(in.cost + at);
      above[i] = load_value(in.above + at);
      below[i] = load_value(in.below + at);
      left[i] = load_value(in.left + at);
      right[i] = load_value(in.right + at);
    }
  }
};

/// The four messages of one pixel.
template <class T, int kDisparities, BeliefKeep kKeep>
__device__ void send_messages(const BeliefArgs& args, const BeliefGrid& level, const Inputs<T>& in,
                              std::ptrdiff_t own) {
  const int disparities = kDisparities > 0 ? kDisparities : args.disparities;
  KeptValues<kDisparities, kKeep> kept(args.kept);
  MessageRising up, down, left, right;
  constexpr int kStep = kBatchOf<kDisparities>;
#pragma unroll(kKeep == BeliefKeep::kRegisters ? kDisparities / kStep : 1)
  for (int first = 0; first < disparities; first += kStep) {
    const Batch<T, kStep> batch(in, first);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const int d = first + i;
      if ((kDisparities == 0 || kDisparities % kStep != 0) && d >= disparities) break;
      kept.at(d, kMessageUp) =
          up.push(message_input(batch.cost[i], batch.left[i], batch.right[i], batch.below[i]));
      kept.at(d, kMessageDown) =
          down.push(message_input(batch.cost[i], batch.left[i], batch.right[i], batch.above[i]));
      kept.at(d, kMessageLeft) =
          left.push(message_input(batch.cost[i], batch.above[i], batch.below[i], batch.right[i]));
      kept.at(d, kMessageRight) =
          right.push(message_input(batch.cost[i], batch.above[i], batch.below[i], batch.left[i]));
    }
  }
  T* arena = arena_of<T>(args) + own;
  T *sent_up = arena + level.messages[kMessageUp], *sent_down = arena + level.messages[kMessageDown],
    *sent_left = arena + level.messages[kMessageLeft], *sent_right = arena + level.messages[kMessageRight];
  MessageFalling to_up(up.lowest, args.cap), to_down(down.lowest, args.cap), to_left(left.lowest, args.cap),
      to_right(right.lowest, args.cap);
#pragma unroll(kKeep == BeliefKeep::kRegisters ? kDisparities : 8)
  for (int d = disparities - 1; d >= 0; --d) {
    store_value(to_up.push(kept.at(d, kMessageUp)), sent_up + d * kWarp);
    store_value(to_down.push(kept.at(d, kMessageDown)), sent_down + d * kWarp);
    store_value(to_left.push(kept.at(d, kMessageLeft)), sent_left + d * kWarp);
    store_value(to_right.push(kept.at(d, kMessageRight)), sent_right + d * kWarp);
  }
}

template <class T, int kDisparities, BeliefKeep kKeep>
__device__ void update_phase(const BeliefArgs& args, int index, int iteration, int blocks) {
  const BeliefGrid level = args.levels[index];
  const MessageSource source(args, index, iteration == 0);
  const int step = blocks * static_cast<int>(blockDim.x) / kWarp, parity = updated_parity(iteration);
  const WarpItems items((level.width + 1) / 2, level.height, 1);
  const T* arena = arena_of<T>(args);
  for (int item = items.first(); item < items.count; item += step) {
    const int y = item / items.groups;
    const int x = 2 * (item % items.groups * kWarp + items.lane()) + BeliefLevel::first_x(y, parity);
    if (x >= level.width) continue;
    const std::ptrdiff_t own = level.offset(x, y);
    const Inputs<T> in(arena, source, arena + level.costs + own, x, y);
    send_messages<T, kDisparities, kKeep>(args, level, in, own);
  }
}

/// After a single iteration: the messages of the other pixels are still those of the coarser level.
template <class T>
__device__ void expand_phase(const BeliefArgs& args, int index, int blocks) {
  const BeliefGrid level = args.levels[index];
  const MessageSource source(args, index, true);
  const int step = blocks * static_cast<int>(blockDim.x) / kWarp;
  const WarpItems items((level.width + 1) / 2, level.height, kMessageCount);
  T* arena = arena_of<T>(args);
  for (int item = items.first(); item < items.count; item += step) {
    const int y = item / kMessageCount / items.groups, message = item % kMessageCount;
    const int column = item / kMessageCount % items.groups * kWarp + items.lane();
    const int x = 2 * column + BeliefLevel::first_x(y, 1 - updated_parity(0));
    if (x >= level.width) continue;
    const T* kept = source.from<T>(arena, message, x, y);
    T* sent = arena + level.messages[message] + level.offset(x, y);
    for (int d = 0; d < args.disparities; ++d) sent[d * kWarp] = kept[d * kWarp];
  }
}

template <class T>
__device__ void choose_phase(const BeliefArgs& args) {
  const BeliefGrid level = args.levels[0];
  const MessageSource source(args, 0, false);
  const int disparities = args.disparities;
  const WarpItems items((level.width + 1) / 2, level.height, 2);
  const T* arena = arena_of<T>(args);
  for (int item = items.first(); item < items.count; item += items.step()) {
    const int y = item / 2 / items.groups;
    const int x = 2 * (item / 2 % items.groups * kWarp + items.lane()) + item % 2;
    if (x >= level.width) continue;
    const Inputs<T> in(arena, source, arena + level.costs + level.offset(x, y), x, y);
    float lowest = kNoBelief;
    int best = 0;
    for (int first = 0; first < disparities; first += kBatch) {
      const Batch<T, kBatch> batch(in, first);
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const float belief =
            belief_value(batch.cost[i], batch.above[i], batch.below[i], batch.left[i], batch.right[i]);
        if (first + i < disparities && belief < lowest) lowest = belief, best = first + i;
      }
    }
    args.winners[static_cast<std::ptrdiff_t>(y) * args.winner_pitch + x] = static_cast<std::uint16_t>(best);
  }
}

/// The zeros that arrive from outside, at the begin of the arena.
template <class T>
__device__ void zeros_phase(const BeliefArgs& args) {
  const int count = args.disparities * kWarp, step = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += step)
    arena_of<T>(args)[i] = T{};
}

/// Threads of a block of the kernels before and after.
inline constexpr int kPlainThreads = 256;
/// Threads of a block; the fewer, the more registers has each.
template <int kDisparities, BeliefKeep kKeep>
inline constexpr int kMostBeliefThreads = kKeep == BeliefKeep::kRegisters&& kDisparities <= 16 ? 512 : 256;

template <class T, int kDisparities, BeliefKeep kKeep>
__global__ void __launch_bounds__(kMostBeliefThreads<kDisparities, kKeep>)
    belief_kernel(const __grid_constant__ BeliefArgs args) {
  for (int i = args.level_count - 1; i >= 0; --i) {
    // A small level is left to some of the blocks, which meet sooner; the next level's wait for them.
    const int blocks = args.blocks[i], next = i > 0 ? args.blocks[i - 1] : 0;
    const int block = static_cast<int>(blockIdx.x);
    for (int t = 0; t < args.iterations && block < blocks; ++t) {
      update_phase<T, kDisparities, kKeep>(args, i, t, blocks);
      if (args.iterations == 1) expand_phase<T>(args, i, blocks);
      if (t + 1 < args.iterations) meet(args.counters + 2 * i + 1, blocks);
    }
    if (block < next) meet(args.counters + 2 * i + 2, next);
  }
}

template <class T>
__global__ void __launch_bounds__(kPlainThreads)
    costs_kernel(const __grid_constant__ BeliefArgs args, int index) {
  if (index == 0) zeros_phase<T>(args);
  costs_phase<T>(args, index);
}

template <class T>
__global__ void __launch_bounds__(kPlainThreads) choose_kernel(const __grid_constant__ BeliefArgs args) {
  choose_phase<T>(args);
}

}  // namespace recon::cuda
