#include <cmath>
#include <cstddef>

#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/refine/normals.hpp"
#include "refine/mean_normal_step.hpp"
#include "refine/normal_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kColumns = 32, kRows = 16;  ///< pixels of a thread block

/// Each block takes the inverse depths of its pixels and of the windows around them into shared memory.
__global__ void __launch_bounds__(kColumns* kRows)
    normals_kernel(const float* depth, Pinhole camera, Vec3f* normals) {
  constexpr int kTileColumns = kColumns + 2 * kNormalRadius, kTileRows = kRows + 2 * kNormalRadius;
  __shared__ float tile[kTileRows][kTileColumns];
  const int left = static_cast<int>(blockIdx.x) * kColumns, top = static_cast<int>(blockIdx.y) * kRows;
  const int column = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  for (int i = row * kColumns + column; i < kTileRows * kTileColumns; i += kRows * kColumns) {
    const int tile_x = i % kTileColumns, tile_y = i / kTileColumns;
    const int x = left + tile_x - kNormalRadius, y = top + tile_y - kNormalRadius;
    const bool inside = x >= 0 && x < camera.width && y >= 0 && y < camera.height;
    tile[tile_y][tile_x] = inside ? 1.0f / depth[static_cast<std::ptrdiff_t>(y) * camera.width + x] : NAN;
  }
  __syncthreads();
  const int x = left + column, y = top + row;
  if (x >= camera.width || y >= camera.height) return;
  const auto inverse_depth = [&](int dx, int dy) {
    return tile[row + kNormalRadius + dy][column + kNormalRadius + dx];
  };
  normals[static_cast<std::ptrdiff_t>(y) * camera.width + x] = normal_step(camera, x, y, inverse_depth);
}

__global__ void __launch_bounds__(kColumns* kRows)
    mean_normals_kernel(const float* depth, const Vec3f* normals, int width, int height, Vec3f* means) {
  const int x = static_cast<int>(blockIdx.x) * kColumns + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kRows + static_cast<int>(threadIdx.y);
  if (x >= width || y >= height) return;
  const std::ptrdiff_t pixel = static_cast<std::ptrdiff_t>(y) * width + x;
  const auto inside = [&](int dx, int dy) {
    return x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height;
  };
  const auto depth_at = [&](int dx, int dy) {
    return inside(dx, dy) ? depth[pixel + static_cast<std::ptrdiff_t>(dy) * width + dx] : NAN;
  };
  const auto normal_at = [&](int dx, int dy) {
    return inside(dx, dy) ? normals[pixel + static_cast<std::ptrdiff_t>(dy) * width + dx]
                          : Vec3f{NAN, NAN, NAN};
  };
  means[pixel] = mean_normal_step(depth_at, normal_at);
}

dim3 blocks_of(int width, int height) {
  return {blocks_for(width, kColumns), blocks_for(height, kRows)};
}

}  // namespace

void launch_normals(const float* depth, const Pinhole& camera, Vec3f* normals, cudaStream_t stream) {
  normals_kernel<<<blocks_of(camera.width, camera.height), dim3(kColumns, kRows), 0, stream>>>(depth, camera,
                                                                                               normals);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_mean_normals(const float* depth, const Vec3f* normals, int width, int height, Vec3f* means,
                         cudaStream_t stream) {
  mean_normals_kernel<<<blocks_of(width, height), dim3(kColumns, kRows), 0, stream>>>(depth, normals, width,
                                                                                      height, means);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
