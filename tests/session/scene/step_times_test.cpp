// The predicted times of the steps of a scene.

#include <gtest/gtest.h>

#include "session/scene/plan_time.hpp"
#include "session/scene/scene_steps.hpp"

namespace recon {
namespace {

using namespace test;

double seconds_of(const TimePlan& plan, const std::string& step) {
  for (const auto& [name, seconds] : plan.steps)
    if (name == step) return seconds;
  return -1;
}

TEST_F(SceneSteps, OfFusionAloneArePredictedForItsDevice) {
  const auto fusion = [&](Stage stage, std::size_t device_bytes) {
    options_.stage = stage;
    const auto job = begin("out");
    Backends backends;
    add_backend(
        backends, "device", [] {}, [] {}, 1, device_bytes);
    job->memory = plan_memory(job->plan, job->settings, backends, {kAmpleMemory, kThreads});
    return seconds_of(plan_time(*job, all_work(job->targets, job->plan), backends, {}, {}), "fusion");
  };
  EXPECT_LT(fusion(Stage::kAll, 1), fusion(Stage::kAll, 0)) << "a GPU compares points faster";
  EXPECT_EQ(fusion(Stage::kFuse, 1), fusion(Stage::kAll, 1));
  EXPECT_EQ(fusion(Stage::kFuse, 0), fusion(Stage::kAll, 0));
}

TEST_F(SceneSteps, ArePredictedInProportionToEarlierRuns) {
  const auto job = begin("out");
  Backends backends;
  add_backend(backends, "device");
  job->memory = plan_memory(job->plan, job->settings, backends, {kAmpleMemory, kThreads});
  const SceneWork work = job->remaining_work();
  PerformanceModel model;
  const auto plan = [&] { return plan_time(*job, work, backends, model, {}); };
  EXPECT_EQ(plan().source, TimeSource::kShipped);
  EXPECT_FALSE(learn_times(*job, work, backends, {{"fusion", 0.05}}, model)) << "too short to be noted";

  ASSERT_TRUE(learn_times(*job, work, backends, {{"depth maps", 5}, {"fusion", 2}}, model));
  EXPECT_EQ(plan().source, TimeSource::kRuns);
  EXPECT_NEAR(seconds_of(plan(), "depth maps"), 5, 1e-9);
  EXPECT_NEAR(seconds_of(plan(), "fusion"), 2, 1e-9);
  SceneWork half = work;
  half.at(Step::kEstimate).resize(work.at(Step::kEstimate).size() / 2);
  EXPECT_NEAR(seconds_of(plan_time(*job, half, backends, model, {}), "depth maps"), 2.5, 0.5);

  // A calibration of the stage has nothing to do with what runs took beside shipped figures.
  StageTask task;
  task.stage = model.runs.begin()->first.substr(std::string("depth maps: ").size());
  task.radius = job->options.sweep().cost.window / 2;
  task.work.calls = task.pixels = task.planes = 1;
  model.measured.push_back({task, 100});
  EXPECT_EQ(plan().source, TimeSource::kCalibration);
  EXPECT_GT(seconds_of(plan(), "depth maps"), 100);
}

}  // namespace
}  // namespace recon
