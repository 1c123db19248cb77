#include "predict/performance_model.hpp"

#include <spdlog/spdlog.h>

#include <Eigen/QR>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "io/input_file.hpp"
#include "io/output_file.hpp"

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

/// Seconds of one thread, or of the GPU, for one unit of the work of a stage.
struct UnitCosts {
  std::string_view stage;  ///< what its name begins with
  double operation = 0, byte = 0, patch_sample = 0;
};

constexpr UnitCosts kCpu[] = {{"sweep", 4.5e-9, 3e-10, 3.9e-9},
                              {"sgm", 1.6e-9, 0},
                              {"bm", 1.2e-9, 0},
                              {"bp", 5e-10, 4e-12},
                              {"", 0, 2e-9}};
constexpr UnitCosts kGpu[] = {{"sweep", 8e-12, 1.5e-12, 2.2e-12},
                              {"sgm", 0, 2e-12},
                              {"bm", 5e-13, 0},
                              {"bp", 0, 1.5e-12},
                              {"", 1e-12, 1e-12}};

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{16} << 20;
constexpr double kMinSeconds = 1e-9;

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw InputError(file + ": no calibration that can be used: " + what);
}

/// @throws InputError unless `value` is a number in [min, max]
double number(const json& value, double min, double max = 1e18) {
  const double result = value.is_number() ? value.get<double>() : std::nan("");
  if (!(result >= min && result <= max)) throw InputError(value.dump() + " is not a number in range");
  return result;
}

void check_key(const json& document, const CalibrationKey& key) {
  for (const auto& [name, wanted] : {std::pair<const char*, json>{"device", key.device},
                                     {"threads", key.threads},
                                     {"version", key.version}})
    if (document.at(name) != wanted)
      throw InputError(std::string("its ") + name + " is not " + json_text(wanted));
}

MeasuredTask parse_task(const json& entry) {
  constexpr double kMaxRadius = 1 << 20;
  StageTask task;
  task.stage = entry.at("stage").get<std::string>();
  task.radius = static_cast<int>(number(entry.at("radius"), 0, kMaxRadius));
  task.pixels = number(entry.at("size").at(0), 1);
  task.planes = number(entry.at("size").at(1), 1);
  task.sources = number(entry.at("size").at(2), 1);
  std::array<double, StageWork::kTerms> terms{};
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = number(entry.at("work").at(i), 0);
  task.work = StageWork::of(terms);
  return {task, number(entry.at("seconds"), kMinSeconds)};
}

fs::path absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && fs::path(value).is_absolute() ? fs::path(value) : fs::path();
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

double shipped_seconds(const StageTask& task, int threads) {
  const UnitCosts* costs = threads > 0 ? kCpu : kGpu;
  while (!task.stage.starts_with(costs->stage)) ++costs;
  const double seconds = costs->operation * (task.work.operations + task.work.hidden) +
                         costs->byte * task.work.bytes + costs->patch_sample * task.work.patches;
  return threads > 0 ? seconds / threads : seconds;
}

fs::path calibration_folder() {
  if (const fs::path cache = absolute_variable("XDG_CACHE_HOME"); !cache.empty())
    return cache / "reconstruct";
  if (const fs::path home = absolute_variable("HOME"); !home.empty()) return home / ".cache" / "reconstruct";
  return {};
}

fs::path calibration_path(const CalibrationKey& key) {
  const fs::path folder = calibration_folder();
  if (folder.empty()) return {};
  return folder /
         ("calibration-" +
          content_hash(key.device + "\n" + std::to_string(key.threads) + "\n" + key.version) + ".json");
}

std::string calibration_text(const CalibrationKey& key, const PerformanceModel& model) {
  json measured = json::array();
  for (const MeasuredTask& it : model.measured())
    measured.push_back({{"stage", it.task.stage},
                        {"radius", it.task.radius},
                        {"size", {it.task.pixels, it.task.planes, it.task.sources}},
                        {"work", it.task.work.terms()},
                        {"seconds", it.seconds}});
  json runs = json::object();
  for (const auto& [step, times] : model.runs()) runs[step] = {times.seconds, times.shipped};
  return json_text({{"device", key.device},
                    {"threads", key.threads},
                    {"version", key.version},
                    {"measured", std::move(measured)},
                    {"runs", std::move(runs)}});
}

PerformanceModel parse_calibration(std::string_view text, const CalibrationKey& key,
                                   const std::string& file) {
  try {
    if (text.size() > kMaxBytes) throw InputError("it is larger than any calibration");
    const json document = json::parse(text);
    check_key(document, key);
    PerformanceModel model;
    for (const json& entry : document.at("measured")) {
      const MeasuredTask measured = parse_task(entry);
      model.add(measured.task, measured.seconds);
    }
    for (const auto& [step, times] : document.at("runs").items())
      model.learn(step, number(times.at(0), kMinSeconds), number(times.at(1), kMinSeconds));
    return model;
  } catch (const InputError& error) {
    fail(file, error.what());
  } catch (const json::exception& error) {
    fail(file, error.what());
  }
}

PerformanceModel load_calibration(const CalibrationKey& key) {
  const fs::path path = calibration_path(key);
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return {};
  try {
    if (fs::file_size(path, error) > kMaxBytes) fail(path.string(), "it is larger than any calibration");
    return parse_calibration(read_file(path), key, path.string());
  } catch (const InputError& damaged) {
    spdlog::warn("{}; it is replaced by the next one", damaged.what());
    return {};
  }
}

void save_calibration(const CalibrationKey& key, const PerformanceModel& model) {
  const fs::path path = calibration_path(key);
  if (path.empty()) {
    spdlog::warn("the calibration is not kept: neither XDG_CACHE_HOME nor HOME is an absolute path");
    return;
  }
  try {
    write_file(path, calibration_text(key, model));
  } catch (const OutputError& failed) {
    spdlog::warn("the calibration is not kept: {}", failed.what());
  }
}

}  // namespace recon
