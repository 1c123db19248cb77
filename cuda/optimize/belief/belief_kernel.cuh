#pragma once

#include "cuda/optimize/belief/belief_messages.cuh"

namespace recon::cuda {

/// Barriers between thread blocks of a cooperative kernel.

/// Atomic add with release semantics: a load_acquired that reads the sum sees all earlier writes.
__device__ inline unsigned add_released(unsigned* counter, unsigned value) {
  unsigned before;
  asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(counter)), "r"(value)
               : "memory");
  return before;
}

/// Relaxed load of a counter.
__device__ inline unsigned load_relaxed(const unsigned* counter) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return value;
}

/// Acquire load of a counter; invalidates the L1 cache of the multiprocessor.
__device__ inline unsigned load_acquired(const unsigned* counter) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return value;
}

/// A barrier of thread blocks 0 .. blocks - 1 of the grid, all of which have to be resident. The upper bit of
/// the counter flips when the last one arrives; its other bits are 0 before and after.
class Meeting {
 public:
  __device__ Meeting(unsigned* counter, int blocks) : counter_(counter), blocks_(blocks) {}

  /// Earlier writes of the thread block are visible to all after `wait`.
  __device__ void arrive() {
    __syncthreads();
    if (blocks_ == 1 || threadIdx.x > 0) return;
    before_ = add_released(counter_, blockIdx.x == 0 ? kTurn - static_cast<unsigned>(blocks_ - 1) : 1u);
  }

  __device__ void wait() const {
    if (blocks_ == 1) return;
    if (threadIdx.x == 0) {
      // Other thread blocks of this multiprocessor may still use the L1 cache: it is invalidated only at the
      // end.
      while (((load_relaxed(counter_) ^ before_) & kTurn) == 0) {
      }
      load_acquired(counter_);
    }
    __syncthreads();
  }

 private:
  static constexpr unsigned kTurn = 0x80000000u;
  unsigned* counter_;
  int blocks_;
  unsigned before_ = 0;
};

/// Belief propagation as one kernel between the cost and label kernels: every iteration of every level
/// distributes its pixels over the grid and ends with a grid barrier. A warp takes 32 neighbouring pixels of
/// one parity. Other phases of the kernel write the memory that a phase reads, so nothing here may use the
/// read-only cache.

/// Disparities whose costs a thread computes at a time.
inline constexpr int kCostChunk = 8;

/// Adds the costs of pixel (x, y) of the finest level, computed from the images, and stores them.
template <class T, class Pixel>
__device__ void add_image_costs(const BeliefArgs& args, const Pixel* left, const Pixel* right, int x, int y,
                                int first, int count, T* cost, float* sums) {
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * args.images.pitch;
  const float own = left[row + x];
  const int last = args.levels[0].width - 1;
#pragma unroll
  for (int d = 0; d < kCostChunk; ++d) {
    const int other = x - args.min_disparity - (first + d);
    // Read unconditionally, so that the reads do not wait for each other.
    const float pixel = right[row + min(max(other, 0), last)];
    const float value = other >= 0 && other <= last ? args.cost.inside(own, pixel) : args.cost.outside();
    if (d < count) sums[d] += store_cost(value, cost + d * kWarp);
  }
}

/// Adds the costs of pixel (x, y) of a level for a range of disparities.
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

/// A pixel that a thread updates, and the addresses of its inputs, computed before an iteration begins.
template <class T>
struct PixelWork {
  int item;
  bool there;          ///< false after the end of a row
  std::ptrdiff_t own;  ///< offset of the pixel from the start of costs or messages
  Inputs<T> in;

  __device__ PixelWork(const BeliefArgs& args, int index, int iteration, int at) : item(at) {
    const BeliefGrid& level = args.levels[index];
    const unsigned groups = static_cast<unsigned>(level.groups);
    const int y = static_cast<int>(static_cast<unsigned>(item) / groups);
    const int column = static_cast<int>(static_cast<unsigned>(item) % groups) * kWarp + WarpItems::lane();
    const int x = 2 * column + BeliefLevel::first_x(y, updated_parity(iteration));
    there = x < level.width;
    own = level.offset(x, y);
    const T* arena = arena_of<T>(args);
    in = Inputs<T>(arena, MessageSource(args, index, iteration == 0), arena + level.costs + own, x, y);
  }
};

template <class T, int kDisparities>
__device__ void update_phase(const BeliefArgs& args, int index, int iteration, int blocks,
                             PixelWork<T> work) {
  const BeliefGrid& level = args.levels[index];
  const int count = level.groups * level.height;
  while (work.item < count) {
    if (work.there) send_messages<T, kDisparities>(args, level, work.in, work.own);
    const int next = work.item + WarpItems::step_spread(blocks);
    if (next >= count) return;
    work = PixelWork<T>(args, index, iteration, next);
  }
}

/// If there is only one iteration: the messages of the other parity are copied from the coarser level.
template <class T>
__device__ void expand_phase(const BeliefArgs& args, int index, int blocks) {
  const BeliefGrid& level = args.levels[index];
  const MessageSource source(args, index, true);
  const WarpItems items((level.width + 1) / 2, level.height, kMessageCount);
  T* arena = arena_of<T>(args);
  for (int item = items.first_spread(blocks); item < items.count; item += items.step_spread(blocks)) {
    const int y = item / kMessageCount / items.groups, message = item % kMessageCount;
    const int column = item / kMessageCount % items.groups * kWarp + items.lane();
    const int x = 2 * column + BeliefLevel::first_x(y, 1 - updated_parity(0));
    if (x >= level.width) continue;
    const T* kept = source.from<T>(arena, message, x, y, true);
    T* sent = arena + level.messages[message] + level.offset(x, y);
    for (int d = 0; d < args.disparities; ++d) sent[d * kWarp] = kept[d * kWarp];
  }
}

/// Clears the messages from outside the image, at the start of the arena.
template <class T>
__device__ void clear_outside(const BeliefArgs& args) {
  const int count = args.disparities * kWarp, step = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += step)
    arena_of<T>(args)[i] = T{};
}

/// Threads per block of the kernels before and after.
inline constexpr int kPlainThreads = 256;
/// Max threads per block; the fewer, the more registers per thread.
template <int kDisparities>
inline constexpr int kMaxBeliefThreads = !kOneSegment<kDisparities> || kDisparities > 24 ? 256
                                         : kDisparities > 16                             ? 384
                                                                                         : 512;
/// Min resident thread blocks per multiprocessor.
template <int kDisparities>
inline constexpr int kBeliefBlocks = kOneSegment<kDisparities> ? 1 : kSegmentBlocks;

template <class T, int kDisparities>
__global__ void __launch_bounds__(kMaxBeliefThreads<kDisparities>, kBeliefBlocks<kDisparities>)
    belief_kernel(const __grid_constant__ BeliefArgs args) {
  for (int i = args.level_count - 1; i >= 0; --i) {
    // A small level is processed by some of the thread blocks, whose barrier is faster; the others wait for
    // them.
    const int blocks = args.blocks[i], next = i > 0 ? args.blocks[i - 1] : 0;
    const int block = static_cast<int>(blockIdx.x);
    if (block < blocks) {
      const int first = WarpItems::first_spread(blocks);
      Meeting meeting(args.counters + 2 * i + 1, blocks);
      PixelWork<T> work(args, i, 0, first);
      for (int t = 0;;) {
        update_phase<T, kDisparities>(args, i, t, blocks, work);
        if (args.iterations == 1) expand_phase<T>(args, i, blocks);
        if (++t == args.iterations) break;
        meeting.arrive();
        work = PixelWork<T>(args, i, t, first);  // overlaps with the wait for the others
        meeting.wait();
      }
    }
    if (block < next) {
      Meeting meeting(args.counters + 2 * i + 2, next);
      meeting.arrive();
      meeting.wait();
    }
  }
}

/// Computes the costs of the finest level from the images, and those of the next coarser level; each thread
/// handles the 2 x 2 pixels of one coarser pixel and a range of disparities.
template <class T>
__global__ void __launch_bounds__(kPlainThreads)
    costs_kernel(const __grid_constant__ BeliefArgs args, int index) {
  if (index == 0) clear_outside<T>(args);
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

template <class T>
__global__ void __launch_bounds__(kPlainThreads) choose_kernel(const __grid_constant__ BeliefArgs args) {
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

}  // namespace recon::cuda
