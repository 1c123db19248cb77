#pragma once

#include <functional>

#include "core/image.hpp"
#include "core/volume.hpp"

namespace recon::reference {

/// AD-Census costs and the three aggregators, implemented from the papers in double precision: every cost,
/// weight and sum separately, pixel by pixel.

/// A rectified pair as seen from one of its views.
struct ColourViews {
  ImageView<const Rgb8> here, there;
  int direction;  ///< column x of this view matches x + direction * disparity: -1 from the left, 1 from the
                  ///< right
  int min_disparity;

  int match(int x, int d) const { return x + direction * (min_disparity + d); }
};

/// min(mean over the channels of |difference|, cap); the border columns of the other view are replicated.
Volume<float> colour_differences(const ColourViews& views, int planes, double cap);

/// 1 - exp(-bits / lambda_census) + 1 - exp(-mean difference / lambda_ad)
Volume<float> ad_census(const ColourViews& views, int planes, double lambda_ad, double lambda_census);

/// The weight of q in the support of p on a plane; 0 or less: q is not in the support.
using Weight = std::function<double(int px, int py, int qx, int qy, int d)>;

/// sum of w C / sum of w over all q of finite cost with |q - p| <= radius in x and y; infinite if there is no
/// such q.
Volume<float> weighted_means(VolumeView<const float> costs, int radius, const Weight& weight);

Volume<float> constant_window(VolumeView<const float> costs, int radius);

/// The same by the sequential program of Fang et al. 2012, figure 3, the baseline of time measurements: plain
/// loops, single precision, no reuse.
void direct_window_means(VolumeView<const float> costs, int radius, VolumeView<float> means);

/// Yoon and Kweon's weights, of both views or, if `there` is empty, of one.
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

/// Cross-based means, `iterations` times, with alternating order.
Volume<float> cross_based(const ColourViews& views, VolumeView<const float> costs, const ArmRule& rule,
                          int iterations);

}  // namespace recon::reference
