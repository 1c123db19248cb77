#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "core/half.hpp"
#include "cuda/match/combine.cuh"
#include "cuda/match/sweep_args.hpp"
#include "cuda/optimize/winner/winner_range.hpp"

/// Destinations of the costs of a thread's outputs.

namespace recon::cuda {

/// The outputs of one thread: eight columns from x on of rows y and y + 1. Outputs outside the view or the
/// launch are computed but not written.
struct OutputPlace {
  int x, y;
  bool write[2];
};

__device__ __forceinline__ uint4 as_chunk(const std::uint32_t (&word)[kOutputColumns / 2]) {
  return {word[0], word[1], word[2], word[3]};
}

/// Stores all costs.
struct VolumeSink {
  __device__ __forceinline__ void clear() {}
  __device__ __forceinline__ void push(const SweepArgs& args, const OutputPlace& place, int plane,
                                       const PairCosts& costs) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      if (!place.write[row]) continue;
      const std::ptrdiff_t line =
          static_cast<std::ptrdiff_t>(place.y + row - args.row_begin) * (args.plane_end - args.plane_begin) +
          (plane - args.plane_begin);
      *reinterpret_cast<uint4*>(args.volume + line * args.volume_pitch + place.x) = as_chunk(costs.half[row]);
    }
  }
  __device__ __forceinline__ void finish(const SweepArgs&, const OutputPlace&, int) {}
};

/// Winner-take-all in registers: WinnerScan on half bits (non-negative halves order as integers), two pixels
/// per word.
struct WinnerSink {
  static constexpr int kWords = kOutputColumns;
  std::uint32_t cost[kWords], plane[kWords], before[kWords], after[kWords], second[kWords];
  std::uint32_t previous[kWords], earlier[kWords];
  std::uint32_t changed[kWords];  ///< all ones where the previous plane became the winner

  __device__ __forceinline__ void clear() {
    constexpr std::uint32_t none = kHalfInfinityBits * 0x10001u;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      cost[i] = before[i] = after[i] = second[i] = previous[i] = earlier[i] = none;
      plane[i] = kNoWinner * 0x10001u;
      changed[i] = 0;
    }
  }

  __device__ __forceinline__ void push(const SweepArgs& args, const OutputPlace& place, int d,
                                       const PairCosts& costs) {
    const int range = static_cast<int>(blockIdx.z);
    if (d == args.plane_begin + range * args.planes_per_block)
      write(args, place, range, kFieldFirst, costs.half);
    const std::uint32_t planes = static_cast<std::uint32_t>(d) * 0x10001u;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const std::uint32_t c = costs.half[i / 4][i % 4];
      const std::uint32_t better = less_mask(c, cost[i]);
      after[i] = select(changed[i], c, after[i]);
      second[i] = select(better, earlier[i], select(changed[i], second[i], __vminu2(second[i], c)));
      before[i] = select(better, previous[i], before[i]);
      plane[i] = select(better, planes, plane[i]);
      cost[i] = __vminu2(cost[i], c);
      earlier[i] = __vminu2(earlier[i], previous[i]);
      previous[i] = c;
      changed[i] = better;
    }
  }

  __device__ __forceinline__ void finish(const SweepArgs& args, const OutputPlace& place, int) {
    constexpr std::uint32_t none = kHalfInfinityBits * 0x10001u;
#pragma unroll
    for (int i = 0; i < kWords; ++i) after[i] = select(changed[i], none, after[i]);
    const int range = static_cast<int>(blockIdx.z);
    write(args, place, range, kFieldCost, cost);
    write(args, place, range, kFieldPlane, plane);
    write(args, place, range, kFieldBefore, before);
    write(args, place, range, kFieldAfter, after);
    write(args, place, range, kFieldSecond, second);
    write(args, place, range, kFieldLast, previous);
  }

 private:
  static __device__ __forceinline__ std::uint32_t select(std::uint32_t mask, std::uint32_t yes,
                                                         std::uint32_t no) {
    return (yes & mask) | (no & ~mask);
  }
  static __device__ __forceinline__ std::uint32_t less_mask(std::uint32_t a, std::uint32_t b) {
    __half2 x, y;
    memcpy(&x, &a, sizeof a);
    memcpy(&y, &b, sizeof b);
    return __hlt2_mask(x, y);
  }
  static __device__ __forceinline__ void write(const SweepArgs& args, const OutputPlace& place, int range,
                                               WinnerField field,
                                               const std::uint32_t (&word)[2][kOutputColumns / 2]) {
    const int rows = args.row_end - args.row_begin;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      if (!place.write[row]) continue;
      const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(range * kWinnerFields + field) * rows +
                                  (place.y + row - args.row_begin);
      *reinterpret_cast<uint4*>(args.winners + line * args.winners_pitch + place.x) = as_chunk(word[row]);
    }
  }
  static __device__ __forceinline__ void write(const SweepArgs& args, const OutputPlace& place, int range,
                                               WinnerField field, const std::uint32_t (&word)[kWords]) {
    const std::uint32_t rows[2][4] = {{word[0], word[1], word[2], word[3]},
                                      {word[4], word[5], word[6], word[7]}};
    write(args, place, range, field, rows);
  }
};

}  // namespace recon::cuda
