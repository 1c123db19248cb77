#include "predict/stage_calibration.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <thread>

#include "aggregate/adaptive_weight.hpp"
#include "aggregate/constant_window.hpp"
#include "aggregate/cross_based.hpp"
#include "core/large_memory.hpp"
#include "match/ad_census.hpp"
#include "match/cross_arms.hpp"
#include "methods/sweep/sweep_shape.hpp"

namespace recon {
namespace {

/// Clocks have steps; a time is never zero.
constexpr double kMinSeconds = 1e-7;

/// The times of one call, as far as they are measured.
struct Turns {
  StageTask task;
  double spent = 0;
  std::vector<double> undisturbed, disturbed;
  bool fits = true;

  MeasuredCall measured() {
    std::vector<double>& seconds = undisturbed.empty() ? disturbed : undisturbed;
    std::sort(seconds.begin(), seconds.end());
    return {task, seconds[(seconds.size() - 1) / 4], undisturbed.empty()};
  }
};

/// A turn: the call is made ready, warmed up and measured.
void take_turn(const Stopwatch& watch, const MakeCall& make, Turns& turns) {
  constexpr double kEnough = 0.03;  // seconds of calls that count, a turn
  constexpr int kLeast = 2, kMost = 10;
  const auto timed = [&](const StageCall& call) {
    const double start = watch.clock();
    call.run();
    const double seconds = std::max(kMinSeconds, watch.clock() - start);
    turns.spent += seconds;
    return seconds;
  };
  try {
    const StageCall call = make();
    turns.task = call.task;
    timed(call);  // warms up
    const long before = watch.preemptions();
    std::vector<double> seconds;
    double sum = 0;
    for (int i = 0; i < kMost && (sum < kEnough || (i < kLeast && sum < 4 * kEnough)); ++i) {
      seconds.push_back(timed(call));
      sum += seconds.back();
    }
    // What a system does for itself takes a few.
    constexpr double kFew = 4, kFewASecond = 40;
    const bool undisturbed = static_cast<double>(watch.preemptions() - before) <= kFew + kFewASecond * sum;
    std::vector<double>& kept = undisturbed ? turns.undisturbed : turns.disturbed;
    kept.insert(kept.end(), seconds.begin(), seconds.end());
  } catch (const OutOfMemory&) {
    turns.fits = false;
  }
  release_kept_memory();  // the next call is another
}

int scaled(int length, double scale) {
  return std::max(16, static_cast<int>(std::lround(length * scale)));
}

double mean_arm_of(const Image<Cross>& arms) {
  double sum = 0;
  for (int y = 0; y < arms.height(); ++y)
    for (int x = 0; x < arms.width(); ++x) {
      const Cross arm = arms(x, y);
      sum += arm.left + arm.right + arm.up + arm.down;
    }
  return sum / (4.0 * arms.width() * arms.height());
}

/// Of the colour differences of samples, grey levels.
constexpr float kSampleCap = 20;

/// A call of an aggregation on a sample of this size, and what it counts as.
struct SampleAggregation {
  SampleAggregation(const SampleSize& size, const AggregationOptions& options, int threads);
  void run();

  StageTask task;

 private:
  AggregationOptions options_;
  SamplePair pair_;
  Volume<float> costs_, result_;
};

SampleAggregation::SampleAggregation(const SampleSize& size, const AggregationOptions& options, int threads)
    : options_(options),
      pair_(sample_pair(size, {})),
      costs_(size.width, size.planes, size.height),
      result_(size.width, size.planes, size.height) {
  colour_difference_costs({pair_.left_colour.view(), pair_.right_colour.view()}, PairSide::kLeft, 0,
                          kSampleCap, costs_.view());
  const double arm = options.kind == Aggregation::kCrossBased
                         ? mean_arm_of(cross_arms(pair_.left_colour.view(), options.cross))
                         : 0;
  task = aggregation_task(size.width, size.height, size.planes, options, arm, threads);
}

void SampleAggregation::run() {
  const ImageView<const Rgb8> left = pair_.left_colour.view(), right = pair_.right_colour.view();
  if (options_.kind == Aggregation::kConstantWindow)
    return constant_window(costs_.view(), options_.constant_radius, kSampleCap, result_.view());
  if (options_.kind == Aggregation::kAdaptiveWeight)
    return adaptive_weight({left, right}, options_.adaptive_weight, costs_.view(), result_.view());
  const Image<Cross> left_arms = cross_arms(left, options_.cross),
                     right_arms = cross_arms(right, options_.cross);
  cross_based({left_arms.view(), right_arms.view()}, options_.cross_based, kSampleCap, costs_.view());
}

/// Smaller sizes for what sums whole windows.
SampleSize lightened(SampleSize size, const AggregationOptions& options) {
  if (options.kind != Aggregation::kAdaptiveWeight) return size;
  const double windows = 2 * options.adaptive_weight.radius + 1;
  const double scale = std::clamp(8 / windows, 0.2, 0.6);
  return {scaled(size.width, scale), scaled(size.height, scale), std::max(8, size.planes / 4), size.sources,
          size.reach};
}

/// The sizes with at most half as many planes as the images are wide, for what stores volumes of floats.
std::vector<SampleSize> volume_sizes(int threads) {
  std::vector<SampleSize> sizes = calibration_sizes(threads);
  for (SampleSize& size : sizes) size.planes = std::min({size.planes, size.width / 2, 256});
  return sizes;
}

/// The sizes for pairs: of views from far apart hardly less than the width is searched.
std::vector<SampleSize> pair_sizes(const PairOptions& options, int threads) {
  if (options.method == PairMethod::kPipeline) return volume_sizes(threads);
  std::vector<SampleSize> sizes = calibration_sizes(threads);
  // More than 512 disparities may be another stage on a GPU, which needs sizes of its own.
  if (threads == 0) sizes.insert(sizes.end(), {{640, 480, 600}, {1024, 768, 900}});
  for (SampleSize& size : sizes) size.planes = std::min(size.planes, size.width);
  return sizes;
}

}  // namespace

SecondsClock steady_clock_seconds() {
  return [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
}

PreemptionCount process_preemptions() {
  return [] {
    rusage usage{};
    return ::getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0L;
  };
}

std::vector<std::optional<MeasuredCall>> measure_interleaved(const Stopwatch& watch,
                                                             const std::vector<MakeCall>& calls) {
  constexpr int kRounds = 4, kMinRounds = 2, kMostRounds = 8;
  constexpr double kLong = 0.8;  // seconds of a call's turns, beyond which two rounds are enough
  std::vector<Turns> turns(calls.size());
  const auto is_due = [](const Turns& it, int round) {
    if (round >= kRounds) return it.undisturbed.empty();
    return round < kMinRounds || it.spent < kLong;
  };
  for (int round = 0; round < kMostRounds; ++round)
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (turns[i].fits && is_due(turns[i], round)) take_turn(watch, calls[i], turns[i]);
  std::vector<std::optional<MeasuredCall>> measured;
  for (Turns& it : turns) {
    measured.emplace_back();
    if (it.fits) measured.back() = it.measured();
  }
  return measured;
}

std::vector<SampleSize> calibration_sizes(int threads) {
  if (threads == 0)
    return {{320, 240, 64, 2, 0.3},   {640, 480, 128, 4, 0.8},   {640, 480, 512, 8, 0.3},
            {1024, 768, 256, 3, 1.6}, {1600, 1200, 128, 8, 0.3}, {1600, 1200, 512, 4, 0.8},
            {800, 600, 1000, 8, 1.6}};
  const double scale = std::sqrt(std::clamp(threads / 4.0, 1.0, 8.0));
  std::vector<SampleSize> sizes;
  for (const SampleSize& size : {SampleSize{160, 120, 32, 2, 0.3},
                                 {320, 240, 64, 4, 0.8},
                                 {320, 240, 256, 8, 0.3},
                                 {480, 360, 128, 3, 1.6},
                                 {640, 480, 64, 8, 0.3},
                                 {400, 300, 512, 4, 0.8}})
    sizes.push_back(
        {scaled(size.width, scale), scaled(size.height, scale), size.planes, size.sources, size.reach});
  return sizes;
}

StageTask task_of(const SweepProblem& problem, int threads) {
  return sweep_task(sweep_shape(problem), seen_share(problem), threads);
}

StageTask task_of(const PairProblem& problem, int threads) {
  return pair_task(problem.images.left.width, problem.images.left.height, problem.options, threads);
}

MakeCall sweep_call(Backend& backend, const SampleSize& size, const SweepSpec& like, int channels,
                    int threads) {
  return [=, &backend] {
    const auto sample = std::make_shared<const SampleSweep>(sample_sweep(size, like, channels));
    backend.memory(sweep_shape(sample->problem));
    return StageCall{task_of(sample->problem, threads),
                     [sample, &backend] { backend.sweep(sample->problem); }};
  };
}

MakeCall pair_call(Backend& backend, const SampleSize& size, const PairOptions& options, int threads) {
  PairOptions whole = options;
  whole.block.region = {};  // which need not lie within a sample
  return [=, &backend] {
    const auto sample = std::make_shared<const SamplePair>(sample_pair(size, whole));
    backend.pair_memory(size.width, size.height, sample->problem.options);
    return StageCall{task_of(sample->problem, threads),
                     [sample, &backend] { backend.match(sample->problem); }};
  };
}

MakeCall aggregation_call(const SampleSize& size, const AggregationOptions& options, int threads) {
  return [=] {
    const auto sample = std::make_shared<SampleAggregation>(size, options, threads);
    return StageCall{sample->task, [sample] { sample->run(); }};
  };
}

std::vector<MakeCall> sweep_calls(Backend& backend, const SweepSpec& like, int channels, int threads) {
  std::vector<MakeCall> calls;
  for (const SampleSize& size : calibration_sizes(threads))
    calls.push_back(sweep_call(backend, size, like, channels, threads));
  return calls;
}

std::vector<MakeCall> pair_calls(Backend& backend, const PairOptions& options, int threads) {
  std::vector<MakeCall> calls;
  for (const SampleSize& size : pair_sizes(options, threads))
    calls.push_back(pair_call(backend, size, options, threads));
  return calls;
}

std::vector<MakeCall> aggregation_calls(const AggregationOptions& options, int threads) {
  std::vector<MakeCall> calls;
  for (const SampleSize& size : volume_sizes(threads))
    calls.push_back(aggregation_call(lightened(size, options), options, threads));
  return calls;
}

bool calibrate(const Stopwatch& watch, const std::vector<MakeCall>& calls, PerformanceModel& model) {
  const auto measured = measure_interleaved(watch, calls);
  for (const auto& it : measured)
    if (it) model.erase(it->task.stage, it->task.radius);
  bool undisturbed = true;
  for (const auto& it : measured) {
    if (!it) continue;
    undisturbed = undisturbed && !it->disturbed;
    model.add(it->task, it->seconds);
  }
  return undisturbed;
}

}  // namespace recon
