#include "predict/performance_model.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.hpp"

namespace recon {
namespace {

constexpr int kTerms = StageWork::kTerms;
using Terms = std::array<double, kTerms>;

double dot(const Terms& a, const Terms& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kTerms; ++i) sum += a[i] * b[i];
  return sum;
}

/// The terms of each task over its time, so that a perfect fit makes every sum 1.
std::vector<Terms> relative_terms(const std::vector<MeasuredTask>& tasks) {
  std::vector<Terms> rows;
  for (const MeasuredTask& it : tasks) {
    rows.push_back(it.task.work.terms());
    for (double& term : rows.back()) term /= it.seconds;
  }
  return rows;
}

/// Solves the normal equations over the terms whose bit is set in `chosen`; nothing where they are not
/// independent. Terms are scaled to their largest value, as they differ by many orders of magnitude.
std::optional<Terms> least_squares(const std::vector<Terms>& rows, const Terms& scale, unsigned chosen) {
  std::array<std::array<double, kTerms + 1>, kTerms> a{};
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < kTerms; ++i)
    if (chosen >> i & 1u) index.push_back(i);
  const std::size_t n = index.size();
  for (const Terms& row : rows)
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        a[i][j] += row[index[i]] / scale[index[i]] * (row[index[j]] / scale[index[j]]);
      a[i][n] += row[index[i]] / scale[index[i]];
    }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    constexpr double kDependent = 1e-9;
    if (!(std::abs(a[k][k]) > kDependent)) return std::nullopt;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j <= n; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  Terms costs{};
  for (std::size_t i = 0; i < n; ++i) costs[index[i]] = a[i][n] / a[i][i] / scale[index[i]];
  return costs;
}

double squared_error(const std::vector<Terms>& rows, const Terms& costs) {
  double sum = 0;
  for (const Terms& row : rows) sum += (dot(row, costs) - 1) * (dot(row, costs) - 1);
  return sum;
}

/// Squared distance of two sizes, each by the logarithm of its ratio.
double distance(const StageTask& a, const StageTask& b) {
  const double x = std::log(a.pixels / b.pixels), y = std::log(a.planes / b.planes),
               z = std::log(a.sources / b.sources);
  return x * x + y * y + z * z;
}

/// @param tasks  of the radius whose efficiency counts
double seconds_by(const std::vector<MeasuredTask>& tasks, const Terms& costs, const StageTask& task) {
  double sum = 0, weights = 0;
  for (const MeasuredTask& it : tasks) {
    constexpr double kNear = 0.02;  // squared: sizes within about a seventh are one
    const double closeness = 1 / (distance(it.task, task) + kNear), weight = closeness * closeness;
    const double predicted = dot(costs, it.task.work.terms());
    if (!(predicted > 0)) continue;
    sum += weight * it.seconds / predicted;
    weights += weight;
  }
  return dot(costs, task.work.terms()) * (weights > 0 ? sum / weights : 1);
}

/// The radii around a task's at which its stage was measured.
struct RadiusBracket {
  std::optional<int> below, above;  ///< <= and >= the task's
};

RadiusBracket bracket(const std::vector<MeasuredTask>& measured, const std::string& stage, int radius) {
  RadiusBracket result;
  for (const MeasuredTask& it : measured) {
    if (it.task.stage != stage) continue;
    const int r = it.task.radius;
    if (r <= radius && (!result.below || r > *result.below)) result.below = r;
    if (r >= radius && (!result.above || r < *result.above)) result.above = r;
  }
  return result;
}

std::vector<MeasuredTask> tasks_at(const std::vector<MeasuredTask>& measured, const std::string& stage,
                                   std::optional<int> radius) {
  std::vector<MeasuredTask> tasks;
  for (const MeasuredTask& it : measured)
    if (it.task.stage == stage && (!radius || it.task.radius == *radius)) tasks.push_back(it);
  return tasks;
}

}  // namespace

std::array<double, kTerms> fit_costs(const std::vector<MeasuredTask>& tasks) {
  EXPECTS(!tasks.empty());
  const std::vector<Terms> rows = relative_terms(tasks);
  Terms scale{};
  for (const Terms& row : rows)
    for (std::size_t i = 0; i < kTerms; ++i) scale[i] = std::max(scale[i], row[i]);
  // So few terms that all subsets can be tried: the best one without a negative cost is the answer.
  Terms best{};
  double least = squared_error(rows, best);
  for (unsigned chosen = 1; chosen < 1u << kTerms; ++chosen) {
    bool present = true;
    for (std::size_t i = 0; i < kTerms; ++i) present &= (chosen >> i & 1u) == 0 || scale[i] > 0;
    if (!present) continue;
    const std::optional<Terms> costs = least_squares(rows, scale, chosen);
    if (!costs || std::any_of(costs->begin(), costs->end(), [](double c) { return !(c >= 0); })) continue;
    // A further term has to be worth more than rounding.
    constexpr double kBetter = 1 - 1e-6;
    const double error = squared_error(rows, *costs);
    if (error < kBetter * least) least = error, best = *costs;
  }
  return best;
}

void PerformanceModel::add(const StageTask& task, double seconds) {
  EXPECTS(seconds > 0 && std::isfinite(seconds));
  measured_.push_back({task, seconds});
}

void PerformanceModel::erase(const std::string& stage, int radius) {
  std::erase_if(measured_,
                [&](const MeasuredTask& it) { return it.task.stage == stage && it.task.radius == radius; });
}

bool PerformanceModel::knows(const std::string& stage, int radius) const {
  const RadiusBracket radii = bracket(measured_, stage, radius);
  return radii.below && radii.above;
}

double PerformanceModel::seconds(const StageTask& task) const {
  const RadiusBracket radii = bracket(measured_, task.stage, task.radius);
  EXPECTS(radii.below || radii.above);
  const int below = radii.below ? *radii.below : *radii.above, above = radii.above.value_or(below);
  const auto by = [&](int radius) {
    const std::vector<MeasuredTask> near = tasks_at(measured_, task.stage, radius);
    return seconds_by(
        near, fit_costs(task.counts_radius ? tasks_at(measured_, task.stage, std::nullopt) : near), task);
  };
  const double low = by(below);
  if (above <= below) return low;
  const double high = by(above);
  const double share = static_cast<double>(task.radius - below) / (above - below);
  return low + (high - low) * share;
}

void PerformanceModel::learn(const std::string& step, double seconds, double shipped) {
  EXPECTS(seconds > 0 && shipped > 0 && std::isfinite(seconds) && std::isfinite(shipped));
  RunTimes& times = runs_[step];
  times = {times.seconds / 2 + seconds, times.shipped / 2 + shipped};
}

double PerformanceModel::factor(const std::string& step) const {
  const auto known = runs_.find(step);
  return known == runs_.end() ? 1 : known->second.seconds / known->second.shipped;
}

}  // namespace recon
