#include "refine/depth_filters.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/connected_runs.hpp"
#include "core/parallel.hpp"
#include "refine/smooth_step.hpp"
#include "refine/surface_step.hpp"
#include "refine/view_filter_step.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "refine/depth_filters.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE void order(V& a, V& b) {
  const V lower = hn::Min(a, b);
  b = hn::Max(a, b);
  a = lower;
}

/// Computes the medians of a row from three rows with one pixel of padding on each side; unknown pixels are
/// infinite and so sorted last. `out` is padded to whole vectors.
void median_row(const float* above, const float* here, const float* below, int width, float* out) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto unknown = hn::Set(d, std::numeric_limits<float>::infinity());
  for (int x = 0; x < width; x += lanes) {
    auto a = hn::LoadU(d, above + x), b = hn::LoadU(d, above + x + 1), c = hn::LoadU(d, above + x + 2);
    auto e = hn::LoadU(d, here + x), f = hn::LoadU(d, here + x + 1), g = hn::LoadU(d, here + x + 2);
    auto h = hn::LoadU(d, below + x), i = hn::LoadU(d, below + x + 1), j = hn::LoadU(d, below + x + 2);
    const auto centre = f;
    // A sorting network of 25 comparisons in seven layers.
    order(a, e), order(b, i), order(c, g), order(f, j);
    order(a, i), order(c, f), order(e, j), order(g, h);
    order(a, c), order(b, e), order(f, g), order(i, j);
    order(b, f), order(e, h), order(g, i);
    order(a, b), order(c, f), order(e, g), order(h, j);
    order(c, e), order(f, g), order(h, i);
    order(b, c), order(e, f), order(g, h);
    // The median of n known values is at index (n - 1) / 2.
    auto median = hn::IfThenElse(hn::Lt(c, unknown), b, a);
    median = hn::IfThenElse(hn::Lt(f, unknown), c, median);
    median = hn::IfThenElse(hn::Lt(h, unknown), e, median);
    median = hn::IfThenElse(hn::Lt(j, unknown), f, median);
    const auto nan = hn::Set(d, kUnknown);
    hn::StoreU(hn::IfThenElse(hn::Lt(centre, unknown), median, nan), d, out + x);
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {
HWY_EXPORT(median_row);

Image<float> median_3x3(ImageView<const float> depth) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr std::size_t kSlack = 64;  // padding for one vector
  const std::size_t columns = static_cast<std::size_t>(depth.width) + 2 + kSlack;
  Image<float> result(depth.width, depth.height);
  parallel_for(depth.height, [&](int y) {
    std::vector<float> rows(3 * columns, kInfinity), medians(columns);
    for (int j = std::max(y - 1, 0); j <= std::min(y + 1, depth.height - 1); ++j) {
      float* row = rows.data() + static_cast<std::size_t>(j - y + 1) * columns + 1;
      for (int x = 0; x < depth.width; ++x) row[x] = std::isnan(depth(x, j)) ? kInfinity : depth(x, j);
    }
    HWY_DYNAMIC_DISPATCH(median_row)
    (rows.data(), rows.data() + columns, rows.data() + 2 * columns, depth.width, medians.data());
    std::copy_n(medians.data(), depth.width, result.row(y));
  });
  return result;
}

Image<float> smoothed_disparities(ImageView<const float> disparity, const DisparityBounds& bounds) {
  Image<float> result(disparity.width, disparity.height);
  parallel_for(disparity.height, [&](int y) {
    const bool inner_row = y >= kSmoothRadius && y + kSmoothRadius < disparity.height;
    for (int x = 0; x < disparity.width; ++x) {
      const float* at = disparity.row(y) + x;
      if (std::isnan(*at))
        result(x, y) = *at;
      else if (inner_row && x >= kSmoothRadius && x + kSmoothRadius < disparity.width)
        result(x, y) = smoothed_disparity(bounds, [&](int i, int j) { return at[j * disparity.pitch + i]; });
      else
        result(x, y) = smoothed_disparity(bounds, [&](int i, int j) {
          return disparity.contains(x + i, y + j) ? disparity(x + i, y + j) : NAN;
        });
    }
  });
  return result;
}

Image<float> local_contrast(ImageView<const std::uint8_t> grey, int window) {
  EXPECTS(window >= 1 && window % 2 == 1);
  const int radius = window / 2;
  Image<float> contrast(grey.width, grey.height);
  parallel_for(grey.height, [&](int y) {
    std::vector<std::uint32_t> sums(grey.width), squares(sums);
    for (int j = y - radius; j <= y + radius; ++j) {
      const std::uint8_t* row = grey.row(std::clamp(j, 0, grey.height - 1));
      for (std::size_t x = 0; x < sums.size(); ++x) {
        sums[x] += row[x];
        squares[x] += std::uint32_t{row[x]} * row[x];
      }
    }
    const auto column = [&](int x) { return std::clamp(x, 0, grey.width - 1); };
    std::uint64_t sum = 0, square = 0;
    for (int i = -radius; i <= radius; ++i) sum += sums[column(i)], square += squares[column(i)];
    const double n = static_cast<double>(window) * window;
    for (int x = 0; x < grey.width; ++x) {
      contrast(x, y) = contrast_of(sum, square, n);
      sum += sums[column(x + radius + 1)];
      sum -= sums[column(x - radius)];
      square += squares[column(x + radius + 1)];
      square -= squares[column(x - radius)];
    }
  });
  return contrast;
}

void remove_speckles(ImageView<float> depth, int min_size, float max_relative_step) {
  remove_small_regions(depth, min_size,
                       [max_relative_step](float a, float b) { return same_patch(a, b, max_relative_step); });
}

void remove_disparity_speckles(ImageView<float> disparity, int min_size) {
  remove_small_regions(disparity, min_size, same_surface);
}

}  // namespace recon
#endif
