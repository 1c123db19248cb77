#pragma once

#include "core/volume.hpp"

namespace recon {

/// Cost aggregation follows one formula in all headers of this module:
///   C_A(p, d) = sum over q in S(p, d) of w(p, q, d) C(q, d)  /  sum over q in S(p, d) of w(p, q, d)
/// with supports S and weights w of the aggregator; planes are independent. Source: J. Fang, A. L.
/// Varbanescu, J. Shen, H. Sips, G. Saygili and L. van der Maaten, "Accelerating cost aggregation for
/// real-time stereo matching", ICPADS 2012, section II. A sample of infinite cost, such as one that no source
/// of a sweep sees, is excluded from all supports; C_A is infinite where a support is empty.

inline constexpr int kMaxConstantRadius = 1 << 20;

/// Constant window (CW): S(p) is the square of side 2 `radius` + 1 around p, w = 1. The window is clipped at
/// the image border. Running sums of costs in units of cost_unit(max_cost), which are exact; the time is
/// independent of the radius. Deterministic for any number of threads.
/// @param costs       (y, d, x), 0 .. `max_cost`, or +infinity
/// @param radius      pixels, 0 .. kMaxConstantRadius; may exceed the image size
/// @param max_cost    upper bound of the finite costs; see cost_unit
/// @param aggregated  of the same shape, not overlapping `costs`
/// @throws std::logic_error where shapes differ or the radius or the maximum cost is out of range;
///         OutOfMemory
void constant_window(VolumeView<const float> costs, int radius, float max_cost, VolumeView<float> aggregated);

}  // namespace recon
