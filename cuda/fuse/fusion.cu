#include <algorithm>

#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/fuse/fusion.hpp"
#include "fuse/agreement_step.hpp"

namespace recon::cuda {

namespace {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

/// A pixel as an observation of a surface, world coordinates.
struct Observation {
  double z;
  Vec3d position, normal;
};

__device__ Observation observation(const DeviceFusionView& view, int x, int y) {
  const int at = y * view.camera.width + x;
  const double z = static_cast<double>(view.depth[at]);
  const Vec3d ray = view.camera.ray(pixel_centre(x, y));
  return {z, view.world_from_cam * Vec3d{z * ray.x, z * ray.y, z},
          view.world_from_cam.rotation * widened(view.normal[at])};
}

__device__ void add(const DeviceFusionView& view, int x, int y, const Observation& seen, PointSums& sums) {
  const int at = y * view.camera.width + x;
  sums.add(seen.z, seen.position, seen.normal, view.colour[at], view.confidence[at]);
}

__device__ Reprojection reproject(const DeviceFusionView& view, Vec3d position) {
  return reprojection_step(view.camera, view.cam_from_world, position, view.depth, view.camera.width);
}

__device__ bool agrees(const DeviceFusionJob& job, const Reprojection& seen) {
  return depths_agree(seen.predicted, static_cast<double>(seen.found), job.max_relative_depth);
}

/// Whether a view that shows the point at `seen` observes it, and its observation.
__device__ bool observes(const DeviceFusionJob& job, const DeviceFusionView& view, const Observation& start,
                         const Reprojection& seen, Observation& result) {
  if (!agrees(job, seen)) return false;
  result = observation(view, seen.x, seen.y);
  return normals_agree(start.normal, result.normal, view.min_cosine);
}

struct Decision {
  PointSums sums;
  bool lone = true;
  int seeing_through = 0;
};

/// What all views say of the point that starts at a pixel.
__device__ Decision sum_observations(const DeviceFusionJob& job, const Observation& start, int x, int y) {
  Decision result;
  add(job.views[0], x, y, start, result.sums);
  for (int place = 1; place < job.view_count; ++place) {
    const DeviceFusionView& view = job.views[place];
    const Reprojection seen = reproject(view, start.position);
    const double found = static_cast<double>(seen.found);
    if (found == found) result.lone = false;
    if (sees_through(seen.predicted, found, job.max_relative_depth)) ++result.seeing_through;
    Observation other;
    if (observes(job, view, start, seen, other)) add(view, seen.x, seen.y, other, result.sums);
  }
  return result;
}

__device__ void set_bits(std::uint32_t* word, std::uint32_t mask) {
  // Most are set already.
  if (mask != 0 && (*word & mask) != mask) atomicOr(word, mask);
}

/// Marks the pixels around (x, y) on the surface of depth z as used.
__device__ void use_up(const DeviceFusionJob& job, const DeviceFusionView& view, int x, int y, double z,
                       int reach, Vec2d position, double max_distance) {
  const int width = view.camera.width;
  const int x_first = max(x - reach, 0), x_last = min(x + reach, width - 1);
  for (int j = max(y - reach, 0); j <= min(y + reach, view.camera.height - 1); ++j) {
    std::uint64_t mask = 0;
    const int first = j * width + x_first;
    for (int i = x_first; i <= x_last; ++i)
      if (is_used(position, i, j, max_distance) &&
          depths_agree(z, static_cast<double>(view.depth[j * width + i]), job.max_relative_depth))
        mask |= std::uint64_t{1} << (i - x_first);
    mask <<= first % 32;
    set_bits(view.used + first / 32, static_cast<std::uint32_t>(mask));
    set_bits(view.used + first / 32 + 1, static_cast<std::uint32_t>(mask >> 32));
  }
}

/// Marks the pixels that the point which starts at a pixel uses, in its view and in those that have not been
/// fused.
__device__ void use_pixels(const DeviceFusionJob& job, const Observation& start, int x, int y) {
  use_up(job, job.views[0], x, y, start.z, job.spacing - 1, pixel_centre(x, y), job.spacing - 0.5);
  const DeviceFusionView& own = job.views[0];
  const double reach = used_reach(x, y, own.camera, start.z, job.spacing, job.max_relative_depth,
                                  [&](int i, int j) { return own.depth[j * own.camera.width + i]; });
  for (int place = 1; place < job.view_count; ++place) {
    const DeviceFusionView& view = job.views[place];
    if (view.used == nullptr) continue;
    const Reprojection seen = reproject(view, start.position);
    if (agrees(job, seen))
      use_up(job, view, seen.x, seen.y, seen.predicted, job.spacing, seen.position, reach);
  }
}

/// The number of pixels of a row whose x modulo the spacing is less than `x_first`.
__device__ int places_before(const DeviceFusionJob& job, int x_first) {
  return job.width / job.spacing * x_first + min(x_first, job.width % job.spacing);
}

__device__ int x_of_place(const DeviceFusionJob& job, int place) {
  int x_first = 0;
  while (x_first + 1 < job.spacing && places_before(job, x_first + 1) <= place) ++x_first;
  return x_first + (place - places_before(job, x_first)) * job.spacing;
}

/// Pixels of one phase, those from (x_first, y_first) on with the spacing between them, do not mark each
/// other.
__global__ void __launch_bounds__(kRefineThreads)
    decide_kernel(DeviceFusionJob job, int x_first, int y_first) {
  const int k = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x);
  const int x = x_first + k * job.spacing, y = y_first + static_cast<int>(blockIdx.y) * job.spacing;
  if (x >= job.width) return;
  const DeviceFusionView& view = job.views[0];
  const int at = y * job.width + x;
  std::uint16_t& view_count = job.view_counts[y * job.width + places_before(job, x_first) + k];
  view_count = 0;
  const float z = view.depth[at];
  if (!(z == z) || (view.used[at / 32] >> (at % 32) & 1u) != 0) return;
  const Observation start = observation(view, x, y);
  const Decision decision = sum_observations(job, start, x, y);
  if (!decision.sums.suffice(view.confidence[at], decision.lone, decision.seeing_through, job.criteria))
    return;
  view_count = static_cast<std::uint16_t>(decision.sums.count());
  use_pixels(job, start, x, y);
}

/// The row of a warp; all lanes of a warp have the same.
__device__ int row_of_warp() {
  return static_cast<int>((blockIdx.x * kRefineThreads + threadIdx.x) / kWarp);
}

__device__ std::uint32_t view_count(const DeviceFusionJob& job, int y, int place) {
  return place < job.width ? job.view_counts[y * job.width + place] : 0u;
}

__global__ void __launch_bounds__(kRefineThreads) count_rows_kernel(DeviceFusionJob job) {
  const int y = row_of_warp(), lane = static_cast<int>(threadIdx.x) % kWarp;
  if (y >= job.height) return;
  RowCounts counts{0, 0};
  for (int place = lane; place < job.width; place += kWarp) {
    const std::uint32_t views = view_count(job, y, place);
    counts.points += views != 0;
    counts.views += views;
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    counts.points += __shfl_down_sync(kAllLanes, counts.points, step);
    counts.views += __shfl_down_sync(kAllLanes, counts.views, step);
  }
  if (lane == 0) job.rows[y] = counts;
}

__global__ void __launch_bounds__(kRefineThreads) list_kernel(DeviceFusionJob job) {
  const int y = row_of_warp(), lane = static_cast<int>(threadIdx.x) % kWarp;
  if (y >= job.height) return;
  RowCounts before = job.rows[y];
  for (int begin = 0; begin < job.width; begin += kWarp) {
    const std::uint32_t views = view_count(job, y, begin + lane);
    const unsigned starts = __ballot_sync(kAllLanes, views != 0);
    std::uint32_t views_up_to = views;
    for (int step = 1; step < kWarp; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(kAllLanes, views_up_to, step);
      if (lane >= step) views_up_to += other;
    }
    if (views != 0) {
      const int x = x_of_place(job, begin + lane);
      job.points[before.points + __popc(starts & ((1u << lane) - 1))] = {
          static_cast<std::uint32_t>(y * job.width + x), before.views + views_up_to - views};
    }
    before.points += __popc(starts);
    before.views += __shfl_sync(kAllLanes, views_up_to, kWarp - 1);
  }
}

__global__ void __launch_bounds__(kRefineThreads)
    points_kernel(DeviceFusionJob job, std::uint32_t first, std::uint32_t count, std::uint32_t first_view,
                  FusedPoint* points, std::uint32_t* views) {
  const std::uint32_t i = blockIdx.x * kRefineThreads + threadIdx.x;
  if (i >= count) return;
  const ListedPoint listed = job.points[first + i];
  const int x = static_cast<int>(listed.pixel) % job.width, y = static_cast<int>(listed.pixel) / job.width;
  const Observation start = observation(job.views[0], x, y);
  points[i] = sum_observations(job, start, x, y).sums.finish();
  std::uint32_t* next = views + (listed.first_view - first_view);
  for (int k = 0; k < job.view_count; ++k) {
    const int place = job.ascending[k];
    const DeviceFusionView& view = job.views[place];
    Observation other;
    if (place == 0 || observes(job, view, start, reproject(view, start.position), other))
      *next++ = view.index;
  }
}

unsigned row_blocks(const DeviceFusionJob& job) {
  return blocks_for(job.height, kRefineThreads / kWarp);
}

}  // namespace

void launch_decisions(const DeviceFusionJob& job, cudaStream_t stream) {
  for (int y_first = 0; y_first < std::min(job.spacing, job.height); ++y_first)
    for (int x_first = 0; x_first < std::min(job.spacing, job.width); ++x_first) {
      const dim3 grid = rows_grid(divided_up(job.width - x_first, job.spacing),
                                  divided_up(job.height - y_first, job.spacing));
      decide_kernel<<<grid, kRefineThreads, 0, stream>>>(job, x_first, y_first);
      RECON_CUDA_TRY(cudaGetLastError());
    }
  count_rows_kernel<<<row_blocks(job), kRefineThreads, 0, stream>>>(job);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_point_list(const DeviceFusionJob& job, cudaStream_t stream) {
  list_kernel<<<row_blocks(job), kRefineThreads, 0, stream>>>(job);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_points(const DeviceFusionJob& job, std::uint32_t first, std::uint32_t count,
                   std::uint32_t first_view, FusedPoint* points, std::uint32_t* views, cudaStream_t stream) {
  points_kernel<<<pixels_grid(static_cast<std::ptrdiff_t>(count)), kRefineThreads, 0, stream>>>(
      job, first, count, first_view, points, views);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
