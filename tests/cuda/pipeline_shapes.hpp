#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/image.hpp"
#include "methods/stereo/pair.hpp"

/// Pairs for the tests of pipelines on a GPU.

namespace recon::test {

/// In every byte of the device's memory before a call: floats of it are no numbers.
inline constexpr std::uint8_t kPoison = 0xFF;

struct Shape {
  int width, height;
  DisparityRange range;
  double share_without = 0;  ///< of costs that are infinite, in volumes
  bool other = true;         ///< whether there is another view

  std::string name() const {
    return std::to_string(width) + "x" + std::to_string(height) + "x" + std::to_string(range.count) +
           (range.min < 0 ? "_minus" : "_") + std::to_string(std::abs(range.min)) +
           (share_without > 0 ? "_gaps" : "") + (other ? "" : "_alone");
  }
};

inline std::vector<Shape> shapes() {
  return {{1, 1, {0, 1}},
          {1, 1, {0, 7}},
          {1, 23, {0, 16}},
          {41, 1, {2, 7}},
          {33, 17, {0, 1}},
          {33, 17, {-3, 7}},
          {33, 17, {0, 16}, 0, false},
          {33, 17, {0, 100}},
          {131, 19, {5, 16}},
          {131, 19, {0, 33}},
          {70, 21, {1, 16}, 0.3},
          {70, 21, {1, 2}, 0.9, false},
          {65, 9, {0, 64}, 0.05},
          {64, 8, {-200, 512}},
          {40, 7, {-3, 65}},
          {29, 6, {0, 130}, 0.2},
          {23, 5, {-300, 700}, 0.1},
          {9, 4, {-1000, 2100}},
          {300, 40, {0, 64}}};
}

/// The grey levels of a colour pair, in 8 and in 16 bits.
class GreyImages {
 public:
  GreyImages(const Image<Rgb8>& left, const Image<Rgb8>& right) {
    for (const Image<Rgb8>* colours : {&left, &right}) {
      Image<std::uint8_t> grey(colours->width(), colours->height());
      Image<std::uint16_t> grey16(colours->width(), colours->height());
      for (int y = 0; y < grey.height(); ++y)
        for (int x = 0; x < grey.width(); ++x) {
          const Rgb8 c = (*colours)(x, y);
          const int sum = 2 * c.r + 3 * c.g + c.b;
          grey(x, y) = static_cast<std::uint8_t>(sum / 6);
          grey16(x, y) = static_cast<std::uint16_t>(40 * sum);
        }
      grey_.push_back(std::move(grey));
      grey16_.push_back(std::move(grey16));
    }
  }
  GreyPair pair(bool words) const {
    if (!words) return {grey_[0].view(), grey_[1].view(), {}, {}};
    return {grey_[0].view(), grey_[1].view(), grey16_[0].view(), grey16_[1].view()};
  }

 private:
  std::vector<Image<std::uint8_t>> grey_;
  std::vector<Image<std::uint16_t>> grey16_;
};

}  // namespace recon::test
