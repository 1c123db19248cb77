// Inputs as other programs and cameras make them: the same scene has to come out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "cli/scene_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"
#include "io/model/format_writers.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ForeignInput : public SceneTest {
 protected:
  fs::path photo(const View& view) const { return scene() / "images" / view.name; }

  void restore_photos() const {
    fs::remove_all(scene());
    copy_scene(scene());
  }

  /// Replaces all photos by what `change` makes of them.
  void change_photos(const std::function<cv::Mat(const cv::Mat&)>& change) const {
    for (const View& view : model().views)
      cv::imwrite(photo(view).string(), change(cv::imread(photo(view).string(), cv::IMREAD_COLOR)));
  }

  /// Runs the scene to folder()/`output` and returns its cloud.
  std::string cloud_in(const char* output, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {scene().string(), "-o", (folder() / output).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = reconstruct(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string cloud = content(folder() / output / "fused.ply");
    EXPECT_GT(cloud.size(), 1000u);
    return cloud;
  }

  /// A mask of the photos that ignores a block.
  static cv::Mat block_mask(std::uint8_t ignored, std::uint8_t kept) {
    cv::Mat mask(72, 96, CV_8UC1, cv::Scalar(kept));
    mask(cv::Rect(30, 20, 25, 30)).setTo(cv::Scalar(ignored));
    return mask;
  }

  /// The scene as a transforms.json in folder()/`name`, with what `members` says of each photo.
  fs::path nerf_scene(const std::string& name, const std::function<std::string(const View&)>& members) const {
    const fs::path root = folder() / name;
    fs::create_directories(root);
    fs::copy(scene() / "images", root / "images");
    std::string text = nerf_text(model(), "images/");
    for (const View& view : model().views) {
      const std::string path = "\"images/" + view.name + "\"";
      text.insert(text.find(path) + path.size(), members(view));
    }
    set_content(root / "transforms.json", text);
    return root;
  }

  std::string cloud_of(const fs::path& root) const {
    const Outcome outcome = reconstruct({root.string()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return content(root / "dense/fused.ply");
  }
};

TEST_F(ForeignInput, PhotosOfAnyBitDepthGiveTheSameCloud) {
  const std::string expected = cloud_in("of_8_bits");
  for (int bits = 8; bits <= 16; ++bits) {
    restore_photos();
    const double scale = ((1 << bits) - 1) / 255.0;
    change_photos([&](const cv::Mat& pixels) {
      cv::Mat deep;
      pixels.convertTo(deep, CV_16U, scale);
      return deep;
    });
    EXPECT_TRUE(cloud_in("deep", {"--overwrite"}) == expected) << bits << " bits";
    if (bits == 16) continue;
    const fs::path image = folder() / "deep/images" / model().views[0].name;
    EXPECT_EQ(cv::imread(image.string(), cv::IMREAD_UNCHANGED).depth(), CV_8U)
        << "for whoever opens the folder";
  }
}

// 14 bits of which a scene uses a few: spread, and not black.
TEST_F(ForeignInput, PhotosOfThermalCamerasAreSpread) {
  change_photos([](const cv::Mat& pixels) {
    cv::Mat grey;
    cv::cvtColor(pixels, grey, cv::COLOR_BGR2GRAY);
    cv::cvtColor(grey, grey, cv::COLOR_GRAY2BGR);
    return grey;
  });
  const std::string expected = cloud_in("of_8_bits");
  double min = 255, max = 0;
  for (const View& view : model().views) {
    double low = 0, high = 0;
    cv::minMaxLoc(cv::imread(photo(view).string(), cv::IMREAD_GRAYSCALE), &low, &high);
    min = std::min(min, low), max = std::max(max, high);
  }
  change_photos([](const cv::Mat& pixels) {
    cv::Mat grey, deep;
    cv::cvtColor(pixels, grey, cv::COLOR_BGR2GRAY);
    grey.convertTo(deep, CV_16U, 4, 7000);
    return deep;
  });
  cloud_in("thermal");
  const PlyCloud cloud = read_ply(folder() / "thermal/fused.ply"),
                 of_8 = read_ply(folder() / "of_8_bits/fused.ply");
  EXPECT_GT(cloud.positions.size(), of_8.positions.size() * 9 / 10);
  int darkest = 255, brightest = 0;
  for (const Rgb8 colour : cloud.colours)
    darkest = std::min<int>(darkest, colour.r), brightest = std::max<int>(brightest, colour.r);
  EXPECT_LT(darkest, 40);
  EXPECT_GT(brightest, 200);
}

TEST_F(ForeignInput, ADeeperPhotoMakesTheDepthMapsStale) {
  const auto write_deep = [&](double scale) {
    restore_photos();
    change_photos([&](const cv::Mat& pixels) {
      cv::Mat deep;
      pixels.convertTo(deep, CV_16U, scale);
      return deep;
    });
  };
  write_deep(16);
  cloud_in("deep");
  const std::string first = model().views[0].name;
  cv::Mat bright = cv::imread((scene() / "images" / first).string(), cv::IMREAD_UNCHANGED);
  bright.at<cv::Vec3w>(0, 0) = {60000, 60000, 60000};
  cv::imwrite((scene() / "images" / first).string(), bright);
  const Outcome outcome = reconstruct({scene().string(), "-o", (folder() / "deep").string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("views are finished and kept"))) << "white is another value now";
}

TEST_F(ForeignInput, TransparentPhotosAreAsWithMasks) {
  const std::string whole = cloud_in("whole");
  for (const View& view : model().views) {
    fs::create_directories(scene() / "masks");
    cv::imwrite((scene() / "masks" / (view.name + ".png")).string(), block_mask(0, 255));
  }
  const std::string expected = cloud_in("masks");
  EXPECT_NE(expected, whole);
  fs::remove_all(scene() / "masks");
  change_photos([](const cv::Mat& pixels) {
    cv::Mat channels[4], result;
    cv::split(pixels, channels);
    channels[3] = block_mask(0, 1);
    cv::merge(channels, 4, result);
    return result;
  });
  EXPECT_TRUE(cloud_in("alpha") == expected);
  EXPECT_EQ(files_below(folder() / "alpha/masks"), files_below(folder() / "masks/masks"));
}

TEST_F(ForeignInput, MasksOfNerfstudioAndInstantNgpAreUsed) {
  const fs::path plain = nerf_scene("plain", [](const View&) { return ""; });
  for (const View& view : model().views) {
    fs::create_directories(plain / "masks/images");
    cv::imwrite((plain / "masks/images" / (view.name + ".png")).string(), block_mask(0, 255));
  }
  const std::string expected = cloud_of(plain);
  const fs::path named = nerf_scene("named", [](const View& view) {
    return ", \"mask_path\": \"mask_of/" + fs::path(view.name).stem().string() + ".png\"";
  });
  const fs::path dynamic = nerf_scene("dynamic", [](const View&) { return ""; });
  fs::create_directories(named / "mask_of");
  for (const View& view : model().views) {
    const std::string stem = fs::path(view.name).stem().string();
    cv::imwrite((named / "mask_of" / (stem + ".png")).string(), block_mask(0, 255));
    cv::imwrite((dynamic / "images" / ("dynamic_mask_" + stem + ".png")).string(), block_mask(255, 0));
  }
  EXPECT_TRUE(cloud_of(named) == expected);
  EXPECT_TRUE(cloud_of(dynamic) == expected);
}

TEST_F(ForeignInput, PhotosOfHalfTheSizeAreAsWithCamerasOfHalfTheSize) {
  change_photos([](const cv::Mat& pixels) {
    cv::Mat half;
    cv::resize(pixels, half, {48, 36}, 0, 0, cv::INTER_AREA);
    return half;
  });
  const std::string scaled = cloud_in("scaled");
  EXPECT_THAT(content(folder() / "scaled/report.json"),
              HasSubstr("are for 96x72 pixels and the photos have 48x36: the cameras are scaled"));
  Scene half = model();
  for (Camera& camera : half.cameras) camera = scaled_camera(camera, 48, 36);
  for (View& view : half.views)
    for (Observation& observation : view.observations.edit())
      observation.pixel = {observation.pixel.x / 2, observation.pixel.y / 2};
  set_model(half);
  EXPECT_TRUE(cloud_in("half") == scaled);
  EXPECT_THAT(content(folder() / "half/report.json"), Not(HasSubstr("are scaled")));
}

TEST_F(ForeignInput, PhotosInAnotherFolderGiveTheSameCloud) {
  const std::string expected = cloud_in("inside");
  fs::rename(scene() / "images", folder() / "photos");
  EXPECT_TRUE(cloud_in("elsewhere", {"--images", (folder() / "photos").string()}) == expected);
  fs::rename(folder() / "photos", scene() / "photos");
  EXPECT_TRUE(cloud_in("beside", {"--images", "photos"}) == expected);
  const Outcome missing = reconstruct({scene().string()});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("--images names another folder"));
}

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
  // The model of a folder above.
  restore_photos();
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

TEST_F(ForeignInput, TheLargestOfSeveralModelsIsReadAndTheReportSaysSo) {
  Scene small = model();
  fs::rename(scene() / "sparse", folder() / "whole");
  fs::create_directories(scene() / "sparse/0");
  fs::rename(folder() / "whole", scene() / "sparse/1");
  small.views.resize(2);
  small.points.clear();
  for (View& view : small.views) view.observations.clear();
  write_colmap_model(scene() / "sparse/0", small, ColmapFormat::kBinary);
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("sparse/1 has 5 images and is read"));
  EXPECT_THAT(content(dense() / "report.json"), HasSubstr("are not: 0 with 2"));
  EXPECT_EQ(read_colmap_model(dense() / "sparse").views.size(), 5u);
}

TEST_F(ForeignInput, APointThatIsGoneIsNoFault) {
  Scene reduced = model();
  const std::string whole = content(scene() / "sparse/points3D.txt");
  const std::size_t last = whole.rfind('\n', whole.size() - 2);
  set_content(scene() / "sparse/points3D.txt", whole.substr(0, last + 1));
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("images.txt: image "), HasSubstr("which the points3D file does not have")));
  EXPECT_THAT(content(dense() / "report.json"), HasSubstr("such observations are ignored"));
}

TEST_F(ForeignInput, APhotoThatIsThereUnderANearlyEqualNameIsNamed) {
  const View view = model().views[2];
  const fs::path upper = photo(view).parent_path() / (fs::path(view.name).stem().string() + ".PNG");
  fs::rename(photo(view), upper);
  const Outcome outcome = reconstruct({scene().string(), "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("there is no such photo (there is " + upper.filename().string() + ": "));
}

TEST_F(ForeignInput, TheExifRotationThatExplainsASizeIsNamed) {
  const View view = model().views[2];
  cv::Mat turned;
  cv::rotate(cv::imread(photo(view).string()), turned, cv::ROTATE_90_CLOCKWISE);
  std::vector<std::uint8_t> bytes;
  cv::imencode(".jpg", turned, bytes);
  using namespace std::string_literals;
  const std::string exif = "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"s;
  std::string jpeg(bytes.begin(), bytes.end());
  jpeg.insert(2, "\xFF\xE1\0"s + static_cast<char>(exif.size() + 2) + exif);
  set_content(photo(view), jpeg);
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the photo has 72x96 pixels, its camera 96x72"),
                                 HasSubstr("its EXIF orientation 6 turns it to 96x72")));
}

TEST_F(ForeignInput, APartOfASceneSuggestsTheScene) {
  for (const char* part : {"images", "sparse"}) {
    const Outcome outcome = reconstruct({(scene() / part).string()});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("part of the scene " + scene().string() + ": give that folder"));
  }
}

TEST_F(ForeignInput, PhotosFromOnePlaceAreThree) {
  Scene turning = model();
  turning.points.clear();
  const Vec3d centre = camera_centre(turning.views[0].cam_from_world);
  for (View& view : turning.views) {
    view.observations.clear();
    view.cam_from_world.translation = -1.0 * (view.cam_from_world.rotation * centre);
  }
  set_model(turning);
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("there is no baseline"));
}

}  // namespace
}  // namespace recon
