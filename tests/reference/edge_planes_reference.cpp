#include "reference/edge_planes_reference.hpp"

#include <algorithm>
#include <cmath>

namespace recon::reference {
namespace {

constexpr double kRatio = 1.02;

struct Surface {
  double sum = 0.0;
  int number = 0;
  double highest = 0.0;
  int giver = -1;

  double votes() const { return sum / std::sqrt(static_cast<double>(std::max(number, 1))); }
};

struct Textbook {
  const std::vector<EdgePixel>& pixels;
  int width, height;
  double min, max;
  const EdgeRules& rules;

  bool contains(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }
  const EdgePixel& at(int x, int y) const { return pixels[static_cast<std::size_t>(y * width + x)]; }

  /// Inverse depths on the axes and diagonals up to a distance.
  std::vector<double> star(int x, int y, int distance) const {
    std::vector<double> found;
    for (int j = y - distance; j <= y + distance; ++j)
      for (int i = x - distance; i <= x + distance; ++i) {
        const bool on_line = i == x || j == y || std::abs(i - x) == std::abs(j - y);
        if (on_line && (i != x || j != y) && contains(i, j)) found.push_back(at(i, j).w);
      }
    return found;
  }

  bool matches(int x, int y) const { return at(x, y).cost <= 0.6; }

  bool inside(int x, int y) const {
    const double w = at(x, y).w;
    const std::vector<double> around = star(x, y, rules.margin);
    return matches(x, y) && std::none_of(around.begin(), around.end(), [&](double other) {
             return std::max(w, other) > kRatio * std::min(w, other);
           });
  }

  static double vote(int difference, int square) {
    const double exponent = std::floor(difference / 2.0) / 8.0 + std::floor(square * 3 / 8.0) / 8.0;
    if (exponent >= 16.0) return 0.0;
    const double whole = std::floor(exponent);
    return std::floor(65536.0 * (1.0 - (exponent - whole) / 2.0) * std::exp2(-whole)) / 65536.0;
  }

  EdgeDecision decision(int x, int y) const {
    const int index = y * width + x;
    const EdgePixel& pixel = at(x, y);
    const std::vector<double> far_star = star(x, y, rules.farther), near_star = star(x, y, rules.nearer);
    const bool has_farther =
        std::any_of(far_star.begin(), far_star.end(), [&](double other) { return other * kRatio < pixel.w; });
    const bool has_nearer = std::any_of(near_star.begin(), near_star.end(),
                                        [&](double other) { return pixel.w * kRatio < other; });
    if (!has_farther && !has_nearer) return {index, false, false};
    Surface own, farther, nearer, unmatched;
    own.sum = 0.25;
    int unlike = 0;
    for (int j = 0; j < height; ++j)
      for (int i = 0; i < width; ++i) {
        const int square = (i - x) * (i - x) + (j - y) * (j - y);
        if (square > rules.radius * rules.radius) continue;
        const double here = at(i, j).w + at(i, j).wx * (x - i) + at(i, j).wy * (y - j);
        const EdgePixel& q = at(i, j);
        const int difference = std::abs(q.r - pixel.r) + std::abs(q.g - pixel.g) + std::abs(q.b - pixel.b);
        const double given = vote(difference, square);
        if (!matches(i, j)) unmatched.sum += given, unmatched.number += 1;
        if (!inside(i, j)) continue;
        Surface& surface = here * kRatio < pixel.w ? farther : pixel.w * kRatio < here ? nearer : own;
        if (&surface == &own && difference > 96) ++unlike;
        surface.sum += given;
        surface.number += 1;
        if (here >= min && here <= max && given > surface.highest)
          surface.highest = given, surface.giver = j * width + i;
      }
    own.giver = index;
    const double a = own.votes(), b = has_farther && farther.giver >= 0 ? farther.votes() : 0.0,
                 c = has_nearer && nearer.giver >= 0 ? nearer.votes() : 0.0;
    const bool first_is_farther = b * rules.gain > a;
    double first = first_is_farther ? b : a, second = first_is_farther ? a : b;
    int giver = first_is_farther ? farther.giver : index;
    if (c > first) {
      second = first, first = c, giver = nearer.giver;
    } else {
      second = std::max(second, c);
    }
    const bool is_unlike = giver == index && unlike >= rules.unlike && unmatched.votes() > own.votes();
    const bool undecided = second * rules.lead > first;
    return {giver, is_unlike || undecided, is_unlike && !undecided};
  }
};

}  // namespace

std::vector<EdgeDecision> edge_planes(const std::vector<EdgePixel>& pixels, int width, int height, double min,
                                      double max, const EdgeRules& rules) {
  const Textbook textbook{pixels, width, height, min, max, rules};
  std::vector<EdgeDecision> decisions;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) decisions.push_back(textbook.decision(x, y));
  return decisions;
}

}  // namespace recon::reference
