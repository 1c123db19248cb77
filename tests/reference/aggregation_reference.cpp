#include "reference/aggregation_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace recon::reference {
namespace {

using Colour = std::array<double, 3>;

int channel(Rgb8 pixel, int c) {
  return c == 0 ? pixel.r : c == 1 ? pixel.g : pixel.b;
}

Rgb8 nearest(ImageView<const Rgb8> image, int x, int y) {
  return image(std::clamp(x, 0, image.width - 1), std::clamp(y, 0, image.height - 1));
}

int luminance(Rgb8 p) {
  return static_cast<int>(std::floor((299 * p.r + 587 * p.g + 114 * p.b) / 1000.0 + 0.5));
}

double mean_difference(Rgb8 p, Rgb8 q) {
  double sum = 0;
  for (int c = 0; c < 3; ++c) sum += std::abs(channel(p, c) - channel(q, c));
  return sum / 3;
}

/// Hamming distance of the censuses over 9 x 7 pixels.
int census_distance(ImageView<const Rgb8> image, int px, ImageView<const Rgb8> other, int qx, int y) {
  int distance = 0;
  for (int j = -3; j <= 3; ++j)
    for (int i = -4; i <= 4; ++i) {
      const bool p = luminance(nearest(image, px + i, y + j)) < luminance(nearest(image, px, y));
      const bool q = luminance(nearest(other, qx + i, y + j)) < luminance(nearest(other, qx, y));
      distance += p != q ? 1 : 0;
    }
  return distance;
}

template <class CostOf>
Volume<float> filled(int width, int planes, int height, const CostOf& cost_of) {
  Volume<float> volume(width, planes, height);
  for (int y = 0; y < height; ++y)
    for (int d = 0; d < planes; ++d)
      for (int x = 0; x < width; ++x) volume.view()(x, y, d) = static_cast<float>(cost_of(x, y, d));
  return volume;
}

/// Column in the other view, clamped to the image.
int column(const ColourViews& views, int x, int d) {
  return std::clamp(views.match(x, d), 0, views.there.width - 1);
}

bool inside(const ColourViews& views, int x) {
  return x >= 0 && x < views.there.width;
}

Colour cie_lab(Rgb8 pixel) {
  Colour linear{};
  for (int c = 0; c < 3; ++c) {
    const double v = channel(pixel, c) / 255.0;
    linear[static_cast<std::size_t>(c)] = v > 0.04045 ? std::pow((v + 0.055) / 1.055, 2.4) : v / 12.92;
  }
  const double matrix[3][3] = {{0.4124564, 0.3575761, 0.1804375},
                               {0.2126729, 0.7151522, 0.0721750},
                               {0.0193339, 0.1191920, 0.9503041}};
  const double white[3] = {0.95047, 1.0, 1.08883};
  double f[3];
  for (int i = 0; i < 3; ++i) {
    double t = 0;
    for (int c = 0; c < 3; ++c) t += matrix[i][c] * linear[static_cast<std::size_t>(c)];
    t /= white[i];
    const double delta = 6.0 / 29.0;
    f[i] = t > delta * delta * delta ? std::cbrt(t) : t / (3 * delta * delta) + 4.0 / 29.0;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

std::vector<Colour> lab_pixels(ImageView<const Rgb8> image) {
  std::vector<Colour> pixels;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) pixels.push_back(cie_lab(image(x, y)));
  return pixels;
}

double distance(const Colour& p, const Colour& q) {
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

int max_difference(Rgb8 p, Rgb8 q) {
  int max_difference = 0;
  for (int c = 0; c < 3; ++c)
    max_difference = std::max(max_difference, std::abs(channel(p, c) - channel(q, c)));
  return max_difference;
}

int arm(ImageView<const Rgb8> image, int x, int y, int dx, int dy, const ArmRule& rule) {
  int length = 0;
  for (int k = 1;; ++k) {
    const int qx = x + k * dx, qy = y + k * dy;
    if (!image.contains(qx, qy) || k >= rule.l1) return length;
    const int from_centre = max_difference(image(qx, qy), image(x, y));
    const int from_last = max_difference(image(qx, qy), image(qx - dx, qy - dy));
    if (from_centre >= rule.tau1 || from_last >= rule.tau1) return length;
    if (k > rule.l2 && from_centre >= rule.tau2) return length;
    length = k;
  }
}

std::vector<Arms> all_arms(ImageView<const Rgb8> image, const ArmRule& rule) {
  std::vector<Arms> arms;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) arms.push_back(arms_of(image, x, y, rule));
  return arms;
}

Arms shorter(const Arms& p, const Arms& q) {
  return {std::min(p.left, q.left), std::min(p.right, q.right), std::min(p.up, q.up),
          std::min(p.down, q.down)};
}

}  // namespace

Volume<float> colour_differences(const ColourViews& views, int planes, double cap) {
  return filled(views.here.width, planes, views.here.height, [&](int x, int y, int d) {
    return std::min(cap, mean_difference(views.here(x, y), views.there(column(views, x, d), y)));
  });
}

Volume<float> ad_census(const ColourViews& views, int planes, double lambda_ad, double lambda_census) {
  return filled(views.here.width, planes, views.here.height, [&](int x, int y, int d) {
    const int match = column(views, x, d);
    const double difference = mean_difference(views.here(x, y), views.there(match, y));
    const int bits = census_distance(views.here, x, views.there, match, y);
    return (1 - std::exp(-bits / lambda_census)) + (1 - std::exp(-difference / lambda_ad));
  });
}

Volume<float> weighted_means(VolumeView<const float> costs, int radius, const Weight& weight) {
  return filled(costs.width, costs.planes, costs.height, [&](int x, int y, int d) {
    double sum = 0, total = 0;
    for (int qy = std::max(0, y - radius); qy <= std::min(costs.height - 1, y + radius); ++qy)
      for (int qx = std::max(0, x - radius); qx <= std::min(costs.width - 1, x + radius); ++qx) {
        const double w = weight(x, y, qx, qy, d);
        if (w <= 0 || std::isinf(costs(qx, qy, d))) continue;
        sum += w * static_cast<double>(costs(qx, qy, d));
        total += w;
      }
    return total > 0 ? sum / total : std::numeric_limits<double>::infinity();
  });
}

Volume<float> constant_window(VolumeView<const float> costs, int radius) {
  return weighted_means(costs, radius, [](int, int, int, int, int) { return 1.0; });
}

void direct_window_means(VolumeView<const float> costs, int radius, VolumeView<float> means) {
  for (int y = 0; y < costs.height; ++y)
    for (int d = 0; d < costs.planes; ++d)
      for (int x = 0; x < costs.width; ++x) {
        const int top = std::max(0, y - radius), bottom = std::min(costs.height - 1, y + radius);
        const int left = std::max(0, x - radius), right = std::min(costs.width - 1, x + radius);
        float sum = 0;
        for (int j = top; j <= bottom; ++j) {
          const float* row = costs.row(j, d);
          for (int i = left; i <= right; ++i) sum += row[i];
        }
        means.row(y, d)[x] = sum / static_cast<float>((bottom - top + 1) * (right - left + 1));
      }
}

Volume<float> adaptive_weight(const ColourViews& views, VolumeView<const float> costs, int radius,
                              double gamma_colour, double gamma_space) {
  const std::vector<Colour> here = lab_pixels(views.here), there = lab_pixels(views.there);
  const auto at = [&](const std::vector<Colour>& pixels, int x, int y) {
    return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(views.here.width) +
                  static_cast<std::size_t>(x)];
  };
  return weighted_means(costs, radius, [&](int px, int py, int qx, int qy, int d) {
    const double space = std::hypot(px - qx, py - qy) / gamma_space;
    const double w = std::exp(-(distance(at(here, px, py), at(here, qx, qy)) / gamma_colour + space));
    const int p_match = views.match(px, d), q_match = views.match(qx, d);
    if (there.empty() || !inside(views, p_match)) return w;
    if (!inside(views, q_match)) return 0.0;
    return w * std::exp(-(distance(at(there, p_match, py), at(there, q_match, qy)) / gamma_colour + space));
  });
}

Arms arms_of(ImageView<const Rgb8> image, int x, int y, const ArmRule& rule) {
  return {arm(image, x, y, -1, 0, rule), arm(image, x, y, 1, 0, rule), arm(image, x, y, 0, -1, rule),
          arm(image, x, y, 0, 1, rule)};
}

Volume<float> cross_based(const ColourViews& views, VolumeView<const float> costs, const ArmRule& rule,
                          int iterations) {
  const std::vector<Arms> here = all_arms(views.here, rule), there = all_arms(views.there, rule);
  const auto arms = [&](int x, int y, int d) {
    const int row = y * costs.width, match = views.match(x, d);
    const Arms& p = here[static_cast<std::size_t>(row + x)];
    if (there.empty() || !inside(views, match)) return p;
    return shorter(p, there[static_cast<std::size_t>(row + match)]);
  };
  Volume<float> result =
      filled(costs.width, costs.planes, costs.height, [&](int x, int y, int d) { return costs(x, y, d); });
  for (int i = 0; i < iterations; ++i) {
    const bool horizontal = i % 2 == 0;
    result = filled(costs.width, costs.planes, costs.height, [&](int x, int y, int d) {
      double sum = 0;
      int count = 0;
      const Arms p = arms(x, y, d);
      for (int k = horizontal ? -p.up : -p.left; k <= (horizontal ? p.down : p.right); ++k) {
        const int sx = horizontal ? x : x + k, sy = horizontal ? y + k : y;
        const Arms s = arms(sx, sy, d);
        for (int m = horizontal ? -s.left : -s.up; m <= (horizontal ? s.right : s.down); ++m) {
          const float cost = result.view()(horizontal ? sx + m : sx, horizontal ? sy : sy + m, d);
          if (std::isinf(cost)) continue;
          sum += static_cast<double>(cost);
          ++count;
        }
      }
      return count > 0 ? sum / count : std::numeric_limits<double>::infinity();
    });
  }
  return result;
}

}  // namespace recon::reference
