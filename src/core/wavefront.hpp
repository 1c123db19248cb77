#pragma once

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"

namespace recon {

/// Traversal of a wavefront: bands of `band_rows` rows, one worker per band, in segments of `columns`.
struct WavefrontShape {
  int workers = 1;
  int band_rows = 1;
  int columns = 32;

  /// Rows processed at the same time are less than this apart.
  int rows_in_work() const { return workers * band_rows; }
};

/// Calls `body(worker, row, begin, end)` for all segments [begin, end) of all rows, the segments of a row in
/// order; before a segment, the row above is finished up to and including column `end`. Each row of a band
/// follows the row above by one segment, so that shared data stays in the cache; bands run in parallel, each
/// delayed relative to the one above. The result does not depend on the number of workers if segments have no
/// other dependencies. An exception of one segment ends the loop and is rethrown.
/// @throws Interrupted between segments once the user has requested a stop
template <class Body>
void wavefront(int rows, int columns, const WavefrontShape& shape, const Body& body) {
  struct alignas(64) FinishedColumns {
    std::atomic<int> columns{0};
  };
  const int bands = (rows + shape.band_rows - 1) / shape.band_rows;
  const int pieces = (columns + shape.columns - 1) / shape.columns;
  std::vector<FinishedColumns> done(static_cast<std::size_t>(bands));
  std::atomic<int> next{0};
  std::atomic<bool> failed{false};
  const auto wait_for_band_above = [&](int band, int end) {
    if (band == 0) return;
    const std::atomic<int>& above = done[band - 1].columns;
    const int needed = std::min(end + 1, columns);
    for (int tries = 0; above.load(std::memory_order_acquire) < needed && !failed; ++tries)
      if (tries > 200) std::this_thread::yield();
  };
  const auto work_on_band = [&](int worker, int band) {
    const int first = band * shape.band_rows, count = std::min(shape.band_rows, rows - first);
    for (int step = 0; step < pieces + count - 1; ++step) {
      check_interrupted();
      for (int j = std::max(0, step - pieces + 1); j <= std::min(step, count - 1) && !failed; ++j) {
        const int begin = (step - j) * shape.columns, end = std::min(begin + shape.columns, columns);
        if (j == 0) wait_for_band_above(band, end);
        if (failed) return;
        body(worker, first + j, begin, end);
        if (j == count - 1) done[band].columns.store(end, std::memory_order_release);
      }
    }
  };
  parallel_for(shape.workers, [&](int worker) {
    try {
      // A parallel loop inside a segment must not start another worker of this wavefront while this one holds
      // its band. Bands are taken in order, so the band that a worker waits for is always being processed.
      oneapi::tbb::this_task_arena::isolate([&] {
        for (int band = next++; band < bands && !failed; band = next++) work_on_band(worker, band);
      });
    } catch (...) {
      failed = true;
      throw;
    }
  });
}

}  // namespace recon
