// Photos, models and depth maps that do not lie where the model names them, and names in other encodings.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/foreign_input_fixture.hpp"
#include "io/model/colmap_model.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(ForeignInput, PhotosWithoutTheFoldersOfTheModelGiveTheSameCloud) {
  const std::string expected = cloud_in("plain");
  Scene in_folders = model();
  for (std::size_t i = 0; i < in_folders.views.size(); ++i)
    in_folders.views[i].name = (i < 3 ? "left/day 1/" : "right/") + in_folders.views[i].name;
  const Scene flat = model();
  fs::create_directories(scene() / "images/left/day 1"), fs::create_directories(scene() / "images/right");
  for (std::size_t i = 0; i < in_folders.views.size(); ++i)
    fs::rename(photo(flat.views[i]), scene() / "images" / in_folders.views[i].name);
  // The model of a folder below, as with --images of one too high.
  EXPECT_TRUE(cloud_in("deeper") == expected);
  EXPECT_THAT(content(folder() / "deeper/report.json"),
              HasSubstr("5 of 5 photos are not where the model names them"));
  // The model of a folder above, in part as Windows names it.
  restore_photos();
  in_folders.views[4].name = "right\\" + flat.views[4].name;
  set_model(in_folders);
  EXPECT_TRUE(cloud_in("flat") == expected);
  EXPECT_THAT(content(folder() / "flat/report.json"),
              HasSubstr("5 of 5 photos are not where the model names them"));
}

TEST_F(ForeignInput, PhotosWhoseNamesAreNotUniqueAreNamedAndNotGuessed) {
  Scene doubled = model();
  doubled.views[0].name = "left/a.png";
  doubled.views[1].name = "right/a.png";
  doubled.views[2].name = "other/" + model().views[2].name;
  const Scene flat = model();
  set_model(doubled);
  fs::rename(photo(flat.views[0]), scene() / "images/a.png");
  fs::remove(photo(flat.views[1]));
  fs::create_directories(scene() / "images/third");
  fs::rename(photo(flat.views[2]), scene() / "images/third" / flat.views[2].name);
  const Outcome outcome = reconstruct({scene().string(), "--dry-run", "--json"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("a.png may be the photo of 2 views, such as left/a.png"));
  EXPECT_EQ(outcome.json().at("scenes").at(0).at("left_out").size(), 3u)
      << "third/NAME is not the end of other/NAME, nor the reverse";
}

TEST_F(ForeignInput, AModelElsewhereInTheFolderIsFoundWhereThePhotosAreNamed) {
  const std::string expected = cloud_in("plain");
  Scene small = model();
  fs::create_directories(scene() / "outputs/first");
  fs::rename(scene() / "sparse", scene() / "outputs/sfm");
  fs::rename(scene() / "images", scene() / "datasets");
  const std::vector<std::string> images = {"--images", "datasets"};
  EXPECT_TRUE(cloud_in("sfm", images) == expected);
  small.views.resize(2);
  small.points.clear();
  for (View& view : small.views) view.observations.clear();
  write_colmap_model(scene() / "outputs/first", small, ColmapFormat::kBinary);
  EXPECT_TRUE(cloud_in("largest", images) == expected);
  EXPECT_THAT(content(folder() / "largest/report.json"), HasSubstr("outputs/sfm has 5 images and is read"));
  const Outcome itself = reconstruct({(scene() / "outputs/sfm").string(), "--images",
                                      (scene() / "datasets").string(), "-o", (folder() / "itself").string()});
  EXPECT_EQ(itself.exit_code, 0) << itself.err;
  EXPECT_TRUE(content(folder() / "itself/fused.ply") == expected);
  fs::remove_all(scene() / "outputs");
  const Outcome none = reconstruct({scene().string(), "--images", "datasets"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, AllOf(HasSubstr("it has no model"), Not(HasSubstr("--images names another"))));
}

TEST_F(ForeignInput, ScenesOfASessionKeepTheirModelsWhereThePhotosAreNamed) {
  const fs::path session = folder() / "session";
  for (const char* name : {"a", "b"}) copy_scene(session / name);
  const Outcome outcome =
      reconstruct({session.string(), "--images", (scene() / "images").string(), "--dry-run", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.json().at("scenes").size(), 2u);
}

TEST_F(ForeignInput, DepthMapsAreFoundAsTheFramesNameThem) {
  cloud_in("own");
  const auto maps_of = [&](const fs::path& root, const std::string& below) {
    fs::create_directories(root / below);
    for (const View& view : model().views)
      fs::copy(folder() / "own/stereo/depth_maps" / (view.name + ".photometric.bin"),
               root / below / ("d_" + fs::path(view.name).stem().string() + ".bin"));
  };
  const auto fused = [&](const fs::path& root, const std::string& maps) {
    const Outcome outcome = reconstruct({root.string(), "--depth-maps", maps, "--dry-run"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr("no depth map")));
  };
  const auto named = [&](const std::string& folder_of_map) {
    return [folder_of_map](const View& view) {
      return ", \"depth_file_path\": \"" + folder_of_map + "d_" + fs::path(view.name).stem().string() +
             ".bin\"";
    };
  };
  const fs::path relative = nerf_scene("relative", named("depth/day/"));
  maps_of(relative, "depth/day");
  for (const char* maps : {"depth", "depth/day", "."}) fused(relative, maps);
  const fs::path absolute = nerf_scene("absolute", named("/home/other/depth/"));
  maps_of(absolute, "depth");
  fused(absolute, "depth");
  const fs::path windows = nerf_scene("windows", named("C:\\\\data\\\\depth\\\\"));
  maps_of(windows, "depth");
  fused(windows, "depth");
}

TEST_F(ForeignInput, DepthMapsBesideAFolderOfPhotosAreFoundByTheEndOfTheirNames) {
  cloud_in("own");
  const fs::path root = nerf_scene("rgb", [](const View&) { return ""; });
  std::string text = content(root / "transforms.json");
  for (std::size_t at = 0; (at = text.find("images/", at)) != std::string::npos;) text.replace(at, 7, "rgb/");
  set_content(root / "transforms.json", text);
  fs::rename(root / "images", root / "rgb");
  fs::create_directories(root / "depth");
  for (const View& view : model().views)
    fs::copy(folder() / "own/stereo/depth_maps" / (view.name + ".photometric.bin"),
             root / "depth" / (fs::path(view.name).stem().string() + ".bin"));
  const Outcome outcome = reconstruct({root.string(), "--depth-maps", "depth", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("no depth map")));
  // The same name in two folders says nothing.
  const std::string first = model().views[0].name, second = model().views[1].name;
  fs::create_directories(root / "rgb/b");
  fs::rename(root / "rgb" / second, root / "rgb/b" / first);
  text.replace(text.find("rgb/" + second), 4 + second.size(), "rgb/b/" + first);
  set_content(root / "transforms.json", text);
  const Outcome doubled = reconstruct({root.string(), "--depth-maps", "depth", "--dry-run"});
  EXPECT_THAT(doubled.err, HasSubstr("2 of 5 views have no depth map there"));
}

TEST_F(ForeignInput, NamesThatAreNotUtf8AreNamedWithTheFileThatIsMeant) {
  const std::string latin = "caf\xE9.png", utf8 = "caf\xC3\xA9.png", decomposed = "cafe\xCC\x81.png";
  const View view = model().views[2];
  const fs::path original = photo(view);
  Scene renamed = model();
  renamed.views[2].name = latin;
  set_model(renamed);
  for (const std::string& name : {utf8, decomposed}) {
    fs::rename(original, scene() / "images" / name);
    const Outcome outcome = reconstruct({scene().string(), "--dry-run"});
    EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("caf\\xE9.png is left out: "),
                      HasSubstr("images/caf\\xE9.png: there is no such photo (there is " + name)));
    fs::rename(scene() / "images" / name, original);
  }
  fs::rename(original, scene() / "images" / latin);
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(content(dense() / "report.json"),
              HasSubstr("the names of 1 of 5 photos, such as \\\"caf\\\\xE9.png\\\", are not UTF-8"));
}

TEST_F(ForeignInput, APrincipalPointThatNoPhotoHasIsTheCause) {
  for (const Vec2d centre : {Vec2d{0, 0}, Vec2d{0.5, 0.5}, Vec2d{48, 0}, Vec2d{96, 72}}) {
    restore_photos();
    Scene wrong = model();
    for (Camera& camera : wrong.cameras) camera.params[2] = centre.x, camera.params[3] = centre.y;
    set_model(wrong);
    const Outcome outcome = reconstruct({scene().string(), "--dry-run"});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_THAT(outcome.err,
                HasSubstr("is far from the middle of the photo of 96x72: it has to be in pixels"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("usual causes")));
  }
}

}  // namespace
}  // namespace recon
