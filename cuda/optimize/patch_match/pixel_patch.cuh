#pragma once

#include <cstdint>

#include "cuda/match/patch_samples.cuh"
#include "cuda/optimize/patch_match/patch_match.hpp"

namespace recon::cuda {

constexpr int kPatchBlockWidth = 16, kPatchBlockHeight = 8;
constexpr int kPatchThreads = kPatchBlockWidth * kPatchBlockHeight;

/// What the threads of a block share for their patches.
template <int R>
struct PatchBlock {
  LaneSource source[kMaxSources];
  PatchRows<R, kPatchThreads> rows;

  __device__ void load(const PatchArgs& args) {
    const int thread = static_cast<int>(threadIdx.y) * kPatchBlockWidth + static_cast<int>(threadIdx.x);
    static_assert(kMaxSources <= kPatchThreads);
    if (thread < args.sources) source[thread] = lane_source(args.source[thread]);
    __syncthreads();
  }
};
template <>
struct PatchBlock<0> {
  __device__ void load(const PatchArgs&) {}
};

/// Costs in two sources.
struct CostPair {
  float first, second;
};

/// The mean cost over the sources of a pixel; see mean_cost. Sources are compared in pairs, so that the loads
/// of one are on their way while the other is computed; a second one that could have been left out adds
/// nothing to a plane that is not taken.
/// @param costs  costs(s, t): of sources s and t, negative where the patch is not visible
template <class Costs>
__device__ __forceinline__ float mean_cost_of_pairs(PatchSources sources, float bound, const Costs& costs) {
  const int count = source_count(sources);
  if (count == 0) return kNoPatchCost;
  const float scale = 1.0f / static_cast<float>(count);
  float sum = 0.0f;
#pragma unroll 1
  for (int k = 0; k < count; k += 2) {
    const std::uint32_t s = source_at(sources, k);
    const bool two = k + 1 < count;
    const CostPair pair = costs(s, two ? source_at(sources, k + 1) : s);
    sum += pair.first < 0.0f ? kInvisibleCost : pair.first;
    if (two) sum += pair.second < 0.0f ? kInvisibleCost : pair.second;
    if (!(sum * scale < bound)) break;
  }
  return sum * scale;
}

/// The patch of the pixel of a thread, of radius `R`, for sources that are quads.
template <int R>
class PixelPatch {
 public:
  __device__ PixelPatch(const PatchArgs& args, PatchBlock<R>& block, int x, int y)
      : block_(block), x_(x), y_(y), thread_(static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x)) {
    const int last_column = args.states.width - 1, last_row = args.states.height - 1;
    const auto level = [&](int px, int py) -> int {
      return __ldg(args.reference + std::ptrdiff_t{py} * args.reference_pitch + px);
    };
    const int centre = level(x, y);
#pragma unroll
    for (int j = 0; j < kSide; ++j) {
      std::uint32_t words[R + 1] = {};
#pragma unroll
      for (int i = 0; i < kSide; ++i) {
        // Outside the image the level of the border with a weight of zero; no branches, so that all loads are
        // under way together.
        const int column = min(max(x + i - R, 0), last_column), row = min(max(y + j - R, 0), last_row);
        const int p = level(column, row);
        const bool inside = column == x + i - R && row == y + j - R;
        const int w = inside ? __ldg(args.weights + (j * kSide + i) * 256 + abs(p - centre)) : 0;
        words[i / 2] |= static_cast<std::uint32_t>(w | p << 16) << 8 * (i % 2);
        sums_.weight += w, sums_.r += w * p, sums_.rr += w * p * p;
      }
      block_.rows.store(j, thread_, words);
    }
    variance_ = scaled(sums_.rr, sums_.r, sums_.r);
  }

  /// The costs in two sources; negative where the patch is not visible.
  __device__ __forceinline__ CostPair costs(std::uint32_t s, std::uint32_t t,
                                            const SlantedPlane& plane) const {
    const LaneWarp first = lane_warp<R>(block_.source[s], x_, y_, plane),
                   second = lane_warp<R>(block_.source[t], x_, y_, plane);
    CostPair costs{-1.0f, -1.0f};
    if (!first.visible && !second.visible) return costs;
    PatchSums first_sums, second_sums;
    add_samples(first, second, first_sums, second_sums);
    if (first.visible) costs.first = cost_of(first_sums);
    if (second.visible) costs.second = cost_of(second_sums);
    return costs;
  }

  /// The same in one source.
  __device__ __forceinline__ float visible_cost(std::uint32_t s, const SlantedPlane& plane) const {
    const LaneWarp warp = lane_warp<R>(block_.source[s], x_, y_, plane);
    if (!warp.visible) return -1.0f;
    PatchSums sums;
    std::uint32_t u = warp.u, v = warp.v;
#pragma unroll 1
    for (int j = 0; j < kSide; ++j, u = opaque(u + warp.uy), v = opaque(v + warp.vy)) {
      const RowSamples<R> row(warp, u, v);
      std::uint32_t words[R + 1];
      block_.rows.load(j, thread_, words);
      row.add_to(sums, words);
    }
    return cost_of(sums);
  }

  __device__ __forceinline__ float cost(PatchSources sources, const SlantedPlane& plane, float bound) const {
    return mean_cost_of_pairs(sources, bound,
                              [&](std::uint32_t s, std::uint32_t t) { return costs(s, t, plane); });
  }

  __device__ const ReferenceSums& sums() const {
    return sums_;
  }

 private:
  static constexpr int kSide = 2 * R + 1;

  __device__ __forceinline__ void add_samples(const LaneWarp& a, const LaneWarp& b, PatchSums& a_sums,
                                              PatchSums& b_sums) const {
    std::uint32_t a_u = a.u, a_v = a.v, b_u = b.u, b_v = b.v;
#pragma unroll 1
    for (int j = 0; j < kSide; ++j) {
      const RowSamples<R> a_row(a, a_u, a_v), b_row(b, b_u, b_v);
      std::uint32_t words[R + 1];
      block_.rows.load(j, thread_, words);
      a_row.add_to(a_sums, words);
      b_row.add_to(b_sums, words);
      a_u = opaque(a_u + a.uy), a_v = opaque(a_v + a.vy);
      b_u = opaque(b_u + b.uy), b_v = opaque(b_v + b.vy);
    }
  }

  /// weight * product - p q, rounded.
  __device__ __forceinline__ float scaled(std::int32_t product, std::int32_t p, std::int32_t q) const {
    return static_cast<float>(static_cast<std::int64_t>(sums_.weight) * product -
                              static_cast<std::int64_t>(p) * q);
  }

  /// See patch_cost.
  __device__ __forceinline__ float cost_of(const PatchSums& sums) const {
    const float variance = scaled(sums.qq, sums.q, sums.q), covariance = scaled(sums.qr, sums.q, sums_.r);
    if (!(variance_ > 0.0f && variance > 0.0f)) return 1.0f;
    const float cost = 1.0f - covariance * inverse_sqrt(variance_ * variance);
    return fminf(fmaxf(cost, 0.0f), 2.0f);
  }

  PatchBlock<R>& block_;
  int x_, y_, thread_;
  ReferenceSums sums_;
  float variance_;  ///< times the square of the weight
};

/// The same for any radius and storage, which decide at run time.
template <>
class PixelPatch<0> {
 public:
  __device__ PixelPatch(const PatchArgs& args, PatchBlock<0>&, int x, int y) : args_(args), x_(x), y_(y) {
    centre_ = reference(x, y);
    for_samples([&](int k, int dx, int dy) {
      const int px = x + dx, py = y + dy;
      const bool inside = args.states.contains(px, py);
      const int r = inside ? reference(px, py) - centre_ : 0;
      const int w = inside ? __ldg(args.weights + k * 256 + abs(r)) : 0;
      weight_and_value_[k] = w << 16 | (r & 0xFFFF);
      sums_.weight += w, sums_.r += w * r, sums_.rr += w * r * r;
    });
  }

  /// Negative where the patch is not visible.
  __device__ float visible_cost(std::uint32_t s, const SlantedPlane& plane) const {
    const DeviceSource& source = args_.source[s];
    const PatchWarp warp =
        patch_warp(source.warp, x_, y_, plane, args_.iteration.radius, source.width, source.height);
    return warp.visible ? patch_cost(sums_, sums_with(source, warp)) : -1.0f;
  }

  __device__ float cost(PatchSources sources, const SlantedPlane& plane, float bound) const {
    return mean_cost(sources, bound, [&](std::uint32_t s) {
      const float cost = visible_cost(s, plane);
      return cost < 0.0f ? kInvisibleCost : cost;
    });
  }

  __device__ const ReferenceSums& sums() const { return sums_; }

 private:
  /// Calls `visit(k, dx, dy)` for sample k, at that offset.
  template <class Visit>
  __device__ __forceinline__ void for_samples(const Visit& visit) const {
    const int radius = args_.iteration.radius;
    int k = 0;
#pragma unroll 1
    for (int dy = -radius; dy <= radius; ++dy)
#pragma unroll 1
      for (int dx = -radius; dx <= radius; ++dx) visit(k++, dx, dy);
  }

  __device__ int reference(int x, int y) const {
    return __ldg(args_.reference + static_cast<std::ptrdiff_t>(y) * args_.reference_pitch + x);
  }

  __device__ PatchSums sums_with(const DeviceSource& source, const PatchWarp& warp) const {
    PatchSums sums;
    for_samples([&](int k, int dx, int dy) {
      const int u = sample_position(warp.u, dx, dy, warp.ux, warp.uy);
      const int v = sample_position(warp.v, dx, dy, warp.vx, warp.vy);
      const int column = u >> kSubpixelBits, row = v >> kSubpixelBits;
      const std::uint32_t quad =
          args_.storage == SourceStorage::kQuads
              ? __ldg(static_cast<const std::uint32_t*>(source.channel[0]) + (row * source.pitch + column))
              : quad_of_bytes(source, 0, column, row);
      const std::uint32_t sample = shifted_bilinear(quad, u & 255, v & 255, 8192u) >> 14;
      add_sample(sums, weight_and_value_[k] >> 16, static_cast<std::int16_t>(weight_and_value_[k]),
                 static_cast<std::int32_t>(sample) - 4 * centre_);
    });
    return sums;
  }

  const PatchArgs& args_;
  int x_, y_;
  int centre_;
  ReferenceSums sums_;
  std::int32_t weight_and_value_[patch_samples(kMaxPatchRadius)];
};

}  // namespace recon::cuda
