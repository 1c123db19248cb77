#include "scene/depth_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace recon {

namespace {

/// Samples below which nothing is said.
constexpr std::size_t kMinSamples = 30;
/// A scale is another one from so many median deviations on.
constexpr double kMinDeviations = 3;
/// Values that scatter less are depths of some surface; more, and nearly as much as those of other places,
/// they are not.
constexpr double kUnrelated = 0.05, kOfChance = 0.75, kMoreThanChance = 2, kMargin = 0.05;
/// Logarithms of depths that differ less agree.
constexpr double kAgree = 0.03;
/// The logarithm of distances grows by 1 with that of the ray, of depths by 0: max difference from 1, and max
/// standard error.
constexpr double kMaxSlopeError = 0.35, kMaxDeviationOfSlope = 0.12;
/// Values that vary by this part of what the depths do say nothing of them.
constexpr double kConstant = 0.05;
/// Another meaning needs depths that are so far off, as the sensors' are not, and to scatter so much less.
constexpr double kFarOff = 0.07, kMuchBetter = 0.4;

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The median distance of values from `from`.
double deviation_of(std::vector<double> values, double from) {
  for (double& value : values) value = std::abs(value - from);
  return middle_of(std::move(values));
}

double share_near(const std::vector<double>& values, double of) {
  const auto near = std::ranges::count_if(values, [&](double v) { return std::abs(v - of) < kAgree; });
  return static_cast<double>(near) / static_cast<double>(values.size());
}

/// A line of the least absolute differences.
struct Line {
  double offset = 0, slope = 0, standard_error = std::numeric_limits<double>::infinity();
};

/// By weighted least squares (Schlossmacher 1973). A slope of 0 where all x are the same.
Line line_through(const std::vector<double>& at, const std::vector<double>& values) {
  constexpr int kIterations = 40;
  constexpr double kLeastDifference = 1e-4;  // of a difference: fewer are as good
  const std::size_t n = at.size();
  Line line{middle_of(values)};
  const double least = kLeastDifference * std::max(1e-300, deviation_of(values, 0));
  double spread = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double difference = values[i] - line.offset - line.slope * at[i];
      const double weight = 1 / std::max(std::abs(difference), least);
      w += weight;
      x += weight * at[i];
      y += weight * values[i];
      xx += weight * at[i] * at[i];
      xy += weight * at[i] * values[i];
    }
    spread = xx / w - (x / w) * (x / w);
    if (!(spread > 1e-12 * xx / w)) return {middle_of(values)};
    line.slope = (xy / w - (x / w) * (y / w)) / spread;
    line.offset = (y - line.slope * x) / w;
  }
  std::vector<double> differences(n);
  for (std::size_t i = 0; i < n; ++i) differences[i] = values[i] - line.offset - line.slope * at[i];
  const double sigma = 1.4826 * deviation_of(std::move(differences), 0);
  line.standard_error = sigma / std::sqrt(spread * static_cast<double>(n));
  return line;
}

/// The median deviation of the logarithms of a member.
double spread_of(std::span<const DepthSample> samples, double DepthSample::*member) {
  std::vector<double> logs;
  for (const DepthSample& sample : samples) logs.push_back(std::log(sample.*member));
  const double middle = middle_of(logs);
  return deviation_of(std::move(logs), middle);
}

/// Logarithms of values by known depths, each of another place as `step` says.
std::vector<double> log_ratios(std::span<const DepthSample> samples, std::size_t step = 0) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < samples.size(); ++i)
    logs.push_back(std::log(samples[i].value / samples[(i + step) % samples.size()].depth));
  return logs;
}

/// Whether values are distances.
bool grow_with_ray(std::span<const DepthSample> samples, const std::vector<double>& ratios) {
  std::vector<double> rays;
  for (const DepthSample& sample : samples) rays.push_back(std::log(sample.ray));
  const Line line = line_through(rays, ratios);
  return std::abs(line.slope - 1) < kMaxSlopeError && line.standard_error < kMaxDeviationOfSlope;
}

/// Logarithms of values by those that a meaning with the scale and shift that fit expects.
std::vector<double> log_differences(std::span<const DepthSample> samples, DepthMeaning meaning) {
  // Each is a line in something, divided by what makes the differences relative.
  std::vector<double> at, values;
  for (const auto& [value, depth, ray] : samples) {
    at.push_back(meaning == DepthMeaning::kShiftedDepth ? 1 / depth : depth);
    values.push_back(meaning == DepthMeaning::kShiftedDepth     ? value / depth
                     : meaning == DepthMeaning::kShiftedInverse ? depth / value
                                                                : value * depth);
  }
  const Line line = line_through(at, values);  // offset: the scale, slope: the shift
  std::vector<double> logs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = line.offset + line.slope * at[i];
    logs.push_back(line.offset > 0 && expected > 0 ? std::log(values[i] / expected)
                                                   : std::numeric_limits<double>::infinity());
  }
  return logs;
}

/// The meaning that fits much better than depths of some scale, if there is one.
void find_meaning(std::span<const DepthSample> samples, DepthVerdict& verdict) {
  double least = kMuchBetter * verdict.scatter;
  for (const DepthMeaning meaning :
       {DepthMeaning::kShiftedDepth, DepthMeaning::kShiftedInverse, DepthMeaning::kDisparity}) {
    const std::vector<double> logs = log_differences(samples, meaning);
    const double scatter = deviation_of(logs, 0);
    if (!(scatter < least)) continue;
    least = scatter;
    verdict.meaning = meaning;
    verdict.agreeing = share_near(logs, 0);
  }
}

}  // namespace

DepthVerdict judge_depths(std::span<const DepthSample> samples, double min_scale) {
  DepthVerdict verdict{samples.size()};
  verdict.judged = samples.size() >= kMinSamples;
  if (!verdict.judged) return verdict;
  std::vector<double> logs = log_ratios(samples);
  const std::vector<double> others = log_ratios(samples, samples.size() / 2);
  verdict.as_given = share_near(logs, 0);
  verdict.by_chance = share_near(others, middle_of(others));
  verdict.other_scatter = deviation_of(others, middle_of(others));
  const double far_off = deviation_of(logs, 0);
  if (grow_with_ray(samples, logs)) {
    verdict.meaning = DepthMeaning::kDistance;
    for (std::size_t i = 0; i < samples.size(); ++i) logs[i] -= std::log(samples[i].ray);
  }
  const double typical = middle_of(logs);
  verdict.ratio = std::exp(typical);
  verdict.scatter = deviation_of(logs, typical);
  if (std::abs(typical) > std::max(min_scale, kMinDeviations * verdict.scatter))
    verdict.scale = verdict.ratio;
  verdict.agreeing = share_near(logs, std::log(verdict.scale));
  const bool constant =
      spread_of(samples, &DepthSample::value) < kConstant * spread_of(samples, &DepthSample::depth);
  if (verdict.meaning == DepthMeaning::kDepth && far_off > kFarOff && !constant)
    find_meaning(samples, verdict);
  const bool scatters = verdict.scatter > std::max(kUnrelated, kOfChance * verdict.other_scatter) &&
                        verdict.agreeing < kMoreThanChance * verdict.by_chance + kMargin;
  verdict.unrelated =
      scatters && (verdict.meaning == DepthMeaning::kDepth || verdict.meaning == DepthMeaning::kDistance);
  if (verdict.unrelated) {
    verdict.meaning = DepthMeaning::kDepth;
    verdict.scale = 1;
  }
  return verdict;
}

float depth_at(const Image<float>& map, const Pinhole& camera, Vec2d pixel, MapLayout layout) {
  // Below the size of the map also where it is rounded.
  const auto x = static_cast<int>(pixel.x * map.width() / camera.width),
             y = static_cast<int>(pixel.y * map.height() / camera.height);
  const bool mirrored = layout == MapLayout::kMirrored || layout == MapLayout::kTurned,
             upside_down = layout == MapLayout::kUpsideDown || layout == MapLayout::kTurned;
  return map(mirrored ? map.width() - 1 - x : x, upside_down ? map.height() - 1 - y : y);
}

}  // namespace recon
