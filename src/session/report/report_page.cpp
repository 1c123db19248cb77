#include <cmath>
#include <system_error>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/quantile.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"
#include "session/report/measured_steps.hpp"
#include "session/report/page.hpp"
#include "session/report/report.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The view whose photo the page shows the cloud as: the most central one of those that see as much of it as
/// half of all views.
int first_view(const SceneProducts& products) {
  const ScenePlan& plan = products.plan;
  std::vector<int> views = plan.views_in_scope();
  std::vector<double> shares;
  const auto share = [&](int view) { return products.known_share(Step::kCheck, view); };
  for (const int view : views) shares.push_back(share(view));
  const double middle = quantile(shares, 0.5);
  std::erase_if(views, [&](int view) { return share(view) < middle; });
  std::vector<Pose> cameras;
  for (const int view : views) cameras.push_back(plan.scene_view(view).cam_from_world);
  return views[central_camera(cameras)];
}

/// How far what a view sees is away.
double viewed_depth(const SceneProducts& products, int view) {
  if (const DepthHistogram depths = checked_depths(products, view); !depths.empty())
    return depth_quantile(depths, 0.5);
  const DepthRange range = products.plan.view(view).range;
  return std::sqrt(range.near * range.far);
}

/// The page without its key; pictures are files beside it.
/// @throws InputError when the cloud cannot be read
std::string scene_page(const SceneProducts& products, json report) {
  const ScenePlan& plan = products.plan;
  for (json& view : report.at("views"))
    for (const char* picture : {"image", "preview", "confidence"})
      if (view.contains(picture)) view[picture] = file_address(view.at(picture));
  CloudView cloud;
  if (report.contains("points")) {
    const int first = first_view(products);
    std::vector<Pose> cameras;
    for (const int view : plan.views_in_scope()) cameras.push_back(plan.scene_view(view).cam_from_world);
    cloud = view_cloud(
        products.workspace.path(Workspace::cloud_file()), cameras,
        {plan.view(first).camera, plan.scene_view(first).cam_from_world, viewed_depth(products, first)});
    report["seen_from"] = plan.name(first);
  }
  return web_page("scene", std::move(report), cloud);
}

/// The last line of a page: a hash of what it shows, without what only this run did.
std::string page_key(const std::string& commit, const ResultStore& results, json report) {
  for (const char* of_run : {"seconds", "steps", "elapsed", "predicted", "date", "device", "tasks"})
    report.erase(of_run);
  report["commit"] = commit;
  for (json& view : report.at("views")) view.erase("kept");
  if (const StepRecord* const cloud = results.get({Step::kFusion}))
    for (const OutputFile& file : cloud->outputs) report["outputs"].push_back(file.identity.hash);
  return "<!-- " + content_hash(json_text(report)) + " -->\n";
}

/// Whether a page ends with a key; false also where it cannot be read.
bool has_key(const fs::path& page, const std::string& key) try {
  return is_file(page) && read_file(page).ends_with(key);
} catch (const Error&) {
  return false;
}

}  // namespace

void write_reports(const SceneJob& job, json report) {
  const SceneProducts& products = job.products;
  const auto file = [&](const char* extension) {
    return report_file(products.workspace, job.options.shard, extension);
  };
  write_file(file(".json"), json_text(report));
  const fs::path page = file(".html"), earlier = set_aside(page);
  const std::string key = page_key(job.options.commit, products.results, report);
  std::error_code error = std::make_error_code(std::errc::no_such_file_or_directory);
  if (kept_all(products.results) && has_key(earlier, key)) fs::rename(earlier, page, error);
  if (error) {
    report["files"] = {file(".json").filename().string(), file(".log").filename().string()};
    write_file(page, scene_page(products, std::move(report)) + key);
    remove_result(earlier);
  }
  sync_folder_of(page);
  remove_result(set_aside(file(".json")));
}

void keep_times(const SceneJob& job, const StepTimes& times) noexcept {
  try {
    const fs::path file = set_aside(report_file(job.products.workspace, job.options.shard, ".json"));
    json kept;
    add_measured_run(kept, measured_run(job.products.results, times, program_json(job.options.commit, {}),
                                        read_measured_run(file)));
    write_file(file, json_text(kept));
  } catch (...) {  // only times are lost
  }
}

}  // namespace recon
