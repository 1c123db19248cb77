#pragma once

#include <cstddef>
#include <vector>

#include "core/hd.hpp"

namespace recon {

/// How messages and data costs are stored; all arithmetic is in float.
enum class BeliefStorage { kFloat, kHalf, kBfloat16 };

/// Hierarchical loopy belief propagation; the defaults are those of Felzenszwalb and Huttenlocher and of
/// Grauer-Gray.
struct BeliefOptions {
  int levels = 5;                ///< of the pyramid of data costs, >= 1
  int iterations = 7;            ///< per level, >= 1
  float data_weight = 0.1f;      ///< lambda
  float data_cap = 15.0f;        ///< truncation of the grey difference, grey levels
  float smoothness_cap = 0.0f;   ///< truncation of the disparity difference, pixels; 0: disparities / 7.5
  float smoothing_sigma = 0.0f;  ///< Gaussian blur of both images beforehand, pixels; 0: none
  BeliefStorage storage = BeliefStorage::kHalf;
};

/// Size of the problem: one value per pixel and disparity.
struct BeliefShape {
  int width = 0, height = 0;
  int disparities = 0;  ///< 1 .. kMaxBeliefDisparities
};

inline constexpr int kMaxBeliefDisparities = 4096;

enum BeliefMessage { kMessageUp, kMessageDown, kMessageLeft, kMessageRight, kMessageCount };

/// One level of the pyramid and its offsets in the arena, in elements. Values are ordered by (y, parity of x
/// + y, disparity, x / 2), so that the values of one half of an iteration are contiguous. Messages are stored
/// at the sending pixel.
struct BeliefLevel {
  int width = 0, height = 0;
  int disparities = 0;
  int rows = 0;              ///< rows stored at a time: row y is stored at y % rows; usually the height
  std::ptrdiff_t pitch = 0;  ///< from one disparity to the next
  std::ptrdiff_t costs = 0;  ///< offset of the costs
  std::ptrdiff_t messages[kMessageCount] = {};

  /// Elements of the costs, or of the messages in one direction.
  RECON_HD std::ptrdiff_t size() const { return row_size() * 2 * rows; }
  RECON_HD std::ptrdiff_t row_size() const { return pitch * disparities; }
  /// Offset in the costs or messages of a row's pixels of one parity.
  RECON_HD std::ptrdiff_t row(int y, int parity) const {
    return (static_cast<std::ptrdiff_t>(y % rows) * 2 + parity) * row_size();
  }
  /// First x of a parity in a row.
  RECON_HD static int first_x(int y, int parity) { return (y + parity) & 1; }
  /// Pixels of a parity in a row.
  RECON_HD int columns(int y, int parity) const { return (width - first_x(y, parity) + 1) / 2; }
};

/// The levels in one arena, level 0 the finest; fewer than requested if an earlier level is a single pixel.
struct BeliefPyramid {
  std::vector<BeliefLevel> levels;
  std::ptrdiff_t elements = 0;    ///< size of the arena
  std::size_t element_bytes = 0;  ///< of a stored cost or message
};

/// @param first_kept  levels finer than this are not stored in the arena
/// @throws OutOfMemory when the arena exceeds the address space
BeliefPyramid belief_pyramid(const BeliefShape& shape, const BeliefOptions& options, int first_kept = 0);

/// Pitch between disparities: an odd multiple of 64 bytes (128 in float), so that the disparities of a pixel
/// are spread over the cache sets.
std::ptrdiff_t belief_pitch(int columns);

/// The effective truncation of the smoothness.
float belief_cap(const BeliefOptions& options, int disparities);

/// @throws std::logic_error when shape or options are out of range
void check_belief(const BeliefShape& shape, const BeliefOptions& options);

}  // namespace recon
