#include "predict/calibration_file.hpp"

#include <spdlog/spdlog.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/file_bytes.hpp"
#include "io/json_text.hpp"

namespace recon {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{16} << 20;
constexpr double kMinSeconds = 1e-9;

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw InputError(file + ": no calibration that can be used: " + what);
}

/// A number of the document within [least, 1e18].
double number(const json& value, double least, const std::string& file) {
  constexpr double kMost = 1e18;
  if (!value.is_number()) fail(file, "a number is missing");
  const double result = value.get<double>();
  if (!(result >= least && result <= kMost)) fail(file, "the number " + value.dump() + " is out of range");
  return result;
}

const json& array_of(const json& document, const char* name, std::size_t size, const std::string& file) {
  const auto found = document.find(name);
  if (found == document.end() || !found->is_array() || (size > 0 && found->size() != size))
    fail(file, std::string("'") + name + "' is no list of the right length");
  return *found;
}

void check_key(const json& document, const CalibrationKey& key, const std::string& file) {
  const auto is = [&](const char* name, const json& wanted) {
    const auto found = document.find(name);
    if (found == document.end() || *found != wanted)
      fail(file, std::string("its ") + name + " is not " + json_text(wanted));
  };
  is("device", key.device);
  is("threads", key.threads);
  is("version", key.version);
}

MeasuredTask parse_task(const json& entry, const std::string& file) {
  if (!entry.is_object()) fail(file, "a measurement is no object");
  MeasuredTask measured;
  const auto stage = entry.find("stage"), radius = entry.find("radius"), seconds = entry.find("seconds");
  if (stage == entry.end() || !stage->is_string() || radius == entry.end() || !radius->is_number_integer() ||
      seconds == entry.end())
    fail(file, "a measurement lacks its stage, radius or seconds");
  measured.task.stage = stage->get<std::string>();
  constexpr double kMostRadius = 1 << 20;
  const double r = number(*radius, 0, file);
  if (r > kMostRadius) fail(file, "a radius is out of range");
  measured.task.radius = static_cast<int>(r);
  const json& size = array_of(entry, "size", 3, file);
  measured.task.pixels = number(size[0], 1, file);
  measured.task.planes = number(size[1], 1, file);
  measured.task.sources = number(size[2], 1, file);
  std::array<double, StageWork::kTerms> terms{};
  const json& work = array_of(entry, "work", terms.size(), file);
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = number(work[i], 0, file);
  measured.task.work = StageWork::of(terms);
  measured.seconds = number(*seconds, kMinSeconds, file);
  return measured;
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
  if (text.size() > kMostBytes) fail(file, "it is larger than any calibration");
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object()) fail(file, "it is no JSON object");
  check_key(document, key, file);
  PerformanceModel model;
  for (const json& entry : array_of(document, "measured", 0, file)) {
    const MeasuredTask measured = parse_task(entry, file);
    model.add(measured.task, measured.seconds);
  }
  const auto runs = document.find("runs");
  if (runs == document.end() || !runs->is_object()) fail(file, "'runs' is no object");
  for (const auto& [step, times] : runs->items()) {
    if (!times.is_array() || times.size() != 2) fail(file, "the times of a step are no pair of numbers");
    model.learn(step, number(times[0], kMinSeconds, file), number(times[1], kMinSeconds, file));
  }
  return model;
}

PerformanceModel load_calibration(const CalibrationKey& key) {
  const fs::path path = calibration_path(key);
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return {};
  try {
    if (fs::file_size(path, error) > kMostBytes) fail(path.string(), "it is larger than any calibration");
    return parse_calibration(read_file(path), key, path.string());
  } catch (const InputError& damaged) {
    spdlog::warn("{}; it is replaced by the next one", damaged.what());
    return {};
  }
}

void warn_of_disturbance(const CalibrationKey& key) {
  spdlog::warn(
      "other programs kept the processors busy while the machine was measured: predicted times may be too "
      "long; "
      "it is measured again when {} is removed",
      calibration_path(key).string());
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
