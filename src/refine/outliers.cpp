#include "refine/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/connected_runs.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "refine/surface_fit.hpp"
#include "refine/surface_step.hpp"

namespace recon {
namespace {

template <class A, class B>
bool same_size(ImageView<A> a, ImageView<B> b) {
  return a.width == b.width && a.height == b.height;
}

/// Whether the right map contradicts the disparity of (x, y).
bool is_contradicted(ImageView<const float> right, float disparity, int x, int y) {
  return contradicted(disparity, x, right.width, [row = right.row(y)](int column) { return row[column]; });
}

struct Ballot {
  ImageView<const std::int32_t> bins;  ///< bin that each pixel votes for, -1: none
  ImageView<const Cross> crosses;
  VotingOptions options;
};

/// The bin that the region of (x, y) votes for, -1 if it is not decisive.
int vote_of(const Ballot& ballot, int x, int y, std::vector<int>& histogram) {
  std::fill(histogram.begin(), histogram.end(), 0);
  const Cross own = ballot.crosses(x, y);
  int votes = 0;
  for (int j = y - own.up; j <= y + own.down; ++j) {
    const Cross beside = ballot.crosses(x, j);
    const std::int32_t* bins = ballot.bins.row(j);
    for (int i = x - beside.left; i <= x + beside.right; ++i) {
      if (bins[i] < 0) continue;
      ++histogram[bins[i]];
      ++votes;
    }
  }
  if (votes == 0) return -1;
  const auto winner = std::max_element(histogram.begin(), histogram.end());
  if (!vote_decides(*winner, votes, ballot.options.min_votes, ballot.options.min_share)) return -1;
  return static_cast<int>(winner - histogram.begin());
}

/// The disparities of reliable pixels; others are unknown.
Image<float> reliable_only(ImageView<const float> disparity, ImageView<const Outlier> outliers) {
  Image<float> reliable(disparity.width, disparity.height);
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x)
      reliable(x, y) = outliers(x, y) == Outlier::kNone ? disparity(x, y) : kUnknown;
  return reliable;
}

}  // namespace

Image<Outlier> left_right_check(ImageView<const float> left, ImageView<const float> right, float tolerance) {
  EXPECTS(left.height == right.height && tolerance >= 0.0f);
  Image<Outlier> outliers(left.width, left.height);
  parallel_for(left.height, [&](int y) {
    const float* matched = right.row(y);
    for (int x = 0; x < left.width; ++x) {
      const bool agree = views_agree(left(x, y), x, right.width, tolerance,
                                     [matched](int column) { return matched[column]; });
      outliers(x, y) = agree ? Outlier::kNone : Outlier::kOutlier;
    }
  });
  return outliers;
}

void vote_in_regions(ImageView<float> disparity, ImageView<Outlier> outliers, ImageView<const Cross> crosses,
                     int min, int count, const VotingOptions& options, ImageView<const float> right) {
  EXPECTS(same_size(disparity, outliers) && same_size(disparity, crosses) && count >= 1);
  EXPECTS(options.min_votes >= 0 && options.min_share >= 0.0f && options.min_share <= 1.0f);
  EXPECTS(options.iterations >= 0 && right.height == disparity.height);
  const int width = disparity.width, height = disparity.height;
  Image<std::int32_t> bins(width, height);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    parallel_for(height, [&](int y) {
      for (int x = 0; x < width; ++x) bins(x, y) = voting_bin(disparity(x, y), outliers(x, y), min, count);
    });
    const Ballot ballot{bins.view(), crosses, options};
    parallel_for(height, [&](int y) {
      std::vector<int> histogram(count);
      for (int x = 0; x < width; ++x) {
        if (outliers(x, y) == Outlier::kNone) continue;
        const int bin = vote_of(ballot, x, y, histogram);
        if (bin < 0 || is_contradicted(right, static_cast<float>(min + bin), x, y)) continue;
        disparity(x, y) = static_cast<float>(min + bin);
        outliers(x, y) = Outlier::kNone;
      }
    });
  }
}

void interpolate_outliers(ImageView<float> disparity, ImageView<const Outlier> outliers,
                          ImageView<const Rgb8> image, ImageView<const float> right) {
  EXPECTS(same_size(disparity, outliers) && same_size(disparity, image));
  EXPECTS(right.height == disparity.height);
  const auto reliable = [&](int x, int y) {
    return outliers(x, y) == Outlier::kNone && !std::isnan(disparity(x, y));
  };
  const auto offer = [&](int x, int y, int i, int j) {
    const float value = disparity(i, j);
    return Filling{
        is_contradicted(right, value, x, y) ? kContradictedFilling : max_difference(image(x, y), image(i, j)),
        value};
  };
  // Only outliers are written and only reliable pixels are read, so the order is irrelevant.
  parallel_for(disparity.height, [&](int y) {
    for (int x = 0; x < disparity.width; ++x) {
      if (outliers(x, y) == Outlier::kNone) continue;
      Filling found{kNoFilling, kUnknown};
      for (int direction = 0; direction < kSearchDirections; ++direction) {
        const SearchStep step = search_step(direction);
        int i = x + step.x, j = y + step.y;
        while (disparity.contains(i, j) && !reliable(i, j)) i += step.x, j += step.y;
        if (disparity.contains(i, j)) found = better_filling(found, offer(x, y, i, j));
      }
      if (found.difference != kNoFilling) disparity(x, y) = found.disparity;
    }
  });
}

void invalidate_small_segments(ImageView<const float> disparity, ImageView<Outlier> outliers,
                               int min_pixels) {
  EXPECTS(disparity.width == outliers.width && disparity.height == outliers.height);
  Image<float> reliable = reliable_only(disparity, outliers);
  remove_small_regions(reliable.view(), min_pixels, same_surface);
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x)
      if (std::isnan(reliable(x, y))) outliers(x, y) = Outlier::kOutlier;
}

void extend_surfaces(ImageView<float> disparity, ImageView<Outlier> outliers, int min, int count) {
  EXPECTS(disparity.width == outliers.width && disparity.height == outliers.height && count >= 1);
  const Image<float> reliable = reliable_only(disparity, outliers);
  parallel_for(disparity.height, [&](int y) {
    SurfaceFit surface(reliable.view(), kFitReach, 1);
    PlaneFit plane;
    int fitted = -1, known = -1;  // columns of the pixel of `plane` and of the last reliable pixel
    for (int x = disparity.width - 1; x >= 0; --x) {
      if (!std::isnan(reliable(x, y))) known = x;
      if (known < 0 || known == x || !is_beyond_right_view(x, reliable(known, y))) continue;
      if (fitted != known) plane = surface.around(known, y), fitted = known;
      disparity(x, y) = carried_disparity(reliable(known, y), plane, x - known, min, count);
      outliers(x, y) = Outlier::kNone;
    }
  });
}

}  // namespace recon
