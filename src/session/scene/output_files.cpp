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
#include "session/resume/step_record.hpp"
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

}  // namespace recon
