// --tile: the cloud once more, divided into files that programs open which do not open all of it; and
// --export-points and --export-priors: a folder from which the training of splats begins.

#include "session/scene/exports.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/plain_number.hpp"
#include "io/cloud/ply_tiles.hpp"
#include "io/file/text_scanner.hpp"

namespace recon {

namespace {

/// The width of a pixel in scene units where a view of the cloud is nearest to what it sees.
double least_pixel_width(const ScenePlan& plan) {
  double least = std::numeric_limits<double>::infinity();
  for (const int view : plan.views_in_scope()) {
    const ViewPlan& it = plan.view(view);
    least = std::min(least, it.range.near / std::max(it.camera.fx, it.camera.fy));
  }
  return least;
}

}  // namespace

void check_tile_size(const std::string& scene, const ScenePlan& plan, const CloudSettings& cloud) {
  if (const double width = least_pixel_width(plan); cloud.tile < width)
    throw UsageError(
        fmt::format("{}: --tile {} is too small: a pixel is at least {} scene units wide, so that every "
                    "point would be a tile of its own, and a cloud may have {}; give more scene units",
                    scene, plain(cloud.tile), plain(width, 2), kMaxPlyTiles));
  // Outliers among the sparse points may lie where the cloud has no points.
  constexpr std::size_t kMaxTiles = 2 * kMaxPlyTiles;
  std::set<std::pair<double, double>> tiles;
  for (const SparsePoint& point : plan.scene.points) {
    const bool seen = std::ranges::any_of(
        point.track, [&](const TrackElement& element) { return plan.view(element.view).in_scope; });
    if (!seen || (cloud.roi && !cloud.roi->contains(point.position))) continue;
    tiles.emplace(std::floor(point.position.x / cloud.tile), std::floor(point.position.y / cloud.tile));
    if (tiles.size() > kMaxTiles)
      throw UsageError(scene + ": --tile " + plain(cloud.tile) +
                       " is too small: the sparse points of the model alone lie in more than " +
                       std::to_string(kMaxTiles) + " tiles, and a cloud may have " +
                       std::to_string(kMaxPlyTiles) + "; give more scene units");
  }
}

void tile_cloud(SceneProducts& products, const StepInputs& inputs, double tile) {
  const Workspace& workspace = products.workspace;
  StepRecord record;
  record.inputs = inputs.tiles();
  if (const StepRecord* const tiles = products.results.find({Step::kTiles}, record.inputs)) {
    messages().info("tiles: {} in {} are finished and kept", tiles->outputs.size(),
                    workspace.path(Workspace::tiles_folder()).string());
    return;
  }
  if (const std::string reason = products.results.reason({Step::kTiles}); !reason.empty())
    messages().info("tiles: the stale ones are made again: {}", reason);
  const std::string folder = Workspace::tiles_folder() + "/";
  const auto claim = [&](std::vector<std::string> names) {
    remove_extra(products, Step::kTiles, true);  // now it is known that there can be others
    for (std::string& name : names) name.insert(0, folder);
    workspace.owned().claim(names);
  };
  for (PlyTile& file :
       divide_ply(workspace.path(Workspace::cloud_file()), tile, workspace.path(folder), claim))
    record.outputs.push_back({folder + file.name, std::move(file.identity)});
  record.result = nlohmann::json::object();
  const std::size_t tiles = record.outputs.size();
  messages().info("tiles: the cloud is in {} tile{} of {} scene unit{} in {}", tiles, tiles == 1 ? "" : "s",
                  tile, tile == 1 ? "" : "s", workspace.path(folder).string());
  products.results.put({Step::kTiles}, std::move(record));
}

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
