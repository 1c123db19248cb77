#include <algorithm>

#include "cuda/device/grid.hpp"
#include "cuda/methods/stereo/block_winner.cuh"
#include "methods/stereo/block/block_step.hpp"

/// Block matching with any cost, window and number of hypotheses: a warp moves a tile down a strip with
/// rolling sums, as in the kernel for packed sums, but with 32-bit sums in global memory.

namespace recon::cuda {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;
constexpr int kTile = 64;
constexpr int kStrip = 64;
constexpr std::size_t kMaxScratch = std::size_t{256} << 20;
constexpr int kMaxWarps = 4096;

__device__ std::uint64_t min_of_warp(std::uint64_t value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const std::uint64_t other = __shfl_xor_sync(kAll, value, step);
    value = other < value ? other : value;
  }
  return value;
}

template <BlockCost kCost>
class GeneralSearch {
 public:
  __device__ GeneralSearch(const DeviceBlock& block, std::uint32_t* scratch, int x_begin, int x_end)
      : b_(block),
        lane_(static_cast<int>(threadIdx.x)),
        radius_(block.options.radius),
        steps_(block.options.steps_per_pixel),
        x_begin_(x_begin),
        x_end_(x_end),
        first_(max(x_begin - radius_, 0)),
        sums_(scratch),
        columns_(scratch + block.hypotheses) {}

  __device__ void run(int y_begin, int y_end) {
    for (int c = first_; c < min(x_end_ + radius_, b_.width); ++c)
      for (int k = lane_; k < b_.hypotheses; k += kWarp) {
        std::uint32_t sum = 0;
        for (int j = -radius_; j <= radius_; ++j) sum += cost(c, y_begin + j, k);
        column(c)[k] = sum;
      }
    for (int y = y_begin; y < y_end; ++y) {
      if (y > y_begin) roll(y);
      search_row(y);
    }
  }

 private:
  __device__ std::uint32_t* column(int x) const {
    return columns_ + static_cast<std::ptrdiff_t>(x - first_) * b_.hypotheses;
  }
  __device__ std::uint32_t cost(int x, int y, int k) const {
    y = min(max(y, 0), b_.height - 1);
    const std::ptrdiff_t right = static_cast<std::ptrdiff_t>(steps_) * (b_.columns - 1 - x) + k;
    return static_cast<std::uint32_t>(
        pixel_cost<kCost>(b_.left[y * b_.left_pitch + x], b_.right[y * b_.right_pitch + right]));
  }

  __device__ void roll(int y) const {
    for (int c = first_; c < min(x_end_ + radius_, b_.width); ++c)
      for (int k = lane_; k < b_.hypotheses; k += kWarp)
        column(c)[k] += cost(c, y + radius_, k) - cost(c, y - radius_ - 1, k);
  }

  __device__ void search_row(int y) const {
    for (int x = x_begin_; x < x_end_; ++x) {
      std::uint64_t min_key = ~std::uint64_t{0};
      for (int k = lane_; k < b_.hypotheses; k += kWarp) {
        std::uint32_t sum = 0;
        if (x == x_begin_)
          for (int i = -radius_; i <= radius_; ++i) sum += column(min(max(x + i, 0), b_.width - 1))[k];
        else
          sum = sums_[k] + column(min(x + radius_, b_.width - 1))[k] - column(max(x - radius_ - 1, 0))[k];
        sums_[k] = sum;
        min_key = min(min_key, std::uint64_t{sum} << 32 | static_cast<unsigned>(k));
      }
      min_key = min_of_warp(min_key);
      const int best = static_cast<int>(min_key & 0xFFFFFFFFu);
      std::uint64_t second = kNoBlockCost;
      for (int k = lane_; k < b_.hypotheses && b_.limits.uniqueness > 0; k += kWarp)
        if (k < best - steps_ || k > best + steps_)
          second = min(second, static_cast<std::uint64_t>(sums_[k]));
      second = min_of_warp(second);
      __syncwarp();
      if (lane_ == 0)
        store_winner(
            b_, x, y,
            {best, static_cast<std::uint32_t>(min_key >> 32), best > 0 ? sums_[best - 1] : kNoBlockCost,
             best + 1 < b_.hypotheses ? sums_[best + 1] : kNoBlockCost, static_cast<std::uint32_t>(second)});
      __syncwarp();
    }
  }

  const DeviceBlock& b_;
  int lane_, radius_, steps_, x_begin_, x_end_, first_;
  std::uint32_t *sums_, *columns_;
};

/// Number of sums per warp.
__host__ __device__ std::size_t slab(const DeviceBlock& b) {
  return static_cast<std::size_t>(b.hypotheses) * static_cast<std::size_t>(kTile + 2 * b.options.radius + 1);
}

template <BlockCost kCost>
__global__ void __launch_bounds__(kWarp)
    general_kernel(const __grid_constant__ DeviceBlock b, std::uint32_t* scratch, int tiles, int tasks) {
  const Region& region = b.region;
  for (int task = static_cast<int>(blockIdx.x); task < tasks; task += static_cast<int>(gridDim.x)) {
    const int x = region.x + task % tiles * kTile, y = region.y + task / tiles * kStrip;
    GeneralSearch<kCost>(b, scratch + blockIdx.x * slab(b), x, min(x + kTile, region.x + region.width))
        .run(y, min(y + kStrip, region.y + region.height));
  }
}

int tile_count(const DeviceBlock& b) {
  return divided_up(b.region.width, kTile);
}

int task_count(const DeviceBlock& b) {
  return tile_count(b) * divided_up(b.region.height, kStrip);
}

int warp_count(const DeviceBlock& b) {
  const std::size_t fitting = kMaxScratch / (slab(b) * sizeof(std::uint32_t));
  const auto most = static_cast<int>(std::min<std::size_t>(fitting, kMaxWarps));
  return std::max(1, std::min(most, task_count(b)));
}

}  // namespace

std::size_t general_scratch_bytes(const DeviceBlock& b) {
  return static_cast<std::size_t>(warp_count(b)) * slab(b) * sizeof(std::uint32_t);
}

void launch_general_block_search(const DeviceBlock& b, std::uint32_t* scratch, cudaStream_t stream) {
  const auto kernel =
      b.options.cost == BlockCost::kSsd ? general_kernel<BlockCost::kSsd> : general_kernel<BlockCost::kSad>;
  kernel<<<static_cast<unsigned>(warp_count(b)), kWarp, 0, stream>>>(b, scratch, tile_count(b),
                                                                     task_count(b));
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
