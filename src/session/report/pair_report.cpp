#include "session/report/pair_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/version.hpp"
#include "session/options/options.hpp"
#include "session/pair/pair_results.hpp"
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

std::string row(const std::string& name, const std::string& value) {
  return "<tr><td>" + name + "</td><td>" + html_escaped(value) + "</td></tr>\n";
}

std::string shown_size(const json& report) {
  return size_text(report.at("width"), report.at("height"));
}

}  // namespace

json pair_plan_json(const PairPlan& plan, const Workspace& workspace, const MemoryPlan& memory,
                    std::uint64_t output, double seconds) {
  json document = plan_of(plan, workspace);
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
  add_measured_run(report, measured);
  report["device"] = record.result.value("device", "");
  report["elapsed"] = elapsed(times);
  report["complete"] = true;
  report["kept"] = kept;
  report["known"] = record.result.value("known", 0.0);
  report["filled"] = record.result.value("filled", 0.0);
  report["warnings"] = record.result.value("warnings", json::array());
  report["options"] = options;
  report["disparity"] = workspace.path(pair_file::kDisparity).string();
  if (record.result.contains("points")) {
    report["cloud"] = workspace.path(pair_file::kCloud).string();
    report["points"] = record.result.at("points");
  }
  return report;
}

std::string pair_report_html(const json& report) {
  std::string page = html_head() + "<h1>" + html_escaped(report.at("scene")) + "</h1>\n<table>\n";
  page += row("images", report.at("left").get<std::string>() + ", " + report.at("right").get<std::string>() +
                            ", " + shown_size(report));
  page += row("method", report.at("method"));
  page += row("disparities", fmt::format("{} to {}", report.at("min_disparity").get<int>(),
                                         report.at("max_disparity").get<int>() - 1));
  page += row("known", number(100 * report.at("known").get<double>(), "%.1f %% of the pixels"));
  if (report.contains("points"))
    page += row("points", std::to_string(report.at("points").get<std::uint64_t>()));
  page += row("time", number(report.at("seconds").at("total"), "%.2f s on ") +
                          report.at("device").get<std::string>());
  page += "</table>\n" + html_origin(report, {pair_file::kReport}) + "<p><img src=\"" +
          std::string(pair_file::kPreview) + "\" alt=\"disparity\" style=\"max-width:100%\"></p>\n" +
          "<p class=legend>" + html_colours("disparity: small, far", "large, near") +
          "<span>black: unknown</span></p>\n";
  return page + html_warnings(report.at("warnings")) + html_times(report.at("steps"), json::object()) +
         html_options(report.at("options")) + "</html>\n";
}

std::string pair_summary(const json& report) {
  std::string text = report.at("disparity").get<std::string>() + ": " + shown_size(report) +
                     number(100 * report.at("known").get<double>(), ", %.1f %% known, ") +
                     (report.at("kept").get<bool>() ? std::string("kept")
                                                    : number(report.at("seconds").at("total"), "in %.1f s"));
  if (report.contains("points"))
    text += fmt::format("\n{}: {} points", report.at("cloud").get<std::string>(),
                        report.at("points").get<std::uint64_t>());
  const std::filesystem::path folder = report.at("output").get<std::string>();
  return text + "; see " + (folder / pair_file::kReportPage).string() + "\n";
}

}  // namespace recon
