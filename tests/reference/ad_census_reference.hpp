#pragma once

#include <cstddef>
#include <vector>

#include "core/image.hpp"

namespace recon::reference {

/// Costs of every pixel and disparity.
struct FloatVolume {
  int width = 0, height = 0, planes = 0;
  std::vector<float> values;

  FloatVolume(int w, int h, int d)
      : width(w),
        height(h),
        planes(d),
        values(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * static_cast<std::size_t>(d)) {}
  float& operator()(int x, int y, int d) { return values[index(x, y, d)]; }
  float operator()(int x, int y, int d) const { return values[index(x, y, d)]; }

 private:
  std::size_t index(int x, int y, int d) const {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) *
               static_cast<std::size_t>(planes) +
           static_cast<std::size_t>(d);
  }
};

/// The second half of the AD-Census system, implemented from Mei et al. 2011, sections 3.3 and 3.4.

/// Inputs of the scanline optimization. Plane d of pixel x matches x + offset + step * d in `matched`; an
/// empty `matched` means that there is no second view.
struct ScanlineViews {
  ImageView<const Rgb8> reference, matched;
  int offset = 0, step = -1;
};
struct ScanlineNumbers {
  float p1 = 1.0f, p2 = 3.0f;
  int threshold = 15;
};

/// Max difference over the three channels.
int colour_distance(Rgb8 a, Rgb8 b);

/// C_r(p, d) of the paths that step by (dx, dy).
FloatVolume scanline_path(const FloatVolume& costs, const ScanlineViews& views,
                          const ScanlineNumbers& numbers, int dx, int dy);

/// C_2(p, d): the mean of the four paths.
FloatVolume scanline_costs(const FloatVolume& costs, const ScanlineViews& views,
                           const ScanlineNumbers& numbers);

enum class Label { kReliable, kOutlier };

struct LabelledMap {
  int width = 0, height = 0;
  std::vector<float> disparity;  ///< NaN: unknown
  std::vector<Label> label;

  LabelledMap(int w, int h)
      : width(w),
        height(h),
        disparity(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)),
        label(disparity.size()) {}
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
  }
};

/// Left-right outliers of the left map.
LabelledMap find_outliers(ImageView<const float> left, ImageView<const float> right, float tolerance);

/// Arm lengths of a pixel's cross to the left, right, above and below.
struct Cross {
  int left, right, up, down;
};

/// Whether D_R(p - d) < d - 1 for a pixel p of column x: the pixel would occlude the surface that the right
/// view sees there.
bool contradicted(ImageView<const float> right, float disparity, int x, int y);

/// Region voting; `crosses` row by row. Votes that the right map contradicts are ignored.
void vote(LabelledMap& map, const std::vector<Cross>& crosses, int min, int count, int min_votes,
          float min_share, int iterations, ImageView<const float> right);

/// Interpolates the outliers from the nearest reliable pixels in sixteen directions; values that the right
/// map contradicts are used last.
void interpolate(LabelledMap& map, ImageView<const Rgb8> image, ImageView<const float> right);

/// Labels the reliable surfaces of fewer than `least` pixels as outliers.
void invalidate_small_segments(LabelledMap& map, int least);

/// Extends surfaces to the left of the first reliable pixel of a row, or of any other with outliers to its
/// left, if these lie outside the right view; in double precision.
void extend_surfaces(LabelledMap& map, int min, int count, int reach, int min_fit);

/// Discontinuity adjustment of a map of integer disparities.
std::vector<float> adjust_discontinuities(ImageView<const float> disparity, const FloatVolume& costs,
                                          int min);

/// Sub-pixel enhancement of a map of integer disparities, in sixteenths.
std::vector<float> enhance(ImageView<const float> disparity, const FloatVolume& costs, int min);

}  // namespace recon::reference
