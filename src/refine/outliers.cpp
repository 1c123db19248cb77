#include "refine/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace recon {

namespace {

template <class A, class B>
bool same_size(ImageView<A> a, ImageView<B> b) {
  return a.width == b.width && a.height == b.height;
}

/// Whether there is a right map and it contradicts the disparity of (x, y).
bool is_contradicted(ImageView<const float> right, float disparity, int x, int y) {
  if (right.empty()) return false;
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
      ++histogram[static_cast<std::size_t>(bins[i])];
      ++votes;
    }
  }
  if (votes == 0) return -1;
  const auto winner = std::max_element(histogram.begin(), histogram.end());
  if (!vote_decides(*winner, votes, ballot.options.min_votes, ballot.options.min_share)) return -1;
  return static_cast<int>(winner - histogram.begin());
}

}  // namespace

Image<Outlier> left_right_check(ImageView<const float> left, ImageView<const float> right, int min, int count,
                                float tolerance) {
  EXPECTS(left.height == right.height && count >= 0 && tolerance >= 0.0f);
  Image<Outlier> outliers(left.width, left.height);
  parallel_for(left.height, [&](int y) {
    const float* matched = right.row(y);
    for (int x = 0; x < left.width; ++x)
      outliers(x, y) = outlier_of(left(x, y), x, right.width, min, count, tolerance,
                                  [matched](int column) { return matched[column]; });
  });
  return outliers;
}

void vote_in_regions(ImageView<float> disparity, ImageView<Outlier> outliers, ImageView<const Cross> crosses,
                     int min, int count, const VotingOptions& options, ImageView<const float> right) {
  EXPECTS(same_size(disparity, outliers) && same_size(disparity, crosses) && count >= 1);
  EXPECTS(options.min_votes >= 0 && options.min_share >= 0.0f && options.min_share <= 1.0f);
  EXPECTS(options.iterations >= 0 && (right.empty() || right.height == disparity.height));
  const int width = disparity.width, height = disparity.height;
  Image<std::int32_t> bins(width, height);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    parallel_for(height, [&](int y) {
      for (int x = 0; x < width; ++x) bins(x, y) = voting_bin(disparity(x, y), outliers(x, y), min, count);
    });
    const Ballot ballot{bins.view(), crosses, options};
    parallel_for(height, [&](int y) {
      std::vector<int> histogram(static_cast<std::size_t>(count));
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
  EXPECTS(right.empty() || right.height == disparity.height);
  const auto reliable = [&](int x, int y) {
    return outliers(x, y) == Outlier::kNone && !std::isnan(disparity(x, y));
  };
  const auto offer = [&](int x, int y, int i, int j) {
    const float value = disparity(i, j);
    return Filling{filling_difference(outliers(x, y), !right.empty(), is_contradicted(right, value, x, y),
                                      image(x, y), image(i, j)),
                   value};
  };
  // Only outliers are written and only reliable pixels are read, so the order is irrelevant.
  parallel_for(disparity.height, [&](int y) {
    for (int x = 0; x < disparity.width; ++x) {
      if (outliers(x, y) == Outlier::kNone) continue;
      Filling found{kNoFilling, std::numeric_limits<float>::quiet_NaN()};
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

}  // namespace recon
