#include "reference/edge_planes_reference.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace recon::reference {
namespace {

constexpr double kRatio = 1.02;

struct Textbook {
  const std::vector<EdgePixel>& pixels;
  int width, height;

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

  bool inside(int x, int y) const {
    const double w = at(x, y).w;
    const std::vector<double> around = star(x, y, 2);
    return at(x, y).cost <= 0.6 && std::none_of(around.begin(), around.end(), [&](double other) {
             return std::max(w, other) > kRatio * std::min(w, other);
           });
  }

  int giver(int x, int y, double min, double max) const {
    const int own = y * width + x;
    const EdgePixel& pixel = at(x, y);
    const std::vector<double> around = star(x, y, 4);
    if (std::none_of(around.begin(), around.end(), [&](double other) { return other * kRatio < pixel.w; }))
      return own;
    std::vector<std::tuple<int, int, int>> farther;  // difference, squared distance, index
    int nearer = 15;
    for (int j = 0; j < height; ++j)
      for (int i = 0; i < width; ++i) {
        const int square = (i - x) * (i - x) + (j - y) * (j - y);
        if (square > 64 || !inside(i, j)) continue;
        const double here = at(i, j).w + at(i, j).wx * (x - i) + at(i, j).wy * (y - j);
        const int difference = std::abs(at(i, j).grey - pixel.grey);
        if (here * kRatio < pixel.w && here >= min && here <= max)
          farther.emplace_back(difference, square, j * width + i);
        if (here * kRatio >= pixel.w && here < pixel.w * kRatio) nearer = std::min(nearer, difference);
      }
    if (farther.empty()) return own;
    const auto [difference, square, index] = *std::min_element(farther.begin(), farther.end());
    return difference + 3 <= nearer ? index : own;
  }
};

}  // namespace

std::vector<int> edge_planes(const std::vector<EdgePixel>& pixels, int width, int height, double min,
                             double max) {
  const Textbook textbook{pixels, width, height};
  std::vector<int> givers;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) givers.push_back(textbook.giver(x, y, min, max));
  return givers;
}

}  // namespace recon::reference
