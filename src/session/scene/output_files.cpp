#include "session/scene/output_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/paths.hpp"
#include "io/cloud/ply.hpp"
#include "io/file/output_file.hpp"
#include "io/map/map_files.hpp"
#include "session/products/host_memory.hpp"
#include "session/resume/step_record.hpp"
#include "session/scene/cloud_offset.hpp"
#include "session/scene/exports.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

/// The files of a step of a view, beside its record.
std::vector<std::string> files_of(Step step, const std::string& view) {
  const auto maps = [&](MapKind kind) {
    return std::vector{Workspace::depth_file(view, kind), Workspace::confidence_file(view, kind)};
  };
  if (step == Step::kPrepare) return {Workspace::image_file(view), Workspace::mask_file(view)};
  if (step == Step::kEstimate) return maps(MapKind::kPhotometric);
  std::vector<std::string> files = maps(MapKind::kGeometric);
  files.push_back(Workspace::plane_file(view));
  files.push_back(Workspace::prior_file(view));
  files.push_back(Workspace::normal_file(view, MapKind::kGeometric));
  files.push_back(Workspace::preview_file(view));
  files.push_back(Workspace::confidence_preview_file(view));
  return files;
}

constexpr std::array kViewSteps = {Step::kPrepare, Step::kEstimate, Step::kCheck};

void add(std::vector<std::string>& files, std::vector<std::string> more) {
  files.insert(files.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void add(std::vector<std::string>& files, RunFiles more) {
  files.push_back(Workspace::record_file(Step::kRun, more.name));
  add(files, std::move(more.files));
}

void add_reports(int count, std::vector<std::string>& files) {
  for (int index = 1; index <= count; ++index) {
    const std::string name = Workspace::report_name({index, count});
    add(files, report_files({index, count}));
    add(files, {name + ".log", "status/" + name + ".json", "status/" + name + ".html"});
  }
}

/// What a run reads.
std::vector<fs::path> inputs_of(const SceneInput& input) {
  std::vector<fs::path> inputs = input.given.files();
  std::ranges::copy(input.prior.files(), std::back_inserter(inputs));
  for (const View& view : input.scene.views) {
    inputs.push_back(input.folder.images / view.photo_file());
    if (!view.mask_file.empty()) inputs.push_back(view.mask_file);
  }
  if (is_folder(input.folder.model))
    for_each_in_folder(input.folder.model, [&](const fs::path& file) { inputs.push_back(file); });
  else
    inputs.push_back(input.folder.model);
  return inputs;
}

/// The views of earlier runs.
std::vector<std::string> recorded_views(const Workspace& workspace) {
  const std::string folder =
      fs::path(Workspace::record_file(Step::kPrepare, "x")).parent_path().string() + "/";
  constexpr std::string_view kEnding = ".json";
  std::vector<std::string> views;
  for (const std::string& record : workspace.owned().below(folder.substr(0, folder.size() - 1)))
    if (std::error_code ignored; fs::exists(workspace.path(record), ignored))
      views.push_back(record.substr(folder.size(), record.size() - folder.size() - kEnding.size()));
  return views;
}

/// Those that the model has no more; those that are left out may come back.
std::vector<std::string> departed_views(const ScenePlan& plan, const Workspace& workspace) {
  std::set<std::string> present;
  for (const int view : plan.all_views()) present.insert(plan.view(view).output_name);
  const auto is_present = [&](const std::string& name) {
    return present.contains(name) || std::ranges::any_of(plan.left_out, [&](const LeftOut& view) {
             return name.starts_with(fs::path(view.name).replace_extension().string());
           });
  };
  std::vector<std::string> departed = recorded_views(workspace);
  std::erase_if(departed, is_present);
  return departed;
}

}  // namespace

std::vector<std::string> files_to_write(const PlannedOutput& output) {
  const ScenePlan& plan = output.plan;
  const Targets& targets = output.targets;
  const SceneSettings& settings = output.settings;
  std::vector<std::string> files;
  add(files, options_files());
  add(files, model_files());
  add_reports(settings.plan.shard.count, files);
  // Parts of the estimation work beside each other: each lists the files of all, so that their lists are
  // equal.
  const bool beside_others = !targets.does(Step::kCheck);
  for (const Step step : kViewSteps) {
    std::vector<int> views = targets.views_of(step, plan);
    if (beside_others && targets.does(step)) views = plan.all_views();
    for (const int view : views) {
      const std::string& name = plan.view(view).output_name;
      add(files, files_of(step, name));
      files.push_back(Workspace::record_file(step, name));
    }
  }
  if (targets.does(Step::kPlanes)) files.push_back(Workspace::record_file(Step::kPlanes));
  if (targets.does(Step::kFusion)) {
    files.push_back(Workspace::record_file(Step::kFusion));
    for (const CloudFile& file : cloud_files())
      if (file.is_wanted(plan, settings.cloud)) files.push_back(file.name);
  }
  if (targets.does(Step::kTiles)) files.push_back(Workspace::record_file(Step::kTiles));
  if (targets.does(Step::kExport)) {
    files.push_back(Workspace::record_file(Step::kExport));
    add(files, exported_files(plan, settings.cloud));
  }
  return files;
}

void check_inputs_stay(const PlannedOutput& output, const SceneInput& input) {
  check_inputs_stay(output.workspace.root(), files_to_write(output), inputs_of(input));
}

void check_folders(const PlannedOutput& output, bool of_others) {
  const Workspace& workspace = output.workspace;
  const Targets& targets = output.targets;
  const std::vector<std::string> views = recorded_views(workspace);
  if (of_others && !views.empty() && departed_views(output.plan, workspace).size() == views.size())
    throw UsageError(workspace.root().string() + " holds the results of other photos, such as " +
                     views.front() +
                     "; choose another folder with --output, or give --overwrite to replace them");
  if (targets.does(Step::kTiles)) workspace.owned().check_way(Workspace::tiles_folder() + "/tile");
  std::error_code ignored;
  for (const char* file : {"sparse/rigs.bin", "sparse/frames.bin"})
    if (const fs::path path = workspace.path(file); fs::exists(path, ignored))
      throw UsageError(path.string() +
                       ": beside the model of this run it would give its images other poses; move it, or "
                       "choose another folder with --output");
}

/// The files of views, without those that the run reads.
static std::vector<std::string> files_of_departed(const std::vector<std::string>& departed,
                                                  const SceneInput& input, const Workspace& workspace) {
  std::vector<std::string> files;
  for (const std::string& view : departed)
    for (const Step step : kViewSteps) {
      files.push_back(Workspace::record_file(step, view));
      add(files, files_of(step, view));
    }
  const auto inputs = inputs_among(workspace.root(), files, inputs_of(input));
  std::erase_if(files, [&](const std::string& file) { return inputs.contains(file); });
  return files;
}

std::vector<std::string> removals(const PlannedOutput& output, const SceneInput& input) {
  const auto& [plan, targets, settings, workspace] = output;
  std::vector<std::string> texts;
  if (!targets.does(Step::kFusion)) return texts;
  OwnedFiles& owned = workspace.owned();
  const auto count = [&](const std::string& folder) { return owned.count_removable(owned.below(folder)); };
  const auto path = [&](const std::string& folder) { return workspace.path(folder).string(); };
  if (const int tiles = count(Workspace::tiles_folder()); tiles > 0 && !targets.does(Step::kTiles))
    texts.push_back(fmt::format("the {} tile{} in {}, as --tile is not given", tiles, tiles == 1 ? "" : "s",
                                path(Workspace::tiles_folder())));
  std::vector<std::string> exported = owned.below(Workspace::export_folder());
  if (targets.does(Step::kExport))
    for (const std::string& file : exported_files(plan, settings.cloud)) std::erase(exported, file);
  if (const int files = owned.count_removable(exported); files > 0)
    texts.push_back(fmt::format("{} file{} in {}, which this run does not export", files,
                                files == 1 ? "" : "s", path(Workspace::export_folder())));
  const std::vector<std::string> departed = departed_views(plan, workspace);
  if (owned.count_removable(files_of_departed(departed, input, workspace)) > 0)
    texts.push_back(fmt::format("the files of {} view{} that the model has no more, such as {}",
                                departed.size(), departed.size() == 1 ? "" : "s", departed.front()));
  return texts;
}

std::string fewer_views(const Workspace& workspace, std::size_t views) {
  const auto record = read_record(workspace.path(Workspace::record_file(Step::kFusion)));
  if (views == 0 || !record || !record->inputs.is_object() || !record->inputs.contains("views") ||
      !is_there(workspace.path(Workspace::cloud_file())))
    return {};
  const std::size_t before = record->inputs.at("views").size();
  return before > views ? fmt::format("the cloud of {} views is replaced by one of {}", before, views) : "";
}

void remove_files_of_departed_views(const SceneInput& input, SceneProducts& products) {
  const Workspace& workspace = products.workspace;
  const std::vector<std::string> departed = departed_views(products.plan, workspace),
                                 files = files_of_departed(departed, input, workspace);
  for (const std::string& view : departed)
    for (const Step step : kViewSteps)
      products.results.begin({step, view}, [&](const std::string& file) {
        return std::ranges::find(files, file) == files.end();
      });
  int removed = 0;
  for (const std::string& file : files) removed += workspace.owned().remove(file) ? 1 : 0;
  if (removed > 0)
    messages().info("the files of {} view{} that the model has no more are removed from {}", departed.size(),
                    departed.size() == 1 ? "" : "s", workspace.root().string());
}

void check_results_are_there(const SceneProducts& products) {
  products.workspace.owned().check_in_place();
  for (const std::string& file : products.results.files())
    if (std::error_code ignored; !fs::exists(products.workspace.path(file), ignored))
      throw OutputError(
          products.workspace.path(file).string() +
          ": the file was removed while reconstruct was at work; run again: what is finished is kept");
}

const std::vector<CloudFile>& cloud_files() {
  constexpr std::uint64_t kViews = 6;  // that see a point, about
  static const std::vector<CloudFile> kFiles = {
      {Workspace::cloud_file(), PlyWriter::vertex_bytes(PlyPosition::kDouble)},
      {Workspace::visibility_file(), (1 + kViews) * PlyWriter::kListedBytes},
      {Workspace::offset_file(), 0,
       [](const ScenePlan& plan, const CloudSettings& cloud) {
         return has_offset(cloud_offset(plan, cloud));
       },
       [](const Workspace& workspace, const ScenePlan& plan, const CloudSettings& cloud) {
         return write_file(workspace.path(Workspace::offset_file()),
                           offset_file_text(cloud_offset(plan, cloud)));
       }}};
  return kFiles;
}

namespace {

/// Bytes a pixel of the maps of a view before the check, and after it.
constexpr std::uint64_t kUnchecked = kDepthFileBytes + kConfidenceFileBytes;
constexpr std::uint64_t kChecked = kUnchecked + kNormalFileBytes;

/// Bytes of the files of all maps, at most. With --clean, the maps of a view before the check are removed
/// after the last check that needs them.
std::uint64_t map_file_bytes(const ScenePlan& plan, bool clean) {
  const std::vector<int> views = plan.views_in_scope();
  const auto size_of = [&](int view) { return pixels_of(plan.view(view).camera); };
  std::vector<std::size_t> last_check(plan.views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    last_check[views[i]] = i;
    for (const int source : plan.view(views[i]).sources) last_check[source] = i;
  }
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> removed(views.size());
  for (const int view : views) {
    bytes += size_of(view) * kUnchecked;
    if (clean) removed[last_check[view]] += size_of(view) * kUnchecked;
  }
  std::uint64_t max = bytes;
  for (std::size_t i = 0; i < views.size(); ++i) {
    bytes += size_of(views[i]) * kChecked;
    max = std::max(max, bytes);
    bytes -= removed[i];
  }
  return max;
}

/// Bytes of a COLMAP model of views, points and observations, each of which is in the track of its point too.
std::uint64_t model_bytes(std::uint64_t views, std::uint64_t points, std::uint64_t observations) {
  return 512 * views + 51 * points + (24 + 8) * observations;
}

}  // namespace

std::uint64_t output_bytes(const ScenePlan& plan, const SceneSettings& settings) {
  // About one pixel in four becomes a point, which six views see.
  constexpr std::uint64_t kPixelsPerPoint = 4, kViews = 6;
  // Tiles are written from a temporary file of the same size.
  std::uint64_t point = settings.cloud.tile > 0 ? 2 * PlyWriter::vertex_bytes(PlyPosition::kDouble) : 0;
  for (const CloudFile& file : cloud_files())
    if (file.is_wanted(plan, settings.cloud)) point += file.point_bytes;
  // The script of the report's page, and its points; of a view the records, its lines in the report and the
  // log.
  constexpr std::uint64_t kPage = std::uint64_t{1} << 20, kPagePoint = 14;
  constexpr std::uint64_t kViewRecords = std::uint64_t{16} << 10;
  const std::uint64_t views = plan.views.size();
  std::uint64_t bytes = map_file_bytes(plan, settings.check.clean) + kPage + kViewRecords * views, pixels = 0,
                observations = 0;
  for (const int view : plan.needed_views()) {
    const std::uint64_t size = pixels_of(plan.view(view).camera);
    bytes += size * 3;  // the undistorted image, were it not compressed
    if (!plan.scene_view(view).mask_hash.empty()) bytes += size;
    if (plan.view(view).in_scope) pixels += size;
    for (const PriorMap& map : prior_maps(plan.view(view).output_name, settings.cloud.export_priors))
      bytes += size * map.pixel_bytes;
    observations += plan.scene_view(view).observations.size();
  }
  const std::uint64_t points = pixels / kPixelsPerPoint;
  bytes +=
      pixels * (1 + point / kPixelsPerPoint) + kPagePoint * std::min<std::uint64_t>(points, kMaxViewedPoints);
  bytes += model_bytes(views, plan.scene.points.size(), observations);
  if (settings.cloud.export_points > 0) {
    const std::uint64_t exported = std::min<std::uint64_t>(points, settings.cloud.export_points);
    bytes += model_bytes(views, exported, kViews * exported);
  }
  return bytes;
}

}  // namespace recon
