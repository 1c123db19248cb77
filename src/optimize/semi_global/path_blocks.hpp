#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/wavefront.hpp"
#include "optimize/semi_global/path_buffers.hpp"
#include "optimize/semi_global/semi_global_options.hpp"

namespace recon {

/// Columns that a worker of the semi-global optimizer takes at a time.
inline constexpr int kPathColumns = 32;

/// Whether path costs need 16 bits.
inline bool wide_path_costs(const SemiGlobalOptions& options, int max_cost) {
  return max_cost + options.p2 > 255;
}

/// Whether what the paths of one pass add to the costs needs 16 bits.
inline bool wide_path_sums(const SemiGlobalOptions& options, int max_cost) {
  return wide_path_costs(options, max_cost) || options.paths / 2 * options.p2 > 255;
}

/// How the semi-global optimizer cuts the image into blocks of rows. The sums of one block are in memory at a
/// time. Each block but the first is gone over three times, the first twice.
struct PathBlocks {
  /// @param cell_bytes  of the costs and sums of a pixel and a plane
  PathBlocks(int width, int height, int planes, std::size_t cell_bytes, int threads)
      : wave(wave_shape(width, threads)) {
    const double row_bytes =
        static_cast<double>(cell_bytes) * width * static_cast<double>(padded_planes(planes));
    const int cached = static_cast<int>(std::min(double{kCachedBytes} / row_bytes, 1e9));
    const int balanced = static_cast<int>(std::sqrt(static_cast<double>(height))) + 1;
    const int round = wave.rows_in_work(), rounds = std::max({balanced / round, 2, cached / round});
    rows = std::min(rounds * round, height);  // whole rounds: no worker waits for the others' last band
    blocks = (height + rows - 1) / rows;
  }

  /// Blocks of this size hardly leave the cache; larger ones go over fewer rows twice.
  static constexpr int kCachedBytes = 24 << 20;

  WavefrontShape wave;
  int rows, blocks;

 private:
  static constexpr int kMaxBandRows = 8;

  /// As many rows in a band as leave work for all threads, whose bands are a band's rows of pieces apart.
  static WavefrontShape wave_shape(int width, int threads) {
    const int pieces = (width + kPathColumns - 1) / kPathColumns;
    const int workers = std::clamp(threads, 1, std::max(1, pieces / 3));
    return {workers, std::clamp(pieces / (2 * workers), 1, kMaxBandRows), kPathColumns};
  }
};

}  // namespace recon
