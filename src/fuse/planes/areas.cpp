#include "fuse/planes/areas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/pixels.hpp"
#include "fuse/planes/area_pixels.hpp"
#include "match/gaussian_blur.hpp"

namespace recon {
namespace {

constexpr float kSteps = 16;                              ///< of an edge's weight for each grey level
constexpr int kWeights = 442 * static_cast<int>(kSteps);  ///< above 255 sqrt(3)

/// Disjoint sets of pixels with the largest weight within each.
class PixelSets {
 public:
  explicit PixelSets(int pixels) : parent_(pixels), size_(pixels, 1), inner_(pixels, 0) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int root(int pixel) {
    while (parent_[pixel] != pixel) pixel = parent_[pixel] = parent_[parent_[pixel]];
    return pixel;
  }
  /// Unites two different roots; the lower one stays.
  void unite(int a, int b, float weight) {
    if (b < a) std::swap(a, b);
    parent_[b] = a;
    size_[a] += size_[b];
    inner_[a] = weight;
  }
  int size(int root) const { return size_[root]; }
  float limit(int root, float scale) const { return inner_[root] + scale / static_cast<float>(size_[root]); }

 private:
  std::vector<int> parent_, size_;
  std::vector<float> inner_;
};

using Channels = std::array<Image<float>, 3>;

Channels blurred(ImageView<const Rgb8> image, float sigma) {
  const auto channel = [&](auto member) {
    return gaussian_blur(mapped<std::uint8_t>(image, [&](Rgb8 c) { return c.*member; }).view(), sigma);
  };
  return {channel(&Rgb8::r), channel(&Rgb8::g), channel(&Rgb8::b)};
}

/// An edge between a pixel and the next one of its row or its column.
struct Edge {
  std::int32_t pixel;    ///< index
  std::uint16_t weight;  ///< steps
  bool in_column;

  std::int32_t next(int width) const { return pixel + (in_column ? width : 1); }
};

/// All edges by rising weight, those of equal weight in the order of their pixels.
std::vector<Edge> sorted_edges(const Channels& colours) {
  const int width = colours[0].width(), height = colours[0].height();
  std::vector<Edge> edges;
  edges.reserve(2 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  const auto add = [&](int x, int y, bool in_column) {
    float square = 0;
    for (const Image<float>& colour : colours) {
      const float difference = colour(x, y) - (in_column ? colour(x, y + 1) : colour(x + 1, y));
      square += difference * difference;
    }
    edges.push_back({y * width + x, static_cast<std::uint16_t>(kSteps * std::sqrt(square)), in_column});
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (x + 1 < width) add(x, y, false);
      if (y + 1 < height) add(x, y, true);
    }
  std::vector<std::size_t> next(kWeights + 1);
  for (const Edge& edge : edges) ++next[edge.weight + 1u];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Edge> sorted(edges.size());
  for (const Edge& edge : edges) sorted[next[edge.weight]++] = edge;
  return sorted;
}

/// Numbers the sets by their first pixels.
Areas numbered(PixelSets& sets, int width, int height) {
  Areas areas{Image<std::int32_t>(width, height), 0};
  std::vector<std::int32_t> number(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), -1);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      std::int32_t& of_set = number[sets.root(y * width + x)];
      if (of_set < 0) of_set = areas.count++;
      areas.label(x, y) = of_set;
    }
  return areas;
}

/// Unites sets over edges whose weight exceeds what is ignored by no more than their limits; then those that
/// are too small. Keeps the edges between different sets.
void unite(std::vector<Edge>& edges, int width, float ignored, const AreaOptions& options, PixelSets& sets) {
  for (const Edge& edge : edges) {
    const int a = sets.root(edge.pixel), b = sets.root(edge.next(width));
    const float difference = std::max(0.0f, static_cast<float>(edge.weight) / kSteps - ignored);
    if (a != b && difference <= std::min(sets.limit(a, options.scale), sets.limit(b, options.scale)))
      sets.unite(a, b, difference);
  }
  std::erase_if(edges, [&](const Edge& edge) {
    const int a = sets.root(edge.pixel), b = sets.root(edge.next(width));
    if (a != b && std::min(sets.size(a), sets.size(b)) < options.min_size) sets.unite(a, b, 0);
    return sets.root(a) == sets.root(b);
  });
}

}  // namespace

std::vector<Areas> divide_by_colour(ImageView<const Rgb8> image, const std::vector<float>& ignored,
                                    const AreaOptions& options) {
  std::vector<Edge> edges = sorted_edges(blurred(image, options.sigma));
  PixelSets sets(image.width * image.height);
  std::vector<Areas> levels;
  for (const float level : ignored) {
    unite(edges, image.width, level, options, sets);
    levels.push_back(numbered(sets, image.width, image.height));
  }
  return levels;
}

AreaPixels pixels_inside(const Areas& areas) {
  const Image<std::int32_t>& label = areas.label;
  return AreaPixels(areas.count, [&](const auto& add) {
    for (int y = 0; y < label.height(); ++y)
      for (int x = 0; x < label.width(); ++x) add(label(x, y), AreaPixel{x, y});
  });
}

std::vector<AreaPixel> pixels_around(const Areas& areas, std::span<const AreaPixel> inside, int reach) {
  const ImageView<const std::int32_t> label = areas.label.view();
  const std::pair<int, int> steps[] = {{-reach, 0}, {reach, 0}, {0, -reach}, {0, reach}};
  std::vector<AreaPixel> around;
  for (const AreaPixel it : inside) {
    const std::int32_t area = label(it.x, it.y);
    const auto is_of_area = [&](int x, int y) { return label.contains(x, y) && label(x, y) == area; };
    for (std::size_t i = 0; i < std::size(steps); ++i) {
      const AreaPixel found{it.x - steps[i].first, it.y - steps[i].second};
      if (!label.contains(found.x, found.y) || label(found.x, found.y) == area) continue;
      // Of the pixels of the area that reach it, the first one adds it.
      if (std::none_of(steps, steps + i, [&](const auto& step) {
            return is_of_area(found.x + step.first, found.y + step.second);
          }))
        around.push_back(found);
    }
  }
  return around;
}

}  // namespace recon
