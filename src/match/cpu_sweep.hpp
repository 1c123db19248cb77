#pragma once

#include <vector>

#include "core/half.hpp"
#include "core/volume.hpp"
#include "match/posed_image.hpp"
#include "match/sampled_image.hpp"
#include "match/sweep_options.hpp"
#include "match/warp_step.hpp"

namespace recon {

/// A rectangle of the reference view.
struct Tile {
  int x = 0, y = 0, width = 0, height = 0;
};

/// A sweep prepared for the CPU: the reference, and each source laid out for sampling with its warp.
struct CpuSweep {
  struct Source {
    SourceWarp warp;
    std::vector<SampledImage> channels;
  };

  PosedImage reference;
  std::vector<Source> sources;
  PlaneSet planes;
  SweepOptions options;
};

/// Lays out the sources for sampling. The pixels of `reference` are referenced, not copied.
/// @param reference, sources  same number of channels, 1 or 3 (ZNCC: 1), sides 1 .. kMaxImageSide
/// @throws std::logic_error on options out of range
CpuSweep prepare_cpu_sweep(const PosedImage& reference, const std::vector<PosedImage>& sources,
                           const PlaneSet& planes, const SweepOptions& options);

/// Replaces the reference of `sweep`; the sources stay the same.
/// @param sources  the sources that `sweep` was prepared with
void change_reference(CpuSweep& sweep, const PosedImage& reference, const std::vector<PosedImage>& sources);

/// The cost volume of one tile: volume(x, y, d) is the combined cost of pixel (tile.x + x, tile.y + y) on
/// plane d, as the nearest half; infinite where no source sees the sample. At offset (i, j) the window
/// compares the reference pixel and the warped source pixel at (x + i, y + j), clamped to the reference
/// image. A source sees a sample when the sample's own position lies inside it; the other samples of the
/// window are clamped to the source image. Single-threaded; deterministic, the same bits on every processor.
/// Cost: O(tile x planes x sources), independent of the window except for the width of the horizontal sums.
/// Source: E. Achten 2025, Algorithm 1; running sums: F. Crow 1984 and Stam 2008; best K: Gallup et al., CVPR
/// 2007.
/// @param[out] volume  tile.width x planes x tile.height
void sweep_tile(const CpuSweep& sweep, const Tile& tile, VolumeView<Half> volume);

/// The name of the instruction set that `sweep_tile` uses on this processor, such as "AVX3".
const char* sweep_instruction_set();

}  // namespace recon
