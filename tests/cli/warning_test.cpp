// Warnings name the option or the action that helps.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/scene_fixture.hpp"
#include "scene/pose.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A camera that looks back.
const Pose kTurn{{{-1, 0, 0, 0, 1, 0, 0, 0, -1}}, {0, 0, 0}};

class ReconstructWarning : public SceneTest {
 protected:
  /// The model without points: its overlaps are those of its cameras.
  Scene cameras() const {
    Scene scene_model = model();
    scene_model.points.clear();
    for (View& view : scene_model.views) view.observations.clear();
    return scene_model;
  }

  Outcome plan(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = {scene().string(), "--dry-run", "--depth-min", "1",
                                          "--depth-max",    "6"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return reconstruct(arguments);
  }
};

TEST_F(ReconstructWarning, OfAViewWithoutOverlapNamesThePoseAndTheAngles) {
  Scene turned = cameras();
  turned.views[4].cam_from_world = kTurn * turned.views[4].cam_from_world;
  set_model(turned);
  const Outcome outcome = plan({});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("view04.png: no other view overlaps with it enough; it gets no depth map: check its "
                        "pose, or widen --min-angle and --max-angle"));
}

TEST_F(ReconstructWarning, AreCountedInTheLastLine) {
  EXPECT_THAT(reconstruct({scene().string()}).out, testing::Not(HasSubstr("warning")));
  EXPECT_THAT(reconstruct({scene().string(), "--min-fused-views", "9"}).out,
              testing::ContainsRegex(
                  "points from 5 views in [0-9.]+ s .[0-9.]+ s of work with earlier runs.; 1 warning; see "));
}

TEST_F(ReconstructWarning, OfAViewWithoutAPairNamesTheMethod) {
  // The last two look away from the others, one behind the other.
  Scene turned = cameras();
  turned.views[3].cam_from_world = kTurn * turned.views[3].cam_from_world;
  turned.views[4].cam_from_world = turned.views[3].cam_from_world;
  turned.views[4].cam_from_world.translation.z -= 0.3;
  set_model(turned);
  const Outcome outcome = plan({"--method", "sgm", "--min-angle", "0.01"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("view04.png: it makes no rectified pair with any other view ("),
                    HasSubstr("it gets no depth map: --method planesweep takes views anywhere")));
}

TEST_F(ReconstructWarning, OfFewerViewsThanAskedForNamesTheOption) {
  const Outcome outcome =
      reconstruct({scene().string(), "--min-fused-views", "9", "--max-depth-error", "0.1"});
  EXPECT_THAT(outcome.err, HasSubstr("points need 5 instead of 9 views, as there are no more; lower "
                                     "--min-fused-views, or add photos that overlap"));
}

TEST_F(ReconstructWarning, OfMoreViewsThanThereAreIsInThePlan) {
  EXPECT_THAT(reconstruct({scene().string(), "--min-views", "30", "--dry-run"}).err,
              HasSubstr("depths need the agreement of 4 instead of 30 views, as no view has more sources"));
  EXPECT_THAT(reconstruct({scene().string(), "--min-fused-views", "30", "--dry-run"}).err,
              HasSubstr("points need 5 instead of 30 views, as there are no more; lower --min-fused-views"));
  EXPECT_THAT(reconstruct({scene().string(), "--dry-run"}).err, testing::Not(HasSubstr("warning")));
}

}  // namespace
}  // namespace recon
