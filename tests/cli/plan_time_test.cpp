#include <gmock/gmock.h>
#include <stdlib.h>

#include "cli/run_program.hpp"
#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

/// Each test begins with a machine of which nothing is known.
class PlannedTime : public SceneTest {
 protected:
  PlannedTime() {
    if (const char* given = ::getenv("XDG_CACHE_HOME")) before_ = given;
    ::setenv("XDG_CACHE_HOME", cache().c_str(), 1);
  }
  ~PlannedTime() override { ::setenv("XDG_CACHE_HOME", before_.c_str(), 1); }
  fs::path cache() const { return folder() / "cache"; }

  static double seconds(const nlohmann::json& plan, const char* step) {
    return plan.at("seconds").at("steps").at(step).get<double>();
  }

 private:
  std::string before_;
};

TEST_F(PlannedTime, IsToldAndTheMachineMeasuredOnce) {
  const Outcome first = reconstruct({scene().string(), "--dry-run"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("calibrating the matching on CPU"));
  EXPECT_THAT(first.out, HasSubstr("time: about "));
  EXPECT_THAT(first.out, HasSubstr(" s a view"));
  EXPECT_FALSE(fs::exists(dense()));

  const Outcome second = reconstruct({scene().string(), "--dry-run", "--json"});
  EXPECT_THAT(second.err, Not(HasSubstr("calibrating")));
  const auto plan = second.json().at("scenes").at(0);
  double sum = 0;
  for (const auto& step : plan.at("seconds").at("steps")) sum += step.get<double>();
  EXPECT_NEAR(plan.at("seconds").at("total").get<double>(), sum, 1e-9);
  EXPECT_GT(seconds(plan, "depth maps"), 0);
  EXPECT_GT(seconds(plan, "fusion"), 0);
  // As the views, up to the host's part of them.
  const auto few = reconstruct({scene().string(), "--dry-run", "--json", "--views", "view0[01].png"});
  EXPECT_LT(seconds(few.json().at("scenes").at(0), "depth maps"), 0.8 * seconds(plan, "depth maps"));
}

TEST_F(PlannedTime, StandsBesideThatOfTheRunAndLeavesOutWhatIsFinished) {
  const Outcome unknown = reconstruct({scene().string(), "--json"});
  ASSERT_EQ(unknown.exit_code, 0) << unknown.err;
  EXPECT_FALSE(unknown.json().at("scenes").at(0).contains("predicted")) << "a run does not calibrate";
  const auto rest = reconstruct({scene().string(), "--dry-run", "--json", "--overwrite"});
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  const auto finished = reconstruct({scene().string(), "--dry-run", "--json"}).json().at("scenes").at(0);
  for (const char* step : {"depth maps", "check across views", "fusion"})
    EXPECT_EQ(seconds(finished, step), 0) << step;
  // The model of the undistorted images is written again.
  EXPECT_LT(seconds(finished, "undistorting"), seconds(rest.json().at("scenes").at(0), "undistorting"));

  fs::remove(dense() / "stereo/depth_maps/view02.png.photometric.bin");
  const auto one = reconstruct({scene().string(), "--dry-run", "--json"}).json().at("scenes").at(0);
  EXPECT_GT(seconds(one, "depth maps"), 0);
  EXPECT_LT(seconds(one, "depth maps"), 0.6 * seconds(rest.json().at("scenes").at(0), "depth maps"));
  EXPECT_GT(seconds(one, "fusion"), 0);

  const auto report = reconstruct({scene().string(), "--json"}).json().at("scenes").at(0);
  EXPECT_GT(report.at("predicted").at("steps").at("depth maps").get<double>(), 0);
  EXPECT_GT(report.at("predicted").at("total").get<double>(), 0);
}

TEST_F(PlannedTime, IsMeasuredAgainWhereTheCalibrationIsDamaged) {
  ASSERT_EQ(reconstruct({scene().string(), "--dry-run"}).exit_code, 0);
  int damaged = 0;
  for (const auto& entry : fs::directory_iterator(cache() / "reconstruct")) {
    set_content(entry.path(), content(entry.path()).substr(0, 200));
    ++damaged;
  }
  EXPECT_EQ(damaged, 1) << "one calibration, and nothing of the rehearsal";
  const Outcome again = reconstruct({scene().string(), "--dry-run"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("it is measured again"));
  EXPECT_THAT(again.out, HasSubstr("time: about "));
}

TEST_F(PlannedTime, DoesWithoutAPlaceForTheCalibration) {
  set_content(cache(), "a file where the folder should be");
  const Outcome outcome = reconstruct({scene().string(), "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the calibration is not kept"));
  EXPECT_THAT(outcome.out, HasSubstr("time: about "));
}

}  // namespace
}  // namespace recon
