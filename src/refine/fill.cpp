#include "refine/fill.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "match/colour_difference_step.hpp"
#include "refine/outlier_step.hpp"
#include "refine/surface_fit.hpp"

namespace recon {
namespace {

constexpr std::uint8_t kFilled = 255;

/// The smaller of two disparities, one of which may be unknown.
float background(float a, float b) {
  return std::isnan(a) || b < a ? b : a;
}

/// Fills the holes of a row of `count` pixels; returns whether the row has a known pixel.
bool fill_row(float* row, int count) {
  bool any = false;
  float before = kUnknown;
  for (int x = 0; x < count;) {
    if (!std::isnan(row[x])) {
      before = row[x++];
      any = true;
      continue;
    }
    int end = x;
    while (end < count && std::isnan(row[end])) ++end;
    const float behind = end < count ? row[end] : kUnknown;
    std::fill(row + x, row + end, background(before, behind));
    x = end;
  }
  return any;
}

/// For each row the nearest row with `known`, in the direction of `step`; -1 if none.
std::vector<int> nearest_known(const std::vector<std::uint8_t>& known, int step) {
  const int count = static_cast<int>(known.size());
  std::vector<int> nearest(known.size());
  int last = -1;
  for (int i = 0; i < count; ++i) {
    const int y = step > 0 ? i : count - 1 - i;
    if (known[y]) last = y;
    nearest[y] = last;
  }
  return nearest;
}

/// Fills by rows, and rows without a known pixel from those above and below.
void fill_by_rows(ImageView<float> disparity) {
  std::vector<std::uint8_t> known(disparity.height);
  parallel_for(disparity.height,
               [&](int y) { known[y] = fill_row(disparity.row(y), disparity.width) ? 1 : 0; });
  const std::vector<int> above = nearest_known(known, 1), below = nearest_known(known, -1);
  parallel_for(disparity.height, [&](int y) {
    if (known[y]) return;
    const int a = above[y], b = below[y];
    for (int x = 0; x < disparity.width; ++x)
      disparity(x, y) = background(a < 0 ? kUnknown : disparity(x, a), b < 0 ? kUnknown : disparity(x, b));
  });
}

constexpr int kMaxSteps = 255;              ///< from a hole to a surface
constexpr int kStepReach = 2;               ///< columns by which windows widen the near surface
constexpr float kDepthStep = 1.5f;          ///< min difference of two surfaces, pixels
constexpr int kFillReach = 20;              ///< of the planes
constexpr int kFillSamples = 2;             ///< pixels from one sample of a plane to the next
constexpr int kMinSamples = 20;             ///< of a plane
constexpr double kMaxSlope = 1;             ///< disparity per column or row
constexpr float kContradictedPenalty = 20;  ///< pixels of disparity

/// Whether a known pixel is close to a surface behind its own in its row, also across a hole. A slanted
/// surface has no step between neighbours.
bool near_background(const float* row, int width, int x) {
  for (const int step : {-1, 1}) {
    float before = row[x];
    bool edge = false;
    for (int k = 1; k <= kStepReach; ++k) {
      int i = x + k * step;
      const bool hole = i >= 0 && i < width && std::isnan(row[i]);
      while (i >= 0 && i < width && std::isnan(row[i])) i += step;
      if (i < 0 || i >= width) break;
      edge = edge || !same_surface(before, row[i]);
      if (edge && row[x] - row[i] > kDepthStep) return true;
      if (hole) break;
      before = row[i];
    }
  }
  return false;
}

/// A run of connected pixels, none of which is trusted, keeps its disparities: it is no border of a wider
/// surface but a thin one.
void trust_thin_surfaces(const float* row, int width, float* trusted) {
  for (int begin = 0; begin < width;) {
    int end = begin + 1;
    while (end < width && same_surface(row[end - 1], row[end])) ++end;
    const auto unknown = [](float value) { return std::isnan(value); };
    if (std::all_of(trusted + begin, trusted + end, unknown))
      std::copy(row + begin, row + end, trusted + begin);
    begin = end;
  }
}

/// The map without the pixels that are to be decided.
Image<float> trusted_part(ImageView<const float> disparity) {
  Image<float> trusted(disparity.width, disparity.height);
  parallel_for(disparity.height, [&](int y) {
    const float* row = disparity.row(y);
    for (int x = 0; x < disparity.width; ++x)
      trusted(x, y) = std::isnan(row[x]) || near_background(row, disparity.width, x) ? kUnknown : row[x];
    trust_thin_surfaces(row, disparity.width, trusted.row(y));
  });
  return trusted;
}

/// The map of the right view: of each pixel the nearest surface that the left map sees there.
Image<float> seen_from_the_right(ImageView<const float> left) {
  Image<float> right(left.width, left.height);
  parallel_for(left.height, [&](int y) {
    float* row = right.row(y);
    std::fill_n(row, left.width, kUnknown);
    for (int x = 0; x < left.width; ++x) {
      const float disparity = left(x, y);
      if (std::isnan(disparity)) continue;
      const float matched = static_cast<float>(x) - disparity;
      for (const float column : {std::floor(matched), std::ceil(matched)})
        if (column >= 0 && column < static_cast<float>(left.width))
          row[static_cast<int>(column)] = std::fmax(row[static_cast<int>(column)], disparity);
    }
  });
  return right;
}

/// The plane of a surface, through the mean of its disparities.
struct SurfacePlane {
  float disparity = 0, along_columns = 0, along_rows = 0;
};

constexpr SearchStep kFillSteps[] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};

/// The planes of the known pixels that have an unknown neighbour.
Image<SurfacePlane> planes_at_holes(ImageView<const float> trusted) {
  Image<SurfacePlane> planes(trusted.width, trusted.height);
  const auto unknown = [&](int x, int y) { return trusted.contains(x, y) && std::isnan(trusted(x, y)); };
  parallel_for(trusted.height, [&](int y) {
    SurfaceFit surface(trusted, kFillReach, kFillSamples);
    for (int x = 0; x < trusted.width; ++x) {
      if (std::isnan(trusted(x, y))) continue;
      const auto leads_to_hole = [&](SearchStep step) { return unknown(x + step.x, y + step.y); };
      if (std::none_of(std::begin(kFillSteps), std::end(kFillSteps), leads_to_hole)) continue;
      planes(x, y) = {trusted(x, y), 0, 0};
      const PlaneFit fit = surface.around(x, y);
      double u = 0, v = 0;
      if (!fit.slopes(kMinSamples, u, v)) continue;
      const double level = (fit.d - u * fit.u - v * fit.v) / fit.n;
      planes(x, y) = {trusted(x, y) + static_cast<float>(level),
                      static_cast<float>(std::clamp(u, -kMaxSlope, kMaxSlope)),
                      static_cast<float>(std::clamp(v, -kMaxSlope, kMaxSlope))};
    }
  });
  return planes;
}

/// Of every pixel the steps in one direction to the nearest known one; 0 if none is within kMaxSteps.
using Steps = Image<std::uint8_t>;

Steps steps_to_known(ImageView<const float> trusted, SearchStep step) {
  Steps steps(trusted.width, trusted.height);
  for (int j = 0; j < trusted.height; ++j) {
    const int y = step.y > 0 ? trusted.height - 1 - j : j;
    for (int i = 0; i < trusted.width; ++i) {
      const int x = step.x > 0 ? trusted.width - 1 - i : i, u = x + step.x, v = y + step.y;
      int count = 0;
      if (trusted.contains(u, v)) {
        const int further = steps(u, v);
        count = !std::isnan(trusted(u, v)) ? 1 : further > 0 && further < kMaxSteps ? further + 1 : 0;
      }
      steps(x, y) = static_cast<std::uint8_t>(count);
    }
  }
  return steps;
}

/// Decides unknown pixels.
class HoleFiller {
 public:
  HoleFiller(ImageView<const float> trusted, ImageView<const Rgb8> image, int min, int count)
      : image_(image),
        min_(static_cast<float>(min)),
        max_(static_cast<float>(min + count - 1)),
        right_(seen_from_the_right(trusted)),
        planes_(planes_at_holes(trusted)) {
    parallel_for(static_cast<int>(std::size(kFillSteps)),
                 [&](int k) { steps_[k] = steps_to_known(trusted, kFillSteps[k]); });
  }

  /// NaN if there is no known pixel in any direction.
  float at(int x, int y) const {
    const float* right = right_.row(y);
    float best = kUnknown, least = std::numeric_limits<float>::infinity();
    for (std::size_t k = 0; k < std::size(kFillSteps); ++k) {
      const int count = steps_[k](x, y);
      if (count == 0) continue;
      const int i = x + count * kFillSteps[k].x, j = y + count * kFillSteps[k].y;
      const SurfacePlane& plane = planes_(i, j);
      const float u = static_cast<float>(x - i), v = static_cast<float>(y - j);
      const float disparity =
          std::clamp(plane.disparity + plane.along_columns * u + plane.along_rows * v, min_, max_);
      const bool wrong = contradicted(disparity, x, right_.width(), [right](int c) { return right[c]; });
      const float cost = disparity + std::sqrt(u * u + v * v) +
                         static_cast<float>(max_difference(image_(x, y), image_(i, j))) +
                         (wrong ? kContradictedPenalty : 0.0f);
      if (cost < least) least = cost, best = disparity;
    }
    return best;
  }

 private:
  ImageView<const Rgb8> image_;
  float min_, max_;
  Image<float> right_;
  Image<SurfacePlane> planes_;
  std::array<Steps, std::size(kFillSteps)> steps_;
};

bool has_any(ImageView<const float> disparity, bool unknown) {
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x)
      if (std::isnan(disparity(x, y)) == unknown) return true;
  return false;
}

}  // namespace

Image<std::uint8_t> fill_disparity(ImageView<float> disparity, ImageView<const Rgb8> image, int min,
                                   int count) {
  EXPECTS(image.width == disparity.width && image.height == disparity.height && count >= 1);
  Image<std::uint8_t> filled(disparity.width, disparity.height);
  filled.fill(0);
  if (!has_any(disparity, true) || !has_any(disparity, false)) return filled;
  const Image<float> trusted = trusted_part(disparity);
  const HoleFiller filler(trusted.view(), image, min, count);
  parallel_for(disparity.height, [&](int y) {
    for (int x = 0; x < disparity.width; ++x) {
      if (!std::isnan(trusted(x, y))) continue;
      const float decided = filler.at(x, y);
      const bool was_known = !std::isnan(disparity(x, y));
      if (was_known && !(std::abs(decided - disparity(x, y)) > 1.0f)) continue;
      disparity(x, y) = decided;
      filled(x, y) = kFilled;
    }
  });
  fill_by_rows(disparity);
  return filled;
}

}  // namespace recon
