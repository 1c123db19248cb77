// reconstruct-render as its user meets it: files, exit codes, messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "cli/run_program.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "io/model/colmap_model.hpp"
#include "io/temporary_folder.hpp"
#include "render/description_file.hpp"
#include "render/render.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

const std::string kScene = R"({
  "noise": 1, "samples": 1, "sparse": {"points": 40},
  "cameras": [{"model": "PINHOLE", "width": 40, "height": 30, "angle": 60}],
  "views": [{"arc": {"centre": [0, 0, 0], "radius": 3, "from": -100, "to": -80, "count": 3}, "target": [0, 0, 0]}],
  "objects": [{"shape": "sphere", "radius": 0.5, "texture": {}},
              {"shape": "quad", "width": 5, "height": 5, "rotate": [90, 0, 0], "position": [0, 2, 0], "texture": {}}]
})";

class RenderCli : public testing::Test {
 protected:
  RenderCli() { set_content(folder_ / "small.json", kScene); }

  /// Runs the program in the folder; returns its exit code.
  int run(const std::string& arguments) {
    const Outcome outcome = run_in(folder_.path(), "'" RECON_RENDER "' " + arguments);
    out_ = outcome.out;
    err_ = outcome.err;
    return outcome.exit_code;
  }

  TemporaryFolder folder_;
  std::string out_, err_;
};

TEST_F(RenderCli, WritesWhatTheRendererSees) {
  ASSERT_EQ(run("small.json scene --quiet"), 0) << err_;
  EXPECT_EQ(out_ + err_, "");
  const SceneDescription description = parse_description(kScene, "small.json").scene;
  const Scene scene = read_colmap_model(folder_ / "scene" / "sparse");
  ASSERT_EQ(scene.views.size(), 3u);
  EXPECT_EQ(scene.points.size(), 40u);
  for (int v = 0; v < 3; ++v) {
    const RenderedView expected = render_view(description, v);
    const std::string stem = "view0" + std::to_string(v);
    EXPECT_EQ(scene.views[v].name, stem + ".png");
    const auto image = read_image(folder_ / "scene/images" / (stem + ".png"));
    const auto depth = read_depth_map(folder_ / "scene/gt_depth" / (stem + ".bin"));
    const auto levels = read_png16(folder_ / "scene/gt_depth" / (stem + ".png"));
    const auto normals = read_normal_map(folder_ / "scene/gt_normal" / (stem + ".bin"));
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 40; ++x) {
        ASSERT_EQ(image(x, y), expected.image(x, y));
        if (std::isnan(expected.depth(x, y))) {
          ASSERT_TRUE(std::isnan(depth(x, y)));
          ASSERT_EQ(levels(x, y), 0);
        } else {
          ASSERT_EQ(depth(x, y), expected.depth(x, y));
          ASSERT_EQ(normals(x, y).x, expected.normal(x, y).x);
          ASSERT_NEAR(levels(x, y), 1000 * depth(x, y), 0.501);
        }
      }
  }
  const auto summary = nlohmann::json::parse(content(folder_ / "scene/scene.json"));
  EXPECT_EQ(summary["complete"], true);
  EXPECT_EQ(summary["depth_png_levels_per_scene_unit"], 1000);
  EXPECT_EQ(summary["views"].size(), 3u);
}

TEST_F(RenderCli, SameBytesForAnyNumberOfThreads) {
  ASSERT_EQ(run("small.json one --quiet --threads 1"), 0) << err_;
  ASSERT_EQ(run("small.json two --quiet --threads 2"), 0) << err_;
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "one")) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(content(entry.path()),
              content(folder_ / "two" / entry.path().lexically_relative(folder_ / "one")));
    ++files;
  }
  EXPECT_EQ(files, 3 * 4 + 3 + 1);
}

TEST_F(RenderCli, OptionsChangeSizeViewsModelAndFiles) {
  ASSERT_EQ(
      run("small.json scene --quiet --width 80 --views 2 --camera-model OPENCV --binary --ground-truth png"),
      0)
      << err_;
  EXPECT_TRUE(fs::exists(folder_ / "scene/sparse/cameras.bin"));
  EXPECT_FALSE(fs::exists(folder_ / "scene/gt_normal"));
  EXPECT_FALSE(fs::exists(folder_ / "scene/gt_depth/view00.bin"));
  const Scene scene = read_colmap_model(folder_ / "scene/sparse");
  EXPECT_EQ(scene.views.size(), 2u);
  EXPECT_EQ(scene.cameras[0].model, CameraModel::kOpenCv);
  EXPECT_EQ(scene.cameras[0].height, 60);
  EXPECT_EQ(image_size(folder_ / "scene/images/view01.png"), (ImageSize{80, 60}));
}

TEST_F(RenderCli, KeepsWhatIsThereUnlessItMayOverwriteAScene) {
  ASSERT_EQ(run("small.json scene --quiet"), 0) << err_;
  EXPECT_EQ(run("small.json scene --quiet"), 2);
  EXPECT_THAT(err_, HasSubstr("--overwrite"));
  ASSERT_EQ(run("small.json scene --quiet --overwrite --views 2"), 0) << err_;
  EXPECT_FALSE(fs::exists(folder_ / "scene/images/view02.png"));

  std::ofstream(folder_ / "scene/images/notes.txt") << "dear";
  std::ofstream(folder_ / "scene/images/view02.png") << "dear";
  EXPECT_EQ(run("small.json scene --quiet --overwrite"), 2);
  EXPECT_THAT(err_, HasSubstr("images/view02.png is not of the scene"));
  EXPECT_EQ(content(folder_ / "scene/images/view02.png"), "dear");
  ASSERT_EQ(run("small.json scene --quiet --overwrite --views 2"), 0) << err_;
  EXPECT_EQ(content(folder_ / "scene/images/notes.txt"), "dear");
  fs::rename(folder_ / "scene/images", folder_ / "photos");
  fs::create_directory_symlink("../photos", folder_ / "scene/images");
  EXPECT_EQ(run("small.json scene --quiet --overwrite --views 2"), 2);
  EXPECT_TRUE(fs::exists(folder_ / "photos/view00.png"));

  fs::create_directories(folder_ / "mine/images");
  std::ofstream(folder_ / "mine/images/a.png") << "dear";
  EXPECT_EQ(run("small.json mine --quiet --overwrite"), 2);
  EXPECT_EQ(content(folder_ / "mine/images/a.png"), "dear");
}

TEST_F(RenderCli, ExitCodesAndMessages) {
  EXPECT_EQ(run(""), 2);
  EXPECT_EQ(run("small.json"), 2);
  EXPECT_EQ(run("small.json scene --samples 0"), 2);
  EXPECT_EQ(run("small.json scene --camera-model CUBE"), 2);
  EXPECT_THAT(err_, HasSubstr("CUBE"));
  EXPECT_EQ(run("absent.json scene"), 3);
  EXPECT_THAT(err_, HasSubstr("absent.json"));
  EXPECT_THAT(err_, HasSubstr("demo"));
  std::ofstream(folder_ / "bad.json") << R"({"cameras": []})";
  EXPECT_EQ(run("bad.json scene"), 3);
  EXPECT_THAT(err_, HasSubstr("bad.json: objects: is missing"));
  EXPECT_FALSE(fs::exists(folder_ / "scene"));
  EXPECT_EQ(run("--help"), 0);
}

TEST_F(RenderCli, EveryBundledDescriptionRenders) {
  ASSERT_EQ(run("--list"), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("demo\t"));
  const std::string list = out_;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(RECON_SOURCE_DIR "/scenes")) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().stem();
    EXPECT_THAT(list, HasSubstr(name + "\t"));
    ASSERT_EQ(run(name + " " + name + " --quiet --width 48 --samples 1 --views 4 --ground-truth none"), 0)
        << err_;
    EXPECT_GE(read_colmap_model(folder_ / name / "sparse").points.size(), 100u) << name;
    ++count;
  }
  EXPECT_GE(count, 5);
}

TEST_F(RenderCli, PathsThatCannotBeLookedUpAreThree) {
  fs::create_symlink("loop", folder_ / "loop");
  for (const char* arguments : {"loop out", "small.json loop", "loop/small.json out"}) {
    EXPECT_EQ(run(arguments), 3) << arguments;
    EXPECT_THAT(err_, HasSubstr("cannot be looked up: Too many levels of symbolic links"));
  }
}

/// Not its bytes: the encoder of the photos may differ from machine to machine.
TEST(BundledScene, IsWhatItsDescriptionSaysAndSmall) {
  const fs::path folder = RECON_SOURCE_DIR "/scenes/demo";
  const SceneDescription description =
      parse_description(content(folder.string() + ".json"), "demo.json").scene;
  const Scene scene = read_colmap_model(folder / "sparse");
  ASSERT_EQ(scene.views.size(), description.views.size());
  EXPECT_GE(scene.views.size(), 8u);
  EXPECT_GE(scene.points.size(), 500u);
  const auto summary = nlohmann::json::parse(content(folder / "scene.json"));
  const double scale = summary["depth_png_levels_per_scene_unit"];
  SceneDescription quick = description;
  quick.samples = 1;
  const RenderedView rendered = render_view(quick, 3);
  const auto levels = read_png16(folder / "gt_depth" / "view03.png");
  const auto photo = read_image(folder / "images" / scene.views[3].name);
  double difference = 0;
  for (int y = 0; y < levels.height(); ++y)
    for (int x = 0; x < levels.width(); ++x) {
      ASSERT_NEAR(levels(x, y), scale * rendered.depth(x, y), 0.51);
      difference += std::abs(photo(x, y).g - rendered.image(x, y).g);
    }
  EXPECT_LT(difference / (levels.width() * levels.height()), 20);  // one ray a pixel against sixteen
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  EXPECT_LE(bytes, 2u << 20);
}

}  // namespace
}  // namespace recon
