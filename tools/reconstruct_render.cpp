#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/paths.hpp"
#include "core/pixels.hpp"
#include "core/printable.hpp"
#include "core/program.hpp"
#include "core/progress.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "io/model/colmap_model.hpp"
#include "render/description_file.hpp"
#include "render/render.hpp"
#include "render/scene_description.hpp"
#include "scene/camera.hpp"
#include "tools/tool_app.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string scene;
  fs::path output;
  std::optional<int> width, height, views, samples;
  std::string camera_model;
  std::string ground_truth = "all";  ///< all: depth as PNG and as COLMAP array, and normals; png: small; none
  int threads = 0;
  bool list = false, binary = false, overwrite = false, quiet = false;
};

constexpr double kLargestDepthScale = 1000;
constexpr double kLargestLevel = 65535;
constexpr const char* kSummaryFile = "scene.json";
constexpr const char* kFormatName = "reconstruct-render";

/// Whether a folder was written by this program, finished or not.
bool holds_rendered_scene(const fs::path& folder) {
  const fs::path summary = folder / kSummaryFile;
  return is_file(summary) && read_file(summary).find(kFormatName) != std::string::npos;
}

constexpr const char* kParts[] = {"images", "sparse", "gt_depth", "gt_normal"};

/// All files that a scene with these views may have, relative to its folder.
std::vector<fs::path> files_of(const std::vector<fs::path>& views) {
  std::vector<fs::path> files;
  for (const char* file : {"cameras", "images", "points3D"})
    for (const char* ending : {".txt", ".bin"})
      files.push_back(fs::path("sparse") / (file + std::string(ending)));
  for (fs::path view : views) {
    files.push_back("images" / view);
    for (const char* ending : {".bin", ".png"}) files.push_back("gt_depth" / view.replace_extension(ending));
    files.push_back("gt_normal" / view.replace_extension(".bin"));
  }
  return files;
}

/// The views that a summary names, below the folder.
std::vector<fs::path> views_of_summary(const fs::path& folder) {
  const auto summary = nlohmann::json::parse(read_file(folder / kSummaryFile), nullptr, false);
  std::vector<fs::path> views;
  if (!summary.is_object() || !summary.contains("views")) return views;
  for (const auto& view : summary["views"])
    if (view.is_object() && view.contains("name") && view["name"].is_string())
      if (const fs::path name = view["name"].get<std::string>();
          name.is_relative() && std::ranges::find(name, fs::path("..")) == name.end())
        views.push_back(name);
  return views;
}

/// Removes the files of an older scene, and nothing else.
/// @param views  of the scene to come
/// @throws UsageError where something else is in the way
void clear_folder(const fs::path& folder, const std::vector<fs::path>& views, bool overwrite) {
  const PathKind kind = kind_of_path(folder);
  if (kind != PathKind::kNothing && kind != PathKind::kFolder)
    throw UsageError(folder.string() + " is not a folder; give another output folder");
  bool is_empty = true;
  for_each_in_folder(folder, [&](const fs::path&) { is_empty = false; });
  if (is_empty) return;
  if (!holds_rendered_scene(folder))
    throw UsageError(folder.string() +
                     " holds something else than a rendered scene; give another output folder");
  if (!overwrite)
    throw UsageError(folder.string() + " holds a rendered scene already; --overwrite replaces it");
  for (const char* part : kParts)
    if (fs::is_symlink(folder / part))
      throw UsageError((folder / part).string() + " is a link, which nothing is written through; remove it");
  for (const fs::path& file : files_of(views_of_summary(folder)))
    if (fs::is_regular_file(fs::symlink_status(folder / file))) fs::remove(folder / file);
  for (const fs::path& file : files_of(views))
    if (fs::exists(fs::symlink_status(folder / file)))
      throw UsageError(
          (folder / file).string() +
          " is not of the scene that was rendered there before; move it, or give another folder");
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
  return mapped<std::uint16_t>(
      depth, [scale](float z) { return static_cast<std::uint16_t>(z > 0 ? std::round(z * scale) : 0.0); });
}

nlohmann::ordered_json summary_of(const SceneDescription& description, const std::string& title) {
  nlohmann::ordered_json json{{"format", kFormatName}, {"title", title}, {"complete", false}};
  for (const Camera& camera : description.cameras)
    json["cameras"].push_back({{"model", model_name(camera.model)},
                               {"width", camera.width},
                               {"height", camera.height},
                               {"params", camera.params}});
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

/// Renders all views and writes a COLMAP scene with its ground truth; for a view "view00.png":
///
///     images/view00.png        the photo
///     sparse/                  cameras, images and points3D: exact calibration, points on the true surfaces
///     gt_depth/view00.png      16-bit, round(depth * scale), 0 unknown; scale as scene.json says
///     gt_depth/view00.bin      COLMAP array: z along the optical axis at the pixel centre, 0 unknown; of a
///                              panorama the distance
///     gt_normal/view00.bin     COLMAP array: unit normals in camera coordinates, 0 unknown
///     scene.json               what this is; "complete" is false until all is written
///
/// Ground truth lies on the pixel grid of the photo, distorted as it is. The scale is 1000 (millimetres, if a
/// scene unit is a metre), or the next lower power of ten at which the largest depth fits. Memory: one view,
/// and the depth maps of all views. Determinism: a function of description and options alone.
/// @throws UsageError when `folder` holds something and is not to be overwritten, or something else than a
/// rendered scene; OutputError; Interrupted between views; InputError when the description is not valid
void write_rendered_scene(const SceneDescription& description, const std::string& title,
                          const Arguments& arguments) {
  const fs::path& folder = arguments.output;
  validate(description);
  std::vector<fs::path> views;
  for (const RenderView& view : description.views) views.emplace_back(view.name);
  clear_folder(folder, views, arguments.overwrite);
  nlohmann::ordered_json summary = summary_of(description, title);
  write_summary(folder, summary);
  const Scene sparse = sparse_scene(description);
  write_colmap_model(folder / "sparse", sparse,
                     arguments.binary ? ColmapFormat::kBinary : ColmapFormat::kText);

  const bool arrays = arguments.ground_truth == "all";
  Progress progress("views", static_cast<int>(description.views.size()), progress_style(arguments.quiet));
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
    progress.advance();
  }
  if (arguments.ground_truth != "none") {
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

/// The folder of the descriptions that come with the program: beside it where it is installed, or in the
/// source tree that it was built in. Empty when there is none.
fs::path bundled_scenes() {
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int level = 0; level < 5 && folder.has_relative_path(); ++level, folder = folder.parent_path())
    for (const char* place : {"share/reconstruct/scenes", "scenes"})
      if (fs::is_regular_file(folder / place / "demo.json")) return folder / place;
  return {};
}

const std::string kNoBundled = "they are in scenes/ of the sources, and in share/reconstruct/scenes";

std::vector<fs::path> bundled_descriptions() {
  std::vector<fs::path> files;
  const fs::path folder = bundled_scenes();
  if (folder.empty()) return files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// Names and titles: with a tab between them or, on a terminal, in columns that fit.
void print_list() {
  const std::optional<int> width = standard_output_columns();
  const std::vector<fs::path> files = bundled_descriptions();
  if (files.empty()) throw InputError("no bundled descriptions are beside the program; " + kNoBundled);
  std::size_t column = 0;
  for (const fs::path& file : files) column = std::max(column, file.stem().string().size() + 2);
  std::string list;
  for (const fs::path& file : files) {
    std::string name = file.stem().string();
    const std::string title = parse_description(read_file(file), file.string()).title;
    if (width)
      list += name.append(column - name.size(), ' ') +
              wrapped(title, column, column, static_cast<std::size_t>(*width));
    else
      list += name + "\t" + title + "\n";
  }
  print_for_reading(list);
}

/// A path, or the name of a description that comes with the program.
fs::path find_description(const std::string& scene) {
  if (is_there(scene)) return scene;
  std::string names;
  for (const fs::path& file : bundled_descriptions()) {
    if (file.stem() == scene) return file;
    names += (names.empty() ? "" : ", ") + file.stem().string();
  }
  throw InputError(scene + ": there is no such file, nor a bundled description of that name; " +
                   (names.empty() ? kNoBundled : "bundled are: " + names));
}

/// Applies --camera-model, --width, --height and --samples. One side alone keeps the shape of the images.
void apply_overrides(const Arguments& arguments, SceneDescription& scene) {
  for (Camera& camera : scene.cameras) {
    if (!arguments.camera_model.empty()) {
      const auto model = model_from_name(arguments.camera_model);
      if (!model) throw UsageError("--camera-model " + arguments.camera_model + " is not a model of COLMAP");
      if (*model != camera.model)
        camera = typical_camera(*model, camera.width, camera.height, Lens(camera).focal().x);
    }
    if (!arguments.width && !arguments.height) continue;
    const auto scaled = [](int side, int given, int of) {
      return std::max(1, static_cast<int>(std::lround(static_cast<double>(side) * given / of)));
    };
    const int width =
        arguments.width ? *arguments.width : scaled(camera.width, *arguments.height, camera.height);
    const int height =
        arguments.height ? *arguments.height : scaled(camera.height, *arguments.width, camera.width);
    camera = resized(camera, width, height);
  }
  if (arguments.samples) scene.samples = *arguments.samples;
}

void render(const Arguments& arguments) {
  if (arguments.scene.empty() || arguments.output.empty())
    throw UsageError("give a scene description and an output folder, or --list; see --help");
  const fs::path file = find_description(arguments.scene);
  DescriptionFile description = parse_description(read_file(file), file.string(), arguments.views);
  apply_overrides(arguments, description.scene);

  ThreadLimit threads(usable_threads(arguments.threads));
  threads.run([&] { write_rendered_scene(description.scene, description.title, arguments); });
}

void declare_options(CLI::App& app, Arguments& arguments) {
  app.add_option("SCENE", arguments.scene, "Description (JSON), or the name of a bundled one");
  app.add_option("OUTPUT", arguments.output, "Folder for the scene");
  app.add_flag("--list", arguments.list, "List the bundled descriptions and stop");
  app.add_option("--width", arguments.width,
                 "Width of the images, px; the focal length of x scales with it, and without --height the "
                 "height and the focal length of y too")
      ->check(CLI::Range(1, 65536));
  app.add_option("--height", arguments.height,
                 "Height of the images, px; the focal length of y scales with it, and without --width the "
                 "width and the focal length of x too")
      ->check(CLI::Range(1, 65536));
  app.add_option("--views", arguments.views, "Number of views")->check(CLI::Range(1, 100000));
  app.add_option("--camera-model", arguments.camera_model,
                 "Another camera model of COLMAP, such as OPENCV, with a typical distortion");
  app.add_option("--samples", arguments.samples, "Rays per pixel along each axis")->check(CLI::Range(1, 32));
  app.add_option("--ground-truth", arguments.ground_truth,
                 "all: depth (PNG and COLMAP array) and normals; png: depth as PNG; none")
      ->check(CLI::IsMember({"all", "png", "none"}));
  app.add_flag("--binary", arguments.binary, "Write sparse/ in COLMAP's binary format instead of text");
  app.add_option("--threads", arguments.threads, "Number of threads, 0: all")->check(CLI::Range(0, 4096));
  app.add_flag("--overwrite", arguments.overwrite,
               "Replace a scene that was rendered into the folder before");
  app.add_flag("-q,--quiet", arguments.quiet, "No progress on standard error");
}

int run(int argc, char** argv) {
  Arguments arguments;
  ToolApp app("Renders synthetic scenes with exact depth, normals and poses, as COLMAP scenes.",
              "reconstruct-render");
  declare_options(app, arguments);
  if (const auto exit_code = app.read(argc, argv)) return *exit_code;
  set_up_log(arguments.quiet ? spdlog::level::warn : spdlog::level::info);
  install_interrupt_handler();
  if (arguments.list)
    print_list();
  else
    render(arguments);
  return 0;
}

}  // namespace
}  // namespace recon

int main(int argc, char** argv) {
  const recon::Advice advice{"smaller images (--width) need less",
                             "the same command with --overwrite starts again"};
  return recon::run_program([&] { return recon::run(argc, argv); }, advice);
}
