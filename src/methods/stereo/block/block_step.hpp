#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "match/combine_step.hpp"
#include "refine/subplane_step.hpp"

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

/// Horizontal Sobel gradient of a pixel, clipped to -cap .. cap and shifted to 0 .. 2 cap. `at(i, j)` gives
/// the grey level at offset (i, j), the border repeated.
template <class At>
RECON_HD std::uint8_t sobel_response(int cap, const At& at) {
  const int slope = (at(1, -1) - at(-1, -1)) + 2 * (at(1, 0) - at(-1, 0)) + (at(1, 1) - at(-1, 1));
  return static_cast<std::uint8_t>((slope < -cap ? -cap : (slope > cap ? cap : slope)) + cap);
}

/// The bilinear sample `part` / `steps` of the way from one pixel to the next, rounded half up.
RECON_HD std::uint8_t fractional_sample(int pixel, int next, int part, int steps) {
  return static_cast<std::uint8_t>((pixel * (steps - part) + next * part + steps / 2) / steps);
}

/// Position of hypothesis k (disparity min + k / steps) of pixel x in the right image, in steps; clamped to
/// the border pixel.
RECON_HD int right_position(int x, int k, int min, int steps, int width) {
  const int position = steps * (x - min) - k;
  const int last = steps * (width - 1);
  return position < 0 ? 0 : (position > last ? last : position);
}

/// Mean of the four pixels covered by one pixel of the next coarser level, rounded half up.
RECON_HD std::uint8_t mean_of_four(int a, int b, int c, int d) {
  return static_cast<std::uint8_t>((a + b + c + d + 2) >> 2);
}

/// The cost of one pixel: |a - b| or its square.
template <BlockCost kCost>
RECON_HD int pixel_cost(int a, int b) {
  const int difference = a < b ? b - a : a - b;
  return kCost == BlockCost::kSad ? difference : difference * difference;
}

/// Maximum value of a prefiltered pixel.
RECON_HD int max_pixel(const BlockMatchingOptions& options) {
  return options.prefilter == BlockPrefilter::kSobel ? 2 * options.prefilter_cap : 255;
}

/// Whether the sum over any window fits 16 bits, with the maximum value reserved for "no cost": (2 R + 1)^2
/// max |a - b| < 65535. Otherwise it fits 32 bits: 31^2 255^2 < 2^26.
RECON_HD bool sums_fit_16_bits(const BlockMatchingOptions& options) {
  const int side = 2 * options.radius + 1;
  return options.cost == BlockCost::kSad && side * side * max_pixel(options) < 65535;
}

/// Thresholds for a reliable winner, in sums over the window.
struct BlockLimits {
  std::uint32_t most_cost;    ///< max cost
  std::uint32_t min_texture;  ///< min sum of |L(x + 1) - L(x - 1)|
  int uniqueness;             ///< per cent; 0: no check
};

inline constexpr std::uint32_t kNoBlockCost = 0xFFFFFFFFu;

/// The best hypothesis of a pixel: the lowest k of min cost.
struct BlockWinner {
  int k;
  std::uint32_t cost;
  std::uint32_t before, after;  ///< costs of k - 1 and k + 1; kNoBlockCost where there is none
  std::uint32_t second;         ///< min cost of hypotheses more than a pixel away; kNoBlockCost if none
};

/// Whether the winner passes the cost and uniqueness thresholds. A winner is not unique if another cost is
/// not `uniqueness` per cent higher: second (100 - uniqueness) < 100 cost (the rule of OpenCV's StereoSGBM).
RECON_HD bool is_trusted(const BlockWinner& w, const BlockLimits& limits) {
  if (w.cost > limits.most_cost) return false;
  if (limits.uniqueness == 0 || w.second == kNoBlockCost) return true;
  return std::uint64_t{w.second} * static_cast<unsigned>(100 - limits.uniqueness) >=
         std::uint64_t{w.cost} * 100u;
}

/// (min steps + k + offset) / steps, with the offset of the parabola through the three costs if `subpixel`.
RECON_HD float block_disparity(const BlockWinner& w, int min, int steps, bool subpixel) {
  const auto cost = [](std::uint32_t sum) {
    return sum == kNoBlockCost ? invalid_cost() : static_cast<float>(sum);
  };
  const float offset = subpixel ? parabola_offset(cost(w.before), cost(w.cost), cost(w.after)) : 0.0f;
  return (static_cast<float>(min * steps + w.k) + offset) / static_cast<float>(steps);
}

/// Assignment key of a left pixel for its matching position in the right image: the lowest key, of min cost
/// and then lowest k, owns the position.
RECON_HD std::uint64_t block_owner_key(std::uint32_t cost, int k) {
  return std::uint64_t{cost} << 16 | static_cast<std::uint16_t>(k);
}

inline constexpr std::uint64_t kUnassigned = ~std::uint64_t{0};

/// Whether hypothesis k of a pixel is within `left_right` pixels of that of the owner of its position in the
/// right image.
RECON_HD bool agrees_with_owner(std::uint64_t owner, int k, int left_right, int steps) {
  const int difference = static_cast<int>(owner & 0xFFFFu) - k;
  return difference <= left_right * steps && -difference <= left_right * steps;
}

/// Side of the next coarser level of the pyramid.
RECON_HD int coarser_size(int size) {
  return (size + 1) / 2;
}

/// Combines the disparity of a pixel with that of the covering pixel of the coarser level; `max_disparity` is
/// the max disparity searched at the finer level.
RECON_HD float finer_or_coarser(float finer, float coarser, float max_disparity) {
  const float doubled = 2.0f * coarser;
  return doubled > max_disparity ? doubled : finer;
}

}  // namespace recon
