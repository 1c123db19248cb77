#include "cuda/device/grid.hpp"
#include "cuda/methods/stereo/block_device.hpp"
#include "cuda/methods/stereo/block_winner.cuh"
#include "methods/stereo/block/block_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;
constexpr std::uint32_t kNone16 = 0xFFFFu;
constexpr int kMaxWords = 8;

__device__ std::uint32_t min_of_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(kAll, value);
#else
  for (int step = kWarp / 2; step > 0; step /= 2) value = min(value, __shfl_xor_sync(kAll, value, step));
  return value;
#endif
}

/// Selects bytes of `low` and `high` by the nibbles of `selector`; a nibble with its highest bit set
/// replicates the byte's sign. (The intrinsic ignores that bit.)
__device__ std::uint32_t permuted(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
  std::uint32_t bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(low), "r"(high), "r"(selector));
  return bytes;
}

/// Sums of 2 W consecutive hypotheses, two per word.
template <int W>
struct alignas(W < 4 ? 4 * W : 16) Words {
  std::uint32_t v[W];
};

/// One warp searches a tile of columns down a strip of rows. Lane l holds the hypotheses 2 W l .. 2 W l + 2 W
/// - 1 of every pixel. Column sums are in shared memory; each word is private to one lane.
template <int W, bool kPadded, bool kUnique>
class WarpSearch {
 public:
  // State of a pixel until it is finished: the min sum and its lane, the second, and from kSlotSums on the
  // sums of three lanes. Slots are padded to reduce bank conflicts.
  static constexpr int kSlotSums = W < 2 ? 2 : W;
  static constexpr int kSlot = W == 1 ? 6 : kSlotSums + 3 * W + (W >= 4 ? 4 : 0);

  __device__ WarpSearch(const DeviceBlock& block, std::uint32_t* shared, int x_begin, int x_end)
      : b_(block),
        lane_(static_cast<int>(threadIdx.x)),
        radius_(block.options.radius),
        x_begin_(x_begin),
        x_end_(x_end),
        first_(max(x_begin - radius_, 0) & ~3),
        slots_(shared),
        columns_(reinterpret_cast<Words<W>*>(shared + kWarp * kSlot) + lane_) {
    for (int w = 0; w < W; ++w) {
      const int k = 2 * (W * lane_ + w);
      pad_.v[w] = (k < b_.hypotheses ? 0u : kNone16) | (k + 1 < b_.hypotheses ? 0u : kNone16 << 16);
    }
  }

  __device__ void run(int y_begin, int y_end) {
    start(y_begin);
    for (int y = y_begin; y < y_end; ++y)
      if (y == y_begin)
        search_row<false>(y);
      else
        search_row<true>(y);
  }

 private:
  static constexpr int kLoaded = W == 1 ? 2 : W / 2 + 1;  // words that hold the samples of four pixels

  /// Samples of the lane's hypotheses for four columns; those of column j begin 3 - j bytes in.
  struct Samples {
    std::uint32_t words[kLoaded];
  };

  __device__ int row_at(int y) const { return min(max(y, 0), b_.height - 1); }
  __device__ const std::uint8_t* left_row(int y) const { return b_.left + row_at(y) * b_.left_pitch; }
  /// The row from the word on at which the samples of columns 0 .. 3 begin for this lane.
  __device__ const std::uint32_t* right_row(int y) const {
    return reinterpret_cast<const std::uint32_t*>(b_.right + row_at(y) * b_.right_pitch) +
           (b_.columns - 4) / 4 + 2 * W * lane_ / 4;
  }
  __device__ static void load(Samples& s, const std::uint32_t* row, int column) {
    for (int n = 0; n < kLoaded; ++n) s.words[n] = __ldg(row - column / 4 + n);
  }

  /// Four columns of a row that enters or leaves the windows, loaded one step ahead.
  struct Stream {
    const std::uint32_t *left, *right;  ///< of the columns after those read
    std::uint32_t left4, next_left4, next_right;
    Samples samples;

    __device__ void open(const std::uint8_t* left_row, const std::uint32_t* right_row, int column) {
      left = reinterpret_cast<const std::uint32_t*>(left_row + column);
      right = right_row - column / 4;
      load(samples, right, 0);
      left4 = __ldg(left++);
      next_left4 = __ldg(left++);
      next_right = __ldg(--right);
    }
    /// Moves to the next four columns; the rows have space for two such steps after the last.
    __device__ void advance() {
      for (int n = kLoaded - 1; n > 0; --n) samples.words[n] = samples.words[n - 1];
      samples.words[0] = next_right;
      left4 = next_left4;
      next_left4 = __ldg(left++);
      next_right = __ldg(--right);
    }
  };

  /// |left - right| of column j of four and the two hypotheses of word w, 16 bits each. Prefiltered pixels
  /// are below 128, so the replicated sign is the required zero.
  __device__ std::uint32_t costs(const Samples& s, std::uint32_t left4, int j, int w) const {
    const std::uint32_t left = permuted(left4, 0, 0x4040 + 0x0101 * static_cast<unsigned>(j));
    // Bytes p and p + 1, each followed by a zero.
    const auto selector = [](int p) { return 0x9180 + 0x1111 * static_cast<unsigned>(p); };
    if (W == 1)
      return __vabsdiffu4(left,
                          permuted(s.words[0], s.words[kLoaded - 1], selector(3 - j + 2 * (lane_ & 1))));
    const int p = 3 - j + 2 * w;
    const int next = p / 4 + 1 < kLoaded ? p / 4 + 1 : kLoaded - 1;
    return __vabsdiffu4(left, permuted(s.words[p / 4], s.words[next], selector(p % 4)));
  }

  __device__ Words<W>& column(int x) const { return columns_[(x - first_) * kWarp]; }

  /// Initializes the column sums of the windows of row y.
  __device__ void start(int y) {
    const int end = min(x_end_ + radius_, b_.width);
    for (int c = first_; c < end; c += 4) {
      Words<W> sums[4] = {};
      for (int j = -radius_; j <= radius_; ++j) {
        Samples samples;
        load(samples, right_row(y + j), c);
        const std::uint32_t left = __ldg(reinterpret_cast<const std::uint32_t*>(left_row(y + j) + c));
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int w = 0; w < W; ++w) sums[i].v[w] += costs(samples, left, i, w);
      }
      for (int i = 0; i < 4; ++i) column(c + i) = sums[i];
    }
  }

  /// Searches a row, four columns and the four pixels whose windows they complete at a time; `kRoll`: the
  /// column sums are those of the row above.
  template <bool kRoll>
  __device__ void search_row(int y) {
    Stream in, out;
    if (kRoll) {
      in.open(left_row(y + radius_), right_row(y + radius_), first_);
      out.open(left_row(y - radius_ - 1), right_row(y - radius_ - 1), first_);
    }
    Words<W> sums = {}, gained = {};
    const int last = x_end_ - 1 + radius_;
    const int inside_begin = max(x_begin_ + radius_, first_ + 2 * radius_) + 1;
    const int inside_end = min(last, b_.width - 1) - 3;
    int waiting = x_begin_;  // first pixel with an unfinished winner in a slot
    for (int c = first_; c <= last; c += 4) {
      Words<W> pixels[4];
      if (c >= inside_begin && c <= inside_end) {
        move_windows<kRoll, true>(sums, gained, pixels, c, in, out);
        keep_winners<true>(pixels, c - radius_, waiting);
      } else {
        move_windows<kRoll, false>(sums, gained, pixels, c, in, out);
        if (c + 3 - radius_ >= x_begin_) keep_winners<false>(pixels, c - radius_, waiting);
      }
      if (kRoll && c + 4 < b_.width) {
        in.advance();
        out.advance();
      }
      const int searched = min(c + 4 - radius_, x_end_);
      if (searched - waiting <= kWarp - 4 && searched < x_end_) continue;
      __syncwarp();
      if (lane_ < searched - waiting) finish(waiting + lane_, y);
      __syncwarp();
      waiting = searched;
    }
  }

  /// Updates columns c .. c + 3 and moves the window over the pixels that they complete, as far as they are
  /// searched; `kInside`: all of them are, and their windows lie inside the tile.
  template <bool kRoll, bool kInside>
  __device__ __forceinline__ void move_windows(Words<W>& sums, Words<W>& gained, Words<W> (&pixels)[4], int c,
                                               const Stream& in, const Stream& out) {
    Words<W> columns[4], lost[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!kInside && c + j >= b_.width) break;
      columns[j] = column(c + j);
    }
    if constexpr (kRoll) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (!kInside && c + j >= b_.width) break;
#pragma unroll
        for (int w = 0; w < W; ++w)
          columns[j].v[w] += costs(in.samples, in.left4, j, w) - costs(out.samples, out.left4, j, w);
        column(c + j) = columns[j];
      }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int x = c + j - radius_;
      if (kInside)
        lost[j] = column(c - 2 * radius_ - 1 + j);
      else if (x > x_begin_)
        lost[j] = column(max(x - radius_ - 1, 0));
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int x = c + j - radius_;
      if (kInside || c + j < b_.width) gained = columns[j];  // else the last column is replicated
      if (kInside || x > x_begin_) {
#pragma unroll
        for (int w = 0; w < W; ++w) sums.v[w] += gained.v[w] - lost[j].v[w];
      } else if (x >= x_begin_ - 2 * radius_) {
        // Column 0 is replicated to the left.
        const int times = c + j == 0 ? 1 + radius_ - min(x_begin_, radius_) : 1;
#pragma unroll
        for (int w = 0; w < W; ++w) sums.v[w] += static_cast<unsigned>(times) * gained.v[w];
      }
      pixels[j] = sums;
    }
  }

  /// Finds for each of the pixels x .. x + 3 the lane with the min sum, the lowest on ties, and stores its
  /// sums and those of the adjacent lanes in the pixel's slot. The steps of the four pixels are interleaved
  /// to hide latency.
  template <bool kInside>
  __device__ __forceinline__ void keep_winners(const Words<W> (&pixels)[4], int x, int waiting) {
    std::uint32_t own[4], best[4], second[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const auto sum = [&](int w) { return kPadded ? pixels[j].v[w] | pad_.v[w] : pixels[j].v[w]; };
      std::uint32_t pair = sum(0);
#pragma unroll
      for (int w = 1; w < W; ++w) pair = __vminu2(pair, sum(w));
      own[j] = min(pair & kNone16, pair >> 16) * kWarp + static_cast<std::uint32_t>(lane_);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) best[j] = min_of_warp(own[j]);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const bool beside = place_of(best[j]) <= 2;
      second[j] = kUnique ? min_of_warp(beside ? kNone16 * kWarp : own[j]) / kWarp : kNone16;
    }
    std::uint32_t* slot = slots_ + (x - waiting) * kSlot;
#pragma unroll
    for (int j = 0; j < 4; ++j, slot += kSlot) {
      if (!kInside && (x + j < x_begin_ || x + j >= x_end_)) continue;
      *reinterpret_cast<uint2*>(slot) = make_uint2(best[j], second[j]);  // the same value from all lanes
      const unsigned place = place_of(best[j]);
      if (place <= 2) reinterpret_cast<Words<W>*>(slot + kSlotSums)[place] = pixels[j];
    }
  }

  /// 0 .. 2 for the lane of the min sum and the adjacent lanes, more for others.
  __device__ unsigned place_of(std::uint32_t best) const {
    return static_cast<unsigned>(lane_) + 1 - best % kWarp;
  }

  /// Finishes the winner of pixel x, from the slot of this lane.
  __device__ void finish(int x, int y) const {
    const std::uint32_t* slot = slots_ + lane_ * kSlot;
    const int first = 2 * W * (static_cast<int>(slot[0] % kWarp) - 1);  // hypothesis of the slot's first sum
    std::uint32_t sums[6 * W];
#pragma unroll
    for (int n = 0; n < 6 * W; ++n) {
      const std::uint32_t sum =
          n % 2 == 0 ? slot[kSlotSums + n / 2] & kNone16 : slot[kSlotSums + n / 2] >> 16;
      sums[n] = first + n >= 0 && first + n < b_.hypotheses ? sum : kNoBlockCost;
    }
    BlockWinner winner{0, kNoBlockCost, kNoBlockCost, kNoBlockCost, kNoBlockCost};
#pragma unroll
    for (int n = 0; n < 6 * W; ++n) {
      if (sums[n] >= winner.cost) continue;
      winner.k = n;
      winner.cost = sums[n];
      winner.before = n > 0 ? sums[n - 1] : kNoBlockCost;
      winner.after = n + 1 < 6 * W ? sums[n + 1] : kNoBlockCost;
    }
    if (kUnique) {
      const std::uint32_t others = slot[1];
      winner.second = others == kNone16 ? kNoBlockCost : others;
#pragma unroll
      for (int n = 0; n < 6 * W; ++n)
        if (n < winner.k - 1 || n > winner.k + 1) winner.second = min(winner.second, sums[n]);
    }
    winner.k += first;
    store_winner(b_, x, y, winner);
  }

  const DeviceBlock& b_;
  int lane_, radius_, x_begin_, x_end_;
  int first_;  // first column whose sums are stored, a multiple of four
  std::uint32_t* slots_;
  Words<W>* columns_;
  Words<W> pad_;
};

template <int W>
std::size_t shared_bytes(int tile_width, int radius) {
  const int columns = tile_width + 2 * radius + 6;
  return sizeof(std::uint32_t) *
         (kWarp * WarpSearch<W, false, false>::kSlot + static_cast<std::size_t>(columns) * kWarp * W);
}

template <int W, bool kPadded, bool kUnique>
__global__ void __launch_bounds__(kWarp)
    search_kernel(const __grid_constant__ DeviceBlock b, int tile_width, int strip_rows) {
  extern __shared__ uint4 shared[];
  const Region& region = b.region;
  const int x = region.x + static_cast<int>(blockIdx.x) * tile_width;
  const int y = region.y + static_cast<int>(blockIdx.y) * strip_rows;
  WarpSearch<W, kPadded, kUnique>(b, reinterpret_cast<std::uint32_t*>(shared), x,
                                  min(x + tile_width, region.x + region.width))
      .run(y, min(y + strip_rows, region.y + region.height));
}

template <int W, bool kPadded, bool kUnique>
void launch(const DeviceBlock& b, cudaStream_t stream) {
  const auto kernel = search_kernel<W, kPadded, kUnique>;
  const int most_shared = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  RECON_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared));
  const BlockTiling tiling = chosen_tiling(b, [&](int tile_width) {
    int warps = 0;
    RECON_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &warps, kernel, kWarp, shared_bytes<W>(tile_width, b.options.radius)));
    return warps;
  });
  const dim3 grid(blocks_for(b.region.width, tiling.tile_width),
                  blocks_for(b.region.height, tiling.strip_rows));
  kernel<<<grid, kWarp, shared_bytes<W>(tiling.tile_width, b.options.radius), stream>>>(b, tiling.tile_width,
                                                                                        tiling.strip_rows);
  RECON_CUDA_TRY(cudaGetLastError());
}

template <int W>
void launch_words(const DeviceBlock& b, cudaStream_t stream) {
  const bool padded = b.hypotheses != 2 * kWarp * W, unique = b.limits.uniqueness > 0;
  if (padded)
    unique ? launch<W, true, true>(b, stream) : launch<W, true, false>(b, stream);
  else
    unique ? launch<W, false, true>(b, stream) : launch<W, false, false>(b, stream);
}

}  // namespace

int packed_words(const BlockMatchingOptions& options, int hypotheses) {
  if (!sums_fit_16_bits(options) || max_pixel(options) > 127 || options.steps_per_pixel != 1) return 0;
  for (int words = 1; words <= kMaxWords; words *= 2)
    if (hypotheses <= 2 * kWarp * words) return words;
  return 0;
}

void launch_block_search(const DeviceBlock& b, cudaStream_t stream) {
  switch (packed_words(b.options, b.hypotheses)) {
    case 1:
      return launch_words<1>(b, stream);
    case 2:
      return launch_words<2>(b, stream);
    case 4:
      return launch_words<4>(b, stream);
    default:
      EXPECTS(packed_words(b.options, b.hypotheses) == 8);
      return launch_words<8>(b, stream);
  }
}

}  // namespace recon::cuda
