// Scenes in the formats of nerfstudio and MVSNet, converted from a COLMAP scene.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cli/scene_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/model/colmap_model.hpp"
#include "io/model/format_writers.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

const fs::path kDemo = RECON_SOURCE_DIR "/scenes/demo";

class ReconstructImport : public SceneTest {
 protected:
  ReconstructImport() : model_(read_colmap_model(kDemo / "sparse")) {
    for (const char* name : {"colmap", "nerf", "mvsnet"}) {
      fs::create_directories(folder() / "session" / name);
      fs::create_directory_symlink(kDemo / "images", folder() / "session" / name / "images");
    }
    Scene without_points = model_;
    without_points.points.clear();
    for (View& view : without_points.views) view.observations.clear();
    fs::create_directories(scene_in("colmap") / "sparse");
    write_colmap_model(scene_in("colmap") / "sparse", without_points, ColmapFormat::kText);
    fs::remove(scene_in("colmap") / "sparse/points3D.txt");
    set_content(scene_in("nerf") / "transforms.json", nerf_text(model_, "images/"));
    fs::create_directories(scene_in("mvsnet") / "cams");
    for (std::size_t v = 0; v < model_.views.size(); ++v)
      set_content(camera_file(model_.views[v].name), mvsnet_text(model_, v));
  }

  fs::path scene_in(const char* format) const { return folder() / "session" / format; }
  fs::path camera_file(const fs::path& photo) const {
    return scene_in("mvsnet") / "cams" / (photo.stem().string() + "_cam.txt");
  }

  /// Gives a scene photos of its own, which a test may change.
  void own_images(const char* format) const {
    fs::remove(scene_in(format) / "images");
    fs::copy(kDemo / "images", scene_in(format) / "images");
  }

  Scene model_;
};

// The conversion rounds centres of cameras, and rotations become quaternions on the way: poses differ by
// 1e-15. Depths are estimated in floats of relative poses, in which that vanishes. Points are rounded to
// floats: where one lies between two floats, it may become either, which are 5e-7 apart.
TEST_F(ReconstructImport, GivesTheCloudOfTheColmapFolderWithoutPoints) {
  const Outcome outcome =
      reconstruct({(folder() / "session").string(), "--planes", "32", "--optimizer", "winner"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const PlyCloud expected = read_ply(scene_in("colmap") / "dense/fused.ply");
  ASSERT_GT(expected.positions.size(), 30000u);
  for (const char* format : {"nerf", "mvsnet"}) {
    const PlyCloud cloud = read_ply(scene_in(format) / "dense/fused.ply");
    ASSERT_EQ(cloud.positions.size(), expected.positions.size()) << format;
    EXPECT_TRUE(cloud.colours == expected.colours) << format;
    double difference = 0;
    for (std::size_t i = 0; i < cloud.positions.size(); ++i)
      difference = std::max(difference, norm(cloud.positions[i] - expected.positions[i]));
    EXPECT_LT(difference, 1e-6) << format;
  }
}

TEST_F(ReconstructImport, NamesThatLeadOutsideAreThree) {
  std::string text = content(scene_in("nerf") / "transforms.json");
  text.replace(text.find("images/view08"), 13, "../../session/nerf/images/view08");
  set_content(scene_in("nerf") / "transforms.json", text);
  const Outcome outcome = reconstruct({scene_in("nerf").string()});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(
      outcome.err,
      HasSubstr("transforms.json: frames[0].file_path: the path \"../../session/nerf/images/view08.jpg\""));
  EXPECT_FALSE(fs::exists(scene_in("nerf") / "dense/fused.ply"));
}

TEST_F(ReconstructImport, ACorruptMatrixLeavesItsViewOutAndIsSeven) {
  set_content(camera_file("view03.jpg"), "extrinsic\n1 0 0 0\n0 1 0 0\n0 0 7 0\n0 0 0 1\n");
  const Outcome outcome = reconstruct({scene_in("mvsnet").string(), "--dry-run", "--json"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("view03_cam.txt:5: the upper left 3x3 matrix R is no rotation"));
  EXPECT_EQ(outcome.json().at("scenes").at(0).at("views").size(), model_.views.size() - 1);
}

TEST_F(ReconstructImport, AMissingPhotoLeavesItsViewOutAndIsSeven) {
  fs::copy(camera_file("view03.jpg"), camera_file("view99.jpg"));
  const Outcome outcome = reconstruct({scene_in("mvsnet").string(), "--dry-run", "--json"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("view99.jpg is left out: " + (scene_in("mvsnet") / "images/view99.jpg").string() +
                        ": there is no such photo, nor one of another kind"));
  const auto left_out = outcome.json().at("scenes").at(0).at("left_out");
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out.at(0).at("name"), "view99.jpg");
}

TEST_F(ReconstructImport, AnUnreadablePhotoOfASceneWithoutSizesLeavesItsViewOutAndIsSeven) {
  own_images("nerf");
  fs::resize_file(scene_in("nerf") / "images/view04.jpg", 100);
  std::string text = content(scene_in("nerf") / "transforms.json");
  const std::size_t sizes = text.find("\"w\"");
  text.erase(sizes, text.find("\"fl_x\"") - sizes);
  set_content(scene_in("nerf") / "transforms.json", text);
  const Outcome outcome = reconstruct({scene_in("nerf").string(), "--dry-run", "--json"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  const auto plan = outcome.json().at("scenes").at(0);
  EXPECT_EQ(plan.at("views").size(), model_.views.size() - 1);
  ASSERT_EQ(plan.at("left_out").size(), 1u);
  EXPECT_EQ(plan.at("left_out").at(0).at("name"), "images/view04.jpg");
}

TEST_F(ReconstructImport, ShardsShareTheViewsWhateverPhotoOneOfThemCannotRead) {
  const auto estimate = [&](const char* shard) {
    return reconstruct({scene_in("mvsnet").string(), "--max-image-size", "160", "--stage", "estimate",
                        "--shard", shard})
        .exit_code;
  };
  EXPECT_EQ(estimate("1/2"), 0);
  own_images("mvsnet");
  fs::remove(scene_in("mvsnet") / "images/view00.jpg");
  EXPECT_EQ(estimate("2/2"), 7);
  for (const View& view : model_.views)
    EXPECT_TRUE(fs::exists(scene_in("mvsnet") / "dense/stereo/depth_maps" / (view.name + ".photometric.bin")))
        << view.name;
}

}  // namespace
}  // namespace recon
