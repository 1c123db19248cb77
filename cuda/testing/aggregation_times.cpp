#include <algorithm>

#include "cuda/aggregate/adaptive_weight.hpp"
#include "cuda/aggregate/constant_window.hpp"
#include "cuda/aggregate/cross_based.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/match/ad_census.hpp"
#include "cuda/match/cross_arms.hpp"
#include "cuda/optimize/winner/min_cost.hpp"
#include "cuda/testing/cuda_aggregation.hpp"
#include "cuda/testing/support.hpp"

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
    for (DeviceVolume* volume : {&costs_, &means_})
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
        {constant_window_bytes(width_, problem.planes, height_, problem.options.constant_radius),
         adaptive_weight_bytes(width_, problem.planes, height_),
         cross_based_bytes(width_, problem.planes, height_, problem.options.cross_based, arms_.longest)}));
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
      queue_constant_window(costs_, options.constant_radius, problem_.cost_cap, means_, scratch_,
                            stream_.get());
    else if (options.kind == Aggregation::kAdaptiveWeight)
      queue_adaptive_weight(colours_, options.adaptive_weight, costs_, means_, scratch_, stream_.get());
    else
      queue_cross_based(arms_, options.cross_based, problem_.cost_cap, costs_, scratch_, stream_.get());
  }
  void queue_winner() { queue_min_cost(means_, 0, disparity_, stream_.get()); }

 private:
  static std::size_t row_bytes(std::ptrdiff_t pixels) {
    return static_cast<std::size_t>(pixels) * sizeof(Rgb8);
  }
  template <class T>
  T* take(std::size_t count) {
    memory_.emplace_back(std::max<std::size_t>(count * sizeof(T), 1));
    return reinterpret_cast<T*>(memory_.back().data());
  }

  const AggregationCase& problem_;
  int width_, height_;
  Stream stream_;
  std::vector<DeviceBuffer> memory_;
  Rgb8 *left_ = nullptr, *right_ = nullptr;
  float *by_sum_ = nullptr, *disparity_ = nullptr;
  Cross *left_arms_ = nullptr, *right_arms_ = nullptr;
  DeviceVolume costs_, means_;
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

}  // namespace recon::cuda
