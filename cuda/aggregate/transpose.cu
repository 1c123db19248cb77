#include <cstdint>

#include "cuda/aggregate/cross_passes.hpp"
#include "cuda/device/error.hpp"

namespace recon::cuda {
namespace {

constexpr int kTile = 32, kRows = 8;

/// 32-bit elements with a row pitch.
struct Plane {
  std::uint32_t* data;
  std::ptrdiff_t row, plane;
};

/// A thread block transposes a tile of one plane.
template <class Change>
__global__ void __launch_bounds__(kTile* kRows)
    turn_kernel(Plane from, int width, int height, Plane to, Change change) {
  __shared__ std::uint32_t tile[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x), first_x = static_cast<int>(blockIdx.x) * kTile,
            first_y = static_cast<int>(blockIdx.y) * kTile;
  const std::uint32_t* in = from.data + blockIdx.z * from.plane;
  std::uint32_t* out = to.data + blockIdx.z * to.plane;
  for (int y = static_cast<int>(threadIdx.y); y < kTile; y += kRows)
    if (first_x + x < width && first_y + y < height) tile[y][x] = in[(first_y + y) * from.row + first_x + x];
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.y); y < kTile; y += kRows)
    if (first_y + x < height && first_x + y < width)
      out[(first_x + y) * to.row + first_y + x] = change(tile[x][y]);
}

struct Same {
  __device__ std::uint32_t operator()(std::uint32_t word) const { return word; }
};
struct ExchangeArms {
  __device__ std::uint32_t operator()(std::uint32_t cross) const { return cross << 16 | cross >> 16; }
};

template <class Change>
void transpose(const Plane& from, int width, int height, int planes, const Plane& to, Change change,
               cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((width + kTile - 1) / kTile),
                  static_cast<unsigned>((height + kTile - 1) / kTile), static_cast<unsigned>(planes));
  turn_kernel<<<grid, dim3(kTile, kRows), 0, stream>>>(from, width, height, to, change);
  RECON_CUDA_TRY(cudaGetLastError());
}

Plane plane_of(const DeviceVolume& volume) {
  return {reinterpret_cast<std::uint32_t*>(volume.data), volume.planes * volume.pitch, volume.pitch};
}

}  // namespace

void queue_transpose(const DeviceVolume& volume, const DeviceVolume& transposed, cudaStream_t stream) {
  transpose(plane_of(volume), volume.width, volume.height, volume.planes, plane_of(transposed), Same{},
            stream);
}

void queue_transpose(const Cross* crosses, std::ptrdiff_t pitch, int width, int height, Cross* transposed,
                     std::ptrdiff_t transposed_pitch, cudaStream_t stream) {
  const auto words = [](const Cross* image) {
    return const_cast<std::uint32_t*>(reinterpret_cast<const std::uint32_t*>(image));
  };
  transpose(Plane{words(crosses), pitch, 0}, width, height, 1, Plane{words(transposed), transposed_pitch, 0},
            ExchangeArms{}, stream);
}

}  // namespace recon::cuda
