#pragma once

#include "core/volume.hpp"

namespace recon {

/// Cost aggregation has one template, here and in the other headers of this room:
///   C_A(p, d) = sum over q in S(p, d) of w(p, q, d) C(q, d)  /  sum over q in S(p, d) of w(p, q, d)
/// with supports S and weights w that the aggregator sets; planes never mix. Source: J. Fang, A. L.
/// Varbanescu, J. Shen, H. Sips, G. Saygili and L. van der Maaten, "Accelerating cost aggregation for
/// real-time stereo matching", ICPADS 2012, section II. A sample of infinite cost, such as one that no source
/// of a sweep sees, belongs to no support; where a support has no other, C_A is infinite.

inline constexpr int kMaxConstantRadius = 1 << 20;

/// Constant window (CW): S(p) is the square of side 2 `radius` + 1 about p, w = 1. Only pixels inside the
/// image count: the mean near a border is over fewer of them. Running sums of costs in units of
/// cost_unit(greatest), which are exact: the time does not depend on the radius. Deterministic for any number
/// of threads.
/// @param costs       (y, d, x), 0 .. `greatest`, or +infinity
/// @param radius      pixels, 0 .. kMaxConstantRadius; may reach beyond the image
/// @param greatest    no finite cost is greater; see cost_unit
/// @param aggregated  of the same shape, apart from `costs`
/// @throws std::logic_error where shapes differ or the radius or the greatest cost is out of range;
///         OutOfMemory
void constant_window(VolumeView<const float> costs, int radius, float greatest, VolumeView<float> aggregated);

}  // namespace recon
