#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/aggregate/cost_sum.cuh"
#include "cuda/aggregate/cross_strip.cuh"
#include "cuda/device/ptx.cuh"

/// The row warps of a strip: they sum along the rows.

namespace recon::cuda::strips {

/// One row warp; it sums kStep / kRowWarps rows of each step.
class RowAdder {
 public:
  static constexpr int kRows = kStep / kRowWarps;

  __device__ RowAdder(const StripPass& pass, const Strip& strip, int thread)
      : lane_(thread % 32),
        first_(thread / 32 * kRows),
        height_(pass.costs.height),
        next_y_(strip.top + first_),
        offset_(pass.unit.offset()) {
    const DeviceVolume& costs = pass.costs;
    const int x = strip.first_x - margin_of(pass.arms.longest) + kEach * lane_;
    // The padding of a row is undefined, and no mean reads its sums.
#pragma unroll
    for (int v = 0; v < kVectors; ++v) inside_[v] = x + 4 * v >= 0 && x + 4 * v < costs.width;
    row_step_ = costs.planes * costs.pitch;
    next_row_ = costs.row(0, strip.d) + next_y_ * row_step_ + x;
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) load(next_[turn]);
  }

  /// @tparam Turn  the step modulo kTurns
  template <int Turn>
  __device__ __forceinline__ void add_up(RowLines& lines) {
    const std::uint32_t nothing = __float_as_uint(offset_);
    std::uint32_t whole[kRows][kEach], total[kRows], gaps[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      count_units(next_[Turn][r], whole[r]);
      gaps[r] = gaps_of(whole[r]);
      total[r] = 0;
#pragma unroll
      for (int i = 0; i < kEach; ++i) total[r] += whole[r][i];
      total[r] -= kEach * nothing;
    }
    load(next_[Turn]);
    std::uint32_t sum[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) sum[r] = total[r];
    add_lanes_before(sum);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      std::uint32_t before[kEach];
      before[0] = sum[r] - total[r];
#pragma unroll
      for (int i = 1; i < kEach; ++i) before[i] = before[i - 1] + whole[r][i - 1] - nothing;
      store(before, lines.sums[Turn][first_ + r] + kEach * lane_);
      const bool any = __any_sync(0xFFFFFFFFu, gaps[r] != 0);
      if (lane_ == 0) lines.gaps[Turn][first_ + r] = any;
      if (any) count(gaps[r], lines.counts[Turn][first_ + r]);
    }
  }

 private:
  static constexpr int kVectors = kEach / 4;

  /// Half of the lanes store their second vector first, so that eight neighbours write to all banks.
  __device__ __forceinline__ void store(const std::uint32_t (&sums)[kEach], std::uint32_t* to) const {
    static_assert(kVectors == 2);
    const bool second = lane_ / 4 % 2 != 0;
    std::uint32_t one[4], other[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      one[i] = second ? sums[4 + i] : sums[i];
      other[i] = second ? sums[i] : sums[4 + i];
    }
    auto* four = reinterpret_cast<uint4*>(to);
    four[second ? 1 : 0] = make_uint4(one[0], one[1], one[2], one[3]);
    four[second ? 0 : 1] = make_uint4(other[0], other[1], other[2], other[3]);
  }

  /// Costs as bits of floats, in units above the offset.
  __device__ __forceinline__ void count_units(const float4 (&costs)[kVectors],
                                              std::uint32_t (&whole)[kEach]) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      whole[4 * v] = __float_as_uint(costs[v].x + offset_);
      whole[4 * v + 1] = __float_as_uint(costs[v].y + offset_);
      whole[4 * v + 2] = __float_as_uint(costs[v].z + offset_);
      whole[4 * v + 3] = __float_as_uint(costs[v].w + offset_);
    }
  }

  /// The bits of the infinite costs, which are set to zero.
  __device__ __forceinline__ std::uint32_t gaps_of(std::uint32_t (&whole)[kEach]) const {
    constexpr std::uint32_t kExponent = 0x7F800000u;  // that of the offset in finite costs
    const std::uint32_t nothing = __float_as_uint(offset_);
    std::uint32_t any = 0, gaps = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) any |= whole[i];
    if ((any & kExponent) == nothing) return 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      if ((whole[i] & kExponent) != nothing) whole[i] = nothing, gaps |= 1u << i;
    return gaps;
  }

  template <int Count>
  __device__ __forceinline__ static void add_lanes_before(std::uint32_t (&value)[Count]) {
#pragma unroll
    for (int step = 1; step < 32; step *= 2)
#pragma unroll
      for (int r = 0; r < Count; ++r) add_lane_before(value[r], step);
  }

  /// Loads the rows of the step after the next; does not wait for them. No mean uses rows below the image.
  __device__ __forceinline__ void load(float4 (&next)[kRows][kVectors]) {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      if (next_y_ + r < height_) {
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
          if (inside_[v]) next[r][v] = __ldg(reinterpret_cast<const float4*>(next_row_ + r * row_step_) + v);
      }
    next_y_ += kStep;
    next_row_ += kStep * row_step_;
  }

  /// Counts of finite costs modulo 256: sufficient, as no row of arms has more than 255.
  __device__ void count(std::uint32_t gaps, std::uint8_t* counts) const {
    std::uint32_t own[1] = {kEach - static_cast<std::uint32_t>(__popc(gaps))};
    std::uint32_t before = 0u - own[0];
    add_lanes_before(own);
    before += own[0];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      counts[kEach * lane_ + i] = static_cast<std::uint8_t>(before);
      before += gaps >> i & 1 ? 0 : 1;
    }
  }

  int lane_, first_, height_, next_y_;
  float offset_;
  bool inside_[kVectors];
  const float* next_row_;
  std::ptrdiff_t row_step_;
  float4 next_[kTurns][kRows][kVectors] = {};  ///< undefined outside the image
};

}  // namespace recon::cuda::strips
