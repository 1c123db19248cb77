#include "fuse/reliability.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.hpp"

namespace recon {
namespace {

constexpr int kReach = 3;

/// For each pixel of a row of `width`, the lowest and the highest of some values.
struct RangeRow {
  RangeRow(float* row_low, float* row_high, int width) : low(row_low), high(row_high) {
    std::fill_n(low, width, std::numeric_limits<float>::infinity());
    std::fill_n(high, width, 0.0f);
  }

  void include(const float* lows, const float* highs, int width) {
    for (int x = 0; x < width; ++x) {
      low[x] = lows[x] < low[x] ? lows[x] : low[x];
      high[x] = highs[x] > high[x] ? highs[x] : high[x];
    }
  }

  float *low, *high;
};

/// log(1 + n) of every count.
std::array<float, 256> log_counts() {
  std::array<float, 256> logs{};
  for (std::size_t n = 0; n < logs.size(); ++n) logs[n] = std::log1p(static_cast<float>(n));
  return logs;
}

/// In 1/1024, so that the last bits of a machine's mathematical library do not matter.
float rounded_logistic(float z) {
  const float value = 1024.0f / (1.0f + std::exp(-z));
  const int whole = static_cast<int>(value);  // std::round is a call
  return static_cast<float>(whole + (value - static_cast<float>(whole) >= 0.5f)) / 1024.0f;
}

}  // namespace

float reliability(const Agreement& agreement, float variation) {
  static const std::array<float, 256> kLogCounts = log_counts();
  const float agree = agreement.agree, close = agreement.close;
  const float visible = std::max(1.0f, static_cast<float>(agreement.visible));
  const float hidden = static_cast<float>(agreement.known - agreement.agree - agreement.through);
  const float z = -1.07f + 0.15f * kLogCounts[agreement.agree] + 0.74f * kLogCounts[agreement.close] +
                  3.77f * agree / visible + 2.21f * hidden / visible + 0.32f * close / std::max(1.0f, agree) -
                  0.65f * std::min(20.0f * variation, 3.0f);
  return rounded_logistic(z);
}

float lone_reliability(float cost, float variation) {
  return rounded_logistic(1.68f - 1.06f * std::min(cost, 1.2f) - 1.37f * std::min(20.0f * variation, 3.0f));
}

bool keeps_depth(const Agreement& agreement, float reliability, const ConsistencyOptions& options,
                 float min_reliability) {
  if (!(reliability >= min_reliability)) return false;
  return agreement.agree >= options.min_views ||
         (agreement.known == 0 && keeps_lone_depth(reliability, options));
}

Image<float> inverse_depth_variation(ImageView<const float> depth) {
  const int width = depth.width;
  const int padded = width + 2 * kReach;
  // Of the known inverse depths up to kReach pixels away in the same row.
  Image<float> low(width, depth.height), high(width, depth.height);
  parallel_for(depth.height, [&](int y) {
    std::vector<float> lows(padded, std::numeric_limits<float>::infinity()), highs(padded, 0.0f);
    for (int x = 0; x < width; ++x) {
      if (std::isnan(depth(x, y))) continue;
      lows[x + kReach] = highs[x + kReach] = 1.0f / depth(x, y);
    }
    RangeRow row(low.row(y), high.row(y), width);
    for (int i = 0; i <= 2 * kReach; ++i) row.include(lows.data() + i, highs.data() + i, width);
  });
  Image<float> result(width, depth.height);
  parallel_for(depth.height, [&](int y) {
    std::vector<float> lows(width), highs(width);
    RangeRow row(lows.data(), highs.data(), width);
    for (int j = std::max(y - kReach, 0); j <= std::min(y + kReach, depth.height - 1); ++j)
      row.include(low.row(j), high.row(j), width);
    for (int x = 0; x < width; ++x)
      result(x, y) = std::isnan(depth(x, y)) ? 0.0f : (row.high[x] - row.low[x]) * depth(x, y);
  });
  return result;
}

float inverse_depth_variation(ImageView<const float> depth, int x, int y) {
  if (std::isnan(depth(x, y))) return 0.0f;
  float low = 1.0f / depth(x, y), high = low;
  for (int v = std::max(y - kReach, 0); v <= std::min(y + kReach, depth.height - 1); ++v)
    for (int u = std::max(x - kReach, 0); u <= std::min(x + kReach, depth.width - 1); ++u) {
      const float w = 1.0f / depth(u, v);  // NaN is neither lower nor higher
      low = w < low ? w : low;
      high = w > high ? w : high;
    }
  return (high - low) * depth(x, y);
}

}  // namespace recon
