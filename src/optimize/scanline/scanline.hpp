#pragma once

#include <cstddef>

#include "core/image.hpp"
#include "core/volume.hpp"
#include "match/pair_side.hpp"
#include "optimize/scanline/scanline_step.hpp"

namespace recon {

/// The other view of a rectified pair: pixel x of the volume on plane d matches column matching_column(side,
/// x, min_disparity + d).
struct ScanlineView {
  ImageView<const Rgb8> image;      ///< same height as the volume; empty if none
  PairSide side = PairSide::kLeft;  ///< the view that the volume belongs to
  int min_disparity = 0;
};

/// Scanline optimisation: C_2(p, d) = mean of the four paths C_r(p, d), see scanline_cost, two along the row
/// and two along the column. P1 and P2 depend on D1, the maximum difference over the colour channels between
/// a pixel and its predecessor on the path, and D2, that between their matches in the other view, see
/// scanline_penalties; D2 = D1 without another view, or if one of the matches lies outside it. Runs on the
/// threads of the surrounding task arena; the same bits for any number of threads and on every processor.
/// Source: X. Mei et al., On building an accurate stereo matching system on graphics hardware, GPUCV 2011,
/// section 3.3.
/// @param costs      C_1 by (y, d, x), finite or +infinity (no cost); rows padded to 64 bytes
/// @param reference  the view that the volume belongs to, of its size
/// @param[out] mean  C_2, of the same shape, not overlapping `costs`; the padding of its rows may be written
/// @throws std::logic_error for invalid sizes or options, OutOfMemory
void optimize_scanlines(VolumeView<const float> costs, ImageView<const Rgb8> reference,
                        const ScanlineView& other, const ScanlineOptions& options, VolumeView<float> mean);

}  // namespace recon
