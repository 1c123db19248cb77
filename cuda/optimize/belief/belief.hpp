#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/hd.hpp"
#include "match/truncated_difference_step.hpp"
#include "optimize/belief/belief_layout.hpp"

namespace recon::cuda {

/// Neighbouring pixels of one parity per warp.
inline constexpr int kBeliefGroup = 32;

/// One level on the device, in elements of the arena. As on the CPU, the disparities of a row's pixels of one
/// parity are consecutive, x fastest; but in groups of 32 pixels, so that the stride between disparities is
/// known at compile time and the part of a message that a warp reads is contiguous.
struct BeliefGrid {
  int width = 0, height = 0;                    ///< pixels of the level
  int groups = 0;                               ///< per row and parity
  int strip = 0;                                ///< elements per group: disparities times 32
  std::ptrdiff_t costs = 0;                     ///< first element
  std::ptrdiff_t messages[kMessageCount] = {};  ///< likewise, by direction

  /// Elements of the costs, or of the messages in one direction.
  RECON_HD std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(strip) * groups * 2 * height; }
  /// Offset of the lowest disparity of pixel (x, y) from the start of costs or messages; the stride to the
  /// next one is 32. 32-bit groups and unsigned columns make the division and multiplication before every
  /// read faster on a GPU.
  RECON_HD std::ptrdiff_t offset(int x, int y) const {
    const unsigned column = static_cast<unsigned>(x >> 1);
    const int group = (2 * y + ((x + y) & 1)) * groups + static_cast<int>(column / kBeliefGroup);
    return static_cast<std::ptrdiff_t>(group) * strip + static_cast<int>(column % kBeliefGroup);
  }
};

/// All levels in one arena, level 0 the finest, preceded by a group of zeros: the messages from outside the
/// image.
struct BeliefGrids {
  std::vector<BeliefGrid> levels;
  std::size_t bytes = 0;  ///< of the arena
};

/// @throws OutOfMemory if the size of the arena overflows
BeliefGrids belief_grids(const BeliefShape& shape, const BeliefOptions& options);

/// Max number of levels: the coarsest level of the largest image with 32-bit indices is a single pixel.
inline constexpr int kMaxBeliefLevels = 32;

/// Counters of the barriers: two per level, starting at the second one.
inline constexpr int kBeliefCounters = 1 + 2 * kMaxBeliefLevels;

/// A pair on the device, rows `pitch` elements apart: as bytes, or as floats if it was blurred.
struct BeliefImages {
  const std::uint8_t *left = nullptr, *right = nullptr;
  const float *blurred_left = nullptr, *blurred_right = nullptr;
  int pitch = 0;
};

/// The arguments of the launch.
struct BeliefArgs {
  BeliefGrid levels[kMaxBeliefLevels];
  int level_count = 0;
  int disparities = 0;         ///< searched, from min_disparity on
  int iterations = 0;          ///< per level
  float cap = 0;               ///< of the smoothness, see belief_cap
  TruncatedDifference cost{};  ///< of the data
  int min_disparity = 0;       ///< pixels
  BeliefImages images;
  void* arena = nullptr;  ///< costs and messages of all levels
  /// Number of thread blocks per level, set by the launch: all for the finest, for a coarser level at most as
  /// many as for the next finer one.
  int blocks[kMaxBeliefLevels];
  unsigned* counters = nullptr;      ///< kBeliefCounters counters, zero before and after
  std::uint16_t* winners = nullptr;  ///< the labels: disparity - min_disparity
  int winner_pitch = 0;              ///< elements from one row to the next
};

/// Computes the costs of each level, all iterations of all levels in one cooperative launch, and the labels;
/// bit-identical to recon::propagate_beliefs. Sources: P. Felzenszwalb and D. Huttenlocher, IJCV 2006; S.
/// Grauer-Gray and C. Kambhamettu, 2009.
/// @param storage  of costs and messages in the arena
/// @throws DeviceError
void launch_belief(const BeliefArgs& args, BeliefStorage storage, cudaStream_t stream);

/// The same for one storage type: float, Half or Bfloat16.
template <class T>
void launch_belief_stored_as(const BeliefArgs& args, cudaStream_t stream);

}  // namespace recon::cuda
