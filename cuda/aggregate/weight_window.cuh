#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device/volume.hpp"
#include "match/pair_side.hpp"

/// Shared memory of a thread block of the adaptive weights. A thread block computes the means of a tile of
/// columns and planes of one row. It processes the window in stages: up to kStage offsets along one window
/// row. The weights of a stage are computed while those of the previous stage are accumulated. Costs are
/// copied for several stages at once, colours for a row of the window; both copies overlap with computation.

namespace recon::cuda {

struct WeightProblem {
  DeviceVolume costs, means;
  const float *reference, *source;  ///< colours, see lab_kernel; source may be null
  std::ptrdiff_t colour_pitch;
  const float* gaps;  ///< by row and tile of planes: 0 if all samples have a cost
  float per_pixel;    ///< log2(e) / gamma
  int radius;
  PairSide side;
  int min_disparity;
};

/// Thread-block tile of warps with 32 threads of eight columns and four planes each.
template <int PlaneQuads, int Threads, int Stage, int Segment>
struct WeightTile {
  static constexpr int kPlaneQuads = PlaneQuads, kThreads = Threads;
  static constexpr int kStage = Stage;      ///< offsets whose weights are computed at once
  static constexpr int kSegment = Segment;  ///< offsets whose costs are copied at once
  static constexpr int kPlanes = 4 * PlaneQuads;
  static constexpr int kColumns = Threads / PlaneQuads * 8;
  static constexpr int kMatches = kColumns + kPlanes;  ///< columns of the source
  static constexpr int kBoth = kColumns + kMatches;
  static constexpr int kMatch = kColumns + kPlanes - 1;  ///< match of column 0 and slot 0, in rows of both
  static constexpr int kCostPitch = kPlanes + 4;         ///< avoids bank conflicts
  static_assert(Stage % 4 == 0 && Segment % Stage == 0 && 16 % PlaneQuads == 0);
};

__device__ __forceinline__ float fast_root(float value) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(value));
  return root;
}
__device__ __forceinline__ float fast_power_of_two(float value) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(value));
  return power;
}

/// Copies a float to shared memory if requested, without a branch; complete after wait_for_copies.
__device__ __forceinline__ void copy_word(float* to, const float* from, bool asked = true) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile(
      "{ .reg .pred asked; setp.ne.b32 asked, %2, 0; @asked cp.async.ca.shared.global [%0], [%1], 4; }" ::"r"(
          address),
      "l"(from), "r"(static_cast<int>(asked))
      : "memory");
#else
  if (asked) *to = *from;
#endif
}
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

__device__ __forceinline__ void load_four(const float* from, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

/// The thread index, read again. The sums use all registers: values derived from the index would be spilled,
/// which is slower than recomputing them.
__device__ __forceinline__ int thread_number() {
  int number;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
  return number;
}

extern __shared__ float4 weight_memory[];

template <class Tile>
class WeightWindow {
 public:
  /// Offsets of one row of the window, from `offset` on.
  struct Stage {
    int row, offset;
  };

  /// Offsets of a row, rounded up to a multiple of four.
  RECON_HD static constexpr int padded_offsets(int radius) { return (2 * radius + 4) / 4 * 4; }
  /// Floats of shared memory.
  RECON_HD static constexpr int floats(int radius) { return kColours + 2 * colours_of_row(radius); }

  __device__ WeightWindow(const WeightProblem& problem, int y) : problem_(problem) {
    const bool left = problem.side == PairSide::kLeft;
    if (thread_number() == 0) {
      known(kRow) = y;
      known(kLastRow) = min(y + problem.radius, problem.costs.height - 1);
      known(kFirstMatch) = first_x() + matching_column(problem.side, 0, problem.min_disparity + first_d()) -
                           (left ? Tile::kPlanes - 1 : 0);
    }
    __syncthreads();
    take_colours_of_tile();
  }

  __device__ int first_x() const { return static_cast<int>(blockIdx.x) * Tile::kColumns; }
  __device__ int row() const { return known(kRow); }
  /// The plane of a slot: for the right view planes are reversed, so that a match is always at column minus
  /// slot.
  __device__ int plane(int slot) const {
    return first_d() + (problem_.side == PairSide::kLeft ? slot : Tile::kPlanes - 1 - slot);
  }

  __device__ Stage first() const { return {max(known(kRow) - radius(), 0), 0}; }
  __device__ Stage after(Stage stage) const {
    stage.offset += Tile::kStage;
    if (stage.offset > 2 * radius()) stage = {stage.row + 1, 0};
    return stage;
  }
  __device__ bool exists(Stage stage) const { return stage.row <= known(kLastRow); }
  __device__ int size(Stage stage) const { return min(Tile::kStage, 2 * radius() + 1 - stage.offset); }
  __device__ static bool begins_segment(Stage stage) { return stage.offset % Tile::kSegment == 0; }
  __device__ bool has_gaps(Stage stage) const { return known(kGaps + stage.row % 4) != 0; }

  /// Weights of a stage, by offset: of the reference columns, then of the source columns.
  __device__ float* weights(int buffer) const { return memory(kWeights) + buffer * kWeightFloats; }
  /// Costs of the stage's offsets by column and slot.
  __device__ const float* costs(Stage stage, int buffer) const {
    return memory(kCosts) + buffer * kCostFloats + stage.offset % Tile::kSegment * Tile::kCostPitch;
  }

  /// Starts the copy of the costs of a stage's segment: a warp copies eight columns of all planes, without
  /// bank conflicts.
  __device__ void copy_costs(Stage stage, int buffer) const {
    const DeviceVolume& volume = problem_.costs;
    const bool left = problem_.side == PairSide::kLeft;
    const int thread = thread_number(), lane_slot = thread % 32 / 8, offsets = 2 * radius() + 1;
    const int columns = Tile::kColumns + min(Tile::kSegment, offsets - stage.offset) - 1;
    // groups of four slots that have a plane
    const int planes = volume.planes - first_d();
    const int first = left ? 0 : max(Tile::kPlanes - planes - lane_slot + 3, 0) / 4;
    const int last = left ? min((planes - lane_slot + 3) / 4, Tile::kPlaneQuads) : Tile::kPlaneQuads;
    const std::ptrdiff_t step = left ? 4 * volume.pitch : -4 * volume.pitch;
    const float* row = volume.row(stage.row, 0) + plane(lane_slot) * volume.pitch;
#pragma unroll 1
    for (int octet = thread / 32 * 8; octet < columns; octet += Tile::kThreads / 4) {
      const int column = octet + thread % 8, x = first_x() + column + stage.offset - radius();
      const bool counts = inside(x) && column < columns;
      const float* from = row + x;
      float* to = memory(kCosts) + buffer * kCostFloats + column * Tile::kCostPitch + lane_slot;
      if (__all_sync(~0u, counts && last - first == Tile::kPlaneQuads)) {
#pragma unroll
        for (int quad = 0; quad < Tile::kPlaneQuads; ++quad) copy_word(to + 4 * quad, from + quad * step);
      } else {
#pragma unroll 1
        for (int quad = 0; quad < Tile::kPlaneQuads; ++quad) {
          const bool exists = first <= quad && quad < last && column < columns;
          copy_word(to + 4 * quad, from + quad * step, exists && counts);
          if (exists && !counts) to[4 * quad] = 0.0f;
        }
      }
    }
  }

  /// Starts the copy of the colours of the stage's row and computes the lengths of its offsets. There is no
  /// divergence here: diverged lanes were seen to compute weights and sums separately until the next barrier.
  __device__ void copy_colours(Stage stage) const {
    const int thread = thread_number(), padded = padded_offsets(radius());
    const int reference = Tile::kColumns + padded, count = Tile::kBoth + 2 * padded;
    float* to = colours(stage.row);
#pragma unroll 1
    for (int first = thread / 32 * 32; first < padded; first += Tile::kThreads) {
      const int o = first + thread % 32, i = o - radius(), j = stage.row - known(kRow);
      const float far = fast_root(static_cast<float>(i * i + j * j)) * problem_.per_pixel;
      if (o < padded) to[o] = far;
    }
    to += padded;
#pragma unroll 1
    for (int first = thread / 32 * 32; first < count; first += Tile::kThreads) {
      const int i = first + thread % 32;
      const bool of_source = i >= reference && problem_.source != nullptr;
      const int column = of_source ? known(kFirstMatch) + i - reference : first_x() + i;
      const float* from =
          colour(of_source ? problem_.source : problem_.reference, stage.row, column - radius());
#pragma unroll
      for (int c = 0; c < 3; ++c) copy_word(to + c * count + i, from + c * problem_.colour_pitch, i < count);
    }
    const float* gaps =
        problem_.gaps + stage.row * static_cast<int>(gridDim.z) + static_cast<int>(blockIdx.z);
    copy_word(memory(kGaps + stage.row % 4), gaps, thread == 0);
  }

  /// Computes the weights of a stage, four columns and four offsets at a time.
  __device__ __forceinline__ void make_weights(Stage stage, int buffer) const {
    constexpr int kQuads = Tile::kBoth / 4, kOfReference = Tile::kColumns / 4;
    const bool two_views = problem_.source != nullptr;
    const int thread = thread_number(), padded = padded_offsets(radius());
    const int units = (two_views ? kQuads : kOfReference) * ((size(stage) + 3) / 4);
    const float* far_of = colours(stage.row);
#pragma unroll 1
    for (int first = thread / 32 * 32; first < units; first += Tile::kThreads) {
      const int unit = min(first + thread % 32, units - 1);  // surplus lanes repeat: no divergence
      const int quad = two_views ? unit % kQuads : unit % kOfReference;
      const int group = two_views ? unit / kQuads : unit / kOfReference;
      const bool of_source = quad >= kOfReference;
      const float* from = far_of + padded + 4 * (quad + group) + stage.offset + (of_source ? padded : 0);
      float here[3][4], there[3][8], far[4];
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        load_four(memory(kHere) + c * Tile::kBoth + 4 * quad, here[c]);
        load_four(from + c * (Tile::kBoth + 2 * padded), there[c]);
        load_four(from + c * (Tile::kBoth + 2 * padded) + 4, there[c] + 4);
      }
      load_four(far_of + stage.offset + 4 * group, far);
      float* to = weights(buffer) + 4 * group * Tile::kBoth + 4 * quad;
#pragma unroll
      for (int o = 0; o < 4; ++o) {
        float w[4];
#pragma unroll
        for (int a = 0; a < 4; ++a) {
          const float l = here[0][a] - there[0][a + o], m = here[1][a] - there[1][a + o],
                      n = here[2][a] - there[2][a + o];
          const float colour = fast_root(__fmaf_rn(l, l, __fmaf_rn(m, m, n * n)));
          w[a] = fminf(fast_power_of_two(-colour - far[o]), 1.0f);  // 1 for NaN: there is no match
        }
        *reinterpret_cast<float4*>(to + o * Tile::kBoth) = make_float4(w[0], w[1], w[2], w[3]);
      }
    }
  }

 private:
  static constexpr int kCostFloats = (Tile::kColumns + Tile::kSegment) * Tile::kCostPitch;
  static constexpr int kWeightFloats = Tile::kStage * Tile::kBoth;
  /// Layout of shared memory: scalars of the thread block, including whether the last rows of the window have
  /// gaps; costs and weights, double-buffered; colours of the tile's columns; colours of two rows.
  enum { kRow, kLastRow, kFirstMatch, kGaps = 4, kCosts = 8 };
  static constexpr int kWeights = kCosts + 2 * kCostFloats, kHere = kWeights + 2 * kWeightFloats;
  static constexpr int kColours = kHere + 3 * Tile::kBoth;
  /// Lengths of the offsets, then the colours of the tile's columns with the halo of the window.
  RECON_HD static constexpr int colours_of_row(int radius) {
    return 3 * Tile::kBoth + 7 * padded_offsets(radius);
  }

  __device__ static float* memory(int at) {
    return reinterpret_cast<float*>(weight_memory) + at;
  }
  __device__ static volatile int& known(int at) {
    return reinterpret_cast<volatile int*>(weight_memory)[at];
  }
  __device__ float* colours(int row) const {
    return memory(kColours) + row % 2 * colours_of_row(radius());
  }
  __device__ static int first_d() {
    return static_cast<int>(blockIdx.z) * Tile::kPlanes;
  }
  /// Read again, like the thread index.
  __device__ int radius() const {
    int radius;
    asm volatile("mov.b32 %0, %1;" : "=r"(radius) : "r"(problem_.radius));
    return radius;
  }
  __device__ bool inside(int x) const {
    return static_cast<unsigned>(x) < static_cast<unsigned>(problem_.costs.width);
  }
  __device__ const float* colour(const float* image, int y, int x) const {
    return image + 3 * y * problem_.colour_pitch + (max(-1, min(x, problem_.costs.width)) + 1);
  }

  /// A pixel without a match has the colour NaN, which make_weights handles. Without a source there are no
  /// matches, and the weights stay as set here.
  __device__ void take_colours_of_tile() {
#pragma unroll 1
    for (int i = thread_number(); i < Tile::kBoth; i += Tile::kThreads) {
      const bool of_source = i >= Tile::kColumns;
      const int x = of_source ? known(kFirstMatch) + i - Tile::kColumns : first_x() + i;
      const float* image = of_source ? problem_.source : problem_.reference;
      const bool is_match = image != nullptr && (!of_source || inside(x));
      for (int c = 0; c < 3; ++c)
        memory(kHere)[c * Tile::kBoth + i] =
            is_match ? colour(image, known(kRow), x)[c * problem_.colour_pitch] : __int_as_float(0x7fffffff);
    }
    if (problem_.source != nullptr) return;
    for (int i = thread_number(); i < 2 * kWeightFloats; i += Tile::kThreads) memory(kWeights)[i] = 1.0f;
  }

  const WeightProblem& problem_;
};

}  // namespace recon::cuda
