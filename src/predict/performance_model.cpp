#include "predict/performance_model.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/error.hpp"

namespace recon {
namespace {

using Terms = Eigen::Array<double, StageWork::kTerms, 1>;

Terms terms_of(const StageTask& task) {
  return Eigen::Map<const Terms>(task.work.terms().data());
}

/// Squared distance of two sizes, each by the logarithm of its ratio.
double distance(const StageTask& a, const StageTask& b) {
  const double x = std::log(a.pixels / b.pixels), y = std::log(a.planes / b.planes),
               z = std::log(a.sources / b.sources);
  return x * x + y * y + z * z;
}

/// @param tasks  of the radius whose efficiency counts
double seconds_by(const std::vector<MeasuredTask>& tasks, const std::array<double, StageWork::kTerms>& fitted,
                  const StageTask& task) {
  const Terms costs = Eigen::Map<const Terms>(fitted.data());
  double sum = 0, weights = 0;
  for (const MeasuredTask& it : tasks) {
    constexpr double kNear = 0.02;  // squared: sizes within about a seventh are one
    const double closeness = 1 / (distance(it.task, task) + kNear), weight = closeness * closeness;
    const double predicted = (costs * terms_of(it.task)).sum();
    if (!(predicted > 0)) continue;
    sum += weight * it.seconds / predicted;
    weights += weight;
  }
  return (costs * terms_of(task)).sum() * (weights > 0 ? sum / weights : 1);
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

std::array<double, StageWork::kTerms> fit_costs(const std::vector<MeasuredTask>& tasks) {
  EXPECTS(!tasks.empty());
  // Terms over times, so that a perfect fit makes every sum 1, and over their largest values, as they differ
  // by many orders of magnitude.
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(tasks.size()), StageWork::kTerms);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const MeasuredTask& it = tasks[static_cast<std::size_t>(i)];
    rows.row(i) = terms_of(it.task) / it.seconds;
  }
  const Eigen::VectorXd scale = rows.colwise().maxCoeff(), ones = Eigen::VectorXd::Ones(rows.rows());
  // So few terms that all subsets can be tried: the best one without a negative cost is the answer.
  std::array<double, StageWork::kTerms> best{};
  double least = static_cast<double>(tasks.size());
  for (unsigned chosen = 1; chosen < 1u << StageWork::kTerms; ++chosen) {
    std::vector<Eigen::Index> terms;
    for (int i = 0; i < StageWork::kTerms; ++i)
      if (chosen >> i & 1u && scale[i] > 0) terms.push_back(i);
    if (terms.empty()) continue;
    const Eigen::MatrixXd a = rows(Eigen::all, terms) * scale(terms).cwiseInverse().asDiagonal();
    const auto solver = a.colPivHouseholderQr();
    if (solver.rank() < static_cast<Eigen::Index>(terms.size())) continue;
    const Eigen::VectorXd costs = solver.solve(ones);
    const double error = (a * costs - ones).squaredNorm();
    // A further term has to be worth more than rounding.
    constexpr double kBetter = 1 - 1e-6;
    if (!(costs.array() >= 0).all() || error >= kBetter * least) continue;
    least = error;
    best = {};
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const auto index = static_cast<Eigen::Index>(i);
      best[static_cast<std::size_t>(terms[i])] = costs[index] / scale[terms[i]];
    }
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
