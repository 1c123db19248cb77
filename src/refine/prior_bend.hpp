#pragma once

#include <array>
#include <vector>

#include "core/eigen.hpp"

namespace recon {

/// A known inverse depth at a pixel, and what a prior says there.
struct PriorAnchor {
  int x = 0, y = 0;
  double prior = 0, inverse_depth = 0;
  int fold = 0;       ///< part of the anchors, in [0, kPriorFolds)
  double weight = 1;  ///< the confidence of the prior, (0, 1]
};

inline constexpr int kPriorFolds = 5;
inline constexpr int kAnchorStep = 2;  ///< pixels between anchors, in both directions

/// A fifth of many anchors, evenly over the image; all of a few.
std::vector<PriorAnchor> some_of(const std::vector<PriorAnchor>& anchors);

/// How inverse depths follow a prior: (scale * prior + shift) * bend(x, y), where the bend is a sum of
/// kTerms x kTerms cosines over the image and a margin around it.
struct PriorBend {
  static constexpr int kTerms = 6;
  using Cosines = Eigen::Matrix<double, kTerms, Eigen::Dynamic>;

  double scale = 0, shift = 0;
  Eigen::Matrix<double, kTerms, kTerms> bend;  ///< factors of the cosines, by rows and columns
  Cosines columns, rows;                       ///< cosines at the pixels

  /// The inverse depth at a pixel; none follows from the prior where it is not above 0.
  double inverse_depth(int x, int y, double prior) const {
    const double straight = scale * prior + shift;
    return straight > 0 ? straight * rows.col(y).dot(bend * columns.col(x)) : 0;
  }
};

/// Bends by all anchors, and without those of each part.
struct PriorBends {
  PriorBend all;
  std::array<PriorBend, kPriorFolds> without;
};

/// The bends with the least relative errors of the anchors, robust: an anchor whose error is far above the
/// median counts little. Deterministic.
/// @param anchors  of an image of this size, in the order of its rows
PriorBends fit_bends(int width, int height, const std::vector<PriorAnchor>& anchors);

}  // namespace recon
