#pragma once

#include <cstddef>
#include <functional>

#include "core/half.hpp"
#include "core/volume.hpp"
#include "match/cpu_sweep.hpp"

namespace recon {

/// Tile size such that the costs of a tile fit a core's share of the cache, and that tile plus window fill
/// whole vectors.
struct TileSize {
  int width, height;
  std::size_t volume_bytes;
};
TileSize sweep_tile_size(int width, int height, int planes, int window);

/// The number of tiles of a view.
int sweep_tile_count(int width, int height, int planes, int window);

/// Receives the costs of a tile.
using TileSink = std::function<void(const Tile& tile, VolumeView<const Half> costs)>;

/// Sweeps the whole reference tile by tile, on the threads of the surrounding task arena; `sink` is called
/// once per tile, in any order, concurrently.
void sweep_by_tiles(const CpuSweep& sweep, const TileSink& sink);

}  // namespace recon
