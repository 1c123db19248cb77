// Inputs as other programs and cameras make them: the same scene has to come out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "cli/foreign_input_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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
