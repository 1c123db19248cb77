#include "tools/render/write_scene.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "io/image_file.hpp"
#include "io/input_file.hpp"
#include "io/map_files.hpp"
#include "io/output_file.hpp"
#include "render/render.hpp"
#include "render/sparse_points.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

constexpr double kLargestDepthScale = 1000;
constexpr double kLargestLevel = 65535;
constexpr const char* kSummaryFile = "scene.json";
constexpr const char* kFormatName = "reconstruct-render";

/// Whether a folder was written by this program, finished or not.
bool holds_rendered_scene(const fs::path& folder) {
  const fs::path summary = folder / kSummaryFile;
  return fs::is_regular_file(summary) && read_file(summary).find(kFormatName) != std::string::npos;
}

/// Makes sure that nothing of an older scene is left, and that nothing else is lost.
void clear_folder(const fs::path& folder, bool overwrite) {
  if (fs::exists(folder) && !fs::is_directory(folder))
    throw UsageError(folder.string() + " is not a folder; give another output folder");
  if (!fs::exists(folder) || fs::is_empty(folder)) return;
  if (!holds_rendered_scene(folder))
    throw UsageError(folder.string() +
                     " holds something else than a rendered scene; give another output folder");
  if (!overwrite)
    throw UsageError(folder.string() + " holds a rendered scene already; --overwrite replaces it");
  for (const char* part : {"images", "sparse", "gt_depth", "gt_normal"}) fs::remove_all(folder / part);
}

double largest_depth(ImageView<const float> depth) {
  double largest = 0;
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x)
      if (depth(x, y) > largest) largest = depth(x, y);
  return largest;
}

double depth_scale(double largest) {
  double scale = kLargestDepthScale;
  while (largest * scale > kLargestLevel) scale /= 10;
  return scale;
}

Image<std::uint16_t> depth_levels(ImageView<const float> depth, double scale) {
  Image<std::uint16_t> levels(depth.width, depth.height);
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x) {
      const double value = depth(x, y) > 0 ? std::round(depth(x, y) * scale) : 0.0;
      levels(x, y) = static_cast<std::uint16_t>(value);
    }
  return levels;
}

nlohmann::ordered_json camera_summary(const Camera& camera) {
  return {{"model", model_name(camera.model)},
          {"width", camera.width},
          {"height", camera.height},
          {"params", camera.params}};
}

nlohmann::ordered_json summary_of(const SceneDescription& description, const WriteSceneOptions& options) {
  nlohmann::ordered_json json{{"format", kFormatName}, {"title", options.title}, {"complete", false}};
  for (const Camera& camera : description.cameras) json["cameras"].push_back(camera_summary(camera));
  for (const RenderView& view : description.views)
    json["views"].push_back({{"name", view.name}, {"camera", view.camera}, {"gain", view.gain}});
  json["objects"] = description.objects.size();
  json["noise_grey_levels"] = description.noise;
  json["samples_per_pixel"] = description.samples * description.samples;
  json["seed"] = description.seed;
  return json;
}

void write_summary(const fs::path& folder, const nlohmann::ordered_json& summary) {
  write_file(folder / kSummaryFile, summary.dump(2) + "\n");
}

}  // namespace

void write_rendered_scene(const SceneDescription& description, const fs::path& folder,
                          const WriteSceneOptions& options) {
  validate(description);
  clear_folder(folder, options.overwrite);
  nlohmann::ordered_json summary = summary_of(description, options);
  write_summary(folder, summary);
  const Scene sparse = sparse_scene(description);
  replace_colmap_model(folder / "sparse", sparse, options.format);

  const bool arrays = options.ground_truth == GroundTruth::kAll;
  std::vector<Image<float>> depths;
  double largest = 0;
  for (std::size_t i = 0; i < description.views.size(); ++i) {
    check_interrupted();
    RenderedView view = render_view(description, static_cast<int>(i));
    const fs::path name = description.views[i].name, array = fs::path(name).replace_extension(".bin");
    write_image(folder / "images" / name, view.image.view());
    if (arrays) {
      write_depth_map(folder / "gt_depth" / array, view.depth.view());
      write_normal_map(folder / "gt_normal" / array, view.normal.view());
    }
    largest = std::max(largest, largest_depth(view.depth.view()));
    depths.push_back(std::move(view.depth));
    if (options.view_done) options.view_done();
  }
  if (options.ground_truth != GroundTruth::kNone) {
    const double scale = depth_scale(largest);
    for (std::size_t i = 0; i < depths.size(); ++i)
      write_png16(folder / "gt_depth" / fs::path(description.views[i].name).replace_extension(".png"),
                  depth_levels(depths[i].view(), scale).view());
    summary["depth_png_levels_per_scene_unit"] = scale;
  }
  summary["largest_depth"] = largest;
  summary["sparse_points"] = sparse.points.size();
  summary["complete"] = true;
  write_summary(folder, summary);
}

}  // namespace recon
