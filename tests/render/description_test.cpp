#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/error.hpp"
#include "render/description_file.hpp"
#include "scene/camera.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

const std::string kWhole = R"({
  "title": "a test", "seed": 3, "noise": 1.5, "samples": 2, "background": [0.1, 0.2, 0.3], "exposure_spread": 0.2, "image_format": "jpg",
  "light": {"position": [1, 2, 3], "ambient": 0.7, "shadows": false},
  "sparse": {"points": 50, "noise": 0.25, "min_views": 3},
  "cameras": [{"model": "OPENCV", "width": 64, "height": 48, "params": [50, 51, 32, 24, -0.1, 0.01, 0.001, 0.002]},
              {"model": "PINHOLE", "width": 100, "height": 80, "angle": 90}],
  "textures": {"grid": {"pattern": "checker", "size": 0.5, "contrast": 0}},
  "views": [
    {"eye": [0, -2, 1], "target": [0, 0, 1], "camera": 1},  // a comment
    {"arc": {"centre": [0, 0, 0], "radius": 2, "from": 0, "to": 180, "count": 3, "heights": [1, 2]}, "target": [0, 0, 0]},
    {"grid": {"origin": [0, -4, 0], "right": [0.5, 0, 0], "down": [0, 0, -0.5], "columns": 2, "rows": 2}, "direction": [0, 1, 0]}
  ],
  "objects": [
    {"shape": "quad", "width": 4, "height": 2, "texture": "grid"},
    {"shape": "box", "size": [0.2, 0.4, 0.6], "position": [1, 0, 0], "repeat": {"count": 3, "step": [0, 1, 0]}, "texture": {"pattern": "plain"}},
    {"shape": "sphere", "radius": 0.5, "texture": "grid"},
    {"shape": "cylinder", "radius": 0.5, "height": 3, "texture": "grid"},
    {"shape": "height_field", "width": 2, "height": 2, "waves": [{"amplitude": 0.1, "wavelength": 0.5}], "texture": "grid"}
  ]
})";

TEST(Description, EveryFieldIsRead) {
  const DescriptionFile file = parse_description(kWhole, "whole.json");
  const SceneDescription& scene = file.scene;
  EXPECT_EQ(file.title, "a test");
  EXPECT_EQ(scene.seed, 3u);
  EXPECT_EQ(scene.noise, 1.5);
  EXPECT_EQ(scene.samples, 2);
  EXPECT_EQ(scene.background.y, 0.2);
  EXPECT_EQ(scene.light.position.z, 3);
  EXPECT_EQ(scene.light.ambient, 0.7);
  EXPECT_FALSE(scene.light.shadows);
  EXPECT_EQ(scene.sparse.points, 50);
  EXPECT_EQ(scene.sparse.noise, 0.25);
  EXPECT_EQ(scene.sparse.min_views, 3);
  ASSERT_EQ(scene.cameras.size(), 2u);
  EXPECT_EQ(scene.cameras[0].model, CameraModel::kOpenCv);
  EXPECT_EQ(scene.cameras[0].params[7], 0.002);
  EXPECT_NEAR(scene.cameras[1].params[0], 50, 1e-12);  // 100 pixels over 90 degrees
  ASSERT_EQ(scene.objects.size(), 7u);
  EXPECT_EQ(std::get<Quad>(scene.objects[0].shape).half_width, 2);
  EXPECT_EQ(scene.objects[0].texture.pattern, Pattern::kChecker);
  EXPECT_EQ(std::get<Box>(scene.objects[3].shape).half_size.z, 0.3);
  EXPECT_EQ(scene.objects[3].world_from_object.translation.y, 2);
  EXPECT_NE(scene.objects[2].texture.seed, scene.objects[3].texture.seed);
  EXPECT_EQ(std::get<Cylinder>(scene.objects[5].shape).half_height, 1.5);
  EXPECT_NEAR(std::get<HeightField>(scene.objects[6].shape).waves.at(0).vector.x, 4 * M_PI, 1e-12);
}

TEST(Description, ViewsStandWhereTheFileSays) {
  const SceneDescription scene = parse_description(kWhole, "whole.json").scene;
  ASSERT_EQ(scene.views.size(), 8u);
  EXPECT_EQ(scene.views[7].name, "view07.jpg");
  EXPECT_EQ(scene.views[0].camera, 1);
  const auto expect_eye = [&](int view, Vec3d eye) {
    EXPECT_LT(norm(camera_centre(scene.views[view].cam_from_world) - eye), 1e-12) << view;
  };
  expect_eye(0, {0, -2, 1});
  expect_eye(1, {2, 0, 1});
  expect_eye(2, {0, 2, 2});
  expect_eye(3, {-2, 0, 1});
  expect_eye(7, {0.5, -4, -0.5});
  // Straight ahead in view 0 is +y of the world, right is +x, down is -z.
  const Vec3d ahead = scene.views[0].cam_from_world * Vec3d{0.25, 1, 0.5};
  EXPECT_NEAR(ahead.x, 0.25, 1e-12);
  EXPECT_NEAR(ahead.y, 0.5, 1e-12);
  EXPECT_NEAR(ahead.z, 3, 1e-12);
  for (const RenderView& view : scene.views) {
    EXPECT_GE(view.gain, 1 / 1.2);
    EXPECT_LE(view.gain, 1.2);
  }
  EXPECT_NE(scene.views[0].gain, scene.views[1].gain);
}

TEST(Description, NumberOfViewsCanBeChanged) {
  EXPECT_EQ(parse_description(kWhole, "whole.json", 5).scene.views.size(), 5u);
  EXPECT_THROW(parse_description(kWhole, "whole.json", 9), InputError);
  const std::string arc =
      R"({"cameras": [{"model": "PINHOLE", "width": 8, "height": 8, "angle": 60}], "objects": [],
    "views": [{"arc": {"centre": [0, 0, 0], "radius": 1, "from": 0, "to": 90, "count": 2}, "target": [0, 0, 0]}]})";
  const SceneDescription scene = parse_description(arc, "arc.json", 4).scene;
  ASSERT_EQ(scene.views.size(), 4u);
  EXPECT_NEAR(camera_centre(scene.views[1].cam_from_world).x, std::cos(M_PI / 6), 1e-12);
  EXPECT_NEAR(camera_centre(scene.views[3].cam_from_world).y, 1, 1e-12);
}

/// The message for `kWhole` with `from` replaced by `to`.
std::string complaint(const std::string& from, const std::string& to) {
  std::string text = kWhole;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  try {
    parse_description(text, "bad.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Description, ComplaintsNameFileFieldAndValue) {
  EXPECT_EQ(complaint(R"("seed": 3,)", R"("seed": "x",)"),
            R"(bad.json: seed is "x"; it must be an integer in range)");
  struct Case {
    const char *from, *to, *complaint;
  };
  for (const Case& it : {
           Case{R"("radius": 0.5, "texture")", R"("texture")", "bad.json: objects[2].radius: is missing"},
           {R"("shape": "sphere")", R"("shape": "cone")", "objects[2].shape: 'cone'"},
           {R"("texture": "grid")", R"("texture": "wood")", "no texture 'wood'; there are: grid"},
           {R"("noise": 1.5)", R"("nose": 1.5)", "bad.json: nose: is not known here"},
           {R"("size": [0.2, 0.4, 0.6])", R"("size": [0.2, 0.4])",
            "objects[1].size is [0.2,0.4]; it must be a list of three"},
           {R"("model": "OPENCV")", R"("model": "LENS")", "cameras[0].model: 'LENS'"},
           {"0.001, 0.002]", "0.001]", "cameras[0].params: their number is 7; it must be 8 for OPENCV"},
           {R"("camera": 1)", R"("camera": 2)", "views[0].camera is 2"},
           {R"("target": [0, 0, 1])", R"("target": [0, -2, 1])",
            "views[0].target: a view looks at the place where it stands"},
           {R"("count": 3, "heights")", R"("count": 0, "heights")", "views[1].arc.count: is 0"},
           {R"("pattern": "checker")", R"("pattern": "dots")", "textures.grid.pattern: 'dots'"},
           {R"("width": 64)", R"("width": 0)", "cameras[0].width is 0"},
           {R"("seed": 3,)", R"("seed": 3 3,)", "bad.json: byte 3"},
           {R"("jpg")", R"("gif")", "bad.json: image_format: is 'gif'"},
           {R"("amplitude": 0.1, "wavelength": 0.5)", R"("amplitude": 0.1, "wavelength": -1)",
            "objects[4].waves[0].wavelength"},
       })
    EXPECT_THAT(complaint(it.from, it.to), HasSubstr(it.complaint));
}

TEST(Description, ComplaintsAboutTheWholeFile) {
  for (const std::string text : {"", "[]", "3", "{", "{}", "null"})
    EXPECT_THROW(parse_description(text, "bad.json"), InputError) << text;
}

TEST(Description, PlacesOfObjectsAreFinite) {
  EXPECT_THAT(complaint(R"("step": [0, 1, 0])", R"("step": [0, 1e308, 0])"),
              HasSubstr("objects[3].position is inf; it must be finite"));
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    SceneDescription scene = parse_description(kWhole, "whole.json").scene;
    scene.objects[1].world_from_object.translation.z = wrong;
    EXPECT_THROW(validate(scene), InputError) << wrong;
    scene = parse_description(kWhole, "whole.json").scene;
    scene.objects[2].world_from_object.rotation(1, 2) = wrong;
    EXPECT_THROW(validate(scene), InputError) << wrong;
  }
}

TEST(ViewName, HasTheDigitsOfTheLastView) {
  EXPECT_EQ(view_name_of(7, 10), "view07.png");
  EXPECT_EQ(view_name_of(7, 101), "view007.png");
  EXPECT_EQ(view_name_of(1000, 1001, ".jpg"), "view1000.jpg");
}

TEST(ResizedCamera, SeesTheSameAtAnotherResolution) {
  for (int id = 0; id < 18; ++id) {
    const Camera camera = typical_camera(model_from_id(id).value(), 60, 40, 50),
                 big = resized(camera, 6000, 4000);
    for (const Vec3d x : {Vec3d{0, 0, 1}, Vec3d{0.4, -0.2, 1}, Vec3d{-0.3, 0.3, 1.2}}) {
      const Vec2d a = Lens(camera).project(x).value(), b = Lens(big).project(x).value();
      EXPECT_NEAR(100 * a.x, b.x, 1e-6);
      EXPECT_NEAR(100 * a.y, b.y, 1e-6);
    }
  }
}

TEST(ResizedCamera, SidesScaleOnTheirOwn) {
  const Camera simple = resized({CameraModel::kSimpleRadial, 60, 40, {50, 31, 22, -0.1}}, 120, 120);
  EXPECT_EQ(simple.params, (std::vector<double>{100, 62, 66, -0.1}));
  const Camera pinhole = resized({CameraModel::kPinhole, 60, 40, {50, 51, 31, 22}}, 120, 120);
  EXPECT_EQ(pinhole.params, (std::vector<double>{100, 153, 62, 66}));
}

}  // namespace
}  // namespace recon
