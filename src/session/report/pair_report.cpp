#include "session/report/pair_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/version.hpp"
#include "session/options/options.hpp"
#include "session/pair/pair_results.hpp"
#include "session/report/cloud_view.hpp"
#include "session/report/html.hpp"
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

/// A disparity of the colour scale, and its depth where there is a calibration.
std::string scale_end(const char* word, const PairPlan& plan, const json& disparity) {
  std::string text = word + number(disparity, ": disparity %.4g");
  if (plan.camera)
    if (const double depth = plan.camera->depth(disparity.get<double>()); depth > 0 && std::isfinite(depth))
      text += number(depth, ", depth %.4g ") + unit_name(plan.unit);
  return text;
}

/// Photo and disparity, one over the other, under their scale.
std::string pictures(const json& report, const PairPlan& plan) {
  const auto picture = [](const char* file, const char* title) {
    return fmt::format("<a href=\"{0}\" title=\"{1}\"><img src=\"{0}\" alt=\"{1}\"></a>", file, title);
  };
  std::string text = "<figure class=view><div class=pictures>";
  if (report.contains("photo")) text += picture(pair_file::kPhoto, "photo");
  text += picture(pair_file::kPreview, "disparity") + "</div><figcaption>";
  if (const json& ends = report.at("colours");
      ends.size() == 2 && ends.at(0).is_number() && ends.at(1).is_number())
    text += html_colours(scale_end("far", plan, ends.at(0)), scale_end("near", plan, ends.at(1)));
  return text + "<small>black: unknown</small></figcaption></figure>\n";
}

/// The cloud as the left camera sees it; empty without one. @throws InputError when its file cannot be read
CloudView view_of_cloud(const json& report, const PairPlan& plan, const Workspace& workspace) {
  if (!report.contains("points") || !plan.camera) return {};
  const json& ends = report.at("colours");
  const double nearest = plan.camera->depth(ends.at(1).get<double>()),
               farthest = plan.camera->depth(ends.at(0).get<double>());
  const double depth =
      farthest > nearest && std::isfinite(farthest) ? std::sqrt(nearest * farthest) : nearest;
  return view_cloud(workspace.path(pair_file::kCloud), {Pose{}}, {plan.camera->left, Pose{}, depth});
}

std::string row(const std::string& name, const std::string& value) {
  return "<tr><td>" + name + "</td><td>" + html_escaped(value) + "</td></tr>\n";
}

/// "86.9 % known", or with --fill "100.0 % known, 13.1 % filled".
std::string known_text(const json& report, const char* word) {
  const double filled = report.at("filled");
  return number(100 * report.at("known").get<double>(), "%.1f %%") + word +
         (filled > 0 ? number(100 * filled, ", %.1f %% filled") : "");
}

std::string shown_size(const json& report) {
  return size_text(report.at("width"), report.at("height"));
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
                           double seconds) {
  const DisparityRange range = plan.options.range;
  std::string text = fmt::format(
      "{} -> {}\n  {}, {}: {}, {}, disparities {} to {}, {}\n  memory: up to {} of {}", plan.name(),
      workspace.root().string(), plan.files.left.filename().string(), plan.files.right.filename().string(),
      size_text(plan.size.width, plan.size.height), method_keyword(plan.job.method), range.min,
      range.min + range.count - 1, plan.camera ? "with a calibration: depth and cloud" : "no calibration",
      format_byte_size(memory.peak), format_byte_size(memory.limit));
  if (memory.device_peak > 0) text += ", " + format_byte_size(memory.device_peak) + " of GPU memory";
  return text + fmt::format("\n  time: matching about {:.3f} s\n", seconds);
}

json pair_report_json(const PairPlan& plan, const Workspace& workspace, const StepRecord& record,
                      const MeasuredRun& measured, const std::string& options, const StepTimes& times) {
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
  report["options"] = options;
  report["colours"] = record.result.value("colours", json::array());
  for (const OutputFile& file : record.outputs)
    if (file.name == pair_file::kPhoto) report["photo"] = workspace.path(file.name).string();
  report["disparity"] = workspace.path(pair_file::kDisparity).string();
  if (record.result.contains("points")) {
    report["cloud"] = workspace.path(pair_file::kCloud).string();
    report["points"] = record.result.at("points");
  }
  return report;
}

std::string pair_report_html(const json& report, const PairPlan& plan, const Workspace& workspace) {
  const CloudView cloud = view_of_cloud(report, plan, workspace);
  const bool shown = cloud.size() > 0 && can_show_cloud();
  std::string page = html_head() + "<h1>" + html_escaped(report.at("scene")) + "</h1>\n<table>\n";
  page += row("images", report.at("left").get<std::string>() + ", " + report.at("right").get<std::string>() +
                            ", " + shown_size(report));
  if (plan.camera)
    page += row("calibration", plan.files.calibration.string() + ", " + plan.calibration_format);
  page += row("method", report.at("method"));
  page += row("disparities", fmt::format("{} to {}", report.at("min_disparity").get<int>(),
                                         report.at("max_disparity").get<int>() - 1));
  page += row("known", known_text(report, " of the pixels"));
  if (report.contains("points"))
    page += row("points", std::to_string(report.at("points").get<std::uint64_t>()));
  page += row("time", number(report.at("seconds").at("total"), "%.2f s on ") +
                          report.at("device").get<std::string>());
  page += "</table>\n" + html_origin(report, {pair_file::kReport}) + html_warnings(report.at("warnings"));
  if (shown)
    page += html_cloud(fmt::format(
        "Seen from the left camera: {} of {} points; all of them are in <a href=\"{}\">{}</a>.", cloud.size(),
        report.at("points").get<std::uint64_t>(), pair_file::kCloud, pair_file::kCloud));
  page += pictures(report, plan) + html_times(report.at("steps"), json::object()) +
          html_options(report.at("options"));
  return page + html_scripts(cloud) + "</html>\n";
}

std::string pair_summary(const json& report) {
  std::string text = report.at("disparity").get<std::string>() + ": " + shown_size(report) + ", " +
                     known_text(report, " known") + ", " +
                     (report.at("kept").get<bool>() ? std::string("kept")
                                                    : number(report.at("seconds").at("total"), "in %.1f s"));
  if (report.contains("points"))
    text += fmt::format("\n{}: {} points", report.at("cloud").get<std::string>(),
                        report.at("points").get<std::uint64_t>());
  return text + "\n";
}

}  // namespace recon
