#include "core/aligned_buffer.hpp"
#include "core/error.hpp"
#include "cuda/device/error.hpp"
#include "cuda/optimize/belief/belief_value.cuh"
#include "cuda/testing/stepwise_belief_kernels.hpp"
#include "optimize/belief/belief_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kBlockColumns = 32, kBlockRows = 4;

/// (y, x, d): the numbers of a pixel follow each other.
struct DisparityFastest {
  __device__ static std::ptrdiff_t first(const StepwiseLevel& level, int disparities, int x, int y) {
    return (level.row(x, y) + x / 2) * disparities;
  }
  __device__ static std::ptrdiff_t step(const StepwiseLevel&) { return 1; }
};

/// (y, d, x): the numbers of a row's pixels for one disparity follow each other.
struct ColumnFastest {
  __device__ static std::ptrdiff_t first(const StepwiseLevel& level, int disparities, int x, int y) {
    return level.row(x, y) * disparities + x / 2;
  }
  __device__ static std::ptrdiff_t step(const StepwiseLevel& level) { return level.columns; }
};

/// What all kernels take beside the level.
struct Task {
  int disparities;
  float cap;
  TruncatedDifference cost;
  int min_disparity;
  const std::uint8_t *left, *right;
  float* kept;
  std::uint16_t* winners;
};

/// The numbers of one pixel, from the lowest disparity on.
template <class T, class Layout>
struct Numbers {
  T* first;
  std::ptrdiff_t step;

  __device__ Numbers(const StepwiseLevel& level, void* data, int disparities, int x, int y)
      : first(static_cast<T*>(data) + Layout::first(level, disparities, x, y)), step(Layout::step(level)) {}
  __device__ T* at(int d) const { return first + d * step; }
};

/// What arrives at a pixel from a neighbour; zeros from outside.
template <class T, class Layout>
struct Incoming {
  Numbers<T, Layout> sent;
  bool inside;

  __device__ Incoming(const StepwiseLevel& level, BeliefMessage message, int disparities, int x, int y)
      : sent(level, level.messages[message], disparities, x, y),
        inside(x >= 0 && x < level.width && y >= 0 && y < level.height) {}
  __device__ float value(int d) const { return inside ? load_value(sent.at(d)) : 0.0f; }
};

template <class T, class Layout>
struct Neighbourhood {
  Numbers<T, Layout> cost;
  Incoming<T, Layout> above, below, left, right;

  __device__ Neighbourhood(const StepwiseLevel& level, int disparities, int x, int y)
      : cost(level, level.costs, disparities, x, y),
        above(level, kMessageDown, disparities, x, y - 1),
        below(level, kMessageUp, disparities, x, y + 1),
        left(level, kMessageRight, disparities, x - 1, y),
        right(level, kMessageLeft, disparities, x + 1, y) {}
};

/// The values of four messages between the two passes: the thread's own where the number of disparities is
/// known, otherwise in global memory.
template <int kDisparities>
struct Kept {
  float values[kDisparities][kMessageCount];
  __device__ explicit Kept(float*) {}
  __device__ float& at(int d, int message) { return values[d][message]; }
};

template <>
struct Kept<0> {
  float* first;
  std::ptrdiff_t threads;
  __device__ explicit Kept(float* global) {
    const std::ptrdiff_t columns = static_cast<std::ptrdiff_t>(gridDim.x) * blockDim.x;
    threads = columns * gridDim.y * blockDim.y;
    first =
        global + (blockIdx.y * blockDim.y + threadIdx.y) * columns + blockIdx.x * blockDim.x + threadIdx.x;
  }
  __device__ float& at(int d, int message) {
    return first[(static_cast<std::ptrdiff_t>(kMessageCount) * d + message) * threads];
  }
};

__device__ int thread_x() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}
__device__ int thread_y() {
  return static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
}

template <class T, class Layout>
__global__ void costs_kernel(StepwiseLevel level, Task task) {
  const int x = thread_x(), y = thread_y();
  if (x >= level.width || y >= level.height) return;
  const Numbers<T, Layout> cost(level, level.costs, task.disparities, x, y);
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * level.width;
  const float own = task.left[row + x];
  for (int d = 0; d < task.disparities; ++d) {
    const int other = x - task.min_disparity - d;
    const bool inside = other >= 0 && other < level.width;
    store_cost(inside ? task.cost.inside(own, task.right[row + other]) : task.cost.outside(), cost.at(d));
  }
}

template <class T, class Layout>
__global__ void coarsen_kernel(StepwiseLevel fine, StepwiseLevel coarse, Task task) {
  const int x = thread_x(), y = thread_y();
  if (x >= coarse.width || y >= coarse.height) return;
  const Numbers<T, Layout> cost(coarse, coarse.costs, task.disparities, x, y);
  for (int d = 0; d < task.disparities; ++d) {
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      const int fine_x = 2 * x + (k & 1), fine_y = 2 * y + (k >> 1);
      if (fine_x < fine.width && fine_y < fine.height)
        sum += load_value(Numbers<T, Layout>(fine, fine.costs, task.disparities, fine_x, fine_y).at(d));
    }
    store_cost(sum, cost.at(d));
  }
}

/// The messages that a level begins with: those of the coarser one, or zeros where there is none.
template <class T, class Layout>
__global__ void begin_kernel(StepwiseLevel level, StepwiseLevel coarse, Task task) {
  const int x = thread_x(), y = thread_y();
  if (x >= level.width || y >= level.height) return;
  for (int m = 0; m < kMessageCount; ++m) {
    const Numbers<T, Layout> to(level, level.messages[m], task.disparities, x, y);
    if (coarse.width == 0) {
      for (int d = 0; d < task.disparities; ++d) *to.at(d) = T{};
    } else {
      const Numbers<T, Layout> from(coarse, coarse.messages[m], task.disparities, x / 2, y / 2);
      for (int d = 0; d < task.disparities; ++d) *to.at(d) = *from.at(d);
    }
  }
}

template <class T, class Layout, int kDisparities>
__global__ void update_kernel(StepwiseLevel level, Task task, int parity) {
  const int y = thread_y(), x = 2 * thread_x() + BeliefLevel::first_x(y, parity);
  if (x >= level.width || y >= level.height) return;
  const int disparities = kDisparities > 0 ? kDisparities : task.disparities;
  // Beyond, the values do not fit into registers in any case.
  constexpr int kUnrolled = kDisparities > 0 && kDisparities <= 32 ? kDisparities : 1;
  const Neighbourhood<T, Layout> in(level, disparities, x, y);
  Kept<kDisparities> kept(task.kept);
  MessageRising up, down, left, right;
#pragma unroll(kUnrolled)
  for (int d = 0; d < disparities; ++d) {
    const float cost = load_value(in.cost.at(d)), from_above = in.above.value(d),
                from_below = in.below.value(d), from_left = in.left.value(d), from_right = in.right.value(d);
    kept.at(d, kMessageUp) = up.push(message_input(cost, from_left, from_right, from_below));
    kept.at(d, kMessageDown) = down.push(message_input(cost, from_left, from_right, from_above));
    kept.at(d, kMessageLeft) = left.push(message_input(cost, from_above, from_below, from_right));
    kept.at(d, kMessageRight) = right.push(message_input(cost, from_above, from_below, from_left));
  }
  const auto send = [&](BeliefMessage message, float lowest) {
    const Numbers<T, Layout> sent(level, level.messages[message], disparities, x, y);
    MessageFalling falling(lowest, task.cap);
#pragma unroll(kUnrolled)
    for (int d = disparities - 1; d >= 0; --d) store_value(falling.push(kept.at(d, message)), sent.at(d));
  };
  send(kMessageUp, up.lowest);
  send(kMessageDown, down.lowest);
  send(kMessageLeft, left.lowest);
  send(kMessageRight, right.lowest);
}

template <class T, class Layout>
__global__ void choose_kernel(StepwiseLevel level, Task task) {
  const int x = thread_x(), y = thread_y();
  if (x >= level.width || y >= level.height) return;
  const Neighbourhood<T, Layout> in(level, task.disparities, x, y);
  float lowest = kNoBelief;
  int best = 0;
  for (int d = 0; d < task.disparities; ++d) {
    const float belief = belief_value(load_value(in.cost.at(d)), in.above.value(d), in.below.value(d),
                                      in.left.value(d), in.right.value(d));
    if (belief < lowest) lowest = belief, best = d;
  }
  task.winners[static_cast<std::ptrdiff_t>(y) * level.width + x] = static_cast<std::uint16_t>(best);
}

int blocks(int count, int each) {
  return (count + each - 1) / each;
}

dim3 grid_of(int columns, int rows) {
  return dim3(static_cast<unsigned>(blocks(columns, kBlockColumns)),
              static_cast<unsigned>(blocks(rows, kBlockRows)));
}

/// Half of a level's pixels.
dim3 half_grid(const StepwiseLevel& level) {
  return grid_of((level.width + 1) / 2, level.height);
}

template <class T, class Layout, int kDisparities>
void launch_update(const StepwiseLevel& level, const Task& task, int parity, cudaStream_t stream) {
  const dim3 grid = half_grid(level), block(kBlockColumns, kBlockRows);
  update_kernel<T, Layout, kDisparities><<<grid, block, 0, stream>>>(level, task, parity);
  RECON_CUDA_TRY(cudaGetLastError());
}

/// The common numbers of disparities, which are compiled in.
template <int... kKnown>
struct KnownDisparities {
  static bool contains(int disparities) { return ((disparities == kKnown) || ...); }

  template <class T>
  static void launch(const StepwiseLevel& level, const Task& task, int parity, cudaStream_t stream) {
    static_cast<void>(((task.disparities == kKnown &&
                        (launch_update<T, ColumnFastest, kKnown>(level, task, parity, stream), true)) ||
                       ...));
  }
};
using Known = KnownDisparities<16, 21, 32, 64, 128>;

template <class T, class Layout>
void launch_laid_out(const StepwiseBelief& belief, bool known, cudaStream_t stream) {
  const Task task{belief.disparities, belief.cap,   belief.cost, belief.min_disparity,
                  belief.left,        belief.right, belief.kept, belief.winners};
  const std::vector<StepwiseLevel>& levels = belief.levels;
  const dim3 block(kBlockColumns, kBlockRows), finest = grid_of(levels[0].width, levels[0].height);
  costs_kernel<T, Layout><<<finest, block, 0, stream>>>(levels[0], task);
  RECON_CUDA_TRY(cudaGetLastError());
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const dim3 grid = grid_of(levels[i].width, levels[i].height);
    coarsen_kernel<T, Layout><<<grid, block, 0, stream>>>(levels[i - 1], levels[i], task);
    RECON_CUDA_TRY(cudaGetLastError());
  }
  for (std::size_t i = levels.size(); i-- > 0;) {
    const StepwiseLevel coarser = i + 1 < levels.size() ? levels[i + 1] : StepwiseLevel{};
    const dim3 grid = grid_of(levels[i].width, levels[i].height);
    begin_kernel<T, Layout><<<grid, block, 0, stream>>>(levels[i], coarser, task);
    RECON_CUDA_TRY(cudaGetLastError());
    for (int t = 0; t < belief.iterations; ++t)
      if (known)
        Known::launch<T>(levels[i], task, updated_parity(t), stream);
      else
        launch_update<T, Layout, 0>(levels[i], task, updated_parity(t), stream);
  }
  choose_kernel<T, Layout><<<finest, block, 0, stream>>>(levels[0], task);
  RECON_CUDA_TRY(cudaGetLastError());
}

template <class T>
void launch_stored_as(const StepwiseBelief& belief, const BeliefArrangement& arrangement,
                      cudaStream_t stream) {
  if (arrangement.columns_fastest)
    launch_laid_out<T, ColumnFastest>(belief, knows_disparities(arrangement, belief.disparities), stream);
  else
    launch_laid_out<T, DisparityFastest>(belief, false, stream);
}

}  // namespace

std::vector<StepwiseLevel> stepwise_levels(const BeliefShape& shape, const BeliefOptions& options,
                                           const BeliefArrangement& arrangement) {
  const bool padded = arrangement.columns_fastest && arrangement.row_bytes > 0;
  const int step =
      padded ? arrangement.row_bytes / static_cast<int>(belief_storage_bytes(options.storage)) : 1;
  EXPECTS(step > 0);
  std::vector<StepwiseLevel> levels;
  for (const BeliefLevel& of_pyramid : belief_pyramid(shape, options, options.levels).levels) {
    StepwiseLevel level;
    level.width = of_pyramid.width;
    level.height = of_pyramid.height;
    level.columns = blocks((level.width + 1) / 2, step) * step;
    levels.push_back(level);
  }
  return levels;
}

bool knows_disparities(const BeliefArrangement& arrangement, int disparities) {
  return arrangement.columns_fastest && arrangement.known_disparities && Known::contains(disparities);
}

std::size_t stepwise_kept_floats(const StepwiseLevel& finest, const BeliefArrangement& arrangement,
                                 int disparities) {
  if (knows_disparities(arrangement, disparities)) return 0;
  const dim3 grid = half_grid(finest);
  return element_count({static_cast<std::ptrdiff_t>(grid.x) * kBlockColumns,
                        static_cast<std::ptrdiff_t>(grid.y) * kBlockRows, kMessageCount, disparities});
}

void launch_stepwise_belief(const StepwiseBelief& belief, const BeliefArrangement& arrangement,
                            BeliefStorage storage, cudaStream_t stream) {
  switch (storage) {
    case BeliefStorage::kHalf:
      return launch_stored_as<Half>(belief, arrangement, stream);
    case BeliefStorage::kBfloat16:
      return launch_stored_as<Bfloat16>(belief, arrangement, stream);
    default:
      return launch_stored_as<float>(belief, arrangement, stream);
  }
}

}  // namespace recon::cuda
