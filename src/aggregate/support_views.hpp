#pragma once

#include "core/image.hpp"
#include "match/pair_side.hpp"

namespace recon {

/// The images that steer the support of a volume's pixels: T is a colour, or a cross made of colours. Pixel
/// (x, y) of the volume on plane d meets pixel (matching_column(side, x, min_disparity + d), y) of the
/// source. Where there is no source, as for a sweep, or the match lies outside it, the reference view alone
/// decides.
template <class T>
struct SupportViews {
  ImageView<const T> reference;  ///< of the volume's width and height
  ImageView<const T> source;     ///< empty: there is none; else of the same size
  PairSide side = PairSide::kLeft;
  int min_disparity = 0;

  bool fits(int width, int height) const {
    const bool same = source.width == width && source.height == height;
    return reference.width == width && reference.height == height && (source.empty() || same) &&
           min_disparity >= -(1 << 24) && min_disparity <= 1 << 24;
  }
};

}  // namespace recon
