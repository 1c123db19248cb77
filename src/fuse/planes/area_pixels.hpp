#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "fuse/planes/areas.hpp"

namespace recon {

/// A pixel of an image by its column and row.
struct AreaPixel {
  std::int32_t x, y;
};

/// Lists of pixels, one for each area.
class AreaPixels {
 public:
  /// @param visit  visit(add) calls add(area, pixel) for all of them, twice the same
  template <class Visit>
  AreaPixels(int areas, const Visit& visit) : begin_(static_cast<std::size_t>(areas) + 1) {
    visit([&](int area, AreaPixel) { ++begin_[area + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    pixels_.resize(begin_.back());
    std::vector<std::size_t> next(begin_);
    visit([&](int area, AreaPixel pixel) { pixels_[next[area]++] = pixel; });
  }

  std::span<const AreaPixel> of(int area) const {
    return std::span(pixels_).subspan(begin_[area], begin_[area + 1] - begin_[area]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<AreaPixel> pixels_;
};

/// The pixels of each area, row by row.
AreaPixels pixels_inside(const Areas& areas);

/// The pixels around an area: those that have one of it exactly `reach` pixels away in their row or column,
/// each once.
/// @param inside  the pixels of the area
std::vector<AreaPixel> pixels_around(const Areas& areas, std::span<const AreaPixel> inside, int reach);

}  // namespace recon
