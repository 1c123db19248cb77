#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/aligned_buffer.hpp"
#include "core/image.hpp"
#include "core/volume.hpp"
#include "optimize/semi_global/semi_global_step.hpp"

namespace recon {

/// Computes the costs of pixels (first .. first + count - 1, y): that of pixel first + i on plane d is stored
/// in costs[i * stride + d]. Called concurrently, at most twice for each pixel; must give the same costs each
/// time.
/// @param costs   64-byte aligned; the padding after the last plane may be overwritten
/// @param stride  a multiple of 64, at least the number of planes
using CostSource =
    std::function<void(int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride)>;

/// The costs of a stored volume, quantized on demand.
/// @param quantize  quantize(cost): 0 .. 255
template <class Quantize>
CostSource quantized_costs(VolumeView<const float> volume, const Quantize& quantize) {
  return [volume, quantize](int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) {
    for (int d = 0; d < volume.planes; ++d) {
      const float* row = volume.row(y, d) + first;
      for (int i = 0; i < count; ++i) costs[i * stride + d] = quantize(row[i]);
    }
  };
}

/// Bytes from the costs of one pixel to those of the next; SIMD loops process all of them.
constexpr std::ptrdiff_t cost_stride(int planes) {
  return padded_count<std::uint8_t>(planes);
}

inline constexpr int kMaxPathPlanes = 32767;

struct SemiGlobalProblem {
  CostSource costs;  ///< computes the costs on demand, unless they are stored
  /// The costs by (y, x, d), 64-byte aligned, cost_stride(planes) bytes per pixel, 255 after the last plane.
  const std::uint8_t* stored_costs = nullptr;
  int max_cost = 0;                     ///< upper bound of the costs, 0 .. 255
  int planes = 0;                       ///< 1 .. kMaxPathPlanes
  ImageView<const std::uint8_t> guide;  ///< its edges lower P2; determines the size of the problem
  SemiGlobalOptions options;
  /// For pairs: also compute winners of the right image, where left pixel x on plane d matches x -
  /// min_disparity - d.
  bool right_view = false;
  int min_disparity = 0;
};

/// Receives the winners of row y, one per pixel, and the planes of the right image's pixels (kNoPlane where
/// no match lies inside the left image; null without `right_view`). Called once per row, in any order,
/// concurrently.
using PathWinnerSink =
    std::function<void(int y, const PathWinner* winners, const std::uint16_t* right_planes)>;

/// Semi-global optimization: S(p, d) = sum over 4 or 8 directions r of L_r(p, d), see path_cost, and its
/// winners. The volume is not stored unless it is small: rows of the upward paths are checkpoints from which
/// blocks of rows are recomputed. Runs on the threads of the surrounding task arena; the same result for any
/// number of threads and on every processor. Exceptions of the source and of the sink are rethrown. Source:
/// H. Hirschmueller, TPAMI 2008, section 2.3.
/// @throws std::logic_error where options are out of range or max_cost + P2 > kMaxPathCost; OutOfMemory
void semi_global(const SemiGlobalProblem& problem, const PathWinnerSink& sink);

}  // namespace recon
