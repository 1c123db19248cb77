#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "methods/stereo/pair.hpp"

namespace recon::reference {

/// Whole numbers for every pixel and disparity.
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

/// What the least of one pixel's sums is and what surrounds it.
struct IntWinner {
  int plane;
  int cost;
  int before, after;  ///< of the adjacent planes, -1 outside the range
  int second;         ///< least of all others, -1 where there is none
};

/// Semi-global matching written down from Hirschmueller's paper, in plain integers, every volume stored.
/// The functions are its stages, in order.

/// The transform of one pixel: a rank, or the bits of a census.
std::uint64_t transform_at(ImageView<const std::uint16_t> image, const TransformOptions& options, int x,
                           int y);

/// C(p, d) of a pair: from the images of 16 bits where there are any.
IntVolume transform_costs(const PairProblem& problem);

/// L_r(p, d) of the paths that step by (dx, dy).
IntVolume path_costs(const IntVolume& costs, ImageView<const std::uint8_t> guide,
                     const SemiGlobalOptions& options, int dx, int dy);

/// S(p, d): the sum of all L_r.
IntVolume summed_path_costs(const IntVolume& costs, ImageView<const std::uint8_t> guide,
                            const SemiGlobalOptions& options);

IntWinner winner_of(const IntVolume& sums, int x, int y);

/// Plane of the least sum seen from the right image's pixel x, -1 where none of its matches is in the left.
int right_winner_of(const IntVolume& sums, int min_disparity, int x, int y);

/// The whole method.
Image<float> semi_global_disparity(const PairProblem& problem);

}  // namespace recon::reference
