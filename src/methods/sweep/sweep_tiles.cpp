#include "methods/sweep/sweep_tiles.hpp"

#include <algorithm>

#include "core/parallel.hpp"

namespace recon {
namespace {

constexpr int kTileColumns = 128;
constexpr int kTileHeight = 64;
constexpr int kMinTileHeight = 8;
constexpr std::size_t kTileBytes = std::size_t{8} << 20;

}  // namespace

TileSize sweep_tile_size(int width, int height, int planes, int window) {
  TileSize tile{std::min(width, kTileColumns - window + 1), std::min(height, kTileHeight), 0};
  tile.volume_bytes = Volume<Half>::bytes(tile.width, planes, tile.height);
  while (tile.volume_bytes > kTileBytes && tile.height > kMinTileHeight) {
    tile.height = std::max(kMinTileHeight, tile.height / 2);
    tile.volume_bytes = Volume<Half>::bytes(tile.width, planes, tile.height);
  }
  return tile;
}

int sweep_tile_count(int width, int height, int planes, int window) {
  const TileSize tile = sweep_tile_size(width, height, planes, window);
  return (width + tile.width - 1) / tile.width * ((height + tile.height - 1) / tile.height);
}

void sweep_by_tiles(const CpuSweep& sweep, const TileSink& sink) {
  const int width = sweep.reference.camera.width, height = sweep.reference.camera.height;
  const TileSize size = sweep_tile_size(width, height, sweep.planes.count, sweep.options.window);
  const int columns = (width + size.width - 1) / size.width;
  parallel_for(sweep_tile_count(width, height, sweep.planes.count, sweep.options.window), [&](int i) {
    const int x = i % columns * size.width, y = i / columns * size.height;
    const Tile tile{x, y, std::min(size.width, width - x), std::min(size.height, height - y)};
    Volume<Half> volume(tile.width, sweep.planes.count, tile.height);
    sweep_tile(sweep, tile, volume.view());
    sink(tile, volume.view());
  });
}

}  // namespace recon
