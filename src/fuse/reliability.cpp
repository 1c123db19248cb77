#include "fuse/reliability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"

namespace recon {
namespace {

constexpr int kReach = 3;

/// The range of the known inverse depths around a pixel.
struct Range {
  float low = std::numeric_limits<float>::infinity(), high = 0;

  void include(const Range& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

Range range_of(float depth) {
  return std::isnan(depth) ? Range() : Range{1.0f / depth, 1.0f / depth};
}

}  // namespace

float reliability(const Agreement& agreement, float cost, float variation) {
  const float agree = agreement.agree, through = agreement.through, hidden = agreement.hidden;
  const float known = std::max(1.0f, static_cast<float>(agreement.known));
  const float seen = std::max(1.0f, agree + through);
  const float z = 2.39f + 0.76f * std::log1p(agree) + 2.79f * agree / known + 0.57f * hidden / known -
                  2.03f * through / seen - 3.33f * std::min(cost, 1.2f) -
                  1.02f * std::min(20.0f * variation, 3.0f);
  // In 1/1024, so that the last bits of a machine's mathematical library do not matter.
  return std::round(1024.0f / (1.0f + std::exp(-z))) / 1024.0f;
}

Image<float> inverse_depth_variation(ImageView<const float> depth) {
  Image<Range> rows(depth.width, depth.height);
  parallel_for(depth.height, [&](int y) {
    for (int x = 0; x < depth.width; ++x) {
      Range range;
      for (int i = std::max(x - kReach, 0); i <= std::min(x + kReach, depth.width - 1); ++i)
        range.include(range_of(depth(i, y)));
      rows(x, y) = range;
    }
  });
  Image<float> result(depth.width, depth.height);
  parallel_for(depth.height, [&](int y) {
    for (int x = 0; x < depth.width; ++x) {
      Range range;
      for (int j = std::max(y - kReach, 0); j <= std::min(y + kReach, depth.height - 1); ++j)
        range.include(rows(x, j));
      result(x, y) = std::isnan(depth(x, y)) ? 0.0f : (range.high - range.low) * depth(x, y);
    }
  });
  return result;
}

}  // namespace recon
