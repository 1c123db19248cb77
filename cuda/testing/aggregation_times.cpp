#include <algorithm>
#include <cmath>

#include "cuda/aggregate/adaptive_weight.hpp"
#include "cuda/aggregate/constant_window.hpp"
#include "cuda/aggregate/cross_based.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/match/ad_census.hpp"
#include "cuda/match/cross_arms.hpp"
#include "cuda/optimize/winner/min_cost.hpp"
#include "cuda/testing/cuda_aggregation.hpp"
#include "cuda/testing/measure.hpp"
#include "cuda/testing/stepwise_aggregation.hpp"

namespace recon::cuda {
namespace {

/// A case on the device with all the memory of its steps.
class AggregationCall {
 public:
  explicit AggregationCall(const AggregationCase& problem)
      : problem_(problem), width_(problem.pair.left.width), height_(problem.pair.left.height) {
    const std::size_t pixels = element_count({width_, height_});
    for (const auto& [image, to] : {std::pair{problem.pair.left, &left_}, {problem.pair.right, &right_}}) {
      *to = take<Rgb8>(pixels);
      RECON_CUDA_TRY(cudaMemcpy2D(*to, row_bytes(width_), image.data, row_bytes(image.pitch),
                                  row_bytes(width_), static_cast<std::size_t>(height_),
                                  cudaMemcpyHostToDevice));
    }
    const CostTables tables = colour_difference_tables(problem.cost_cap);
    by_sum_ = take<float>(tables.by_sum.size());
    RECON_CUDA_TRY(cudaMemcpy(by_sum_, tables.by_sum.data(), sizeof tables.by_sum, cudaMemcpyHostToDevice));
    for (DeviceVolume* volume : {&costs_, &means_, &plain_})
      *volume = device_volume(take<float>(device_volume_floats(width_, problem.planes, height_)), width_,
                              problem.planes, height_);
    disparity_ = take<float>(pixels);
    arms_.pitch = padded_count<Cross>(width_);
    left_arms_ = take<Cross>(element_count({arms_.pitch, height_}));
    right_arms_ = take<Cross>(element_count({arms_.pitch, height_}));
    arms_.reference = left_arms_;
    arms_.source = problem.two_views ? right_arms_ : nullptr;
    arms_.longest = problem.options.cross.reach - 1;
    colours_ = {left_, problem.two_views ? right_ : nullptr, width_, PairSide::kLeft, 0};
    scratch_ = take<std::byte>(std::max(
        adaptive_weight_bytes(width_, problem.planes, height_),
        cross_based_bytes(width_, problem.planes, height_, problem.options.cross_based, arms_.longest)));
    queue_costs();
    queue_arms();
    stream_.synchronize();
  }

  const Stream& stream() const { return stream_; }
  void queue_costs() {
    queue_colour_costs({left_, right_, nullptr, nullptr, by_sum_, nullptr, PairSide::kLeft, 0}, costs_,
                       stream_.get());
  }
  void queue_arms() {
    for (const auto& [image, to] : {std::pair{left_, left_arms_}, {right_, right_arms_}})
      queue_cross_arms({image, width_, width_, height_}, problem_.options.cross, to, arms_.pitch,
                       stream_.get());
  }
  /// Crosses may overwrite the costs.
  void queue_aggregation() {
    const AggregationOptions& options = problem_.options;
    if (options.kind == Aggregation::kConstantWindow)
      queue_constant_window(costs_, options.constant_radius, problem_.cost_cap, means_, stream_.get());
    else if (options.kind == Aggregation::kAdaptiveWeight)
      queue_adaptive_weight(colours_, options.adaptive_weight, costs_, means_, scratch_, stream_.get());
    else
      crosses_ =
          queue_cross_based(arms_, options.cross_based, problem_.cost_cap, costs_, scratch_, stream_.get());
  }
  void queue_winner() { queue_min_cost(means_, 0, disparity_, stream_.get()); }

  StepwiseAggregation stepwise(Stepwise step) const {
    const AggregationOptions& options = problem_.options;
    const int radius = options.kind == Aggregation::kAdaptiveWeight   ? options.adaptive_weight.radius
                       : options.kind == Aggregation::kConstantWindow ? options.constant_radius
                                                                      : 0;
    return {step,   radius, options.adaptive_weight,     colours_, arms_,
            costs_, plain_, cost_unit(problem_.cost_cap)};
  }
  double max_difference() {
    queue_costs();
    queue_aggregation();
    const DeviceVolume& program = problem_.options.kind == Aggregation::kCrossBased ? crosses_ : means_;
    const std::vector<float> expected = download(program), found = download(plain_);
    double greatest = 0;
    for (std::ptrdiff_t row = 0; row < std::ptrdiff_t{height_} * problem_.planes; ++row)
      for (int x = 0; x < width_; ++x) {
        const auto i = static_cast<std::size_t>(row * costs_.pitch + x);
        const double e = static_cast<double>(expected[i]), f = static_cast<double>(found[i]);
        if (f != e) greatest = std::max(greatest, std::abs(f - e) / std::max(std::abs(e), 1e-30));
      }
    return greatest;
  }

 private:
  static std::size_t row_bytes(std::ptrdiff_t pixels) {
    return static_cast<std::size_t>(pixels) * sizeof(Rgb8);
  }
  template <class T>
  T* take(std::size_t count) {
    memory_.emplace_back(std::max<std::size_t>(count * sizeof(T), 1));
    return reinterpret_cast<T*>(memory_.back().data());
  }
  std::vector<float> download(const DeviceVolume& volume) const {
    std::vector<float> costs(device_volume_floats(volume.width, volume.planes, volume.height));
    RECON_CUDA_TRY(cudaMemcpyAsync(costs.data(), volume.data, costs.size() * sizeof(float),
                                   cudaMemcpyDeviceToHost, stream_.get()));
    stream_.synchronize();
    return costs;
  }

  const AggregationCase& problem_;
  int width_, height_;
  Stream stream_;
  std::vector<DeviceBuffer> memory_;
  Rgb8 *left_ = nullptr, *right_ = nullptr;
  float *by_sum_ = nullptr, *disparity_ = nullptr;
  Cross *left_arms_ = nullptr, *right_arms_ = nullptr;
  DeviceVolume costs_, means_, plain_, crosses_;
  CrossImages arms_;
  ColourImages colours_;
  std::byte* scratch_ = nullptr;
};

}  // namespace

AggregationTimes time_aggregation(const AggregationCase& problem, int repeats, int device) {
  EXPECTS(repeats >= 1);
  use_device(device);
  AggregationCall call(problem);
  AggregationTimes times;
  const auto time = [&](const auto& queue) { return time_events(call.stream(), repeats, queue); };
  times.costs = time([&] { call.queue_costs(); });
  if (problem.options.kind == Aggregation::kCrossBased) times.arms = time([&] { call.queue_arms(); });
  times.aggregation = time([&] { call.queue_aggregation(); });
  times.winner = time([&] { call.queue_winner(); });
  return times;
}

StepwiseRun run_stepwise_aggregation(const AggregationCase& problem, Stepwise step, int repeats, int device) {
  EXPECTS(repeats >= 1);
  use_device(device);
  AggregationCall call(problem);
  const StepwiseAggregation plain = call.stepwise(step);
  const DeviceBuffer scratch(stepwise_aggregation_bytes(plain));
  StepwiseRun run;
  run.aggregation = time_events(call.stream(), repeats, [&] {
    queue_stepwise_aggregation(plain, scratch.data(), call.stream().get());
  });
  run.max_difference = call.max_difference();
  return run;
}

}  // namespace recon::cuda
