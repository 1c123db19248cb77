#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/device/ptx.cuh"
#include "cuda/match/combine.cuh"
#include "cuda/match/cost.cuh"
#include "cuda/match/sampling.cuh"
#include "cuda/match/sweep.hpp"

namespace recon::cuda {

/// The sweep. A thread block owns a tile of the reference and a range of planes; for each plane and source it
///   1. warps the tile and its halo once, 16 samples per thread, four rows per word;
///   2. sums the windows down the columns;
///   3. sums them along the rows, and offers the cost to the combination over the sources;
/// and stores the combined cost of a plane. Four rows of the tile belong to one warp in every
/// part, and only part 2 reads rows of other warps: before it, a warp waits for those whose rows its windows
/// reach, and for no others. Part 1 writes to two alternating buffers, so that a warp may begin the next step
/// while its neighbours are in part 2.

/// The samples of one thread in part 1: columns and rows, clamped to the reference.
struct SamplePlace {
  float x[kColumnsPerThread];
  float y[4];
};

template <class Cost>
constexpr int kThreads = 8 * Cost::kRows;

template <class Cost>
struct BlockShared {
  typename Cost::Shared cost;
  /// Byte r of word (w, c): 0 if the source sees row 4 w + r of output column c, else Cost::kUnseen. Each row
  /// is private to one warp.
  alignas(16) std::uint32_t unseen[Cost::kRows / 4][kTileColumns];
  Coverage coverage[Cost::kMaxSteps];
  std::uint32_t done[Cost::kRows / 4];  ///< by warp: the steps of which part 1 is done
};

/// The wait of a warp for part 1 of the warps in whose rows its windows reach. Warps of a thread block need
/// not synchronize otherwise: one that is done is at most a step ahead of its neighbours. A checker of races
/// that knows barriers alone (compute-sanitizer) reports the reads of part 2; with a barrier here it reports
/// none.
template <class Cost>
class NeighbourWait {
 public:
  /// Initializes the counter of the warp; then the thread block has to synchronize.
  __device__ NeighbourWait(BlockShared<Cost>& shared, int radius, int lane, int word_row)
      : own_(shared_address(&shared.done[word_row])), signals_(lane == 0) {
    const int reach = word_reach(radius);
    const int first = max(word_row - reach, 0), last = min(word_row + reach, Cost::kRows / 4 - 1);
    neighbour_ = shared_address(&shared.done[min(first + lane, last)]);
    if (signals_) store_released(own_, 0);
  }
  /// To be called after part 1 of every step.
  __device__ __forceinline__ void operator()() {
    ++step_;
    __syncwarp();
    if (signals_) store_released(own_, step_);
    while (!__all_sync(~0u, load_acquired(neighbour_) >= step_)) {
    }
    __syncwarp();  // votes do not order memory: what one lane has acquired is not yet seen by the others
  }

 private:
  unsigned own_, neighbour_;
  std::uint32_t step_ = 0;
  bool signals_;
};

/// Part 1. Unless the source is known to see the whole tile, records which outputs it sees.
template <bool AllSeen, SourceStorage Storage, class Cost>
__device__ __forceinline__ void warp_tile(const DeviceSource& source, float w, const SamplePlace& place,
                                          Cost& cost, BlockShared<Cost>& shared, int turn, int lane,
                                          int word_row) {
  RowWarp row[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) row[r] = row_warp(source.warp, w, place.y[r]);
  QuadSource quads[Cost::kChannels];
#pragma unroll
  for (int c = 0; c < Cost::kChannels; ++c) quads[c] = quad_source(source, c);
  const float u_max = static_cast<float>((source.width - 1) * kSubpixels);
  const float v_max = static_cast<float>((source.height - 1) * kSubpixels);
  if constexpr (!AllSeen) __syncwarp();  // part 3 of the previous step has read `unseen`
#pragma unroll
  for (int i = 0; i < kColumnsPerThread; ++i) {
    const float fx = place.x[i];
    std::uint32_t sample[Cost::kChannels][4];
    std::uint32_t unseen = 0;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      BiasedPosition p;
      if constexpr (AllSeen) {
        p = inside_position(row[r], fx);
      } else {
        bool inside;
        p = clamped_position(row[r], fx, u_max, v_max, inside);
        unseen |= inside ? 0u : Cost::kUnseen << (8 * r);
      }
#pragma unroll
      for (int c = 0; c < Cost::kChannels; ++c)
        sample[c][r] =
            Storage == SourceStorage::kQuads ? quad_sample(quads[c], p) : byte_sample(source, c, p);
    }
#pragma unroll
    for (int c = 0; c < Cost::kChannels; ++c)
      cost.put_word(shared.cost, turn, c, i, lane, word_row, packed_samples(sample[c]));
    const int output = lane + 32 * i - cost.radius;
    if (!AllSeen && output >= 0) shared.unseen[word_row][output] = unseen;
  }
}

/// The same, by how the source is stored and whether it is known to see the whole tile.
template <class Cost>
__device__ __forceinline__ void warp_source(const DeviceSource& source, SourceStorage storage, bool all_seen,
                                            float w, const SamplePlace& place, Cost& cost,
                                            BlockShared<Cost>& shared, int turn, int lane, int word_row) {
  constexpr auto kQuads = SourceStorage::kQuads, kBytes = SourceStorage::kBytes;
  if (all_seen)
    warp_tile<true, kQuads>(source, w, place, cost, shared, turn, lane, word_row);
  else if (storage == kQuads)
    warp_tile<false, kQuads>(source, w, place, cost, shared, turn, lane, word_row);
  else
    warp_tile<false, kBytes>(source, w, place, cost, shared, turn, lane, word_row);
}

/// Fills `coverage` for the planes of this thread block, in parallel over its threads.
template <class Cost>
__device__ void classify(const SweepArgs& args, int radius, int x0, int y0, int plane_begin, int plane_end,
                         Coverage* coverage) {
  const int left = max(x0 - radius, 0), top = max(y0 - radius, 0);
  const int right = min(x0 - radius + kTileColumns, args.width) - 1;
  const int bottom = min(y0 - radius + Cost::kRows, args.height) - 1;
  const int steps = (plane_end - plane_begin) * args.sources;
  for (int i = static_cast<int>(threadIdx.x); i < steps; i += kThreads<Cost>) {
    const float w = inverse_depth(args.planes, static_cast<float>(plane_begin + i / args.sources));
    const DeviceSource& source = args.source[i % args.sources];
    Coverage c = tile_coverage(source.warp, w, left, right, top, bottom, source.width, source.height);
    if (c == Coverage::kAll && args.storage != SourceStorage::kQuads) c = Coverage::kSome;
    coverage[i] = c;
  }
}

template <class Cost>
__device__ __forceinline__ void load_reference(const SweepArgs& args, const SamplePlace& place,
                                               std::uint32_t (&words)[Cost::kChannels][kColumnsPerThread]) {
#pragma unroll
  for (int c = 0; c < Cost::kChannels; ++c)
#pragma unroll
    for (int i = 0; i < kColumnsPerThread; ++i) {
      words[c][i] = 0;
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const std::size_t row =
            static_cast<std::size_t>(place.y[r]) * static_cast<std::size_t>(args.reference_pitch);
        words[c][i] |=
            static_cast<std::uint32_t>(__ldg(args.reference[c] + row + static_cast<int>(place.x[i])))
            << (8 * r);
      }
    }
}

/// Where a thread samples the reference. @param left, top  of the tile with its margin
__device__ __forceinline__ SamplePlace sample_place(const SweepArgs& args, int left, int top, int lane,
                                                    int word_row) {
  SamplePlace place;
#pragma unroll
  for (int i = 0; i < kColumnsPerThread; ++i)
    place.x[i] = static_cast<float>(min(max(left + lane + 32 * i, 0), args.width - 1));
#pragma unroll
  for (int r = 0; r < 4; ++r)
    place.y[r] = static_cast<float>(min(max(top + 4 * word_row + r, 0), args.height - 1));
  return place;
}

/// The two rows of results of a thread.
/// @param x, y, radius  of the tile's results, and of its window
/// @param pair          of rows of the tile with its margin
/// @param first         the first column of the thread in the tile
template <class Cost>
__device__ __forceinline__ OutputPlace output_place(const SweepArgs& args, int x, int y, int radius, int pair,
                                                    int first) {
  const int groups = tile_width(radius) / kOutputColumns;
  OutputPlace output;
  output.x = x + first;
  output.y = y - radius + 2 * pair;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const int at = 2 * pair + row;
    output.write[row] = first / kOutputColumns < groups && output.x < args.width && at >= radius &&
                        at < Cost::kRows - radius && output.y + row < args.row_end;
  }
  return output;
}

template <class Cost, class Combine, int BlocksPerMultiprocessor>
__global__ __launch_bounds__(kThreads<Cost>, BlocksPerMultiprocessor) void sweep_kernel(
    const __grid_constant__ SweepArgs args) {
  extern __shared__ __align__(16) unsigned char dynamic_shared[];
  auto& shared = *reinterpret_cast<BlockShared<Cost>*>(dynamic_shared);
  Cost cost;
  cost.radius = Cost::kRadius > 0 ? Cost::kRadius : args.radius;
  const int radius = cost.radius;

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, word_row = thread / 32;
  const int x0 = static_cast<int>(blockIdx.x) * tile_width(radius);
  const int y0 = args.row_begin + static_cast<int>(blockIdx.y) * (Cost::kRows - 2 * radius);
  const int plane_begin = args.plane_begin + static_cast<int>(blockIdx.z) * args.planes_per_block;
  const int plane_end = min(plane_begin + args.planes_per_block, args.plane_end);

  const SamplePlace place = sample_place(args, x0 - radius, y0 - radius, lane, word_row);
  const int pair = thread / 16, first = thread % 16 * kOutputColumns;
  const OutputPlace output = output_place<Cost>(args, x0, y0, radius, pair, first);
  const bool active = output.write[0] || output.write[1];

  {
    std::uint32_t words[Cost::kChannels][kColumnsPerThread];
    load_reference<Cost>(args, place, words);
    cost.prepare(shared.cost, words, thread, pair, first, active);
  }
  classify<Cost>(args, radius, x0, y0, plane_begin, plane_end, shared.coverage);
  NeighbourWait<Cost> wait_for_neighbours(shared, radius, lane, word_row);
  __syncthreads();

  Combine combined;
  const Coverage* coverage = shared.coverage;
  int turn = 0;
#pragma unroll 1
  for (int d = plane_begin; d < plane_end; ++d) {
    const float w = inverse_depth(args.planes, static_cast<float>(d));
    combined.clear(args);
#pragma unroll 1
    for (int s = 0; s < args.sources; ++s) {
      const Coverage seen_by_source = *coverage++;
      if (seen_by_source == Coverage::kNothing) continue;
      const bool all_seen = seen_by_source == Coverage::kAll;
      turn ^= 1;
      warp_source(args.source[s], args.storage, all_seen, w, place, cost, shared, turn, lane, word_row);
      wait_for_neighbours();
      cost.sum_columns(shared.cost, turn, lane, word_row);
      __syncwarp();
      if (active) {
        UnseenRows unseen{};
        if (!all_seen) unseen = unseen_rows(&shared.unseen[word_row][first], pair % 2);
        cost.offer(shared.cost, pair, first, all_seen, unseen, combined);
      }
    }
    if (active) {
      if constexpr (Combine::kOfSums)
        store_costs(args, output, d, combined.result(args, cost.inverse_count));
      else
        store_costs(args, output, d, combined.result(args));
    }
  }
}

/// One instance of the sweep kernel, with its launch parameters.
struct SweepInstance {
  void (*kernel)(SweepArgs);
  int rows;  ///< of a tile with its margin
  int threads;
  std::size_t shared_bytes;
  int max_steps;  ///< (plane, source) pairs of a thread block
};

template <class Cost, class Combine, int BlocksPerMultiprocessor>
SweepInstance sweep_instance() {
  return {&sweep_kernel<Cost, Combine, BlocksPerMultiprocessor>, Cost::kRows, kThreads<Cost>,
          sizeof(BlockShared<Cost>), Cost::kMaxSteps};
}

/// The instances of each cost by combination, for a window radius of 1 .. 7.
enum class CombineKind { kBest1, kBest2, kAny };
SweepInstance grey_sad_instance(int radius, CombineKind combine);
SweepInstance colour_sad_instance(int radius, CombineKind combine);
SweepInstance zncc_instance(int radius, CombineKind combine);
/// With tiles of twice as many rows, for GPUs with more shared memory; no instance of kAny.
SweepInstance tall_zncc_instance(int radius);
/// With tiles of half as many rows, for GPUs with less shared memory; any radius and combination.
SweepInstance low_colour_sad_instance();

/// Whether the current device has the shared memory of a thread block. @throws DeviceError
inline bool fits(const SweepInstance& instance) {
  const int largest = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return instance.shared_bytes <= static_cast<std::size_t>(largest);
}

/// The shared memory that a thread block can have on every supported GPU.
inline constexpr std::size_t kLeastSharedBytes = 65536;

/// Whether instances of `Cost` for the radii 0 .. Radius run on every supported GPU.
template <template <int> class Cost, int Radius = 7>
constexpr bool fit_everywhere() {
  if constexpr (Radius > 0)
    if (!fit_everywhere<Cost, Radius - 1>()) return false;
  return sizeof(BlockShared<Cost<Radius>>) <= kLeastSharedBytes;
}

/// The instance of `Cost<radius>` with `Best`, which includes kBest1, or the general one with AnyFloats.
/// @tparam Blocks  min thread blocks per multiprocessor
template <template <int> class Cost, class Best, int Blocks, int Radius = 7>
SweepInstance instance_of(int radius, CombineKind combine) {
  if (combine == CombineKind::kAny) return sweep_instance<Cost<0>, AnyFloats, Blocks>();
  if constexpr (Radius > 1)
    if (radius < Radius) return instance_of<Cost, Best, Blocks, Radius - 1>(radius, combine);
  EXPECTS(radius == Radius);
  return sweep_instance<Cost<Radius>, Best, Blocks>();
}

}  // namespace recon::cuda
