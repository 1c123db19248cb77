#include "session/report/measured_steps.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <iterator>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/version.hpp"
#include "io/file/input_file.hpp"
#include "session/options/option.hpp"

namespace recon {

namespace {

using nlohmann::json;

using Count = ResultStore::Count;

/// Of a step; others are done where anything is.
Count share_of(const ResultStore& results, const std::string& name) {
  const auto step = std::ranges::find(kSceneSteps, name, step_name);
  if (step != std::end(kSceneSteps)) return results.count(*step);
  return kept_all(results) ? Count{0, 1} : Count{1, 0};
}

MeasuredStep measured(const std::string& name, double seconds, const Count& share,
                      const MeasuredRun& earlier) {
  MeasuredStep step{name, seconds, share.done + share.kept, share.done == 0 && share.kept > 0};
  const auto before = std::ranges::find(earlier.steps, name, &MeasuredStep::name);
  if (share.kept == 0 || before == earlier.steps.end() || before->views == 0) return step;
  const double of_kept = before->seconds * std::min(1.0, static_cast<double>(share.kept) / before->views);
  step.seconds = step.kept ? of_kept : seconds + of_kept;
  return step;
}

}  // namespace

MeasuredRun read_measured_run(const std::filesystem::path& report) {
  MeasuredRun run;
  if (!is_file(report)) return run;
  try {
    const json document = json::parse(read_file(report));
    for (const json& step : document.at("steps"))
      run.steps.push_back({step.at("name").get<std::string>(), step.at("seconds").get<double>(),
                           step.at("views").get<int>(), false});
    for (const char* key : {"version", "date", "commit", "device"})
      if (document.contains(key)) run.about[key] = document.at(key).get<std::string>();
  } catch (const json::exception&) {
    return {};
  } catch (const InputError&) {
    return {};
  }
  return run;
}

bool kept_all(const ResultStore& results) {
  return std::ranges::none_of(kSceneSteps, [&](Step step) { return results.count(step).done > 0; });
}

MeasuredRun measured_run(const ResultStore& results, const StepTimes& times, json about,
                         const MeasuredRun& earlier) {
  MeasuredRun result;
  for (const auto& [name, seconds] : times)
    result.steps.push_back(measured(name, seconds, share_of(results, name), earlier));
  result.about = std::move(about);
  if (kept_all(results) && earlier.about.is_object()) result.about.update(earlier.about);
  return result;
}

MeasuredRun measured_run(bool kept, const StepTimes& times, json about, const MeasuredRun& earlier) {
  MeasuredRun result{{}, std::move(about)};
  for (const auto& [name, seconds] : times) result.steps.push_back({name, seconds, 1, kept});
  if (!kept || earlier.steps.empty()) return result;
  result.steps = earlier.steps;
  if (earlier.about.is_object()) result.about.update(earlier.about);
  for (MeasuredStep& step : result.steps) step.kept = true;
  return result;
}

void add_measured_run(json& report, const MeasuredRun& run) {
  json steps = json::array(), seconds = json::object();
  double total = 0;
  for (const MeasuredStep& step : run.steps) {
    steps.push_back(
        {{"name", step.name}, {"seconds", step.seconds}, {"views", step.views}, {"kept", step.kept}});
    seconds[step.name] = step.seconds;
    total += step.seconds;
  }
  seconds["total"] = total;
  report["steps"] = std::move(steps);
  report["seconds"] = std::move(seconds);
  if (run.about.is_object()) report.update(run.about);
}

json program_json(const std::string& commit, const std::string& device) {
  json about = {{"program", "reconstruct"},
                {"version", version()},
                {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
  if (!device.empty()) about["device"] = device;
  if (!commit.empty()) about["commit"] = commit;
  return about;
}

json option_values(const std::vector<std::pair<const Option*, std::string>>& texts) {
  json values = json::object();
  for (const auto& [option, text] : texts) {
    json& value = values[option->name];
    if (option->kind == ValueKind::kSwitch)
      value = text == "true";
    else if (option->kind == ValueKind::kInteger)
      value = parse_number<int>(text);
    else if (option->kind == ValueKind::kDecimal)
      value = parse_number<double>(text);
    else
      value = text;
  }
  return values;
}

}  // namespace recon
