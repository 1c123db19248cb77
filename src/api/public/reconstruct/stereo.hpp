#pragma once

#include <stop_token>
#include <vector>

#include "reconstruct/device.hpp"
#include "reconstruct/export.hpp"
#include "reconstruct/image.hpp"

namespace reconstruct {

/// Disparities of the left image of a pair.
struct Disparities {
  /// d >= 0 for x_right = x_left - d, pixels; NaN where it is unknown.
  Map<float> disparity;
  /// With the option `fill`: 255 where a disparity was filled in or replaced, else 0. Otherwise empty.
  Map<std::uint8_t> filled;
};

/// Matches a rectified pair, as `reconstruct LEFT RIGHT` does: the disparities are those of its
/// disparity.pfm, bit for bit.
/// @param device  what it computes on, not empty
/// @param left, right  of one size; of 8 and 16 bits together, both count as 16
/// @param options  by name. `max-disparity` is needed: searched is min-disparity <= d < max-disparity.
/// `method` (sgm, bm, bp or pipeline), `preset`, single stages and filters as on the command line; of these
/// only what belongs to pairs and their results; or a PairOptions
/// @param stop  ends the call, as a rule within a tenth of a second
/// @throws UsageError that names the option or the image, the value found and what it may be
/// @throws OutOfMemory, DeviceError; Interrupted once `stop` is stopped
/// Thread safety: may be called from several threads. Determinism: the same bits for any number of threads.
RECONSTRUCT_API Disparities match(const Device& device, const ImageView& left, const ImageView& right,
                                  const Options& options, std::stop_token stop = {});

/// Matches the pairs of a batch, one after the other: the results are those of so many calls of `match`, bit
/// for bit, and lie one after the other in one allocation, with rows of one pitch.
/// @param device, options, stop  as for `match`
/// @param left, right  of each pair, at least one; all images have one size
RECONSTRUCT_API std::vector<Disparities> match_batch(const Device& device, const std::vector<ImageView>& left,
                                                     const std::vector<ImageView>& right,
                                                     const Options& options, std::stop_token stop = {});

}  // namespace reconstruct
