#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "evaluate/depth_score.hpp"
#include "io/map/map_files.hpp"
#include "io/model/colmap_model.hpp"
#include "scene/undistort.hpp"
#include "tools/evaluate/commands.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The camera of each view of a scene folder, by the view's name.
using Cameras = std::map<std::string, Camera>;

Cameras read_cameras(const fs::path& folder) {
  const Scene scene = read_colmap_model(find_model(folder));
  Cameras cameras;
  for (const View& view : scene.views) cameras.emplace(view.name, scene.cameras[view.camera]);
  return cameras;
}

Cameras scene_cameras(const DepthCommand& command) {
  if (command.scene) return read_cameras(*command.scene);
  const fs::path above = fs::absolute(command.dense / "").lexically_normal().parent_path().parent_path();
  return find_model_folder(above) ? read_cameras(above) : Cameras{};
}

/// The names of the views that have a map, in order.
std::vector<std::string> mapped_views(const fs::path& maps, const std::string& ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(maps, error); it != fs::recursive_directory_iterator();
       it.increment(error)) {
    const std::string name = it->path().lexically_relative(maps).generic_string();
    if (name.ends_with(ending) && is_there_to_read(it->path()))
      names.push_back(name.substr(0, name.size() - ending.size()));
  }
  if (error) throw InputError(maps.string() + ": the folder cannot be read: " + error.message());
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> view_names(const Cameras& scene, const Cameras& dense, const fs::path& maps,
                                    const std::string& ending) {
  if (scene.empty() && dense.empty()) return mapped_views(maps, ending);
  std::vector<std::string> names;
  for (const auto& [name, camera] : scene.empty() ? dense : scene) names.push_back(name);
  return names;
}

bool same_camera(const Camera& a, const Camera& b) {
  if (const auto pinhole = as_pinhole(b)) return is_own_image(a, *pinhole);
  return a.width == b.width && a.height == b.height && a.model == b.model && a.params == b.params;
}

const Camera* find(const Cameras& cameras, const std::string& name) {
  const auto it = cameras.find(name);
  return it == cameras.end() ? nullptr : &it->second;
}

/// A view's comparison and how its truth was brought onto the map's pixels.
struct ViewResult {
  DepthComparison comparison;
  std::string truth_sampling;
};

ViewResult compare_view(const Image<float>& map, const Image<float>& truth, const Camera* scene_camera,
                        const Camera* dense_camera) {
  if (scene_camera && dense_camera && !same_camera(*scene_camera, *dense_camera)) {
    const Image<float> sampled =
        resample_truth(truth.view(), *scene_camera, map.width(), map.height(), *dense_camera);
    return {compare_depth(map.view(), sampled.view()), "cameras"};
  }
  if (map.width() != truth.width() || map.height() != truth.height()) {
    const Image<float> sampled = resample_truth(truth.view(), map.width(), map.height());
    return {compare_depth(map.view(), sampled.view()), "size"};
  }
  return {compare_depth(map.view(), truth.view()), "none"};
}

Json to_json(const DepthScore& score, const std::vector<double>& thresholds) {
  Json within = Json::array();
  for (std::size_t i = 0; i < thresholds.size(); ++i)
    within.push_back({{"threshold", thresholds[i]},
                      {"of_known", score.within_of_known[i]},
                      {"of_estimated", score.within_of_estimated[i]}});
  return {{"known", score.known},
          {"estimated", score.estimated},
          {"completeness", score.completeness},
          {"within", within},
          {"median_error", score.median_error},
          {"mean_error", score.mean_error},
          {"estimated_where_unknown", score.estimated_where_unknown},
          {"estimates_on_unknown", score.estimates_on_unknown}};
}

}  // namespace

Json evaluate_depth(const DepthCommand& command) {
  check_thresholds(command.thresholds);
  const double unit = truth_unit(command.ground_truth, command.unit);
  const fs::path maps = command.dense / "stereo" / "depth_maps";
  for (const fs::path& folder : {maps, command.ground_truth})
    if (!is_folder(folder)) throw InputError(folder.string() + ": there is no such folder");
  const std::string ending = "." + command.kind + ".bin";
  const Cameras scene = scene_cameras(command),
                dense = find_model_folder(command.dense) ? read_cameras(command.dense) : Cameras{};

  DepthComparison all;
  Json views = Json::array();
  int without_map = 0, without_truth = 0;
  std::vector<std::string> names = view_names(scene, dense, maps, ending);
  std::erase_if(
      names, [&](const std::string& name) { return fnmatch(command.views.c_str(), name.c_str(), 0) != 0; });
  for (const std::string& name : names) {
    const auto truth_path = find_truth(command.ground_truth, name);
    if (!truth_path) {
      ++without_truth;
      continue;
    }
    const Image<float> truth = read_truth(*truth_path, unit);
    const fs::path map_path = maps / (name + ending);
    const bool has_map = is_there(map_path);
    without_map += has_map ? 0 : 1;
    const Image<float> map =
        has_map ? read_depth_map(map_path) : Image<float>(truth.width(), truth.height(), 0.0f);
    const ViewResult result =
        compare_view(map, truth, find(scene, name), has_map ? find(dense, name) : nullptr);
    Json view{{"view", name},
              {"map", has_map},
              {"width", map.width()},
              {"height", map.height()},
              {"truth_sampling", result.truth_sampling}};
    view.update(to_json(score_depth(result.comparison, command.thresholds), command.thresholds));
    views.push_back(std::move(view));
    all += result.comparison;
  }
  if (views.empty() && without_truth > 0) throw InputError(missing_truth(command.ground_truth, names));
  if (std::ssize(views) == without_map)
    throw InputError(fmt::format("{}: no map *{} of a view that matches \"{}\" and has ground truth in {}",
                                 maps.string(), ending, command.views, command.ground_truth.string()));
  const DepthScore score = score_depth(all, command.thresholds);
  if (score.known == 0)
    throw InputError(
        command.ground_truth.string() +
        ": no pixel of any view has a known depth: there is nothing to compare with; see --unit");
  return {{"mode", "depth"},
          {"kind", command.kind},
          {"views_without_map", without_map},
          {"views_without_truth", without_truth},
          {"all", to_json(score, command.thresholds)},
          {"views", views}};
}

}  // namespace recon
