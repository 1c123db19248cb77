#pragma once

namespace recon {

enum class BlockCost {
  kSad,  ///< sum of absolute differences
  kSsd,  ///< sum of squared differences
};

/// Filter applied to both images before matching.
enum class BlockPrefilter {
  kNone,   ///< grey levels as they are
  kSobel,  ///< horizontal Sobel gradient, clipped: invariant to brightness, and no edge dominates a window
};

/// A rectangle of pixels; empty (width or height 0) means the whole image.
struct Region {
  int x = 0, y = 0, width = 0, height = 0;
};

/// Block matching by rolling windows (Stam 2008).
struct BlockMatchingOptions {
  BlockCost cost = BlockCost::kSad;
  BlockPrefilter prefilter = BlockPrefilter::kSobel;
  int prefilter_cap = 15;   ///< clipping bound of the absolute gradient, 1 .. 31
  int radius = 4;           ///< R of the window of (2 R + 1)^2 pixels, 1 .. 15
  int steps_per_pixel = 1;  ///< disparities searched per pixel: 1, 2 or 4, by bilinear sampling
  bool subpixel = true;     ///< sub-step refinement by a parabola through the winner and its neighbours
  float max_mean_cost = 0;  ///< unknown where the best mean cost per pixel is higher; 0: no threshold
  float min_texture = 0;    ///< unknown where the mean of |L(x + 1) - L(x - 1)| over the window is less
  int uniqueness = 10;  ///< per cent by which costs over a pixel away must be higher, 0 .. 99; 0: no check
  int left_right = 1;   ///< max disparity difference, pixels, to the owner of the right pixel; -1: no check
  bool median = true;   ///< 3 x 3, last step
  int pyramid_levels = 1;  ///< number of pyramid levels, 1 .. 8; coarse levels match large disparities
  Region region;           ///< pixels of the left image to match; the others stay unknown
};

inline constexpr int kMaxBlockRadius = 15;
inline constexpr int kMaxPrefilterCap = 31;
inline constexpr int kMaxPyramidLevels = 8;

}  // namespace recon
