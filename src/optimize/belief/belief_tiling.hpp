#pragma once

#include <algorithm>
#include <cstddef>

#include "optimize/belief/belief_layout.hpp"
#include "optimize/belief/belief_propagation.hpp"
#include "optimize/belief/belief_step.hpp"

namespace recon {

/// Columns are processed in multiples of this, the max number of SIMD lanes.
inline constexpr int kBeliefColumnStep = 16;
/// Scratch floats of an update per disparity.
inline constexpr int kBeliefScratch = 4 * kBeliefColumnStep;
/// The largest finite half.
inline constexpr float kMostHalf = 65504.0f;

/// The pixels of one parity in one row; in each array, disparity d is at an offset of d times the pitch.
template <class T>
struct BeliefRow {
  const T* cost;
  const T *above, *below, *left, *right;  ///< incoming messages, at column 0
  std::ptrdiff_t cost_pitch, pitch;       ///< of the costs; of all other arrays except:
  std::ptrdiff_t above_pitch,
      below_pitch;                      ///< 0 if there is no row and `above` or `below` points to zeros
  int first_with_left, end_with_right;  ///< columns outside have no left or right neighbour
  T* sent[kMessageCount];
  int disparities;
  float cap;
};

/// Costs of two rows for one disparity, by parity of x.
template <class T>
struct BeliefQuads {
  const T *upper_even, *upper_odd, *lower_even, *lower_odd;
  int even_columns, odd_columns;
};

/// Arguments of `propagate_beliefs`.
struct BeliefProblem {
  BeliefShape shape;
  BeliefOptions options;
  float cap;  ///< truncation of the smoothness
  const BeliefCosts& costs;
};

/// Part of a level that one thread processes in all iterations.
struct BeliefTile {
  int x_begin, x_end, y_begin, y_end;
};

/// Tiling of a level. All stages (costs and initial messages; the iterations; the result) advance through the
/// rows of the tile together, each one row behind the previous stage, so that only `ring_rows` rows of costs
/// and messages are stored at a time and fit the caches. A stage needs the results of the previous stage at
/// the neighbouring pixels, so each tile also computes a margin around it, which is wider for earlier stages.
struct BeliefTiling {
  int stages;
  int ring_rows;
  int columns, tile_width, tile_height;  ///< tiles without margins
  int rows;

  BeliefTiling(const BeliefLevel& level, int iterations, std::size_t stored_bytes, int threads)
      : stages(iterations + 2), ring_rows(stages + 1) {
    constexpr std::ptrdiff_t kRingBytes = 3 << 20;
    const std::ptrdiff_t pixel =
        std::ptrdiff_t{1 + kMessageCount} * level.disparities * static_cast<int>(stored_bytes);
    const std::ptrdiff_t whole = kRingBytes / (pixel * ring_rows) / 32 * 32;
    const std::ptrdiff_t beyond = std::ptrdiff_t{2} * margin(0);
    // At least half of the processed pixels belong to the tile itself.
    const std::ptrdiff_t wide = std::max(whole - beyond, beyond + 1) / 2 * 2;
    tile_width = static_cast<int>(std::min<std::ptrdiff_t>(wide, level.width));
    columns = (level.width + tile_width - 1) / tile_width;
    const int most_rows = std::max(1, level.height / (8 * margin(0)));
    rows = std::clamp((4 * threads + columns - 1) / columns, 1, most_rows);
    tile_height = (level.height + rows - 1) / rows;
    rows = (level.height + tile_height - 1) / tile_height;
  }

  /// Width of the margin of a stage, pixels.
  int margin(int stage) const { return stages - 1 - stage; }

  BeliefTile tile(const BeliefLevel& level, int i) const {
    const int x = i % columns * tile_width, y = i / columns * tile_height;
    return {x, std::min(x + tile_width, level.width), y, std::min(y + tile_height, level.height)};
  }

  /// Pixels that a stage processes: the tile with its margin, clipped to the image.
  BeliefTile reach(const BeliefLevel& level, const BeliefTile& tile, int stage) const {
    const int m = margin(stage);
    return {std::max(tile.x_begin - m, 0), std::min(tile.x_end + m, level.width),
            std::max(tile.y_begin - m, 0), std::min(tile.y_end + m, level.height)};
  }

  /// Ring buffer of the costs and messages of a tile, as a level that starts at an even x.
  BeliefLevel ring(const BeliefLevel& level) const {
    BeliefLevel r;
    r.width = std::min(level.width, tile_width + 2 * margin(0) + 1);
    r.height = level.height;
    r.disparities = level.disparities;
    r.rows = std::min(ring_rows, level.height);
    r.pitch = belief_pitch((r.width + 1) / 2 + kBeliefColumnStep);
    r.costs = 0;
    for (int m = 0; m < kMessageCount; ++m) r.messages[m] = (m + 1) * r.size();
    return r;
  }
};

/// Elements of a ring, with padding for vectors beyond its end.
inline std::size_t ring_elements(const BeliefLevel& ring) {
  return element_count({ring.size() * (1 + kMessageCount) + 2 * kBeliefColumnStep});
}

/// Scratch floats of a thread for an update, or for a row of costs and of their sums.
inline std::size_t scratch_floats(const BeliefLevel& finest) {
  return element_count({std::max<std::ptrdiff_t>(std::ptrdiff_t{kBeliefScratch} * finest.disparities,
                                                 finest.pitch + 2 * kBeliefColumnStep)});
}

}  // namespace recon
