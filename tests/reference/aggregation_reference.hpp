#pragma once

#include <functional>

#include "core/image.hpp"
#include "core/volume.hpp"

namespace recon::reference {

/// AD-Census costs and the three aggregators written down from the papers in double precision: every cost,
/// weight and sum taken by itself, one pixel after the other.

/// A rectified pair as seen from one of its views.
struct ColourViews {
  ImageView<const Rgb8> here, there;
  int direction;  ///< column x of this view meets x + direction * disparity: -1 from the left, 1 from the
                  ///< right
  int min_disparity;

  int match(int x, int d) const { return x + direction * (min_disparity + d); }
};

/// min(mean over the channels of |difference|, cap); the other view goes on by its border columns.
Volume<float> colour_differences(const ColourViews& views, int planes, double cap);

/// 1 - exp(-bits / lambda_census) + 1 - exp(-mean difference / lambda_ad)
Volume<float> ad_census(const ColourViews& views, int planes, double lambda_ad, double lambda_census);

/// Whether q belongs to the support of p on a plane with a weight: 0 or less says no.
using Weight = std::function<double(int px, int py, int qx, int qy, int d)>;

/// sum of w C / sum of w over all q of finite cost, infinite where there is none, with |q - p| <= radius in x
/// and y.
Volume<float> weighted_means(VolumeView<const float> costs, int radius, const Weight& weight);

Volume<float> constant_window(VolumeView<const float> costs, int radius);

/// The same by the sequential program of Fang et al. 2012, figure 3, whose time others are compared with:
/// plain loops, single precision, nothing reused.
void direct_window_means(VolumeView<const float> costs, int radius, VolumeView<float> means);

/// Yoon and Kweon's weights, of both views or, with `there` empty, of one.
Volume<float> adaptive_weight(const ColourViews& views, VolumeView<const float> costs, int radius,
                              double gamma_colour, double gamma_space);

/// Thresholds of the arms: L1, L2, tau1, tau2.
struct ArmRule {
  int l1, l2, tau1, tau2;
};

struct Arms {
  int left, right, up, down;
};

Arms arms_of(ImageView<const Rgb8> image, int x, int y, const ArmRule& rule);

/// Cross-based means, `iterations` times, the order changing with each.
Volume<float> cross_based(const ColourViews& views, VolumeView<const float> costs, const ArmRule& rule,
                          int iterations, bool horizontal_first);

}  // namespace recon::reference
