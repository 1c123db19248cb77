#include "cuda/device/error.hpp"
#include "cuda/match/ad_census.hpp"
#include "match/ad_census_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kPass = 128;  ///< planes for which the source pixels are loaded at a time
constexpr int kWindow = kThreads + kPass - 1;

__global__ void __launch_bounds__(kThreads)
    grey_kernel(const Rgb8* pixels, std::ptrdiff_t count, std::uint8_t* grey) {
  const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) grey[i] = static_cast<std::uint8_t>(grey_of(pixels[i]));
}

__device__ std::uint32_t packed(Rgb8 p) {
  return p.r | static_cast<std::uint32_t>(p.g) << 8 | static_cast<std::uint32_t>(p.b) << 16;
}

/// Tables and pixels that a thread block reads more than once.
template <bool kCensus>
struct Tables {
  float by_sum[kMaxChannelSum + 1];
  float by_bits[kCensus ? kMaxAdCensusBits + 1 : 1];
  std::uint32_t colours[kWindow];  ///< of the source
  std::uint64_t census[kCensus ? kWindow : 1];
};

/// Loads columns first .. first + kWindow - 1 of the source; the border is replicated.
template <bool kCensus>
__device__ void fetch_window(const ColourCosts& views, std::ptrdiff_t row, int first, int width,
                             Tables<kCensus>& tables) {
  for (int i = static_cast<int>(threadIdx.x); i < kWindow; i += kThreads) {
    const int column = min(max(first + i, 0), width - 1);
    tables.colours[i] = packed(views.source[row + column]);
    if constexpr (kCensus) tables.census[i] = views.source_census[row + column];
  }
}

/// One thread per column; one thread block per part of a row, with all planes.
template <bool kCensus>
__global__ void __launch_bounds__(kThreads) costs_kernel(ColourCosts views, DeviceVolume costs) {
  __shared__ Tables<kCensus> tables;
  const int thread = static_cast<int>(threadIdx.x), begin = static_cast<int>(blockIdx.x) * kThreads;
  const int x = begin + thread, y = static_cast<int>(blockIdx.y);
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * costs.width;
  const bool inside = x < costs.width;
  for (int i = thread; i <= kMaxChannelSum; i += kThreads) tables.by_sum[i] = views.by_sum[i];
  if constexpr (kCensus)
    for (int i = thread; i <= kMaxAdCensusBits; i += kThreads) tables.by_bits[i] = views.by_bits[i];
  const std::uint32_t colour = inside ? packed(views.reference[row + x]) : 0;
  std::uint64_t census = 0;
  if constexpr (kCensus) census = inside ? views.reference_census[row + x] : 0;
  const bool left = views.side == PairSide::kLeft;
  for (int plane = 0; plane < costs.planes; plane += kPass) {
    const int farthest = views.min_disparity + plane + (left ? kPass - 1 : 0);
    __syncthreads();
    fetch_window<kCensus>(views, row, matching_column(views.side, begin, farthest), costs.width, tables);
    __syncthreads();
    const int planes = min(kPass, costs.planes - plane);
    for (int d = 0; inside && d < planes; ++d) {
      const int entry = thread + (left ? kPass - 1 - d : d);
      float cost = tables.by_sum[__vsadu4(colour, tables.colours[entry])];
      if constexpr (kCensus) cost = tables.by_bits[__popcll(census ^ tables.census[entry])] + cost;
      costs.row(y, plane + d)[x] = cost;
    }
  }
}

}  // namespace

void queue_grey(const Rgb8* pixels, int width, int height, std::uint8_t* grey, cudaStream_t stream) {
  const std::ptrdiff_t count = static_cast<std::ptrdiff_t>(width) * height;
  grey_kernel<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0, stream>>>(pixels,
                                                                                                 count, grey);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_colour_costs(const ColourCosts& views, const DeviceVolume& costs, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((costs.width + kThreads - 1) / kThreads),
                  static_cast<unsigned>(costs.height));
  if (views.reference_census != nullptr)
    costs_kernel<true><<<grid, kThreads, 0, stream>>>(views, costs);
  else
    costs_kernel<false><<<grid, kThreads, 0, stream>>>(views, costs);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
