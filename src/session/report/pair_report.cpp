#include "session/report/pair_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/duration.hpp"
#include "session/options/option_text.hpp"
#include "session/pair/pair_results.hpp"
#include "session/report/page.hpp"
#include "session/report/report.hpp"

namespace recon {

namespace {

using nlohmann::json;

json plan_of(const PairPlan& plan, const Workspace& workspace) {
  const DisparityRange range = plan.options.range;
  return {{"scene", plan.name()},
          {"left", plan.files.left.string()},
          {"right", plan.files.right.string()},
          {"output", workspace.root().string()},
          {"method", method_keyword(plan.job.method)},
          {"width", plan.size.width},
          {"height", plan.size.height},
          {"min_disparity", range.min},
          {"max_disparity", range.min + range.count},
          {"calibrated", plan.camera.has_value()}};
}

/// The calibration of a pair, and what depth.png has.
void add_calibration(json& object, const PairPlan& plan, const Workspace& workspace) {
  if (!plan.camera) return;
  object["calibration"] = {{"file", plan.files.calibration.string()},
                           {"format", plan.calibration_format},
                           {"baseline", plan.camera->baseline}};
  if (const std::string unit = unit_name(plan.unit); !unit.empty()) object["calibration"]["unit"] = unit;
  if (plan.depth_step > 0)
    object["depth_png"] = {{"file", workspace.path(pair_file::kDepthPng).string()},
                           {"step", plan.depth_step}};
}

/// Depths of the first and the last colour of the preview; null where the rays do not meet.
json preview_depths(const StereoCamera& camera, const json& colours) {
  json depths = json::array();
  for (const json& disparity : colours) {
    const double depth = camera.depth(disparity.get<double>());
    depths.push_back(depth > 0 && std::isfinite(depth) ? json(depth) : json());
  }
  return depths;
}

/// The cloud as the left camera sees it; empty without one. @throws InputError when its file cannot be read
CloudView view_of_cloud(const json& report, const PairPlan& plan, const Workspace& workspace) {
  if (!report.contains("points") || !plan.camera || !report.at("preview_depths").at(1).is_number()) return {};
  const double near = report.at("preview_depths").at(1);
  const json& far = report.at("preview_depths").at(0);
  const double middle = far.is_number() ? std::sqrt(near * far.get<double>()) : near;
  return view_cloud(workspace.path(pair_file::kCloud), {Pose{}}, {plan.camera->left, Pose{}, middle});
}

/// "86.9 % known", or with --fill "100.0 % known, 13.1 % filled".
std::string known_text(const json& report) {
  const double filled = report.at("filled");
  return fmt::format("{:.1f} % known", 100 * report.at("known").get<double>()) +
         (filled > 0 ? fmt::format(", {:.1f} % filled", 100 * filled) : "");
}

}  // namespace

json pair_plan_json(const PairPlan& plan, const Workspace& workspace, const MemoryPlan& memory,
                    std::uint64_t output, double seconds) {
  json document = plan_of(plan, workspace);
  add_calibration(document, plan, workspace);
  document["memory"] = {
      {"limit", memory.limit}, {"peak", memory.peak}, {"gpu", memory.device_peak}, {"output", output}};
  document["seconds"] = {{"matching", seconds}};
  return document;
}

std::string pair_plan_text(const PairPlan& plan, const Workspace& workspace, const MemoryPlan& memory,
                           const ResultStore& results, double seconds) {
  const DisparityRange range = plan.options.range;
  std::string text = fmt::format(
      "{} -> {}\n  {}, {}: {}, {}, disparities {} to {}, {}\n", plan.name(), workspace.root().string(),
      plan.files.left.filename().string(), plan.files.right.filename().string(),
      size_text(plan.size.width, plan.size.height), method_keyword(plan.job.method), range.min,
      range.min + range.count - 1, plan.camera ? "with a calibration: depth and cloud" : "no calibration");
  if (results.kept({Step::kPair})) return text + kNothingToDo;
  text += fmt::format("  to do: {}\n", step_name(Step::kPair));
  const bool overwritten = results.overwrites() && results.is_of_before({Step::kPair});
  const std::string reason = overwritten ? "--overwrite" : results.reason({Step::kPair});
  if (!reason.empty()) text += "  in the place of earlier results: " + reason + "\n";
  text +=
      fmt::format("  memory: up to {} of {}", format_byte_size(memory.peak), format_byte_size(memory.limit));
  if (memory.device_peak > 0) text += ", " + format_byte_size(memory.device_peak) + " of GPU memory";
  return text + fmt::format("\n  time: matching about {}\n", duration_text(seconds));
}

json pair_report_json(const PairPlan& plan, const Workspace& workspace, const StepRecord& record,
                      const MeasuredRun& measured, const StepTimes& times) {
  const bool kept = std::ranges::any_of(measured.steps, [](const MeasuredStep& step) { return step.kept; });
  json report = plan_of(plan, workspace);
  add_calibration(report, plan, workspace);
  add_measured_run(report, measured);
  report["device"] = record.result.value("device", "");
  report["elapsed"] = elapsed(times);
  report["complete"] = true;
  report["kept"] = kept;
  report["known"] = record.result.value("known", 0.0);
  report["filled"] = record.result.value("filled", 0.0);
  report["warnings"] = record.result.value("warnings", json::array());
  if (record.result.contains("doubt")) report["doubt"] = record.result.at("doubt");
  report["colours"] = record.result.value("colours", json::array());
  if (plan.camera) report["preview_depths"] = preview_depths(*plan.camera, report.at("colours"));
  for (const OutputFile& file : record.outputs)
    if (file.name == pair_file::kPhoto) report["photo"] = workspace.path(file.name).string();
  report["disparity"] = workspace.path(pair_file::kDisparity).string();
  if (record.result.contains("points")) {
    report["cloud"] = workspace.path(pair_file::kCloud).string();
    report["points"] = record.result.at("points");
  }
  return report;
}

std::string pair_page(json report, const PairPlan& plan, const Workspace& workspace) {
  const CloudView cloud = view_of_cloud(report, plan, workspace);
  if (report.contains("photo")) report["photo"] = pair_file::kPhoto;
  report["preview"] = pair_file::kPreview;
  report["files"] = json::array({pair_file::kReport});
  report["seen_from"] = "the left camera";
  return web_page("pair", std::move(report), cloud);
}

std::string pair_summary(const json& report) {
  std::string text =
      fmt::format("{}: {}, {}, {}", report.at("disparity").get<std::string>(),
                  size_text(report.at("width"), report.at("height")), known_text(report),
                  report.at("kept").get<bool>()
                      ? "kept"
                      : fmt::format("in {:.1f} s", report.at("seconds").at("total").get<double>()));
  if (report.contains("points"))
    text += fmt::format("\n{}: {} points", report.at("cloud").get<std::string>(),
                        report.at("points").get<std::uint64_t>());
  return text + doubt_and_warnings(report) + "\n";
}

}  // namespace recon
