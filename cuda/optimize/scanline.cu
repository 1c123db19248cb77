#include "cuda/device/error.hpp"
#include "cuda/optimize/scanline.cuh"
#include "match/colour_difference_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    edges_kernel(const Rgb8* pixels, int width, int threshold, std::uint8_t* edges) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const Rgb8* pixel = pixels + static_cast<std::ptrdiff_t>(y) * width + x;
  int bits = 0;
  if (x > 0 && greatest_difference(pixel[0], pixel[-1]) >= threshold) bits |= 1;
  if (y > 0 && greatest_difference(pixel[0], pixel[-width]) >= threshold) bits |= 2;
  edges[static_cast<std::ptrdiff_t>(y) * width + x] = static_cast<std::uint8_t>(bits);
}

}  // namespace

void queue_edges(const Rgb8* pixels, int width, int height, int threshold, std::uint8_t* edges,
                 cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((width + kThreads - 1) / kThreads), static_cast<unsigned>(height));
  edges_kernel<<<grid, kThreads, 0, stream>>>(pixels, width, threshold, edges);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_scanlines(const DeviceVolume& costs, const ScanlineEdges& edges, const ScanlineOptions& options,
                     const DeviceVolume& mean, cudaStream_t stream) {
  EXPECTS(costs.planes >= 1 && costs.planes <= kMaxScanlinePlanes && costs.width >= 1 && costs.height >= 1);
  EXPECTS(mean.width == costs.width && mean.height == costs.height && mean.planes == costs.planes);
  EXPECTS(mean.pitch == costs.pitch && options.p1 >= 0.0f && options.p2 >= options.p1);
  const ScanlineTable penalties{{scanline_penalties(options, false, false),
                                 scanline_penalties(options, true, false),
                                 scanline_penalties(options, true, true)}};
  const ScanlineArgs args{costs, mean, edges, penalties};
  launch_scanline_rows(args, stream);
  launch_scanline_columns(args, stream);
}

}  // namespace recon::cuda
