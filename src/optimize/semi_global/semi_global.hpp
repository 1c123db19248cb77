#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/image.hpp"
#include "optimize/semi_global/path_winner.hpp"
#include "optimize/semi_global/semi_global_options.hpp"

namespace recon {

/// Where the semi-global optimizer takes its costs from.
class CostSource {
 public:
  virtual ~CostSource() = default;

  /// The greatest cost it gives.
  virtual int max_cost() const = 0;

  /// Writes the costs of pixels (first .. first + count - 1, y): that of pixel first + i on plane d into
  /// costs[i * stride + d]. Called by several threads, and at most twice for each pixel; must give the same
  /// each time.
  /// @param costs   64-byte aligned; the padding behind the last plane may be overwritten
  /// @param stride  a multiple of 64, at least the number of planes
  virtual void fill(int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) const = 0;
};

inline constexpr int kMaxPathPlanes = 32767;

struct SemiGlobalProblem {
  const CostSource* costs = nullptr;
  int planes = 0;                       ///< 1 .. kMaxPathPlanes
  ImageView<const std::uint8_t> guide;  ///< its edges lower P2; its size is that of the problem
  SemiGlobalOptions options;
  /// For pairs: winners of the right image too, where plane d of left pixel x lies at x - min_disparity - d.
  bool right_view = false;
  int min_disparity = 0;
};

/// Takes the winners of row y, one per pixel, and the planes of the right image's pixels (kNoPlane where no
/// match lies inside the left image; null without `right_view`). Called once per row, in any order, by
/// several threads.
using PathWinnerSink =
    std::function<void(int y, const PathWinner* winners, const std::uint16_t* right_planes)>;

/// Semi-global optimization: S(p, d) = sum over 4 or 8 directions r of L_r(p, d), see path_cost, and its
/// winners. Nothing as large as the volume is kept unless it is small: rows of the upward paths are
/// checkpoints from which blocks of rows are done again. Runs on the threads of the surrounding task arena;
/// the same result for any number of them and on every processor. Exceptions of the source and of the sink
/// are thrown on. Source: H. Hirschmueller, TPAMI 2008, section 2.3.
/// @throws std::logic_error where options are out of range or max_cost + P2 > kMaxPathCost; OutOfMemory
void semi_global(const SemiGlobalProblem& problem, const PathWinnerSink& sink);

/// Bytes that `semi_global` takes at most on `threads` threads, without what source and sink hold.
std::size_t semi_global_bytes(int width, int height, int planes, const SemiGlobalOptions& options,
                              int max_cost, int threads);

}  // namespace recon
