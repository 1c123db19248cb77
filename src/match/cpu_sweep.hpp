#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/half.hpp"
#include "core/image.hpp"
#include "core/volume.hpp"
#include "match/cost_options.hpp"
#include "match/posed_image.hpp"
#include "match/warp_step.hpp"

namespace recon {

/// A grey source image laid out so that one 32-bit load fetches the four pixels of a bilinear sample: element
/// (x, y) holds pixel (x, y) in its low byte and pixel (x, y + 1) in its high byte. It has one column more
/// than the image; border pixels are repeated there (their weight is zero).
class SampledImage {
 public:
  SampledImage() = default;
  explicit SampledImage(ImageView<const std::uint8_t> image);
  /// The same in memory of others: `bytes` of it, aligned as a row of an image.
  SampledImage(ImageView<const std::uint8_t> image, std::uint16_t* memory);

  int width() const { return width_; }    ///< of the image
  int height() const { return height_; }  ///< of the image
  const std::uint16_t* data() const { return data_; }
  std::ptrdiff_t pitch() const { return pitch_; }

  /// Bytes of a sampled image of width x height pixels.
  static std::size_t bytes(int width, int height) {
    return static_cast<std::size_t>(padded_count<std::uint16_t>(width + 1)) *
           static_cast<std::size_t>(height) * 2;
  }

 private:
  int width_ = 0;
  int height_ = 0;
  std::ptrdiff_t pitch_ = 0;
  const std::uint16_t* data_ = nullptr;
  AlignedBuffer<std::uint16_t> own_;  ///< empty where the memory is that of others
};

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
  CostOptions cost;
};

/// Lays out the sources for sampling. The pixels of `reference` are referenced, not copied.
/// @param reference, sources  same number of channels, 1 or 3 (ZNCC: 1), sides 1 .. kMaxImageSide
/// @throws std::logic_error on options out of range
CpuSweep prepare_cpu_sweep(const PosedImage& reference, const std::vector<PosedImage>& sources,
                           const PlaneSet& planes, const CostOptions& options);

/// Replaces the reference of `sweep`; the sources stay the same.
/// @param sources  the sources that `sweep` was prepared with
void change_reference(CpuSweep& sweep, const PosedImage& reference, const std::vector<PosedImage>& sources);

/// The cost volume of one tile: volume(x, y, d) is the combined cost of pixel (tile.x + x, tile.y + y) on
/// plane d, as the nearest half; infinite where no source sees the sample. At offset (i, j) the window
/// compares the reference pixel and the warped source pixel at (x + i, y + j), clamped to the reference
/// image. A source sees a sample when the sample's own position lies inside it; the other samples of the
/// window are clamped to the source image. Single-threaded; deterministic, the same bits on every processor.
/// Cost: O(tile x planes x sources that see it), independent of the window but for the horizontal sums.
/// Source: E. Achten 2025, Algorithm 1; running sums: F. Crow 1984 and Stam 2008; best K: Gallup et al., CVPR
/// 2007.
/// @param[out] volume  tile.width x planes x tile.height
void sweep_tile(const CpuSweep& sweep, const Tile& tile, VolumeView<Half> volume);

/// The name of the instruction set that `sweep_tile` uses on this processor, such as "AVX3".
const char* sweep_instruction_set();

/// Tile size such that the costs of a tile fit a core's share of the cache, and that tile plus window fill
/// whole vectors.
struct TileSize {
  int width, height;
  std::size_t volume_bytes;
};
TileSize sweep_tile_size(int width, int height, int planes, int window);

/// Receives the costs of a tile.
using TileSink = std::function<void(const Tile& tile, VolumeView<const Half> costs)>;

/// Sweeps the whole reference tile by tile, on the threads of the surrounding task arena; `sink` is called
/// once per tile, in any order, concurrently.
void sweep_by_tiles(const CpuSweep& sweep, const TileSink& sink);

}  // namespace recon
