#include "cuda/device/disjoint_sets.cuh"
#include "cuda/device/error.hpp"
#include "cuda/optimize/patch_match/supported_planes.hpp"

namespace recon::cuda {
namespace {

constexpr int kBlockWidth = 32, kBlockHeight = 4;

/// The photos as planes are compared with them.
struct DevicePhotos {
  const PatchArgs& args;
  const unsigned long long* levels;

  __device__ int reference(int x, int y) const {
    return __ldg(args.reference + static_cast<std::ptrdiff_t>(y) * args.reference_pitch + x);
  }
  __device__ int source(int s, int u, int v) const {
    const DeviceSource& source = args.source[s];
    const std::ptrdiff_t index = static_cast<std::ptrdiff_t>(v) * source.pitch + u;
    if (args.storage == SourceStorage::kBytes)
      return __ldg(static_cast<const std::uint8_t*>(source.channel[0]) + index);
    const std::uint32_t quad = __ldg(static_cast<const std::uint32_t*>(source.channel[0]) + index);
    return static_cast<int>((quad ^ kUpperPixels) & 255u);
  }
  __device__ float gain(int s) const {
    return gain_of({static_cast<std::int64_t>(levels[2 * s]), static_cast<std::int64_t>(levels[2 * s + 1])});
  }
  __device__ PatchWarp warp(int s, int x, int y, const SlantedPlane& plane) const {
    const DeviceSource& source = args.source[s];
    return patch_warp(source.warp, x, y, plane, kCompareRadius, source.width, source.height);
  }
};

/// A pixel of a view. Its choice is that of choice_of in the low byte, and the steps to the three supports in
/// the others; 0: none.
class SupportPixel {
 public:
  __device__ SupportPixel(const PatchArgs& args, const SupportMemory& memory, int x, int y)
      : args_(args), memory_(memory), x_(x), y_(y) {}

  __device__ bool inside() const { return args_.states.contains(x_, y_); }
  __device__ int index() const { return y_ * args_.states.width + x_; }
  __device__ std::uint32_t choice() const { return memory_.choices[index()]; }
  __device__ float unit() const { return unit_at(x_, y_); }
  __device__ PixelKind kind() const { return pixel_kind(args_.states, x_, y_, unit()); }
  __device__ SupportPixel neighbour(int dx, int dy) const { return {args_, memory_, x_ + dx, y_ + dy}; }

  /// The plane of a choice.
  __device__ SlantedPlane plane_of(std::uint32_t choice) const {
    const int first = first_direction(choice);
    const auto support = [&](int k) {
      return support_of(triangle_direction(first, k), static_cast<int>(choice >> (8 * k + 8) & 255u));
    };
    SlantedPlane plane{};
    plane_through(support(0), support(1), support(2), plane);
    return plane;
  }

  __device__ std::uint32_t chosen() const {
    if (memory_.kinds[index()] != PixelKind::kUnreliable) return 0;
    int steps[kSupportDirections], found = 0;
    for (int direction = 0; direction < kSupportDirections; ++direction)
      found += (steps[direction] = steps_to_support(direction)) > 0;
    if (found < kMinSupport) return 0;
    Support supports[kSupportDirections];
    for (int direction = 0; direction < kSupportDirections; ++direction)
      supports[direction] = support_of(direction, steps[direction]);
    const SupportedTriangle best = best_triangle(supports, args_.iteration.range);
    if (best.first < 0) return 0;
    std::uint32_t choice =
        choice_of(best, contradicted(DevicePhotos{args_, memory_.levels}, args_.states.width,
                                     args_.states.height, args_.sources, x_, y_, best.plane));
    for (int k = 0; k < 3; ++k)
      choice |= static_cast<std::uint32_t>(steps[triangle_direction(best.first, k)]) << (8 * k + 8);
    return choice;
  }

 private:
  __device__ float unit_at(int x, int y) const {
    const float w = args_.states.at(x, y).plane.w;
    return parallax_unit(args_.sources, [&](int s) { return parallax(args_.source[s].warp, x, y, w); });
  }

  /// The steps to the nearest reliable pixel in a direction; 0 if there is none.
  __device__ int steps_to_support(int direction) const {
    const int dx = step_x(direction), dy = step_y(direction);
    int x = x_, y = y_;
    for (int steps = 1; steps <= kMaxSupportSteps; ++steps) {
      x += dx, y += dy;
      if (!args_.states.contains(x, y)) return 0;
      if (memory_.kinds[y * args_.states.width + x] == PixelKind::kReliable) return steps;
    }
    return 0;
  }

  __device__ Support support_of(int direction, int steps) const {
    return support_at(args_.states, x_, y_, direction, steps, [&](int x, int y) { return unit_at(x, y); });
  }

  const PatchArgs& args_;
  const SupportMemory& memory_;
  int x_, y_;
};

/// The pixel of a thread.
__device__ SupportPixel thread_pixel(const PatchArgs& args, const SupportMemory& memory) {
  return {args, memory, static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
          static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y)};
}

__global__ void classify_kernel(const __grid_constant__ PatchArgs args, const SupportMemory memory) {
  const SupportPixel pixel = thread_pixel(args, memory);
  if (pixel.inside()) memory.kinds[pixel.index()] = pixel.kind();
}

/// Sums the levels of a source; the third dimension of the grid is the source.
__global__ void level_kernel(const __grid_constant__ PatchArgs args, const SupportMemory memory) {
  const int x = kGainSpacing * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = kGainSpacing * static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int s = static_cast<int>(blockIdx.z);
  const SupportPixel pixel(args, memory, x, y);
  Levels levels{0, 0};
  if (pixel.inside() && memory.kinds[pixel.index()] == PixelKind::kReliable)
    levels = levels_at(DevicePhotos{args, memory.levels}, s, x, y, args.states.at(x, y).plane);
  auto reference = static_cast<unsigned>(levels.reference), source = static_cast<unsigned>(levels.source);
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    reference += __shfl_down_sync(0xFFFFFFFFu, reference, lanes);
    source += __shfl_down_sync(0xFFFFFFFFu, source, lanes);
  }
  if (threadIdx.x != 0 || (reference == 0 && source == 0)) return;
  atomicAdd(memory.levels + 2 * s, reference);
  atomicAdd(memory.levels + 2 * s + 1, source);
}

__global__ void choose_kernel(const __grid_constant__ PatchArgs args, const SupportMemory memory) {
  const SupportPixel pixel = thread_pixel(args, memory);
  if (!pixel.inside()) return;
  memory.choices[pixel.index()] = pixel.chosen();
  memory.parents[pixel.index()] = pixel.index();
  memory.balances[pixel.index()] = 0;
}

__global__ void connect_kernel(const __grid_constant__ PatchArgs args, const SupportMemory memory) {
  const SupportPixel pixel = thread_pixel(args, memory);
  if (!pixel.inside()) return;
  const std::uint32_t choice = pixel.choice();
  if (choice == 0) return;
  const SlantedPlane plane = pixel.plane_of(choice);
  const float unit = pixel.unit();
  for (int k = 0; k < 2; ++k) {
    const int dx = k == 0, dy = k == 1;
    const SupportPixel before = pixel.neighbour(-dx, -dy);
    const std::uint32_t other = before.inside() ? before.choice() : 0;
    if (other != 0 && connected(before.plane_of(other), dx, dy, plane, unit))
      unite(memory.parents, pixel.index(), before.index());
  }
}

__global__ void balance_kernel(const __grid_constant__ PatchArgs args, const SupportMemory memory) {
  const SupportPixel pixel = thread_pixel(args, memory);
  if (!pixel.inside()) return;
  const std::uint32_t choice = pixel.choice();
  if (choice == 0) return;
  const int area = root_of(memory.parents, pixel.index());
  atomicAdd(memory.balances + area, balance((choice & kContradicted) != 0));
}

__global__ void fill_kernel(const __grid_constant__ PatchArgs args, const SupportMemory memory) {
  const SupportPixel pixel = thread_pixel(args, memory);
  if (!pixel.inside()) return;
  const std::uint32_t choice = pixel.choice();
  if (!is_fillable(choice)) return;
  if (memory.balances[root_of(memory.parents, pixel.index())] <= 0)
    args.states.data[pixel.index()] = {pixel.plane_of(choice), kSupportedCost};
}

dim3 grid_of(int width, int height, int sources = 1) {
  return {static_cast<unsigned>((width + kBlockWidth - 1) / kBlockWidth),
          static_cast<unsigned>((height + kBlockHeight - 1) / kBlockHeight), static_cast<unsigned>(sources)};
}

}  // namespace

void launch_supported_planes(const PatchArgs& args, const SupportMemory& memory, cudaStream_t stream) {
  constexpr dim3 block(kBlockWidth, kBlockHeight);
  const int width = args.states.width, height = args.states.height;
  const auto spaced = [](int side) { return (side + kGainSpacing - 1) / kGainSpacing; };
  const dim3 pixels = grid_of(width, height);
  const dim3 samples = grid_of(spaced(width), spaced(height),
                               args.sources < kComparedSources ? args.sources : kComparedSources);
  RECON_CUDA_TRY(cudaMemsetAsync(memory.levels, 0, 2 * kComparedSources * sizeof *memory.levels, stream));
  classify_kernel<<<pixels, block, 0, stream>>>(args, memory);
  level_kernel<<<samples, block, 0, stream>>>(args, memory);
  choose_kernel<<<pixels, block, 0, stream>>>(args, memory);
  connect_kernel<<<pixels, block, 0, stream>>>(args, memory);
  balance_kernel<<<pixels, block, 0, stream>>>(args, memory);
  fill_kernel<<<pixels, block, 0, stream>>>(args, memory);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
