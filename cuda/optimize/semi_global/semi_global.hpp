#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "optimize/semi_global/semi_global.hpp"

namespace recon::cuda {

/// Bytes from one pixel's costs to the next, and planes that are worked on: 64, 128, 256, 512, 1024 or 4096.
/// @throws std::logic_error when `planes` is not in 1 .. 4096
int padded_planes(int planes);

/// What the semi-global optimizer takes on the device.
struct SemiGlobalInput {
  /// By (y, x, plane_byte(d)), 16-byte aligned, pixels padded_planes(planes) bytes apart; the padding may
  /// hold anything.
  const std::uint8_t* costs = nullptr;
  const std::uint8_t* guide = nullptr;  ///< its edges lower P2
  std::ptrdiff_t guide_pitch = 0;
  int width = 0, height = 0, planes = 0;
  SemiGlobalOptions options;
  int max_cost = 255;  ///< no cost is greater; up to 255 - P2 the costs of paths fit a byte
  /// Sums in place: 4 bytes a cost instead of 8 with 8 paths, for about twice the time. Where paths do not
  /// fit a byte it is always done.
  bool in_place = false;
  /// Winners of the right image too, where plane d of left pixel x lies at x - min_disparity - d.
  bool right_view = false;
  int min_disparity = 0;
};

/// The same as recon::semi_global, to the bit: every path is walked by itself, all of them at the same time,
/// two planes in each operation. Each direction leaves the costs of its paths in a volume of bytes, and the
/// winner is found in the sums of these; or, in place, in four rounds of two directions each, in two volumes
/// of sums.
class SemiGlobal {
 public:
  /// Bytes that the constructor takes from its arena.
  static std::size_t bytes(const SemiGlobalInput& input);

  /// @param arena  has room for `bytes(input)`
  /// @throws std::logic_error where options are out of range or max_cost + P2 > kMaxPathCost
  SemiGlobal(const SemiGlobalInput& input, Arena& arena);

  /// Queues everything. @throws DeviceError
  void queue(const Stream& stream) const;

  /// The stages of `queue`, in order.
  void queue_clear(const Stream& stream) const;
  void queue_paths(const Stream& stream) const;
  void queue_winner(const Stream& stream) const;

  /// By pixel, rows without padding.
  const PathWinner* winners() const { return winners_; }
  /// By pixel of the right image: S << 16 | plane of its winner; all bits set where no match lies inside the
  /// left image. Null without `right_view`.
  const std::uint32_t* right_keys() const { return right_keys_; }

 private:
  SemiGlobalInput input_;
  uint4* volumes_;
  PathWinner* winners_;
  std::uint32_t* right_keys_;
};

}  // namespace recon::cuda
