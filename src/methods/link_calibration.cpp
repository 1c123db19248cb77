#include "methods/link_calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <thread>

#include "aggregate/adaptive_weight.hpp"
#include "aggregate/constant_window.hpp"
#include "aggregate/cross_based.hpp"
#include "core/large_memory.hpp"
#include "match/ad_census.hpp"
#include "match/cross_arms.hpp"
#include "methods/sweep_shape.hpp"

namespace recon {
namespace {

/// Calls on `lanes` threads at a time; the first error is thrown on.
void call_side_by_side(int lanes, const std::function<void()>& call) {
  if (lanes == 1) return call();
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(lanes));
  std::vector<std::thread> threads;
  for (std::exception_ptr& error : errors)
    threads.emplace_back([&] {
      try {
        call();
      } catch (...) {
        error = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

/// Clocks have steps; a time is never zero.
constexpr double kLeastSeconds = 1e-7;

void note(const LinkTask& task, const CallTimes& times, int lanes, PerformanceModel& model) {
  release_kept_memory();  // the next size is another
  const LinkTask laned = in_lanes(task, lanes);
  model.add(laned, times.further);
  model.add(first_call_of(laned), std::max(kLeastSeconds, times.first - times.further));
}

void forget(const LinkTask& task, int lanes, PerformanceModel& model) {
  const LinkTask laned = in_lanes(task, lanes);
  model.forget(laned.link, laned.radius);
  model.forget(first_call_of(laned).link, laned.radius);
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

/// Smaller sizes for what sums whole windows.
SampleSize lightened(SampleSize size, const AggregationOptions& options) {
  if (options.kind != Aggregation::kAdaptiveWeight) return size;
  const double windows = 2 * options.adaptive_weight.radius + 1;
  const double scale = std::clamp(8 / windows, 0.2, 0.6);
  return {scaled(size.width, scale), scaled(size.height, scale), std::max(8, size.planes / 4), size.sources,
          size.reach};
}

/// The sizes with at most half as many planes as the images are wide.
std::vector<SampleSize> pair_sizes(int threads) {
  std::vector<SampleSize> sizes = calibration_sizes(threads);
  for (SampleSize& size : sizes) size.planes = std::min({size.planes, size.width / 2, 256});
  return sizes;
}

}  // namespace

SecondsClock steady_clock_seconds() {
  return [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
}

CallTimes measure_calls(const Stopwatch& watch, const std::function<void()>& call) {
  constexpr double kLong = 0.4, kEnough = 0.1;
  constexpr int kLeast = 5, kMost = 40;
  const auto timed = [&] {
    const double start = watch.clock();
    call_side_by_side(watch.lanes, call);
    return std::max(kLeastSeconds, (watch.clock() - start) / watch.lanes);
  };
  CallTimes times;
  times.first = timed();
  std::vector<double> further;
  double sum = 0;
  do {
    further.push_back(timed());
    sum += further.back() * watch.lanes;
  } while (sum < kLong && static_cast<int>(further.size()) < kMost &&
           (sum < kEnough || static_cast<int>(further.size()) < kLeast));
  std::sort(further.begin(), further.end());
  times.further = further[(further.size() - 1) / 4];
  return times;
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

LinkTask first_call_of(LinkTask task) {
  task.link += " first";
  return task;
}

LinkTask in_lanes(LinkTask task, int lanes) {
  if (lanes > 1) task.link += " lanes" + std::to_string(lanes);
  return task;
}

LinkTask task_of(const SweepProblem& problem, int threads) {
  return sweep_task(sweep_shape(problem), problem.options, seen_share(problem), threads);
}

LinkTask task_of(const PairProblem& problem, int threads) {
  return pair_task(problem.images.left.width, problem.images.left.height, problem.options, threads);
}

void calibrate_sweep(Backend& backend, const Stopwatch& watch, const SweepProblem& like, int channels,
                     int threads, PerformanceModel& model) {
  bool first = true;
  for (const SampleSize& size : calibration_sizes(threads)) {
    const SampleSweep sample = sample_sweep(size, like, channels);
    const LinkTask task = task_of(sample.problem, threads);
    if (first) forget(task, watch.lanes, model);
    first = false;
    try {
      backend.memory(sweep_shape(sample.problem));
      note(task, measure_calls(watch, [&] { backend.sweep(sample.problem); }), watch.lanes, model);
    } catch (const OutOfMemory&) {
      // Larger views than these will not fit either.
    }
  }
}

void calibrate_pair(Backend& backend, const Stopwatch& watch, const PairOptions& options, int threads,
                    PerformanceModel& model) {
  bool first = true;
  PairOptions whole = options;
  whole.block.region = {};  // which need not lie within a sample
  for (const SampleSize& size : pair_sizes(threads)) {
    const SamplePair sample = sample_pair(size, whole);
    const LinkTask task = task_of(sample.problem, threads);
    if (first) forget(task, watch.lanes, model);
    first = false;
    try {
      backend.pair_memory(size.width, size.height, sample.problem.options);
      note(task, measure_calls(watch, [&] { backend.match(sample.problem); }), watch.lanes, model);
    } catch (const OutOfMemory&) {
      // Larger pairs than these will not fit either.
    }
  }
}

void calibrate_aggregation(const Stopwatch& watch, const AggregationOptions& options, int threads,
                           PerformanceModel& model) {
  bool first = true;
  for (const SampleSize& size : pair_sizes(threads)) {
    SampleAggregation sample(lightened(size, options), options, threads);
    if (first) forget(sample.task, 1, model);
    first = false;
    note(sample.task, measure_calls(watch, [&] { sample.run(); }), 1, model);
  }
}

SampleAggregation::SampleAggregation(const SampleSize& size, const AggregationOptions& options, int threads)
    : options_(options),
      pair_(sample_pair(size, {})),
      costs_(size.width, size.planes, size.height),
      result_(size.width, size.planes, size.height) {
  colour_difference_costs({pair_.left_colour.view(), pair_.right_colour.view()}, PairSide::kLeft, 0, 20,
                          costs_.view());
  const double arm = options.kind == Aggregation::kCrossBased
                         ? mean_arm_of(cross_arms(pair_.left_colour.view(), options.cross))
                         : 0;
  task = aggregation_task(size.width, size.height, size.planes, options, arm, threads);
}

void SampleAggregation::run() {
  const ImageView<const Rgb8> left = pair_.left_colour.view(), right = pair_.right_colour.view();
  if (options_.kind == Aggregation::kConstantWindow)
    return constant_window(costs_.view(), options_.constant_radius, result_.view());
  if (options_.kind == Aggregation::kAdaptiveWeight)
    return adaptive_weight({left, right}, options_.adaptive_weight, costs_.view(), result_.view());
  const Image<Cross> left_arms = cross_arms(left, options_.cross),
                     right_arms = cross_arms(right, options_.cross);
  cross_based({left_arms.view(), right_arms.view()}, options_.cross_based, costs_.view());
}

}  // namespace recon
