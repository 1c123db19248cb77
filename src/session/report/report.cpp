#include "session/report/report.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string_view>

#include "core/version.hpp"
#include "io/image_file.hpp"
#include "session/options/options.hpp"
#include "session/resume/step_inputs.hpp"

namespace recon {

namespace {

using nlohmann::json;

int most_disparities(const ViewPlan& view) {
  int most = 0;
  for (const ViewPair& it : view.pairs) most = std::max(most, it.pair.disparities);
  return most;
}

/// The sources that a view is swept or paired with.
std::vector<int> matched_views(const ViewPlan& view) {
  if (view.pairs.empty()) return view.sources;
  std::vector<int> sources;
  for (const ViewPair& it : view.pairs) sources.push_back(it.source);
  return sources;
}

json pairs_json(const SceneRun& run, const ViewPlan& view) {
  json pairs = json::array();
  for (const ViewPair& it : view.pairs)
    pairs.push_back({{"source", run.plan.name(it.source)},
                     {"width", it.pair.left.width},
                     {"height", it.pair.left.height},
                     {"min_disparity", it.pair.min_disparity},
                     {"disparities", it.pair.disparities}});
  return pairs;
}

json view_json(const SceneRun& run, int view) {
  const ViewPlan& plan = run.plan.view(view);
  json sources = json::array();
  for (const int source : plan.sources) sources.push_back(run.plan.name(source));
  json result = {{"name", run.plan.name(view)},  {"width", plan.camera.width},
                 {"height", plan.camera.height}, {"depth_min", plan.range.near},
                 {"depth_max", plan.range.far},  {"sources", std::move(sources)}};
  if (plan.planes > 0) result["planes"] = plan.planes;
  if (!run.plan.scene_view(view).mask_hash.empty()) result["masked"] = true;
  if (!plan.pairs.empty()) {
    result["disparities"] = most_disparities(plan);
    result["pairs"] = pairs_json(run, plan);
  }
  const auto state = run.states.find(run.plan.name(view));
  if (state == run.states.end()) return result;
  if (const auto& estimate = state->second.estimate) {
    result["known_photometric"] = estimate->result.value("known", 0.0);
    result["seconds"] = estimate->result.value("seconds", 0.0);
    result["device"] = estimate->result.value("device", "");
    result["kept"] = state->second.estimate_kept;
  }
  if (const auto& check = state->second.check) {
    result["known_geometric"] = check->result.value("known", 0.0);
    result["image"] = Workspace::image_file(plan.output_name);
    result["preview"] = Workspace::preview_file(plan.output_name);
  }
  return result;
}

json views_json(const SceneRun& run) {
  json views = json::array();
  const bool shard = run.options.shard.count > 1;
  for (const int view : shard ? run.plan.active_views() : run.plan.views_in_scope())
    views.push_back(view_json(run, view));
  return views;
}

json left_out_json(const SceneRun& run) {
  json list = json::array();
  for (const auto* views : {&run.plan.left_out, &run.failed})
    for (const LeftOut& view : *views) list.push_back({{"name", view.name}, {"reason", view.reason}});
  return list;
}

json warnings_json(const SceneRun& run) {
  json warnings = run.plan.warnings;
  for (const std::string& warning : run.warnings) warnings.push_back(warning);
  return warnings;
}

/// What restricts the pixels and the points.
void add_restrictions(const SceneRun& run, json& object) {
  if (const int masked = count_masked(run.plan.scene); masked > 0) object["masked_views"] = masked;
  if (run.options.roi) object["roi"] = roi_json(*run.options.roi);
}

/// Steps that are predicted to be shorter are not reported, seconds.
constexpr double kMinReported = 0.005;

const char* source_text(TimeSource source) {
  switch (source) {
    case TimeSource::kRuns:
      return "by earlier runs on this machine";
    case TimeSource::kCalibration:
      return "by the calibration of this machine";
    case TimeSource::kShipped:
      break;
  }
  return "by figures of other machines, as nothing was measured here: a run corrects them, and "
         "reconstruct-bench "
         "calibrate";
}

/// A number of a view, or a dash where it has none.
std::string cell(const json& view, const char* key, const char* format, double scale = 1) {
  return view.contains(key) ? number(view.at(key).get<double>() * scale, format) : "&ndash;";
}

/// A picture of a view that opens in full; nothing where it has none.
std::string picture(const json& view, const char* key) {
  if (!view.contains(key)) return {};
  const std::string file = html_link(view.at(key).get<std::string>());
  return "<a href=\"" + file + "\"><img src=\"" + file + "\" alt=\"\" loading=lazy></a>";
}

std::string view_row(const json& view) {
  const std::string name = view.at("name").get<std::string>();
  std::string row = "<tr><td>" + html_escaped(name) + "</td>";
  for (const std::string& text :
       {cell(view, view.contains("pairs") ? "disparities" : "planes", "%.0f"),
        cell(view, "depth_min", "%.4g"), cell(view, "depth_max", "%.4g"),
        std::to_string(view.at("sources").size()), cell(view, "known_photometric", "%.1f", 100),
        cell(view, "known_geometric", "%.1f", 100), cell(view, "seconds", "%.2f")})
    row += "<td class=n>" + text + "</td>";
  return row + "<td>" + picture(view, "image") + picture(view, "preview") + "</td></tr>\n";
}

}  // namespace

std::string number(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

json seconds_json(const StepTimes& times) {
  json seconds = json::object();
  double total = 0;
  for (const auto& [step, time] : times) {
    seconds[step] = time;
    total += time;
  }
  seconds["total"] = total;
  return seconds;
}

std::string html_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

/// A byte as addresses have it, such as %20.
static std::string percent_encoded(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'%', kDigits[byte / 16], kDigits[byte % 16]};
}

std::string html_link(const std::string& file) {
  constexpr std::string_view kPlain = "/-_.~";
  std::string link;
  for (const char c : file) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 128 && std::isalnum(byte)) || kPlain.find(c) != std::string_view::npos)
      link += c;
    else
      link += percent_encoded(byte);
  }
  return link;
}

std::string html_head() {
  return "<!doctype html>\n<html lang=en><meta charset=utf-8><title>reconstruct</title>\n"
         "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<style>"
         ":root{color-scheme:light dark}"
         "body{font:15px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
         "table{border-collapse:collapse;width:100%;display:block;overflow-x:auto}"
         "td,th{padding:.2em .6em;border-bottom:1px solid #8886;text-align:left}"
         ".n{text-align:right}pre{background:#8882;padding:1em;overflow:auto}"
         "img{height:6em;margin:.1em .3em .1em 0;vertical-align:middle}</style>\n";
}

std::string html_warnings(const nlohmann::json& warnings) {
  if (warnings.empty()) return {};
  std::string list = "<h2>Warnings</h2>\n<ul>\n";
  for (const nlohmann::json& warning : warnings)
    list += "<li>" + html_escaped(warning.get<std::string>()) + "</li>\n";
  return list + "</ul>\n";
}

std::string html_options(const nlohmann::json& options) {
  return "<h2>Options</h2>\n<pre>" + html_escaped(options.get<std::string>()) + "</pre>\n";
}

json time_json(const TimePlan& time) {
  json steps = json::object();
  for (const auto& [step, seconds] : time.steps) steps[step] = seconds;
  return {{"steps", std::move(steps)},
          {"a_view", time.a_view},
          {"total", time.total},
          {"source", source_text(time.source)}};
}

json plan_json(const SceneRun& run, const TimePlan& time) {
  const MemoryPlan& memory = run.memory;
  json plan = {{"scene", run.folder.root.string()},
               {"output", run.workspace.root().string()},
               {"views", views_json(run)},
               {"active_views", run.plan.active_views().size()},
               {"left_out", left_out_json(run)},
               {"warnings", warnings_json(run)},
               {"memory",
                {{"limit", memory.limit},
                 {"peak", memory.peak},
                 {"gpu", memory.device_peak},
                 {"tiles", memory.tiles},
                 {"output", output_bytes(run.plan)}}}};
  plan["seconds"] = time_json(time);
  add_restrictions(run, plan);
  return plan;
}

std::string plan_text(const SceneRun& run, const TimePlan& time) {
  std::string text = run.folder.root.string() + " -> " + run.workspace.root().string() + "\n";
  std::size_t width = 4;
  for (const int view : run.plan.active_views()) width = std::max(width, run.plan.name(view).size());
  const auto padded = [&](std::string name) {
    return name.append(width - std::min(width, name.size()), ' ');
  };
  const bool sweep = run.job.method == Method::kPlaneSweep;
  text += "  " + padded("view") +
          (sweep ? "      size  planes   depth range            sources\n"
                 : "      size  disparities  depth range        matched with\n");
  for (const int view : run.plan.active_views()) {
    const ViewPlan& plan = run.plan.view(view);
    char line[128];
    std::snprintf(line, sizeof line, "  %10s  %6d   %-9.5g %-9.5g   ",
                  size_text(plan.camera.width, plan.camera.height).c_str(),
                  sweep ? plan.planes : most_disparities(plan), plan.range.near, plan.range.far);
    text += "  " + padded(run.plan.name(view)) + line;
    for (const int source : matched_views(plan)) text += " " + run.plan.name(source);
    text += "\n";
  }
  for (const LeftOut& view : run.plan.left_out)
    text += "  left out: " + view.name + ": " + view.reason + "\n";
  if (const int masked = count_masked(run.plan.scene); masked > 0)
    text +=
        "  masks: " + std::to_string(masked) + " of " + std::to_string(run.plan.views.size()) + " views\n";
  const MemoryPlan& memory = run.memory;
  text += "  memory: up to " + format_byte_size(memory.peak) + " of " + format_byte_size(memory.limit);
  if (memory.device_peak > 0) text += ", " + format_byte_size(memory.device_peak) + " of GPU memory a view";
  text += "; a view in " + std::to_string(memory.tiles) + (memory.tiles == 1 ? " piece" : " pieces") +
          "; results up to " + format_byte_size(output_bytes(run.plan)) + "\n";
  text += "  time: about " + number(time.total, "%.2f s");
  if (time.a_view > 0) text += ", " + number(time.a_view, "%.3f s") + " a view";
  for (const auto& [step, seconds] : time.steps)
    if (seconds >= kMinReported) text += "; " + step + " " + number(seconds, "%.2f s");
  return text + "; " + source_text(time.source) + "\n";
}

json report_json(const SceneRun& run, const std::string& device, const StepTimes& times) {
  json report = {{"program", "reconstruct"},
                 {"version", version()},
                 {"scene", run.folder.root.string()},
                 {"output", run.workspace.root().string()},
                 {"device", device},
                 {"complete", run.complete()},
                 {"views", views_json(run)},
                 {"left_out", left_out_json(run)},
                 {"warnings", warnings_json(run)},
                 {"seconds", seconds_json(times)},
                 {"options", resolved_options(run.options, run.job)}};
  add_restrictions(run, report);
  if (run.cloud) {
    report["cloud"] = run.workspace.path(Workspace::cloud_file()).string();
    report["points"] = run.cloud->record.result.at("points");
  }
  return report;
}

std::string report_html(const json& report) {
  std::string page = html_head();
  page += "<h1>" + html_escaped(report.at("scene").get<std::string>()) + "</h1>\n<p>";
  if (report.contains("points"))
    page += std::to_string(report.at("points").get<std::uint64_t>()) + " points from " +
            std::to_string(report.at("views").size()) + " views in ";
  page += number(report.at("seconds").at("total").get<double>(), "%.1f s on ") +
          html_escaped(report.at("device").get<std::string>()) + ", version " +
          html_escaped(report.at("version").get<std::string>()) + ".</p>\n";
  for (const json& view : report.at("left_out"))
    page += "<p><b>" + html_escaped(view.at("name").get<std::string>()) +
            "</b> is left out: " + html_escaped(view.at("reason").get<std::string>()) + "</p>\n";
  page +=
      "<h2>Views</h2>\n<table><tr><th>view<th class=n>planes or disparities<th class=n>nearest<th "
      "class=n>farthest"
      "<th class=n>sources<th class=n>known, %<th class=n>agreed, %<th class=n>seconds<th>photo and "
      "depth</tr>\n";
  for (const json& view : report.at("views")) page += view_row(view);
  page += "</table>\n";
  return page + html_warnings(report.at("warnings")) + html_options(report.at("options")) + "</html>\n";
}

}  // namespace recon
