#include "predict/performance_model.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "core/progress.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "predict/stage_calibration.hpp"

namespace recon {
namespace {

StageTask task(double pixels, double planes, int radius = 0) {
  return {"stage", radius, {1, pixels, pixels * planes}, pixels, planes};
}

/// The terms of a task times costs.
double sum(const StageTask& task, const std::array<double, StageWork::kTerms>& costs) {
  const auto terms = task.work.terms();
  return std::inner_product(terms.begin(), terms.end(), costs.begin(), 0.0);
}

TEST(PerformanceModel, FindsTheCostsOfAnExactLaw) {
  const auto law = [](const StageTask& it) { return sum(it, {1e-4, 2e-9, 3e-10}); };
  PerformanceModel model;
  for (const auto& [pixels, planes] : {std::pair{1e4, 16.0}, {1e5, 64.0}, {1e6, 8.0}, {3e5, 256.0}})
    model.measured.push_back({task(pixels, planes), law(task(pixels, planes))});
  for (StageTask wanted : {task(1, 1), task(1e7, 1), task(1e7, 512)}) {
    wanted.work.bytes = wanted.work.patches = 1e9;  // which no measured task has
    EXPECT_NEAR(model.seconds(wanted) / law(wanted), 1, 1e-5) << wanted.pixels;
  }
  // Times that fall with the size: a line through them would need a negative cost.
  model.measured = {{task(1e4, 2), 2.0}, {task(2e4, 2), 1.0}};
  for (StageTask wanted : {task(0, 0), task(1e9, 0), task(1e9, 1e3)}) {
    wanted.pixels = wanted.planes = 1;
    EXPECT_GE(model.seconds(wanted), 0);
  }
}

TEST(PerformanceModel, InterpolatesBetweenMeasuredRadii) {
  PerformanceModel model;
  const auto knows = [&](int radius) { return model.knows(task(1000, 10, radius)); };
  EXPECT_FALSE(knows(3));
  EXPECT_THROW(model.seconds(task(1000, 10)), std::logic_error);
  model.measured.push_back({task(1000, 10, 2), 1.0});
  EXPECT_TRUE(knows(2));
  EXPECT_FALSE(knows(3));
  model.measured.push_back({task(1000, 10, 6), 3.0});
  EXPECT_TRUE(knows(3));
  EXPECT_FALSE(knows(1) || knows(7));
  for (const auto& [radius, seconds, error] :
       {std::tuple{2, 1.0, 0.01}, {4, 2.2, 0.7}, {6, 3.0, 0.01}, {9, 3.0, 0.3}})
    EXPECT_NEAR(model.seconds(task(1000, 10, radius)), seconds, error) << radius;
  EXPECT_FALSE(model.knows({.stage = "other", .radius = 3}));
}

TEST(PerformanceModel, HasOneSetOfCostsForAllRadii) {
  // Per pixel and per sample of the window: at one radius these cannot be told apart.
  PerformanceModel model;
  const auto truth = [](const StageTask& it) { return sum(it, {0, 5e-9, 1e-9}); };
  for (const StageTask& it : {task(1e4, 9, 1), task(1e5, 9, 1), task(1e4, 361, 9), task(1e5, 361, 9)})
    model.measured.push_back({it, truth(it)});
  EXPECT_NEAR(model.seconds(task(5e4, 49, 3)) / truth(task(5e4, 49, 3)), 1, 1e-6);
}

TEST(PerformanceModel, FollowsTheEfficiencyOfEachSize) {
  // Twice as slow where volumes leave the cache, which no sum of the counts can say.
  PerformanceModel model;
  for (const double pixels : {1e4, 2e4, 4e4, 8e4, 16e4, 32e4})
    model.measured.push_back({task(pixels, 64), (pixels > 6e4 ? 2 : 1) * 1e-9 * pixels * 64});
  EXPECT_NEAR(model.seconds(task(2e4, 64)) / (1e-9 * 2e4 * 64), 1, 0.06);
  EXPECT_NEAR(model.seconds(task(16e4, 64)) / (2e-9 * 16e4 * 64), 1, 0.06);
}

TEST(PerformanceModel, LearnsProportionsFromRuns) {
  PerformanceModel model;
  EXPECT_EQ(model.factor("fusion"), 1);
  model.learn("fusion", 3, 2);
  EXPECT_DOUBLE_EQ(model.factor("fusion"), 1.5);
  EXPECT_EQ(model.factor("check"), 1);
  // The later run counts twice as much, and a long one more than a short one.
  model.learn("fusion", 10, 20);
  EXPECT_DOUBLE_EQ(model.factor("fusion"), (1.5 + 10) / (1 + 20));
}

TEST(ShippedSeconds, AreSharedByThreadsAndKnowEveryStage) {
  StageTask sweep = task(1e6, 256), other = sweep, patches = sweep;
  sweep.stage = "sweep zncc";
  EXPECT_DOUBLE_EQ(shipped_seconds(sweep, 1), 8 * shipped_seconds(sweep, 8));
  EXPECT_GT(shipped_seconds(sweep, 32), shipped_seconds(sweep, 0)) << "a GPU";
  other.stage = "a stage of which there are no figures of its own";
  patches.stage = "sweep zncc patches";
  other.work.bytes = patches.work.patches = 1e9;
  for (const int threads : {0, 2}) {
    EXPECT_GT(shipped_seconds(other, threads), 0);
    EXPECT_GT(shipped_seconds(patches, threads), shipped_seconds(sweep, threads) + 0.001);
  }
}

MakeCall call_of(std::function<void()> run) {
  return [run] { return StageCall{{}, run}; };
}

TEST(MeasureInterleaved, TakesTheLowerQuartileWithoutTheCallsThatWarmUp) {
  // The clock is read before and after each call. Four rounds of three calls, of which the last two count.
  const std::vector<double> lengths = {0.19,  0.016, 0.018, 0.17,  0.020, 0.022,
                                       0.001, 0.017, 0.019, 0.002, 0.021, 0.023};
  std::size_t call = 0;
  double now = 0;
  const MakeCall next = call_of([&] { now += lengths.at(call++); });
  const auto measured = measure_interleaved({next}, [&] { return now; });
  EXPECT_NEAR(measured.at(0)->seconds, 0.017, 1e-12);
  EXPECT_EQ(call, lengths.size());
}

TEST(MeasureInterleaved, GoesOverAllCallsInRoundsAndTwiceOverWhatTakesLong) {
  std::string order;
  double now = 0;
  const auto taking = [&](char name, double seconds) {
    return call_of([&, name, seconds] { now += seconds, order += name; });
  };
  const auto measured =
      measure_interleaved({taking('a', 0.05), taking('b', 0.05), taking('c', 0.4)}, [&] { return now; });
  EXPECT_EQ(order, "aaabbbccaaabbbccaaabbbaaabbb");  // the first one of each turn warms up
  EXPECT_NEAR(measured[1]->seconds, 0.05, 1e-12);
}

TEST(MeasureInterleaved, ShowsHowFarItIs) {
  std::vector<std::pair<int, int>> shown;
  double now = 0;
  const MakeCall call = call_of([&] { now += 0.5; });
  {
    const ProgressListener listener(
        [&](const ProgressEvent& event) { shown.emplace_back(event.done, event.total); });
    measure_interleaved({call, call}, [&] { return now; });
  }
  ASSERT_FALSE(shown.empty());
  EXPECT_EQ(shown.back(), std::pair(8, 8)) << "turns that are not needed are done";
}

TEST(MeasureInterleaved, LeavesOutWhatDoesNotFitAndThrowsOtherErrors) {
  const MakeCall too_large = call_of([] { throw OutOfMemory("too large"); });
  const auto measured = measure_interleaved({too_large, call_of([] {})});
  EXPECT_TRUE(!measured[0] && measured[1]);
  EXPECT_THROW(measure_interleaved({call_of([] { throw InputError("bad"); })}), InputError);
}

/// A backend whose calls take the time of a law, by a clock of its own. It has no memory for a sweep of more
/// than some samples.
class LawfulBackend : public Backend {
 public:
  double now = 0, most_samples = 1e18;
  std::vector<StageTask> seen;

  std::string name() const override { return "lawful"; }
  int streams() const override { return 1; }
  WorkMemory memory(const SweepShape&) const override { return {}; }
  WorkMemory pair_memory(int, int, const PairSpec&) const override { return {}; }
  DepthEstimate sweep(const SweepProblem& problem) override {
    pass(sweep_task(sweep_shape(problem), 2));
    return {};
  }
  DisparityMap match(const PairProblem& problem) override {
    const auto& left = problem.images.left;
    pass(pair_task(left.width, left.height, problem.options, 2));
    return {};
  }
  static double seconds(const StageTask& it) {
    return (2 + 0.1 * it.radius) * sum(it, {1e-3, 1e-9, 4e-10, 1e-11, 5e-9});
  }
  void calibrate_for(const SampledMethod& options, PerformanceModel& model) {
    calibrate(sample_calls(*this, options, 2), model, [this] { return now; });
  }

 private:
  void pass(const StageTask& it) {
    if (it.pixels * it.planes > most_samples) throw OutOfMemory("too large");
    const bool known = !seen.empty() && seen.back().pixels == it.pixels && seen.back().planes == it.planes;
    now += seconds(it) + (known ? 0 : 0.25);
    seen.push_back(it);
  }
};

SampledMethod sweep_of(int window, bool patches = false) {
  MethodSpec sweep;
  sweep.cost.window = window;
  set_patches(sweep, patches);
  return {sweep};
}

void expect_recovered(const std::vector<SampledMethod>& calibrated, const SampledMethod& wanted,
                      double error) {
  LawfulBackend backend;
  PerformanceModel model;
  for (const SampledMethod& options : calibrated) backend.calibrate_for(options, model);
  for (const MakeCall& call : sample_calls(backend, wanted, 2, 0.7)) {
    const StageTask task = call().task;
    EXPECT_NEAR(model.seconds(task) / LawfulBackend::seconds(task), 1, error) << task.stage;
  }
}

TEST(Calibration, RecoversTheLawOfABackend) {
  for (const int window : {5, 7, 9}) expect_recovered({sweep_of(5), sweep_of(9)}, sweep_of(window), 0.05);
  expect_recovered({sweep_of(5, true)}, sweep_of(5, true), 1e-4);
  for (const auto method : {presets::block_matching, presets::semi_global, presets::belief_propagation}) {
    const SampledMethod pair{method(), true};
    expect_recovered({pair}, pair, 1e-4);
  }
}

TEST(Calibration, MeasuresTheSameEveryTimeWithoutWhatDoesNotFit) {
  LawfulBackend a, b, small;
  PerformanceModel model, of_small;
  a.calibrate_for(SampledMethod{}, model);
  const std::size_t once = model.measured.size();
  b.calibrate_for(SampledMethod{}, model);
  EXPECT_EQ(model.measured.size(), once);  // in place of what was known
  EXPECT_EQ(a.seen, b.seen);
  small.most_samples = 1e6;
  small.calibrate_for(SampledMethod{}, of_small);
  EXPECT_EQ(of_small.measured.size(), 1u);
}

}  // namespace
}  // namespace recon
