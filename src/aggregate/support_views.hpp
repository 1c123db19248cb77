#pragma once

#include "core/image.hpp"
#include "match/pair_side.hpp"

namespace recon {

/// The images that determine the support of a volume's pixels: T is a colour, or a cross computed from
/// colours. Pixel (x, y) of the volume on plane d matches pixel (matching_column(side, x, min_disparity + d),
/// y) of the source. Without a source, as for a sweep, or where the match lies outside it, only the reference
/// view is used.
template <class T>
struct SupportViews {
  ImageView<const T> reference;  ///< of the volume's width and height
  ImageView<const T> source;     ///< of the same size; empty if none
  PairSide side = PairSide::kLeft;
  int min_disparity = 0;

  bool fits(int width, int height) const {
    const bool same = source.width == width && source.height == height;
    return reference.width == width && reference.height == height && (source.empty() || same) &&
           min_disparity >= -(1 << 24) && min_disparity <= 1 << 24;
  }
};

}  // namespace recon
