#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/aggregation.hpp"
#include "core/image.hpp"
#include "fuse/agreement.hpp"
#include "fuse/device_fusion.hpp"
#include "match/posed_image.hpp"
#include "match/sweep_options.hpp"
#include "match/warp_step.hpp"
#include "methods/stereo/pair.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/patch_match/patch_match_step.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "refine/normals.hpp"

namespace recon {

/// Optimizer of a sweep.
enum class SweepOptimizer {
  kWinnerTakeAll,  ///< each pixel independently
  kSemiGlobal,     ///< with smoothness along paths through the image
  kGraphCut,       ///< with smoothness, by minimisation of the energy of all pixels
};

/// The semi-global optimizer over a sweep, whose costs are 0 .. 127 (see quantized_cost).
struct SweepPaths {
  SemiGlobalOptions penalties{8, 5, 120, 6};
  /// Max bytes of the costs of a block of a view, one per sample: larger views are divided into blocks, see
  /// sweep_blocks.
  std::size_t block_bytes = std::size_t{256} << 20;
};

/// Stages after the costs of a sweep. Graph cuts always run on the host.
struct SweepStages {
  AggregationOptions aggregation;
  bool graph_cut = false;  ///< minimises the energy from the result of the optimizer
  GraphCutOptions cut;     ///< for optimizer and stage; costs are scaled to 0 .. 126, see quantized_cost
  /// Moves depth edges: to lower costs, see adjusted_depth; those of patches to grey levels, see edge_state.
  bool edges = false;
  bool patches = false;  ///< sweeps the coarsest level only and refines slanted patches from there
  bool prior = false;    ///< after the patches: the planar prior, see fill_supported_planes
  PatchMatchOptions patch_match;
};

/// Whether a sweep needs stored costs.
constexpr bool needs_volume(SweepOptimizer optimizer, const SweepStages& stages) {
  return optimizer == SweepOptimizer::kGraphCut || stages.graph_cut || (stages.edges && !stages.patches) ||
         stages.aggregation.kind != Aggregation::kNone;
}

/// The stages of a sweep and their options.
struct SweepSpec {
  SweepOptions options;
  SweepOptimizer optimizer = SweepOptimizer::kWinnerTakeAll;
  SweepPaths paths;  ///< for kSemiGlobal
  SweepStages stages;
};

/// A reference view and its sources at one size.
struct SweepImages {
  PosedImage reference;
  std::vector<PosedImage> sources;  ///< 1 .. kMaxSources
};

/// Inverse depths that results may have.
struct DepthBounds {
  float min = 0, max = std::numeric_limits<float>::max();
};

/// One reference view to sweep: all images have the same number of channels (1 or 3; ZNCC and patches: 1).
struct SweepProblem : SweepSpec, SweepImages {
  PlaneSet planes;                   ///< of the coarsest level, if patches are refined
  std::vector<SweepImages> coarser;  ///< for patches: images halved once, twice, ...
  DepthBounds bounds = {};           ///< exact ones of the depths
};

/// Result of a sweep per pixel of the reference; depth is NaN where no source sees it.
struct DepthEstimate {
  Image<float> depth;       ///< z, scene units, with sub-plane interpolation by a parabola
  Image<float> cost;        ///< cost of the winner, in the unit of the cost
  Image<float> confidence;  ///< uniqueness of the winner, for patches 1 - cost, [0, 1]
};

inline DepthEstimate uninitialised_estimate(int width, int height) {
  return {Image<float>(width, height), Image<float>(width, height), Image<float>(width, height)};
}

/// What determines the memory and time of a sweep: its stages and sizes.
struct SweepShape : SweepSpec {
  int width = 0, height = 0;                ///< of the reference
  int source_width = 0, source_height = 0;  ///< of the largest source
  int channels = 1;
  int sources = 0;
  int planes = 0;
};

/// Memory of one view or pair, computed in advance, excluding images and results of the caller.
struct WorkMemory {
  std::size_t host_bytes = 0;
  std::size_t device_bytes = 0;
  int tiles = 1;  ///< number of tiles of the view so that it fits
};

/// Device that runs the stages: the CPU or a GPU. Results do not depend on the number of threads, on tiling
/// or on concurrent work.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Display name, such as "CPU, 2 threads, AVX-512" or "cuda:0 NVIDIA H200, 139 GiB".
  virtual std::string name() const = 0;

  /// Max concurrent calls of `sweep` and `match`, each from its own thread; further calls wait until one of
  /// them has ended.
  virtual int streams() const = 0;

  /// The memory that `sweep` needs for a problem of this shape within the limits of this backend.
  /// @throws OutOfMemory when even the smallest tiling does not fit
  virtual WorkMemory memory(const SweepShape& shape) const = 0;

  /// Sweeps one view; thread-safe.
  /// @throws OutOfMemory, DeviceError
  virtual DepthEstimate sweep(const SweepProblem& problem) = 0;

  /// The memory that `match` needs for images of this size.
  /// @throws OutOfMemory when that exceeds the limits of this backend
  virtual WorkMemory pair_memory(int width, int height, const PairOptions& options) const = 0;

  /// Matches a rectified pair; thread-safe.
  /// @throws OutOfMemory, DeviceError
  virtual DisparityMap match(const PairProblem& problem) = 0;

  /// See recon::normals_from_depth; thread-safe. The default computes on the calling thread's task arena.
  /// @param id  of the maps of the view, see DepthSource: a GPU may keep them for `count_agreement`
  /// @throws OutOfMemory, DeviceError
  virtual Image<Vec3f> normals(ImageView<const float> depth, const Pinhole& camera,
                               [[maybe_unused]] std::uint64_t id) {
    return normals_from_depth(depth, camera);
  }

  /// See recon::count_agreement; thread-safe. The default computes on the calling thread's task arena.
  /// @throws OutOfMemory, DeviceError, and what loading a map throws
  virtual Image<Agreement> count_agreement(const DepthSource& reference,
                                           const std::vector<DepthSource>& sources,
                                           const ConsistencyOptions& options) {
    return recon::count_agreement(reference, sources, options);
  }

  /// A fusion of `views` on this device, which must outlive it; null where the CPU fuses. It takes memory
  /// that sweeps leave.
  virtual std::unique_ptr<DeviceFusion> fusion(const std::vector<FusionView>& /*views*/,
                                               const FusionOptions& /*options*/) {
    return nullptr;
  }
};

using Backends = std::vector<std::unique_ptr<Backend>>;

struct CpuOptions {
  int threads = 0;                          ///< 0: all that the process may use
  std::optional<std::size_t> memory_limit;  ///< bytes for sweeps; empty: no limit
};

struct CudaOptions {
  int device = 0;                           ///< index among the visible devices
  std::optional<std::size_t> memory_limit;  ///< bytes of device memory; empty: 90 % of the free memory
  int processes = 1;                        ///< that each get an equal share of the device's memory
  int streams = 2;
  int threads = 0;  ///< CPU threads for graph cuts; 0: all that the process may use
};

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options);

/// Usable GPUs or, if there is none, the reason (no CUDA in this build, no driver, GPU older than the build).
struct CudaDevices {
  std::vector<std::string> names;
  std::string why_none;
};
CudaDevices find_cuda_devices();

/// @throws DeviceUnavailable if the build has no CUDA or the device cannot be used
std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options);

/// The shape of a problem, whose images may lack their pixels.
inline SweepShape sweep_shape(const SweepProblem& problem) {
  SweepShape shape{static_cast<const SweepSpec&>(problem)};
  shape.width = problem.reference.camera.width;
  shape.height = problem.reference.camera.height;
  for (const PosedImage& source : problem.sources) {
    shape.source_width = std::max(shape.source_width, source.camera.width);
    shape.source_height = std::max(shape.source_height, source.camera.height);
  }
  shape.channels = problem.reference.channels;
  shape.sources = static_cast<int>(problem.sources.size());
  shape.planes = problem.planes.count;
  return shape;
}

}  // namespace recon
