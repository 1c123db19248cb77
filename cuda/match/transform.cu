#include "cuda/device/error.hpp"
#include "cuda/match/plane_byte.hpp"
#include "cuda/match/transform.hpp"
#include "match/transform_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kThreads = 128;

template <class Grey>
struct Window {
  const Grey* pixels;
  std::ptrdiff_t pitch;
  int width, height, x, y;

  __device__ std::uint32_t operator()(int i, int j) const {
    const int column = min(max(x + i, 0), width - 1), row = min(max(y + j, 0), height - 1);
    return __ldg(pixels + row * pitch + column);
  }
};

template <class Grey>
__global__ void __launch_bounds__(kThreads)
    rank_kernel(DeviceGrey image, int radius, std::uint32_t* transformed) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= image.width) return;
  const Window<Grey> at{static_cast<const Grey*>(image.pixels), image.pitch, image.width, image.height, x, y};
  transformed[static_cast<std::ptrdiff_t>(y) * image.width + x] = rank_of(radius, at);
}

/// Rows of pixels per thread block. Each thread computes them all: their windows overlap.
constexpr int kCensusRows = 4;

__host__ __device__ constexpr int census_columns(Transform transform) {
  return transform == Transform::kCensus5x5 ? 2 : transform == Transform::kScaledCensus ? 7 : 4;
}
__host__ __device__ constexpr int census_rows(Transform transform) {
  return transform == Transform::kCensus5x5 ? 2 : transform == Transform::kScaledCensus ? 7 : 3;
}

template <Transform kTransform, class At>
__device__ std::uint64_t census_code(const At& at) {
  if constexpr (kTransform == Transform::kSymmetricCensus)
    return symmetric_census_of(at);
  else if constexpr (kTransform == Transform::kScaledCensus)
    return scaled_census_of(at);
  else
    return census_of<census_columns(kTransform), census_rows(kTransform)>(at);
}

template <Transform kTransform, class Code, class Grey>
__global__ void __launch_bounds__(kThreads) census_kernel(DeviceGrey image, Code* transformed) {
  constexpr int kX = census_columns(kTransform), kY = census_rows(kTransform);
  constexpr int kWidth = kThreads + 2 * kX, kHeight = kCensusRows + 2 * kY;
  __shared__ Grey tile[kHeight][kWidth];
  const int left = static_cast<int>(blockIdx.x) * kThreads, top = static_cast<int>(blockIdx.y) * kCensusRows;
  const Window<Grey> from{
      static_cast<const Grey*>(image.pixels), image.pitch, image.width, image.height, left - kX, top - kY};
  const int column = static_cast<int>(threadIdx.x), x = left + column;
  for (int i = column; i < kWidth * kHeight; i += kThreads)
    tile[i / kWidth][i % kWidth] = static_cast<Grey>(from(i % kWidth, i / kWidth));
  __syncthreads();
  if (x >= image.width) return;
#pragma unroll
  for (int r = 0; r < kCensusRows; ++r) {
    const auto at = [&](int i, int j) -> std::uint32_t { return tile[r + kY + j][column + kX + i]; };
    const Code code = static_cast<Code>(census_code<kTransform>(at));
    if (top + r < image.height) transformed[static_cast<std::ptrdiff_t>(top + r) * image.width + x] = code;
  }
}

/// Marks the pixels of weak texture.
__global__ void __launch_bounds__(kThreads)
    weak_texture_kernel(DeviceGrey image, std::uint64_t* transformed) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= image.width) return;
  const Window<std::uint8_t> at{
      static_cast<const std::uint8_t*>(image.pixels), image.pitch, image.width, image.height, x, y};
  if (has_weak_texture(at)) transformed[static_cast<std::ptrdiff_t>(y) * image.width + x] |= kWeakTextureBit;
}

/// The differences of two transformed pixels, that of the left view first.
struct RankDifference {
  using Code = std::uint32_t;
  __device__ static std::uint32_t cost(Code a, Code b) { return __usad(a, b, 0); }
};
struct Hamming {
  using Code = std::uint32_t;
  __device__ static std::uint32_t cost(Code a, Code b) { return static_cast<std::uint32_t>(__popc(a ^ b)); }
};
struct WideHamming {
  using Code = std::uint64_t;
  __device__ static std::uint32_t cost(Code a, Code b) { return static_cast<std::uint32_t>(__popcll(a ^ b)); }
};

struct ScaledHamming {
  using Code = std::uint64_t;
  __device__ static std::uint32_t cost(Code a, Code b) {
    return static_cast<std::uint32_t>(__popc(scaled_census_difference(a, b)));
  }
};

constexpr int kCostPixels = 64;  ///< of a row, per thread block

/// Position of entry i of the window: neighbouring threads read entries 16 apart, which this maps to
/// different banks.
__host__ __device__ constexpr int banked(int i) {
  return i + i / 16;
}

__device__ void set_byte(std::uint32_t (&word)[4], int i, int value) {
  word[i / 4] = (word[i / 4] & ~(0xFFu << 8 * (i % 4))) | static_cast<std::uint32_t>(value) << 8 * (i % 4);
}

/// A thread computes 16 neighbouring disparities of a pixel at a time. The right pixels of a thread block are
/// in shared memory.
template <class Difference>
__global__ void __launch_bounds__(kThreads)
    costs_kernel(TransformedPair pair, std::uint8_t* costs, int stride) {
  using Code = typename Difference::Code;
  constexpr int kPlanes = 256, kWindow = kCostPixels + kPlanes;
  __shared__ Code window[banked(kWindow)];
  const int begin = static_cast<int>(blockIdx.x) * kCostPixels;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(blockIdx.y) * pair.width;
  const Code* left = static_cast<const Code*>(pair.left) + row;
  const Code* right = static_cast<const Code*>(pair.right) + row;
  for (int plane = 0; plane < stride; plane += kPlanes) {
    const int planes = min(kPlanes, stride - plane);
    const int last = begin + kCostPixels - 1 - pair.min_disparity - plane;  // entry 0; then to the left
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kCostPixels + planes - 1; i += kThreads)
      window[banked(i)] = right[min(max(last - i, 0), pair.width - 1)];
    __syncthreads();
    const int pieces = __ffs(planes / 16) - 1;  // per pixel: a power of 2
    for (int i = static_cast<int>(threadIdx.x); i < kCostPixels << pieces; i += kThreads) {
      const int pixel = i >> pieces, x = begin + pixel, first = (i - (pixel << pieces)) * 16;
      if (x >= pair.width) break;
      const Code code = __ldg(left + x);
      const int entry = kCostPixels - 1 - pixel + first, matched = last - entry;
      const bool all_inside = matched < pair.width && matched >= 15;
      std::uint32_t word[4] = {0, 0, 0, 0};
#pragma unroll
      for (int d = 0; d < 16; ++d)
        word[plane_byte(d) / 4] |= Difference::cost(code, window[banked(entry + d)])
                                   << 8 * (plane_byte(d) % 4);
      if (!all_inside) {
#pragma unroll
        for (int d = 0; d < 16; ++d)
          if (matched - d < 0 || matched - d >= pair.width) set_byte(word, plane_byte(d), pair.outside_cost);
      }
      *reinterpret_cast<uint4*>(costs + (row + x) * stride + plane + first) =
          make_uint4(word[0], word[1], word[2], word[3]);
    }
  }
}

constexpr int kVolumePlanes = 16;  ///< per thread

/// A thread computes neighbouring disparities of a pixel: reads and writes of a warp are along the row.
template <class Difference>
__global__ void __launch_bounds__(kThreads)
    volume_kernel(TransformedPair pair, PairSide side, DeviceVolume costs) {
  using Code = typename Difference::Code;
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= costs.width) return;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * costs.width;
  const bool left = side == PairSide::kLeft;
  const Code own = __ldg(static_cast<const Code*>(left ? pair.left : pair.right) + row + x);
  const Code* other = static_cast<const Code*>(left ? pair.right : pair.left) + row;
  const int begin = static_cast<int>(blockIdx.z) * kVolumePlanes,
            end = min(begin + kVolumePlanes, costs.planes);
  for (int d = begin; d < end; ++d) {
    const int matched = matching_column(side, x, pair.min_disparity + d);
    if (matched < 0 || matched >= costs.width) {
      costs.row(y, d)[x] = static_cast<float>(pair.outside_cost);
      continue;
    }
    const Code met = __ldg(other + matched);
    costs.row(y, d)[x] = static_cast<float>(Difference::cost(left ? own : met, left ? met : own));
  }
}

dim3 grid_of(const DeviceGrey& image, int rows) {
  return {static_cast<unsigned>((image.width + kThreads - 1) / kThreads),
          static_cast<unsigned>((image.height + rows - 1) / rows)};
}

void launch_rank(const DeviceGrey& image, int radius, void* transformed, cudaStream_t stream) {
  const dim3 grid = grid_of(image, 1);
  auto* typed = static_cast<std::uint32_t*>(transformed);
  if (image.words)
    rank_kernel<std::uint16_t><<<grid, kThreads, 0, stream>>>(image, radius, typed);
  else
    rank_kernel<std::uint8_t><<<grid, kThreads, 0, stream>>>(image, radius, typed);
  RECON_CUDA_TRY(cudaGetLastError());
}

template <Transform kTransform, class Code>
void launch_census(const DeviceGrey& image, void* transformed, cudaStream_t stream) {
  const dim3 grid = grid_of(image, kCensusRows);
  auto* typed = static_cast<Code*>(transformed);
  if (image.words)
    census_kernel<kTransform, Code, std::uint16_t><<<grid, kThreads, 0, stream>>>(image, typed);
  else
    census_kernel<kTransform, Code, std::uint8_t><<<grid, kThreads, 0, stream>>>(image, typed);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_scaled_census(const DeviceGrey& image, const std::uint8_t* bytes, void* transformed,
                          cudaStream_t stream) {
  launch_census<Transform::kScaledCensus, std::uint64_t>(image, transformed, stream);
  const DeviceGrey grey{bytes, false, image.width, image.width, image.height};
  weak_texture_kernel<<<grid_of(image, 1), kThreads, 0, stream>>>(grey,
                                                                  static_cast<std::uint64_t*>(transformed));
  RECON_CUDA_TRY(cudaGetLastError());
}

/// Calls `launch` with the difference of a transform.
template <class Launch>
void with_difference(Transform transform, const Launch& launch) {
  if (transform == Transform::kRank)
    launch(RankDifference{});
  else if (transform == Transform::kCensus9x7)
    launch(WideHamming{});
  else if (transform == Transform::kScaledCensus)
    launch(ScaledHamming{});
  else
    launch(Hamming{});
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void launch_transform(const DeviceGrey& image, const std::uint8_t* bytes, const TransformOptions& options,
                      void* transformed, cudaStream_t stream) {
  switch (options.transform) {
    case Transform::kRank:
      return launch_rank(image, options.rank_window / 2, transformed, stream);
    case Transform::kCensus5x5:
      return launch_census<Transform::kCensus5x5, std::uint32_t>(image, transformed, stream);
    case Transform::kScaledCensus:
      return launch_scaled_census(image, bytes, transformed, stream);
    case Transform::kCensus9x7:
      return launch_census<Transform::kCensus9x7, std::uint64_t>(image, transformed, stream);
    default:
      return launch_census<Transform::kSymmetricCensus, std::uint32_t>(image, transformed, stream);
  }
}

void launch_transform_costs(const TransformedPair& pair, Transform transform, std::uint8_t* costs, int stride,
                            cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((pair.width + kCostPixels - 1) / kCostPixels),
                  static_cast<unsigned>(pair.height));
  with_difference(transform, [&](auto difference) {
    costs_kernel<decltype(difference)><<<grid, kThreads, 0, stream>>>(pair, costs, stride);
  });
}

void launch_transform_volume(const TransformedPair& pair, Transform transform, PairSide side,
                             const DeviceVolume& costs, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((costs.width + kThreads - 1) / kThreads),
                  static_cast<unsigned>(costs.height),
                  static_cast<unsigned>((costs.planes + kVolumePlanes - 1) / kVolumePlanes));
  with_difference(transform, [&](auto difference) {
    volume_kernel<decltype(difference)><<<grid, kThreads, 0, stream>>>(pair, side, costs);
  });
}

}  // namespace recon::cuda
