#include <fmt/format.h>

#include <fstream>

#include "core/content_hash.hpp"
#include "io/output_file.hpp"
#include "session/report/cloud_view.hpp"
#include "session/report/embedded.hpp"
#include "session/report/html.hpp"
#include "session/report/report.hpp"

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

/// The share of known pixels as a bar.
std::string share(const json& view, const char* key, const char* label) {
  if (!view.contains(key)) return {};
  const double value = view.at(key).get<double>();
  return std::string("<small>") + label + number(100 * value, " %.1f %%") +
         " <meter min=0 max=1 value=" + number(value, "%.3f") + "></meter></small>";
}

std::string view_figure(const json& view) {
  std::string text = "<figure class=view><div class=pictures>" + picture(view, "image", "photo") +
                     picture(view, "preview", "depth") + picture(view, "confidence", "confidence") +
                     "</div><figcaption><b>" + html_escaped(view.at("name")) + "</b><small>";
  text += number(view.at("width"), "%.0f") + number(view.at("height"), " x %.0f") +
          fact(view, "depth_min", ", depth %.4g") + fact(view, "depth_max", " to %.4g") +
          fact(view, "planes", ", %.0f planes") + fact(view, "disparities", ", %.0f disparities") + ", " +
          std::to_string(view.at("sources").size()) + " sources" + fact(view, "seconds", ", %.2f s") +
          "</small>";
  return text + share(view, "known_photometric", "known") +
         share(view, "known_geometric", "agreed by other views") + "</figcaption></figure>\n";
}

std::string page_summary(const json& report) {
  std::string text = "<p>";
  if (report.contains("points"))
    text += std::to_string(report.at("points").get<std::uint64_t>()) + " points from " +
            std::to_string(report.at("views").size()) + " views in ";
  text += number(report.at("seconds").at("total"), "%.1f s on ") + html_escaped(report.at("device")) +
          ", version " + html_escaped(report.at("version")) + ".</p>\n";
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

std::string times(const json& seconds) {
  std::string table = "<h2>Times</h2>\n<table>";
  for (const auto& [step, time] : seconds.items())
    table += "<tr><td>" + html_escaped(step) + "<td class=n>" + number(time, "%.2f s") + "</tr>\n";
  return table + "</table>\n";
}

std::string charts(const json& report) {
  const std::string figures =
      html_histogram(report.value("baselines", json::array()), "Angles between views and their sources",
                     "°") +
      html_histogram(report.value("depths", json::array()), "Depths of all checked pixels, scene units", "");
  return figures.empty() ? figures : "<div class=charts>" + figures + "</div>\n";
}

/// Adds a script of its own.
void add_script(std::string& page, std::string_view text) {
  page.append("<script>\n").append(text).append("</script>\n");
}

/// Adds what shows the cloud.
void add_cloud(std::string& page, const CloudView& cloud) {
  page += "<script type=\"application/json\" id=points>" + cloud_view_json(cloud) + "</script>\n";
  page.append("<!--\n").append(embedded_three_notice()).append("-->\n");
  add_script(page, embedded_three());
  add_script(page, embedded_three_controls());
}

/// The cloud as the page shows it; empty where there is none. @throws InputError when its file cannot be read
CloudView view_of_cloud(const SceneRun& run) {
  if (!run.cloud) return {};
  std::vector<Pose> cameras;
  for (const int view : run.plan.views_in_scope())
    cameras.push_back(run.plan.scene_view(view).cam_from_world);
  return view_cloud(run.workspace.path(Workspace::cloud_file()), cameras);
}

/// The page without its key; pictures are files beside it.
std::string report_html(const json& report, const CloudView& cloud) {
  const bool shown = cloud.size() > 0 && !embedded_three().empty();
  std::string page = html_head() + "<h1>" + html_escaped(report.at("scene")) + "</h1>\n" +
                     page_summary(report) + html_warnings(report.at("warnings"));
  if (shown)
    page += "<div id=cloud><p>The cloud is shown here where scripts are allowed.</p></div>\n<p><small>" +
            std::to_string(cloud.size()) + " of " + std::to_string(report.at("points").get<std::uint64_t>()) +
            " points; all of them are in <a href=\"fused.ply\">fused.ply</a>" + tiles(report) +
            ".</small></p>\n";
  page += charts(report) + "<h2>Views</h2>\n<div class=views>\n";
  for (const json& view : report.at("views")) page += view_figure(view);
  page += "</div>\n" + times(report.at("seconds")) + html_options(report.at("options"));
  if (shown) add_cloud(page, cloud);
  add_script(page, embedded_script());
  return page + "</html>\n";
}

/// Where the page of an earlier run is meanwhile.
fs::path set_aside(const fs::path& page) {
  return page.parent_path() / "status" / page.filename();
}

/// The last line of a page: a hash of what it shows, without what only this run did.
std::string page_key(const SceneRun& run, json report) {
  for (const char* times : {"seconds", "predicted"}) report.erase(times);
  for (json& view : report.at("views")) view.erase("kept");
  if (run.cloud)
    for (const OutputFile& file : run.cloud->record.outputs) report["files"].push_back(file.identity.hash);
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
  const RemainingWork done = work_done(run);
  const bool nothing = done.estimate.empty() && done.check.empty() && !done.fuse;
  if (nothing && has_key(earlier, key)) {
    std::error_code error;
    fs::rename(earlier, page, error);
    if (!error) return;
  }
  write_file(page, report_html(report, view_of_cloud(run)) + key);
  remove_result(earlier);
}

}  // namespace

fs::path report_file(const SceneRun& run, const char* extension) {
  const auto [index, count] = run.options.shard;
  const std::string name = count == 1 ? "report" : fmt::format("report-{}-of-{}", index, count);
  return run.workspace.path(name + extension);
}

void write_reports(const SceneRun& run, const json& report) {
  write_file(report_file(run, ".json"), json_text(report));
  write_page(run, report);
  sync_folder_of(report_file(run, ".json"));
}

void remove_reports(const SceneRun& run) {
  remove_result(report_file(run, ".json"));
  const fs::path page = report_file(run, ".html");
  std::error_code error;
  fs::rename(page, set_aside(page), error);
  if (error) remove_result(page);
}

}  // namespace recon
