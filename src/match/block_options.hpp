#pragma once

namespace recon {

enum class BlockCost {
  kSad,  ///< sum of absolute differences
  kSsd,  ///< sum of squared differences
};

/// A rectangle of pixels; empty (width or height 0) means the whole image.
struct Region {
  int x = 0, y = 0, width = 0, height = 0;
};

/// Block matching by rolling windows (Stam 2008).
struct BlockMatchingOptions {
  BlockCost cost = BlockCost::kSad;
  int radius = 7;           ///< R of the window of (2 R + 1)^2 pixels, 1 .. 15
  int steps_per_pixel = 1;  ///< disparities searched per pixel: 1, 2 or 4, by bilinear sampling
  float max_mean_cost = 0;  ///< unknown where the best mean cost per pixel is above; 0: no threshold
  float min_texture = 0;    ///< unknown where the window has less contrast; 0: no threshold
  int uniqueness = 0;       ///< per cent that non-adjacent disparities have to be dearer; 0: no check
  int left_right = 1;       ///< greatest difference between both views' winners, pixels; -1: no check
  int pyramid_levels = 1;   ///< halvings of the images + 1; coarse levels serve large disparities
  Region region;            ///< pixels of the left image to match; the others stay unknown
};

inline constexpr int kMaxBlockRadius = 15;

}  // namespace recon
