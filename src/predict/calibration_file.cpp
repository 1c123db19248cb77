#include "predict/calibration_file.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "io/input_file.hpp"
#include "io/output_file.hpp"

namespace recon {

namespace {

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
