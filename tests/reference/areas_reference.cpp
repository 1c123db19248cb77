#include "reference/areas_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace recon::reference {

namespace {

using Plane = std::vector<float>;  // row by row

/// In single precision and in the order that is documented, as weights of edges that are rounded differ by a
/// whole step otherwise.
Plane blurred(const Plane& pixels, int width, int height, float sigma) {
  if (sigma == 0) return pixels;
  const int reach = static_cast<int>(std::ceil(4 * static_cast<double>(sigma)));
  std::vector<double> exact;
  double total = 0;
  for (int i = -reach; i <= reach; ++i) {
    const double t = i / static_cast<double>(sigma);
    exact.push_back(std::exp(-0.5 * t * t));
    total += exact.back();
  }
  const auto filtered = [&](const Plane& from, int dx, int dy) {
    Plane to(from.size());
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        float sum = 0;
        for (int i = -reach; i <= reach; ++i) {
          const int u = std::min(std::max(x + i * dx, 0), width - 1);
          const int v = std::min(std::max(y + i * dy, 0), height - 1);
          const auto weight = static_cast<float>(exact[static_cast<std::size_t>(i + reach)] / total);
          sum += weight * from[static_cast<std::size_t>(v * width + u)];
        }
        to[static_cast<std::size_t>(y * width + x)] = sum;
      }
    return to;
  };
  return filtered(filtered(pixels, 1, 0), 0, 1);
}

struct Edge {
  std::size_t a, b;
  int sixteenths;  ///< difference of colours, rounded down
};

std::vector<Edge> edges_of(ImageView<const Rgb8> image, float sigma) {
  const int width = image.width, height = image.height;
  std::vector<Plane> colours(3);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      colours[0].push_back(image(x, y).r);
      colours[1].push_back(image(x, y).g);
      colours[2].push_back(image(x, y).b);
    }
  for (Plane& colour : colours) colour = blurred(colour, width, height, sigma);
  std::vector<Edge> edges;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (const int down : {0, 1}) {
        const int u = x + 1 - down, v = y + down;
        if (u == width || v == height) continue;
        const auto a = static_cast<std::size_t>(y * width + x), b = static_cast<std::size_t>(v * width + u);
        float squares = 0;
        for (const Plane& colour : colours) squares += (colour[a] - colour[b]) * (colour[a] - colour[b]);
        edges.push_back({a, b, static_cast<int>(std::floor(16 * std::sqrt(squares)))});
      }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& left, const Edge& right) { return left.sixteenths < right.sixteenths; });
  return edges;
}

struct Set {
  int size = 1;
  float inner = 0;  ///< the difference over which it was united last, the largest of a level
};

}  // namespace

std::vector<std::vector<int>> areas_by_colour(ImageView<const Rgb8> image, const std::vector<float>& ignored,
                                              const AreaCriteria& criteria) {
  const std::vector<Edge> edges = edges_of(image, criteria.sigma);
  std::vector<int> label;
  std::map<int, Set> sets;
  for (int i = 0; i < image.width * image.height; ++i) {
    label.push_back(i);
    sets[i] = {};
  }
  const auto unite = [&](int a, int b, float difference) {
    std::replace(label.begin(), label.end(), b, a);
    sets[a] = {sets[a].size + sets[b].size, difference};
    sets.erase(b);
  };
  std::vector<std::vector<int>> levels;
  for (const float level : ignored) {
    for (const Edge& edge : edges) {
      const int a = label[edge.a], b = label[edge.b];
      if (a == b) continue;
      const float difference = std::max(0.0f, static_cast<float>(edge.sixteenths) / 16 - level);
      const auto allows = [&](const Set& set) {
        return difference <= set.inner + criteria.scale / static_cast<float>(set.size);
      };
      if (allows(sets[a]) && allows(sets[b])) unite(a, b, difference);
    }
    for (const Edge& edge : edges) {
      const int a = label[edge.a], b = label[edge.b];
      if (a != b && (sets[a].size < criteria.min_size || sets[b].size < criteria.min_size)) unite(a, b, 0);
    }
    levels.push_back(label);
  }
  return levels;
}

}  // namespace recon::reference
