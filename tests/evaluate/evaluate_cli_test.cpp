#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "cli/run_program.hpp"
#include "io/cloud/ply.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "io/model/colmap_model.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class EvaluateCli : public testing::Test {
 protected:
  Outcome run(const std::string& arguments) const {
    return run_in(folder_.path(), "'" RECON_EVALUATE "' " + arguments);
  }

  /// A scene of two views, 4x2 pixels, both at the origin looking along z, with depth 2 but for the unknown
  /// pixel (0, 0).
  void write_scene() const {
    Scene scene;
    scene.camera_ids = {1};
    scene.cameras = {{CameraModel::kPinhole, 4, 2, {4, 4, 2, 1}}};
    for (const std::uint32_t id : {1u, 2u}) {
      View view;
      view.id = id;
      view.name = "v" + std::to_string(id) + ".png";
      scene.views.push_back(view);
    }
    fs::create_directories(folder_ / "scene/sparse");
    fs::create_directories(folder_ / "scene/gt_depth");
    write_colmap_model(folder_ / "scene/sparse", scene, ColmapFormat::kText);
    Image<std::uint16_t> truth(4, 2, 2000);
    truth(0, 0) = 0;
    for (const char* name : {"v1.png", "v2.png"})
      write_png16(folder_ / "scene/gt_depth" / name, truth.view());
  }

  void write_cloud(const std::string& name, const std::vector<Vec3d>& points,
                   const std::vector<std::vector<std::uint32_t>>& views) const {
    PlyWriter writer(folder_ / name);
    for (std::size_t i = 0; i < points.size(); ++i) {
      PlyPoint point;
      point.position = points[i];
      point.views = views[i];
      writer.add(point);
    }
    writer.commit();
  }

  TemporaryFolder folder_;
};

TEST_F(EvaluateCli, HelpNamesTheCommandsAndSucceeds) {
  const Outcome outcome = run("--help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* command : {"depth", "cloud", "disparity"}) EXPECT_THAT(outcome.out, HasSubstr(command));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(EvaluateCli, WrongUsageIsTwo) {
  for (const char* arguments :
       {"", "cloud", "depth x", "nonsense", "cloud a.ply", "cloud a.ply --scene s --reference b.ply",
        "cloud a.ply --reference b.ply --thresholds 0", "cloud a.ply --reference b.ply --thresholds x",
        "disparity a.pfm --ground-truth b.pfm --unknown maybe", "depth d --ground-truth g --kind other"}) {
    if (std::string(arguments).starts_with("disparity"))
      write_pfm(folder_ / "b.pfm", Image<float>(1, 1, 1.0f).view());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("error: ")) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
  EXPECT_THAT(run("").err, HasSubstr("a command is missing, one of depth, cloud, disparity"));
  EXPECT_THAT(run("nonsense").err, HasSubstr("'nonsense' is not expected"));
  EXPECT_THAT(run("depth x y").err, HasSubstr("'y' is not expected: options have names; reconstruct-evaluate "
                                              "depth --help"));
  fs::create_directories(folder_ / "results");
  EXPECT_THAT(run("cloud results --scene s").err,
              HasSubstr("results: is a folder; name the cloud in it, such as results/fused.ply"));
  std::ofstream(folder_ / "empty.ply");
  EXPECT_THAT(run("cloud empty.ply --reference empty.ply").err, HasSubstr("empty.ply: the file is empty"));
}

TEST_F(EvaluateCli, AnUnknownOptionIsNamedRatherThanWhatIsMissing) {
  for (const char* arguments : {"--treshold 3", "cloud --treshold 3", "cloud a.ply --treshold 3"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr("--treshold")) << arguments;
    EXPECT_THAT(outcome.err, Not(HasSubstr("required"))) << arguments;
  }
}

TEST_F(EvaluateCli, MissingFilesAreThreeAndNamed) {
  write_scene();
  write_cloud("a.ply", {{0, 0, 2}}, {{0}});
  for (const auto& [arguments, name] : std::vector<std::pair<std::string, std::string>>{
           {"cloud gone.ply --scene scene", "gone.ply"},
           {"cloud a.ply --scene gone", "gone"},
           {"cloud a.ply --reference gone.ply", "gone.ply"},
           {"cloud a.ply --scene scene --ground-truth gone", "gone"},
           {"depth gone --ground-truth scene/gt_depth", "gone"},
           {"disparity gone.pfm --ground-truth gone2.pfm", "gone"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 3) << arguments << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(name)) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
}

TEST_F(EvaluateCli, DepthOfTheTruthItselfIsPerfectAndAMissingMapCounts) {
  write_scene();
  fs::create_directories(folder_ / "dense/stereo/depth_maps");
  Image<float> map(4, 2, 2.0f);
  map(0, 0) = kUnknown;
  write_depth_map(folder_ / "dense/stereo/depth_maps/v1.png.geometric.bin", map.view());
  write_depth_map(folder_ / "dense/stereo/depth_maps/v2.png.geometric.bin", map.view());
  const auto perfect = run("depth dense --ground-truth scene/gt_depth --json").json();
  EXPECT_EQ(perfect["mode"], "depth");
  EXPECT_EQ(perfect["all"]["known"], 14);
  EXPECT_EQ(perfect["all"]["completeness"], 1);
  for (const auto& within : perfect["all"]["within"]) EXPECT_EQ(within["of_known"], 1) << within;
  EXPECT_EQ(perfect["all"]["estimated_where_unknown"], 0);

  fs::remove(folder_ / "dense/stereo/depth_maps/v2.png.geometric.bin");
  const auto half = run("--json depth dense --ground-truth scene/gt_depth --scene scene").json();
  EXPECT_EQ(half["views_without_map"], 1);
  EXPECT_EQ(half["all"]["completeness"], 0.5);
  EXPECT_EQ(half["views"][1]["map"], false);
  const auto one = run("depth dense --ground-truth scene/gt_depth --scene scene --views 'v1*' --json").json();
  EXPECT_EQ(one["all"]["completeness"], 1);
  EXPECT_EQ(run("depth dense --ground-truth scene/gt_depth --views 'x*'").exit_code, 3);
  EXPECT_EQ(run("depth dense --ground-truth scene/gt_depth --kind photometric").exit_code, 3);
}

TEST_F(EvaluateCli, DepthAtHalfSizeSaysHowTheTruthWasSampled) {
  write_scene();
  fs::create_directories(folder_ / "dense/stereo/depth_maps");
  write_depth_map(folder_ / "dense/stereo/depth_maps/v1.png.geometric.bin", Image<float>(2, 1, 2.02f).view());
  const std::string arguments = "depth dense --ground-truth scene/gt_depth --thresholds 0.005,0.02";
  const auto figures = run(arguments + " --json").json();
  EXPECT_EQ(figures["views"][0]["truth_sampling"], "size");
  EXPECT_EQ(figures["all"]["known"], 2);
  EXPECT_EQ(figures["all"]["within"][0]["of_known"], 0);
  EXPECT_EQ(figures["all"]["within"][1]["of_known"], 1);
  EXPECT_THAT(run(arguments).out, HasSubstr("sampled at their pixel centres"));
}

TEST_F(EvaluateCli, DepthOfOtherCamerasThanTheScenesFollowsTheRays) {
  write_scene();
  // Depth 2 where the scene's pixel is in the left half, else 3. The workspace sees the right half, enlarged
  // twice.
  Image<std::uint16_t> truth(4, 2, 2000);
  for (int y = 0; y < 2; ++y)
    for (int x = 2; x < 4; ++x) truth(x, y) = 3000;
  for (const char* name : {"v1.png", "v2.png"}) write_png16(folder_ / "scene/gt_depth" / name, truth.view());
  Scene dense = read_colmap_model(folder_ / "scene/sparse");
  dense.cameras = {{CameraModel::kPinhole, 4, 2, {8, 8, 0, 1}}};
  fs::create_directories(folder_ / "scene/dense/sparse");
  fs::create_directories(folder_ / "scene/dense/stereo/depth_maps");
  write_colmap_model(folder_ / "scene/dense/sparse", dense, ColmapFormat::kBinary);
  for (const char* name : {"v1.png.geometric.bin", "v2.png.geometric.bin"})
    write_depth_map(folder_ / "scene/dense/stereo/depth_maps" / name, Image<float>(4, 2, 3.0f).view());
  // The scene is found above the workspace, however the latter is written.
  for (const char* workspace : {"scene/dense", "scene/dense/", "./scene/../scene/dense/."}) {
    const auto figures =
        run(std::string("depth ") + workspace + " --ground-truth scene/gt_depth --json").json();
    EXPECT_EQ(figures["views"][0]["truth_sampling"], "cameras") << workspace;
    EXPECT_EQ(figures["all"]["known"], 16) << workspace;
    EXPECT_EQ(figures["all"]["within"][0]["of_known"], 1) << workspace;
  }
}

TEST_F(EvaluateCli, TheUnitOfThePngsIsTheUsersElseThatOfARenderedScene) {
  write_scene();
  fs::create_directories(folder_ / "dense/stereo/depth_maps");
  write_depth_map(folder_ / "dense/stereo/depth_maps/v1.png.geometric.bin", Image<float>(4, 2, 20.0f).view());
  const std::string arguments = "depth dense --ground-truth scene/gt_depth --views 'v1*' --json";
  EXPECT_EQ(run(arguments).json()["all"]["within"][0]["of_known"], 0);
  EXPECT_EQ(run(arguments + " --unit 0.01").json()["all"]["within"][0]["of_known"], 1);
  std::ofstream(folder_ / "scene/scene.json") << R"({"depth_png_levels_per_scene_unit": 100})";
  EXPECT_EQ(run(arguments).json()["all"]["within"][0]["of_known"], 1);
  EXPECT_EQ(run(arguments + " --unit -1").exit_code, 2);
  // The array of the same view needs no unit, and is preferred.
  write_depth_map(folder_ / "scene/gt_depth/v1.bin", Image<float>(4, 2, 40.0f).view());
  EXPECT_EQ(run(arguments).json()["all"]["median_error"], 0.5);
}

TEST_F(EvaluateCli, CloudAgainstTruthUsesTheVisibilityFile) {
  write_scene();
  // In view 2 the depth is 4. Pixel (3, 1), centre (3.5, 1.5): direction (0.375, 0.125, 1).
  Image<std::uint16_t> truth(4, 2, 4000);
  write_png16(folder_ / "scene/gt_depth/v2.png", truth.view());
  const Vec3d near{0.75, 0.25, 2}, far{1.5, 0.5, 4}, beside{50, 0, 2};
  write_cloud("a.ply", {near, far, far, beside}, {{0}, {0}, {1}, {0}});
  const auto figures = run("cloud a.ply --scene scene --json").json();
  EXPECT_EQ(figures["points"], 4);
  EXPECT_EQ(figures["points_on_truth"], 3);
  EXPECT_EQ(figures["points_left_out"], 1);
  EXPECT_EQ(figures["within_1_percent_counted"], 3);
  EXPECT_NEAR(figures["within_1_percent"], 2.0 / 3, 1e-12);
  EXPECT_EQ(figures["scores"][1]["precision"], 1);
  EXPECT_EQ(figures["scores"][1]["cloud_points"], 2);
  EXPECT_EQ(figures["scores"][1]["reference_points"], 15);
  EXPECT_NEAR(figures["scores"][1]["recall"], 2.0 / 15, 1e-12);
  EXPECT_EQ(run("cloud a.ply --scene scene --all-views --json").json()["within_1_percent"], 1);
  const std::string text = run("cloud a.ply --scene scene").out;
  EXPECT_THAT(text, HasSubstr("66.67 %"));
  EXPECT_THAT(text, HasSubstr("left out, as no ground truth is known where they project: 1\n"));
  EXPECT_THAT(text, HasSubstr("compared in the views that it was fused from"));
  EXPECT_THAT(run("cloud a.ply --scene scene --all-views").out, HasSubstr("compared in all views"));
  write_cloud("a.ply", {near}, {{0}});
  EXPECT_THAT(run("cloud a.ply --scene scene").out,
              AllOf(Not(HasSubstr("left out")), Not(HasSubstr("is it of this scene"))));
}

TEST_F(EvaluateCli, ACloudOfAnotherSceneIsDoubted) {
  write_scene();
  write_cloud("a.ply", {{50, 0, 2}, {0, 0, -2}}, {{0}, {1}});
  const Outcome outcome = run("cloud a.ply --scene scene");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out,
              HasSubstr("nothing of the cloud lies where the scene has ground truth: is it of this "
                        "scene?\n"));
  write_cloud("a.ply", {{0.5, 0, 40}}, {{0}});
  write_cloud("b.ply", {{0, 0, 2}}, {{0}});
  EXPECT_THAT(run("cloud a.ply --scene scene").out,
              HasSubstr("nothing of the cloud lies near the ground truth"));
  EXPECT_THAT(
      run("cloud a.ply --reference b.ply").out,
      HasSubstr("nothing of the cloud lies near the reference: is it of this scene, and in its units?"));
}

TEST_F(EvaluateCli, AFolderAboveTheGroundTruthIsNamedWithTheRightOne) {
  write_scene();
  fs::create_directories(folder_ / "dense/stereo/depth_maps");
  write_depth_map(folder_ / "dense/stereo/depth_maps/v1.png.geometric.bin", Image<float>(4, 2, 2.0f).view());
  write_cloud("a.ply", {{0, 0, 2}}, {{0}});
  for (const char* command : {"depth dense", "cloud a.ply --scene scene"}) {
    const Outcome outcome = run(std::string(command) + " --ground-truth scene");
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(outcome.err,
                HasSubstr("scene: holds no NAME.png or NAME.bin of the views; scene/gt_depth does\n"));
  }
  EXPECT_THAT(run("depth dense --ground-truth dense").err, Not(HasSubstr(" does")));
}

TEST_F(EvaluateCli, AVisibilityFileOfAnotherCloudIsRefused) {
  write_scene();
  write_cloud("a.ply", {{0, 0, 2}}, {{0}});
  write_cloud("b.ply", {{0, 0, 2}, {0, 0, 2}}, {{0}, {1}});
  fs::copy_file(folder_ / "b.ply.vis", folder_ / "a.ply.vis", fs::copy_options::overwrite_existing);
  const Outcome outcome = run("cloud a.ply --scene scene");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("a.ply.vis: byte 0: "));
  write_cloud("a.ply", {{0, 0, 2}}, {{7}});
  EXPECT_THAT(run("cloud a.ply --scene scene").err, HasSubstr("a.ply.vis: byte 12: view 7"));
}

TEST_F(EvaluateCli, CloudAgainstCloud) {
  write_cloud("a.ply", {{0, 0, 0}, {1, 0, 0}, {5, 0, 0}}, {{}, {}, {}});
  write_cloud("b.ply", {{0, 0, 0}, {1.05f, 0, 0}}, {{}, {}});
  const auto score = run("cloud a.ply --reference b.ply --thresholds 0.1 --json").json()["scores"][0];
  EXPECT_NEAR(score["precision"], 2.0 / 3, 1e-12);
  EXPECT_EQ(score["recall"], 1);
  EXPECT_EQ(run("cloud a.ply --reference a.ply --json").json()["scores"][0]["f1"], 1);
}

TEST_F(EvaluateCli, DisparityOfAPfmAgainstAnEightBitImage) {
  Image<std::uint8_t> truth(4, 1);
  const std::uint8_t steps[] = {40, 40, 40, 0};  // 10 pixels at four steps a pixel; the last is unknown
  Image<float> map(4, 1, 10.0f);
  for (int x = 0; x < 4; ++x) truth(x, 0) = steps[x];
  map(1, 0) = 13;
  map(2, 0) = kUnknown;
  write_image(folder_ / "truth.png", truth.view());
  write_pfm(folder_ / "map.pfm", map.view());
  const auto figures = run("disparity map.pfm --ground-truth truth.png --scale 4 --json").json();
  EXPECT_EQ(figures["known"], 3);
  EXPECT_EQ(figures["estimated"], 2);
  EXPECT_NEAR(figures["bad"][1]["of_known"], 2.0 / 3, 1e-12);
  EXPECT_EQ(figures["bad"][1]["of_estimated"], 0.5);
  EXPECT_EQ(figures["bad"][3]["of_estimated"], 0);
  EXPECT_EQ(figures["average_error"], 1.5);
  EXPECT_EQ(run("disparity map.pfm --ground-truth truth.png --scale 4 --unknown none --json").json()["known"],
            4);
  EXPECT_THAT(run("disparity map.pfm --ground-truth truth.png").out,
              HasSubstr("see --scale and --map-scale"));
}

TEST_F(EvaluateCli, SixteenBitPngsHave256StepsAPixelUnlessOthersAreNamed) {
  write_png16(folder_ / "a.png", Image<std::uint16_t>(2, 1, 2560).view());
  write_pfm(folder_ / "b.pfm", Image<float>(2, 1, 10.0f).view());
  for (const char* maps : {"a.png --ground-truth b.pfm", "b.pfm --ground-truth a.png",
                           "a.png --ground-truth a.png --scale 128 --map-scale 128"}) {
    const auto figures = run(std::string("disparity ") + maps + " --json").json();
    EXPECT_EQ(figures["average_error"], 0) << maps;
  }
  EXPECT_EQ(run("disparity a.png --ground-truth b.pfm --map-scale 128 --json").json()["average_error"], 10);
}

TEST_F(EvaluateCli, DisparityMapsOfDifferentSizesAreRefused) {
  write_pfm(folder_ / "a.pfm", Image<float>(2, 1, 1.0f).view());
  write_pfm(folder_ / "b.pfm", Image<float>(3, 1, 1.0f).view());
  const Outcome outcome = run("disparity a.pfm --ground-truth b.pfm");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("2x1"));
  EXPECT_THAT(outcome.err, HasSubstr("3x1"));
}

TEST_F(EvaluateCli, WithoutOneKnownPixelThereIsNothingToCompareWith) {
  write_scene();
  write_cloud("a.ply", {{0, 0, 2}}, {{0}});
  write_cloud("empty.ply", {}, {});
  fs::create_directories(folder_ / "dense/stereo/depth_maps");
  fs::create_directories(folder_ / "unknown");
  const Image<std::uint16_t> nothing(4, 2, 0);
  for (const char* name : {"v1.png", "v2.png"}) {
    write_png16(folder_ / "unknown" / name, nothing.view());
    write_depth_map(folder_ / "dense/stereo/depth_maps" / (std::string(name) + ".geometric.bin"),
                    Image<float>(4, 2, 2.0f).view());
  }
  write_pfm(folder_ / "map.pfm", Image<float>(4, 1, 1.0f).view());
  write_pfm(folder_ / "truth.pfm", Image<float>(4, 1, kUnknown).view());
  write_image(folder_ / "mask.png", Image<std::uint8_t>(4, 1, 0).view());
  for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
           {"disparity map.pfm --ground-truth truth.pfm", "truth.pfm: no pixel has a known disparity"},
           {"disparity map.pfm --ground-truth map.pfm --mask mask.png", "where the mask mask.png counts"},
           {"depth dense --ground-truth unknown --scene scene", "no pixel of any view has a known depth"},
           {"cloud a.ply --scene scene --ground-truth unknown", "no pixel of any view has a known depth"},
           {"cloud a.ply --reference empty.ply", "empty.ply: it has no points"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 3) << arguments << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
}

TEST_F(EvaluateCli, APgmWithMoreThanEightBitsIsRefusedRatherThanCut) {
  std::ofstream(folder_ / "a.pgm", std::ios::binary) << "P5\n# wide\n1 1\n65535\n" << std::string(2, '\1');
  const Outcome outcome = run("disparity a.pgm --ground-truth a.pgm");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("65535"));
}

/// The share of known pixels that the table of the stereo sets states, by counting of its own.
TEST_F(EvaluateCli, StereoSetsAgainstThemselves) {
  const fs::path stereo = fs::path(RECON_SHARED_DIR) / "stereo";
  if (!fs::is_directory(stereo)) GTEST_SKIP() << stereo << " is not there";
  struct Set {
    std::string name, map, scale;
    double known;
  };
  for (const Set& set : {Set{"tsukuba", "truedisp.row3.col3.pgm", "16", 0.793 * 384 * 288},
                         Set{"venus", "disp2.pgm", "8", 1.0 * 434 * 383},
                         Set{"teddy_half", "disp2.pgm", "2", 0.977 * 900 * 750},
                         Set{"motorcycle_quarter", "disp0GT.pfm", "1", 0.979 * 741 * 497}}) {
    const std::string folder = (stereo / set.name).string();
    const auto figures = run("disparity " + folder + "/" + set.map + " --map-scale " + set.scale +
                             " --ground-truth " + folder + " --json")
                             .json();
    EXPECT_NEAR(figures["known"].get<double>() / set.known, 1, 0.001) << set.name;
    EXPECT_EQ(figures["completeness"], 1) << set.name;
    EXPECT_EQ(figures["average_error"], 0) << set.name;
    const auto masked = run("disparity " + folder + "/" + set.map + " --map-scale " + set.scale +
                            " --ground-truth " + folder + " --mask nonocc --json")
                            .json();
    EXPECT_LT(masked["known"], figures["known"]) << set.name;
  }
}

TEST_F(EvaluateCli, PathsThatCannotBeLookedUpAreThree) {
  fs::create_symlink("loop", folder_ / "loop");
  write_cloud("cloud.ply", {{0, 0, 1}}, {{0}});
  for (const char* arguments : {"depth loop --ground-truth loop", "cloud cloud.ply --scene loop",
                                "disparity a.png --ground-truth loop"}) {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("Too many levels of symbolic links")) << arguments;
  }
}

/// Clouds unprojected here from the exact depth of two views have to be found right, and a shifted one
/// wrong.
TEST_F(EvaluateCli, CourtyardTruthScoresAlmostOne) {
  const fs::path courtyard = fs::path(RECON_SHARED_DIR) / "scenes-rendered/courtyard";
  if (!fs::is_directory(courtyard)) GTEST_SKIP() << courtyard << " is not there";
  fs::create_directories(folder_ / "gt");
  fs::create_directories(folder_ / "dense/stereo/depth_maps");
  const Scene scene = read_colmap_model(courtyard / "sparse");
  std::vector<Vec3d> exact, shifted;
  std::vector<std::vector<std::uint32_t>> views;
  for (const std::uint32_t index : {0u, 6u}) {
    const View& view = scene.views[index];
    fs::copy_file(courtyard / "gt_depth" / view.name, folder_ / "gt" / view.name);
    const Image<std::uint16_t> millimetres = read_png16(courtyard / "gt_depth" / view.name);
    const std::vector<double>& k = scene.cameras[view.camera].params;
    const Mat3d& r = view.cam_from_world.rotation;
    const Vec3d t = view.cam_from_world.translation;
    Image<float> depth(millimetres.width(), millimetres.height());
    for (int y = 0; y < depth.height(); ++y)
      for (int x = 0; x < depth.width(); ++x) {
        const double z = millimetres(x, y) / 1000.0;
        depth(x, y) = static_cast<float>(z);
        if (z == 0) continue;
        const double c[] = {(x + 0.5 - k[2]) / k[0] * z - t.x, (y + 0.5 - k[3]) / k[1] * z - t.y, z - t.z};
        Vec3d world{};
        double* axes[] = {&world.x, &world.y, &world.z};
        for (int i = 0; i < 3; ++i) *axes[i] = r(0, i) * c[0] + r(1, i) * c[1] + r(2, i) * c[2];
        exact.push_back(world);
        shifted.push_back(world + 0.2 * Vec3d{0, 0, 1});
        views.push_back({index});
      }
    write_depth_map(folder_ / "dense/stereo/depth_maps" / (view.name + ".geometric.bin"), depth.view());
  }
  write_cloud("exact.ply", exact, views);
  write_cloud("shifted.ply", shifted, views);
  const std::string truth = " --scene '" + courtyard.string() + "' --ground-truth gt --json";
  const auto figures = run("cloud exact.ply" + truth).json();
  EXPECT_GE(figures["within_1_percent"], 0.999);
  for (const auto& score : figures["scores"])
    for (const char* figure : {"precision", "recall", "f1"}) EXPECT_GE(score[figure], 0.99) << score;
  const auto wrong = run("cloud shifted.ply" + truth).json();
  EXPECT_LT(wrong["within_1_percent"], 0.7);
  EXPECT_LT(wrong["scores"][0]["f1"], 0.7);
  const auto depth = run("depth dense --ground-truth gt --json").json();
  EXPECT_EQ(depth["all"]["completeness"], 1);
  EXPECT_EQ(depth["all"]["within"][0]["of_known"], 1);
}

}  // namespace
}  // namespace recon
