#include "cuda/device/error.hpp"
#include "cuda/match/cross_arms.hpp"

namespace recon::cuda {
namespace {

constexpr int kThreads = 128;

/// One thread per arm; threadIdx.y is the direction.
__global__ void __launch_bounds__(4 * kThreads)
    arms_kernel(DeviceColours image, CrossOptions options, std::uint8_t* lengths, std::ptrdiff_t pitch) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= image.width) return;
  const int direction = static_cast<int>(threadIdx.y);  // left, right, up, down
  const bool forward = direction % 2 == 1, along_row = direction < 2;
  const int at = along_row ? x : y, size = along_row ? image.width : image.height;
  const std::ptrdiff_t step = (forward ? 1 : -1) * (along_row ? std::ptrdiff_t{1} : image.pitch);
  const Rgb8* centre = image.pixels + y * image.pitch + x;
  const int length =
      arm_length(options, forward ? size - 1 - at : at, [&](int k) { return centre[k * step]; });
  lengths[4 * (y * pitch + x) + direction] = static_cast<std::uint8_t>(length);
}

}  // namespace

void queue_cross_arms(const DeviceColours& image, const CrossOptions& options, Cross* crosses,
                      std::ptrdiff_t pitch, cudaStream_t stream) {
  EXPECTS(options.reach >= 1 && options.reach <= 256);
  EXPECTS(options.near_reach >= 0 && options.near_reach <= 256);
  EXPECTS(options.colour >= 0 && options.colour <= 256);
  EXPECTS(options.strict_colour >= 0 && options.strict_colour <= 256);
  static_assert(sizeof(Cross) == 4, "a length for each direction, left, right, up, down");
  if (image.width == 0 || image.height == 0) return;
  const dim3 grid(static_cast<unsigned>((image.width + kThreads - 1) / kThreads),
                  static_cast<unsigned>(image.height));
  arms_kernel<<<grid, dim3(kThreads, 4), 0, stream>>>(image, options,
                                                      reinterpret_cast<std::uint8_t*>(crosses), pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
