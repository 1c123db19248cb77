#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "core/half.hpp"
#include "cuda/optimize/belief/belief.hpp"
#include "optimize/belief/belief_step.hpp"

namespace recon::cuda {

/// Stored values, read and rounded as in core/half.hpp and core/bfloat16.hpp, by hardware conversions.
__device__ inline float load_value(const float* p) {
  return *p;
}
__device__ inline float load_value(const Half* p) {
  return __half2float(__ushort_as_half(p->bits));
}
__device__ inline float load_value(const Bfloat16* p) {
  return __uint_as_float(static_cast<unsigned>(p->bits) << 16);
}

__device__ inline void store_value(float value, float* p) {
  *p = value;
}
__device__ inline void store_value(float value, Half* p) {
  p->bits = __half_as_ushort(__float2half_rn(value));
}
__device__ inline void store_value(float value, Bfloat16* p) {
  p->bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

/// Stores a cost, clamped to the max finite half, and returns the stored value.
__device__ inline float store_cost(float value, float* p) {
  *p = value;
  return value;
}
__device__ inline float store_cost(float value, Half* p) {
  const __half rounded = __float2half_rn(value < 65504.0f ? value : 65504.0f);
  p->bits = __half_as_ushort(rounded);
  return __half2float(rounded);
}
__device__ inline float store_cost(float value, Bfloat16* p) {
  const __nv_bfloat16 rounded = __float2bfloat16_rn(value);
  p->bits = __bfloat16_as_ushort(rounded);
  return __bfloat162float(rounded);
}

/// Messages that a pixel receives and sends.

inline constexpr int kWarp = kBeliefGroup;
/// Disparities whose messages a thread reads at a time.
inline constexpr int kBatch = 16;

/// Disparities per segment: their values stay in registers between the rising and the falling pass.
inline constexpr int kSegment = 8;
static_assert(kSegment <= kBatch);  // reads of a batch may end after the last disparity
/// Disparities of a segment whose messages a thread reads at a time.
inline constexpr int kSegmentBatch = 8;
static_assert(kSegment % kSegmentBatch == 0);
/// Thread blocks per multiprocessor if there are several segments: they limit a thread's registers.
inline constexpr int kSegmentBlocks = 2;
/// Max number of rising-pass states that a thread stores.
inline constexpr int kMaxStates = 32;

/// Few disparities, known at compile time, form a single segment.
template <int kDisparities>
inline constexpr bool kOneSegment = kDisparities > 0 && kDisparities <= 32;
template <int kDisparities>
inline constexpr int kSegmentOf = kOneSegment<kDisparities> ? kDisparities : kSegment;
/// Disparities of a segment that are read at a time.
template <int kDisparities>
inline constexpr int kBatchOf = !kOneSegment<kDisparities> ? kSegmentBatch
                                : kDisparities < 32        ? kDisparities
                                                           : kBatch;

/// The work of a phase in groups of 32 pixels of a row, with `copies` work items per group.
struct WarpItems {
  int groups, count;
  __device__ WarpItems(int columns, int rows, int copies)
      : groups((columns + kWarp - 1) / kWarp), count(groups * rows * copies) {}
  __device__ static int first() { return static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / kWarp); }
  __device__ static int step() { return static_cast<int>(gridDim.x * blockDim.x / kWarp); }
  /// First item if several thread blocks share a phase: neighbouring items go to different thread blocks,
  /// which balances the load of the multiprocessors.
  __device__ static int first_spread(int blocks) {
    return static_cast<int>(threadIdx.x / kWarp) * blocks + static_cast<int>(blockIdx.x);
  }
  __device__ static int step_spread(int blocks) { return blocks * static_cast<int>(blockDim.x / kWarp); }
  __device__ static int lane() { return static_cast<int>(threadIdx.x % kWarp); }
};

template <class T>
__device__ T* arena_of(const BeliefArgs& args) {
  return static_cast<T*>(args.arena);
}

/// Source of the messages of a neighbourhood: the level itself or, in the first iteration, the next coarser
/// one (shift 1).
struct MessageSource {
  const BeliefGrid& grid;
  int width, height;
  int shift;
  bool none;

  __device__ MessageSource(const BeliefArgs& args, int index, bool first)
      : grid(args.levels[first && index + 1 < args.level_count ? index + 1 : index]),
        width(args.levels[index].width),
        height(args.levels[index].height),
        shift(first ? 1 : 0),
        none(first && index + 1 >= args.level_count) {}

  /// The message of the neighbour at (x, y); zeros if it does not exist.
  template <class T>
  __device__ const T* from(const T* arena, int message, int x, int y, bool exists) const {
    const std::ptrdiff_t at = grid.messages[message] + grid.offset(x >> shift, y >> shift);
    return arena + (exists && !none ? at : WarpItems::lane());
  }
};

/// Inputs of a pixel, from the lowest disparity on.
template <class T>
struct Inputs {
  const T *cost, *above, *below, *left, *right;

  Inputs() = default;
  __device__ Inputs(const T* arena, const MessageSource& source, const T* own_cost, int x, int y)
      : cost(own_cost),
        above(source.from(arena, kMessageDown, x, y - 1, y > 0)),
        below(source.from(arena, kMessageUp, x, y + 1, y + 1 < source.height)),
        left(source.from(arena, kMessageRight, x - 1, y, x > 0)),
        right(source.from(arena, kMessageLeft, x + 1, y, x + 1 < source.width)) {}
};

/// Values of some disparities, read at once.
template <class T, int kCount>
struct Batch {
  float cost[kCount], above[kCount], below[kCount], left[kCount], right[kCount];

  /// After the last disparity the values are undefined, but inside the arena.
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

/// The rising passes over a pixel's messages.
struct RisingPasses {
  MessageRising up, down, left, right;

  template <class Numbers>
  __device__ void push(const Numbers& in, int i, float (&values)[kMessageCount]) {
    values[kMessageUp] = up.push(message_input(in.cost[i], in.left[i], in.right[i], in.below[i]));
    values[kMessageDown] = down.push(message_input(in.cost[i], in.left[i], in.right[i], in.above[i]));
    values[kMessageLeft] = left.push(message_input(in.cost[i], in.above[i], in.below[i], in.right[i]));
    values[kMessageRight] = right.push(message_input(in.cost[i], in.above[i], in.below[i], in.left[i]));
  }

  /// Processes a segment, of which `count` disparities exist.
  template <class T, int kBatchCount, int kCount>
  __device__ void pass(const Inputs<T>& in, int first, int count, float (&values)[kCount][kMessageCount]) {
#pragma unroll
    for (int begin = 0; begin < kCount; begin += kBatchCount) {
      const Batch<T, kBatchCount> batch(in, first + begin);
#pragma unroll
      for (int i = 0; i < kBatchCount; ++i)
        if (begin + i < count) push(batch, i, values[begin + i]);
    }
  }
};

/// The falling passes, which send the messages.
template <class T>
struct FallingPasses {
  MessageFalling up, down, left, right;
  T *sent_up, *sent_down, *sent_left, *sent_right;

  /// @param own  start of the pixel's messages, relative to those of the level
  __device__ FallingPasses(const RisingPasses& rising, float cap, const BeliefGrid& level, T* own)
      : up(rising.up.lowest, cap),
        down(rising.down.lowest, cap),
        left(rising.left.lowest, cap),
        right(rising.right.lowest, cap),
        sent_up(own + level.messages[kMessageUp]),
        sent_down(own + level.messages[kMessageDown]),
        sent_left(own + level.messages[kMessageLeft]),
        sent_right(own + level.messages[kMessageRight]) {}

  /// Processes a segment, of which `count` disparities exist.
  template <int kCount>
  __device__ void pass(const float (&values)[kCount][kMessageCount], int first, int count) {
#pragma unroll
    for (int i = kCount - 1; i >= 0; --i) {
      if (i >= count) continue;
      const int at = (first + i) * kWarp;
      store_value(up.push(values[i][kMessageUp]), sent_up + at);
      store_value(down.push(values[i][kMessageDown]), sent_down + at);
      store_value(left.push(values[i][kMessageLeft]), sent_left + at);
      store_value(right.push(values[i][kMessageRight]), sent_right + at);
    }
  }
};

/// The segments of a pixel's disparities, and those before which a thread stores the state of its rising
/// passes: all but the first, whose state is known, and the last, whose values are still in registers; only
/// every `span`-th of them if these are too many.
struct Segments {
  int last, span;

  __host__ __device__ constexpr Segments(int disparities, int length)
      : last((disparities - 1) / length), span(last / (kMaxStates + 1) + 1) {}
  __host__ __device__ constexpr int states() const { return last > 0 ? (last - 1) / span : 0; }
};

/// The stored states of a thread, in shared memory.
struct KeptStates {
  float4* first;

  __device__ KeptStates() {
    extern __shared__ float4 kept_states[];
    first = kept_states + threadIdx.x;
  }
  __device__ void keep(int index, const RisingPasses& passes) {
    first[index * static_cast<int>(blockDim.x)] =
        make_float4(passes.up.carry, passes.down.carry, passes.left.carry, passes.right.carry);
  }
  __device__ RisingPasses at(int index) const {
    const float4 carry = first[index * static_cast<int>(blockDim.x)];
    RisingPasses passes;
    passes.up.carry = carry.x, passes.down.carry = carry.y;
    passes.left.carry = carry.z, passes.right.carry = carry.w;
    return passes;
  }
};

/// Sends the four messages of one pixel. A falling pass needs the values of the rising pass from the last to
/// the first; storing all of them would allow only a few threads. So the rising passes store some states, and
/// the segments are processed from the last to the first: their inputs are read and their values computed
/// again.
template <class T, int kDisparities>
__device__ void send_messages(const BeliefArgs& args, const BeliefGrid& level, const Inputs<T>& in,
                              std::ptrdiff_t own) {
  constexpr int kCount = kSegmentOf<kDisparities>, kAtOnce = kBatchOf<kDisparities>;
  const int disparities = kDisparities > 0 ? kDisparities : args.disparities;
  const Segments segments(disparities, kCount);
  KeptStates states;
  float values[kCount][kMessageCount];
  RisingPasses rising;
#pragma unroll 1
  for (int s = 0; s < segments.last; ++s) {
    if (s > 0 && s % segments.span == 0) states.keep(s / segments.span - 1, rising);
    rising.pass<T, kAtOnce>(in, s * kCount, kCount, values);
  }
  const int first = segments.last * kCount;
  rising.pass<T, kAtOnce>(in, first, disparities - first, values);
  FallingPasses<T> falling(rising, args.cap, level, arena_of<T>(args) + own);
  falling.pass(values, first, disparities - first);
#pragma unroll 1
  for (int s = segments.last - 1; s >= 0; --s) {
    const int state = s / segments.span;
    RisingPasses again;
    if (state > 0) again = states.at(state - 1);
#pragma unroll 1
    for (int k = state * segments.span; k <= s; ++k) again.pass<T, kAtOnce>(in, k * kCount, kCount, values);
    falling.pass(values, s * kCount, kCount);
  }
}

}  // namespace recon::cuda
