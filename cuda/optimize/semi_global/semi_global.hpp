#pragma once

#include <vector_types.h>

#include <cstddef>
#include <cstdint>

#include "core/aligned_buffer.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/match/plane_byte.hpp"
#include "optimize/semi_global/semi_global_step.hpp"

namespace recon::cuda {

/// Quantized costs of an image by (y, x, plane_byte(d)): the input of the optimizer. Pixels are `stride` =
/// path_planes(planes) bytes apart, rows have no padding.
struct QuantizedCosts {
  std::uint8_t* data;
  int width, height;
  int stride;
};

/// Planes per pixel in memory, and processed: 64, 128, 256, 512, 1024 or 4096.
/// @throws std::logic_error if `planes` is not in 1 .. 4096
int path_planes(int planes);

/// Takes the memory for costs of this shape. @throws as path_planes
inline QuantizedCosts take_quantized_costs(int width, int height, int planes, Arena& arena) {
  const int stride = path_planes(planes);
  return {arena.take<std::uint8_t>(element_count({width, height, stride})), width, height, stride};
}

/// The problem, as passed to all kernels of the optimizer.
struct PathArgs {
  /// By (y, x, plane_byte(d)), 16-byte aligned, pixels path_planes(planes) bytes apart; the padding is
  /// ignored.
  const std::uint8_t* costs = nullptr;
  const std::uint8_t* guide = nullptr;  ///< its edges lower P2
  std::ptrdiff_t guide_pitch = 0;
  int width = 0, height = 0, planes = 0;
  SemiGlobalOptions options;
};

/// Input of the semi-global optimizer on the device.
struct SemiGlobalInput : PathArgs {
  SemiGlobalInput() = default;
  /// @param max  cost
  SemiGlobalInput(const QuantizedCosts& quantized, int plane_count, const SemiGlobalOptions& by, int max)
      : max_cost(max) {
    costs = quantized.data;
    width = quantized.width;
    height = quantized.height;
    planes = plane_count;
    options = by;
  }

  int max_cost = 255;  ///< max cost; up to 255 - P2 the path costs fit in a byte
  /// Volumes of sums, 1 or 2, in which the paths accumulate in place: 2 or 4 bytes per cost instead of 8 with
  /// 8 paths, for more time. 0: none, or 2 if path costs do not fit in a byte.
  int sums = 0;
  /// Also computes the winners of the right image; plane d of left pixel x matches x - min_disparity - d.
  bool right_view = false;
  int min_disparity = 0;
};

/// Bit-identical to recon::semi_global: all paths are processed independently and concurrently, two planes
/// per operation. Each direction writes its path costs to a volume of bytes, and the winner is selected from
/// their sums; or, in place, four rounds of two directions each accumulate in two volumes of sums, or eight
/// rounds of one direction in one.
class SemiGlobal {
 public:
  struct Buffers {
    uint4* volumes;
    PathWinner* winners;
    std::uint32_t* right_keys;  ///< null without `right_view`
  };

  /// Takes the memory for `input` from `arena`; costs and guide are not used.
  static Buffers take(const SemiGlobalInput& input, Arena& arena);

  /// @param at  memory for an input of this shape and these options
  /// @throws std::logic_error if options are out of range or max_cost + P2 > kMaxPathCost
  SemiGlobal(const SemiGlobalInput& input, const Buffers& at);

  /// Queues everything. @throws DeviceError
  void queue(const Stream& stream) const;

  /// The stages of `queue`, in order.
  void queue_clear(const Stream& stream) const;
  void queue_paths(const Stream& stream) const;
  void queue_winner(const Stream& stream) const;

  /// By pixel, rows without padding.
  const PathWinner* winners() const { return at_.winners; }
  /// By pixel of the right image: S << 16 | plane of its winner; all ones if no match lies inside the left
  /// image. Null without `right_view`.
  const std::uint32_t* right_keys() const { return at_.right_keys; }

 private:
  SemiGlobalInput input_;
  Buffers at_;
};

}  // namespace recon::cuda
