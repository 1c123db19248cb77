#include "predict/stage_calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "core/aligned_buffer.hpp"
#include "core/parallel.hpp"
#include "match/posed_image.hpp"
#include "methods/backend.hpp"
#include "methods/sweep/coarse_to_fine.hpp"

namespace recon {

namespace {

/// A number 0 .. 255 from a place.
std::uint32_t hashed(std::uint32_t x, std::uint32_t y) {
  std::uint32_t h = x * 0x85EBCA6Bu ^ y * 0xC2B2AE35u;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  return (h ^ h >> 12) >> 24;
}

/// Patches of 24 pixels that differ much, of 4 that differ less, and a little noise.
std::uint8_t texture(int x, int y) {
  const auto at = [&](int size) {
    return hashed(static_cast<std::uint32_t>(x / size + size), static_cast<std::uint32_t>(y / size));
  };
  return static_cast<std::uint8_t>((4 * at(24) + 2 * at(4) + at(1) / 4) * 255 / (6 * 255 + 64));
}

template <class T, class Pixel>
Image<T> drawn(int width, int height, const Pixel& pixel) {
  Image<T> image(width, height);
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x) image(x, y) = pixel(x, y);
  });
  return image;
}

constexpr double kPi = 3.14159265358979;
constexpr double kNear = 1, kFar = 4;

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

SampleSweep sample_sweep(const SampleSize& size, const SweepSpec& sweep) {
  SampleSweep sample;
  sample.image = drawn<std::uint8_t>(size.width, size.height, texture);
  sample.problem = {sweep, {}, make_plane_set(kNear, kFar, size.planes), {}};
  PosedImage image;
  const double focal = size.width, middle = 0.5 * (1 / kNear + 1 / kFar);
  image.camera = {size.width, size.height, focal, focal, 0.5 * size.width, 0.5 * size.height};
  image.channel[0] = sample.image.view();
  sample.problem.reference = image;
  const double distance = size.reach / (1 / kNear - 1 / kFar);
  for (int s = 0; s < size.sources; ++s) {
    const double angle = 2 * kPi * s / size.sources;
    const double x = distance * std::cos(angle), y = distance * std::sin(angle);
    PosedImage source = image;
    source.cam_from_world.translation = {-x, -y, 0};
    source.camera.cx += focal * x * middle;
    source.camera.cy += focal * y * middle;
    sample.problem.sources.push_back(source);
  }
  if (sweep.stages.patches) sample.coarser = halve_images(sample.problem);
  return sample;
}

SamplePair sample_pair(const SampleSize& size, const PairOptions& options) {
  const int most = size.planes - 1;
  const auto disparity = [&](int x, int y) {
    const int jump = (x / 48 + y / 48) % 2 * most / 4;
    return std::clamp(most / 8 + most / 2 * y / size.height + jump, 0, most);
  };
  // The texture at a column of the right image, whose column 0 is `planes` pixels into the texture.
  const auto colour = [&](int column, int y) {
    const int x = column + size.planes;
    return Rgb8{texture(x, y), texture(x, y + 3), texture(x + 5, y)};
  };
  const auto red_of = [](const Image<Rgb8>& image) {
    return drawn<std::uint8_t>(image.width(), image.height(), [&](int x, int y) { return image(x, y).r; });
  };
  SamplePair sample;
  sample.left_colour =
      drawn<Rgb8>(size.width, size.height, [&](int x, int y) { return colour(x - disparity(x, y), y); });
  sample.right_colour = drawn<Rgb8>(size.width, size.height, colour);
  sample.left = red_of(sample.left_colour);
  sample.right = red_of(sample.right_colour);
  sample.problem.images.left = sample.left.view();
  sample.problem.images.right = sample.right.view();
  sample.problem.colour = {sample.left_colour.view(), sample.right_colour.view()};
  sample.problem.options = options;
  sample.problem.options.range = {0, size.planes};
  return sample;
}

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
