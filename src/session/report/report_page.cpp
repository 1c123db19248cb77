#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/content_hash.hpp"
#include "core/quantile.hpp"
#include "io/file/output_file.hpp"
#include "session/report/cloud_view.hpp"
#include "session/report/html.hpp"
#include "session/report/measured_steps.hpp"
#include "session/report/report.hpp"
#include "session/scene/depth_histogram.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A number of a view with its label; nothing where it has none.
std::string fact(const json& view, const char* key, const char* format) {
  return view.contains(key) ? number(view.at(key), format) : "";
}

/// A picture of a view that opens in full; nothing where it has none.
std::string picture(const json& view, const char* key, const char* title) {
  if (!view.contains(key)) return {};
  const std::string file = html_link(view.at(key));
  return "<a href=\"" + file + "\" title=\"" + title + "\"><img src=\"" + file + "\" alt=\"" + title +
         "\" loading=lazy></a>";
}

/// What the colours of the depth of a view mean; nothing where it has none.
std::string depth_colours(const json& view) {
  if (!view.contains("preview_depths")) return {};
  const json& depths = view.at("preview_depths");
  return html_colours(number(depths.at(0), "depth %.3g"), number(depths.at(1), "%.3g"));
}

/// What the pictures of the views show.
std::string legend(const json& views) {
  const auto has = [&](const char* key) {
    return std::ranges::any_of(views, [&](const json& view) { return view.contains(key); });
  };
  if (!has("preview")) return {};
  std::string text = "<p class=legend>" + html_colours("depth: far", "near");
  if (has("confidence")) text += html_colours("confidence: 0", "1");
  return text + "<span>black: unknown</span></p>\n";
}

/// The share of known pixels as a bar.
std::string share(const json& view, const char* key, const char* label) {
  if (!view.contains(key)) return {};
  const double value = view.at(key).get<double>();
  return std::string("<small>") + label + number(100 * value, " %.1f %%") +
         " <meter min=0 max=1 value=" + number(value, "%.3f") + "></meter></small>";
}

/// Between which depths the coarse sweep found surfaces, if there was one.
std::string found_depths(const json& view) {
  if (!view.contains("found_depths")) return {};
  const json& found = view.at("found_depths");
  return number(found.at(0), ", found %.4g") + number(found.at(1), " to %.4g");
}

std::string view_figure(const json& view) {
  std::string text = "<figure class=view><div class=pictures>" + picture(view, "image", "photo") +
                     picture(view, "preview", "depth") + picture(view, "confidence", "confidence") +
                     "</div><figcaption>" + depth_colours(view) + "<b>" + html_escaped(view.at("name")) +
                     "</b><small>";
  text += number(view.at("width"), "%.0f") + number(view.at("height"), " x %.0f") +
          fact(view, "depth_min", ", searched %.4g") + fact(view, "depth_max", " to %.4g") +
          found_depths(view) + fact(view, "planes", ", %.0f planes") +
          fact(view, "disparities", ", %.0f disparities") + ", " + std::to_string(view.at("sources").size()) +
          " sources" + fact(view, "seconds", ", %.2f s") + "</small>";
  return text + share(view, "known_photometric", "known") +
         share(view, "known_geometric", "agreed by other views") + "</figcaption></figure>\n";
}

std::string page_summary(const json& report) {
  std::string text = "<p>";
  if (report.contains("points"))
    text += std::to_string(report.at("points").get<std::uint64_t>()) + " points from " +
            std::to_string(report.at("views").size()) + " views in ";
  text +=
      number(report.at("seconds").at("total"), "%.1f s on ") + html_escaped(report.at("device")) + ".</p>\n";
  for (const json& view : report.at("left_out"))
    text += "<p><b>" + html_escaped(view.at("name")) +
            "</b> is left out: " + html_escaped(view.at("reason")) + "</p>\n";
  return text;
}

/// Where the cloud is once more; empty without tiles.
std::string tiles(const json& report) {
  if (!report.contains("tiles")) return {};
  const json& tiles = report.at("tiles");
  const std::size_t count = tiles.at("files").size();
  return ", and in " + std::to_string(count) + (count == 1 ? " tile" : " tiles") + " of " +
         number(tiles.at("size"), "%.6g") + " units in <a href=\"tiles/\">tiles</a>";
}

std::string charts(const json& report) {
  const std::string figures =
      html_histogram(report.value("baselines", json::array()), "Angles between views and their sources",
                     "°") +
      html_histogram(report.value("depths", json::array()), "Depths of all checked pixels, scene units", "");
  return figures.empty() ? figures : "<div class=charts>" + figures + "</div>\n";
}

/// The share of the pixels of a view that have a checked depth.
double known_share(const SceneRun& run, int view) {
  const StepRecord* const check = run.result(Step::kCheck, view);
  return check == nullptr ? 0 : check->result.value("known", 0.0);
}

/// The view whose photo the page shows the cloud as: the most central one of those that see as much of it as
/// half of all views.
int first_view(const SceneRun& run) {
  std::vector<int> views = run.plan.views_in_scope();
  std::vector<double> shares;
  for (const int view : views) shares.push_back(known_share(run, view));
  const double middle = quantile(shares, 0.5);
  std::erase_if(views, [&](int view) { return known_share(run, view) < middle; });
  std::vector<Pose> cameras;
  for (const int view : views) cameras.push_back(run.plan.scene_view(view).cam_from_world);
  return views[central_camera(cameras)];
}

/// How far what a view sees is away.
double viewed_depth(const SceneRun& run, int view) {
  if (const StepRecord* const check = run.result(Step::kCheck, view))
    if (const auto depths = parse_histogram(check->result.value("depths", json())); !depths.empty())
      return depth_quantile(depths, 0.5);
  const DepthRange range = run.plan.view(view).range;
  return std::sqrt(range.near * range.far);
}

/// The cloud as the page shows it; empty where there is none. @throws InputError when its file cannot be read
CloudView view_of_cloud(const SceneRun& run, int first) {
  if (run.results.get({Step::kFusion}) == nullptr) return {};
  std::vector<Pose> cameras;
  for (const int view : run.plan.views_in_scope())
    cameras.push_back(run.plan.scene_view(view).cam_from_world);
  return view_cloud(
      run.workspace.path(Workspace::cloud_file()), cameras,
      {run.plan.view(first).camera, run.plan.scene_view(first).cam_from_world, viewed_depth(run, first)});
}

std::vector<std::string> files_beside(const SceneRun& run) {
  std::vector<std::string> names;
  for (const char* extension : {".json", ".log"})
    names.push_back(report_file(run, extension).filename().string());
  return names;
}

/// The page without its key; pictures are files beside it.
std::string report_html(const SceneRun& run, const json& report) {
  const int first = first_view(run);
  const CloudView cloud = view_of_cloud(run, first);
  const bool shown = cloud.size() > 0 && can_show_cloud();
  std::string page = html_head() + "<h1>" + html_escaped(report.at("scene")) + "</h1>\n" +
                     page_summary(report) + html_origin(report, files_beside(run)) +
                     html_warnings(report.at("warnings"));
  if (shown)
    page +=
        html_cloud("Seen from " + html_escaped(run.plan.name(first)) + ": " + std::to_string(cloud.size()) +
                   " of " + std::to_string(report.at("points").get<std::uint64_t>()) +
                   " points; all of them are in <a href=\"fused.ply\">fused.ply</a>" + tiles(report) + ".");
  page += charts(report) + "<h2>Views</h2>\n" + legend(report.at("views")) + "<div class=views>\n";
  for (const json& view : report.at("views")) page += view_figure(view);
  page += "</div>\n" + html_times(report.at("steps"), report.at("predicted").at("steps")) +
          html_options(report.at("options"));
  return page + html_scripts(cloud) + "</html>\n";
}

/// The last line of a page: a hash of what it shows, without what only this run did.
std::string page_key(const SceneRun& run, json report) {
  for (const char* of_run : {"seconds", "steps", "elapsed", "predicted", "date", "device"})
    report.erase(of_run);
  report["commit"] = run.options.commit;
  for (json& view : report.at("views")) view.erase("kept");
  if (const StepRecord* const cloud = run.results.get({Step::kFusion}))
    for (const OutputFile& file : cloud->outputs) report["files"].push_back(file.identity.hash);
  return "<!-- " + content_hash(json_text(report)) + " -->\n";
}

/// Whether a page ends with a key; false also where it cannot be read.
bool has_key(const fs::path& page, const std::string& key) {
  std::error_code error;
  if (!fs::is_regular_file(page, error)) return false;  // to open a pipe may take for ever
  std::ifstream file(page, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(key.size()), std::ios::end);
  std::string end(key.size(), '\0');
  return file.read(end.data(), static_cast<std::streamsize>(end.size())) && end == key;
}

/// The page of an earlier run is kept if this run had nothing to do.
void write_page(const SceneRun& run, const json& report) {
  const fs::path page = report_file(run, ".html"), earlier = set_aside(page);
  const std::string key = page_key(run, report);
  const bool nothing =
      std::ranges::all_of(work_done(run), [](const auto& step) { return step.second.empty(); });
  if (nothing && has_key(earlier, key)) {
    std::error_code error;
    fs::rename(earlier, page, error);
    if (!error) return;
  }
  write_file(page, report_html(run, report) + key);
  remove_result(earlier);
}

}  // namespace

fs::path report_file(const SceneRun& run, const char* extension) {
  return run.workspace.path(Workspace::report_name(run.options.shard) + extension);
}

fs::path set_aside(const fs::path& report) {
  return report.parent_path() / "status" / report.filename();
}

void write_reports(const SceneRun& run, const json& report) {
  const fs::path file = report_file(run, ".json");
  write_file(file, json_text(report));
  write_page(run, report);
  sync_folder_of(file);
  remove_result(set_aside(file));
}

void set_reports_aside(const SceneRun& run) {
  for (const char* extension : {".json", ".html"}) {
    const fs::path file = report_file(run, extension);
    std::error_code error;
    fs::rename(file, set_aside(file), error);
    if (error) remove_result(file);
  }
}

void keep_times(const SceneRun& run, const StepTimes& times) noexcept {
  try {
    const fs::path file = set_aside(report_file(run, ".json"));
    json kept;
    add_measured_run(kept, measured_run(run, times, program_json(run.options, {}), read_measured_run(file)));
    write_file(file, json_text(kept));
  } catch (...) {  // only times are lost
  }
}

}  // namespace recon
