#include <iostream>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/program.hpp"
#include "tools/evaluate/commands.hpp"
#include "tools/tool_app.hpp"

namespace {

using namespace recon;

void add_depth(CLI::App& app, DepthCommand& command) {
  CLI::App* depth = app.add_subcommand("depth", "Depth maps of a dense workspace against ground-truth depth");
  depth->add_option("DENSE", command.dense, "Dense workspace with stereo/depth_maps/")->required();
  depth
      ->add_option("--ground-truth", command.ground_truth,
                   "Folder with NAME.bin (COLMAP array) or NAME.png (16 bit) per view")
      ->type_name("DIR")
      ->required();
  depth
      ->add_option("--scene", command.scene,
                   "Scene whose cameras the ground truth has, where the maps have others (undistorted); "
                   "default: the folder above DENSE, if it is a scene")
      ->type_name("DIR");
  depth->add_option("--kind", command.kind, "Which maps: geometric or photometric")
      ->check(CLI::IsMember({"geometric", "photometric"}))
      ->capture_default_str();
  depth->add_option("--views", command.views, "Shell pattern over the names of the views")
      ->capture_default_str();
  depth->add_option("--thresholds", command.thresholds, "Relative errors, separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  depth->add_option("--unit", command.unit,
                    "Scene units per step of a PNG; default: as scene.json says, else 0.001");
}

void add_cloud(CLI::App& app, CloudCommand& command) {
  CLI::App* cloud =
      app.add_subcommand("cloud", "A point cloud against ground-truth depth, or against another cloud");
  cloud->add_option("CLOUD", command.cloud, "PLY file")->required();
  cloud->add_option("--scene", command.scene, "Scene with ground-truth depth")->type_name("DIR");
  cloud
      ->add_option("--ground-truth", command.ground_truth,
                   "Folder with the depth; default: gt_depth in the scene")
      ->type_name("DIR");
  cloud
      ->add_option(
          "--reference", command.reference,
          "PLY file to compare with, instead of --scene, or a project of MeshLab (.mlp) with several, "
          "such as the aligned scans of ETH3D")
      ->type_name("FILE");
  cloud
      ->add_option(
          "--transform", command.transform,
          "Text file with a matrix of 4 x 4 that moves the cloud into the coordinates of the reference, "
          "such as SCENE_trans.txt of Tanks and Temples")
      ->type_name("FILE");
  cloud
      ->add_option(
          "--crop", command.crop,
          "Volume outside which nothing of both counts, a JSON file of Open3D, such as SCENE.json of "
          "Tanks and Temples")
      ->type_name("FILE");
  cloud->add_option("--thresholds", command.thresholds, "Distances in scene units, separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  cloud->add_option(
      "--voxel", command.voxel,
      "Both clouds are thinned to one point per cube of this edge; default: half of each threshold");
  cloud->add_option("--unit", command.unit,
                    "Scene units per step of a PNG; default: as scene.json says, else 0.001");
  cloud->add_flag(
      "--all-views", command.all_views,
      "Judge each point's depth in all views, not in those that CLOUD.vis names. That file "
      "counts the views in the order of their names, as reconstruct writes it; use this for other "
      "programs' clouds");
}

void add_disparity(CLI::App& app, DisparityCommand& command) {
  CLI::App* disparity = app.add_subcommand(
      "disparity",
      "A disparity map against ground truth. Pixels that the map does not know count as bad, but for the "
      "shares of the estimated pixels");
  disparity->add_option("MAP", command.map, "PFM, 8 or 16-bit PNG, or 8-bit PGM")->required();
  disparity
      ->add_option("--ground-truth", command.ground_truth,
                   "Map, or folder with an info.json that describes it")
      ->type_name("FILE")
      ->required();
  disparity
      ->add_option("--mask", command.mask,
                   "Image: only pixels with 255 count; with a folder also nonocc, all or disc")
      ->type_name("FILE");
  disparity->add_option("--thresholds", command.thresholds, "Errors in pixels, separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  disparity->add_option(
      "--scale", command.scale,
      "Steps per pixel of an integer ground truth; default: info.json's, else 256 of a 16-bit PNG, else 1");
  disparity->add_option("--map-scale", command.map_scale,
                        "Steps per pixel of an integer map; default: 256 of a 16-bit PNG, else 1");
  disparity->add_option("--unknown", command.unknown, "Integer value of unknown pixels, or none")
      ->capture_default_str();
}

int run(int argc, char** argv) {
  ToolApp app("Depth maps, clouds and disparity maps against ground truth", "reconstruct-evaluate");
  app.require_subcommand(1);
  app.fallthrough();
  bool json = false;
  int threads = 0;
  app.add_flag("--json", json, "Print the figures as one JSON object instead of tables");
  app.add_option("--threads", threads, "Threads to use; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  DepthCommand depth;
  CloudCommand cloud;
  DisparityCommand disparity;
  add_depth(app, depth);
  add_cloud(app, cloud);
  add_disparity(app, disparity);
  if (const auto exit_code = app.read(argc, argv)) return *exit_code;
  ThreadLimit limit(usable_threads(threads));
  const nlohmann::ordered_json figures = limit.run([&] {
    if (app.got_subcommand("depth")) return evaluate_depth(depth);
    if (app.got_subcommand("cloud")) return evaluate_cloud(cloud);
    return evaluate_disparity(disparity);
  });
  std::cout << (json ? figures.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
                     : text(figures, standard_output_columns()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Advice advice{"evaluate fewer views at once (--views)"};
  return run_program([&] { return run(argc, argv); }, advice);
}
