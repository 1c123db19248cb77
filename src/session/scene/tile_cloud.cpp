// --tile: the cloud once more, divided into files that programs open which do not open all of it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/plain_number.hpp"
#include "io/cloud/ply_tiles.hpp"
#include "io/file/text_scanner.hpp"
#include "session/scene/exports.hpp"

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

}  // namespace recon
