#include "cuda/device/grid.hpp"
#include "cuda/optimize/scanline/scanline.cuh"
#include "match/colour_difference_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    edges_kernel(const Rgb8* pixels, int width, int threshold, std::uint8_t* edges) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const std::ptrdiff_t pixels_of_all = static_cast<std::ptrdiff_t>(gridDim.y) * width;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * width + x;
  const Rgb8 own = pixels[at];
  const bool across = x > 0 && max_difference(own, pixels[at - (x > 0 ? 1 : 0)]) >= threshold;
  const bool down = y > 0 && max_difference(own, pixels[at - (y > 0 ? width : 0)]) >= threshold;
  edges[at] = across ? 1 : 0;
  edges[pixels_of_all + at] = down ? 1 : 0;
}

}  // namespace

void queue_edges(const Rgb8* pixels, int width, int height, int threshold, std::uint8_t* edges,
                 cudaStream_t stream) {
  const dim3 grid(blocks_for(width, kThreads), static_cast<unsigned>(height));
  edges_kernel<<<grid, kThreads, 0, stream>>>(pixels, width, threshold, edges);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_scanlines(const DeviceVolume& costs, const ScanlineEdges& edges, const ScanlineOptions& options,
                     const DeviceVolume& mean, cudaStream_t stream) {
  EXPECTS(costs.planes >= 1 && costs.planes <= kMaxScanlinePlanes && costs.width >= 1 && costs.height >= 1);
  EXPECTS(mean.width == costs.width && mean.height == costs.height && mean.planes == costs.planes);
  EXPECTS(mean.pitch == costs.pitch && options.p1 >= 0.0f && options.p2 >= options.p1);
  ScanlineTable penalties{};
  for (int edge = 0; edge < 2; ++edge)
    for (int matched = 0; matched <= kUnseenStep; ++matched) {
      const ScanlinePenalties both =
          scanline_penalties(options, edge != 0, (matched == kUnseenStep ? edge : matched) != 0);
      penalties.penalties[3 * edge + matched] = make_float2(both.p1, both.p2);
    }
  const ScanlineArgs args{costs, mean, edges, penalties};
  launch_scanline_rows(args, stream);
  launch_scanline_columns(args, stream);
}

}  // namespace recon::cuda
