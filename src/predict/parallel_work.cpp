#include "predict/parallel_work.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include "core/error.hpp"
#include "optimize/belief/belief_layout.hpp"
#include "optimize/belief/belief_tiling.hpp"
#include "optimize/semi_global/path_pass.hpp"

namespace recon {
namespace {

/// The times at which workers are free, the next one first.
class FreeWorkers {
 public:
  explicit FreeWorkers(int count) {
    for (int i = 0; i < count; ++i) free_.push(0);
  }
  double next() {
    const double time = free_.top();
    free_.pop();
    return time;
  }
  void until(double time) {
    free_.push(time);
    last_ = std::max(last_, time);
  }
  double last() const { return last_; }

 private:
  std::priority_queue<double, std::vector<double>, std::greater<>> free_;
  double last_ = 0;
};

/// Messages of a tile of a level, all iterations together, a disparity.
double tile_messages(const BeliefLevel& level, const BeliefTiling& tiling, int index) {
  const BeliefTile tile = tiling.tile(level, index);
  double sum = 0;
  for (int stage = 1; stage + 1 < tiling.stages; ++stage) {
    const BeliefTile reach = tiling.reach(level, tile, stage);
    sum += static_cast<double>(kMessageCount) * (reach.x_end - reach.x_begin) * (reach.y_end - reach.y_begin);
  }
  return sum;
}

}  // namespace

double shared_work(const std::vector<double>& parts, int threads) {
  EXPECTS(threads >= 1);
  FreeWorkers workers(threads);
  for (const double part : parts) workers.until(workers.next() + part);
  return workers.last() * threads;
}

double shared_evenly(double work, int count, int threads) {
  EXPECTS(threads >= 1 && count >= 1);
  const int rounds = (count + threads - 1) / threads;
  return work / count * rounds * threads;
}

double wavefront_work(int rows, int columns, const WavefrontShape& shape, int threads) {
  const int pieces = (columns + shape.columns - 1) / shape.columns;
  // Pieces of a full band until its last row has two, or all.
  const int ahead = shape.band_rows * (shape.band_rows + 1) / 2 + (pieces > 1 ? shape.band_rows : 0);
  const double lead = std::min(ahead, pieces * shape.band_rows);
  FreeWorkers workers(shape.workers);
  double above = -lead;
  for (int row = 0; row < rows; row += shape.band_rows) {
    const double start = std::max(workers.next(), above + lead);
    workers.until(start + static_cast<double>(pieces) * std::min(shape.band_rows, rows - row));
    above = start;
  }
  return workers.last() * threads;
}

double path_work(int width, int height, int planes, const SemiGlobalOptions& options, int max_cost,
                 int threads) {
  const std::size_t cell = wide_path_sums(options, max_cost) ? 3 : 2;
  const PathBlocks plan(width, height, planes, cell, threads);
  double pieces = 0;
  for (int top = 0; top < height; top += plan.rows)
    pieces +=
        (top == 0 ? 2 : 3) * wavefront_work(std::min(plan.rows, height - top), width, plan.wave, threads);
  return pieces * kPathColumns * static_cast<double>(cost_stride(planes));
}

double belief_work(int width, int height, int planes, const BeliefOptions& options, int threads) {
  double work = 0;
  for (const BeliefLevel& level : belief_pyramid({width, height, planes}, options, 1).levels) {
    const BeliefTiling tiling(level, options.iterations, belief_storage_bytes(options.storage), threads);
    std::vector<double> tiles;
    for (int i = 0; i < tiling.columns * tiling.rows; ++i)
      tiles.push_back(planes * tile_messages(level, tiling, i));
    work += shared_work(tiles, threads);
  }
  return work;
}

}  // namespace recon
