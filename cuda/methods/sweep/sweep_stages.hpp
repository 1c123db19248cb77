#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/aligned_buffer.hpp"
#include "cuda/device/image_cache.hpp"
#include "cuda/match/sweep.hpp"
#include "cuda/methods/sweep/block_costs.hpp"
#include "cuda/methods/workspace.hpp"
#include "match/cpu_sweep.hpp"
#include "methods/sweep/sweep_problem.hpp"

namespace recon::cuda {

/// Elements of an image with padded rows.
template <class T>
std::size_t padded_elements(int width, int height) {
  return element_count({padded_count<T>(width), height});
}

/// How a view is divided so that its sweep fits; with patches, the coarsest level.
struct SweepPlan {
  SourceStorage storage = SourceStorage::kQuads;
  SourceStorage patch_storage = SourceStorage::kQuads;  ///< of the sources that patches are compared with
  int rows = 0;                                         ///< reference rows processed at a time
  int planes = 0;                                       ///< planes stored at a time
  int sums = 2;           ///< volumes of sums of the semi-global optimizer, see SemiGlobalInput
  int tiles = 1;          ///< pieces of the view, or of the largest block
  std::size_t bytes = 0;  ///< of device memory, which sweep and patches share
};

/// A cache of sources for one call, in which images of it are in use until the call ends.
struct CachedSources {
  /// @param shared  by the streams of a device; null: all sources are uploaded
  explicit CachedSources(ImageCache* shared) : cache(shared) {}

  ImageCache* const cache;
  std::vector<ImageCache::Use> uses;
  const ImageCache::Release release{cache, uses};
};

/// The images of a sweep, or of a level of patches, on the device; rows are padded to 64 bytes.
struct DeviceImages {
  SourceStorage storage = SourceStorage::kQuads;
  std::uint8_t* reference[3] = {};
  void* source[kMaxSources][3] = {};
  std::uint8_t* bytes = nullptr;  ///< a source channel before its conversion to quads

  // Take the memory for images of a shape from `arena`.

  void take_reference(const SweepShape& shape, Arena& arena);
  /// The sources `first` .. `end` - 1.
  void take_sources(const SweepShape& shape, int first, int end, Arena& arena);
  void take_bytes(const SweepShape& shape, Arena& arena);

  /// Queues the upload of images, which may change on return where they are on the host, except for sources
  /// that the cache has.
  /// @return the memory where they are, which may be of the cache. @throws DeviceError
  DeviceImages uploaded(const SweepImages& images, Workspace& workspace, CachedSources& cached) const;

  /// A source as kernels read it.
  /// @param warped  the reference, or the part of it whose pixels are warped
  /// @param s       index of `image`
  DeviceSource view(const PosedImage& warped, const PosedImage& image, int s) const;
};

/// What a stage of a block works with when it is queued.
struct BlockRun {
  const SweepProblem& problem;
  const DeviceImages& images;
  Tile part;         ///< of the reference, to which its pixels are warped
  int row, row_end;  ///< the rows of the part that are processed
  const Stream& stream;
  DeviceVolume costs = {};  ///< (y, d, x), where the last stage that stores them left them

  cudaStream_t get() const { return stream.get(); }
  int reference_pitch() const {
    return static_cast<int>(padded_count<std::uint8_t>(problem.reference.camera.width));
  }
  /// A channel of the part.
  const std::uint8_t* reference(int c) const {
    return images.reference[c] + std::ptrdiff_t{part.y} * reference_pitch() + part.x;
  }
};

/// The stages over a block of a view, which are those of recon::SweepStages; or over a group of rows where no
/// costs are stored. A graph cut and what follows is left to the host.
struct BlockStages {
  std::vector<Stage<BlockRun>> stages;
  std::uint16_t* volume = nullptr;  ///< the costs of a piece, see SweepArgs::volume
  float* results = nullptr;  ///< depth, cost and confidence: three images, rows padded; null: of the host
};

/// @param plan   its bytes and tiles are ignored
/// @param size   of the block
/// @param arena  memory for the stages
/// @throws std::logic_error, UsageError if an option is out of range
BlockStages block_stages(const SweepShape& shape, const SweepPlan& plan, const Tile& size, Arena& arena);

}  // namespace recon::cuda
