#pragma once

#include <cstddef>
#include <vector>

#include "core/hd.hpp"
#include "optimize/belief/belief_options.hpp"

namespace recon {

/// The problem's size: one value per pixel and disparity.
struct BeliefShape {
  int width = 0, height = 0;
  int disparities = 0;  ///< 1 .. kMaxBeliefDisparities
};

inline constexpr int kMaxBeliefDisparities = 4096;

enum BeliefMessage { kMessageUp, kMessageDown, kMessageLeft, kMessageRight, kMessageCount };

/// One level of the pyramid and where its numbers lie in the arena, all in elements. Numbers are ordered by
/// (y, parity of x + y, disparity, x / 2): what one half of an iteration takes is contiguous. Messages are
/// kept at the pixel that sends them.
struct BeliefLevel {
  int width = 0, height = 0;
  int disparities = 0;
  int rows = 0;              ///< kept at a time: row y lies where row y % rows does; mostly the height
  std::ptrdiff_t pitch = 0;  ///< from one disparity to the next
  std::ptrdiff_t costs = 0;  ///< where they begin
  std::ptrdiff_t messages[kMessageCount] = {};

  /// Elements of the costs, or of the messages in one direction.
  RECON_HD std::ptrdiff_t size() const { return row_size() * 2 * rows; }
  RECON_HD std::ptrdiff_t row_size() const { return pitch * disparities; }
  /// From the begin of costs or messages to those of a row's pixels of one parity.
  RECON_HD std::ptrdiff_t row(int y, int parity) const {
    return (static_cast<std::ptrdiff_t>(y % rows) * 2 + parity) * row_size();
  }
  /// First x of that parity.
  RECON_HD static int first_x(int y, int parity) { return (y + parity) & 1; }
  /// Pixels of that parity in a row.
  RECON_HD int columns(int y, int parity) const { return (width - first_x(y, parity) + 1) / 2; }
};

/// The levels in one arena, level 0 the finest; fewer than asked for where a level is a single pixel before.
struct BeliefPyramid {
  std::vector<BeliefLevel> levels;
  std::ptrdiff_t elements = 0;  ///< of the arena
};

/// @param first_kept  finer levels than this get no place in the arena
/// @throws OutOfMemory when the arena is larger than any memory
BeliefPyramid belief_pyramid(const BeliefShape& shape, const BeliefOptions& options, int first_kept = 0);

/// From one disparity to the next: a multiple of 64 bytes (128 in float), and an odd one, so that the
/// disparities of a pixel do not all fall into the same few sets of a cache.
std::ptrdiff_t belief_pitch(int columns);

/// Bytes of a stored cost or message.
std::size_t belief_storage_bytes(BeliefStorage storage);

/// Truncation of the smoothness in effect.
float belief_cap(const BeliefOptions& options, int disparities);

/// @throws std::logic_error when shape or options are out of their range
void check_belief(const BeliefShape& shape, const BeliefOptions& options);

}  // namespace recon
