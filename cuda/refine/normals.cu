#include <cmath>
#include <cstddef>

#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/refine/normals.hpp"
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

}  // namespace

void launch_normals(const float* depth, const Pinhole& camera, Vec3f* normals, cudaStream_t stream) {
  const dim3 grid(blocks_for(camera.width, kColumns), blocks_for(camera.height, kRows));
  normals_kernel<<<grid, dim3(kColumns, kRows), 0, stream>>>(depth, camera, normals);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
