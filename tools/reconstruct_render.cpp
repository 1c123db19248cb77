#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/parallel.hpp"
#include "core/program.hpp"
#include "core/progress.hpp"
#include "core/version.hpp"
#include "io/input_file.hpp"
#include "render/description_file.hpp"
#include "scene/lens.hpp"
#include "tools/commit.hpp"
#include "tools/render/write_scene.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string scene;
  fs::path output;
  std::optional<int> width, height, views, samples;
  std::string camera_model;
  GroundTruth ground_truth = GroundTruth::kAll;
  int threads = 0;
  bool list = false, binary = false, overwrite = false, quiet = false;
};

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

std::vector<fs::path> bundled_descriptions() {
  std::vector<fs::path> files;
  const fs::path folder = bundled_scenes();
  if (folder.empty()) return files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void print_list() {
  for (const fs::path& file : bundled_descriptions())
    std::cout << file.stem().string() << "\t" << parse_description(read_file(file), file.string()).title
              << "\n";
}

/// A path, or the name of a description that comes with the program.
fs::path find_description(const std::string& scene) {
  if (fs::exists(scene)) return scene;
  std::string names;
  for (const fs::path& file : bundled_descriptions()) {
    if (file.stem() == scene) return file;
    names += (names.empty() ? "" : ", ") + file.stem().string();
  }
  throw InputError(scene +
                   ": there is no such file, nor a bundled description of that name; bundled are: " + names);
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

  const int views = static_cast<int>(description.scene.views.size());
  Progress progress("views", views, progress_style(arguments.quiet));
  WriteSceneOptions options;
  options.title = description.title;
  options.format = arguments.binary ? ColmapFormat::kBinary : ColmapFormat::kText;
  options.ground_truth = arguments.ground_truth;
  options.overwrite = arguments.overwrite;
  options.view_done = [&] { progress.advance(); };
  ThreadLimit threads(usable_threads(arguments.threads));
  threads.run([&] { write_rendered_scene(description.scene, arguments.output, options); });
}

void declare_options(CLI::App& app, Arguments& arguments) {
  const std::map<std::string, GroundTruth> truths{
      {"all", GroundTruth::kAll}, {"png", GroundTruth::kPng}, {"none", GroundTruth::kNone}};
  app.add_option("SCENE", arguments.scene, "Description (JSON), or the name of a bundled one");
  app.add_option("OUTPUT", arguments.output, "Folder for the scene");
  app.add_flag("--list", arguments.list, "List the bundled descriptions and stop");
  app.add_option("--width", arguments.width, "Width of the images, px; focal lengths scale with it")
      ->check(CLI::Range(1, 65536));
  app.add_option("--height", arguments.height, "Height of the images, px")->check(CLI::Range(1, 65536));
  app.add_option("--views", arguments.views, "Number of views")->check(CLI::Range(1, 100000));
  app.add_option("--camera-model", arguments.camera_model,
                 "Another camera model of COLMAP, such as OPENCV, with a typical distortion");
  app.add_option("--samples", arguments.samples, "Rays per pixel along each axis")->check(CLI::Range(1, 32));
  app.add_option("--ground-truth", arguments.ground_truth,
                 "all: depth (PNG and COLMAP array) and normals; png: depth as PNG; none")
      ->transform(CLI::CheckedTransformer(truths));
  app.add_flag("--binary", arguments.binary, "Write sparse/ in COLMAP's binary format instead of text");
  app.add_option("--threads", arguments.threads, "Number of threads, 0: all")->check(CLI::Range(0, 4096));
  app.add_flag("--overwrite", arguments.overwrite,
               "Replace a scene that was rendered into the folder before");
  app.add_flag("--quiet", arguments.quiet, "No progress on standard error");
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Renders synthetic scenes with exact depth, normals and poses, as COLMAP scenes.",
               "reconstruct-render");
  app.set_version_flag("--version", std::string("reconstruct-render ") + version() + " (" RECON_COMMIT ")");
  declare_options(app, arguments);
  refuse_empty_arguments(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  set_up_log(arguments.quiet ? Verbosity::kQuiet : Verbosity::kNormal);
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
  const recon::Advice advice{"smaller images (--width) need less"};
  return recon::run_program([&] { return recon::run(argc, argv); }, advice);
}
