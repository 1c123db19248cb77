// Clouds of wide photos against exact ground truth, and against the cloud of pinhole photos of the same
// angular resolution: those that the faces would be, rendered.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_program.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"
#include "io/temporary_folder.hpp"
#include "render/description_file.hpp"
#include "render/render.hpp"
#include "scene/faces.hpp"

namespace recon {
namespace {

/// Two pixels of the walls, about.
constexpr const char* kThreshold = "0.04";

class WideAccuracy : public testing::Test {
 protected:
  /// The file of `scenes/NAME.json` with `photos` photos in place of eight, and where it has `focal_before`
  /// with `focal` in its place.
  std::string described(const std::string& name, int photos, const std::string& focal_before = "",
                        const std::string& focal = "") const {
    std::string text = content(fs::path(RECON_SOURCE_DIR "/scenes") / (name + ".json"));
    const auto replace = [&](const std::string& before, const std::string& after) {
      const auto found = text.find(before);
      ASSERT_NE(found, std::string::npos) << before;
      text.replace(found, before.size(), after);
    };
    replace("\"count\": 8", "\"count\": " + std::to_string(photos));
    replace(focal_before, focal);
    const fs::path file = folder_ / (name + ".json");
    set_content(file, text);
    return file.string();
  }

  void render(const std::string& description, const std::string& scene, const std::string& width) const {
    const Outcome outcome =
        run_program(folder_.path(), {RECON_RENDER, description, (folder_ / scene).string(), "--quiet",
                                     "--width", width, "--samples", "2"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  /// The scores of the cloud of `scene` against the truth of `truth`.
  nlohmann::json score(const std::string& scene, const std::string& truth) const {
    const std::string dense = (folder_ / scene / "dense").string();
    const Outcome run = run_program(folder_.path(), {RECON_RECONSTRUCT, (folder_ / scene).string(), "-o",
                                                     dense, "--device", "cpu", "--quiet"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const Outcome outcome =
        run_program(folder_.path(), {RECON_EVALUATE, "--json", "cloud", dense + "/fused.ply", "--scene",
                                     (folder_ / truth).string(), "--all-views", "--thresholds", kThreshold});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.exit_code == 0 ? outcome.json().at("scores").at(0) : nlohmann::json();
  }

  /// Renders the faces of wide photos as photos of their own.
  void render_faces(const std::string& file, const std::string& scene, int width, int height) const {
    SceneDescription description = parse_description(content(file), file).scene;
    const std::vector<Face> faces = faces_of(resized(description.cameras.front(), width, height));
    const std::vector<RenderView> photos = std::move(description.views);
    description.samples = 2;
    description.cameras.clear();
    description.views.clear();
    for (const Face& face : faces) description.cameras.push_back(to_camera(face.camera));
    for (const RenderView& photo : photos)
      for (std::size_t f = 0; f < faces.size(); ++f)
        description.views.push_back({photo.name + "." + faces[f].side + ".png", static_cast<int>(f),
                                     Pose{faces[f].face_from_photo, {0, 0, 0}} * photo.cam_from_world,
                                     photo.gain});
    std::ranges::sort(description.views, {}, &RenderView::name);
    fs::create_directories(folder_ / scene / "images");
    fs::create_directories(folder_ / scene / "sparse");
    for (std::size_t i = 0; i < description.views.size(); ++i)
      write_image(folder_ / scene / "images" / description.views[i].name,
                  render_view(description, static_cast<int>(i)).image.view());
    write_colmap_model(folder_ / scene / "sparse", sparse_scene(description), ColmapFormat::kText);
  }

  /// The F1 of the faces of `scene` as photos of their own. It takes as long as all else here: only
  /// `tools/check --nightly` (RECON_NIGHTLY) renders and reconstructs them, else it is what was measured.
  double f1_of_pinholes(double measured, const std::string& file, const std::string& scene, int width,
                        int height) const {
    if (std::getenv("RECON_NIGHTLY") == nullptr) return measured;
    render_faces(file, "pinholes", width, height);
    const double f1 = score("pinholes", scene).at("f1");
    EXPECT_NEAR(f1, measured, 0.002);
    return f1;
  }

  TemporaryFolder folder_;
};

// The comments give what was measured on a CPU. Every surface of the room is seen by more than two views.
TEST_F(WideAccuracy, OfPanoramasIsThatOfPinholePhotosInAllDirections) {
  const std::string file = described("panorama", 4);
  render(file, "panoramas", "600");
  const nlohmann::json wide = score("panoramas", "panoramas");
  EXPECT_GT(wide.at("recall"), 0.95);                                                    // 0.9552
  EXPECT_GT(wide.at("f1"), f1_of_pinholes(0.9841, file, "panoramas", 600, 300) - 0.01);  // 0.9761
}

TEST_F(WideAccuracy, OfAFisheyeOf190Degrees) {
  const std::string file = described("fisheye", 6, "[250, 250, ", "[190, 190, ");
  render(file, "fisheye", "320");
  const nlohmann::json wide = score("fisheye", "fisheye");
  EXPECT_GT(wide.at("recall"), 0.95);                                                  // 0.9546
  EXPECT_GT(wide.at("f1"), f1_of_pinholes(0.9837, file, "fisheye", 320, 240) - 0.01);  // 0.9754
}

// Faces of small photos have few corners, some of which match by chance; all faces of a photo have one pose.
TEST_F(WideAccuracy, FacesOfSmallPhotosAreJudgedTogether) {
  const fs::path scene = folder_ / "small";
  render(RECON_SOURCE_DIR "/scenes/fisheye.json", "small", "160");
  const auto warnings = [&] {
    const Outcome outcome = run_program(folder_.path(), {RECON_RECONSTRUCT, scene.string(), "--device", "cpu",
                                                         "--quality", "draft", "--json", "--overwrite"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.json().at("scenes").at(0).at("warnings").get<std::vector<std::string>>();
  };
  EXPECT_THAT(warnings(), testing::IsEmpty());
  Scene model = read_colmap_model(scene / "sparse");
  model.points.clear();
  for (View& view : model.views) view.observations.clear();
  const auto turned = std::ranges::find(model.views, "view05.png", &View::name);
  ASSERT_NE(turned, model.views.end());
  const double c = std::cos(0.07), s = std::sin(0.07);
  turned->cam_from_world = Pose{{{c, 0, s, 0, 1, 0, -s, 0, c}}, {0, 0, 0}} * turned->cam_from_world;
  write_colmap_model(scene / "sparse", model, ColmapFormat::kText);
  EXPECT_THAT(
      warnings(),
      testing::ElementsAre(testing::HasSubstr("view05.png: its photo contradicts its camera or its pose")));
}

}  // namespace
}  // namespace recon
