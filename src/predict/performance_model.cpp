#include "predict/performance_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/content_hash.hpp"
#include "core/eigen.hpp"
#include "core/error.hpp"
#include "core/json_reader.hpp"
#include "core/log.hpp"
#include "core/paths.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"

namespace recon {

namespace {

using Terms = Eigen::Array<double, StageWork::kTerms, 1>;
using Tasks = std::vector<MeasuredTask>;

Terms terms_of(const StageTask& task) {
  return Eigen::Map<const Terms>(task.work.terms().data());
}

/// Costs for which the sums of work come nearest the measured times, in the least squares of the relative
/// errors. The term with the most negative cost is left out until there is none; a term that no task has
/// costs nothing.
Terms fitted_costs(const Tasks& tasks) {
  // Terms over times, so that a perfect fit makes every sum 1, and over their largest values, as they differ
  // by many orders of magnitude.
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(tasks.size()), StageWork::kTerms);
  for (Eigen::Index i = 0; const MeasuredTask& it : tasks) rows.row(i++) = terms_of(it.task) / it.seconds;
  const Eigen::VectorXd scale = rows.colwise().maxCoeff(), ones = Eigen::VectorXd::Ones(rows.rows());
  std::vector<Eigen::Index> terms;
  for (Eigen::Index i = 0; i < scale.size(); ++i)
    if (scale[i] > 0) terms.push_back(i);
  Terms costs = Terms::Zero();
  while (!terms.empty()) {
    const Eigen::MatrixXd a = rows(Eigen::all, terms) * scale(terms).cwiseInverse().asDiagonal();
    const Eigen::VectorXd fitted = a.colPivHouseholderQr().solve(ones);
    Eigen::Index least = 0;
    if (fitted.minCoeff(&least) >= 0) {
      costs(terms) = fitted.cwiseQuotient(scale(terms));
      break;
    }
    terms.erase(terms.begin() + least);
  }
  return costs;
}

/// Logarithms of the size and of the side of the window, whose squared differences are the distance of tasks.
Eigen::Array4d place(const StageTask& task) {
  return Eigen::Array4d(task.pixels, task.planes, task.sources, 2 * task.radius + 1).log();
}

/// Seconds of one thread, and of a GPU, for an operation, a byte and a sample of patches.
struct UnitCosts {
  std::string_view stage;  ///< what its name begins with
  double cpu[3], gpu[3];
};

constexpr UnitCosts kShipped[] = {{"sweep", {4.5e-9, 3e-10, 1e-9}, {8e-12, 1.5e-12, 2.2e-12}},
                                  {"sgm", {1.6e-9, 0, 0}, {0, 2e-12, 0}},
                                  {"bm", {1.2e-9, 0, 0}, {5e-13, 0, 0}},
                                  {"bp", {5e-10, 4e-12, 0}, {0, 1.5e-12, 0}},
                                  {"", {0, 2e-9, 0}, {1e-12, 1e-12, 0}}};

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double kMinSeconds = 1e-9;

/// @throws InputError unless `value` is a number in [min, max]
double number(const json& value, double min, double max = 1e18) {
  const double result = value.is_number() ? value.get<double>() : std::nan("");
  if (!(result >= min && result <= max)) throw InputError(value.dump() + " is not a number in range");
  return result;
}

template <std::size_t Count>
std::array<double, Count> numbers(const json& values, double min) {
  if (values.size() != Count) throw InputError(values.dump() + " has another number of values");
  std::array<double, Count> result;
  for (std::size_t i = 0; i < Count; ++i) result[i] = number(values.at(i), min);
  return result;
}

json key_json(const CalibrationKey& key) {
  return {{"device", key.device}, {"threads", key.threads}, {"version", key.version}};
}

MeasuredTask parse_task(const json& entry) {
  const int radius = static_cast<int>(number(entry.at("radius"), 0, 1 << 20));
  const auto [calls, images, operations, bytes, patches] = numbers<StageWork::kTerms>(entry.at("work"), 0);
  const auto [pixels, planes, sources] = numbers<3>(entry.at("size"), 1);
  const StageWork work{calls, images, operations, bytes, patches};
  return {{entry.at("stage"), radius, work, pixels, planes, sources},
          number(entry.at("seconds"), kMinSeconds)};
}

[[noreturn]] void fail(const std::string& file, const std::string& reason) {
  throw InputError(file + ": no calibration that can be used: " + reason);
}

}  // namespace

bool PerformanceModel::knows(const StageTask& task) const {
  bool below = false, above = false;
  for (const auto& [it, seconds] : measured) {
    below |= it.stage == task.stage && it.radius <= task.radius;
    above |= it.stage == task.stage && it.radius >= task.radius;
  }
  return below && above;
}

double PerformanceModel::seconds(const StageTask& task) const {
  constexpr double kNear = 0.02;  // squared: sizes within about a seventh are one
  Tasks tasks = measured;
  std::erase_if(tasks, [&](const MeasuredTask& it) { return it.task.stage != task.stage; });
  EXPECTS(!tasks.empty());
  const Terms costs = fitted_costs(tasks);
  double sum = 0, weights = 0;
  for (const auto& [it, seconds] : tasks) {
    const double predicted = (costs * terms_of(it)).sum();
    if (!(predicted > 0)) continue;
    const double closeness = 1 / ((place(it) - place(task)).square().sum() + kNear);
    sum += closeness * closeness * seconds / predicted;
    weights += closeness * closeness;
  }
  return (costs * terms_of(task)).sum() * (weights > 0 ? sum / weights : 1);
}

void PerformanceModel::learn(const std::string& step, double seconds, double shipped) {
  EXPECTS(seconds > 0 && shipped > 0 && std::isfinite(seconds) && std::isfinite(shipped));
  RunTimes& times = runs[step];
  times = {times.seconds / 2 + seconds, times.shipped / 2 + shipped};
}

double PerformanceModel::factor(const std::string& step) const {
  const auto known = runs.find(step);
  return known == runs.end() ? 1 : known->second.seconds / known->second.shipped;
}

double shipped_seconds(const StageTask& task, int threads) {
  const UnitCosts* costs = kShipped;
  while (!task.stage.starts_with(costs->stage)) ++costs;
  const auto& [operation, byte, patch_sample] = threads > 0 ? costs->cpu : costs->gpu;
  const StageWork& work = task.work;
  return (operation * work.operations + byte * work.bytes + patch_sample * work.patches) /
         std::max(1, threads);
}

fs::path calibration_path(const CalibrationKey& key) {
  const std::string hash = content_hash(key.device + "\n" + std::to_string(key.threads) + "\n" + key.version);
  for (const auto& [variable, folder] :
       {std::pair{"XDG_CACHE_HOME", "reconstruct"}, {"HOME", ".cache/reconstruct"}})
    if (const char* value = std::getenv(variable); value != nullptr && fs::path(value).is_absolute())
      return fs::path(value) / folder / ("calibration-" + hash + ".json");
  return {};
}

std::string calibration_text(const CalibrationKey& key, const PerformanceModel& model) {
  json document = key_json(key);
  document["measured"] = json::array();
  for (const auto& [task, seconds] : model.measured)
    document["measured"].push_back({{"stage", task.stage},
                                    {"radius", task.radius},
                                    {"size", {task.pixels, task.planes, task.sources}},
                                    {"work", task.work.terms()},
                                    {"seconds", seconds}});
  document["runs"] = json::object();
  for (const auto& [step, times] : model.runs) document["runs"][step] = {times.seconds, times.shipped};
  return json_text(document);
}

PerformanceModel parse_calibration(std::string_view text, const CalibrationKey& key,
                                   const std::string& file) {
  PerformanceModel model;
  try {
    const json document = parse_json(text, "the text"), wanted = key_json(key);
    for (const auto& [name, value] : wanted.items())
      if (document.at(name) != value) throw InputError("its " + name + " is not " + json_text(value));
    for (const json& entry : document.at("measured")) model.measured.push_back(parse_task(entry));
    for (const auto& [step, times] : document.at("runs").items()) {
      const auto [seconds, shipped] = numbers<2>(times, kMinSeconds);
      model.runs[step] = {seconds, shipped};
    }
  } catch (const InputError& error) {
    fail(file, error.what());
  } catch (const json::exception&) {
    fail(file, "a field is missing, or has another kind of value");
  }
  return model;
}

PerformanceModel load_calibration(const CalibrationKey& key) {
  const fs::path path = calibration_path(key);
  if (path.empty() || !if_readable([&] { return is_there(path); }, false)) return {};
  try {
    return parse_calibration(read_file(path), key, path.string());
  } catch (const InputError& damaged) {
    messages().warn("{}; it is replaced by the next one", damaged.what());
    return {};
  }
}

void save_calibration(const CalibrationKey& key, const PerformanceModel& model) {
  try {
    const fs::path path = calibration_path(key);
    if (path.empty()) throw OutputError("neither XDG_CACHE_HOME nor HOME is an absolute path");
    write_file(path, calibration_text(key, model));
  } catch (const OutputError& failed) {
    messages().warn("the calibration is not kept: {}", failed.what());
  }
}

}  // namespace recon
