#include <algorithm>

#include "cuda/aggregate/cross_strip.cuh"
#include "cuda/device/error.hpp"
#include "cuda/device/shared_memory.hpp"

namespace recon::cuda {
namespace {

using namespace strips;

/// One thread, one column of one plane.
template <int Elements, bool kTurn>
class ColumnAdder {
 public:
  __device__ ColumnAdder(const StripGrid& grid, const Strip& strip, int thread, std::byte* memory)
      : column_(thread % kMaxColumns),
        plane_(thread / kMaxColumns),
        longest_(grid.pass.arms.longest),
        height_(grid.pass.costs.height),
        begin_(strip.begin),
        end_(strip.end),
        arm_pitch_(static_cast<int>(grid.pass.arms.pitch)),
        y_(strip.top),
        kept_(memory, kPlanes * grid.columns, plane_ * grid.columns + column_, grid.kept) {
    const StripPass& pass = grid.pass;
    const CrossImages& arms = pass.arms;
    const int x = strip.first_x + column_, d = strip.first_d + plane_;
    active_ = column_ < grid.columns && x < pass.costs.width && d < pass.costs.planes;
    if (!active_) return;
    const int shift = matching_column(arms.side, 0, arms.min_disparity + d);
    const int there_x = pass.turned ? x : x + shift;
    rows_on_ = pass.turned ? shift : 0;
    here_ = word_of(arms.reference, x, y_);
    if (arms.source != nullptr && there_x >= 0 && there_x < pass.costs.width)
      there_ = word_of(arms.source, there_x, y_ + rows_on_);
    to_row_ = kTurn ? 1 : pass.means.planes * pass.means.pitch;
    to_ = kTurn ? pass.means.row(x, d) : pass.means.row(0, d) + x;
    to_ += (y_ - longest_) * to_row_;
    const unsigned before = kept_.up(0, 1);  // the first row
    kept_.sum(before) = 0.0, kept_.word(before) = 0;
    load();
  }

  __device__ void add_and_emit(int turn, const RowLines<Elements>& lines) {
    if (!active_) return;
    const int first = y_ - kStep - longest_;  // of the means that are complete then
    ArmWords arms[kStep];
#pragma unroll
    for (int i = 0; i < kStep; ++i)
      arms[i] = shorter_arms(arm_words(here_words_[i]), arm_words(there_words_[i]));
    load();
    add(arms, lines, turn);
    if (first >= begin_) emit(first);
    offset_ = kept_.down(offset_, kStep);
    to_ += kStep * to_row_;
  }

 private:
  __device__ const std::uint32_t* word_of(const Cross* image, int x, int y) const {
    return reinterpret_cast<const std::uint32_t*>(image) + (static_cast<std::ptrdiff_t>(y) * arm_pitch_ + x);
  }

  /// Reads the crosses of the next step; nothing waits for them here. Where there is none of the reference
  /// all arms are 0; where there is none of the source, as long as can be.
  __device__ void load() {
    const int there_y = y_ + rows_on_;
    const bool here = y_ >= 0 && y_ + kStep <= height_, there = there_y >= 0 && there_y + kStep <= height_;
    if (here && (there || !there_)) {
#pragma unroll
      for (int i = 0; i < kStep; ++i) {
        here_words_[i] = __ldg(here_ + i * arm_pitch_);
        there_words_[i] = 0xFFFFFFFFu;
        if (there_) there_words_[i] = __ldg(there_ + i * arm_pitch_);
      }
    } else {
      load_at_border();
    }
    here_ += kStep * arm_pitch_;
    if (there_) there_ += kStep * arm_pitch_;
    y_ += kStep;
  }
  __device__ void load_at_border() {
    const auto height = static_cast<unsigned>(height_);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const bool inside = static_cast<unsigned>(y_ + i) < height;
      here_words_[i] = 0;
      there_words_[i] = 0xFFFFFFFFu;
      if (inside) here_words_[i] = __ldg(here_ + i * arm_pitch_);
      if (inside && there_ && static_cast<unsigned>(y_ + i + rows_on_) < height)
        there_words_[i] = __ldg(there_ + i * arm_pitch_);
    }
  }

  /// Adds the sums of the rows; outside the image they are 0.
  __device__ void add(const ArmWords (&arms)[kStep], const RowLines<Elements>& lines, int turn) {
    const int line = plane_ * kStep, own = column_ + longest_;
    double sum[kStep];
    unsigned count[kStep];
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const double* sums = lines.sums[turn][line + i] + own;
      sum[i] = sums[arms[i].right() + 1] - sums[-arms[i].left()];
      count[i] = static_cast<unsigned>(arms[i].left() + arms[i].right() + 1);
    }
    if (lines.gaps_of(turn, plane_) != 0) {
#pragma unroll
      for (int i = 0; i < kStep; ++i) {
        const std::uint8_t* counts = lines.counts[turn][line + i] + own;
        if (lines.gaps[turn][line + i])
          count[i] = static_cast<std::uint8_t>(counts[arms[i].right() + 1] - counts[-arms[i].left()]);
      }
    }
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      sum_ += sum[i], count_ += count[i];
      const unsigned offset = offset_ + static_cast<unsigned>(i * kept_.pitch());
      kept_.sum(offset) = sum_;
      // The lowest 16 bits of a count do: no support has more.
      kept_.word(offset) =
          __byte_perm(count_, __byte_perm(arms[i].left_up, arms[i].right_down, 0x6262), 0x5410);
    }
  }

  /// Stores the means of the rows whose supports are complete.
  __device__ void emit(int first) {
    CostSum support[kStep];
    unsigned own = kept_.up(offset_, longest_);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const std::uint32_t word = kept_.word(own);
      const unsigned begin = kept_.up(own, static_cast<int>(word >> 16 & 0xFFu) + 1);
      const unsigned end = kept_.down(own, static_cast<int>(word >> 24));
      support[i] = {kept_.sum(end) - kept_.sum(begin),
                    static_cast<int>((kept_.word(end) - kept_.word(begin)) & 0xFFFFu)};
      own = kept_.down(own, 1);
    }
    float means[kStep];
    means_of(support, means);
    store(first, means);
  }

  __device__ void store(int first, const float (&means)[kStep]) const {
    if (kTurn && first + kStep <= end_) {
      *reinterpret_cast<float4*>(to_) = make_float4(means[0], means[1], means[2], means[3]);
      return;
    }
    float* to = to_;
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      if (first + i < end_) *to = means[i];
      to += to_row_;
    }
  }

  int column_, plane_, longest_, height_, begin_, end_, arm_pitch_;
  int y_;  ///< the first row whose crosses are still to be read
  KeptSums kept_;
  bool active_;
  int rows_on_ = 0;  ///< from a row to that of the matches
  const std::uint32_t *here_ = nullptr, *there_ = nullptr;
  float* to_ = nullptr;  ///< where the next mean belongs
  std::ptrdiff_t to_row_ = 0;
  unsigned offset_ = 0;  ///< of the first row of the next step
  double sum_ = 0.0;
  unsigned count_ = 0;
  std::uint32_t here_words_[kStep], there_words_[kStep];
};

template <int Elements, bool kTurn>
__global__ void __launch_bounds__(kThreads, kTogether) strip_kernel(const __grid_constant__ StripGrid grid) {
  extern __shared__ double strip_memory[];
  const int thread = static_cast<int>(threadIdx.x);
  const Strip strip(grid, grid.pass.arms.longest);
  auto& lines = *reinterpret_cast<RowLines<Elements>*>(strip_memory);
  if (thread < kColumnThreads) {
    auto* kept = reinterpret_cast<std::byte*>(strip_memory) + sizeof(RowLines<Elements>);
    ColumnAdder<Elements, kTurn> columns(grid, strip, thread, kept);
    for (int step = 0; step < strip.steps; ++step) {
      __syncthreads();
      columns.add_and_emit(step % 2, lines);
    }
  } else {
    RowAdder<Elements> rows(grid.pass, strip, thread - kColumnThreads);
    rows.add_up(0, lines);
    for (int step = 1; step <= strip.steps; ++step) {
      __syncthreads();
      if (step < strip.steps) rows.add_up(step % 2, lines);
    }
  }
}

/// Prefix sums of a column that a step needs: from above the longest arm of its first mean to its last row,
/// and so many that the ring holds whole steps.
int kept_rows(int longest) {
  return (2 * longest + 1 + kStep + kStep - 1) / kStep * kStep;
}

template <int Elements>
std::size_t shared_bytes(int longest, int columns) {
  static_assert(sizeof(RowLines<Elements>) % sizeof(double) == 0, "sums follow");
  return static_cast<std::size_t>(kept_rows(longest) * kPlanes * columns * KeptSums::kBytes) +
         sizeof(RowLines<Elements>);
}

/// What the current device offers.
struct Device {
  int multiprocessors = 1, shared_bytes = 0, shared_bytes_in_all = 0;

  Device() {
    int device = 0;
    RECON_CUDA_TRY(cudaGetDevice(&device));
    RECON_CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    RECON_CUDA_TRY(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    RECON_CUDA_TRY(
        cudaDeviceGetAttribute(&shared_bytes_in_all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  }
  int blocks_at_once(std::size_t bytes) const {
    constexpr std::size_t kKept = 1024;  // by the system, of each thread block
    const auto fit = static_cast<int>(static_cast<std::size_t>(shared_bytes_in_all) / (bytes + kKept));
    return multiprocessors * std::clamp(fit, 1, kTogether);
  }
};

/// The widest strip that fits; 0: none.
template <int Elements>
int widest_strip(int longest, const Device& device) {
  const auto most = static_cast<std::size_t>(device.shared_bytes);
  int columns = std::min(kMaxColumns, 32 * Elements - 2 * longest) / kAligned * kAligned;
  while (columns >= kMinColumns && shared_bytes<Elements>(longest, columns) > most) columns -= kAligned;
  return columns >= kMinColumns ? columns : 0;
}

/// The size of `parts` pieces that cover `size`.
int piece(int size, int parts, int aligned) {
  return (size + parts * aligned - 1) / (parts * aligned) * aligned;
}

/// Rows of the bands with which all multiprocessors have work; each adds up 2 `longest` rows more.
int band_rows(int height, int longest, int blocks, int at_once) {
  constexpr int kMostBands = 16;
  int best = 0;
  long least = 0;
  for (int bands = 1; bands <= kMostBands; ++bands) {
    const int rows = piece(height, bands, kStep);
    const long all = static_cast<long>(blocks) * ((height + rows - 1) / rows);
    const long time = (all + at_once - 1) / at_once * (rows + 2 * longest);
    if (best != 0 && time >= least) continue;
    least = time, best = rows;
  }
  return best;
}

template <int Elements, bool kTurn>
void launch(const StripPass& pass, const Device& device, cudaStream_t stream) {
  const int longest = pass.arms.longest, width = pass.costs.width, height = pass.costs.height;
  const int widest = widest_strip<Elements>(longest, device);
  const int columns = piece(width, (width + widest - 1) / widest, kAligned);
  const std::size_t bytes = shared_bytes<Elements>(longest, columns);
  const int strips = (width + columns - 1) / columns, groups = (pass.costs.planes + kPlanes - 1) / kPlanes;
  const int rows = band_rows(height, longest, strips * groups, device.blocks_at_once(bytes));
  allow_shared_memory(strip_kernel<Elements, kTurn>);
  const dim3 blocks(static_cast<unsigned>(strips), static_cast<unsigned>(groups),
                    static_cast<unsigned>((height + rows - 1) / rows));
  strip_kernel<Elements, kTurn>
      <<<blocks, kThreads, bytes, stream>>>(StripGrid{pass, columns, rows, kept_rows(longest)});
  RECON_CUDA_TRY(cudaGetLastError());
}

constexpr int kFew = 5, kMany = 6;  ///< elements of a row that a lane adds up

bool few_do(int longest) {
  return kMaxColumns + 2 * longest <= 32 * kFew;
}

}  // namespace

bool cross_fits_strips(int longest) {
  const Device device;
  return few_do(longest) ? widest_strip<kFew>(longest, device) > 0 : widest_strip<kMany>(longest, device) > 0;
}

void queue_cross_strips(const StripPass& pass, cudaStream_t stream) {
  const Device device;
  if (few_do(pass.arms.longest))
    pass.turn ? launch<kFew, true>(pass, device, stream) : launch<kFew, false>(pass, device, stream);
  else
    pass.turn ? launch<kMany, true>(pass, device, stream) : launch<kMany, false>(pass, device, stream);
}

}  // namespace recon::cuda
