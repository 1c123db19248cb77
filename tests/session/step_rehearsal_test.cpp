#include "session/plan/step_rehearsal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace recon {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLittleMemory = std::size_t{256} << 20;  // so that the scenes are small

class StepRehearsal : public testing::Test {
 protected:
  StepRehearsal() : folder_(fs::temp_directory_path() / ("rehearsal-test-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~StepRehearsal() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(StepRehearsal, KnowsAllStepsAndLeavesNothingBehind) {
  const std::pair<Method, PhotoKind> kinds[] = {{Method::kPlaneSweep, {".png", false}},
                                                {Method::kSemiGlobal, {".jpg", true}}};
  for (const auto& [method, photos] : kinds) {
    Rehearsal rehearsal{{}, photos, 1, 2, kLittleMemory};
    rehearsal.options.method = method;
    PerformanceModel model;
    rehearse_steps(rehearsal, folder_, model);
    const StepSize size{9, 9e5, 36e5};
    for (const StageTask& task :
         {photos_task(photos, size, 2e6), maps_task(method, size, 1), check_task(size, 2),
          model_task(9, 1000), fusion_task(size, rehearsal.options.point_spacing)}) {
      ASSERT_TRUE(model.knows(task.stage, 0)) << task.stage;
      EXPECT_GT(model.seconds(task), 0) << task.stage;
    }
    EXPECT_TRUE(fs::is_empty(folder_));
    for (const MeasuredTask& it : model.measured()) {
      if (it.task.stage != maps_task(method, size, 1).stage || method == Method::kPlaneSweep) continue;
      // Two pairs a view at least; of each two images that take four samples a pixel, as real ones do.
      EXPECT_GT(it.task.work.operations, 12 * it.task.work.pixels);
    }
    const std::size_t once = model.measured().size();
    rehearse_steps(rehearsal, folder_, model);
    EXPECT_EQ(model.measured().size(), once);
  }
}

TEST(StepSize, ALastRoundTakesAsLongAsAFullOne) {
  EXPECT_DOUBLE_EQ(in_rounds({16, 1600, 0}, 16).pixels, 1600);
  EXPECT_DOUBLE_EQ(in_rounds({17, 1700, 0}, 16).pixels, 3200);
  EXPECT_DOUBLE_EQ(in_rounds({4, 400, 8}, 16).pixels, 1600);
  EXPECT_DOUBLE_EQ(in_rounds({4, 400, 8}, 16).against, 32);
  EXPECT_DOUBLE_EQ(in_rounds({0, 0, 0}, 16).views, 0);
  EXPECT_DOUBLE_EQ(with_waiting({4, 400, 0}, 3).pixels, 500);
  EXPECT_DOUBLE_EQ(with_waiting({4, 400, 0}, 1).pixels, 400);
}

TEST(PairSamples, CountWhatAPixelIsTheMeanOf) {
  ScenePlan plan;
  plan.views.resize(2);
  plan.views[0].camera = {20, 10, 100, 100, 10, 5};
  plan.views[1].camera = {20, 10, 50, 50, 10, 5};
  ViewPair pair;
  pair.source = 1;
  pair.pair.left = pair.pair.right = {8, 6, 60, 60, 4, 3};
  plan.views[0].pairs = {pair, pair};
  // Four samples of the first view a pixel and one of the other; a map of 20 x 10 carried back.
  EXPECT_DOUBLE_EQ(pair_samples(plan, 0, 1), 2 * (8 * 6 * 5 + 20 * 10));
  EXPECT_DOUBLE_EQ(pair_samples(plan, 0, 3), 2 * (3 * 8 * 6 * 5 + 20 * 10));
  EXPECT_DOUBLE_EQ(pair_samples(plan, 1, 1), 0);
}

TEST_F(StepRehearsal, FiltersOfTheUserDoNotEmptyIt) {
  Rehearsal rehearsal{{}, {}, 1, 2, kLittleMemory};
  rehearsal.options.filter.max_cost = 1e-6f;
  rehearsal.options.max_cost = 1e-6f;
  rehearsal.options.min_fused_views = 30;
  PerformanceModel model;
  EXPECT_NO_THROW(rehearse_steps(rehearsal, folder_, model));
}

}  // namespace
}  // namespace recon
