#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/wavefront.hpp"
#include "optimize/semi_global/path_buffers.hpp"
#include "optimize/semi_global/semi_global_options.hpp"

namespace recon {

/// Columns that a worker of the semi-global optimizer processes at a time.
inline constexpr int kPathColumns = 32;

/// Whether path costs need 16 bits.
inline bool wide_path_costs(const SemiGlobalOptions& options, int max_cost) {
  return max_cost + options.p2 > 255;
}

/// Whether the sums of L - C over the paths of one pass need 16 bits.
inline bool wide_path_sums(const SemiGlobalOptions& options, int max_cost) {
  return wide_path_costs(options, max_cost) || options.paths / 2 * options.p2 > 255;
}

/// Division of the image into blocks of rows by the semi-global optimizer. The sums of one block are in
/// memory at a time. Each block is processed three times, the first one twice.
struct PathBlocks {
  /// @param cell_bytes  bytes of the costs and sums per pixel and plane
  PathBlocks(int width, int height, int planes, std::size_t cell_bytes, int threads)
      : wave(wave_shape(width, threads)) {
    const double row_bytes =
        static_cast<double>(cell_bytes) * width * static_cast<double>(cost_stride(planes));
    const int cached = static_cast<int>(std::min(double{kCachedBytes} / row_bytes, 1e9));
    const int balanced = static_cast<int>(std::sqrt(static_cast<double>(height))) + 1;
    const int round = wave.rows_in_work(), rounds = std::max({balanced / round, 2, cached / round});
    rows = std::min(rounds * round, height);  // whole rounds: no worker waits for the last bands of others
    blocks = (height + rows - 1) / rows;
  }

  /// Blocks of this size mostly stay in the cache; with larger blocks fewer rows are processed twice.
  static constexpr int kCachedBytes = 24 << 20;

  WavefrontShape wave;
  int rows, blocks;

 private:
  static constexpr int kMaxBandRows = 8;

  /// Max rows per band that keep all threads busy; each band lags one piece per row behind the one above.
  static WavefrontShape wave_shape(int width, int threads) {
    const int pieces = (width + kPathColumns - 1) / kPathColumns;
    const int workers = std::clamp(threads, 1, std::max(1, pieces / 3));
    return {workers, std::clamp(pieces / (2 * workers), 1, kMaxBandRows), kPathColumns};
  }
};

}  // namespace recon
