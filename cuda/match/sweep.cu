#include <algorithm>

#include "cuda/device/grid.hpp"
#include "cuda/match/sweep.hpp"
#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {

int planes_per_block(int tiles, int planes, int max_planes, int blocks_per_wave, int most_ranges) {
  // The start-up of a thread block costs about as much as two planes.
  constexpr double kStart = 2.0;
  const int fewest = divided_up(planes, std::min(planes, max_planes));
  int best = divided_up(planes, fewest);
  double min_time = 1e300;
  for (int ranges = fewest; ranges <= std::max(fewest, std::min(most_ranges, planes)); ++ranges) {
    const int each = divided_up(planes, ranges);
    const long long blocks = static_cast<long long>(tiles) * divided_up(planes, each);
    const double time =
        static_cast<double>((blocks + blocks_per_wave - 1) / blocks_per_wave) * (each + kStart);
    if (time >= 0.999 * min_time) continue;
    min_time = time;
    best = each;
  }
  return best;
}

namespace {

CombineKind combine_kind(const CostOptions& options) {
  if (options.combination == Combination::kMinimum) return CombineKind::kBest1;
  if (options.combination == Combination::kBestK && options.best_k <= 2)
    return options.best_k == 1 ? CombineKind::kBest1 : CombineKind::kBest2;
  return CombineKind::kAny;
}

SweepInstance instance_for(const CostOptions& options, int channels) {
  const int radius = options.window / 2;
  const CombineKind combine = combine_kind(options);
  EXPECTS(has_sweep_kernel(options.kind));
  if (options.kind == CostKind::kZncc) {
    if (combine != CombineKind::kAny) {
      const SweepInstance tall = tall_zncc_instance(radius);
      if (fits(tall)) return tall;
    }
    return zncc_instance(radius, combine);
  }
  if (channels == 1) return grey_sad_instance(radius, combine);
  const SweepInstance usual = colour_sad_instance(radius, combine);
  return fits(usual) ? usual : low_colour_sad_instance();
}

/// One thread per pixel.
__global__ void quads_kernel(const std::uint8_t* pixels, int pixel_pitch, int width, int height,
                             std::uint32_t* quads, int quad_pitch) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const int right = min(x + 1, width - 1);
  const std::uint8_t* row = pixels + static_cast<std::size_t>(y) * pixel_pitch;
  const std::uint8_t* below = pixels + static_cast<std::size_t>(min(y + 1, height - 1)) * pixel_pitch;
  quads[static_cast<std::size_t>(y) * quad_pitch + x] =
      kUpperPixels ^
      (row[x] | static_cast<std::uint32_t>(row[right]) << 8 | static_cast<std::uint32_t>(below[x]) << 16 |
       static_cast<std::uint32_t>(below[right]) << 24);
}

}  // namespace

int tile_count(int width, int rows, const CostOptions& options, int channels) {
  const int radius = options.window / 2;
  return divided_up(width, tile_width(radius)) *
         divided_up(rows, instance_for(options, channels).rows - 2 * radius);
}

int max_planes_per_block(const CostOptions& options, int channels, int sources) {
  return instance_for(options, channels).max_steps / sources;
}

int blocks_per_wave(const CostOptions& options, int channels) {
  const SweepInstance instance = instance_for(options, channels);
  RECON_CUDA_TRY(cudaFuncSetAttribute(instance.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(instance.shared_bytes)));
  int device = 0, multiprocessors = 0, blocks = 0;
  RECON_CUDA_TRY(cudaGetDevice(&device));
  RECON_CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  RECON_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, instance.kernel, instance.threads,
                                                               instance.shared_bytes));
  return std::max(1, multiprocessors * blocks);
}

void launch_sweep(const SweepArgs& args, const CostOptions& options, int channels, cudaStream_t stream) {
  EXPECTS(args.sources >= 1 && args.sources <= kMaxSources && args.plane_begin < args.plane_end);
  const SweepInstance instance = instance_for(options, channels);
  EXPECTS(args.planes_per_block * args.sources <= instance.max_steps && args.row_begin < args.row_end);
  const int radius = options.window / 2;
  const dim3 grid(blocks_for(args.width, tile_width(radius)),
                  blocks_for(args.row_end - args.row_begin, instance.rows - 2 * radius),
                  blocks_for(args.plane_end - args.plane_begin, args.planes_per_block));
  RECON_CUDA_TRY(cudaFuncSetAttribute(instance.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(instance.shared_bytes)));
  instance.kernel<<<grid, instance.threads, instance.shared_bytes, stream>>>(args);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_quads(const std::uint8_t* pixels, int pixel_pitch, int width, int height, std::uint32_t* quads,
                  int quad_pitch, cudaStream_t stream) {
  const dim3 grid(blocks_for(width, 256), static_cast<unsigned>(height));
  quads_kernel<<<grid, 256, 0, stream>>>(pixels, pixel_pitch, width, height, quads, quad_pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
