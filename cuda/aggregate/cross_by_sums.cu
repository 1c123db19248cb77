#include <algorithm>
#include <cstdint>

#include "cuda/aggregate/cost_sum.cuh"
#include "cuda/aggregate/cross_based.hpp"
#include "cuda/aggregate/cross_passes.hpp"
#include "cuda/device/error.hpp"
#include "cuda/device/shared_memory.hpp"

namespace recon::cuda {

/// common_cross of two packed crosses: left and up in one word, right and down in the other, so that one
/// instruction handles two lengths.
struct ArmWords {
  std::uint32_t left_up, right_down;

  __device__ __forceinline__ int left() const { return static_cast<int>(left_up & 0xFFFFu); }
  __device__ __forceinline__ int right() const { return static_cast<int>(right_down & 0xFFFFu); }
  __device__ __forceinline__ int up() const { return static_cast<int>(left_up >> 16); }
  __device__ __forceinline__ int down() const { return static_cast<int>(right_down >> 16); }
};

/// Unpacks a cross from memory: left, right, up, down from the lowest byte on.
__device__ __forceinline__ ArmWords arm_words(std::uint32_t cross) {
  return {cross & 0x00FF00FFu, cross >> 8 & 0x00FF00FFu};
}

__device__ __forceinline__ ArmWords shorter_arms(ArmWords p, ArmWords q) {
  return {__vminu2(p.left_up, q.left_up), __vminu2(p.right_down, q.right_down)};
}

/// The arms of one plane, along one row.
class RowArms {
 public:
  __device__ __forceinline__ RowArms(const CrossPass& pass, int y, int d)
      : here_(word_row(pass.arms.reference, pass.arms.pitch, y)),
        there_(word_row(pass.arms.source, pass.arms.pitch, y)),
        shift_(matching_column(pass.arms.side, 0, pass.arms.min_disparity + d)),
        longest_(pass.arms.longest),
        width_(pass.costs.width),
        up_(static_cast<unsigned>(min(y, longest_)) << 16),
        down_(static_cast<unsigned>(min(pass.costs.height - 1 - y, longest_)) << 16) {}

  __device__ __forceinline__ ArmWords operator()(int x) const {
    if (!here_)
      return {up_ | static_cast<unsigned>(min(x, longest_)),
              down_ | static_cast<unsigned>(min(width_ - 1 - x, longest_))};
    const ArmWords arms = arm_words(__ldg(here_ + x));
    if (!there_ || static_cast<unsigned>(x + shift_) >= static_cast<unsigned>(width_)) return arms;
    return shorter_arms(arms, arm_words(__ldg(there_ + x + shift_)));
  }

 private:
  static __device__ __forceinline__ const std::uint32_t* word_row(const Cross* image, std::ptrdiff_t pitch,
                                                                  int y) {
    return image ? reinterpret_cast<const std::uint32_t*>(image) + y * pitch : nullptr;
  }

  const std::uint32_t *here_, *there_;
  int shift_, longest_, width_;
  unsigned up_, down_;
};

namespace {

constexpr int kTile = 32, kRows = 8;

/// A thread block transposes a tile and exchanges the arms of its crosses, each one word.
__global__ void __launch_bounds__(kTile* kRows)
    turn_kernel(const std::uint32_t* crosses, std::ptrdiff_t pitch, int width, int height,
                std::uint32_t* transposed, std::ptrdiff_t transposed_pitch) {
  __shared__ std::uint32_t tile[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x), first_x = static_cast<int>(blockIdx.x) * kTile,
            first_y = static_cast<int>(blockIdx.y) * kTile;
  for (int y = static_cast<int>(threadIdx.y); y < kTile; y += kRows)
    if (first_x + x < width && first_y + y < height)
      tile[y][x] = crosses[(first_y + y) * pitch + first_x + x];
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.y); y < kTile; y += kRows)
    if (first_y + x < height && first_x + y < width)
      transposed[(first_x + y) * transposed_pitch + first_y + x] = tile[x][y] << 16 | tile[x][y] >> 16;
}

}  // namespace

void queue_transpose(const Cross* crosses, std::ptrdiff_t pitch, int width, int height, Cross* transposed,
                     std::ptrdiff_t transposed_pitch, cudaStream_t stream) {
  const dim3 grid(blocks_for(width, kTile), blocks_for(height, kTile));
  turn_kernel<<<grid, dim3(kTile, kRows), 0, stream>>>(
      reinterpret_cast<const std::uint32_t*>(crosses), pitch, width, height,
      reinterpret_cast<std::uint32_t*>(transposed), transposed_pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

namespace {

constexpr int kRowThreads = 256;
constexpr int kColumnThreads = 128;
constexpr int kLine = 4096;  ///< a longer row is summed in parts, unless the arms are as long
constexpr std::size_t kGroupBytes = std::size_t{64} << 20;  ///< of stored sums

/// Prefix sums down the columns of a group of planes: row y holds the sums of the rows before y.
struct ColumnSums {
  double* sums;
  int* counts;
  std::ptrdiff_t pitch, plane;  ///< elements from one row to the next, and from one plane to the next

  __device__ std::ptrdiff_t at(int x, int y, int k) const { return k * plane + y * pitch + x; }
  __device__ CostSum between(int x, int begin, int end, int k) const {
    const std::ptrdiff_t b = at(x, begin, k), e = at(x, end, k);
    return {sums[e] - sums[b], counts[e] - counts[b]};
  }
};

struct Group {
  CrossPass pass;
  ColumnSums columns;
  int first;  ///< plane
  int part;   ///< columns of a row for one thread block
};

template <class T>
__device__ T sum_of_lanes_up_to(T value, int lane) {
  for (int step = 1; step < 32; step *= 2) {
    const T before = __shfl_up_sync(0xFFFFFFFFu, value, step);
    if (lane >= step) value += before;
  }
  return value;
}

/// Prefix sums of `width` samples of a row: sums[x] and counts[x] cover the samples before x.
template <class Sample>
__device__ void add_up_row(int width, double* sums, int* counts, const Sample& sample) {
  constexpr int kWarps = kRowThreads / 32;
  __shared__ double warp_sums[kWarps];
  __shared__ int warp_counts[kWarps];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  CostSum before{0.0, 0};
  if (thread == 0) sums[0] = 0.0, counts[0] = 0;
  for (int first = 0; first < width; first += kRowThreads) {
    const int x = first + thread;
    CostSum s = x < width ? sample(x) : CostSum{0.0, 0};
    s = {sum_of_lanes_up_to(s.sum, lane), sum_of_lanes_up_to(s.count, lane)};
    if (lane == 31) warp_sums[warp] = s.sum, warp_counts[warp] = s.count;
    __syncthreads();
    CostSum base = before;
    for (int w = 0; w < kWarps; ++w) {
      if (w == warp) base = before;
      before = {before.sum + warp_sums[w], before.count + warp_counts[w]};
    }
    if (x < width) sums[x + 1] = base.sum + s.sum, counts[x + 1] = base.count + s.count;
    __syncthreads();
  }
}

/// Thread block (y, k, part): sums of a part of a row along the horizontal arms, of the costs or of the
/// differences of the column sums at the ends of the vertical arms.
template <bool kHorizontalFirst>
__global__ void __launch_bounds__(kRowThreads) row_kernel(Group group) {
  extern __shared__ double line_memory[];
  const CrossPass& pass = group.pass;
  const int y = static_cast<int>(blockIdx.x), k = static_cast<int>(blockIdx.y), d = group.first + k;
  const int begin_x = static_cast<int>(blockIdx.z) * group.part, width = pass.costs.width;
  const int end_x = min(begin_x + group.part, width), first_x = max(begin_x - pass.arms.longest, 0);
  const int read = min(end_x + pass.arms.longest, width) - first_x;
  double* sums = line_memory;
  int* counts = reinterpret_cast<int*>(sums + read + 1);
  const RowArms arms(pass, y, d);
  const float* costs = pass.costs.row(y, d);
  add_up_row(read, sums, counts, [&](int i) {
    const int x = first_x + i;
    if (kHorizontalFirst) return summand(costs[x], pass.unit);
    const ArmWords a = arms(x);
    return group.columns.between(x, y - a.up(), y + a.down() + 1, k);
  });
  for (int x = begin_x + static_cast<int>(threadIdx.x); x < end_x; x += kRowThreads) {
    const ArmWords a = arms(x);
    const int begin = x - first_x - a.left(), end = x - first_x + a.right() + 1;
    const CostSum s{sums[end] - sums[begin], counts[end] - counts[begin]};
    if (kHorizontalFirst) {
      const std::ptrdiff_t at = group.columns.at(x, y + 1, k);
      group.columns.sums[at] = s.sum, group.columns.counts[at] = s.count;
    } else {
      pass.means.row(y, d)[x] = mean_of(s);
    }
  }
}

/// Each thread replaces one column, of costs or of row sums, by its prefix sums.
template <bool kHorizontalFirst>
__global__ void __launch_bounds__(kColumnThreads) column_kernel(Group group) {
  const DeviceVolume& costs = group.pass.costs;
  const int x = static_cast<int>(blockIdx.x * kColumnThreads + threadIdx.x), k = static_cast<int>(blockIdx.y);
  if (x >= costs.width) return;
  const ColumnSums& columns = group.columns;
  CostSum total{0.0, 0};
  columns.sums[columns.at(x, 0, k)] = 0.0, columns.counts[columns.at(x, 0, k)] = 0;
#pragma unroll 8
  for (int y = 0; y < costs.height; ++y) {
    const std::ptrdiff_t at = columns.at(x, y + 1, k);
    const CostSum s = kHorizontalFirst ? CostSum{columns.sums[at], columns.counts[at]}
                                       : summand(__ldg(costs.row(y, group.first + k) + x), group.pass.unit);
    total = {total.sum + s.sum, total.count + s.count};
    columns.sums[at] = total.sum, columns.counts[at] = total.count;
  }
}

__global__ void __launch_bounds__(kColumnThreads) column_means_kernel(Group group) {
  const DeviceVolume& means = group.pass.means;
  const int x = static_cast<int>(blockIdx.x * kColumnThreads + threadIdx.x), k = static_cast<int>(blockIdx.y);
  const int y = static_cast<int>(blockIdx.z), d = group.first + k;
  if (x >= means.width) return;
  const ArmWords a = RowArms(group.pass, y, d)(x);
  means.row(y, d)[x] = mean_of(group.columns.between(x, y - a.up(), y + a.down() + 1, k));
}

std::ptrdiff_t plane_elements(int width, int height) {
  return padded_count<double>(width) * (std::ptrdiff_t{height} + 1);
}

}  // namespace

CrossSums CrossSums::take(int width, int planes, int height, Arena& arena) {
  if (width == 0 || planes == 0 || height == 0) return {};
  const std::size_t plane = element_count({plane_elements(width, height)}), all = element_count({planes}),
                    bytes = plane * (sizeof(double) + sizeof(int)),
                    most = std::clamp<std::size_t>(kGroupBytes / bytes, 1, all);
  auto* const sums = arena.take<double>(plane * most);
  // With the sums at least what so many planes need; unlike that it never decreases as the volume grows.
  const std::size_t rest = std::max(bytes, std::min(bytes * all, kGroupBytes)) + kArenaAlignment -
                           arena_bytes(plane * most * sizeof(double));
  return {sums, arena.take<int>(rest / sizeof(int)), static_cast<int>(most)};
}

void queue_cross_by_sums(const CrossPass& pass, const CrossSums& sums, cudaStream_t stream) {
  const int width = pass.costs.width, height = pass.costs.height, planes = pass.costs.planes;
  EXPECTS(height < 1 << 16);  // the length of an arm has 16 bits
  const int most = sums.planes, around = 2 * pass.arms.longest;
  const int part = around > kLine / 2 ? width : std::min(width, kLine - around);
  const std::size_t line =
      static_cast<std::size_t>(std::min(width, part + around) + 1) * (sizeof(double) + sizeof(int));
  for (const auto kernel : {row_kernel<true>, row_kernel<false>}) allow_shared_memory(kernel);
  Group group{
      pass, {sums.sums, sums.counts, padded_count<double>(width), plane_elements(width, height)}, 0, part};
  const unsigned blocks = blocks_for(width, kColumnThreads), parts = blocks_for(width, part);
  for (group.first = 0; group.first < planes; group.first += most) {
    const auto count = static_cast<unsigned>(std::min(most, planes - group.first));
    const dim3 rows(static_cast<unsigned>(height), count, parts), columns(blocks, count);
    if (pass.order == CrossOrder::kHorizontal) {
      row_kernel<true><<<rows, kRowThreads, line, stream>>>(group);
      RECON_CUDA_TRY(cudaGetLastError());
      column_kernel<true><<<columns, kColumnThreads, 0, stream>>>(group);
      RECON_CUDA_TRY(cudaGetLastError());
      const dim3 samples(blocks, count, static_cast<unsigned>(height));
      column_means_kernel<<<samples, kColumnThreads, 0, stream>>>(group);
      RECON_CUDA_TRY(cudaGetLastError());
    } else {
      column_kernel<false><<<columns, kColumnThreads, 0, stream>>>(group);
      RECON_CUDA_TRY(cudaGetLastError());
      row_kernel<false><<<rows, kRowThreads, line, stream>>>(group);
      RECON_CUDA_TRY(cudaGetLastError());
    }
  }
}

}  // namespace recon::cuda
