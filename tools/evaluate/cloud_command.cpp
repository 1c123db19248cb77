#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json_reader.hpp"
#include "core/paths.hpp"
#include "evaluate/cloud_score.hpp"
#include "evaluate/statistics.hpp"
#include "evaluate/truth_view.hpp"
#include "io/cloud/ply.hpp"
#include "io/file/input_file.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"
#include "tools/evaluate/commands.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// An affine map of space, such as a motion with a scale.
struct AffineMap {
  Mat3d linear = identity<double>();
  Vec3d translation{0, 0, 0};

  Vec3d operator*(Vec3d point) const { return linear * point + translation; }
};

constexpr std::uint64_t kMaxBytes = 1 << 20;  ///< of the small files here

AffineMap parse_transform(std::string text, const FilePlace& place) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  WordScanner words(text, place);
  std::array<double, 16> m;
  for (double& number : m) number = words.number("a number of the 4 x 4 matrix");
  if (!words.done() || m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1)
    place.fail("the matrix has to have 16 numbers, of which the last four are 0 0 0 1");
  return {{m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]}, {m[3], m[7], m[11]}};
}

/// Appends the points of the meshes of a project, an XML file in which each is as MeshLab writes it:
/// <MLMesh ... filename="..." ...> <MLMatrix44> 16 numbers </MLMatrix44>.
std::vector<Vec3d> read_project(const fs::path& path) {
  const std::string file = path.string(), text = read_file(path, kMaxBytes);
  const std::regex mesh("<MLMesh\\b"),
      whole(R"re(<MLMesh\b[^>]*\bfilename="([^"]*)"[^>]*>\s*<MLMatrix44>([^<]*)</MLMatrix44>)re");
  const std::sregex_iterator begin(text.begin(), text.end(), whole), end;
  const auto count = std::distance(std::sregex_iterator(text.begin(), text.end(), mesh), end);
  if (count == 0 || std::distance(begin, end) != count)
    throw InputError(file + ": is no project of MeshLab whose meshes have a filename and an MLMatrix44");
  std::vector<Vec3d> points;
  for (auto it = begin; it != end; ++it) {
    const AffineMap world_from_mesh = parse_transform((*it)[2], {file});
    for (const Vec3d point : read_ply(path.parent_path() / (*it)[1].str()).positions)
      points.push_back(world_from_mesh * point);
  }
  return points;
}

/// Reads a text of 16 numbers, the rows of a matrix of 4 x 4 whose last one is 0 0 0 1.
/// @throws InputError
AffineMap read_transform(const fs::path& path) {
  const std::string file = path.string();
  return parse_transform(read_file(path, kMaxBytes), {file});
}

/// Reads a SelectionPolygonVolume, a JSON file of Open3D.
/// @throws InputError
CropVolume read_crop_volume(const fs::path& path) {
  const nlohmann::json json = parse_json(read_file(path, kMaxBytes), path.string());
  JsonReader root(json, path.string(), "");
  const std::string name = root.text("orthogonal_axis");
  const auto axis = std::string("XYZ").find(name);
  if (name.size() != 1 || axis == std::string::npos)
    root.fail("orthogonal_axis", "'{}' is none of X, Y, Z", name);
  CropVolume volume{static_cast<int>(axis), root.number("axis_min"), root.number("axis_max"), {}};
  if (json.contains("bounding_polygon"))
    for (const nlohmann::json& corner : json["bounding_polygon"]) {
      if (!corner.is_array() || corner.size() != 3 ||
          !std::ranges::all_of(corner, &nlohmann::json::is_number))
        root.fail("bounding_polygon", "each corner has to be a list of three numbers");
      volume.polygon.push_back({corner[axis == 0 ? 1 : 0], corner[axis == 2 ? 1 : 2]});
    }
  constexpr std::size_t kMinCorners = 3;
  if (volume.polygon.size() < kMinCorners)
    root.fail("bounding_polygon", "this has to be a list of at least {} corners", kMinCorners);
  return volume;
}

/// The points of a PLY file or, from a project of MeshLab (.mlp), those of all its meshes, moved as it says:
/// the aligned scans of ETH3D. The meshes are looked for beside the project.
/// @throws InputError, also when there are no points
std::vector<Vec3d> read_reference(const fs::path& path) {
  std::vector<Vec3d> points = path.extension() == ".mlp" ? read_project(path) : read_ply(path).positions;
  if (points.empty())
    throw InputError(path.string() + ": it has no points: there is nothing to compare with");
  return points;
}

constexpr double kGoodDepthError = 0.01;

double voxel_for(const CloudCommand& command, double threshold) {
  return command.voxel.value_or(threshold / 2);
}

Json to_json(const DistanceSummary& distance) {
  return {{"mean", distance.mean}, {"median", distance.median}};
}

/// @param reference_at  the reference by the index of the threshold
template <class ReferenceAt>
Json scores(const CloudCommand& command, const std::vector<Vec3d>& cloud, const ReferenceAt& reference_at) {
  Json result = Json::array();
  for (std::size_t i = 0; i < command.thresholds.size(); ++i) {
    const double threshold = command.thresholds[i];
    const CloudScore score = score_cloud(cloud, reference_at(i), threshold, voxel_for(command, threshold));
    result.push_back({{"threshold", threshold},
                      {"voxel", score.voxel},
                      {"precision", score.precision},
                      {"recall", score.recall},
                      {"f1", score.f1},
                      {"cloud_points", score.estimate_points},
                      {"reference_points", score.reference_points},
                      {"cloud_to_reference", to_json(score.estimate_distance)},
                      {"reference_to_cloud", to_json(score.reference_distance)}});
  }
  return result;
}

/// By the name of a view, the points of the cloud that its visibility file gives it; nothing without such a
/// file. The file counts views in the order of the model in the folder of the cloud or, without one, of the
/// scene.
std::optional<std::map<std::string, std::vector<std::uint32_t>>> points_by_view(const CloudCommand& command,
                                                                                const Scene& scene,
                                                                                std::size_t point_count) {
  const fs::path path = command.cloud.string() + ".vis";
  if (command.all_views || !is_there(path)) return std::nullopt;
  const fs::path beside = command.cloud.parent_path();
  const Scene model = is_folder(beside / "sparse") ? read_colmap_model(find_model(beside)) : scene;
  auto lists = read_visibility(path, point_count, model.views.size());
  std::map<std::string, std::vector<std::uint32_t>> result;
  for (std::size_t i = 0; i < lists.size(); ++i) result.emplace(model.views[i].name, std::move(lists[i]));
  return result;
}

/// What the ground truth of a scene says about a cloud.
struct TruthResult {
  int views = 0;
  bool own_views = false;
  std::vector<PointVerdict> verdicts;          ///< by point
  std::vector<std::vector<Vec3d>> references;  ///< by threshold, thinned
};

std::vector<std::string> names_of(const Scene& scene) {
  std::vector<std::string> names;
  for (const View& view : scene.views) names.push_back(view.name);
  return names;
}

Image<float> truth_of(const View& view, const Camera& camera, const fs::path& path, double unit) {
  Image<float> truth = read_truth(path, unit);
  if (truth.width() != camera.width || truth.height() != camera.height)
    throw InputError(fmt::format(
        "{}: has {} pixels, but the camera of {} has {}; give the scene that the ground truth belongs to",
        path.string(), size_text(truth.width(), truth.height()), view.name,
        size_text(camera.width, camera.height)));
  return truth;
}

TruthResult judge(const CloudCommand& command, const std::vector<Vec3d>& cloud) {
  const Scene scene = read_colmap_model(find_model(*command.scene));
  const fs::path folder = command.ground_truth.value_or(*command.scene / "gt_depth");
  if (!is_folder(folder)) throw InputError(folder.string() + ": there is no such folder; see --ground-truth");
  const double unit = truth_unit(folder, command.unit);
  const auto owned = points_by_view(command, scene, cloud.size());
  TruthResult result{0, owned.has_value(), std::vector<PointVerdict>(cloud.size()),
                     std::vector<std::vector<Vec3d>>(command.thresholds.size())};
  // Thinned view by view, as the points of all pixels together may not fit into memory.
  for (const View& view : scene.views) {
    const auto path = find_truth(folder, view.name);
    if (!path) continue;
    ++result.views;
    const Camera& camera = scene.cameras[view.camera];
    const Image<float> truth = truth_of(view, camera, *path, unit);
    const TruthView truth_view{camera, view.cam_from_world, truth.view()};
    std::vector<std::uint8_t> own_view;
    if (owned) {
      own_view.resize(cloud.size());
      if (const auto it = owned->find(view.name); it != owned->end())
        for (const std::uint32_t point : it->second) own_view[point] = 1;
    }
    observe(cloud, truth_view, own_view, result.verdicts);
    const std::vector<Vec3d> points = truth_points(truth_view);
    for (std::size_t i = 0; i < command.thresholds.size(); ++i) {
      const std::vector<Vec3d> kept = thin(points, voxel_for(command, command.thresholds[i]));
      result.references[i].insert(result.references[i].end(), kept.begin(), kept.end());
    }
  }
  if (result.views == 0) throw InputError(missing_truth(folder, names_of(scene)));
  if (result.references.front().empty())
    throw InputError(
        folder.string() +
        ": no pixel of any view has a known depth: there is nothing to compare with; see --unit");
  return result;
}

Json against_truth(const CloudCommand& command, const std::vector<Vec3d>& cloud) {
  const TruthResult truth = judge(command, cloud);
  std::vector<Vec3d> on_truth;
  std::vector<double> errors;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    if (truth.verdicts[i].on_truth) on_truth.push_back(cloud[i]);
    if (truth.verdicts[i].depth_error) errors.push_back(*truth.verdicts[i].depth_error);
  }
  const auto good = std::ranges::count_if(errors, [](double e) { return e <= kGoodDepthError; });
  return {{"mode", "cloud"},
          {"points", cloud.size()},
          {"truth_views", truth.views},
          {"points_on_truth", on_truth.size()},
          {"points_left_out", cloud.size() - on_truth.size()},
          {"within_1_percent", share(good, errors.size())},
          {"within_1_percent_counted", errors.size()},
          {"within_1_percent_views", truth.own_views ? "visibility file" : "all"},
          {"median_depth_error", median(errors)},
          {"scores", scores(command, on_truth, [&](std::size_t i) -> const std::vector<Vec3d>& {
             return truth.references[i];
           })}};
}

/// Keeps the points within a volume; returns how many it removes.
std::size_t crop(std::vector<Vec3d>& points, const CropVolume& volume) {
  return std::erase_if(points, [&](Vec3d point) { return !volume.contains(point); });
}

Json against_reference(const CloudCommand& command, std::vector<Vec3d> cloud) {
  std::vector<Vec3d> reference = read_reference(*command.reference);
  Json result = {{"mode", "cloud"}, {"points", cloud.size()}, {"reference_points", reference.size()}};
  if (command.transform) {
    const AffineMap reference_from_cloud = read_transform(*command.transform);
    for (Vec3d& point : cloud) point = reference_from_cloud * point;
  }
  if (command.crop) {
    const CropVolume volume = read_crop_volume(*command.crop);
    result["points_cropped"] = crop(cloud, volume);
    result["reference_points_cropped"] = crop(reference, volume);
    if (reference.empty())
      throw InputError(command.crop->string() + ": no point of the reference is within this volume");
  }
  result["scores"] =
      scores(command, cloud, [&](std::size_t) -> const std::vector<Vec3d>& { return reference; });
  return result;
}

}  // namespace

Json evaluate_cloud(const CloudCommand& command) {
  check_thresholds(command.thresholds);
  if (command.voxel) check_positive("--voxel", *command.voxel);
  if (command.scene.has_value() == command.reference.has_value())
    throw UsageError(
        "give either --scene (for its cameras and ground truth, which --ground-truth may name) or "
        "--reference (another cloud)");
  if (is_folder(command.cloud))
    throw UsageError(command.cloud.string() + ": is a folder; name the cloud in it, such as " +
                     (command.cloud / "fused.ply").string());
  if (command.scene && (command.transform || command.crop))
    throw UsageError("--transform and --crop go with --reference: a scene has the coordinates of its cloud");
  std::vector<Vec3d> cloud = read_ply(command.cloud).positions;
  return command.scene ? against_truth(command, cloud) : against_reference(command, std::move(cloud));
}

}  // namespace recon
