#include "predict/stage_calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "core/aligned_buffer.hpp"
#include "methods/backend.hpp"

namespace recon {
namespace {

/// Clocks have a resolution; a time is never zero.
constexpr double kMinSeconds = 1e-7;

/// The times of one call so far.
struct Turns {
  StageTask task;
  double spent = 0;
  std::vector<double> seconds;
  bool fits = true;
};

/// Prepares the call, warms up and measures.
void take_turn(const SecondsClock& clock, const MakeCall& make, Turns& turns) {
  constexpr double kEnough = 0.03;  // seconds of measured calls per turn
  constexpr int kMin = 2, kMax = 10;
  const auto timed = [&](const StageCall& call) {
    const double start = clock();
    call.run();
    const double seconds = std::max(kMinSeconds, clock() - start);
    turns.spent += seconds;
    return seconds;
  };
  try {
    const StageCall call = make();
    turns.task = call.task;
    timed(call);  // warms up
    double sum = 0;
    for (int i = 0; i < kMax && (sum < kEnough || (i < kMin && sum < 4 * kEnough)); ++i) {
      turns.seconds.push_back(timed(call));
      sum += turns.seconds.back();
    }
  } catch (const OutOfMemory&) {
    turns.fits = false;
  }
  release_kept_memory();
}

SampleSize scaled(SampleSize size, double scale) {
  const auto length = [&](int pixels) { return std::max(16, static_cast<int>(std::lround(pixels * scale))); };
  size.width = length(size.width);
  size.height = length(size.height);
  return size;
}

std::vector<SampleSize> calibration_sizes(int threads) {
  if (threads == 0)
    return {{320, 240, 64, 2, 0.3},   {640, 480, 128, 4, 0.8},   {640, 480, 512, 8, 0.3},
            {1024, 768, 256, 3, 1.6}, {1600, 1200, 128, 8, 0.3}, {1600, 1200, 512, 4, 0.8},
            {800, 600, 1000, 8, 1.6}};
  std::vector<SampleSize> sizes = {{160, 120, 32, 2, 0.3},  {320, 240, 64, 4, 0.8}, {320, 240, 256, 8, 0.3},
                                   {480, 360, 128, 3, 1.6}, {640, 480, 64, 8, 0.3}, {400, 300, 512, 4, 0.8}};
  for (SampleSize& size : sizes) size = scaled(size, std::sqrt(std::clamp(threads / 4.0, 1.0, 8.0)));
  return sizes;
}

/// Views far apart search hardly fewer disparities than the images are wide; volumes of floats have at most
/// half as many, and adaptive weights, which sum whole windows, fewer pixels.
std::vector<SampleSize> pair_sizes(const PairOptions& options, int threads) {
  std::vector<SampleSize> sizes = calibration_sizes(threads);
  const bool volumes = options.method == PairMethod::kPipeline;
  // More than 512 disparities may be another stage on a GPU, which needs sizes of its own.
  if (threads == 0 && !volumes) sizes.insert(sizes.end(), {{640, 480, 600}, {1024, 768, 900}});
  const AggregationOptions& by = options.pipeline.aggregation;
  for (SampleSize& size : sizes) {
    size.planes = volumes ? std::min({size.planes, size.width / 2, 256}) : std::min(size.planes, size.width);
    if (!volumes || by.kind != Aggregation::kAdaptiveWeight) continue;
    size = scaled(size, std::clamp(8.0 / (2 * by.adaptive_weight.radius + 1), 0.2, 0.6));
    size.planes = std::max(8, size.planes / 4);
  }
  return sizes;
}

StageCall sweep_call(Backend& backend, const SweepSpec& sweep, const SampleSize& size, int threads) {
  const auto sample = std::make_shared<const SampleSweep>(sample_sweep(size, sweep));
  backend.memory(sweep_shape(sample->problem));
  return {task_of(sample->problem, threads), [sample, &backend] { backend.sweep(sample->problem); }};
}

StageCall pair_call(Backend& backend, PairOptions options, const SampleSize& size, int threads) {
  options.block.region = {};  // need not lie within a sample
  const auto sample = std::make_shared<const SamplePair>(sample_pair(size, options));
  backend.pair_memory(size.width, size.height, sample->problem.options);
  return {task_of(sample->problem, threads), [sample, &backend] { backend.match(sample->problem); }};
}

}  // namespace

SecondsClock steady_clock_seconds() {
  return [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
}

std::vector<std::optional<MeasuredTask>> measure_interleaved(const SecondsClock& clock,
                                                             const std::vector<MakeCall>& calls) {
  constexpr int kRounds = 4, kMinRounds = 2;
  constexpr double kLong = 0.8;  // seconds of a call's turns, beyond which two rounds are enough
  std::vector<Turns> turns(calls.size());
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (turns[i].fits && (round < kMinRounds || turns[i].spent < kLong))
        take_turn(clock, calls[i], turns[i]);
  std::vector<std::optional<MeasuredTask>> measured;
  for (Turns& it : turns) {
    std::sort(it.seconds.begin(), it.seconds.end());
    measured.emplace_back();
    if (it.fits) measured.back() = {it.task, it.seconds[(it.seconds.size() - 1) / 4]};
  }
  return measured;
}

MakeCall stage_call(Backend& backend, const StageOptions& options, const SampleSize& size, int threads) {
  return [=, &backend] {
    if (const auto* sweep = std::get_if<SweepSpec>(&options))
      return sweep_call(backend, *sweep, size, threads);
    return pair_call(backend, std::get<PairOptions>(options), size, threads);
  };
}

std::vector<MakeCall> calibration_calls(Backend& backend, const StageOptions& options, int threads) {
  const auto* pair = std::get_if<PairOptions>(&options);
  std::vector<MakeCall> calls;
  for (const SampleSize& size : pair ? pair_sizes(*pair, threads) : calibration_sizes(threads))
    calls.push_back(stage_call(backend, options, size, threads));
  return calls;
}

void calibrate(const SecondsClock& clock, const std::vector<MakeCall>& calls, PerformanceModel& model) {
  const auto measured = measure_interleaved(clock, calls);
  for (const auto& it : measured)
    if (it) model.erase(it->task.stage, it->task.radius);
  for (const auto& it : measured)
    if (it) model.add(it->task, it->seconds);
}

}  // namespace recon
