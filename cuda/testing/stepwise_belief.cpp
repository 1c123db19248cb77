#include <vector>

#include "core/aligned_buffer.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/testing/cuda_belief.hpp"
#include "cuda/testing/measure.hpp"
#include "cuda/testing/stepwise_belief_kernels.hpp"

namespace recon::cuda {
namespace {

/// A pair on the device with all the memory of its levels, freed at the end.
class StepwiseCall {
 public:
  StepwiseCall(const PairProblem& problem, const BeliefArrangement& arrangement, const Stream& stream)
      : problem_(problem), arrangement_(arrangement), stream_(stream) {
    check_pair(problem);
    const BeliefOptions& options = problem.options.belief;
    const GreyPair& images = problem.images;
    const BeliefShape shape{images.left.width, images.left.height, problem.options.range.count};
    check_belief(shape, options);
    EXPECTS(options.smoothing_sigma == 0.0f);
    belief_.levels = stepwise_levels(shape, options, arrangement);
    belief_.disparities = shape.disparities;
    belief_.iterations = options.iterations;
    belief_.cap = belief_cap(options, shape.disparities);
    belief_.cost = {options.data_weight, options.data_cap};
    belief_.min_disparity = problem.options.range.min;
    take_memory();
  }

  void poison() {
    for (const DeviceBuffer& buffer : memory_)
      RECON_CUDA_TRY(cudaMemsetAsync(buffer.data(), 0xFF, buffer.bytes(), stream_.get()));
  }
  void upload() {
    copy_rows(problem_.images.left, left_);
    copy_rows(problem_.images.right, right_);
  }
  void propagate() {
    launch_stepwise_belief(belief_, arrangement_, problem_.options.belief.storage, stream_.get());
  }
  DisparityMap result() const {
    const StepwiseLevel& finest = belief_.levels[0];
    std::vector<std::uint16_t> winners(element_count({finest.width, finest.height}));
    RECON_CUDA_TRY(cudaMemcpyAsync(winners.data(), belief_.winners, winners.size() * sizeof(std::uint16_t),
                                   cudaMemcpyDeviceToHost, stream_.get()));
    stream_.synchronize();
    DisparityMap map{Image<float>(finest.width, finest.height)};
    std::size_t i = 0;
    for (int y = 0; y < finest.height; ++y)
      for (int x = 0; x < finest.width; ++x)
        map.disparity(x, y) = static_cast<float>(belief_.min_disparity + winners[i++]);
    return map;
  }
  std::size_t device_bytes() const {
    std::size_t bytes = 0;
    for (const DeviceBuffer& buffer : memory_) bytes += buffer.bytes();
    return bytes;
  }

 private:
  /// Allocates everything, piece by piece or at once.
  void take_memory() {
    struct Piece {
      void** pointer;
      std::size_t bytes;
    };
    std::vector<Piece> pieces;
    const std::ptrdiff_t stored =
        static_cast<std::ptrdiff_t>(belief_storage_bytes(problem_.options.belief.storage));
    for (StepwiseLevel& level : belief_.levels) {
      const std::size_t bytes = element_count({level.room(), belief_.disparities, stored});
      pieces.push_back({&level.costs, bytes});
      for (void*& messages : level.messages) pieces.push_back({&messages, bytes});
    }
    const StepwiseLevel& finest = belief_.levels[0];
    const std::size_t pixels = element_count({finest.width, finest.height});
    void *left = nullptr, *right = nullptr, *winners = nullptr, *kept = nullptr;
    pieces.push_back({&left, pixels});
    pieces.push_back({&right, pixels});
    pieces.push_back({&winners, pixels * sizeof(std::uint16_t)});
    if (const std::size_t floats = stepwise_kept_floats(finest, arrangement_, belief_.disparities))
      pieces.push_back({&kept, floats * sizeof(float)});

    std::size_t all = 0;
    for (const Piece& piece : pieces) all += arena_bytes(piece.bytes);
    if (arrangement_.one_allocation) memory_.emplace_back(all);
    std::size_t used = 0;
    for (const Piece& piece : pieces) {
      if (!arrangement_.one_allocation) memory_.emplace_back(piece.bytes);
      *piece.pointer = memory_.back().data() + used;
      if (arrangement_.one_allocation) used += arena_bytes(piece.bytes);
    }
    left_ = static_cast<std::uint8_t*>(left);
    right_ = static_cast<std::uint8_t*>(right);
    belief_.left = left_;
    belief_.right = right_;
    belief_.winners = static_cast<std::uint16_t*>(winners);
    belief_.kept = static_cast<float*>(kept);
  }

  void copy_rows(ImageView<const std::uint8_t> image, std::uint8_t* to) const {
    const std::size_t row = static_cast<std::size_t>(image.width);
    RECON_CUDA_TRY(cudaMemcpy2DAsync(to, row, image.data, static_cast<std::size_t>(image.pitch), row,
                                     static_cast<std::size_t>(image.height), cudaMemcpyHostToDevice,
                                     stream_.get()));
  }

  const PairProblem& problem_;
  const BeliefArrangement& arrangement_;
  const Stream& stream_;
  StepwiseBelief belief_;
  std::uint8_t *left_ = nullptr, *right_ = nullptr;
  std::vector<DeviceBuffer> memory_;
};

}  // namespace

DisparityMap run_stepwise_belief(const PairProblem& problem, const BeliefArrangement& arrangement,
                                 int device) {
  use_device(device);
  const Stream stream;
  StepwiseCall call(problem, arrangement, stream);
  call.poison();
  call.upload();
  call.propagate();
  return call.result();
}

BeliefTimes time_stepwise_belief(const PairProblem& problem, const BeliefArrangement& arrangement,
                                 int repeats, int device) {
  EXPECTS(repeats >= 1);
  BeliefTimes times;
  times.device = use_device(device).name;
  const Stream stream;
  {
    StepwiseCall call(problem, arrangement, stream);
    times.device_bytes = call.device_bytes();
    call.upload();
    times.kernels = time_events(stream, repeats, [&] { call.propagate(); });
  }
  times.whole = time_whole(repeats, [&] {
    StepwiseCall call(problem, arrangement, stream);
    call.upload();
    call.propagate();
    call.result();
  });
  return times;
}

}  // namespace recon::cuda
