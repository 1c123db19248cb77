#include "refine/depth_filters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "refine/patches.hpp"

namespace recon {

Image<float> local_contrast(ImageView<const std::uint8_t> grey, int window) {
  EXPECTS(window >= 1 && window % 2 == 1);
  const int radius = window / 2;
  Image<float> contrast(grey.width, grey.height);
  parallel_for(grey.height, [&](int y) {
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(grey.width)), squares(sums);
    for (int j = y - radius; j <= y + radius; ++j) {
      const std::uint8_t* row = grey.row(std::clamp(j, 0, grey.height - 1));
      for (std::size_t x = 0; x < sums.size(); ++x) {
        sums[x] += row[x];
        squares[x] += std::uint32_t{row[x]} * row[x];
      }
    }
    const auto column = [&](int x) { return static_cast<std::size_t>(std::clamp(x, 0, grey.width - 1)); };
    std::uint64_t sum = 0, square = 0;
    for (int i = -radius; i <= radius; ++i) sum += sums[column(i)], square += squares[column(i)];
    const double n = static_cast<double>(window) * window;
    for (int x = 0; x < grey.width; ++x) {
      const double mean = static_cast<double>(sum) / n;
      contrast(x, y) =
          static_cast<float>(std::sqrt(std::max(0.0, static_cast<double>(square) / n - mean * mean)));
      sum += sums[column(x + radius + 1)];
      sum -= sums[column(x - radius)];
      square += squares[column(x + radius + 1)];
      square -= squares[column(x - radius)];
    }
  });
  return contrast;
}

void remove_speckles(ImageView<float> depth, int min_size, float max_relative_step) {
  remove_small_patches(depth, min_size, [max_relative_step](float a, float b) {
    return std::abs(b - a) <= max_relative_step * std::min(a, b);
  });
}

}  // namespace recon
