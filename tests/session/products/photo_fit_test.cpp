// Photos of another size or name than the model says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/image/image_file.hpp"
#include "session/folder_fixture.hpp"
#include "session/products/photo_files.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PhotoFit : public Folder {
 protected:
  /// Two cameras of 400x300 pixels; the first has two views, the second one.
  PhotoFit() {
    input_.folder = {folder_, folder_ / "images", folder_ / "sparse"};
    input_.scene.camera_ids = {1, 2};
    input_.scene.cameras = {{CameraModel::kPinhole, 400, 300, {300, 310, 200, 150}},
                            {CameraModel::kSimpleRadial, 400, 300, {300, 200, 150, -0.1}}};
    for (const char* name : {"a.png", "b.png", "c.png"}) {
      View view;
      view.name = name;
      view.camera = view.name == "c.png" ? 1 : 0;
      view.observations = {{{100, 60}, 7}};
      input_.scene.views.push_back(view);
    }
  }

  void write_photo(const std::string& name, int width, int height) const {
    write_image(folder_ / "images" / name, Image<std::uint8_t>(width, height, 7).view());
  }
  const Camera& camera(std::size_t i) const { return input_.scene.cameras[i]; }

  SceneInput input_;
  Findings findings_;
};

TEST_F(PhotoFit, ScalesCamerasWhosePhotosAreAllOfOneOtherSize) {
  write_photo("a.png", 200, 150);
  write_photo("b.png", 200, 150);
  write_photo("c.png", 400, 300);
  fit_cameras(input_, {}, findings_);
  EXPECT_EQ(camera(0).width, 200);
  EXPECT_EQ(camera(0).height, 150);
  EXPECT_EQ(camera(0).params, (std::vector<double>{150, 155, 100, 75}));
  EXPECT_EQ(camera(1).width, 400);
  EXPECT_EQ(input_.scene.views[0].observations[0].pixel.x, 50);
  EXPECT_EQ(input_.scene.views[1].observations[0].pixel.y, 30);
  EXPECT_EQ(input_.scene.views[2].observations[0].pixel.x, 100);
  ASSERT_EQ(findings_.warnings.size(), 1u);
  EXPECT_THAT(findings_.warnings[0],
              HasSubstr("the cameras of 2 photos, such as a.png, are for 400x300 pixels and "
                        "the photos have 200x150: the cameras are scaled"));
}

TEST_F(PhotoFit, ScalesToLargerAndRoundedSizesAndSaysEachOnce) {
  write_photo("a.png", 133, 100);  // a third of 400 is 133.3
  write_photo("b.png", 133, 100);
  write_photo("c.png", 801, 600);
  fit_cameras(input_, {}, findings_);
  EXPECT_EQ(camera(0).width, 133);
  EXPECT_DOUBLE_EQ(camera(0).params[0], 300.0 * 133 / 400);
  EXPECT_DOUBLE_EQ(camera(0).params[1], 310.0 / 3);
  EXPECT_DOUBLE_EQ(camera(1).params[0], 300 * (801.0 / 400 + 2) / 2);
  EXPECT_EQ(findings_.warnings.size(), 2u);
}

TEST_F(PhotoFit, LeavesOtherSizesAsTheyAre) {
  const std::vector<std::pair<ImageSize, ImageSize>> sizes = {
      {{400, 300}, {200, 150}},  // one of them has its camera's size
      {{200, 150}, {100, 75}},   // two ratios
      {{300, 400}, {300, 400}},  // turned
      {{200, 200}, {200, 200}},  // another shape
      {{398, 298}, {398, 298}},  // cut, perhaps
  };
  for (const auto& [a, b] : sizes) {
    write_photo("a.png", a.width, a.height);
    write_photo("b.png", b.width, b.height);
    fit_cameras(input_, {}, findings_);
    EXPECT_EQ(camera(0).width, 400) << a.width << " and " << b.width;
    EXPECT_TRUE(findings_.warnings.empty());
  }
}

TEST_F(PhotoFit, DoesNotAskPhotosThatCannotBeUsed) {
  write_photo("a.png", 200, 150);
  write("images/b.png", "no image");
  write_photo("c.png", 100, 75);
  fit_cameras(input_, {{"c.png", "for another reason"}}, findings_);
  EXPECT_EQ(camera(0).width, 200);
  EXPECT_EQ(camera(1).width, 400);
}

TEST_F(PhotoFit, NamesTheExifRotationThatExplainsASize) {
  using namespace std::string_literals;
  const auto tiff = [](char orientation) {
    return "II*\0\x08\0\0\0"s + "\x01\0"s + "\x12\x01\x03\0\x01\0\0\0"s + orientation + "\0\0\0\0\0\0\0"s;
  };
  const Camera upright{CameraModel::kPinhole, 300, 400, {300, 300, 150, 200}};
  EXPECT_THAT(advice_on_size(tiff(6), {400, 300}, upright),
              HasSubstr("EXIF orientation 6 turns it to 300x400"));
  EXPECT_THAT(advice_on_size(tiff(8), {800, 600}, upright),
              HasSubstr("EXIF orientation 8 turns it to 600x800"));
  EXPECT_THAT(advice_on_size(tiff(3), {400, 300}, upright), HasSubstr("width and height are exchanged"));
  EXPECT_THAT(advice_on_size(tiff(6), {400, 200}, upright),
              testing::StartsWith("use the photos that the model"));
  EXPECT_THAT(advice_on_size("", {400, 200}, upright), testing::StartsWith("use the photos that the model"));
}

TEST_F(PhotoFit, NamesThePhotoThatIsThere) {
  write("images/IMG_1.JPG", "");
  write("images/sub/b.PNG", "");
  write("elsewhere/c.jpg", "");
  const SceneFolder& scene = input_.folder;
  EXPECT_THAT(similar_photo(scene, folder_ / "images/img_1.jpg", "img_1.jpg"),
              HasSubstr("(there is IMG_1.JPG: "));
  EXPECT_THAT(similar_photo(scene, folder_ / "images/sub/b.jpg", "sub/b.jpg"),
              HasSubstr("(there is b.PNG: "));
  EXPECT_THAT(similar_photo(scene, folder_ / "images/elsewhere/c.jpg", "elsewhere/c.jpg"),
              HasSubstr("try --images " + folder_.string()));
  EXPECT_EQ(similar_photo(scene, folder_ / "images/img_2.jpg", "img_2.jpg"), "");
}

}  // namespace
}  // namespace recon
