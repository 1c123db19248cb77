#pragma once

#include "core/half.hpp"
#include "core/volume.hpp"
#include "optimize/winner/winner_step.hpp"

namespace recon {

/// Max number of planes of winner-take-all.
inline constexpr int kMaxPlanes = 32767;

/// The winner of every pixel in row `y` of a volume of non-negative costs (infinite = no cost); see
/// WinnerScan.
/// @param volume  (y, d, x), at most kMaxPlanes planes; rows padded to 64 bytes, the padding readable
/// @param[out] winners  volume.width of them
/// Deterministic; ties go to the lowest plane.
void winner_take_all(VolumeView<const Half> volume, int y, Winner* winners);
void winner_take_all(VolumeView<const float> volume, int y, Winner* winners);

}  // namespace recon
