#pragma once

#include <cstddef>

#include "core/image.hpp"
#include "core/volume.hpp"
#include "match/pair_side.hpp"
#include "optimize/scanline/scanline_options.hpp"

namespace recon {

/// The other view of a rectified pair, where pixel x of the volume meets on plane d the column
/// matching_column(side, x, min_disparity + d).
struct ScanlineView {
  ImageView<const Rgb8> image;      ///< as high as the volume; empty: there is none
  PairSide side = PairSide::kLeft;  ///< the view that the volume belongs to
  int min_disparity = 0;
};

/// Scanline optimisation: C_2(p, d) = mean of the four paths C_r(p, d), see scanline_cost, of which two run
/// along the row and two along the column. D1, the greatest difference over the colour channels between a
/// path's pixel and the one before it, and D2, that between the pixels that these meet in the other view,
/// choose P1 and P2, see scanline_penalties; where there is no other view, or one of the pixels lies outside
/// it, D2 = D1. Runs on the threads of the surrounding task arena; the same bits for any number of them and
/// on every processor. Source: X. Mei et al., On building an accurate stereo matching system on graphics
/// hardware, GPUCV 2011, section 3.3.
/// @param costs      C_1 by (y, d, x), finite or +infinity (no cost); rows padded to 64 bytes
/// @param reference  the view that the volume belongs to, of its size
/// @param[out] mean  C_2, of the same shape and apart from `costs`; the padding of its rows may be written
/// @throws std::logic_error where sizes or options are not what they have to be, OutOfMemory
void optimize_scanlines(VolumeView<const float> costs, ImageView<const Rgb8> reference,
                        const ScanlineView& other, const ScanlineOptions& options, VolumeView<float> mean);

/// Bytes that `optimize_scanlines` takes at most on `threads` threads, volumes and images not included.
std::size_t optimize_scanlines_bytes(int width, int planes, int threads);

}  // namespace recon
