#include "reference/belief_reference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace recon::reference {
namespace {

/// One value per pixel and hypothesis.
struct Grid {
  int width, height, labels;
  std::vector<float> values;

  Grid(int w, int h, int n)
      : width(w),
        height(h),
        labels(n),
        values(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * static_cast<std::size_t>(n),
               0.0f) {}

  float* at(int x, int y) {
    return &values[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                    static_cast<std::size_t>(x)) *
                   static_cast<std::size_t>(labels)];
  }
};

/// The nearest value with `digits` significant bits and at least the exponent `min_exponent`, ties to even.
float nearest_with(double value, int digits, int min_exponent) {
  if (value == 0.0) return 0.0f;
  int exponent;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - 1, min_exponent) - (digits - 1);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit));
}

/// The value as it is read back from memory; a half holds at most 65504.
float stored(float value, BeliefStorage storage) {
  switch (storage) {
    case BeliefStorage::kHalf:
      return nearest_with(std::min(static_cast<double>(value), 65504.0), 11, -14);
    case BeliefStorage::kBfloat16:
      return nearest_with(static_cast<double>(value), 8, -126);
    default:
      return value;
  }
}

/// The messages that each pixel sends to its four neighbours.
struct Messages {
  Grid up, down, left, right;
  Messages(int w, int h, int n) : up(w, h, n), down(w, h, n), left(w, h, n), right(w, h, n) {}
};

using FloatImage = std::vector<std::vector<float>>;

FloatImage blurred(ImageView<const std::uint8_t> image, float sigma) {
  FloatImage source(static_cast<std::size_t>(image.height),
                    std::vector<float>(static_cast<std::size_t>(image.width)));
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      source[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = static_cast<float>(image(x, y));
  if (sigma <= 0.0f) return source;

  const int reach = static_cast<int>(std::ceil(4.0 * static_cast<double>(sigma)));
  std::vector<double> bell;
  double total = 0;
  for (int k = -reach; k <= reach; ++k) {
    const double t = static_cast<double>(k) / static_cast<double>(sigma);
    bell.push_back(std::exp(-0.5 * t * t));
    total += bell.back();
  }
  const auto filter = [&](const FloatImage& in, bool along_x) {
    FloatImage out = in;
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x) {
        float sum = 0.0f;
        for (int k = -reach; k <= reach; ++k) {
          const int from_x = along_x ? std::clamp(x + k, 0, image.width - 1) : x;
          const int from_y = along_x ? y : std::clamp(y + k, 0, image.height - 1);
          sum += static_cast<float>(bell[static_cast<std::size_t>(k + reach)] / total) *
                 in[static_cast<std::size_t>(from_y)][static_cast<std::size_t>(from_x)];
        }
        out[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = sum;
      }
    return out;
  };
  return filter(filter(source, true), false);
}

Grid data_costs(const PairProblem& problem) {
  const PairSpec& options = problem.options;
  const ImageView<const std::uint8_t> left = problem.images.left;
  const FloatImage l = blurred(left, options.belief.smoothing_sigma);
  const FloatImage r = blurred(problem.images.right, options.belief.smoothing_sigma);
  Grid costs(left.width, left.height, options.range.count);
  for (int y = 0; y < left.height; ++y)
    for (int x = 0; x < left.width; ++x)
      for (int d = 0; d < options.range.count; ++d) {
        const int other = x - (options.range.min + d);
        float difference = options.belief.data_cap * 0.5f;
        if (other >= 0 && other < left.width)
          difference = std::min(std::fabs(l[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] -
                                          r[static_cast<std::size_t>(y)][static_cast<std::size_t>(other)]),
                                options.belief.data_cap);
        costs.at(x, y)[d] = stored(options.belief.data_weight * difference, options.belief.storage);
      }
  return costs;
}

/// Each coarser pixel is the sum of its up to four finer pixels.
Grid coarser(Grid& fine, BeliefStorage storage) {
  Grid coarse((fine.width + 1) / 2, (fine.height + 1) / 2, fine.labels);
  for (int y = 0; y < fine.height; ++y)
    for (int x = 0; x < fine.width; ++x)
      for (int d = 0; d < fine.labels; ++d) coarse.at(x / 2, y / 2)[d] += fine.at(x, y)[d];
  for (float& cost : coarse.values) cost = stored(cost, storage);
  return coarse;
}

/// Computes a message from the inputs of a pixel other than its receiver's: lower envelope of cones of slope
/// 1, truncated at `cap` above the min, and shifted so that the min is 0.
void send(std::vector<float>& h, float cap, BeliefStorage storage, float* message) {
  const std::size_t n = h.size();
  const float lowest = *std::min_element(h.begin(), h.end());
  for (std::size_t d = 1; d < n; ++d) h[d] = std::min(h[d], h[d - 1] + 1.0f);
  for (std::size_t d = n - 1; d-- > 0;) h[d] = std::min(h[d], h[d + 1] + 1.0f);
  for (std::size_t d = 0; d < n; ++d) message[d] = stored(std::min(h[d], lowest + cap) - lowest, storage);
}

/// Messages that arrive at a pixel; none arrive from outside the image.
struct Arriving {
  const float *above, *below, *left, *right;
};

Arriving arriving(Messages& m, int x, int y, const std::vector<float>& nothing) {
  return {y > 0 ? m.down.at(x, y - 1) : nothing.data(),
          y + 1 < m.up.height ? m.up.at(x, y + 1) : nothing.data(),
          x > 0 ? m.right.at(x - 1, y) : nothing.data(),
          x + 1 < m.left.width ? m.left.at(x + 1, y) : nothing.data()};
}

void iterate(Grid& costs, Messages& m, int iteration, float cap, BeliefStorage storage) {
  const std::vector<float> nothing(static_cast<std::size_t>(costs.labels), 0.0f);
  std::vector<float> h(static_cast<std::size_t>(costs.labels));
  for (int y = 0; y < costs.height; ++y)
    for (int x = (y + iteration + 1) % 2; x < costs.width; x += 2) {
      const float* cost = costs.at(x, y);
      const Arriving in = arriving(m, x, y, nothing);
      const auto send_on = [&](const float* pair_a, const float* pair_b, const float* single,
                               float* message) {
        for (std::size_t d = 0; d < h.size(); ++d) h[d] = (cost[d] + (pair_a[d] + pair_b[d])) + single[d];
        send(h, cap, storage, message);
      };
      send_on(in.left, in.right, in.below, m.up.at(x, y));
      send_on(in.left, in.right, in.above, m.down.at(x, y));
      send_on(in.above, in.below, in.right, m.left.at(x, y));
      send_on(in.above, in.below, in.left, m.right.at(x, y));
    }
}

/// Initial messages: those of the pixel at half the coordinates.
Messages finer(Messages& coarse, int width, int height) {
  Messages fine(width, height, coarse.up.labels);
  const auto copy = [&](Grid& from, Grid& to) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) std::copy_n(from.at(x / 2, y / 2), from.labels, to.at(x, y));
  };
  copy(coarse.up, fine.up);
  copy(coarse.down, fine.down);
  copy(coarse.left, fine.left);
  copy(coarse.right, fine.right);
  return fine;
}

}  // namespace

DisparityMap belief_matching(const PairProblem& problem) {
  const BeliefOptions& options = problem.options.belief;
  const int labels = problem.options.range.count;
  const float cap =
      options.smoothness_cap > 0.0f ? options.smoothness_cap : static_cast<float>(labels) / 7.5f;
  std::vector<Grid> costs;
  costs.push_back(data_costs(problem));
  for (int level = 1; level < options.levels; ++level)
    costs.push_back(coarser(costs.back(), options.storage));

  Messages messages(costs.back().width, costs.back().height, labels);
  for (std::size_t level = costs.size(); level-- > 0;) {
    if (level + 1 < costs.size()) messages = finer(messages, costs[level].width, costs[level].height);
    for (int t = 0; t < options.iterations; ++t) iterate(costs[level], messages, t, cap, options.storage);
  }

  Grid& finest = costs.front();
  const std::vector<float> nothing(static_cast<std::size_t>(labels), 0.0f);
  DisparityMap result{Image<float>(finest.width, finest.height)};
  for (int y = 0; y < finest.height; ++y)
    for (int x = 0; x < finest.width; ++x) {
      const float* cost = finest.at(x, y);
      const Arriving in = arriving(messages, x, y, nothing);
      int best = 0;
      float lowest = 0.0f;
      for (int d = 0; d < labels; ++d) {
        const float belief = (cost[d] + (in.left[d] + in.right[d])) + (in.above[d] + in.below[d]);
        if (d == 0 || belief < lowest) lowest = belief, best = d;
      }
      result.disparity(x, y) = static_cast<float>(problem.options.range.min + best);
    }
  return result;
}

}  // namespace recon::reference
