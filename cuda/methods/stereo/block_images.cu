#include "cuda/device/error.hpp"
#include "cuda/methods/stereo/block_device.hpp"
#include "methods/stereo/block/block_step.hpp"
#include "refine/median_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kBlockX = 32, kBlockY = 8;

dim3 grid_of(std::ptrdiff_t width, int height, unsigned depth = 1) {
  return {static_cast<unsigned>((width + kBlockX - 1) / kBlockX),
          static_cast<unsigned>((height + kBlockY - 1) / kBlockY), depth};
}

__device__ int thread_x() {
  return static_cast<int>(blockIdx.x * kBlockX + threadIdx.x);
}
__device__ int thread_y() {
  return static_cast<int>(blockIdx.y * kBlockY + threadIdx.y);
}
__device__ float unknown() {
  return __int_as_float(0x7FC00000);
}

__device__ std::uint8_t prepared(const DeviceBlock& b, const std::uint8_t* image, int x, int y) {
  const auto at = [&](int i, int j) {
    const int column = min(max(x + i, 0), b.width - 1), row = min(max(y + j, 0), b.height - 1);
    return static_cast<int>(__ldg(image + row * b.image_pitch + column));
  };
  return b.options.prefilter == BlockPrefilter::kSobel ? sobel_response(b.options.prefilter_cap, at)
                                                       : static_cast<std::uint8_t>(at(0, 0));
}

/// Left rows, then (blockIdx.z = 1) right rows, over their full length.
__global__ void prepare_kernel(const __grid_constant__ DeviceBlock b) {
  const int i = thread_x(), y = thread_y();
  if (y >= b.height) return;
  if (blockIdx.z == 0) {
    if (i < b.columns) b.left[y * b.left_pitch + i] = prepared(b, b.images[0], min(i, b.width - 1), y);
    return;
  }
  if (i >= b.right_pitch) return;
  const int steps = b.options.steps_per_pixel;
  const int position = right_position(b.columns - 1, i, b.min, steps, b.width);
  const int x = position / steps, part = position % steps;
  std::uint8_t sample = prepared(b, b.images[1], x, y);
  if (part > 0)
    sample = fractional_sample(sample, prepared(b, b.images[1], min(x + 1, b.width - 1), y), part, steps);
  b.right[y * b.right_pitch + i] = sample;
}

__global__ void texture_kernel(const __grid_constant__ DeviceBlock b) {
  const int x = b.region.x + thread_x(), y = b.region.y + thread_y(), radius = b.options.radius;
  if (x >= b.region.x + b.region.width || y >= b.region.y + b.region.height) return;
  std::uint32_t contrast = 0;
  for (int j = -radius; j <= radius; ++j) {
    const std::uint8_t* row = b.images[0] + min(max(y + j, 0), b.height - 1) * b.image_pitch;
    for (int i = -radius; i <= radius; ++i) {
      const int column = min(max(x + i, 0), b.width - 1);
      contrast += static_cast<std::uint32_t>(
          pixel_cost<BlockCost::kSad>(row[min(column + 1, b.width - 1)], row[max(column - 1, 0)]));
    }
  }
  if (contrast < b.limits.min_texture) b.disparity[y * b.pitch + x] = unknown();
}

/// The disparity of a pixel if it is in the region and agrees with the owner of its match in the right image.
__device__ float checked(const DeviceBlock& b, int x, int y) {
  const Region& r = b.region;
  if (x < r.x || y < r.y || x >= r.x + r.width || y >= r.y + r.height) return unknown();
  const float disparity = b.disparity[y * b.pitch + x];
  if (b.options.left_right < 0 || disparity != disparity) return disparity;
  const int k = b.winners[y * b.pitch + x], steps = b.options.steps_per_pixel;
  const int position = steps * (x - b.min) - k;
  if (position < 0 || position > steps * (b.width - 1)) return unknown();
  const std::uint64_t owner = b.claims[y * b.claims_pitch + position];
  return agrees_with_owner(owner, k, b.options.left_right, steps) ? disparity : unknown();
}

__global__ void finish_kernel(const __grid_constant__ DeviceBlock b) {
  __shared__ float tile[kBlockY + 2][kBlockX + 2];
  const int x0 = static_cast<int>(blockIdx.x) * kBlockX - 1, y0 = static_cast<int>(blockIdx.y) * kBlockY - 1;
  for (int i = static_cast<int>(threadIdx.y * kBlockX + threadIdx.x); i < (kBlockX + 2) * (kBlockY + 2);
       i += kBlockX * kBlockY)
    tile[i / (kBlockX + 2)][i % (kBlockX + 2)] = checked(b, x0 + i % (kBlockX + 2), y0 + i / (kBlockX + 2));
  __syncthreads();
  const int x = thread_x(), y = thread_y();
  if (x >= b.width || y >= b.height) return;
  const auto* at = &tile[threadIdx.y + 1][threadIdx.x + 1];
  float value = *at;
  if (b.options.median && value == value) {
    float v[9], next = -__int_as_float(0x7F800000);
    for (int n = 0; n < 9; ++n) v[n] = known_or_infinity(at[(n / 3 - 1) * (kBlockX + 2) + n % 3 - 1], next);
    value = median_of_nine(v);
  }
  b.map[y * b.pitch + x] = value;
}

__global__ void half_kernel(const std::uint8_t* image, std::ptrdiff_t pitch, int width, int height,
                            std::uint8_t* half, std::ptrdiff_t half_pitch) {
  const int x = thread_x(), y = thread_y();
  if (x >= coarser_size(width) || y >= coarser_size(height)) return;
  const std::uint8_t *upper = image + 2 * y * pitch, *lower = image + min(2 * y + 1, height - 1) * pitch;
  const int next = min(2 * x + 1, width - 1);
  half[y * half_pitch + x] = mean_of_four(upper[2 * x], upper[next], lower[2 * x], lower[next]);
}

__global__ void join_kernel(const __grid_constant__ DeviceBlock fine,
                            const __grid_constant__ DeviceBlock coarse, float max_disparity) {
  const int x = fine.region.x + thread_x(), y = fine.region.y + thread_y();
  if (x >= fine.region.x + fine.region.width || y >= fine.region.y + fine.region.height) return;
  float& value = fine.map[y * fine.pitch + x];
  value = finer_or_coarser(value, coarse.map[y / 2 * coarse.pitch + x / 2], max_disparity);
}

}  // namespace

void launch_block_prepare(const DeviceBlock& b, cudaStream_t stream) {
  prepare_kernel<<<grid_of(b.right_pitch, b.height, 2), dim3(kBlockX, kBlockY), 0, stream>>>(b);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_block_texture(const DeviceBlock& b, cudaStream_t stream) {
  texture_kernel<<<grid_of(b.region.width, b.region.height), dim3(kBlockX, kBlockY), 0, stream>>>(b);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_block_finish(const DeviceBlock& b, cudaStream_t stream) {
  finish_kernel<<<grid_of(b.width, b.height), dim3(kBlockX, kBlockY), 0, stream>>>(b);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_half_size(const std::uint8_t* image, std::ptrdiff_t pitch, int width, int height,
                      std::uint8_t* half, std::ptrdiff_t half_pitch, cudaStream_t stream) {
  half_kernel<<<grid_of(coarser_size(width), coarser_size(height)), dim3(kBlockX, kBlockY), 0, stream>>>(
      image, pitch, width, height, half, half_pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_join_levels(const DeviceBlock& fine, const DeviceBlock& coarse, int max_disparity,
                        cudaStream_t stream) {
  join_kernel<<<grid_of(fine.region.width, fine.region.height), dim3(kBlockX, kBlockY), 0, stream>>>(
      fine, coarse, static_cast<float>(max_disparity));
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
