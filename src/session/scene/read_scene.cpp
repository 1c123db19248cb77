#include "session/scene/read_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/log.hpp"
#include "core/paths.hpp"
#include "core/printable.hpp"
#include "io/file/text_scanner.hpp"
#include "scene/epipolar_check.hpp"
#include "scene/faces.hpp"
#include "scene/view_geometry.hpp"
#include "session/diagnose/calibration.hpp"
#include "session/products/masks.hpp"
#include "session/products/photo_files.hpp"
#include "session/products/small_views.hpp"
#include "session/resume/owned_files.hpp"
#include "session/scene/scene_formats.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

/// Why a view cannot be used, by its name and the presence of its photo; empty if it can.
std::optional<std::string> fault_of_photo(const SceneFolder& folder, const View& view) {
  const fs::path file = folder.images / view.photo_file();
  try {
    if (!is_there_to_read(file))
      return with_escapes(file.string()) + ": there is no such photo" +
             similar_photo(folder, file, view.name);
  } catch (const InputError& error) {
    return error.what();
  }
  return std::nullopt;
}

/// Views of the plan whose files would have names that are too long.
std::vector<LeftOut> with_long_names(const SceneInput& input, const ScenePlan& plan) {
  std::vector<LeftOut> unusable;
  for (const int view : plan.all_views()) {
    const std::size_t bytes = fs::path(plan.view(view).output_name).filename().string().size();
    if (bytes <= Workspace::kMaxNameBytes) continue;
    const View& it = plan.scene_view(view);
    const fs::path photo = input.folder.images / it.photo_file();
    const std::size_t of_photo = photo.filename().string().size();
    const std::size_t most = of_photo - std::min(of_photo, bytes - Workspace::kMaxNameBytes);
    if (is_left_out(unusable, it.photo_name())) continue;
    unusable.push_back(
        {it.photo_name(),
         fmt::format(
             "{}: its name has {} bytes; with at most {} the files made from it can be named after it",
             photo.string(), of_photo, most)});
  }
  return unusable;
}

/// Says which images beside the photos the model does not name; empty where there are none.
std::string unnamed_photos(const SceneInput& input) {
  std::set<std::string> names;
  for (const View& view : input.scene.views) names.insert(view.photo_file());
  std::vector<std::string> others;
  for_each_in_folder(input.folder.images, [&](const fs::path& path) {
    if (const std::string name = path.filename().string(); is_image_name(path) && !names.contains(name))
      others.push_back(name);
  });
  if (others.empty()) return {};
  return fmt::format(
      "{}: the model does not name {} of the images there, such as {}; photos need the names that they have "
      "in the model",
      input.folder.images.string(), others.size(), with_escapes(*std::ranges::min_element(others)));
}

/// Views whose photo is not there, and those that the model lacks for the same reason.
std::vector<LeftOut> unusable_photos(const SceneInput& input, Findings& findings) {
  std::vector<LeftOut> unusable = without_photo(input.folder, input.scene);
  std::vector<LeftOut> named = unusable;
  for (LeftOut& view : named) view.name = with_escapes(view.name);
  findings.warn_of_left_out(named);
  const bool missing = unusable.size() > input.scene.unusable.size();
  if (const std::string others = missing ? unnamed_photos(input) : ""; !others.empty()) findings.warn(others);
  if (!input.scene.views.empty() && unusable.size() == input.scene.views.size() + input.scene.unusable.size())
    throw InputError(input.folder.images.string() + ": none of the " + std::to_string(unusable.size()) +
                     " photos of the model can be used, such as " + unusable.front().reason);
  return unusable;
}

/// Says which names of photos are not UTF-8: they are used, but reports cannot name them.
void warn_of_names(const SceneInput& input, Findings& findings) {
  std::vector<std::string> names;
  for (const View& view : input.scene.views)
    if (!is_utf8(view.name)) names.push_back(view.name);
  if (names.empty()) return;
  findings.warn(fmt::format(
      "{}: the names of {} of {} photos, such as {}, are not UTF-8: reports have other characters in their "
      "place; rename the photos, also in the model",
      input.folder.model.string(), names.size(), input.scene.views.size(), in_quotes(names.front())));
}

/// Divides the views of wide cameras into faces; what follows knows only views.
void divide_wide_photos(Scene& scene) {
  scene = with_faces(std::move(scene));
  std::set<std::string> photos;
  std::size_t faces = 0;
  for (const View& view : scene.views)
    if (view.face) photos.insert(view.face->photo), ++faces;
  if (faces == 0) return;
  messages().info("{} photos see more than {} degrees: they become {} pinhole views, such as {}",
                  photos.size(), kWideDegrees, faces, std::ranges::find_if(scene.views, [](const View& view) {
                                                        return view.face != nullptr;
                                                      })->name);
}

/// The folder of an option with maps, which is inside the scene or anywhere.
/// @throws InputError where there is none, or it cannot be known
fs::path folder_of_maps(const std::string& option, const SceneFolder& scene, const fs::path& folder) {
  const fs::path inside = scene.root / folder;
  if (!scene.alone && folder.is_relative() && !is_folder(inside))
    throw InputError(
        fmt::format("{}: there is no folder of {}; of a session each scene has its own, and an absolute path "
                    "names one for "
                    "all",
                    inside.string(), option));
  std::error_code of_inside, of_folder;
  if (fs::exists(inside, of_inside) || fs::exists(folder, of_folder))
    return is_folder(inside) ? inside : folder;
  for (const auto& [path, error] : {std::pair(inside, of_inside), std::pair(folder, of_folder)})
    if (error && error != std::errc::no_such_file_or_directory)
      throw InputError(
          fmt::format("{}: the folder {} cannot be read: {}", option, path.string(), error.message()));
  throw InputError(fmt::format("{}: there is no folder '{}'{}", option, folder.string(),
                               folder.is_absolute() ? ""
                                                    : ", neither in " + scene.root.string() + " nor in " +
                                                          fs::current_path(of_folder).string()));
}

/// Says which views have no map.
/// @param maps  GivenMaps or PriorMaps
template <class Maps>
void warn_of_missing_maps(const SceneInput& input, const Maps& maps, const std::string& folder,
                          const std::string& meaning, Findings& findings) {
  std::vector<std::string> without;
  for (const View& view : input.scene.views)
    if (!maps.has(view.name)) without.push_back(view.name);
  if (without.empty()) return;
  findings.warn(fmt::format("{}: {} of {} views {} no depth map there, such as {}; {}", folder,
                            without.size(), input.scene.views.size(), without.size() == 1 ? "has" : "have",
                            without.front(), meaning));
}

/// The folder of an option with maps.
/// @throws UsageError where it lies in the output folder, whose files are replaced
fs::path folder_of_maps(const SceneInput& input, const std::string& option, const fs::path& given,
                        const fs::path& output) {
  const fs::path found = folder_of_maps(option, input.folder, given);
  if (lies_below(resolved_path(found), resolved_path(output)))
    throw UsageError(
        fmt::format("{} {} lies in the output folder {}, whose maps are replaced; give another --output",
                    option, given.string(), output.string()));
  return found;
}

/// Looks for the maps of --depth-maps, and says which views have none.
void find_given_maps(SceneInput& input, const GivenMapsOptions& options, const fs::path& output,
                     std::size_t memory, Findings& findings) {
  const fs::path& folder = options.folder;
  if (folder.empty()) return;
  input.given.find(folder_of_maps(input, "--depth-maps", folder, output), input.scene.views, options.unit,
                   model_memory(memory) / 2);
  const auto bends = [&](const View& view) {
    return input.scene.cameras[static_cast<std::size_t>(view.camera)].model > CameraModel::kPinhole;
  };
  if (const auto bent = std::ranges::count_if(input.scene.views, bends); bent > 0)
    messages().info(
        "--depth-maps: the photos of {} views have a lens distortion; their maps have to be of the "
        "undistorted images, as dense/images has them",
        bent);
  warn_of_missing_maps(input, input.given, "--depth-maps " + folder.string(),
                       "their surfaces are in the cloud as far as other views have them", findings);
}

/// Looks for the maps of --prior-maps, and says which views have none.
void find_prior_maps(SceneInput& input, const PriorOptions& options, const fs::path& output,
                     std::size_t memory, Findings& findings) {
  if (options.folder.empty()) return;
  input.prior.find(folder_of_maps(input, "--prior-maps", options.folder, output), input.scene.views,
                   model_memory(memory) / 2);
  warn_of_missing_maps(input, input.prior, "--prior-maps " + options.folder.string(),
                       "what their photos do not show stays empty", findings);
}

}  // namespace

ScenePlan make_plan(const SceneInput& input, std::vector<LeftOut> left_out, const SceneSettings& settings,
                    Findings& findings) {
  try {
    const auto plan_without = [&] {
      const auto has_map = [&](const std::string& view) {
        return !input.given.any() || input.given.has(view);
      };
      return make_plan(input.scene, left_out, settings, has_map, input.photo_points);
    };
    ScenePlan plan = plan_without();
    if (const std::vector<LeftOut> unusable = with_long_names(input, plan); !unusable.empty()) {
      findings.warn_of_left_out(unusable);
      left_out.insert(left_out.end(), unusable.begin(), unusable.end());
      plan = plan_without();
    }
    plan.corner_bytes = point_memory(input.photo_points);
    plan.given_map_bytes = input.given.reading_bytes();
    plan.prior_map_bytes = input.prior.reading_bytes();
    return plan;
  } catch (const InputError& error) {
    throw InputError(input.folder.root.string() + ": " + error.what());
  }
}

std::vector<LeftOut> without_photo(const SceneFolder& folder, const Scene& scene) {
  std::vector<LeftOut> views = scene.unusable;
  for (const View& view : scene.views)
    if (const auto fault = fault_of_photo(folder, view)) views.push_back({view.name, *fault});
  return views;
}

std::vector<LeftOut> read_scene(SceneInput& input, const SceneSettings& settings, const fs::path& output,
                                const HostLimits& host, Findings& findings) {
  if (is_there(input.folder.root / kOutputMark))
    messages().info("{}: results of reconstruct, whose undistorted images are taken as a scene of their own",
                    input.folder.root.string());
  input.scene = importer_of(input.folder).read(input.folder, model_memory(host.memory));
  for (const std::string& warning : input.folder.warnings) findings.warn(warning);
  for (const std::string& warning : input.scene.warnings) findings.warn(warning);
  find_moved_photos(input, findings);
  warn_of_names(input, findings);
  std::vector<LeftOut> left_out = unusable_photos(input, findings);
  fit_cameras(input, left_out, findings);
  std::vector<LeftOut> without_mask = read_masks(input, host, findings);
  std::erase_if(without_mask, [&](const LeftOut& view) { return is_left_out(left_out, view.name); });
  findings.warn_of_left_out(without_mask);
  left_out.insert(left_out.end(), without_mask.begin(), without_mask.end());
  inspect_photos(input, left_out, host, findings);
  check_calibration(input, left_out, findings);
  divide_wide_photos(input.scene);
  find_given_maps(input, settings.given, output, host.memory, findings);
  find_prior_maps(input, settings.prior, output, host.memory, findings);
  return left_out;
}

namespace {

/// Each view is compared with the nearest ones, which look most like it, and with its first sources, whose
/// baselines fit the depths that the geometry of the cameras lets expect.
constexpr int kNearest = 8;
constexpr std::size_t kFirstSources = 12;
/// A corner has to fit this many other views, where there are more than two.
constexpr int kMinSources = 2;
constexpr double kMinAngleDegrees = 1;
/// Views of as many references are compared at a time as have small images of at most this share of the
/// memory.
constexpr std::size_t kShareOfMemory = 4, kSmallViewBytes = 2 * 400 * 400;

/// The views that one is compared with.
std::set<int> others_of(const SceneGeometry& geometry, const ScenePlan& plan, int view) {
  const std::vector<int> nearest = nearest_views(geometry, view, kNearest);
  const std::vector<int>& sources = plan.view(view).sources;
  std::set<int> others(nearest.begin(), nearest.end());
  others.insert(sources.begin(),
                sources.begin() + static_cast<std::ptrdiff_t>(std::min(kFirstSources, sources.size())));
  return others;
}

/// The pairs of each view with others, in batches with the pairs of whole views, which have at most so many
/// different views where a batch has more than one.
std::vector<ViewPairs> batches_of(const ScenePlan& plan, std::size_t max_views) {
  const SceneGeometry geometry(plan.scene);
  std::vector<ViewPairs> batches;
  std::set<int> in_batch;
  for (int view = 0; view < geometry.size(); ++view) {
    const std::set<int> others = others_of(geometry, plan, view);
    in_batch.insert(others.begin(), others.end());
    in_batch.insert(view);
    if (batches.empty() || in_batch.size() > max_views) {
      batches.emplace_back();
      in_batch = others;
      in_batch.insert(view);
    }
    for (const int other : others) batches.back().emplace_back(view, other);
  }
  return batches;
}

/// The index in the scene of each view of the plan, both sorted by name.
std::vector<int> scene_indices(const Scene& scene, const ScenePlan& plan) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < scene.views.size() && indices.size() < plan.views.size(); ++i)
    if (scene.views[i].name == plan.name(static_cast<int>(indices.size())))
      indices.push_back(static_cast<int>(i));
  return indices;
}

}  // namespace

std::vector<SparsePoint> points_of_photos(const Scene& scene, SceneProducts& products,
                                          const HostLimits& host) {
  const ScenePlan& plan = products.plan;
  products.photos.set_budget(host.memory / 8);
  const std::vector<CalibratedView> cameras = small_cameras(plan);
  const int min_sources = std::min(kMinSources, static_cast<int>(photo_count(plan.scene)) - 1);
  std::vector<SparsePoint> points;
  for (const ViewPairs& pairs : batches_of(plan, host.memory / kShareOfMemory / kSmallViewBytes))
    for (SparsePoint& point : triangulate_corners(
             cameras, SmallViews(products, host, SmallViewsOf::kUnprepared).matches(pairs, cameras),
             min_sources, kMinAngleDegrees))
      points.push_back(std::move(point));
  messages().info("no sparse points: {}",
                  points.empty()
                      ? "sources are chosen by the geometry of the cameras"
                      : fmt::format("sources are chosen by {} corners that photos share", points.size()));
  const std::vector<int> indices = scene_indices(scene, plan);
  for (SparsePoint& point : points)
    for (TrackElement& element : point.track) element.view = indices[element.view];
  return points;
}

}  // namespace recon
