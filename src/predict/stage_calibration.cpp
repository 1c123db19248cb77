#include "predict/stage_calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numbers>

#include "core/aligned_buffer.hpp"
#include "core/parallel.hpp"
#include "core/progress.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/sweep/plane_sweep.hpp"

namespace recon {

namespace {

/// Patches of 24 pixels that differ much, of 4 that differ less, and a little noise.
std::uint8_t texture(int x, int y) {
  const auto hashed = [&](int size) {  // 0 .. 255
    std::uint32_t h = static_cast<std::uint32_t>(x / size + size) * 0x85EBCA6Bu ^
                      static_cast<std::uint32_t>(y / size) * 0xC2B2AE35u;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    return (h ^ h >> 12) >> 24;
  };
  return static_cast<std::uint8_t>((4 * hashed(24) + 2 * hashed(4) + hashed(1) / 4) * 255 / (6 * 255 + 64));
}

template <class T, class Pixel>
Image<T> drawn(int width, int height, const Pixel& pixel) {
  Image<T> image(width, height);
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x) image(x, y) = pixel(x, y);
  });
  return image;
}

/// Size of a sample.
struct SampleSize {
  int width = 0, height = 0, planes = 0;
  int sources = 1;  ///< of a sweep

  SampleSize scaled(double lengths, double depths) const {
    const auto times = [](int value, double by) {
      return std::max(8, static_cast<int>(std::lround(value * by)));
    };
    return {times(width, lengths), times(height, lengths), times(planes, depths), sources};
  }
};

std::vector<SampleSize> sample_sizes(const SampledMethod& method, int threads, double scale) {
  std::vector<SampleSize> sizes = {{160, 120, 32, 2},  {320, 240, 64, 4}, {320, 240, 256, 8},
                                   {480, 360, 128, 3}, {640, 480, 64, 8}, {400, 300, 512, 4}};
  if (threads == 0)
    sizes = {{320, 240, 64, 2},    {640, 480, 128, 4},   {640, 480, 512, 8}, {1024, 768, 256, 3},
             {1600, 1200, 128, 8}, {1600, 1200, 512, 4}, {800, 600, 1000, 8}};
  const bool volumes = method.pair && !fused_stages(method.spec);
  // More than 512 disparities may be another stage on a GPU, which needs sizes of its own.
  if (threads == 0 && method.pair && !volumes)
    sizes.insert(sizes.end(), {{900, 675, 850}, {1100, 825, 1000}});
  for (SampleSize& size : sizes) {
    size = size.scaled(scale * std::sqrt(std::clamp(threads / 4.0, 1.0, 8.0)), scale);
    // Views far apart search hardly fewer disparities than the images are wide; volumes of floats have at
    // most half as many, and adaptive weights, which sum whole windows, fewer pixels.
    if (method.pair) size.planes = std::min(size.planes, size.width);
    if (volumes) size.planes = std::min({size.planes, size.width / 2, 256});
    const AggregationOptions by = volumes ? method.spec.aggregation : AggregationOptions{};
    if (by.kind == Aggregation::kAdaptiveWeight)
      size = size.scaled(std::clamp(8.0 / (2 * by.adaptive_weight.radius + 1), 0.2, 0.6), 0.25);
  }
  return sizes;
}

/// A problem that owns its images.
template <class Problem>
struct Sample {
  std::vector<Image<std::uint8_t>> grey;
  std::vector<Image<Rgb8>> colour;
  Problem problem;
};

/// A view and sources around it, each aimed at the middle plane, of which all show the same.
std::shared_ptr<Sample<SweepProblem>> sweep_sample(const SampleSize& size, const MethodSpec& sweep) {
  constexpr double kNear = 1, kFar = 4, kMiddle = 0.5 * (1 / kNear + 1 / kFar);
  constexpr double kDistance = 0.5 / (1 / kNear - 1 / kFar);  // pixels move by half of the width
  Image<std::uint8_t> image = drawn<std::uint8_t>(size.width, size.height, texture);
  const auto sample = std::make_shared<Sample<SweepProblem>>();
  SweepProblem& problem = sample->problem = {sweep, {}, make_plane_set(kNear, kFar, size.planes), {}};
  const double focal = size.width;
  problem.reference.camera = {size.width, size.height, focal, focal, 0.5 * size.width, 0.5 * size.height};
  problem.reference.channel[0] = image.view();
  for (int s = 0; s < size.sources; ++s) {
    const double angle = 2 * std::numbers::pi * s / size.sources;
    const double x = kDistance * std::cos(angle), y = kDistance * std::sin(angle);
    PosedImage& source = problem.sources.emplace_back(problem.reference);
    source.cam_from_world.translation = {-x, -y, 0};
    source.camera.cx += focal * x * kMiddle;
    source.camera.cy += focal * y * kMiddle;
  }
  if (has_patches(sweep)) sample->grey = halve_images(problem);
  sample->grey.push_back(std::move(image));
  return sample;
}

/// A pair whose disparities, 0 .. size.planes - 1, rise downwards and jump where the colour does.
std::shared_ptr<Sample<PairProblem>> pair_sample(const SampleSize& size, const MethodSpec& method) {
  const int most = size.planes - 1;
  const auto disparity = [&](int x, int y) {
    const int jump = (x / 48 + y / 48) % 2 * most / 4;
    return std::clamp(most / 8 + most / 2 * y / size.height + jump, 0, most);
  };
  const auto sample = std::make_shared<Sample<PairProblem>>();
  for (const bool left : {true, false}) {
    const auto colour = [&](int column, int y) {  // column 0 of the right image is `planes` into the texture
      const int x = column + size.planes - (left ? disparity(column, y) : 0);
      return Rgb8{texture(x, y), texture(x, y + 3), texture(x + 5, y)};
    };
    const auto grey = [&](int x, int y) { return colour(x, y).r; };
    sample->colour.push_back(drawn<Rgb8>(size.width, size.height, colour));
    sample->grey.push_back(drawn<std::uint8_t>(size.width, size.height, grey));
  }
  sample->problem = {{sample->grey[0].view(), sample->grey[1].view(), {}, {}},
                     {method, {0, size.planes}},
                     {sample->colour[0].view(), sample->colour[1].view()}};
  sample->problem.options.block.region = {};  // need not lie within a sample
  return sample;
}

StageCall call_of(Backend& backend, std::shared_ptr<const Sample<SweepProblem>> sample, int threads) {
  return {sweep_task(sweep_shape(sample->problem), threads),
          [=, &backend] { backend.sweep(sample->problem); }};
}

StageCall call_of(Backend& backend, std::shared_ptr<const Sample<PairProblem>> sample, int threads) {
  const Image<std::uint8_t>& left = sample->grey.front();
  return {pair_task(left.width(), left.height(), sample->problem.options, threads),
          [=, &backend] { backend.match(sample->problem); }};
}

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
  constexpr double kMinSeconds = 1e-7;  // clocks have a resolution; a time is never zero
  try {
    const StageCall call = make();
    turns.task = call.task;
    double sum = 0;
    for (int i = -1; i < kMax && (sum < kEnough || (i < kMin && sum < 4 * kEnough)); ++i) {
      const double start = clock();
      call.run();
      const double seconds = std::max(kMinSeconds, clock() - start);
      turns.spent += seconds;
      if (i < 0) continue;  // the first one warms up
      turns.seconds.push_back(seconds);
      sum += seconds;
    }
  } catch (const OutOfMemory&) {
    turns.fits = false;
  }
  release_kept_memory();
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<std::optional<MeasuredTask>> measure_interleaved(const std::vector<MakeCall>& calls,
                                                             const SecondsClock& clock) {
  constexpr int kRounds = 4, kMinRounds = 2;
  constexpr double kLong = 0.8;  // seconds of a call's turns, beyond which two rounds are enough
  std::vector<Turns> turns(calls.size());
  Progress progress("measuring stages", kRounds * static_cast<int>(calls.size()), progress_style(false));
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (turns[i].fits && (round < kMinRounds || turns[i].spent < kLong)) {
        take_turn(clock, calls[i], turns[i]);
        progress.advance();
      } else {
        progress.skip(1);
      }
  std::vector<std::optional<MeasuredTask>> measured;
  for (auto& [task, spent, seconds, fits] : turns) {
    std::ranges::sort(seconds);
    measured.emplace_back();
    if (fits) measured.back() = {task, seconds[(seconds.size() - 1) / 4]};
  }
  return measured;
}

std::vector<MakeCall> sample_calls(Backend& backend, const SampledMethod& method, int threads, double scale) {
  std::vector<MakeCall> calls;
  for (const SampleSize& size : sample_sizes(method, threads, scale))
    calls.push_back([=, &backend] {
      return method.pair ? call_of(backend, pair_sample(size, method.spec), threads)
                         : call_of(backend, sweep_sample(size, method.spec), threads);
    });
  return calls;
}

void calibrate(const std::vector<MakeCall>& calls, PerformanceModel& model, const SecondsClock& clock) {
  const auto measured = measure_interleaved(calls, clock);
  for (const auto& it : measured)
    if (it)
      std::erase_if(model.measured, [&](const MeasuredTask& old) {
        return old.task.stage == it->task.stage && old.task.radius == it->task.radius;
      });
  for (const auto& it : measured)
    if (it) model.measured.push_back(*it);
}

}  // namespace recon
