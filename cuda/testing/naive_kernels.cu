#include "cuda/device/grid.hpp"
#include "cuda/match/sampling.cuh"
#include "cuda/testing/naive_kernels.hpp"

namespace recon::cuda {
namespace {

struct Point {
  double x, y, z;
};

__device__ Point transformed(const double* m, Point p, const double* t) {
  return {m[0] * p.x + m[1] * p.y + m[2] * p.z + t[0], m[3] * p.x + m[4] * p.y + m[5] * p.z + t[1],
          m[6] * p.x + m[7] * p.y + m[8] * p.z + t[2]};
}

__global__ void naive_kernel(const NaiveCamera* reference, const NaiveCamera* source,
                             const std::uint8_t* reference_pixels, const std::uint8_t* source_pixels,
                             int width, int height, PlaneSet planes, int radius, float* cube) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  const double origin[3] = {0, 0, 0};
  const Point ray =
      transformed(reference->k_inverse, {static_cast<double>(x), static_cast<double>(y), 1.0}, origin);
  for (int d = 0; d < planes.count; ++d) {
    const double z = 1.0 / static_cast<double>(inverse_depth(planes, static_cast<float>(d)));
    const Point in_world =
        transformed(reference->r_inverse, {ray.x * z, ray.y * z, ray.z * z}, reference->t_inverse);
    const Point image = transformed(source->k, transformed(source->r, in_world, source->t), origin);
    const double u = image.x / image.z, v = image.y / image.z;
    const int column = u < 0 || u >= source->width ? 0 : static_cast<int>(u + 0.5);
    const int row = v < 0 || v >= source->height ? 0 : static_cast<int>(v + 0.5);
    float cost = 0, count = 0;
    for (int k = -radius; k <= radius; ++k)
      for (int l = -radius; l <= radius; ++l) {
        if (x + l < 0 || x + l >= width || y + k < 0 || y + k >= height) continue;
        if (column + l < 0 || column + l >= source->width || row + k < 0 || row + k >= source->height)
          continue;
        const int difference =
            reference_pixels[(y + k) * width + x + l] - source_pixels[(row + k) * source->width + column + l];
        cost += fabsf(static_cast<float>(difference));
        count += 1.0f;
      }
    float& kept = cube[(static_cast<std::size_t>(d) * height + y) * width + x];
    kept = fminf(kept, cost / count);
  }
}

__global__ void clear_kernel(float* cube, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) cube[i] = 255.0f;
}

__global__ void winner_kernel(const float* cube, std::size_t pixels, int planes, std::uint16_t* plane) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  float min_cost = cube[i];
  int best = 0;
  for (int d = 1; d < planes; ++d) {
    const float cost = cube[d * pixels + i];
    if (cost < min_cost) min_cost = cost, best = d;
  }
  plane[i] = static_cast<std::uint16_t>(best);
}

constexpr unsigned kFirstBits = 0x3A800000u, kEndBits = 0x50000000u;  // 2^-10 and 2^33

__global__ void reciprocal_kernel(unsigned long long* wrong) {
  unsigned long long count = 0;
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned bits = kFirstBits + blockIdx.x * blockDim.x + threadIdx.x; bits < kEndBits; bits += step) {
    const float x = __uint_as_float(bits);
    if (__float_as_uint(reciprocal(x)) != __float_as_uint(__frcp_rn(x))) ++count;
  }
  if (count > 0) atomicAdd(wrong, count);
}

}  // namespace

void launch_naive_sweep(const NaiveImage* images, int sources, int width, int height, PlaneSet planes,
                        int window, float* cube, std::uint16_t* plane, cudaStream_t stream) {
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  const std::size_t cells = pixels * static_cast<std::size_t>(planes.count);
  clear_kernel<<<static_cast<unsigned>((cells + 255) / 256), 256, 0, stream>>>(cube, cells);
  RECON_CUDA_TRY(cudaGetLastError());
  const dim3 block(32, 8);
  const dim3 grid(blocks_for(width, 32), blocks_for(height, 8));
  for (int s = 1; s <= sources; ++s) {
    naive_kernel<<<grid, block, 0, stream>>>(images[0].camera, images[s].camera, images[0].pixels,
                                             images[s].pixels, width, height, planes, window / 2, cube);
    RECON_CUDA_TRY(cudaGetLastError());
  }
  winner_kernel<<<static_cast<unsigned>((pixels + 255) / 256), 256, 0, stream>>>(cube, pixels, planes.count,
                                                                                 plane);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_reciprocals(unsigned long long* wrong, cudaStream_t stream) {
  reciprocal_kernel<<<1024, 256, 0, stream>>>(wrong);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
