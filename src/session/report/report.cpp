#include "session/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/duration.hpp"
#include "core/plain_number.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "scene/view_geometry.hpp"
#include "session/options/option_text.hpp"
#include "session/report/measured_steps.hpp"
#include "session/scene/cloud_offset.hpp"
#include "session/scene/output_files.hpp"

namespace recon {

namespace {

using nlohmann::json;

int most_disparities(const ViewPlan& view) {
  int most = 0;
  for (const ViewPair& it : view.pairs) most = std::max(most, it.pair.disparities);
  return most;
}

json pairs_json(const ScenePlan& plan, int view) {
  json pairs = json::array();
  for (const ViewPair& it : plan.view(view).pairs)
    pairs.push_back({{"source", plan.name(it.source)},
                     {"width", it.pair.left.width},
                     {"height", it.pair.left.height},
                     {"min_disparity", it.pair.min_disparity},
                     {"disparities", it.pair.disparities}});
  return pairs;
}

/// [far, near]: the depths between which the preview of a checked view has its colours; empty for a view
/// without known depths.
json preview_depths(const DepthHistogram& depths) {
  if (depths.empty()) return json::array();
  return {depth_quantile(depths, 1 - kPreviewOutliers), depth_quantile(depths, kPreviewOutliers)};
}

/// The numbers of a region of interest, in the order of --roi.
json roi_json(const SceneBox& roi) {
  return {roi.min.x, roi.min.y, roi.min.z, roi.max.x, roi.max.y, roi.max.z};
}

json view_json(const SceneProducts& products, int view) {
  const ScenePlan& plan = products.plan;
  const ResultStore& results = products.results;
  const ViewPlan& it = plan.view(view);
  json sources = json::array();
  for (const int source : it.sources) sources.push_back(plan.name(source));
  json result = {{"name", plan.name(view)},    {"width", it.camera.width},  {"height", it.camera.height},
                 {"depth_min", it.range.near}, {"depth_max", it.range.far}, {"sources", std::move(sources)}};
  if (const auto& face = plan.scene_view(view).face) result["photo"] = face->photo;
  if (it.planes > 0) result["planes"] = it.planes;
  if (!plan.scene_view(view).mask_hash.empty()) result["masked"] = true;
  if (!it.pairs.empty()) {
    result["disparities"] = most_disparities(it);
    result["pairs"] = pairs_json(plan, view);
  }
  if (const StepRecord* const estimate = products.result(Step::kEstimate, view)) {
    result["known_photometric"] = estimate->result.value("known", 0.0);
    result["seconds"] = estimate->result.value("seconds", 0.0);
    result["device"] = estimate->result.value("device", "");
    result["kept"] = results.kept(products.key(Step::kEstimate, view));
    if (estimate->result.contains("found_depths"))
      result["found_depths"] = estimate->result.at("found_depths");
  }
  if (const StepRecord* const planes = results.get({Step::kPlanes})) {
    result["filled_by_planes"] = planes->result.at("areas").value(it.output_name, 0.0);
    const json priors = planes->result.value("priors", json::object());
    if (priors.contains(it.output_name)) result["prior"] = priors.at(it.output_name);
  }
  if (const StepRecord* const check = products.result(Step::kCheck, view)) {
    result["known_geometric"] = check->result.value("known", 0.0);
    if (const json depths = preview_depths(checked_depths(products, view)); !depths.empty())
      result["preview_depths"] = depths;
    result["image"] = Workspace::image_file(it.output_name);
    result["preview"] = Workspace::preview_file(it.output_name);
    const std::string confidence = Workspace::confidence_preview_file(it.output_name);
    for (const OutputFile& file : check->outputs)
      if (file.name == confidence) result["confidence"] = confidence;
  }
  return result;
}

json views_json(const SceneProducts& products, const std::vector<int>& views) {
  json list = json::array();
  for (const int view : views) list.push_back(view_json(products, view));
  return list;
}

json left_out_json(const ScenePlan& plan, const std::vector<LeftOut>& failed) {
  json list = json::array();
  for (const auto* views : {&plan.left_out, &failed})
    for (const LeftOut& view : *views) list.push_back({{"name", view.name}, {"reason", view.reason}});
  return list;
}

/// Angles are counted in bins of this many degrees.
constexpr double kAngleBin = 2;

/// [[begin, end, views], ...] of the angles, degrees, at which a view and its sources see the middle of the
/// view's depths.
json baselines_json(const ScenePlan& plan) {
  std::vector<std::uint64_t> counts;
  for (const int i : plan.views_in_scope()) {
    const ViewPlan& view = plan.view(i);
    const double middle = std::sqrt(view.expected.near * view.expected.far);
    const Pose world_from_cam = inverse(plan.scene_view(i).cam_from_world);
    const Vec3d point = world_from_cam * Vec3d{0, 0, middle};
    for (const int source : view.matched_views()) {
      const Vec3d centre = camera_centre(plan.scene_view(source).cam_from_world);
      const double angle = triangulation_angle(point, world_from_cam.translation, centre);
      if (!(angle >= 0)) continue;
      const auto bin = static_cast<std::size_t>(angle / kAngleBin);
      counts.resize(std::max(counts.size(), bin + 1));
      ++counts[bin];
    }
  }
  json bins = json::array();
  for (std::size_t i = 0; i < counts.size(); ++i)
    bins.push_back({kAngleBin * static_cast<double>(i), kAngleBin * static_cast<double>(i + 1), counts[i]});
  return bins;
}

/// [[begin, end, pixels], ...] of the depths of the checked maps.
json depths_json(const SceneProducts& products) {
  DepthHistogram all;
  for (const int view : products.plan.views_in_scope())
    for (const auto& [bin, count] : checked_depths(products, view)) all[bin] += count;
  json bins = json::array();
  if (all.empty()) return bins;
  for (int bin = all.begin()->first; bin <= all.rbegin()->first; ++bin)
    bins.push_back({depth_bin_begin(bin), depth_bin_begin(bin + 1), all[bin]});
  return bins;
}

/// What plans and reports have.
json run_json(const SceneJob& job) {
  json warnings = job.plan.warnings;
  for (const std::string& warning : job.findings.warnings) warnings.push_back(warning);
  const bool shard = job.options.shard.count > 1;
  const std::vector<int> views = shard ? job.plan.active_views() : job.plan.views_in_scope();
  json object = {{"scene", job.input.folder.root.string()},
                 {"output", job.products.workspace.root().string()},
                 {"views", views_json(job.products, views)},
                 {"left_out", left_out_json(job.plan, job.findings.failed)},
                 {"warnings", std::move(warnings)}};
  if (!job.findings.doubt.empty()) object["doubt"] = job.findings.doubt;
  if (const int masked = count_masked(job.plan.scene); masked > 0) object["masked_views"] = masked;
  if (job.settings.cloud.roi) object["roi"] = roi_json(*job.settings.cloud.roi);
  return object;
}

/// The tasks of each step, in their order: the views, and the bytes that one takes at most, where they are
/// counted.
json tasks_json(const SceneJob& job, const SceneWork& work) {
  json steps = json::array();
  for (const auto& [step, views] : work) {
    if (views.empty()) continue;
    json names = json::array();
    for (const int view : views) names.push_back(job.plan.name(view));
    json tasks = {{"step", step_name(step)}, {"views", std::move(names)}};
    if (const auto bytes = job.memory.of_step.find(step); bytes != job.memory.of_step.end())
      tasks["bytes"] = bytes->second;
    steps.push_back(std::move(tasks));
  }
  return steps;
}

/// Steps that are predicted to be shorter are not reported, seconds.
constexpr double kMinReported = 0.005;

/// Lines of people's plans are not longer where names permit, columns.
constexpr std::size_t kTextColumns = 80;

/// Words with commas between them, on as many lines as they need.
std::string wrapped_list(const std::vector<std::string>& words, const std::string& indent) {
  std::string text;
  std::size_t column = kTextColumns;
  for (const std::string& word : words) {
    const bool fits = column + 2 + word.size() < kTextColumns;
    text += fits ? ", " : (text.empty() ? "" : ",\n") + indent;
    column = (fits ? column + 2 : indent.size()) + word.size();
    text += word;
  }
  return text.empty() ? text : text + "\n";
}

/// As many names as fit behind `column`, and how many more there are, "a b +3"; all of them with `verbose`.
std::string names_text(const std::vector<std::string>& names, std::size_t column, bool verbose) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string more = fmt::format(" +{}", names.size() - i);
    const bool last = i + 1 == names.size();
    const std::size_t space = last ? 0 : fmt::format(" +{}", names.size() - i - 1).size();
    if (!verbose && i > 0 && column + text.size() + 1 + names[i].size() + space > kTextColumns)
      return text + more;
    text += " " + names[i];
  }
  return text;
}

bool is_finished(const SceneWork& work) {
  return std::ranges::all_of(work, [](const auto& step) { return step.second.empty(); });
}

/// What of the steps is left to do.
std::string work_text(const SceneWork& work) {
  std::vector<std::string> steps;
  for (const auto& [step, views] : work)
    if (!views.empty()) steps.push_back(fmt::format("{} of {}", step_name(step), views.size()));
  if (steps.empty()) return kNothingToDo;
  steps.front().insert(0, "to do, by views: ");
  return wrapped_list(steps, "  ");
}

/// A table of the views of the plan.
std::string views_text(const SceneJob& job) {
  std::size_t width = 4;
  for (const int view : job.plan.active_views()) width = std::max(width, job.plan.name(view).size());
  const auto padded = [&](std::string name) {
    return name.append(width - std::min(width, name.size()), ' ');
  };
  const bool sweep = job.settings.matching.sweeps(), given = job.input.given.any();
  const std::string steps = given ? "depths" : sweep ? "planes" : "disparities";
  constexpr std::size_t kDepths = 19;
  constexpr int kMaxViews = 12;
  int shown = 0;
  std::string text = fmt::format("  {}        size  {}   {:<{}}  {}\n", padded("view"), steps,
                                 given ? "depths of the map" : "depths, scene units", kDepths,
                                 sweep || given ? "sources" : "matched with");
  const std::vector<int> views = job.plan.active_views();
  for (const int view : views) {
    if (++shown > kMaxViews && !job.options.verbose)
      return text + fmt::format("  ... and {} more, with --verbose\n", views.size() - kMaxViews);
    const ViewPlan& plan = job.plan.view(view);
    const std::string row =
        fmt::format("  {}  {:>10}  {:>{}}   {:<{}}  ", padded(job.plan.name(view)),
                    size_text(plan.camera.width, plan.camera.height),
                    given ? "given" : plain(sweep ? plan.planes : most_disparities(plan)), steps.size(),
                    plain(plan.range.near, 5) + " to " + plain(plan.range.far, 5), kDepths);
    std::vector<std::string> names;
    for (const int source : plan.matched_views()) names.push_back(job.plan.name(source));
    text += row + names_text(names, row.size(), job.options.verbose) + "\n";
  }
  return text;
}

/// The views that get no depth map. Warnings have said why.
std::string left_out_text(const SceneJob& job) {
  std::vector<std::string> names;
  for (const auto* views : {&job.plan.left_out, &job.findings.failed})
    for (const LeftOut& view : *views) names.push_back(view.name);
  if (names.empty()) return {};
  const std::string text = "  left out:";
  return text + names_text(names, text.size(), job.options.verbose) + "\n";
}

const char* source_text(TimeSource source) {
  constexpr const char* kTexts[] = {"by figures of other machines, which a run corrects",
                                    "by the calibration of this machine", "by earlier runs on this machine"};
  return kTexts[static_cast<int>(source)];
}

}  // namespace

DepthHistogram checked_depths(const SceneProducts& products, int view) {
  const StepRecord* const check = products.result(Step::kCheck, view);
  return check == nullptr ? DepthHistogram() : parse_histogram(check->result.value("depths", json()));
}

json time_json(const TimePlan& time) {
  json steps = json::object();
  for (const auto& [step, seconds] : time.steps) steps[step] = seconds;
  json object = {{"steps", std::move(steps)},
                 {"a_view", time.a_view},
                 {"total", time.total},
                 {"source", source_text(time.source)}};
  if (time.smaller)
    object["smaller_images"] = {{"max_image_size", time.smaller->max_image_size},
                                {"total", time.smaller->seconds}};
  return object;
}

json plan_json(const SceneJob& job, const SceneWork& work, const TimePlan& time) {
  const MemoryPlan& memory = job.memory;
  json plan = run_json(job);
  plan["active_views"] = job.plan.active_views().size();
  plan["memory"] = {{"limit", memory.limit},
                    {"peak", memory.peak},
                    {"gpu", memory.device_peak},
                    {"tiles", memory.tiles},
                    {"output", output_bytes(job.plan, job.settings)}};
  plan["tasks"] = tasks_json(job, work);
  if (const std::vector<std::string> removed = removed_texts(job, work); !removed.empty())
    plan["removed"] = removed;
  plan["seconds"] = time_json(time);
  return plan;
}

std::string plan_text(const SceneJob& job, const SceneWork& work, const TimePlan& time) {
  std::string text = job.input.folder.root.string() + " -> " + job.products.workspace.root().string() + "\n";
  text += views_text(job);
  if (const std::string reduced = reduced_images_text(job.plan, job.settings.plan.images); !reduced.empty())
    text += "  " + reduced + "\n";
  text += left_out_text(job);
  if (job.input.given.any() && job.targets.does(Step::kEstimate))
    text += fmt::format("  depth maps: of {} of {} views\n",
                        job.plan.active_views().size() - job.findings.failed.size(), job.plan.views.size());
  if (const int masked = count_masked(job.plan.scene); masked > 0)
    text += fmt::format("  masks: {} of {} views\n", masked, job.plan.views.size());
  text += work_text(work);
  for (const std::string& removed : removed_texts(job, work)) text += "  removed: " + removed + "\n";
  if (is_finished(work)) return text;
  text += stale_text(job, work);
  const auto fused = work.find(Step::kFusion);
  const std::string fewer =
      fused == work.end() ? "" : fewer_views(job.products.workspace, fused->second.size());
  if (!fewer.empty()) text += "  " + fewer + "\n";
  const MemoryPlan& memory = job.memory;
  text += "  memory: up to " + format_byte_size(memory.peak) + " of " + format_byte_size(memory.limit);
  if (memory.device_peak > 0) text += ", " + format_byte_size(memory.device_peak) + " of GPU memory a view";
  if (memory.tiles > 1)
    text += fmt::format("\n    a view is matched in {} pieces, so that it fits", memory.tiles);
  text += "\n  disk: up to " + format_byte_size(output_bytes(job.plan, job.settings)) + "\n";
  text += "  time: about " + duration_text(time.total);
  if (time.a_view > 0) text += ", " + duration_text(time.a_view) + " a view";
  std::vector<std::string> steps;
  for (const auto& [step, seconds] : time.steps)
    if (seconds >= kMinReported) steps.push_back(step + " " + duration_text(seconds));
  text += "\n" + wrapped_list(steps, "    ") + "    predicted " + source_text(time.source) + "\n";
  if (const std::string smaller = smaller_images_text(time); !smaller.empty())
    text += "    " + smaller + "\n";
  return text;
}

json report_json(const SceneJob& job, const std::string& device, const StepTimes& times) {
  json report = run_json(job);
  const MeasuredRun earlier =
      read_measured_run(set_aside(report_file(job.products.workspace, job.options.shard, ".json")));
  add_measured_run(
      report, measured_run(job.products.results, times, program_json(job.options.commit, device), earlier));
  report.update({{"elapsed", elapsed(times)},
                 {"complete", job.complete()},
                 {"tasks", tasks_json(job, made(job.targets, job.products))},
                 {"baselines", baselines_json(job.plan)},
                 {"depths", depths_json(job.products)}});
  const Job of_scene{job.settings.matching.method, false};
  report["options"] = job.options.resolved(of_scene);
  report["option_values"] = option_values(job.options.resolved_values(of_scene));
  if (const StepRecord* const cloud = job.products.results.get({Step::kFusion})) {
    report["cloud"] = job.products.workspace.path(Workspace::cloud_file()).string();
    report["points"] = cloud->result.at("points");
    if (const Vec3d offset = cloud_offset(job.plan, job.settings.cloud); has_offset(offset))
      report["offset"] = {offset.x, offset.y, offset.z};
  }
  if (const StepRecord* const tiles = job.products.results.get({Step::kTiles})) {
    json files = json::array();
    for (const OutputFile& file : tiles->outputs) files.push_back(file.name);
    report["tiles"] = {{"size", job.settings.cloud.tile}, {"files", std::move(files)}};
  }
  if (const StepRecord* const exported = job.products.results.get({Step::kExport})) {
    report["export"] = {{"folder", Workspace::export_folder()}};
    for (const char* const kind : {"points", "priors"})
      if (const json count = exported->result.value(kind, json(0)); count != 0)
        report["export"][kind] = count;
  }
  return report;
}

std::string doubt_and_warnings(const json& report) {
  std::string text;
  if (report.contains("doubt"))
    text =
        "; THE RESULT IS IN DOUBT: " + report.at("doubt").get<std::string>() + ": correct that and run again";
  if (const std::size_t warnings = report.at("warnings").size(); warnings > 0)
    text += fmt::format("; {} warning{}", warnings, warnings == 1 ? "" : "s");
  return text;
}

}  // namespace recon
