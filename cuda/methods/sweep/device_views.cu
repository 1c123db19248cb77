#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/methods/sweep/device_views.hpp"
#include "match/ad_census_step.hpp"
#include "match/halved_step.hpp"

namespace recon::cuda {
namespace {

/// The image of a caller as kernels take it.
struct ViewPixels {
  const std::uint8_t* data;
  std::ptrdiff_t pitch;
  int width, channels;
};

__global__ void __launch_bounds__(kRefineThreads) import_view_kernel(ViewPixels from, ViewTarget to) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= from.width) return;
  const std::uint8_t* pixel = from.data + y * from.pitch + x * from.channels;
  const Rgb8 colour = from.channels == 1 ? Rgb8{*pixel, *pixel, *pixel} : Rgb8{pixel[0], pixel[1], pixel[2]};
  const std::ptrdiff_t at = y * to.pitch + x;
  if (to.channel[1] != nullptr) {
    to.channel[0][at] = colour.r;
    to.channel[1][at] = colour.g;
    to.channel[2][at] = colour.b;
  } else {
    to.channel[0][at] = from.channels == 1 ? colour.r : static_cast<std::uint8_t>(grey_of(colour));
  }
  if (to.colours != nullptr) to.colours[static_cast<std::ptrdiff_t>(y) * from.width + x] = colour;
}

__global__ void __launch_bounds__(kRefineThreads)
    halved_kernel(const std::uint8_t* pixels, std::ptrdiff_t pitch, int width, int height, std::uint8_t* half,
                  std::ptrdiff_t half_pitch) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (2 * x >= width) return;
  const std::uint8_t* top = pixels + 2 * y * pitch;
  const std::uint8_t* bottom = pixels + min(2 * y + 1, height - 1) * pitch;
  const int a = 2 * x, b = min(a + 1, width - 1);
  half[y * half_pitch + x] = halved_pixel(top[a], top[b], bottom[a], bottom[b]);
}

}  // namespace

void launch_import_view(const DevicePixels& from, const ViewTarget& to, cudaStream_t stream) {
  const ViewPixels pixels{from.data, from.pitch, from.width, from.channels};
  import_view_kernel<<<rows_grid(from.width, from.height), kRefineThreads, 0, stream>>>(pixels, to);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_halved(const std::uint8_t* pixels, std::ptrdiff_t pitch, int width, int height,
                   std::uint8_t* half, std::ptrdiff_t half_pitch, cudaStream_t stream) {
  halved_kernel<<<rows_grid((width + 1) / 2, (height + 1) / 2), kRefineThreads, 0, stream>>>(
      pixels, pitch, width, height, half, half_pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
