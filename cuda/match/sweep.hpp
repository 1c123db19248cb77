#pragma once

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/hd.hpp"
#include "match/cost_options.hpp"
#include "match/warp_step.hpp"

namespace recon::cuda {

/// Layout of the pixels of a source in device memory.
enum class SourceStorage {
  kQuads,  ///< four neighbours per word: (x, y), (x+1, y), (x, y+1), (x+1, y+1) from the low byte up, borders
           ///< replicated; the upper two, (x, y) and (x+1, y), as 255 minus the pixel
  kBytes,  ///< plain 8-bit rows: a quarter of the memory, four loads per sample
};

/// Exclusive-or mask between the pixels of a quad and its stored word.
inline constexpr std::uint32_t kUpperPixels = 0x0000FFFF;

/// One source view as the sweep kernels read it; rows are `pitch` elements apart.
struct DeviceSource {
  SourceWarp warp;           ///< from the reference
  int width, height, pitch;  ///< pixels, and elements of the storage
  const void* channel[3];    ///< one, or red, green and blue
};

/// Arguments of a launch of a sweep kernel; passed by value, so in constant memory. A launch covers the
/// reference rows [row_begin, row_end) and the planes [plane_begin, plane_end).
struct SweepArgs {
  DeviceSource source[kMaxSources];
  int sources;
  SourceStorage storage;

  const std::uint8_t* reference[3];
  int reference_pitch;  ///< bytes
  int width, height;    ///< of the reference

  PlaneSet planes;
  int plane_begin, plane_end;
  int planes_per_block;  ///< planes that one thread block processes
  int row_begin, row_end;

  int radius;  ///< of the window
  Combination combination;
  int best_k;  ///< 1 for Combination::kMinimum

  /// Costs as half bits by (y - row_begin, d - plane_begin, x), rows `volume_pitch` elements apart.
  std::uint16_t* volume;
  std::ptrdiff_t volume_pitch;
};

/// A thread block computes the outputs of a tile of the reference; with the halo of the window these are
/// kTileColumns samples in each of its rows, whose number depends on the kernel.
inline constexpr int kTileColumns = 128;
inline constexpr int kOutputColumns = 8;  ///< outputs of a thread: 8 columns of 2 rows

RECON_HD constexpr int tile_width(int radius) {
  return (kTileColumns - 2 * radius) / kOutputColumns * kOutputColumns;
}
/// The rows of a tile of the least shared memory; 0 for a cost that has no kernel.
constexpr int tile_rows(CostKind cost) {
  return cost == CostKind::kZncc ? 32 : cost == CostKind::kSad ? 64 : 0;
}
constexpr bool has_sweep_kernel(CostKind cost) {
  return tile_rows(cost) > 0;
}
/// The fewest rows that are worth a launch: such a tile without its halo.
constexpr int tile_height(CostKind cost, int radius) {
  return tile_rows(cost) - 2 * radius;
}

/// Visibility of a rectangle of the reference in a source, on one plane.
enum class Coverage : std::uint8_t {
  kNothing,  ///< `sample_position(...).inside` is false for every sample
  kAll,      ///< it is true for every sample, and no position needs clamping
  kSome,     ///< anything else, and whatever cannot be decided cheaply
};

/// Classifies the reference indices [x0, x1] x [y0, y1] on the plane of inverse depth `w`.
///
/// Depth ratio and numerators are affine in (x, y), so if the ratio is positive at the four corners, the
/// extremes of the position lie at corners. A margin of one pixel covers rounding: the error of each
/// numerator is at most four roundings of its largest term; the result is kSome if that could exceed 0.4
/// pixels.
RECON_HD Coverage tile_coverage(const SourceWarp& s, float w, int x0, int x1, int y0, int y1, int width,
                                int height) {
  const float rounding = 4.0f / 16777216.0f;
  const float margin = static_cast<float>(kSubpixels);
  const float fx1 = static_cast<float>(x1), fy1 = static_cast<float>(y1);
  float largest[3];
  for (int i = 0; i < 3; ++i)
    largest[i] =
        fabsf(s.a[3 * i]) * fx1 + fabsf(s.a[3 * i + 1]) * fy1 + fabsf(s.a[3 * i + 2]) + fabsf(s.b[i] * w);

  float ratio_min = 1e30f, ratio_max = -1e30f;
  float u_min = 1e30f, u_max = -1e30f, v_min = 1e30f, v_max = -1e30f;
  for (int corner = 0; corner < 4; ++corner) {
    const float fx = static_cast<float>(corner & 1 ? x1 : x0);
    const RowWarp r = row_warp(s, w, corner & 2 ? y1 : y0);
    const float ratio = r.aw * fx + r.bw;
    const float inverse = 1.0f / (ratio > kMinDepthRatio ? ratio : 1.0f);
    const float u = (r.ax * fx + r.bx) * inverse, v = (r.ay * fx + r.by) * inverse;
    ratio_min = ratio < ratio_min ? ratio : ratio_min;
    ratio_max = ratio > ratio_max ? ratio : ratio_max;
    u_min = u < u_min ? u : u_min;
    u_max = u > u_max ? u : u_max;
    v_min = v < v_min ? v : v_min;
    v_max = v > v_max ? v : v_max;
  }

  const float ratio_error = rounding * largest[2];
  if (!(ratio_error < 0.1f * kMinDepthRatio)) return Coverage::kSome;
  if (ratio_max < 0.5f * kMinDepthRatio) return Coverage::kNothing;
  if (!(ratio_min > 10.0f * kMinDepthRatio)) return Coverage::kSome;

  const float u_last = static_cast<float>((width - 1) * kSubpixels);
  const float v_last = static_cast<float>((height - 1) * kSubpixels);
  const float u_reach = fabsf(u_min) > fabsf(u_max) ? fabsf(u_min) : fabsf(u_max);
  const float v_reach = fabsf(v_min) > fabsf(v_max) ? fabsf(v_min) : fabsf(v_max);
  const float u_error = (rounding * largest[0] + u_reach * ratio_error) / ratio_min + rounding * u_reach;
  const float v_error = (rounding * largest[1] + v_reach * ratio_error) / ratio_min + rounding * v_reach;
  const bool u_known = u_error < 0.4f * margin, v_known = v_error < 0.4f * margin;
  if (u_known && (u_max < -margin || u_min > u_last + margin)) return Coverage::kNothing;
  if (v_known && (v_max < -margin || v_min > v_last + margin)) return Coverage::kNothing;
  const bool all = u_known && v_known && u_min >= margin && u_max <= u_last - margin && v_min >= margin &&
                   v_max <= v_last - margin;
  return all ? Coverage::kAll : Coverage::kSome;
}

/// Thread blocks per range of planes of a launch over `rows` rows on the current device. @throws DeviceError
int tile_count(int width, int rows, const CostOptions& options, int channels);

/// The number of planes per thread block that keeps the whole device busy to the end of a launch.
/// @param blocks_per_wave  resident thread blocks
/// @param max_planes       see max_planes_per_block
/// @param most_ranges      max number of ranges of planes, unless max_planes requires more
int planes_per_block(int tiles, int planes, int max_planes, int blocks_per_wave, int most_ranges);

/// The max number of planes that a thread block can process on the current device. @throws DeviceError
int max_planes_per_block(const CostOptions& options, int channels, int sources);

/// Launches the sweep of `args` on `stream`; the costs are those of recon::sweep_by_tiles to the bit. Source:
/// E. Achten 2025.
/// @param channels  1, or 3 for a cost that sums over them
/// @throws std::logic_error if a range is empty or too large for a thread block; DeviceError
void launch_sweep(const SweepArgs& args, const CostOptions& options, int channels, cudaStream_t stream);

/// Queues the packing of bytes into quads (SourceStorage::kQuads).
/// @param pixel_pitch, quad_pitch  elements from one row to the next
/// @param[out] quads               `height` rows
/// @throws DeviceError
void launch_quads(const std::uint8_t* pixels, int pixel_pitch, int width, int height, std::uint32_t* quads,
                  int quad_pitch, cudaStream_t stream);

/// Thread blocks of the sweep kernel that are resident on the current device. @throws DeviceError
int blocks_per_wave(const CostOptions& options, int channels);

}  // namespace recon::cuda
