#include "methods/sweep/semi_global_sweep.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "methods/sweep/semi_global_depth.hpp"
#include "methods/sweep/sweep_blocks.hpp"
#include "methods/sweep/sweep_tiles.hpp"
#include "optimize/semi_global/semi_global.hpp"

namespace recon {
namespace {

/// Lookup table of the quantized cost of every non-negative half by its bits.
std::vector<std::uint8_t> code_table(float cap) {
  std::vector<std::uint8_t> table(kHalfInfinityBits + 1);
  for (std::size_t bits = 0; bits < table.size(); ++bits)
    table[bits] = quantized_cost(to_float({static_cast<std::uint16_t>(bits)}), cap);
  return table;
}

/// The quantized costs of a block of the view by (y, x, d).
class BlockCosts : public CostSource {
 public:
  BlockCosts(int width, int height, int planes)
      : width_(width),
        planes_(planes),
        stride_(code_stride(planes)),
        codes_(element_count({stride_, width, height})) {}

  int max_cost() const override { return kInvalidCode; }

  void fill(int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) const override {
    for (int i = 0; i < count; ++i)
      std::memcpy(costs + i * stride, pixel(first + i, y), static_cast<std::size_t>(planes_));
  }

  std::uint8_t code(int x, int y, int plane) const { return pixel(x, y)[plane]; }

  /// Quantizes and transposes the costs of a tile, one row of a group of planes at a time, so that source and
  /// destination stay in the cache.
  void store(const Tile& tile, VolumeView<const Half> costs, const std::vector<std::uint8_t>& table) {
    constexpr int kGroup = 64;
    for (int y = 0; y < tile.height; ++y)
      for (int begin = 0; begin < planes_; begin += kGroup)
        store_group(tile, costs, table, y, begin, std::min(begin + kGroup, planes_));
  }

 private:
  void store_group(const Tile& tile, VolumeView<const Half> costs, const std::vector<std::uint8_t>& table,
                   int y, int begin, int end) {
    std::uint8_t* first = codes_.data() + offset(tile.x, tile.y + y);
    for (int d = begin; d < end; ++d) {
      const Half* row = costs.row(y, d);
      for (int x = 0; x < tile.width; ++x) first[x * std::ptrdiff_t{stride_} + d] = table[row[x].bits];
    }
  }

  std::ptrdiff_t offset(int x, int y) const { return (std::ptrdiff_t{y} * width_ + x) * stride_; }
  const std::uint8_t* pixel(int x, int y) const { return codes_.data() + offset(x, y); }

  int width_, planes_, stride_;
  AlignedBuffer<std::uint8_t> codes_;
};

class SemiGlobalSweep {
 public:
  explicit SemiGlobalSweep(const SweepProblem& problem)
      : problem_(problem),
        cap_(cost_cap(problem.options.cost)),
        table_(code_table(cap_)),
        sweep_(prepare_cpu_sweep(problem.reference, problem.sources, problem.planes, problem.options)) {
    const int width = problem.reference.camera.width, height = problem.reference.camera.height;
    estimate_ = {Image<float>(width, height), Image<float>(width, height), Image<float>(width, height)};
  }

  DepthEstimate run() {
    const Pinhole& camera = problem_.reference.camera;
    for (const SweepBlock& block :
         sweep_blocks(camera.width, camera.height, problem_.planes.count, problem_.paths.block_bytes))
      do_block(block);
    return std::move(estimate_);
  }

 private:
  void do_block(const SweepBlock& block) {
    const PosedImage reference = cropped(problem_.reference, block.outer);
    change_reference(sweep_, reference, problem_.sources);
    BlockCosts costs(block.outer.width, block.outer.height, problem_.planes.count);
    sweep_by_tiles(
        sweep_, [&](const Tile& tile, VolumeView<const Half> volume) { costs.store(tile, volume, table_); });
    SemiGlobalProblem paths;
    paths.costs = &costs;
    paths.planes = problem_.planes.count;
    paths.guide = reference.channel[0];
    paths.options = problem_.paths.penalties;
    semi_global(paths, [&](int y, const PathWinner* winners, const std::uint16_t*) {
      store_row(block, costs, y, winners);
    });
  }

  /// Stores the inner part of row `y` of the block.
  void store_row(const SweepBlock& block, const BlockCosts& costs, int y, const PathWinner* winners) {
    const int row = block.outer.y + y;
    if (row < block.inner.y || row >= block.inner.y + block.inner.height) return;
    for (int column = block.inner.x; column < block.inner.x + block.inner.width; ++column) {
      const int x = column - block.outer.x;
      const WinnerDepth result =
          semi_global_depth(winners[x], costs.code(x, y, winners[x].plane), cap_, problem_.planes);
      estimate_.depth(column, row) = result.depth;
      estimate_.cost(column, row) = result.cost;
      estimate_.confidence(column, row) = result.confidence;
    }
  }

  const SweepProblem& problem_;
  float cap_;
  std::vector<std::uint8_t> table_;
  CpuSweep sweep_;
  DepthEstimate estimate_;
};

}  // namespace

DepthEstimate semi_global_sweep(const SweepProblem& problem) {
  return SemiGlobalSweep(problem).run();
}

std::size_t semi_global_sweep_bytes(int width, int height, int planes, const SweepPaths& paths, int threads) {
  const Tile block = largest_block(sweep_blocks(width, height, planes, paths.block_bytes));
  return element_count({block.width, block.height, code_stride(planes)}) +
         semi_global_bytes(block.width, block.height, planes, paths.penalties, kInvalidCode, threads) +
         kHalfInfinityBits + 1;
}

}  // namespace recon
