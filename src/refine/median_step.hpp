#pragma once

#include "core/hd.hpp"

namespace recon {

/// Sorts two values in ascending order.
RECON_HD void put_in_order(float& a, float& b) {
  const float low = b < a ? b : a;
  b = b < a ? a : b;
  a = low;
}

/// `value` if known; otherwise an infinity of alternating sign, so that the median depends on the known
/// values only; `next` is the next infinity, initially -infinity. For an even number of known values the
/// median is the lower of the two middle values.
RECON_HD float known_or_infinity(float value, float& next) {
  if (value == value) return value;
  const float infinity = next;
  next = -next;
  return infinity;
}

/// Median of nine values, none NaN, which it reorders: the median of the max of the low, the median of the
/// middle and the min of the high values of three triples.
RECON_HD float median_of_nine(float (&v)[9]) {
  for (int triple = 0; triple < 9; triple += 3) {
    put_in_order(v[triple + 1], v[triple + 2]);
    put_in_order(v[triple], v[triple + 1]);
    put_in_order(v[triple + 1], v[triple + 2]);
  }
  put_in_order(v[1], v[4]);
  put_in_order(v[4], v[7]);
  put_in_order(v[1], v[4]);
  put_in_order(v[0], v[3]);
  put_in_order(v[3], v[6]);
  put_in_order(v[5], v[8]);
  put_in_order(v[2], v[5]);
  put_in_order(v[4], v[6]);
  put_in_order(v[2], v[4]);
  put_in_order(v[4], v[6]);
  return v[4];
}

}  // namespace recon
