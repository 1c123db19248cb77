#pragma once

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "core/parallel.hpp"

namespace recon {

/// Number of rows that `wavefront` works on at a time at most.
inline int wavefront_workers(int rows, int threads) {
  return std::clamp(threads, 1, std::max(rows, 1));
}

/// Calls `body(worker, row, begin, end)` for all pieces [begin, end) of `step` columns of all rows, the
/// pieces of a row in order; before a piece, the row above it is done up to column `end` inclusive (one
/// column further). Rows run in parallel, one behind the other; `worker`, 0 .. workers - 1, tells apart those
/// that run at the same time, of which no two are `workers` or more rows apart. The result does not depend on
/// the number of threads when pieces depend on nothing else. An exception of one piece ends the loop and is
/// thrown on.
template <class Body>
void wavefront(int rows, int columns, int step, int workers, const Body& body) {
  struct alignas(64) Progress {
    std::atomic<int> columns{0};
  };
  std::vector<Progress> done(static_cast<std::size_t>(rows));
  std::atomic<int> next{0};
  std::atomic<bool> failed{false};
  const auto wait_for_row_above = [&](int row, int end) {
    if (row == 0) return;
    const std::atomic<int>& above = done[static_cast<std::size_t>(row) - 1].columns;
    const int needed = std::min(end + 1, columns);
    for (int tries = 0; above.load(std::memory_order_acquire) < needed && !failed; ++tries)
      if (tries > 200) std::this_thread::yield();
  };
  const auto work = [&](int worker) {
    // Rows are taken in order, so that the row a worker waits for is always in work.
    for (int row = next++; row < rows && !failed; row = next++) {
      for (int begin = 0; begin < columns && !failed; begin += step) {
        const int end = std::min(begin + step, columns);
        wait_for_row_above(row, end);
        if (failed) return;
        body(worker, row, begin, end);
        done[static_cast<std::size_t>(row)].columns.store(end, std::memory_order_release);
      }
    }
  };
  parallel_for(workers, [&](int worker) {
    try {
      // A parallel loop inside a piece must not take up another worker while this one holds its row.
      oneapi::tbb::this_task_arena::isolate([&] { work(worker); });
    } catch (...) {
      failed = true;
      throw;
    }
  });
}

}  // namespace recon
