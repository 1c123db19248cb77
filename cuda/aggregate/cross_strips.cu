#include <algorithm>
#include <type_traits>

#include "cuda/aggregate/cross_columns.cuh"
#include "cuda/aggregate/cross_rows.cuh"
#include "cuda/aggregate/cross_strip.cuh"
#include "cuda/device/error.hpp"
#include "cuda/device/shared_memory.hpp"

namespace recon::cuda {
namespace {

using namespace strips;

constexpr int kNarrow = 128, kMiddle = 192, kWide = 256;  ///< max columns of a strip

template <bool kTurn>
using Store = std::conditional_t<kTurn, TransposedStore, RowStore>;

template <int Columns>
constexpr int kThreads = kRowThreads + Columns;

/// Thread blocks per multiprocessor, limited by registers.
template <int Columns>
constexpr int kTogether = Columns == kNarrow   ? 4
                          : Columns == kMiddle ? 3
                                               : 2;

template <int Columns, bool kTurn>
__global__ void __launch_bounds__(kThreads<Columns>, kTogether<Columns>)
    strip_kernel(const __grid_constant__ StripGrid grid) {
  const int thread = static_cast<int>(threadIdx.x);
  const Strip strip(grid);
  if (thread >= kRowThreads) {
    ColumnAdder<Columns> adder(grid, strip, thread - kRowThreads);
    ColumnMeans<Columns> means(grid, strip, thread - kRowThreads);
    Store<kTurn> store(grid, strip, thread - kRowThreads, Ring<Columns>::begin() + grid.ring);
    for (int step = 0; step < strip.steps; ++step) {
      __syncthreads();
      adder.add_up(step % 2);
      means.emit(store);
    }
  } else {
    RowAdder rows(grid.pass, strip, thread);
    rows.add_up<0>(row_lines());
    for (int step = 1; step <= strip.steps; ++step) {
      __syncthreads();
      if (step == strip.steps) break;
      step % 2 == 0 ? rows.add_up<0>(row_lines()) : rows.add_up<1>(row_lines());
    }
  }
}

/// Rows of the ring: from the max arm length above a step's first mean to the last summed row, in whole
/// steps.
int ring_rows(int longest) {
  return rounded_up(delay_of(longest) + longest + 1 + kStep, kStep);
}

template <int Columns>
std::size_t shared_bytes(int longest, bool transpose) {
  return Ring<Columns>::kBegin + static_cast<std::size_t>(ring_rows(longest)) * Ring<Columns>::kPitch +
         (transpose ? Columns / 32 * TransposedStore::kWarpBytes : 0);
}

/// Properties of the current device.
struct Device {
  int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
  int shared_bytes = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  int shared_bytes_in_all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);

  int blocks_together(std::size_t bytes, int most) const {
    constexpr std::size_t kKept = 1024;  // reserved by the system, per thread block
    return std::clamp(static_cast<int>(static_cast<std::size_t>(shared_bytes_in_all) / (bytes + kKept)), 1,
                      most);
  }
};

/// Size of the strips and bands of a volume.
struct Cut {
  int columns = 0, rows = 0;
  double time = 0;
};

/// The size of each of `parts` parts that cover `size`.
int piece(int size, int parts, int aligned) {
  return rounded_up(divided_up(size, parts), aligned);
}

/// Time of a step of all thread blocks of a multiprocessor, in microseconds, as measured on an H200: latency,
/// and throughput of the column warps.
double step_time(int blocks, int column_warps) {
  return 0.63 + 0.024 * blocks * column_warps;
}

/// The fastest division into strips of at most `Columns`; no columns: they do not fit.
template <int Columns>
Cut best_cut(const StripPass& pass, const Device& device) {
  constexpr int kMaxBands = 16;
  const DeviceVolume& costs = pass.costs;
  const int longest = pass.arms.longest, delay = delay_of(longest);
  const std::size_t bytes = shared_bytes<Columns>(longest, pass.transposed_means);
  const int most = std::min(Columns, (kLine - 1 - margin_of(longest) - longest) / kAligned * kAligned);
  Cut best;
  if (bytes > static_cast<std::size_t>(device.shared_bytes) || most < kAligned) return best;
  const int strips = divided_up(costs.width, most);
  const int columns = piece(costs.width, strips, kAligned), warps = divided_up(columns, 32);
  const int together = device.blocks_together(bytes, kTogether<Columns>);
  for (int bands = 1; bands <= kMaxBands; ++bands) {
    const int rows = piece(costs.height, bands, TransposedStore::kRows);
    const long blocks = long{strips} * costs.planes * divided_up(costs.height, rows);
    // of the multiprocessor with the most thread blocks
    const long each = (blocks + device.multiprocessors - 1) / device.multiprocessors;
    const double waves = static_cast<double>(each / together) * step_time(together, warps) +
                         (each % together > 0 ? step_time(static_cast<int>(each % together), warps) : 0);
    const double time = waves * std::min(rows + 2 * delay, costs.height + delay);
    if (best.columns != 0 && time >= best.time) continue;
    best = {columns, rows, time};
  }
  return best;
}

template <int Columns, bool kTurn>
void launch(const StripPass& pass, const Cut& cut, cudaStream_t stream) {
  const int longest = pass.arms.longest;
  allow_shared_memory(strip_kernel<Columns, kTurn>);
  const dim3 blocks(blocks_for(pass.costs.width, cut.columns), static_cast<unsigned>(pass.costs.planes),
                    blocks_for(pass.costs.height, cut.rows));
  const auto threads = static_cast<unsigned>(kRowThreads + rounded_up(cut.columns, 32));
  const unsigned ring = static_cast<unsigned>(ring_rows(longest)) * Ring<Columns>::kPitch;
  strip_kernel<Columns, kTurn><<<blocks, threads, shared_bytes<Columns>(longest, kTurn), stream>>>(
      StripGrid{pass, cut.columns, cut.rows, ring});
  RECON_CUDA_TRY(cudaGetLastError());
}

template <int Columns>
void launch(const StripPass& pass, const Cut& cut, cudaStream_t stream) {
  pass.transposed_means ? launch<Columns, true>(pass, cut, stream)
                        : launch<Columns, false>(pass, cut, stream);
}

}  // namespace

bool cross_fits_strips(int longest) {
  const Device device;
  return longest <= kMaxSquareRadius &&
         shared_bytes<kNarrow>(longest, true) <= static_cast<std::size_t>(device.shared_bytes);
}

void queue_cross_strips(const StripPass& pass, cudaStream_t stream) {
  const Device device;
  const Cut narrow = best_cut<kNarrow>(pass, device), middle = best_cut<kMiddle>(pass, device),
            wide = best_cut<kWide>(pass, device);
  const auto faster = [](const Cut& a, const Cut& b) {
    return a.columns != 0 && (b.columns == 0 || a.time <= b.time);
  };
  if (faster(wide, middle) && faster(wide, narrow)) return launch<kWide>(pass, wide, stream);
  if (faster(middle, narrow)) return launch<kMiddle>(pass, middle, stream);
  launch<kNarrow>(pass, narrow, stream);
}

}  // namespace recon::cuda
