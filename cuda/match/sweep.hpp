#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/hd.hpp"
#include "match/sweep_options.hpp"
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
  SourceWarp warp;
  int width, height, pitch;
  const void* channel[3];
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

  Combination combination;
  int best_k;

  /// Costs as half bits by (y - row_begin, d - plane_begin, x), rows `volume_pitch` elements apart.
  std::uint16_t* volume;
  std::ptrdiff_t volume_pitch;
};

/// A thread block computes tile_width x tile_height outputs of the reference; with the halo of the window
/// these are kTileColumns samples in each of 64 rows, or of 32 if 64 would need more shared memory than small
/// GPUs have.
inline constexpr int kTileColumns = 128;
RECON_HD constexpr int tile_rows(CostKind cost) {
  return cost == CostKind::kZncc ? 32 : 64;
}
inline constexpr int kOutputColumns = 8;  ///< outputs of a thread: 8 columns of 2 rows

RECON_HD constexpr int tile_width(int radius) {
  return (kTileColumns - 2 * radius) / kOutputColumns * kOutputColumns;
}
RECON_HD constexpr int tile_height(CostKind cost, int radius) {
  return tile_rows(cost) - 2 * radius;
}

/// The max number of (plane, source) pairs whose coverage a thread block stores.
inline constexpr int kMaxSteps = 4096;

/// Thread blocks per range of planes of a launch over `rows` rows.
int tile_count(int width, int rows, const SweepOptions& options);

/// The number of planes per thread block that keeps the whole device busy to the end of a launch.
/// @param blocks_per_wave  resident thread blocks
/// @param most_ranges      max number of ranges of planes, unless kMaxSteps requires more
int planes_per_block(int tiles, int planes, int sources, int blocks_per_wave, int most_ranges);

/// Launches the sweep of `args` on `stream`. @throws DeviceError
void launch_sweep(const SweepArgs& args, const SweepOptions& options, int channels, cudaStream_t stream);

/// Packs rows of bytes into quads (SourceStorage::kQuads): `quads` has height rows of `quad_pitch` elements.
void launch_quads(const std::uint8_t* pixels, int pixel_pitch, int width, int height, std::uint32_t* quads,
                  int quad_pitch, cudaStream_t stream);

/// Thread blocks of the sweep kernel that are resident on the current device. @throws DeviceError
int blocks_per_wave(const SweepOptions& options, int channels);

}  // namespace recon::cuda
