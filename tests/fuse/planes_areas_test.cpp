// The division of images into areas against a textbook version, and what holds for every division.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "fuse/planes/area_pixels.hpp"
#include "fuse/planes/areas.hpp"
#include "reference/areas_reference.hpp"

namespace recon {
namespace {

const std::vector<float> kLevels = {0, 0.5f, 2, 9};

struct RandomColours {
  explicit RandomColours(unsigned seed) : engine(seed) {}
  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine); }
  Rgb8 colour(int around, int range) {
    const auto value = [&] { return static_cast<std::uint8_t>(std::clamp(around + below(range), 0, 255)); };
    const auto r = value(), g = value(), b = value();
    return {r, g, b};
  }
  std::mt19937 engine;
};

Image<Rgb8> noise(int width, int height, int range, unsigned seed) {
  RandomColours random(seed);
  Image<Rgb8> image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image(x, y) = random.colour(100, range);
  return image;
}

/// Rectangles of colours that differ more or less, shaded and with noise.
Image<Rgb8> blocks(int width, int height, unsigned seed) {
  RandomColours random(seed);
  Image<Rgb8> image(width, height, Rgb8{120, 120, 120});
  for (int i = 0; i < 12; ++i) {
    const int x0 = random.below(width), y0 = random.below(height);
    const int x1 = std::min(width, x0 + 1 + random.below(width)),
              y1 = std::min(height, y0 + 1 + random.below(height));
    const Rgb8 colour = random.colour(100, i % 2 == 0 ? 100 : 12);
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) image(x, y) = colour;
  }
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      Rgb8& pixel = image(x, y);
      pixel.r = static_cast<std::uint8_t>(pixel.r + random.below(3) + x / 8);
      pixel.b = static_cast<std::uint8_t>(pixel.b + y / 5);
    }
  return image;
}

std::vector<Image<Rgb8>> cases() {
  std::vector<Image<Rgb8>> images;
  unsigned seed = 1;
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(1, 67), std::pair(131, 1), std::pair(2, 2),
                                      std::pair(37, 29), std::pair(64, 48), std::pair(41, 63)}) {
    for (const int range : {1, 4, 40, 156}) images.push_back(noise(width, height, range, seed++));
    for (int i = 0; i < 3; ++i) images.push_back(blocks(width, height, seed++));
  }
  return images;
}

const std::vector<AreaOptions> kOptions = {{}, {0, 60, 1}, {0, 5, 20}, {0.8f, 300, 7}, {1.5f, 0, 1}};

/// The numbers of the sets in the order of their first pixels.
std::vector<int> in_order(const std::vector<int>& label) {
  std::map<int, int> number;
  std::vector<int> result;
  for (const int it : label)
    result.push_back(number.emplace(it, static_cast<int>(number.size())).first->second);
  return result;
}

std::vector<int> row_by_row(const Areas& areas) {
  std::vector<int> label;
  for (int y = 0; y < areas.label.height(); ++y)
    for (int x = 0; x < areas.label.width(); ++x) label.push_back(areas.label(x, y));
  return label;
}

TEST(DivideByColour, EqualsTheTextbook) {
  int areas = 0, levels = 0;
  for (const Image<Rgb8>& image : cases())
    for (const AreaOptions& options : kOptions) {
      const std::vector<Areas> found = divide_by_colour(image.view(), kLevels, options);
      const auto expected =
          reference::areas_by_colour(image.view(), kLevels, {options.sigma, options.scale, options.min_size});
      ASSERT_EQ(found.size(), kLevels.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(row_by_row(found[i]), in_order(expected[i]))
            << image.width() << " x " << image.height() << ", level " << i << ", scale " << options.scale
            << ", min size " << options.min_size;
        areas += found[i].count;
        levels += i > 0 && found[i].count < found[i - 1].count;
      }
    }
  EXPECT_GT(areas, 20000) << "the cases are divided little";
  EXPECT_GT(levels, 100) << "levels do not differ";
}

/// The number of pixels of each area that are connected to its first one.
std::vector<int> connected(const Areas& areas) {
  const ImageView<const std::int32_t> label = areas.label.view();
  std::vector<int> sizes(static_cast<std::size_t>(areas.count));
  Image<std::uint8_t> met(label.width, label.height, 0);
  for (int y = 0; y < label.height; ++y)
    for (int x = 0; x < label.width; ++x) {
      int& size = sizes.at(static_cast<std::size_t>(label(x, y)));
      if (size > 0) continue;
      std::vector<AreaPixel> next = {{x, y}};
      met(x, y) = 1;
      while (!next.empty()) {
        const AreaPixel at = next.back();
        next.pop_back();
        ++size;
        for (const auto& [dx, dy] : {std::pair(1, 0), std::pair(-1, 0), std::pair(0, 1), std::pair(0, -1)}) {
          const int u = at.x + dx, v = at.y + dy;
          if (!label.contains(u, v) || label(u, v) != label(x, y) || met(u, v) != 0) continue;
          met(u, v) = 1;
          next.push_back({u, v});
        }
      }
    }
  return sizes;
}

TEST(DivideByColour, GivesConnectedAreasOfTheLeastSizeNumberedByTheirFirstPixels) {
  for (const Image<Rgb8>& image : cases())
    for (const AreaOptions& options : kOptions)
      for (const Areas& areas : divide_by_colour(image.view(), kLevels, options)) {
        const std::vector<int> label = row_by_row(areas);
        ASSERT_EQ(label, in_order(label));
        ASSERT_EQ(areas.count, *std::max_element(label.begin(), label.end()) + 1);
        const std::vector<int> sizes = connected(areas);
        int all = 0;
        for (const int size : sizes) {
          all += size;
          ASSERT_TRUE(size >= options.min_size || areas.count == 1) << size << " of " << label.size();
        }
        ASSERT_EQ(all, static_cast<int>(label.size())) << "an area has several parts";
      }
}

TEST(DivideByColour, GivesNestedLevels) {
  for (const Image<Rgb8>& image : cases()) {
    const std::vector<Areas> levels = divide_by_colour(image.view(), kLevels);
    for (std::size_t i = 1; i < levels.size(); ++i) {
      const std::vector<int> fine = row_by_row(levels[i - 1]), coarse = row_by_row(levels[i]);
      std::set<std::pair<int, int>> pairs;
      for (std::size_t k = 0; k < fine.size(); ++k) pairs.emplace(fine[k], coarse[k]);
      ASSERT_EQ(pairs.size(), static_cast<std::size_t>(levels[i - 1].count)) << "level " << i;
    }
  }
}

/// What levels are for: shading that divides a surface is ignored, an edge is not.
TEST(DivideByColour, IgnoresShadingAndKeepsEdges) {
  Image<Rgb8> image(120, 60);
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 120; ++x) {
      const auto grey = static_cast<std::uint8_t>(40 + x + (x < 60 ? 0 : 60));
      image(x, y) = {grey, grey, grey};
    }
  const std::vector<Areas> levels = divide_by_colour(image.view(), {0, 2});
  EXPECT_GT(levels[0].count, 2);
  EXPECT_EQ(levels[1].label(0, 30), levels[1].label(50, 30));
  EXPECT_EQ(levels[1].label(70, 30), levels[1].label(119, 30));
  EXPECT_NE(levels[1].label(50, 30), levels[1].label(70, 30));
}

TEST(AreaPixels, AreThoseInsideRowByRow) {
  const Image<Rgb8> image = blocks(53, 31, 7);
  const Areas areas = std::move(divide_by_colour(image.view(), {0}).front());
  ASSERT_GT(areas.count, 2);
  const AreaPixels inside = pixels_inside(areas);
  for (int area = 0; area < areas.count; ++area) {
    std::vector<std::pair<int, int>> expected, found;
    for (int y = 0; y < 31; ++y)
      for (int x = 0; x < 53; ++x)
        if (areas.label(x, y) == area) expected.emplace_back(x, y);
    for (const AreaPixel it : inside.of(area)) found.emplace_back(it.x, it.y);
    ASSERT_EQ(found, expected) << area;
  }
}

TEST(AreaPixels, AreThoseAroundWithinReach) {
  const Image<Rgb8> image = blocks(53, 31, 8);
  const Areas areas = std::move(divide_by_colour(image.view(), {0}, {0.8f, 60, 10}).front());
  ASSERT_GT(areas.count, 2);
  for (const int reach : {1, 4, 100}) {
    const AreaPixels inside = pixels_inside(areas);
    for (int area = 0; area < areas.count; ++area) {
      std::vector<std::pair<int, int>> expected, found;
      for (int y = 0; y < 31; ++y)
        for (int x = 0; x < 53; ++x) {
          if (areas.label(x, y) == area) continue;
          bool beside = false;
          for (int v = 0; v < 31; ++v)
            for (int u = 0; u < 53; ++u)
              beside |= areas.label(u, v) == area &&
                        ((u == x && std::abs(v - y) == reach) || (v == y && std::abs(u - x) == reach));
          if (beside) expected.emplace_back(y, x);
        }
      for (const AreaPixel it : pixels_around(areas, inside.of(area), reach)) found.emplace_back(it.y, it.x);
      std::sort(found.begin(), found.end());
      ASSERT_EQ(found, expected) << area << " within " << reach;
    }
  }
}

}  // namespace
}  // namespace recon
