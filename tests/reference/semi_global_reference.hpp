#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "methods/stereo/pair.hpp"

namespace recon::reference {

/// An integer for every pixel and disparity.
struct IntVolume {
  int width = 0, height = 0, planes = 0;
  std::vector<int> values;

  IntVolume(int w, int h, int d)
      : width(w),
        height(h),
        planes(d),
        values(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * static_cast<std::size_t>(d)) {}
  int& operator()(int x, int y, int d) { return values[index(x, y, d)]; }
  int operator()(int x, int y, int d) const { return values[index(x, y, d)]; }

 private:
  std::size_t index(int x, int y, int d) const {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) *
               static_cast<std::size_t>(planes) +
           static_cast<std::size_t>(d);
  }
};

/// The min of one pixel's sums and its surroundings.
struct IntWinner {
  int plane;
  int cost;
  int before, after;  ///< of the adjacent planes, -1 outside the range
  int second;         ///< min of all others, -1 if there are none
};

/// Semi-global matching, implemented from Hirschmueller's paper, with plain integers and all volumes stored.
/// The functions are its stages, in order.

/// The transform of one pixel: a rank, or the bits of a census; of a scaled one, those of the pixels before
/// those of the means.
std::uint64_t transform_at(ImageView<const std::uint16_t> image, const TransformOptions& options, int x,
                           int y);

/// Whether a scaled census compares the means. @param image  of 8 bits
bool is_weak_at(ImageView<const std::uint16_t> image, int x, int y);

/// C(p, d) of a pair; from the images of 16 bits if there are any.
IntVolume transform_costs(const PairProblem& problem);

/// L_r(p, d) of the paths with direction (dx, dy).
IntVolume path_costs(const IntVolume& costs, ImageView<const std::uint8_t> guide,
                     const SemiGlobalOptions& options, int dx, int dy);

/// S(p, d): the sum of all L_r.
IntVolume summed_path_costs(const IntVolume& costs, ImageView<const std::uint8_t> guide,
                            const SemiGlobalOptions& options);

IntWinner winner_of(const IntVolume& sums, int x, int y);

/// Plane of the min sum of the right image's pixel x, -1 if none of its matches is in the left image.
int right_winner_of(const IntVolume& sums, int min_disparity, int x, int y);

/// The whole method.
Image<float> semi_global_disparity(const PairProblem& problem);

}  // namespace recon::reference
