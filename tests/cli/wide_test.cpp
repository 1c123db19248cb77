// Photos wider than a pinhole: panoramas and fisheye lenses become pinhole views of a dense workspace.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/scene_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "io/model/colmap_model.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kPhotos = 4, kSides = 6;

class WideViews : public SceneTest {
 protected:
  WideViews() {
    const Outcome outcome = run_program(
        folder(), {RECON_RENDER, RECON_SOURCE_DIR "/scenes/panorama.json", panoramas().string(), "--quiet",
                   "--ground-truth", "none", "--width", "400", "--views", "4", "--samples", "2"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  /// Renders photos of 190 degrees.
  fs::path fisheye(const std::string& width = "200") const {
    std::string text = content(RECON_SOURCE_DIR "/scenes/fisheye.json");
    const std::string focal = "[250, 250, ";
    EXPECT_NE(text.find(focal), std::string::npos);
    text.replace(text.find(focal), focal.size(), "[190, 190, ");
    set_content(folder() / "fisheye.json", text);
    const fs::path scene = folder() / "fisheye";
    const Outcome rendered =
        run_program(folder(), {RECON_RENDER, (folder() / "fisheye.json").string(), scene.string(), "--quiet",
                               "--ground-truth", "none", "--width", width, "--views", "4", "--samples", "2"});
    EXPECT_EQ(rendered.exit_code, 0) << rendered.err;
    return scene;
  }

  fs::path panoramas() const { return folder() / "panoramas"; }
  fs::path result() const { return panoramas() / "dense"; }
  Outcome run(const std::vector<std::string>& more = {}) const { return run_with("--quality=draft", more); }
  Outcome plan(const std::vector<std::string>& more) const { return run_with("--dry-run", more); }
  Outcome run_with(const std::string& first, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {panoramas().string(), first};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return reconstruct(arguments);
  }
  std::set<std::string> planned(std::vector<std::string> more) const {
    more.push_back("--json");
    const Outcome outcome = plan(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::set<std::string> names;
    const nlohmann::json summary = outcome.json();
    for (const auto& view : summary.at("scenes").at(0).at("views")) names.insert(view.at("name"));
    return names;
  }
};

/// Parts of a photo share its prior, or have one each.
TEST_F(WideViews, TakePriorsOfTheirPhoto) {
  const fs::path maps = folder() / "maps";
  fs::create_directories(maps);
  for (const View& view : read_colmap_model(panoramas() / "sparse").views)
    write_pfm(maps / (view.name + ".pfm"), Image<float>(400, 200, 2.0f).view());
  const std::vector<std::string> words = {"--prior-maps", maps.string(), "--refine", "patches"};
  const Outcome outcome = plan(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("warning")));
  const std::string of_a_part = *planned({}).begin();
  write_pfm(maps / (of_a_part + ".pfm"), Image<float>(40, 400, 2.0f).view());
  EXPECT_THAT(plan(words).err, HasSubstr(of_a_part + ": its prior is not used"));
}

TEST_F(WideViews, AreViewsOfADenseWorkspace) {
  const Outcome outcome = run();
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("warning")));
  EXPECT_THAT(outcome.err, HasSubstr("4 photos see more than 110 degrees: they become 24 pinhole views"));
  const Scene photos = read_colmap_model(panoramas() / "sparse"),
              dense = read_colmap_model(result() / "sparse");
  ASSERT_EQ(dense.views.size(), static_cast<std::size_t>(kPhotos * kSides));
  std::set<std::uint32_t> ids;
  for (const View& view : dense.views) {
    EXPECT_TRUE(ids.insert(view.id).second);
    EXPECT_EQ(dense.cameras[static_cast<std::size_t>(view.camera)].model, CameraModel::kPinhole);
    EXPECT_TRUE(fs::exists(result() / "images" / view.name)) << view.name;
    EXPECT_TRUE(fs::exists(result() / "stereo/depth_maps" / (view.name + ".geometric.bin"))) << view.name;
    const auto photo = std::find_if(photos.views.begin(), photos.views.end(), [&](const View& it) {
      return view.name.starts_with(it.name.substr(0, it.name.find('.')) + ".");
    });
    ASSERT_NE(photo, photos.views.end()) << view.name;
    EXPECT_LT(norm(camera_centre(view.cam_from_world) - camera_centre(photo->cam_from_world)), 1e-9);
  }
  const auto report = nlohmann::json::parse(content(result() / "report.json"));
  for (const auto& view : report.at("views")) {
    const std::string photo = view.at("photo");
    for (const auto& source : view.at("sources"))
      EXPECT_THAT(source.get<std::string>(), Not(testing::StartsWith(photo.substr(0, 7)))) << "no baseline";
  }
  const std::string taken = "results of reconstruct, whose undistorted images are taken as a scene";
  EXPECT_THAT(outcome.err, Not(HasSubstr(taken)));
  EXPECT_THAT(reconstruct({result().string(), "--dry-run"}).err, HasSubstr(result().string() + ": " + taken));
}

TEST_F(WideViews, OfOnePhotoAreOneViewOfAPoint) {
  ASSERT_EQ(run().exit_code, 0);
  const Scene dense = read_colmap_model(result() / "sparse");
  std::map<std::string, std::set<std::uint32_t>> points_of_photo;
  std::size_t points = 0;
  const auto lists = read_visibility(result() / "fused.ply.vis",
                                     read_ply(result() / "fused.ply").positions.size(), dense.views.size());
  for (std::size_t view = 0; view < lists.size(); ++view)
    for (const std::uint32_t point : lists[view]) {
      const std::string photo = dense.views[view].name.substr(0, dense.views[view].name.find('.'));
      ASSERT_TRUE(points_of_photo[photo].insert(point).second) << "twice in " << photo;
      ++points;
    }
  EXPECT_GT(points, 10000u);
}

TEST_F(WideViews, AreKeptByTheNextRun) {
  ASSERT_EQ(run().exit_code, 0);
  const auto before = results(result());
  const Outcome again = run();
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(same_results(before, results(result())));
  const auto report = nlohmann::json::parse(content(result() / "report.json"));
  for (const auto& view : report.at("views")) EXPECT_TRUE(view.at("kept")) << view.at("name");
}

TEST_F(WideViews, AreChosenByTheNameOfTheirPhotoOrTheirOwn) {
  EXPECT_EQ(planned({"--views", "view01.png", "--stage", "estimate"}),
            (std::set<std::string>{"view01.back.png", "view01.down.png", "view01.front.png",
                                   "view01.left.png", "view01.right.png", "view01.up.png"}));
  EXPECT_EQ(planned({"--views", "*.front.png"}),
            (std::set<std::string>{"view00.front.png", "view01.front.png", "view02.front.png",
                                   "view03.front.png"}));
  EXPECT_EQ(planned({"--stage", "estimate", "--shard", "2/4"}).size(), static_cast<std::size_t>(kSides));
}

TEST_F(WideViews, GiveTheSameInShards) {
  ASSERT_EQ(run({"-o", (folder() / "whole").string()}).exit_code, 0);
  for (const char* shard : {"1/2", "2/2"})
    ASSERT_EQ(run({"--stage", "estimate", "--shard", shard}).exit_code, 0);
  const Outcome fused = run({"--stage", "fuse"});
  ASSERT_EQ(fused.exit_code, 0) << fused.err;
  EXPECT_TRUE(same_results(results(folder() / "whole"), results(result())));
}

TEST_F(WideViews, ShrinkAsTheirPhotoDoes) {
  const Outcome outcome = plan({"--json", "--max-image-size", "200"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Outcome whole = plan({"--json"});
  EXPECT_EQ(whole.json().at("scenes").at(0).at("views").at(0).at("width"), 138);  // 2 tan(47) 400 / 2 pi
  EXPECT_EQ(outcome.json().at("scenes").at(0).at("views").at(0).at("width"), 69);
}

TEST_F(WideViews, CutTheMasksOfTheirPhotos) {
  Image<std::uint8_t> mask(400, 200, 255);
  for (int y = 0; y < 200; ++y)
    for (int x = 150; x < 250; ++x) mask(x, y) = 0;  // in front, from pole to pole
  fs::create_directories(panoramas() / "masks");
  write_image(panoramas() / "masks/view02.png.png", mask.view());
  const Outcome outcome = run();
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto masked = [&](const std::string& name) {
    const fs::path path = result() / "masks" / (name + ".png");
    EXPECT_TRUE(fs::exists(path)) << path;
    if (!fs::exists(path)) return -1.0;
    const Image<std::uint8_t> cut = decode_mask(content(path), name);
    double ignored = 0;
    for (int y = 0; y < cut.height(); ++y)
      for (int x = 0; x < cut.width(); ++x) ignored += cut(x, y) == 0;
    return ignored / (cut.width() * cut.height());
  };
  EXPECT_GT(masked("view02.front.png"), 0.9);
  EXPECT_LT(masked("view02.left.png"), 0.05);
  EXPECT_EQ(masked("view02.back.png"), 0);
  EXPECT_NEAR(masked("view02.up.png"), 0.25, 0.03);
  EXPECT_FALSE(fs::exists(result() / "masks/view01.front.png.png"));
}

TEST_F(WideViews, AMissingOrDamagedPhotoIsLeftOutOnce) {
  fs::remove(panoramas() / "images/view00.png");
  set_content(panoramas() / "images/view03.png", content(panoramas() / "images/view03.png").substr(0, 5000));
  const Outcome outcome = run();
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  const auto report = nlohmann::json::parse(content(result() / "report.json"));
  ASSERT_EQ(report.at("left_out").size(), 2u) << report.at("left_out");
  EXPECT_EQ(report.at("left_out").at(0).at("name"), "view00.png");
  EXPECT_EQ(report.at("left_out").at(1).at("name"), "view03.png");
  EXPECT_EQ(report.at("views").size(), 2u * kSides);
}

TEST_F(WideViews, OfOnePhotoAreTooFew) {
  for (const char* name : {"view01.png", "view02.png", "view03.png"})
    fs::remove(panoramas() / "images" / name);
  const Outcome outcome = run();
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("too few views: 1 of 4 can be used"));
}

/// With the side and the endings of results it would be longer than names of files may be.
TEST_F(WideViews, WhosePhotoHasALongNameAreLeftOut) {
  const std::string longer = std::string(230, 'n') + ".png";
  fs::rename(panoramas() / "images/view00.png", panoramas() / "images" / longer);
  Scene model = read_colmap_model(panoramas() / "sparse");
  for (View& view : model.views)
    if (view.name == "view00.png") view.name = longer;
  write_colmap_model(panoramas() / "sparse", model, ColmapFormat::kText);
  const Outcome outcome = run();
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("its name has 234 bytes; with at most 233"));
}

TEST_F(WideViews, OfOnePlaceHaveNoBaseline) {
  Scene model = read_colmap_model(panoramas() / "sparse");
  for (View& view : model.views) view.cam_from_world.translation = {0, 0, 0}, view.observations.clear();
  model.points.clear();
  write_colmap_model(panoramas() / "sparse", model, ColmapFormat::kText);
  const Outcome outcome = run();
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("all 4 photos were taken from the same place"));
}

TEST_F(WideViews, OfAFisheyeIgnoreWhatLiesOutsideThePhoto) {
  const fs::path scene = fisheye();
  const Outcome outcome = reconstruct({scene.string()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("warning")));
  EXPECT_TRUE(fs::exists(scene / "dense/masks/view00.left.png.png"));
  EXPECT_TRUE(fs::exists(scene / "dense/images/view00.up.png"));
  EXPECT_FALSE(fs::exists(scene / "dense/images/view00.back.png"));
}

/// What changes the pinholes that a photo became is no advice about its lens.
TEST_F(WideViews, OfATurnedPhotoThatSharesNoCornersAreNamedOnce) {
  const fs::path scene = folder() / "eight";
  const Outcome rendered =
      run_program(folder(), {RECON_RENDER, RECON_SOURCE_DIR "/scenes/panorama.json", scene.string(),
                             "--quiet", "--ground-truth", "none", "--width", "400", "--samples", "2"});
  ASSERT_EQ(rendered.exit_code, 0) << rendered.err;
  Scene model = read_colmap_model(scene / "sparse");
  for (View& view : model.views) view.observations.clear();
  model.points.clear();
  const auto said = [&] {
    fs::remove_all(scene / "sparse");
    write_colmap_model(scene / "sparse", model, ColmapFormat::kText);
    const Outcome outcome =
        reconstruct({scene.string(), "--json", "--overwrite", "--quality", "draft", "--planes", "24",
                     "--refine", "none", "--depth-min", "0.3", "--depth-max", "6"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.json().at("scenes").at(0).at("warnings").get<std::vector<std::string>>();
  };
  EXPECT_THAT(said(), testing::IsEmpty());
  const double c = std::cos(0.3),
               s = std::sin(0.3);  // about the x axis: no band of epipolar lines meets another
  model.views[1].cam_from_world =
      Pose{{{1, 0, 0, 0, c, -s, 0, s, c}}, {0, 0, 0}} * model.views[1].cam_from_world;
  EXPECT_THAT(said(), testing::ElementsAre(testing::AllOf(
                          HasSubstr("view01.png: it does not go together with the other photos: other views "
                                    "confirm "),
                          HasSubstr(" % of those of all views, and they show next to nothing of it"))));
}

TEST_F(WideViews, HaveGivenMapsInTheSizesOfTheirPhotos) {
  // Maps of the faces of photos of 186 pixels, for photos of 400.
  fs::create_directories(folder() / "maps");
  for (const std::string& view : planned({}))
    write_pfm(folder() / "maps" / (view + ".pfm"), Image<float>(64, 64, 1.5f).view());
  const Outcome given = plan({"--depth-maps", (folder() / "maps").string()});
  EXPECT_EQ(given.exit_code, 0) << given.err;
  EXPECT_THAT(given.err,
              HasSubstr("fewer pixels than the images, such as 64x64 for view00.back.png, whose image "
                        "has 138x138: a value that is taken for several pixels is no surface, so that edges "
                        "and slopes have steps; where all maps are so small, give --max-image-size 186\n"));
  EXPECT_THAT(plan({"--depth-maps", (folder() / "maps").string(), "--max-image-size", "186"}).err,
              Not(HasSubstr("fewer pixels")));
}

TEST_F(WideViews, WithAnotherLensAreNotAdvisedAsPinholes) {
  const fs::path scene = fisheye("300");
  Scene model = read_colmap_model(scene / "sparse");
  for (double* focal : {&model.cameras[0].params[0], &model.cameras[0].params[1]}) *focal *= 1.12;
  for (View& view : model.views) view.observations.clear();
  model.points.clear();
  fs::remove_all(scene / "sparse");
  write_colmap_model(scene / "sparse", model, ColmapFormat::kText);
  const Outcome outcome = reconstruct({scene.string()});
  EXPECT_THAT(outcome.err, HasSubstr("do not fit the cameras: with other parameters of the lens, corners"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("k1")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("focal lengths times")));
}

}  // namespace
}  // namespace recon
