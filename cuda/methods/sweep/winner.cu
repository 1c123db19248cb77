#include <cuda_fp16.h>

#include "cuda/device/error.hpp"
#include "cuda/methods/sweep/winner.hpp"
#include "methods/sweep/depth_step.hpp"

namespace recon::cuda {
namespace {

__device__ float cost_of_bits(std::uint32_t bits) {
  return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}
__device__ std::uint16_t bits_of_cost(float cost) {
  return __half_as_ushort(__float2half_rn(cost));
}

__device__ std::uint16_t& field_of(const WinnerFields& w, WinnerField field, int row, int x) {
  const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(field) * w.rows + row;
  return w.data[line * w.pitch + x];
}

__device__ WinnerRange load_range(const WinnerFields& w, int row, int x) {
  const std::uint32_t plane = field_of(w, kFieldPlane, row, x);
  WinnerRange r;
  r.winner.plane = plane == kNoWinner ? -1 : static_cast<int>(plane);
  r.winner.cost = cost_of_bits(field_of(w, kFieldCost, row, x));
  r.winner.before = cost_of_bits(field_of(w, kFieldBefore, row, x));
  r.winner.after = cost_of_bits(field_of(w, kFieldAfter, row, x));
  r.winner.second = cost_of_bits(field_of(w, kFieldSecond, row, x));
  r.first = cost_of_bits(field_of(w, kFieldFirst, row, x));
  r.last = cost_of_bits(field_of(w, kFieldLast, row, x));
  return r;
}

__device__ void store_range(const WinnerFields& w, int row, int x, const WinnerRange& r) {
  field_of(w, kFieldPlane, row, x) =
      static_cast<std::uint16_t>(r.winner.plane < 0 ? kNoWinner : r.winner.plane);
  field_of(w, kFieldCost, row, x) = bits_of_cost(r.winner.cost);
  field_of(w, kFieldBefore, row, x) = bits_of_cost(r.winner.before);
  field_of(w, kFieldAfter, row, x) = bits_of_cost(r.winner.after);
  field_of(w, kFieldSecond, row, x) = bits_of_cost(r.winner.second);
  field_of(w, kFieldFirst, row, x) = bits_of_cost(r.first);
  field_of(w, kFieldLast, row, x) = bits_of_cost(r.last);
}

/// One thread scans two neighbouring pixels; rows are padded, so reading the second is safe even outside the
/// image.
__global__ void scan_kernel(const std::uint16_t* volume, std::ptrdiff_t volume_pitch, int plane_begin,
                            int planes, WinnerFields winners) {
  const int x = 2 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
            row = static_cast<int>(blockIdx.y);
  if (x >= winners.width) return;
  const std::uint16_t* costs = volume + static_cast<std::ptrdiff_t>(row) * planes * volume_pitch + x;
  WinnerScan scan[2];
  scan[0].clear();
  scan[1].clear();
  float first[2] = {invalid_cost(), invalid_cost()};
#pragma unroll 8
  for (int d = 0; d < planes; ++d) {
    const std::uint32_t pair = __ldg(reinterpret_cast<const std::uint32_t*>(costs + d * volume_pitch));
    const float cost[2] = {cost_of_bits(pair & 0xFFFFu), cost_of_bits(pair >> 16)};
    if (d == 0) first[0] = cost[0], first[1] = cost[1];
    scan[0].push(cost[0]);
    scan[1].push(cost[1]);
  }
  for (int i = 0; i < 2 && x + i < winners.width; ++i) {
    WinnerRange range{scan[i].winner, first[i], scan[i].previous};
    if (range.winner.plane >= 0) range.winner.plane += plane_begin;
    if (plane_begin > 0) range = joined(load_range(winners, row, x + i), range, plane_begin);
    store_range(winners, row, x + i, range);
  }
}

__global__ void depth_kernel(WinnerFields winners, PlaneSet planes, float* results, std::ptrdiff_t pitch) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), row = static_cast<int>(blockIdx.y);
  if (x >= winners.width) return;
  const WinnerDepth result = winner_depth(load_range(winners, row, x).winner, planes);
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(winners.rows) * pitch;
  float* pixel = results + static_cast<std::ptrdiff_t>(row) * pitch + x;
  pixel[0] = result.depth;
  pixel[size] = result.cost;
  pixel[2 * size] = result.confidence;
}

dim3 row_grid(int columns, int rows) {
  return {static_cast<unsigned>((columns + 127) / 128), static_cast<unsigned>(rows)};
}

}  // namespace

void launch_winner_scan(const std::uint16_t* volume, std::ptrdiff_t volume_pitch, int plane_begin, int planes,
                        const WinnerFields& winners, cudaStream_t stream) {
  scan_kernel<<<row_grid((winners.width + 1) / 2, winners.rows), 128, 0, stream>>>(
      volume, volume_pitch, plane_begin, planes, winners);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_winner_depth(const WinnerFields& winners, const PlaneSet& planes, float* results,
                         std::ptrdiff_t pitch, cudaStream_t stream) {
  depth_kernel<<<row_grid(winners.width, winners.rows), 128, 0, stream>>>(winners, planes, results, pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
