#include <limits>

#include "core/aligned_buffer.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/optimize/semi_global/path_vector.cuh"

namespace recon::cuda {
namespace {

/// Groups of 16 lanes or more provide enough paths for full occupancy with little prefetching.
template <class Shape>
constexpr bool kWide = Shape::kLanes >= 16;
template <class Shape>
constexpr int kPathThreads = kWide<Shape> ? 32 : 64;
constexpr int kRowDirections = 2;  ///< the first of kPathSteps; then downward and upward directions alternate

/// The work of one launch: the directions first .. first + count - 1, the even one before the odd one.
struct PathRun {
  int first, count;
  int row_blocks, column_blocks;  ///< thread blocks per direction along the rows, and per other direction
  int block_begin, block_step;    ///< the thread blocks of all these directions that are launched
  bool add;                       ///< to the contents of the volume
  std::uint32_t step_x, step_y;   ///< kPathSteps plus 1, in two bits per direction
};

/// Direction, start line and length of a path.
struct PathLine {
  int direction, line, steps;
  bool inside;  ///< the line exists
};

/// The thread blocks of the rows come first, because rows are the longest paths; then those of the downward
/// directions, interleaved by columns, so that they read the same costs at about the same time; then upward.
template <class Shape>
__device__ PathLine line_of_thread(const PathArgs& a, const PathRun& run) {
  constexpr int kLines = kPathThreads<Shape> / Shape::kLanes;
  int block = run.block_begin + static_cast<int>(blockIdx.x) * run.block_step;
  PathLine line{};
  int lines = 0;
  if (run.first < kRowDirections && block < kRowDirections * run.row_blocks) {
    line.direction = block % kRowDirections;
    block /= kRowDirections;
    line.steps = a.width;
    lines = a.height;
  } else {
    if (run.first < kRowDirections) block -= kRowDirections * run.row_blocks;
    const int first = max(run.first, kRowDirections), each_way = (run.first + run.count - first) / 2;
    const int upward = block >= each_way * run.column_blocks;
    block -= upward * each_way * run.column_blocks;
    line.direction = first + block % each_way * 2 + upward;
    block /= each_way;
    line.steps = a.height;
    lines = a.width;
  }
  line.line = block * kLines + static_cast<int>(threadIdx.x) / Shape::kLanes;
  line.inside = line.line < lines;
  line.line = min(line.line, lines - 1);
  return line;
}

/// A pixel of a path. A path that leaves the image at the side continues at the other side as a new path, so
/// that all paths have the same number of pixels.
template <class Shape>
class PathPixel {
 public:
  __device__ PathPixel(const PathArgs& a, const PathRun& run, const PathLine& line) {
    const int step_x = static_cast<int>(run.step_x >> 2 * line.direction & 3u) - 1;
    const int step_y = static_cast<int>(run.step_y >> 2 * line.direction & 3u) - 1;
    const int pitch = static_cast<int>(a.guide_pitch);
    const int x = step_y != 0 ? line.line : (step_x > 0 ? 0 : a.width - 1);
    const int y = step_y == 0 ? line.line : (step_y > 0 ? 0 : a.height - 1);
    const int lane = lane_of_group<Shape>() * Shape::kPieces;
    piece_ = static_cast<std::uint32_t>((y * a.width + x) * Shape::kPixel + lane);
    guide_ = static_cast<std::uint32_t>(y * pitch + x);
    step_ = static_cast<std::uint32_t>((step_y * a.width + step_x) * Shape::kPixel);
    guide_step_ = static_cast<std::uint32_t>(step_y * pitch + step_x);
    back_ = static_cast<std::uint32_t>(-step_x * a.width);
    width_ = a.width;
    to_side_ = step_x == 0 ? a.height : (step_x > 0 ? a.width - x : x + 1);
  }
  /// Undefined after the last step.
  __device__ void advance() {
    --to_side_;
    const bool wraps = to_side_ == 0;
    const std::uint32_t back = wraps ? back_ : 0;
    piece_ += step_ + back * Shape::kPixel;
    guide_ += guide_step_ + back;
    begins_ = wraps ? kBegins : 0;
    to_side_ = wraps ? width_ : to_side_;
  }
  /// Index of the lane's first piece of costs; with kBegins if a path begins here.
  __device__ std::uint32_t piece() const { return piece_ | begins_; }
  __device__ std::uint32_t guide() const { return guide_; }

  static constexpr std::uint32_t kBegins = 0x80000000u;

 private:
  std::uint32_t piece_, guide_;
  std::uint32_t step_, guide_step_, back_;  ///< may be negative
  std::uint32_t begins_ = kBegins;
  int width_, to_side_;  ///< steps until the path leaves the image at the side
};

/// Prefetched inputs of a pixel.
template <class Shape, bool kWords>
struct PathAhead {
  PathBytes<Shape> costs;
  StoredPairs<Shape> sums;  ///< the sums to which the costs are added
  int grey;
  std::uint32_t at;  ///< see PathPixel::piece

  __device__ void load(const PathArgs& a, const uint4* added_to, const PathPixel<Shape>& pixel) {
    at = pixel.piece();
    grey = __ldg(a.guide + pixel.guide());
    costs.load(reinterpret_cast<const uint4*>(a.costs) + piece());
    if (kWords && added_to) sums.load(added_to + pairs());
  }
  __device__ std::uint32_t piece() const { return at & ~PathPixel<Shape>::kBegins; }
  /// Index of the lane's first piece of sums.
  __device__ std::uint32_t pairs() const {
    return 2 * piece() - static_cast<std::uint32_t>((2 * Shape::kPieces - 1) * lane_of_group<Shape>());
  }
  /// Whether a path begins here.
  __device__ bool begins() const { return at >= PathPixel<Shape>::kBegins; }
};

/// Stores the path's costs, or adds them to the stored sums.
template <class Shape, bool kWords>
__device__ void store(uint4* volume, const PathVector<Shape>& path, const PathAhead<Shape, kWords>& at,
                      bool add) {
  if constexpr (kWords) {
    std::uint32_t sum[Shape::kPairs];
#pragma unroll
    for (int j = 0; j < Shape::kPairs; ++j) sum[j] = path.pair[j];
    if (add) at.sums.add_to(sum);
    store_pairs<Shape>(volume + at.pairs(), sum);
  } else {
    store_bytes<Shape>(volume + at.piece(), path.pair);
  }
}

/// Thread blocks per multiprocessor, which limit a thread's registers.
template <class Shape, bool kWords>
constexpr int kPathBlocks = (Shape::kCells > 16 ? (kWords ? 2 : 4)
                                                : (kWords ? 10 : (kWide<Shape> ? 16 : 14))) *
                            (64 / kPathThreads<Shape>);

/// A group of lanes processes one path without synchronization; other paths hide its latency. Groups without
/// a line repeat the last one; they store no sums.
template <class Shape, bool kWords>
__global__ void __launch_bounds__(kPathThreads<Shape>, kPathBlocks<Shape, kWords>)
    paths_kernel(PathArgs a, PathVolumes volumes, PathRun run) {
  constexpr int kAhead = Shape::kCells > 16 ? 1 : (kWords || kWide<Shape> ? 2 : 4);
  __shared__ std::uint32_t penalties[256];
  fill_penalties(a.options, penalties);
  const PathLine line = line_of_thread<Shape>(a, run);
  uint4* volume = volumes.first + (kWords ? line.direction % volumes.count : line.direction) * volumes.stride;
  const uint4* added_to = kWords && run.add ? volume : nullptr;
  const UpperBytes<Shape> upper(a.planes);
  const std::uint32_t p1 = in_both_halves(static_cast<std::uint32_t>(a.options.p1));

  PathPixel<Shape> next(a, run, line);
  PathAhead<Shape, kWords> ahead[kAhead] = {};
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    if (i < line.steps) ahead[i].load(a, added_to, next);
    next.advance();
  }
  PathVector<Shape> path;
  path.begin();
  int grey_before = 0;
  for (int begin = 0; begin < line.steps; begin += kAhead) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (begin + i >= line.steps) break;
      PathAhead<Shape, kWords>& at = ahead[i];
      std::uint32_t cost[Shape::kPairs];
      at.costs.unpack(upper, cost);
      // With P2 = 0 no path cost is higher than the min: the result is the cost itself.
      const std::uint32_t p2 = at.begins() ? 0 : penalties[abs(at.grey - grey_before)];
      grey_before = at.grey;
      advance<Shape>(path, cost, p1, p2);
      if (!kWords || line.inside) store<Shape, kWords>(volume, path, at, added_to != nullptr);
      if (begin + i + kAhead < line.steps) at.load(a, added_to, next);
      next.advance();
    }
  }
}

/// All directions of a launch, or of two the even or the odd one.
enum class Launched { kAll = -1, kEven, kOdd };

template <class Shape, bool kWords>
void launch(const PathArgs& args, const PathVolumes& volumes, int first, int count, Launched launched,
            cudaStream_t stream) {
  constexpr int kLines = kPathThreads<Shape> / Shape::kLanes;
  PathRun run{};
  run.first = first;
  run.count = count;
  run.row_blocks = divided_up(args.height, kLines);
  run.column_blocks = divided_up(args.width, kLines);
  run.add = first > 0 || launched == Launched::kOdd;
  run.block_step = 1;
  for (int i = 0; i < 8; ++i) {
    run.step_x |= static_cast<std::uint32_t>(kPathSteps[i].x + 1) << 2 * i;
    run.step_y |= static_cast<std::uint32_t>(kPathSteps[i].y + 1) << 2 * i;
  }
  const int along_rows = first < kRowDirections ? kRowDirections : 0;
  int blocks = along_rows * run.row_blocks + (count - along_rows) * run.column_blocks;
  if (launched != Launched::kAll) {
    // Along the rows the thread blocks of the two alternate.
    blocks /= 2;
    run.block_step = along_rows > 0 ? 2 : 1;
    run.block_begin = static_cast<int>(launched) * (along_rows > 0 ? 1 : blocks);
  }
  paths_kernel<Shape, kWords>
      <<<static_cast<unsigned>(blocks), kPathThreads<Shape>, 0, stream>>>(args, volumes, run);
  RECON_CUDA_TRY(cudaGetLastError());
}

/// Computes all paths: each direction into its own volume, or, with kWords, as many directions per round as
/// there are volumes.
void launch_paths(const PathArgs& args, const PathVolumes& volumes, cudaStream_t stream) {
  const int paths = args.options.paths;
  with_path_shape(args.planes, [&](auto shape) {
    using Shape = decltype(shape);
    if (volumes.storage != PathStorage::kWords)
      return launch<Shape, false>(args, volumes, 0, paths, Launched::kAll, stream);
    for (int first = 0; first < paths; first += 2) {
      if (volumes.count == 2) {
        launch<Shape, true>(args, volumes, first, 2, Launched::kAll, stream);
      } else {
        launch<Shape, true>(args, volumes, first, 2, Launched::kEven, stream);
        launch<Shape, true>(args, volumes, first, 2, Launched::kOdd, stream);
      }
    }
  });
}

PathStorage storage_of(const SemiGlobalInput& input) {
  const int most = input.max_cost + input.options.p2;
  if (input.sums > 0 || most > 255) return PathStorage::kWords;
  return 2 * most > 255 ? PathStorage::kBytes : PathStorage::kFewBytes;
}

std::size_t pixels_of(const SemiGlobalInput& input) {
  return element_count({input.width, input.height});
}

PathVolumes volumes_of(const SemiGlobalInput& input, uint4* first) {
  const PathStorage storage = storage_of(input);
  const bool words = storage == PathStorage::kWords;
  const int bytes = path_planes(input.planes) * (words ? 2 : 1);
  const std::size_t stride = element_count({input.width, input.height, bytes}) / sizeof(uint4);
  const int sums = input.sums > 0 ? input.sums : 2;
  return {first, static_cast<std::ptrdiff_t>(stride), words ? sums : input.options.paths, storage};
}

/// Number of pieces in all volumes.
std::size_t size_of(const PathVolumes& volumes) {
  return element_count({volumes.stride, volumes.count});
}

}  // namespace

int path_planes(int planes) {
  int result = 0;
  with_path_shape(planes, [&](auto shape) { result = decltype(shape)::kPlanes; });
  return result;
}

SemiGlobal::Buffers SemiGlobal::take(const SemiGlobalInput& input, Arena& arena) {
  const std::size_t pixels = pixels_of(input);
  Buffers at{};
  at.volumes = arena.take<uint4>(size_of(volumes_of(input, nullptr)));
  at.winners = arena.take<PathWinner>(pixels);
  if (input.right_view) at.right_keys = arena.take<std::uint32_t>(pixels);
  return at;
}

SemiGlobal::SemiGlobal(const SemiGlobalInput& input, const Buffers& at) : input_(input), at_(at) {
  const SemiGlobalOptions& options = input.options;
  EXPECTS(input.width >= 1 && input.height >= 1 &&
          input.height <= std::numeric_limits<int>::max() / input.width);
  EXPECTS(options.paths == 4 || options.paths == 8);
  EXPECTS(input.sums >= 0 && input.sums <= 2);
  EXPECTS(options.p1 >= 0 && options.p2 >= options.p1 && options.p2_falloff >= 0);
  EXPECTS(input.max_cost >= 0 && input.max_cost <= 255 && options.p2 <= kMaxPathCost - input.max_cost);
  // The kernels index pieces of 16 planes with 31 bits.
  EXPECTS(element_count({input.width, input.height, path_planes(input.planes) / 16}) <=
          std::size_t{std::numeric_limits<int>::max()});
  EXPECTS(input.guide_pitch <= std::numeric_limits<int>::max() / input.height);
}

void SemiGlobal::queue(const Stream& stream) const {
  queue_clear(stream);
  queue_paths(stream);
  queue_winner(stream);
}

void SemiGlobal::queue_clear(const Stream& stream) const {
  if (at_.right_keys)
    RECON_CUDA_TRY(
        cudaMemsetAsync(at_.right_keys, 0xFF, pixels_of(input_) * sizeof(std::uint32_t), stream.get()));
}

void SemiGlobal::queue_paths(const Stream& stream) const {
  launch_paths(input_, volumes_of(input_, at_.volumes), stream.get());
}

void SemiGlobal::queue_winner(const Stream& stream) const {
  launch_path_winner(input_, volumes_of(input_, at_.volumes), input_.min_disparity, at_.winners,
                     at_.right_keys, stream.get());
}

}  // namespace recon::cuda
