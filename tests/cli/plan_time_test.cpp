#include <gmock/gmock.h>
#include <stdlib.h>

#include "cli/run_program.hpp"
#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

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

/// Takes long enough to be noted.
const std::vector<std::string> kLong = {"--planes", "2000"};

TEST_F(PlannedTime, NeedsNoMeasurement) {
  const Outcome first = reconstruct({scene().string(), "--dry-run"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("time: about "));
  EXPECT_THAT(first.out, HasSubstr(" s a view"));
  EXPECT_THAT(first.out, HasSubstr("by figures of other machines"));
  EXPECT_FALSE(fs::exists(dense()));
  EXPECT_FALSE(fs::exists(cache()));

  const auto plan = reconstruct({scene().string(), "--dry-run", "--json"}).json().at("scenes").at(0);
  double sum = 0;
  for (const auto& step : plan.at("seconds").at("steps")) sum += step.get<double>();
  EXPECT_NEAR(plan.at("seconds").at("total").get<double>(), sum, 1e-9);
  EXPECT_GT(seconds(plan, "depth maps"), 0);
  EXPECT_GT(seconds(plan, "fusion"), 0);
  const auto few = reconstruct({scene().string(), "--dry-run", "--json", "--views", "view0[01].png"});
  EXPECT_LT(seconds(few.json().at("scenes").at(0), "depth maps"), 0.8 * seconds(plan, "depth maps"));
}

TEST_F(PlannedTime, OfUndistortingFallsWithTheSizeOfTheViews) {
  const auto of_size = [&](const char* size) {
    const Outcome plan = reconstruct(
        {scene().string(), "--dry-run", "--json", "--quality", "draft", "--max-image-size", size});
    return seconds(plan.json().at("scenes").at(0), "undistorting");
  };
  EXPECT_LT(of_size("30"), of_size("60"));
}

/// The images are so small that the coarse sweep is at their full size.
TEST_F(PlannedTime, OfPatchesAddsToTheirSweep) {
  const auto of_maps = [&](const char* refine, const char* planes) {
    const Outcome plan = reconstruct(
        {scene().string(), "--dry-run", "--json", "--sources", "4", "--refine", refine, "--planes", planes});
    return seconds(plan.json().at("scenes").at(0), "depth maps");
  };
  const double patches = of_maps("patches", "64"), full = of_maps("none", "64");
  const double patches_growth = of_maps("patches", "640") - patches,
               full_growth = of_maps("none", "640") - full;
  EXPECT_GT(full_growth, 0);
  EXPECT_NEAR(patches_growth, full_growth, 0.01 * full_growth);
  EXPECT_GT(patches, 1.1 * full);
}

TEST_F(PlannedTime, IsThatOfTheRunBefore) {
  std::vector<std::string> arguments = {scene().string(), "--json"};
  arguments.insert(arguments.end(), kLong.begin(), kLong.end());
  const Outcome run = reconstruct(arguments);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = run.json().at("scenes").at(0);
  EXPECT_THAT(report.at("predicted").at("source").get<std::string>(), HasSubstr("other machines"));
  arguments.insert(arguments.end(), {"--dry-run", "--overwrite"});
  const auto plan = reconstruct(arguments).json().at("scenes").at(0);
  EXPECT_THAT(plan.at("seconds").at("source").get<std::string>(), HasSubstr("earlier runs"));
  const double measured = report.at("seconds").at("depth maps").get<double>();
  ASSERT_GT(measured, 0.1) << "else it is not noted";
  EXPECT_NEAR(seconds(plan, "depth maps"), measured, 1e-9 * measured);
}

TEST_F(PlannedTime, LeavesOutWhatIsFinished) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto all =
      reconstruct({scene().string(), "--dry-run", "--json", "--overwrite"}).json().at("scenes").at(0);
  const auto finished = reconstruct({scene().string(), "--dry-run", "--json"}).json().at("scenes").at(0);
  for (const char* step : {"depth maps", "check across views", "fusion"})
    EXPECT_EQ(seconds(finished, step), 0) << step;
  // The model of the undistorted images is written again.
  EXPECT_LT(seconds(finished, "undistorting"), seconds(all, "undistorting"));

  fs::remove(dense() / "stereo/depth_maps/view02.png.photometric.bin");
  const auto one = reconstruct({scene().string(), "--dry-run", "--json"}).json().at("scenes").at(0);
  EXPECT_GT(seconds(one, "depth maps"), 0);
  EXPECT_LT(seconds(one, "depth maps"), 0.6 * seconds(all, "depth maps"));
  EXPECT_GT(seconds(one, "fusion"), 0);
}

TEST_F(PlannedTime, DoesWithoutADamagedCalibration) {
  std::vector<std::string> arguments = {scene().string()};
  arguments.insert(arguments.end(), kLong.begin(), kLong.end());
  ASSERT_EQ(reconstruct(arguments).exit_code, 0);
  int damaged = 0;
  for (const auto& entry : fs::directory_iterator(cache() / "reconstruct")) {
    set_content(entry.path(), content(entry.path()).substr(0, 50));
    ++damaged;
  }
  EXPECT_EQ(damaged, 1);
  arguments.insert(arguments.end(), {"--dry-run", "--overwrite"});
  const Outcome again = reconstruct(arguments);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("no calibration that can be used"));
  EXPECT_THAT(again.out, HasSubstr("by figures of other machines"));
}

TEST_F(PlannedTime, DoesWithoutAPlaceForTheCalibration) {
  set_content(cache(), "a file where the folder should be");
  std::vector<std::string> arguments = {scene().string()};
  arguments.insert(arguments.end(), kLong.begin(), kLong.end());
  const Outcome outcome = reconstruct(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the calibration is not kept"));
}

}  // namespace
}  // namespace recon
