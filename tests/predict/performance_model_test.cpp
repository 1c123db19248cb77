#include "predict/performance_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>

#include "predict/stage_calibration.hpp"

namespace recon {
namespace {

StageTask task(double pixels, double planes, int radius = 0) {
  StageTask result;
  result.stage = "stage";
  result.radius = radius;
  result.pixels = pixels;
  result.planes = planes;
  result.work.calls = 1;
  result.work.pixels = pixels;
  result.work.operations = pixels * planes;
  return result;
}

double law(const StageTask& it) {
  return 1e-4 + 2e-9 * it.work.pixels + 3e-10 * it.work.operations;
}

TEST(FitCosts, FindsTheCostsOfAnExactLaw) {
  std::vector<MeasuredTask> tasks;
  for (const auto& [pixels, planes] : {std::pair{1e4, 16.0}, {1e5, 64.0}, {1e6, 8.0}, {3e5, 256.0}})
    tasks.push_back({task(pixels, planes), law(task(pixels, planes))});
  const auto costs = fit_costs(tasks);
  EXPECT_NEAR(costs[0], 1e-4, 1e-9);
  EXPECT_NEAR(costs[1], 2e-9, 1e-14);
  EXPECT_NEAR(costs[2], 3e-10, 1e-15);
  EXPECT_EQ(costs[3], 0);
  EXPECT_EQ(costs[4], 0);
}

TEST(FitCosts, NoneIsNegative) {
  // Times that fall with the size: a line through them would need a negative cost.
  const auto costs = fit_costs({{task(1e4, 2), 2.0}, {task(2e4, 2), 1.0}});
  for (const double cost : costs) EXPECT_GE(cost, 0);
}

TEST(FitCosts, OneTaskIsMetExactly) {
  const auto costs = fit_costs({{task(1e4, 2), 0.5}});
  EXPECT_NEAR(costs[0] + costs[1] * 1e4 + costs[2] * 2e4, 0.5, 1e-12);
}

TEST(PerformanceModel, KnowsWhatLiesBetweenMeasuredRadii) {
  PerformanceModel model;
  EXPECT_FALSE(model.knows("stage", 3));
  EXPECT_THROW(model.seconds(task(10, 2)), std::logic_error);
  model.add(task(10, 2, 2), 1);
  EXPECT_TRUE(model.knows("stage", 2));
  EXPECT_FALSE(model.knows("stage", 3));
  model.add(task(10, 2, 6), 1);
  EXPECT_TRUE(model.knows("stage", 3));
  EXPECT_FALSE(model.knows("stage", 7));
  EXPECT_FALSE(model.knows("other", 3));
  model.erase("stage", 6);
  EXPECT_FALSE(model.knows("stage", 3));
}

TEST(PerformanceModel, InterpolatesBetweenRadii) {
  PerformanceModel model;
  model.add(task(1000, 10, 2), 1.0);
  model.add(task(1000, 10, 6), 3.0);
  EXPECT_NEAR(model.seconds(task(1000, 10, 2)), 1, 1e-9);
  EXPECT_NEAR(model.seconds(task(1000, 10, 6)), 3, 1e-9);
  const double between = model.seconds(task(1000, 10, 4));
  EXPECT_GT(between, 1.5);
  EXPECT_LT(between, 2.5);
  EXPECT_NEAR(model.seconds(task(1000, 10, 9)), 3, 1e-9);
}

TEST(PerformanceModel, RadiiThatAreCountedShareTheirCosts) {
  // Per pixel and per sample of the window: at one radius these cannot be told apart.
  const auto windows = [](double pixels, int radius) {
    StageTask it = task(pixels, 1, radius);
    it.work = {};
    it.work.pixels = pixels;
    it.work.operations = pixels * (2 * radius + 1) * (2 * radius + 1);
    it.counts_radius = true;
    return it;
  };
  const auto truth = [](const StageTask& it) { return 5e-9 * it.work.pixels + 1e-9 * it.work.operations; };
  PerformanceModel model;
  for (const int radius : {1, 9})
    for (const double pixels : {1e4, 1e5}) model.add(windows(pixels, radius), truth(windows(pixels, radius)));
  StageTask wanted = windows(5e4, 3);
  EXPECT_NEAR(model.seconds(wanted) / truth(wanted), 1, 1e-6);
  wanted.counts_radius = false;
  EXPECT_GT(std::abs(model.seconds(wanted) / truth(wanted) - 1), 0.02);
}

TEST(PerformanceModel, FollowsTheEfficiencyOfEachSize) {
  // Twice as slow where volumes leave the cache, which no sum of the counts can say.
  PerformanceModel model;
  for (const double pixels : {1e4, 2e4, 4e4, 8e4, 16e4, 32e4})
    model.add(task(pixels, 64), (pixels > 6e4 ? 2 : 1) * 1e-9 * pixels * 64);
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
  StageTask sweep = task(1e6, 256);
  sweep.stage = "sweep zncc";
  EXPECT_DOUBLE_EQ(shipped_seconds(sweep, 1), 8 * shipped_seconds(sweep, 8));
  EXPECT_GT(shipped_seconds(sweep, 32), shipped_seconds(sweep, 0)) << "a GPU";
  StageTask other = sweep;
  other.stage = "a stage of which there are no figures of its own";
  other.work.bytes = 1e9;
  for (const int threads : {0, 1}) EXPECT_GT(shipped_seconds(other, threads), 0);
}

TEST(ShippedSeconds, OfPatchesAddThoseOfTheirSamples) {
  StageTask sweep = task(1e6, 256);
  sweep.stage = "sweep zncc";
  StageTask patches = sweep;
  patches.stage += " patches";
  patches.work.patches = 1e9;
  for (const int threads : {0, 2})
    EXPECT_GT(shipped_seconds(patches, threads), shipped_seconds(sweep, threads) + 0.001);
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
  const auto measured =
      measure_interleaved([&] { return now; }, {call_of([&] { now += lengths.at(call++); })});
  ASSERT_EQ(measured.size(), 1u);
  EXPECT_NEAR(measured[0]->seconds, 0.017, 1e-12);
  EXPECT_EQ(call, lengths.size());
}

TEST(MeasureInterleaved, GoesOverAllCallsInRounds) {
  std::string order;
  double now = 0;
  const auto measured = measure_interleaved(
      [&] { return now; },
      {call_of([&] { now += 0.05, order += 'a'; }), call_of([&] { now += 0.05, order += 'b'; })});
  EXPECT_EQ(order, "aaabbbaaabbbaaabbbaaabbb");
  EXPECT_NEAR(measured[1]->seconds, 0.05, 1e-12);
}

TEST(MeasureInterleaved, GoesTwiceOverWhatTakesLong) {
  double now = 0;
  int calls = 0;
  measure_interleaved([&] { return now; }, {call_of([&] { now += 0.4, ++calls; })});
  EXPECT_EQ(calls, 4);  // each time one that warms up and one that counts
}

TEST(MeasureInterleaved, LeavesOutWhatDoesNotFit) {
  const MakeCall too_large = []() -> StageCall { throw OutOfMemory("too large"); };
  const auto measured = measure_interleaved(steady_clock_seconds(), {too_large, call_of([] {})});
  EXPECT_FALSE(measured[0]);
  EXPECT_TRUE(measured[1]);
}

TEST(MeasureInterleaved, AnErrorIsThrownOn) {
  EXPECT_THROW(measure_interleaved(steady_clock_seconds(), {call_of([] { throw InputError("bad"); })}),
               InputError);
}

/// A backend whose calls take the time of a law, by a clock of its own.
class LawfulBackend : public Backend {
 public:
  double now = 0;
  std::vector<StageTask> seen;

  std::string name() const override { return "lawful"; }
  int streams() const override { return 1; }
  WorkMemory memory(const SweepShape&) const override { return {}; }
  WorkMemory pair_memory(int, int, const PairOptions&) const override { return {}; }
  DepthEstimate sweep(const SweepProblem& problem) override {
    pass(task_of(problem, 2));
    return {};
  }
  DisparityMap match(const PairProblem& problem) override {
    pass(task_of(problem, 2));
    return {};
  }
  static double seconds(const StageTask& it) {
    const auto terms = it.work.terms();
    return 1e-3 + (2 + 0.1 * it.radius) * (1e-9 * terms[1] + 4e-10 * terms[2] + 3e-10 * terms[3] +
                                           1e-11 * terms[4] + 5e-9 * terms[5]);
  }

 private:
  void pass(const StageTask& it) {
    const bool known = !seen.empty() && seen.back().pixels == it.pixels && seen.back().planes == it.planes;
    now += seconds(it) + (known ? 0 : 0.25);
    seen.push_back(it);
  }
};

TEST(Calibration, RecoversTheLawOfASweep) {
  LawfulBackend backend;
  PerformanceModel model;
  SweepSpec like;
  for (const int window : {5, 9}) {
    like.options.window = window;
    calibrate([&] { return backend.now; }, calibration_calls(backend, like, 2), model);
  }
  for (const int window : {5, 7, 9}) {
    like.options.window = window;
    const StageTask wanted = task_of(sample_sweep({517, 391, 91, 5, 0.6}, like).problem, 2);
    EXPECT_NEAR(model.seconds(wanted) / LawfulBackend::seconds(wanted), 1, window == 7 ? 0.02 : 1e-6)
        << window;
  }
}

TEST(Calibration, RecoversTheLawOfPatches) {
  LawfulBackend backend;
  PerformanceModel model;
  SweepSpec patches;
  patches.stages.patches = true;
  calibrate([&] { return backend.now; }, calibration_calls(backend, patches, 2), model);
  const StageTask wanted = task_of(sample_sweep({517, 391, 91, 20, 0.6}, patches).problem, 2);
  EXPECT_NEAR(model.seconds(wanted) / LawfulBackend::seconds(wanted), 1, 1e-4);
}

TEST(Calibration, RecoversTheLawOfPairs) {
  for (const PairMethod method :
       {PairMethod::kBlockMatching, PairMethod::kSemiGlobal, PairMethod::kBeliefPropagation}) {
    LawfulBackend backend;
    PerformanceModel model;
    PairOptions options;
    options.method = method;
    calibrate([&] { return backend.now; }, calibration_calls(backend, options, 2), model);
    options.range.count = 77;
    const StageTask wanted = pair_task(333, 222, options, 2);
    EXPECT_NEAR(model.seconds(wanted) / LawfulBackend::seconds(wanted), 1, 1e-4) << static_cast<int>(method);
  }
}

TEST(Calibration, MeasuresTheSameEveryTime) {
  LawfulBackend a, b;
  PerformanceModel model;
  calibrate([&] { return a.now; }, calibration_calls(a, SweepSpec{}, 2), model);
  const std::size_t once = model.measured().size();
  calibrate([&] { return b.now; }, calibration_calls(b, SweepSpec{}, 2), model);
  EXPECT_EQ(model.measured().size(), once);  // in place of what was known
  ASSERT_EQ(a.seen.size(), b.seen.size());
  for (std::size_t i = 0; i < a.seen.size(); ++i) EXPECT_EQ(a.seen[i].work.terms(), b.seen[i].work.terms());
}

/// Has no memory for more than a million samples.
class SmallBackend : public LawfulBackend {
 public:
  DepthEstimate sweep(const SweepProblem& problem) override {
    const Pinhole& camera = problem.reference.camera;
    if (camera.width * camera.height * problem.planes.count > 1'000'000) throw OutOfMemory("too large");
    return LawfulBackend::sweep(problem);
  }
};

TEST(Calibration, LeavesOutWhatDoesNotFit) {
  SmallBackend backend;
  PerformanceModel model;
  calibrate([&] { return backend.now; }, calibration_calls(backend, SweepSpec{}, 2), model);
  EXPECT_EQ(model.measured().size(), 1u);
}

}  // namespace
}  // namespace recon
