// Cameras and poses that are wrong are noticed: by the sparse points and by the photos, before the work.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "cli/scene_fixture.hpp"
#include "scene/pose.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Pose kTurnedAxes{{{1, 0, 0, 0, -1, 0, 0, 0, -1}}, {0, 0, 0}};

Pose turned(const Pose& pose, double radians) {
  const double c = std::cos(radians), s = std::sin(radians);
  return Pose{{{c, 0, s, 0, 1, 0, -s, 0, c}}, {0, 0, 0}} * pose;
}

/// A mistake of a whole model, and what the message says of it.
struct Mistake {
  std::string name, words;
  std::function<void(Scene&)> make;
};

void for_poses(Scene& scene, const std::function<Pose(const Pose&)>& change) {
  for (View& view : scene.views) view.cam_from_world = change(view.cam_from_world);
}

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> kAll = {
      {"inverted",
       "the poses are inverted: each pose has to be world-to-camera (x to the right, y down, z forward, as "
       "in "
       "OpenCV); yours is camera-to-world; inverted, they fit",
       [](Scene& scene) { for_poses(scene, [](const Pose& pose) { return inverse(pose); }); }},
      {"axes", "the y and z axes of the cameras point the other way: each pose has to be",
       [](Scene& scene) { for_poses(scene, [](const Pose& pose) { return kTurnedAxes * pose; }); }},
      {"inverted_axes", "the poses are inverted, and the y and z axes",
       [](Scene& scene) { for_poses(scene, [](const Pose& pose) { return inverse(kTurnedAxes * pose); }); }},
      {"centres", "the translations are camera centres C",
       [](Scene& scene) {
         for_poses(scene, [](const Pose& pose) { return Pose{pose.rotation, camera_centre(pose)}; });
       }},
      {"quarter", "the cameras are of images of another size",
       [](Scene& scene) {
         for (double& value : scene.cameras.at(0).params) value /= 4;
       }},
  };
  return kAll;
}

class WrongCalibration : public SceneTest {
 protected:
  /// Writes the model with a change, and without points where `points` is false.
  void change_model(const std::function<void(Scene&)>& change, bool points = true) const {
    Scene scene_model = model();
    if (!points) {
      scene_model.points.clear();
      for (View& view : scene_model.views) view.observations.clear();
    }
    change(scene_model);
    set_model(scene_model);
  }

  void restore() const {
    fs::remove_all(scene());
    copy_scene(scene());
  }

  static std::vector<std::string> warnings(const Outcome& outcome) {
    return outcome.json().at("scenes").at(0).at("warnings").get<std::vector<std::string>>();
  }
};

TEST_F(WrongCalibration, RightModelsHaveNoWarning) {
  for (const bool points : {true, false}) {
    change_model([](Scene&) {}, points);
    const Outcome outcome = reconstruct({scene().string(), "--json", "--overwrite"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(warnings(outcome), IsEmpty());
  }
}

TEST_F(WrongCalibration, SparsePointsThatCannotBeSeenAreThreeWithTheCause) {
  for (const Mistake& mistake : mistakes()) {
    change_model(mistake.make);
    const Outcome outcome = reconstruct({scene().string(), "--dry-run"});
    EXPECT_EQ(outcome.exit_code, 3) << mistake.name << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("scene/sparse: cameras and poses contradict the sparse points"),
                                   HasSubstr(mistake.words), HasSubstr("remove the points3D file")));
    restore();
  }
}

TEST_F(WrongCalibration, PhotosContradictPosesWithoutPoints) {
  for (const Mistake& mistake : mistakes()) {
    change_model(mistake.make, false);
    const Outcome outcome = reconstruct({scene().string(), "--overwrite"});
    EXPECT_THAT(outcome.exit_code, AnyOf(0, 3)) << mistake.name << outcome.err;
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("the photos contradict cameras and poses"), HasSubstr(mistake.words)))
        << mistake.name;
    restore();
  }
}

TEST_F(WrongCalibration, PlaceholdersOfObservationsAreAWarningAtMost) {
  change_model([](Scene& wrong) {
    for (View& view : wrong.views)
      for (Observation& it : view.observations.edit()) it.pixel = {0, 0};
  });
  const Outcome outcome = reconstruct({scene().string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(warnings(outcome), testing::ElementsAre(HasSubstr(
                                     "the observations of 5 of 5 views are all at one place: they are "
                                     "placeholders")));
}

TEST_F(WrongCalibration, OneBadPoseIsNamed) {
  change_model(
      [](Scene& wrong) { wrong.views[2].cam_from_world = turned(wrong.views[2].cam_from_world, 0.2); });
  const Outcome outcome = reconstruct({scene().string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(warnings(outcome),
              Contains(AllOf(HasSubstr("view02.png: its pose or its camera does not fit the sparse points"),
                             HasSubstr("the median reprojection error of"))));
  EXPECT_THAT(outcome.err, Not(HasSubstr("view01.png: its pose")));
  EXPECT_THAT(content(dense() / "report.json"), HasSubstr("view02.png: its pose"));
}

TEST_F(WrongCalibration, CamerasThatPhotosContradictAreNamedWithoutPoints) {
  const std::vector<Mistake> cameras = {
      {"focal", "with focal lengths times 0.7",
       [](Scene& wrong) {
         for (double* focal : {&wrong.cameras[0].params[0], &wrong.cameras[0].params[1]}) *focal *= 1.3;
       }},
      {"centre", "with principal points moved by (+",
       [](Scene& wrong) { wrong.cameras[0].params[2] *= 0.8; }},
      {"distortion", "with a radial distortion (k1) that is changed by +0.",
       [](Scene& wrong) {
         Camera& camera = wrong.cameras[0];
         camera.model = CameraModel::kOpenCv;
         camera.params.insert(camera.params.end(), {-0.3, 0, 0, 0});
       }},
  };
  for (const Mistake& mistake : cameras) {
    change_model(mistake.make, false);
    const Outcome outcome = reconstruct({scene().string(), "--json", "--overwrite"});
    EXPECT_EQ(outcome.exit_code, 0) << mistake.name << outcome.err;
    EXPECT_THAT(warnings(outcome),
                testing::ElementsAre(AllOf(HasSubstr("the photos do not fit the cameras: "),
                                           HasSubstr(mistake.words), HasSubstr(" pixels from their"))))
        << mistake.name;
    restore();
  }
}

TEST_F(WrongCalibration, WrongFocalLengthsAreInTheLastLineAsWell) {
  for (const double factor : {0.8, 1.3})
    for (const bool points : {true, false}) {
      change_model(
          [&](Scene& wrong) {
            for (double* focal : {&wrong.cameras[0].params[0], &wrong.cameras[0].params[1]}) *focal *= factor;
          },
          points);
      const Outcome outcome = reconstruct({scene().string(), "--overwrite"});
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      const std::string focal = fmt::format("focal lengths times {}", factor < 1 ? "1.2" : "0.7");
      EXPECT_THAT(outcome.err, HasSubstr("with " + focal)) << factor << points;
      EXPECT_THAT(outcome.out,
                  AllOf(HasSubstr("; THE RESULT IS IN DOUBT: "), HasSubstr(", but would with " + focal),
                        HasSubstr(" pixels): correct that and run again; ")))
          << factor << points;
      const auto report = nlohmann::json::parse(content(dense() / "report.json"));
      EXPECT_THAT(report.at("doubt").get<std::string>(), HasSubstr(focal));
      restore();
    }
  EXPECT_THAT(reconstruct({scene().string()}).out, Not(HasSubstr("DOUBT")));
}

TEST_F(WrongCalibration, FocalLengthsOfSmallPhotosAreNamedWhereTheyMoveLinesAndNotElse) {
  fs::remove_all(scene());
  const Outcome rendered =
      run_program(folder(), {RECON_RENDER, RECON_SOURCE_DIR "/scenes/street.json", scene().string(),
                             "--quiet", "--ground-truth", "none", "--width", "120", "--views", "20"});
  ASSERT_EQ(rendered.exit_code, 0) << rendered.err;
  const auto said = [&] {
    return reconstruct({scene().string(), "--stage", "estimate", "--overwrite", "--planes", "4", "--refine",
                        "none", "--optimizer", "winner", "--aggregation", "none", "--depth-min", "4",
                        "--depth-max", "30"})
        .err;
  };
  EXPECT_THAT(said(), Not(HasSubstr("the photos do not fit the cameras")));
  change_model(
      [](Scene& wrong) {
        for (double* focal : {&wrong.cameras[0].params[0], &wrong.cameras[0].params[1]}) *focal *= 0.6;
      },
      false);
  EXPECT_THAT(said(), HasSubstr("the photos do not fit the cameras: with focal lengths times "));
}

TEST_F(WrongCalibration, AViewThatIsTurnedByThreeDegreesIsNamedWithoutPoints) {
  change_model(
      [](Scene& wrong) { wrong.views[2].cam_from_world = turned(wrong.views[2].cam_from_world, 0.052); },
      false);
  const Outcome outcome = reconstruct({scene().string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(warnings(outcome), testing::ElementsAre(AllOf(
                                     HasSubstr("view02.png: its photo contradicts its camera or its pose: "),
                                     testing::ContainsRegex("when it is turned by (2.9|3.0|3.1) degrees"))));
}

TEST_F(WrongCalibration, TwoPhotosThatAreSwappedAreNamed) {
  fs::rename(scene() / "images/view01.png", folder() / "one.png");
  fs::rename(scene() / "images/view03.png", scene() / "images/view01.png");
  fs::rename(folder() / "one.png", scene() / "images/view03.png");
  const Outcome outcome = reconstruct({scene().string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(warnings(outcome),
              testing::UnorderedElementsAre(HasSubstr("view01.png: its photo contradicts its camera"),
                                            HasSubstr("view03.png: its photo contradicts its camera")));
}

TEST_F(WrongCalibration, OneBadPoseIsNamedOnce) {
  change_model(
      [](Scene& wrong) { wrong.views[2].cam_from_world = turned(wrong.views[2].cam_from_world, 0.052); });
  const Outcome outcome = reconstruct({scene().string(), "--json"});
  EXPECT_THAT(warnings(outcome),
              testing::ElementsAre(HasSubstr("view02.png: its pose or its camera does not fit the sparse")));
}

TEST_F(WrongCalibration, OneBadPoseOfManyIsNamedWithoutPointsWhereDepthsDoNotAgree) {
  render(folder() / "many", {"--views", "46"});  // more than are compared before the work
  fs::remove_all(scene());
  fs::rename(folder() / "many", scene());
  change_model(
      [](Scene& wrong) { wrong.views[27].cam_from_world = turned(wrong.views[27].cam_from_world, 0.052); },
      false);
  const Outcome outcome = reconstruct({scene().string(), "--json", "--quality", "draft"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(warnings(outcome), testing::ElementsAre(AllOf(
                                     HasSubstr("view27.png: its photo contradicts its camera or its pose"),
                                     HasSubstr("other views confirm"))));
}

TEST_F(WrongCalibration, ACloudByChanceIsThreeAndItsWarningsStay) {
  change_model(mistakes().at(1).make, false);
  const Outcome outcome = reconstruct({scene().string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 3);
  const auto named_before = HasSubstr("; an earlier warning names the causes");
  EXPECT_THAT(warnings(outcome),
              testing::ElementsAre(AllOf(HasSubstr("the photos contradict cameras and poses"),
                                         HasSubstr(mistakes().at(1).words)),
                                   AllOf(HasSubstr("the views do not agree: "), HasSubstr(" % after it"),
                                         named_before, Not(HasSubstr("usual causes")))));
  EXPECT_THAT(outcome.json().at("scenes").at(0).at("error").get<std::string>(),
              AllOf(AnyOf(HasSubstr("the cloud is empty"), HasSubstr("points by chance")),
                    HasSubstr("the views do not agree on the depth: an earlier warning says what to check"),
                    Not(HasSubstr("usual causes"))));
  EXPECT_FALSE(fs::exists(dense() / "fused.ply"));
}

TEST_F(WrongCalibration, ADepthRangeBesideTheSceneIsInDoubtWherePhotosFit) {
  const Outcome outcome =
      reconstruct({RECON_SOURCE_DIR "/scenes/demo", "-o", (folder() / "out").string(), "--quality", "draft",
                   "--max-image-size", "240", "--depth-min", "0.1", "--depth-max", "1"});
  EXPECT_THAT(outcome.exit_code, AnyOf(0, 3)) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the views do not agree: "),
                                 HasSubstr("the photos fit cameras and poses, so that the "
                                           "depth range is in doubt: set --depth-min")));
}

TEST_F(WrongCalibration, AViewThatIsLeftOutDoesNotCount) {
  change_model(
      [](Scene& wrong) { wrong.views[2].cam_from_world = turned(wrong.views[2].cam_from_world, 0.2); });
  fs::remove(scene() / "images/view02.png");
  const Outcome outcome = reconstruct({scene().string(), "--dry-run"});
  EXPECT_THAT(outcome.err, Not(HasSubstr("its pose or its camera")));
}

TEST_F(WrongCalibration, SmallErrorsOfAllViewsAreAWarning) {
  change_model([](Scene& wrong) {
    for (double* focal : {&wrong.cameras[0].params[0], &wrong.cameras[0].params[1]}) *focal *= 1.1;
  });
  const Outcome outcome = reconstruct({scene().string(), "--dry-run", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(warnings(outcome), Contains(HasSubstr("cameras and poses do not fit the sparse points")));
}

TEST_F(WrongCalibration, PhotosInAnotherOrderContradictThePoses) {
  const fs::path demo = RECON_SOURCE_DIR "/scenes/demo", images = folder() / "other/images";
  fs::create_directories(images);
  fs::copy(demo / "sparse", folder() / "other/sparse", fs::copy_options::recursive);
  for (int i = 0; i < 9; ++i)
    fs::copy_file(demo / "images" / fmt::format("view{:02}.jpg", 8 - i),
                  images / fmt::format("view{:02}.jpg", i));
  const Outcome outcome =
      reconstruct({(folder() / "other").string(), "--quality", "draft", "--max-image-size", "240"});
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the photos contradict cameras and poses"),
                                 HasSubstr("photos that are turned or in another order")));
}

TEST_F(WrongCalibration, APrincipalPointAtAQuarterIsDoubtedUnlessPointsConfirmIt) {
  const auto wider = [](Scene& scene_model) { scene_model.cameras[0].width *= 2; };  // photos are not read
  change_model(wider, false);
  const Outcome doubted = reconstruct({scene().string(), "--dry-run", "--json"});
  EXPECT_THAT(warnings(doubted),
              Contains(AllOf(HasSubstr("the camera of view00.png: the principal point (48, 36)"),
                             HasSubstr("the photo of 192x72"), HasSubstr("4 more views"),
                             HasSubstr("K seems to be of images of about 96x72"))));
  restore();
  change_model(wider);
  EXPECT_THAT(warnings(reconstruct({scene().string(), "--dry-run", "--json"})), IsEmpty());
}

TEST_F(WrongCalibration, APrincipalPointFromTheMiddleIsDoubted) {
  change_model([](Scene& wrong) { wrong.cameras[0].params[2] = wrong.cameras[0].params[3] = 0; }, false);
  EXPECT_THAT(
      reconstruct({scene().string(), "--dry-run", "--depth-min", "1", "--depth-max", "6"}).err,
      HasSubstr("the principal point (0, 0) is far from the middle of the photo of 96x72: it has to be in "
                "pixels from the upper left corner"));
}

TEST_F(WrongCalibration, AFocalLengthInMillimetresIsDoubted) {
  change_model(
      [](Scene& wrong) {
        for (double* focal : {&wrong.cameras[0].params[0], &wrong.cameras[0].params[1]}) *focal = 5;
      },
      false);
  EXPECT_THAT(reconstruct({scene().string(), "--dry-run", "--depth-min", "1", "--depth-max", "6"}).err,
              HasSubstr("the focal length of 5 pixels means an angle of view of 168 degrees"));
}

}  // namespace
}  // namespace recon
