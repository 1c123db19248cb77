// --export-points and --export-priors: a folder from which the training of splats begins.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

#include "core/log.hpp"
#include "session/scene/exports.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

/// Programs look for the images beside the model.
void link_images(const Workspace& workspace) {
  const fs::path link = workspace.path(Workspace::export_link());
  std::error_code error;
  if (fs::is_symlink(link, error)) return;
  fs::create_directory_symlink(Workspace::kExportedImages, link, error);
  if (error)
    messages().info(
        "export: {} cannot be a link to the undistorted images: {}; name them to the program that reads "
        "the model",
        link.string(), error.message());
}

/// Such as "the model of 300 points and 8 files of priors are".
std::string contents(const StepRecord& record) {
  const auto points = record.result.at("points").get<std::uint64_t>();
  const auto priors = record.result.value("priors", std::uint64_t{0});
  if (priors == 0) return fmt::format("the model of {} points is", points);
  return (points > 0 ? fmt::format("the model of {} points and ", points) : "") +
         fmt::format("{} files of priors are", priors);
}

}  // namespace

std::vector<std::string> exported_files(const ScenePlan& plan, const CloudSettings& cloud) {
  std::vector<std::string> files = prior_files(plan, cloud.export_priors);
  if (cloud.export_points > 0)
    for (std::string& file : point_files()) files.push_back(std::move(file));
  files.push_back(Workspace::export_link());
  return files;
}

void remove_extra(SceneProducts& products, Step step, bool replaced) {
  const bool tiles = step == Step::kTiles;
  const std::string folder = tiles ? Workspace::tiles_folder() : Workspace::export_folder();
  const Workspace& workspace = products.workspace;
  products.results.begin({step});
  OwnedFiles& owned = workspace.owned();
  // The record goes first: files without one are of no finished step.
  owned.remove(Workspace::record_file(step));
  int removed = 0;
  std::set<fs::path, std::greater<>> folders;  // the inner ones first
  if (tiles) folders.insert(folder);
  for (const std::string& file : owned.below(folder)) {
    if (!owned.remove(file)) continue;
    ++removed;
    for (fs::path above = fs::path(file).parent_path(); !above.empty(); above = above.parent_path())
      folders.insert(above);
  }
  // Unless they hold files of others, or are links.
  for (const fs::path& it : folders) ::rmdir(workspace.path(it.string()).c_str());
  if (removed == 0 || replaced) return;
  const std::string place = workspace.path(folder).string();
  if (tiles)
    messages().info("tiles: the {} tile{} of an earlier run in {} {} removed, as --tile is not given",
                    removed, removed == 1 ? "" : "s", place, removed == 1 ? "is" : "are");
  else
    messages().info(
        "export: the files of an earlier run in {} are removed, as neither --export-points nor "
        "--export-priors is given",
        place);
}

void export_splat(SceneProducts& products, const StepInputs& inputs, const CloudSettings& cloud,
                  std::size_t memory, Findings& findings) {
  const Workspace& workspace = products.workspace;
  StepRecord record;
  record.inputs = inputs.exported();
  if (const StepRecord* const kept = products.results.find({Step::kExport}, record.inputs)) {
    messages().info("export: {} finished and kept", contents(*kept));
    link_images(workspace);
    return;
  }
  if (const std::string reason = products.results.reason({Step::kExport}); !reason.empty())
    messages().info("export: the stale one is made again: {}", reason);
  remove_extra(products, Step::kExport, true);
  products.maps.set_budget(0);
  products.photos.set_budget(0);
  record.outputs = export_priors(products, cloud, memory);
  record.result["priors"] = record.outputs.size();
  record.result["points"] = cloud.export_points > 0 ? export_points(products, cloud, memory, findings) : 0;
  link_images(workspace);
  std::vector<std::string> others{Workspace::export_link()};
  if (cloud.export_points > 0)
    for (std::string& file : point_files()) others.push_back(std::move(file));
  for (const std::string& name : others)
    if (auto identity = identify_file(workspace.path(name)))
      record.outputs.push_back({name, std::move(*identity)});
  products.results.put({Step::kExport}, std::move(record));
}

}  // namespace recon
