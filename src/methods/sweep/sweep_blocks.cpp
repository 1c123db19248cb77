#include "methods/sweep/sweep_blocks.hpp"

#include <algorithm>

#include "optimize/semi_global/semi_global.hpp"

namespace recon {
namespace {

/// The borders of `count` nearly equal parts of [0, length).
std::vector<int> borders(int length, int count) {
  std::vector<int> result;
  for (int i = 0; i <= count; ++i)
    result.push_back(static_cast<int>(static_cast<long long>(length) * i / count));
  return result;
}

/// The max extent of a part with its margins.
int largest_extent(int length, int count) {
  const std::vector<int> border = borders(length, count);
  int largest = 0;
  for (std::size_t i = 0; i + 1 < border.size(); ++i)
    largest = std::max(
        largest, std::min(length, border[i + 1] + kBlockMargin) - std::max(0, border[i] - kBlockMargin));
  return largest;
}

struct Cut {
  int columns, rows;
};

/// The division with the fewest samples. For each number of columns the fewest rows that fit.
Cut best_cut(int width, int height, std::size_t max_pixels) {
  Cut best{0, 0};
  double min_samples = 1e300;
  for (int columns = 1; columns <= width; ++columns) {
    const auto block_width = static_cast<std::size_t>(largest_extent(width, columns));
    if (block_width < 4 * kBlockMargin && best.columns > 0) break;
    const auto fits = [&](int rows) {
      return block_width * static_cast<std::size_t>(largest_extent(height, rows)) <= max_pixels;
    };
    int rows = 1;
    while (rows < height && !fits(rows)) ++rows;
    if (!fits(rows)) continue;
    const double samples = static_cast<double>(block_width) * columns * largest_extent(height, rows) * rows;
    if (samples >= min_samples) continue;
    min_samples = samples;
    best = {columns, rows};
  }
  return best;
}

}  // namespace

std::vector<SweepBlock> sweep_blocks(int width, int height, int planes, std::size_t block_bytes) {
  EXPECTS(width >= 1 && height >= 1 && planes >= 1);
  const Cut cut = best_cut(width, height, block_bytes / static_cast<std::size_t>(cost_stride(planes)));
  EXPECTS(cut.columns > 0);
  const std::vector<int> xs = borders(width, cut.columns), ys = borders(height, cut.rows);
  std::vector<SweepBlock> blocks;
  for (std::size_t j = 0; j + 1 < ys.size(); ++j) {
    for (std::size_t i = 0; i + 1 < xs.size(); ++i) {
      const int left = std::max(0, xs[i] - kBlockMargin), right = std::min(width, xs[i + 1] + kBlockMargin);
      const int top = std::max(0, ys[j] - kBlockMargin), bottom = std::min(height, ys[j + 1] + kBlockMargin);
      blocks.push_back(
          {{left, top, right - left, bottom - top}, {xs[i], ys[j], xs[i + 1] - xs[i], ys[j + 1] - ys[j]}});
    }
  }
  return blocks;
}

std::vector<SweepBlock> volume_blocks(int width, int height, int planes, const SweepPaths& paths) {
  // At least one pixel with its margins, for any number of planes.
  const std::size_t min_bytes =
      element_count({2 * kBlockMargin + 1, 2 * kBlockMargin + 1, cost_stride(planes)});
  return sweep_blocks(width, height, planes, std::max(min_bytes, paths.block_bytes / sizeof(float)));
}

std::vector<SweepBlock> blocks_of(const SweepShape& shape) {
  const Tile view{0, 0, shape.width, shape.height};
  switch (cost_storage(shape.optimizer, shape.stages)) {
    case CostStorage::kFloats:
      return volume_blocks(shape.width, shape.height, shape.planes, shape.paths);
    case CostStorage::kBytes:
      return sweep_blocks(shape.width, shape.height, shape.planes, shape.paths.block_bytes);
    default:
      return {{view, view}};
  }
}

Tile largest_block(const std::vector<SweepBlock>& blocks) {
  Tile largest;
  for (const SweepBlock& block : blocks) {
    largest.width = std::max(largest.width, block.outer.width);
    largest.height = std::max(largest.height, block.outer.height);
  }
  return largest;
}

PosedImage cropped(const PosedImage& image, const Tile& tile) {
  PosedImage result = image;
  result.id = 0;
  result.camera.width = tile.width;
  result.camera.height = tile.height;
  result.camera.cx -= tile.x;
  result.camera.cy -= tile.y;
  for (int c = 0; c < image.channels; ++c) {
    ImageView<const std::uint8_t>& channel = result.channel[static_cast<std::size_t>(c)];
    channel = {channel.row(tile.y) + tile.x, tile.width, tile.height, channel.pitch};
  }
  return result;
}

void BlockResult::store(int x, int y, const WinnerDepth& result) const {
  const int column = block_.outer.x + x, row = block_.outer.y + y;
  const Tile& inner = block_.inner;
  if (column < inner.x || column >= inner.x + inner.width || row < inner.y || row >= inner.y + inner.height)
    return;
  view_.depth(column, row) = result.depth;
  view_.cost(column, row) = result.cost;
  view_.confidence(column, row) = result.confidence;
}

void keep_inner(const SweepBlock& block, const DepthEstimate& from, DepthEstimate& to) {
  const BlockResult result(block, to);
  for (int y = 0; y < block.outer.height; ++y)
    for (int x = 0; x < block.outer.width; ++x)
      result.store(x, y, {from.depth(x, y), from.cost(x, y), from.confidence(x, y)});
}

}  // namespace recon
