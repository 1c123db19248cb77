#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "match/colour_difference_step.hpp"

namespace recon {

/// Limits of the arms of a pixel's cross (X. Mei et al. 2011, section 2.2).
struct CrossOptions {
  int reach = 34;         ///< L1, pixels: arms are shorter than this; 1 .. 256
  int near_reach = 17;    ///< L2, pixels: beyond it tau2 applies; 0 .. 256
  int colour = 20;        ///< tau1, grey levels: colour differences along the arm are smaller; 0 .. 256
  int strict_colour = 6;  ///< tau2, grey levels; 0 .. 256
};

/// Lengths of the arms of a cross in pixels, excluding the centre.
struct Cross {
  std::uint8_t left, right, up, down;
};

/// Length of one arm of pixel p: the number of successive pixels q with
///   D_s(q, p) < L1,
///   D_c(q, p) < tau1 and D_c(q, q') < tau1, q' the one before it as seen from p,
///   D_c(q, p) < tau2 where D_s(q, p) > L2,
/// D_c the maximum difference over R, G and B, D_s the distance along the arm.
/// @param available  pixels of the image in this direction
/// @param at         at(k): the colour k pixels along the arm, at(0) that of p
template <class At>
RECON_HD int arm_length(const CrossOptions& options, int available, const At& at) {
  const Rgb8 centre = at(0);
  Rgb8 before = centre;
  const int max_length = options.reach - 1 < available ? options.reach - 1 : available;
  for (int k = 1; k <= max_length; ++k) {
    const Rgb8 colour = at(k);
    const int difference = max_difference(colour, centre);
    if (difference >= options.colour || max_difference(colour, before) >= options.colour) return k - 1;
    if (k > options.near_reach && difference >= options.strict_colour) return k - 1;
    before = colour;
  }
  return max_length > 0 ? max_length : 0;
}

/// The intersection of the arms of two views.
RECON_HD Cross common_cross(Cross p, Cross q) {
  return {p.left < q.left ? p.left : q.left, p.right < q.right ? p.right : q.right, p.up < q.up ? p.up : q.up,
          p.down < q.down ? p.down : q.down};
}

}  // namespace recon
