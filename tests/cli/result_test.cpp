// What a run leaves behind, and that it depends on nothing but its input.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "cli/scene_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "io/model/colmap_model.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::Not;

/// COLMAP's visibility file: per point a count and indices of images.
std::vector<std::vector<std::uint32_t>> views_of_points(const fs::path& path) {
  const std::string bytes = content(path);
  std::size_t at = 0;
  const auto number = [&](auto value) {
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  };
  std::vector<std::vector<std::uint32_t>> points(number(std::uint64_t{}));
  for (auto& views : points) {
    views.resize(number(std::uint32_t{}));
    for (std::uint32_t& view : views) view = number(std::uint32_t{});
  }
  EXPECT_EQ(at, bytes.size());
  return points;
}

/// Every point has to lie on the depth map of every view that its list names, in the model beside it.
void expect_points_on_depth_maps(const fs::path& dense) {
  const Scene model = read_colmap_model(dense / "sparse");
  const PlyCloud cloud = read_ply(dense / "fused.ply");
  const auto visibility = views_of_points(dense / "fused.ply.vis");
  std::vector<Image<float>> depths;
  for (const View& view : model.views)
    depths.push_back(read_depth_map(dense / "stereo/depth_maps" / (view.name + ".geometric.bin")));
  ASSERT_EQ(cloud.positions.size(), visibility.size());
  ASSERT_GT(visibility.size(), 100u);
  std::size_t seen = 0, on_map = 0;
  for (std::size_t i = 0; i < visibility.size(); ++i) {
    const Vec3d p = cloud.positions[i];
    for (const std::uint32_t index : visibility[i]) {
      ASSERT_LT(index, model.views.size());
      const View& view = model.views[index];
      const Vec3d x = view.cam_from_world * p;
      const Vec2d pixel = as_pinhole(model.cameras[static_cast<std::size_t>(view.camera)])->project(x);
      const int column = static_cast<int>(pixel.x), row = static_cast<int>(pixel.y);
      ++seen;
      if (depths[index].view().contains(column, row) &&
          std::abs(depths[index](column, row) / static_cast<float>(x.z) - 1) < 0.02f)
        ++on_map;
    }
  }
  // Averaging moves points a little: some leave their pixel at an edge.
  EXPECT_GT(static_cast<double>(on_map), 0.97 * static_cast<double>(seen));
}

class ReconstructResult : public SceneTest {};

TEST_F(ReconstructResult, IsAWorkspaceWithDepthNormalsPreviewsAndACloud) {
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("fused.ply: "));
  for (const char* name : {"view00.png", "view04.png"}) {
    const std::string view = name;
    EXPECT_EQ(image_size(dense() / "images" / view), (ImageSize{96, 72}));
    EXPECT_EQ(content(dense() / "images" / view), content(scene() / "images" / view))
        << "a photo that needs no change is copied";
    for (const std::string kind : {".photometric", ".geometric"}) {
      EXPECT_EQ(read_depth_map(dense() / "stereo/depth_maps" / (view + kind + ".bin")).width(), 96);
      EXPECT_EQ(read_confidence_map(dense() / "stereo/confidence_maps" / (view + kind + ".png")).height(),
                72);
    }
    EXPECT_EQ(read_normal_map(dense() / "stereo/normal_maps" / (view + ".geometric.bin")).height(), 72);
    EXPECT_FALSE(fs::exists(dense() / "stereo/normal_maps" / (view + ".photometric.bin")))
        << "they follow from the depths";
    EXPECT_EQ(image_size(dense() / "previews" / (view + ".png")), (ImageSize{96, 72}));
  }
  EXPECT_EQ(content(dense() / "stereo/fusion.cfg"),
            "view00.png\nview01.png\nview02.png\nview03.png\nview04.png\n");
  const std::string patch_match = content(dense() / "stereo/patch-match.cfg");
  EXPECT_EQ(std::count(patch_match.begin(), patch_match.end(), '\n'), 10);  // two lines for each view
  EXPECT_THAT(content(dense() / "options.toml"), HasSubstr("window=5"));
  EXPECT_THAT(content(dense() / "report.html"), HasSubstr("view03.png"));
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  EXPECT_EQ(report.at("views").size(), 5u);
  EXPECT_EQ(report.at("points").get<std::size_t>(), read_ply(dense() / "fused.ply").positions.size());
}

TEST_F(ReconstructResult, ListsTheViewsOfEachPoint) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  expect_points_on_depth_maps(dense());
}

TEST_F(ReconstructResult, ListsTheViewsOfEachPointWhenIdsFallAsNamesRise) {
  Scene scene_model = model();
  for (View& view : scene_model.views) view.id = 100 - view.id;
  set_model(scene_model);
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  expect_points_on_depth_maps(dense());
  const Scene dense_model = read_colmap_model(dense() / "sparse");
  for (std::size_t i = 1; i < dense_model.views.size(); ++i)
    EXPECT_LT(dense_model.views[i - 1].id, dense_model.views[i].id);
}

TEST_F(ReconstructResult, UndistortsLensesAndScalesDown) {
  render(folder() / "fisheye", {"--camera-model", "OPENCV_FISHEYE"});
  const Outcome outcome = reconstruct({(folder() / "fisheye").string(), "--max-image-size", "80"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const fs::path result = folder() / "fisheye/dense";
  const Scene distorted = read_colmap_model(folder() / "fisheye/sparse");
  const Scene undistorted = read_colmap_model(result / "sparse");
  ASSERT_EQ(undistorted.cameras.front().model, CameraModel::kPinhole);
  EXPECT_LE(undistorted.cameras.front().width, 80);
  EXPECT_EQ(undistorted.points.size(), distorted.points.size());
  // Where a point was seen, its projection has to be, within the noise of the observations (0.3 pixels).
  double error = 0;
  std::size_t count = 0;
  std::map<std::uint64_t, Vec3d> position;
  for (const SparsePoint& point : undistorted.points) position[point.id] = point.position;
  for (const View& view : undistorted.views)
    for (const Observation& observation : view.observations) {
      if (observation.point_id == kNoPoint) continue;
      const auto pixel =
          Lens(undistorted.cameras.front()).project(view.cam_from_world * position.at(observation.point_id));
      error += std::hypot(pixel->x - observation.pixel.x, pixel->y - observation.pixel.y);
      ++count;
    }
  ASSERT_GT(count, 100u);
  EXPECT_LT(error / static_cast<double>(count), 0.6);
}

TEST_F(ReconstructResult, TakesNamesWithBlanksAndSubfolders) {
  Scene scene_model = model();
  fs::create_directories(scene() / "images/left camera");
  for (View& view : scene_model.views) {
    const std::string name = "left camera/a " + view.name;
    fs::rename(scene() / "images" / view.name, scene() / "images" / name);
    view.name = name;
  }
  set_model(scene_model);
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(dense() / "stereo/depth_maps/left camera/a view02.png.geometric.bin"));
  EXPECT_TRUE(fs::exists(dense() / "previews/left camera/a view02.png.png"));
}

TEST_F(ReconstructResult, TakesNamesThatAreNoUtf8) {
  Scene scene_model = model();
  fs::rename(scene() / "images/view01.png", scene() / "images/caf\xe9.png");
  scene_model.views[1].name = "caf\xe9.png";
  set_model(scene_model);
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(dense() / "stereo/depth_maps/caf\xe9.png.geometric.bin"));
  EXPECT_EQ(reconstruct({scene().string(), "--json"}).json().at("exit_code"), 0);
}

TEST_F(ReconstructResult, DoesNotDependOnTheNumberOfThreads) {
  ASSERT_EQ(reconstruct({scene().string(), "-o", (folder() / "one").string(), "--threads", "1"}).exit_code,
            0);
  ASSERT_EQ(reconstruct({scene().string(), "-o", (folder() / "two").string(), "--threads", "2"}).exit_code,
            0);
  EXPECT_TRUE(same_results(results(folder() / "one"), results(folder() / "two")));
}

/// A small scene: by default, and with the options that choose or replace patches.
TEST_F(ReconstructResult, IsRefinedByPatchesUnlessPlanesOrStagesAreGiven) {
  const auto run = [&](const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {scene().string(), "-o", (folder() / name).string(), "--stage",
                                          "estimate"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = reconstruct(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return results(folder() / name);
  };
  const auto patches = run("default", {"--planes", "auto", "--threads", "1"});
  EXPECT_THAT(content(folder() / "default/options.toml"), HasSubstr("refine=\"edges,patches,smooth,prior\""));
  EXPECT_TRUE(same_results(patches, run("patches", {"--planes", "auto", "--refine",
                                                    "edges,patches,smooth,prior", "--threads", "3"})));
  EXPECT_FALSE(same_results(patches, run("no_edges", {"--planes", "auto", "--refine", "patches,prior"})));
  EXPECT_FALSE(same_results(patches, run("no_prior", {"--planes", "auto", "--refine", "patches"})));
  EXPECT_FALSE(same_results(patches, run("none", {"--planes", "auto", "--refine", "none"})));
  EXPECT_THAT(content(folder() / "none/options.toml"), HasSubstr("refine=\"none\""));
  const auto planes = run("planes", {"--planes", "64"});
  EXPECT_FALSE(same_results(patches, planes));
  EXPECT_TRUE(same_results(planes, run("planes_none", {"--planes", "64", "--refine", "none"})));
}

/// Points of one view, where no other view has a depth, come with patches and go by an option.
TEST_F(ReconstructResult, HasSurePointsThatOneViewSeesWhereWanted) {
  std::ptrdiff_t unconfirmed = 0;
  const auto lone_points = [&](const std::vector<std::string>& options, float min_confidence = 0.7f) {
    std::vector<std::string> arguments = {scene().string(), "--planes", "auto"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = reconstruct(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto visibility = views_of_points(dense() / "fused.ply.vis");
    const PlyCloud cloud = read_ply(dense() / "fused.ply");
    std::ptrdiff_t count = 0;
    for (std::size_t i = 0; i < visibility.size(); ++i) {
      if (visibility[i].size() > 1) continue;
      ++count;
      EXPECT_GE(cloud.confidences[i], min_confidence);
      unconfirmed += cloud.confidences[i] < 0.843f;  // depths that a source confirms mostly have more
    }
    return count;
  };
  EXPECT_GT(lone_points({}, 0.9f), 100) << "those of planes";
  EXPECT_EQ(unconfirmed, 0);
  const std::vector<std::string> wanted = {"--min-lone-confidence", "0.7"};
  const std::ptrdiff_t found = lone_points(wanted);
  EXPECT_GT(found, 5);
  EXPECT_GT(unconfirmed, 3);
  EXPECT_EQ(lone_points({"--min-lone-confidence", "0.7", "--min-fused-views", "3"}), 0);
  EXPECT_EQ(lone_points({"--min-lone-confidence", "1"}), 0);
  EXPECT_EQ(lone_points(wanted), found);
}

/// The only source of view02 and of view08 has no depth map.
TEST_F(ReconstructResult, HasNoDepthsOfViewsThatNoOtherChecks) {
  const fs::path demo = fs::path(RECON_SOURCE_DIR) / "scenes/demo";
  const Outcome outcome =
      reconstruct({demo.string(), "-o", dense().string(), "--planes", "auto", "--sources", "1", "--views",
                   "view0[028].jpg", "--max-image-size", "200", "--min-fused-views", "1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  std::map<std::string, double> known;
  for (const auto& view : report.at("views")) known[view.at("name")] = view.at("known_geometric");
  EXPECT_GT(known.at("view00.jpg"), 0.4);
  EXPECT_EQ(known.at("view02.jpg"), 0.0);
  EXPECT_EQ(known.at("view08.jpg"), 0.0);
}

TEST_F(ReconstructResult, OfShardsIsThatOfOneRun) {
  ASSERT_EQ(reconstruct({scene().string(), "-o", (folder() / "whole").string()}).exit_code, 0);
  const std::string parts = (folder() / "parts").string();
  for (const char* shard : {"1/2", "2/2"}) {
    const Outcome outcome =
        reconstruct({scene().string(), "-o", parts, "--stage", "estimate", "--shard", shard});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  EXPECT_FALSE(fs::exists(folder() / "parts/fused.ply"));
  ASSERT_EQ(reconstruct({scene().string(), "-o", parts, "--stage", "fuse"}).exit_code, 0);
  EXPECT_TRUE(same_results(results(folder() / "whole"), results(folder() / "parts")));
}

TEST_F(ReconstructResult, OfFusionAloneLeavesOutViewsWithoutMaps) {
  ASSERT_EQ(reconstruct({scene().string(), "--stage", "estimate"}).exit_code, 0);
  fs::remove(dense() / "stereo/depth_maps/view02.png.photometric.bin");
  const Outcome outcome = reconstruct({scene().string(), "--stage", "fuse"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("view02.png is left out"));
  EXPECT_THAT(outcome.out, HasSubstr("; view02.png is left out"));
  EXPECT_TRUE(fs::exists(dense() / "fused.ply"));
}

TEST_F(ReconstructResult, HasOnlyTheViewsAskedFor) {
  const Outcome outcome = reconstruct(
      {scene().string(), "--views", "view0[0-2].png", "--sources", "2", "--min-fused-views", "2", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.json().at("scenes").at(0).at("views").size(), 3u);
  EXPECT_FALSE(fs::exists(dense() / "stereo/depth_maps/view04.png.geometric.bin"));
}

TEST_F(ReconstructResult, OfAPlanIsNothing) {
  const Outcome text = reconstruct({scene().string(), "--dry-run"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("view03.png"));
  EXPECT_THAT(text.out, testing::ContainsRegex("memory: up to [^\n]*\n  disk: up to "));
  const Outcome object = reconstruct({scene().string(), "--dry-run", "--json"});
  const auto plan = object.json().at("scenes").at(0);
  EXPECT_EQ(plan.at("views").size(), 5u);
  EXPECT_EQ(plan.at("views").at(0).at("planes"), 48);
  EXPECT_GT(plan.at("memory").at("peak").get<std::size_t>(), 0u);
  EXPECT_FALSE(fs::exists(dense()));
}

TEST_F(ReconstructResult, LogFilesHaveTheMessagesOfEachRun) {
  ASSERT_EQ(reconstruct({scene().string(), "--quiet"}).exit_code, 0);
  const std::string first = content(dense() / "report.log");
  EXPECT_THAT(first, HasSubstr(" debug: depth maps: ")) << "also where standard error is quiet";
  EXPECT_THAT(first, Not(HasSubstr("finished and kept")));
  const fs::path photo = scene() / "images/view00.png";
  set_content(photo, "no photo");
  const Outcome second = reconstruct({scene().string()});
  EXPECT_EQ(second.exit_code, 7) << second.err;
  const std::string both = content(dense() / "report.log");
  EXPECT_EQ(both.substr(0, first.size()), first) << "logs are appended";
  EXPECT_THAT(both.substr(first.size()), HasSubstr(" warning: view00.png is left out"));
}

TEST_F(ReconstructResult, IsReadByColmapAndMeshLab) {
  const std::string colmap = "/usr/bin/colmap";
  if (!fs::exists(colmap)) GTEST_SKIP() << "COLMAP is not installed";
  const fs::path dense = folder() / "demo";
  const Outcome run = reconstruct({RECON_SOURCE_DIR "/scenes/demo", "--planes", "256", "--point-spacing", "2",
                                   "-o", dense.string(), "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  setenv("QT_QPA_PLATFORM", "offscreen", 1);
  const fs::path fused = folder() / "colmap.ply";
  const Outcome fusion =
      run_program(folder(), {colmap, "stereo_fusion", "--workspace_path", dense.string(), "--input_type",
                             "geometric", "--output_path", fused.string()});
  ASSERT_EQ(fusion.exit_code, 0) << fusion.out << fusion.err;
  const double ours = run.json().at("scenes").at(0).at("points").get<double>();
  const auto theirs = static_cast<double>(read_ply(fused).positions.size());
  EXPECT_GT(ours, 10000);
  EXPECT_NEAR(theirs / ours, 1.0, 0.3);
  const Outcome mesh =
      run_program(folder(), {colmap, "poisson_mesher", "--input_path", (dense / "fused.ply").string(),
                             "--output_path", (folder() / "mesh.ply").string(), "--PoissonMeshing.depth", "7",
                             "--PoissonMeshing.trim", "4"});
  ASSERT_EQ(mesh.exit_code, 0) << mesh.out << mesh.err;
  EXPECT_GT(read_ply(folder() / "mesh.ply").positions.size(), 1000u);

  if (!fs::exists("/usr/bin/meshlabserver") || !fs::exists("/usr/bin/xvfb-run")) return;
  const Outcome meshlab = run_program(
      folder(), {"/usr/bin/xvfb-run", "-a", "/usr/bin/meshlabserver", "-i", (dense / "fused.ply").string(),
                 "-o", (folder() / "meshlab.ply").string(), "-m", "vc", "vn"});
  ASSERT_EQ(meshlab.exit_code, 0) << meshlab.out << meshlab.err;
  EXPECT_EQ(read_ply(folder() / "meshlab.ply").positions.size(), static_cast<std::size_t>(ours));
}

}  // namespace
}  // namespace recon
