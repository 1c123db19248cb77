// Masks and the model: which observations count, and what becomes of masks that cannot be used.

#include "session/products/masks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "core/error.hpp"
#include "io/file/output_file.hpp"
#include "io/image/image_file.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr int kPhotoWidth = 40, kPhotoHeight = 30;

/// Views a/v0.png and so on that see points 1, 2, … at (10 i + 5.5, 5.5), all of them in every view.
Scene grid_scene(int views, int points) {
  Scene scene;
  scene.camera_ids = {1};
  scene.cameras = {{CameraModel::kPinhole, kPhotoWidth, kPhotoHeight, {30, 30, 20, 15}}};
  for (int v = 0; v < views; ++v) {
    View view;
    view.id = static_cast<std::uint32_t>(v + 1);
    view.name = "a/v" + std::to_string(v) + ".png";
    for (int p = 0; p < points; ++p)
      view.observations.push_back({{10.0 * p + 5.5, 5.5}, static_cast<std::uint64_t>(p + 1)});
    scene.views.push_back(view);
  }
  for (int p = 0; p < points; ++p) {
    SparsePoint point;
    point.id = static_cast<std::uint64_t>(p + 1);
    for (int v = 0; v < views; ++v) point.track.push_back({v, static_cast<std::uint32_t>(p)});
    scene.points.push_back(point);
  }
  return scene;
}

class Masks : public testing::Test {
 protected:
  Masks() {
    std::string name = (fs::temp_directory_path() / "masks_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    input_.folder = {folder_, folder_ / "images", folder_ / "sparse", folder_ / "masks"};
    input_.scene = grid_scene(3, 4);
  }
  ~Masks() override { fs::remove_all(folder_); }

  fs::path mask_file(int view) const {
    return folder_ / "masks/a" / ("v" + std::to_string(view) + ".png.png");
  }

  /// Writes a mask that ignores the pixels of the points of `ignored`.
  void write_mask(int view, const std::vector<int>& ignored, int width = kPhotoWidth) const {
    Image<std::uint8_t> mask(width, kPhotoHeight, 1);
    for (const int point : ignored) mask(10 * (point - 1) + 5, 5) = 0;
    write_image(mask_file(view), mask.view());
  }

  /// The points that an observation of the view belongs to.
  std::vector<std::uint64_t> points_of(int view) const {
    std::vector<std::uint64_t> ids;
    for (const Observation& observation : input_.scene.views[static_cast<std::size_t>(view)].observations)
      if (observation.point_id != kNoPoint) ids.push_back(observation.point_id);
    return ids;
  }

  void inspect(const std::vector<LeftOut>& left_out) {
    inspect_photos(input_, left_out, {std::size_t{1} << 30, 2}, findings_);
  }
  std::vector<LeftOut> read() { return read_masks(input_, {std::size_t{1} << 30, 2}, findings_); }

  fs::path folder_;
  SceneInput input_;
  Findings findings_;
};

TEST_F(Masks, ThatIgnoreNearlyEverythingAreNamed) {
  const auto write = [&](int view, int used) {
    Image<std::uint8_t> mask(kPhotoWidth, kPhotoHeight, 0);
    for (int x = 0; x < used; ++x) mask(x, 20) = 255;
    write_image(mask_file(view), mask.view());
  };
  write(0, 0);
  write(1, 12);
  EXPECT_TRUE(read().empty());
  EXPECT_THAT(findings_.warnings, testing::IsEmpty()) << "one photo has no mask";
  write(2, 13);
  EXPECT_TRUE(read().empty());
  EXPECT_THAT(findings_.warnings, testing::IsEmpty()) << "more than 1 % of a photo is used";
  write(2, 0);
  EXPECT_TRUE(read().empty());
  EXPECT_THAT(findings_.warnings, testing::ElementsAre(AllOf(
                                      HasSubstr("v0.png.png: the masks ignore 99 % or more of every photo"),
                                      HasSubstr("black is ignored"))));
}

TEST_F(Masks, TakeObservationsOfIgnoredPixelsOutOfTracks) {
  write_mask(0, {1, 3});
  write_mask(1, {1, 4});
  write_mask(2, {1});
  EXPECT_TRUE(read().empty());
  EXPECT_THAT(points_of(0), testing::ElementsAre(2u, 4u));
  EXPECT_THAT(points_of(1), testing::ElementsAre(2u, 3u));
  EXPECT_THAT(points_of(2), testing::ElementsAre(2u, 3u, 4u));
  const auto& points = input_.scene.points;
  ASSERT_EQ(points.size(), 3u) << "a point whose observations are all ignored is removed";
  const std::vector<std::vector<int>> views_of_points = {{0, 1, 2}, {1, 2}, {0, 2}};
  for (std::size_t p = 0; p < points.size(); ++p) {
    std::vector<int> views;
    for (const TrackElement& element : points[p].track) {
      views.push_back(element.view);
      const View& view = input_.scene.views[static_cast<std::size_t>(element.view)];
      EXPECT_EQ(view.observations[element.observation].point_id, points[p].id);
    }
    EXPECT_EQ(views, views_of_points[p]) << points[p].id;
  }
  EXPECT_EQ(input_.scene.views[0].observations.size(), 4u) << "the feature stays, without a point";
  EXPECT_EQ(count_masked(input_.scene), 3);
}

TEST_F(Masks, OfSomeViewsLeaveTheOthersAsTheyAre) {
  write_mask(1, {});
  input_.scene.views[1].observations.push_back({{-3, 700}, 4});
  input_.scene.points.edit()[3].track.clear();  // its views are known from the observations alone
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(input_.scene.points.size(), 4u);
  EXPECT_EQ(points_of(1).size(), 5u);
  EXPECT_EQ(count_masked(input_.scene), 1);
  EXPECT_EQ(input_.scene.views[1].mask_hash.size(), 16u);
  EXPECT_TRUE(findings_.warnings.empty());
}

TEST_F(Masks, ThatCannotBeUsedLeaveTheirViewsOut) {
  write_mask(0, {}, kPhotoWidth + 1);
  write_mask(1, {});
  fs::resize_file(mask_file(1), fs::file_size(mask_file(1)) / 2);
  fs::create_directories(mask_file(2));
  const std::vector<LeftOut> left_out = read();
  ASSERT_EQ(left_out.size(), 3u);
  for (std::size_t v = 0; v < 3; ++v) {
    EXPECT_EQ(left_out[v].name, input_.scene.views[v].name);
    EXPECT_THAT(left_out[v].reason, HasSubstr(mask_file(static_cast<int>(v)).string()));
  }
  EXPECT_THAT(left_out[0].reason, AllOf(HasSubstr("41x30"), HasSubstr("40x30"), HasSubstr("make a mask")));
  EXPECT_EQ(count_masked(input_.scene), 0);
}

TEST_F(Masks, ThatCannotBeLookedUpLeaveTheirViewsOut) {
  input_.scene = grid_scene(5, 4);
  fs::create_directories(mask_file(0).parent_path());
  fs::create_symlink(mask_file(0).filename(), mask_file(0));
  fs::create_symlink("gone", mask_file(1));
  ASSERT_EQ(mkfifo(mask_file(2).c_str(), 0666), 0);
  fs::create_symlink("/dev/zero", mask_file(3));
  const std::vector<LeftOut> left_out = read();
  const char* reasons[] = {"Too many levels", "leads to gone, which is not there", "is a pipe",
                           "is a character device"};
  ASSERT_EQ(left_out.size(), 4u);
  for (std::size_t v = 0; v < 4; ++v) {
    EXPECT_EQ(left_out[v].name, input_.scene.views[v].name);
    EXPECT_THAT(left_out[v].reason,
                AllOf(HasSubstr(mask_file(static_cast<int>(v)).string()), HasSubstr(reasons[v])));
  }
}

TEST_F(Masks, BelowAFileLeaveTheirViewsOut) {
  fs::create_directories(folder_ / "masks");
  std::ofstream(folder_ / "masks/a") << "no folder";
  const std::vector<LeftOut> left_out = read();
  ASSERT_EQ(left_out.size(), 3u);
  EXPECT_THAT(left_out[0].reason, HasSubstr("masks/a is no folder"));
}

/// A PNG that ends behind its header.
std::string png_header(char high, char low) {
  using namespace std::string_literals;
  const std::string side = "\0\0"s + high + low;
  return "\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR"s + side + side + "\x08\0\0\0\0"s;
}

TEST_F(Masks, OfAnotherSizeAreNotDecoded) {
  write_file(mask_file(0), png_header(0x75, 0x30));
  const std::vector<LeftOut> left_out = read();
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_THAT(left_out[0].reason, HasSubstr("the mask has 30000x30000 pixels, its photo 40x30"))
      << "nothing but its header can be read";
}

TEST_F(Masks, OfAnotherSizeAreNotDecodedWhereverTheirHeaderIs) {
  using namespace std::string_literals;
  std::string bytes = "\xFF\xD8"s;
  for (int i = 0; i < 8; ++i)
    bytes += "\xFF\xE1\xFF\xFF"s + std::string(65533, 'x');  // half a megabyte before it
  bytes += "\xFF\xC0\x00\x11\x08\x75\x30\x75\x30\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00"s;
  write_file(mask_file(0), bytes);
  const std::vector<LeftOut> left_out = read();
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_THAT(left_out[0].reason, HasSubstr("the mask has 30000x30000 pixels, its photo 40x30"));
}

TEST_F(Masks, AndPhotosOfAnotherSizeAreNotDecoded) {
  ScenePlan plan;
  plan.scene = input_.scene;
  plan.views.resize(3);
  std::string damage;
  try {
    PhotoStore(folder_ / "images", false, 0, 0).decode(plan, 0, png_header(0x75, 0x30), damage);
    ADD_FAILURE() << "it is no photo";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the photo has 30000x30000 pixels, its camera 40x30"));
  }
}

TEST_F(Masks, ThatTheModelNamesAreUsedUnlessThereIsOneInTheFolder) {
  Image<std::uint8_t> mask(kPhotoWidth, kPhotoHeight, 0);
  mask(5, 5) = 255;
  write_image(folder_ / "m/black.png", mask.view());
  auto& views = input_.scene.views;
  for (View& view : views) view.mask_file = (folder_ / "m/black.png").string();
  views[1].mask_kind = MaskKind::kNotBlack;
  write_mask(2, {4});
  EXPECT_TRUE(read().empty());
  EXPECT_THAT(points_of(0), testing::ElementsAre(1u)) << "black is ignored";
  EXPECT_THAT(points_of(1), testing::ElementsAre(2u, 3u, 4u)) << "what is not black is ignored";
  EXPECT_THAT(points_of(2), testing::ElementsAre(1u, 2u, 3u));
  EXPECT_EQ(views[2].mask_file, mask_file(2).string());
  EXPECT_EQ(count_masked(input_.scene), 3);
  EXPECT_EQ(read_mask(views[1], input_.scene.cameras[0])(5, 5), 0);
  EXPECT_EQ(read_mask(views[0], input_.scene.cameras[0])(5, 5), 255);
}

TEST_F(Masks, ThatTheModelNamesAndAreNotThereLeaveTheirViewsOut) {
  input_.scene.views[1].mask_file = (folder_ / "absent.png").string();
  const std::vector<LeftOut> left_out = read();
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0].name, input_.scene.views[1].name);
  EXPECT_THAT(left_out[0].reason, HasSubstr("absent.png: cannot be read"));
}

class TransparentPhotos : public Masks {
 protected:
  /// Writes a photo in 8 or 16 bits that is transparent at the points of `transparent` and elsewhere of
  /// opacity `alpha`, in parts of all.
  template <class T>
  void write_photo(int view, const std::vector<int>& transparent, double alpha = 1,
                   int width = kPhotoWidth) const {
    constexpr double kAll = sizeof(T) == 1 ? 255 : 65535;
    cv::Mat pixels(kPhotoHeight, width, sizeof(T) == 1 ? CV_8UC4 : CV_16UC4,
                   cv::Scalar(9, 8, 7, alpha * kAll));
    for (const int point : transparent) pixels.at<cv::Vec<T, 4>>(5, 10 * (point - 1) + 5)[3] = 0;
    const fs::path file = folder_ / "images/a" / ("v" + std::to_string(view) + ".png");
    fs::create_directories(file.parent_path());
    cv::imwrite(file.string(), pixels);
  }
};

TEST_F(TransparentPhotos, AreMasksWhereThereIsNoOther) {
  write_photo<std::uint8_t>(0, {1, 3}, 0.01);
  write_photo<std::uint16_t>(1, {2});
  write_photo<std::uint8_t>(2, {1, 2, 3, 4});
  write_mask(2, {4});
  EXPECT_TRUE(read().empty());
  inspect({});
  EXPECT_THAT(points_of(0), testing::ElementsAre(2u, 4u)) << "faint pixels count";
  EXPECT_THAT(points_of(1), testing::ElementsAre(1u, 3u, 4u));
  EXPECT_THAT(points_of(2), testing::ElementsAre(1u, 2u, 3u)) << "by its mask alone";
  EXPECT_EQ(count_masked(input_.scene), 3);
  const View& view = input_.scene.views[1];
  const Image<std::uint8_t> mask = read_mask(view, input_.scene.cameras[0]);
  EXPECT_EQ(mask(15, 5), 0);
  EXPECT_EQ(mask(16, 5), 255);
  EXPECT_TRUE(findings_.warnings.empty());
}

TEST_F(TransparentPhotos, WithoutATransparentPixelOrWithNothingElseHaveNoMask) {
  write_photo<std::uint8_t>(0, {});
  write_photo<std::uint8_t>(1, {}, 0);
  write_photo<std::uint8_t>(2, {1}, 1, kPhotoWidth + 1);
  inspect({});
  EXPECT_EQ(count_masked(input_.scene), 0) << "a photo of another size than its camera is left out later";
  EXPECT_THAT(findings_.warnings,
              testing::ElementsAre("1 photo is transparent everywhere, such as a/v1.png; the transparency is "
                                   "ignored"));
}

TEST_F(TransparentPhotos, ThatAreLeftOutSayNothing) {
  write_photo<std::uint16_t>(0, {1});
  inspect({{"a/v0.png", "its mask cannot be read"}});
  EXPECT_EQ(count_masked(input_.scene), 0);
  EXPECT_EQ(input_.levels, SampleLevels{});
}

TEST_F(TransparentPhotos, OfSixteenBitsHaveOneWhite) {
  const auto write_grey = [&](int view, double value) {
    const fs::path file = folder_ / "images/a" / ("v" + std::to_string(view) + ".png");
    fs::create_directories(file.parent_path());
    cv::imwrite(file.string(), cv::Mat(kPhotoHeight, kPhotoWidth, CV_16UC1, cv::Scalar(value)));
  };
  write_grey(0, 10);
  write_grey(1, 3000);
  write_grey(2, 900);
  inspect({});
  EXPECT_EQ(input_.levels, (SampleLevels{4095, 0}));
  EXPECT_TRUE(input_.scene.views[0].levelled);
  write_grey(0, 2000);
  write_grey(2, 2500);
  inspect({});
  EXPECT_EQ(input_.levels, (SampleLevels{3000, 2000})) << "all far above black";
  write_grey(0, 65535);
  inspect({});
  EXPECT_FALSE(input_.scene.views[0].levelled) << "the photos are as they should be";
}

TEST_F(Masks, UnderOtherNamesAreMissed) {
  write_image(folder_ / "masks/a/v0.png", Image<std::uint8_t>(kPhotoWidth, kPhotoHeight, 0).view());
  EXPECT_TRUE(read().empty());
  ASSERT_EQ(findings_.warnings.size(), 1u);
  EXPECT_THAT(findings_.warnings[0], HasSubstr("that of a/v0.png would be a/v0.png.png"));
}

TEST_F(Masks, UnderOtherNamesAreMissedAmongOthers) {
  const Image<std::uint8_t> all(kPhotoWidth, kPhotoHeight, 255);
  const auto write = [&](const char* name) { write_image(folder_ / "masks" / name, all.view()); };
  write_mask(0, {});
  // What is none, a mask of a photo that the model does not have, and a hidden file.
  std::ofstream(folder_ / "masks/readme.txt") << "painted by hand";
  write_image(folder_ / "images/a/v7.png", all.view());
  write("a/v7.png.png");
  write("a/._v1.png");
  EXPECT_TRUE(read().empty());
  EXPECT_THAT(findings_.warnings, testing::IsEmpty());
  write("a/v2.png.mask.png");
  write("V1.png.png");
  EXPECT_TRUE(read().empty());
  EXPECT_THAT(findings_.warnings,
              testing::ElementsAre((folder_ / "masks").string() +
                                   ": 2 of the masks there have the name of no photo, such as V1.png.png; "
                                   "that of a/v1.png would be a/v1.png.png"));
  write_mask(1, {});
  write_mask(2, {});
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(findings_.warnings.size(), 1u) << "no photo is without its mask";
}

}  // namespace
}  // namespace recon
