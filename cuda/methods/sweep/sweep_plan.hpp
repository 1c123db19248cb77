#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/volume.hpp"
#include "cuda/aggregate/aggregation.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/match/sweep.hpp"
#include "cuda/methods/sweep/supported_planes.hpp"
#include "cuda/optimize/semi_global/semi_global.hpp"
#include "methods/sweep/sweep_problem.hpp"
#include "optimize/patch_match/patch_match_step.hpp"
#include "optimize/winner/winner_step.hpp"

namespace recon::cuda {

/// Division of a view and its memory on the device.
struct SweepPlan {
  bool paths = false;         ///< the semi-global optimizer selects the planes, block by block
  bool stored = false;        ///< all costs of a block are stored, for stages that need them
  bool on_host = false;       ///< the stages after the aggregation run on the host
  int width = 0, height = 0;  ///< of the view, or of the largest block
  SourceStorage storage = SourceStorage::kQuads;
  int rows = 0;                 ///< reference rows processed at a time
  int planes = 0;               ///< planes stored at a time
  int sums = 2;                 ///< volumes of sums of the semi-global optimizer
  std::size_t path_bytes = 0;   ///< of the semi-global optimizer
  std::size_t sweep_bytes = 0;  ///< of the sweep with its optimizer
  std::size_t patch_bytes = 0;  ///< of the patches, after the sweep
  std::size_t bytes = 0;        ///< of the arena, which sweep and patches share
  int tiles = 1;                ///< pieces of the view, or of the largest block

  bool patches = false;  ///< slanted patches follow; what is above is for the coarsest level
  SourceStorage patch_storage = SourceStorage::kQuads;

  bool by_blocks() const { return paths || stored; }
};

/// The fastest plan that fits.
/// @param memory_limit  bytes per sweep
/// @param storage       empty: quads if they fit
/// @throws OutOfMemory if the smallest pieces do not fit, with the bytes needed and the options that lower
/// them
SweepPlan plan_sweep(const SweepShape& shape, std::size_t memory_limit,
                     std::optional<SourceStorage> storage = {});

/// The optimizer's input for a block (tile of a view) of this size, without its costs and guide.
SemiGlobalInput path_input(int width, int height, int planes, int sums, const SemiGlobalOptions& options);

/// Pointers into the arena of a sweep.
struct WorkMemoryMap {
  std::uint8_t* reference[3];
  void* source[kMaxSources][3];
  std::uint8_t* upload;     ///< a source channel as bytes, before conversion to quads
  std::uint16_t* volume;    ///< by (y, d, x)
  WinnerScan* scans;        ///< of `rows` rows between two ranges of planes
  float* results;           ///< depth, cost, confidence of `rows` rows, or of a block
  std::uint8_t* quantized;  ///< costs of a block, see QuantizedCosts
  float* costs;             ///< of a block by (y, d, x), see device_volume
  Rgb8* colours;            ///< of a block
  Cross* arms;              ///< of a block
  std::byte* scratch;       ///< for the aggregation
  float* depths;            ///< of a block, before edges move
  std::size_t end;          ///< bytes of all; the memory of the optimizer follows

  static std::ptrdiff_t byte_pitch(int width) { return padded_count<std::uint8_t>(width); }
  static std::ptrdiff_t quad_pitch(int width) { return padded_count<std::uint32_t>(width); }
  static std::ptrdiff_t half_pitch(int width) { return padded_count<std::uint16_t>(width); }
  static std::ptrdiff_t float_pitch(int width) { return padded_count<float>(width); }
};

/// Memory of the patches of a view. The images are those of one level at a time. The states of the odd levels
/// share memory with the chosen sources of the finest, and the depths with those of the other levels: a level
/// reads the results of the coarser one before it chooses. The planar prior and the results share what only
/// the patches need.
struct PatchMemory {
  /// Max bytes of the costs that the choice of sources holds at a time.
  static constexpr std::size_t kBandBytes = std::size_t{32} << 20;

  std::uint8_t* weights;
  PatchState* states[2];    ///< of the even levels (the finest is 0) and of the odd ones
  PatchSources* chosen[2];  ///< of the finest level and of the others
  std::uint8_t* reference;
  void* source[kMaxSources];
  std::uint8_t* upload;  ///< a source as bytes, before conversion to quads
  float* depth;          ///< of the coarsest level
  std::uint8_t* costs;
  int band_rows;  ///< of `costs`
  SupportMemory support;
  std::uint8_t* inside;  ///< of edge_state
  float* results[3];     ///< depth, cost and confidence, of the finest level, without padding
};

/// Takes all memory of the patches from `arena`.
PatchMemory map_patch_memory(Arena& arena, const SweepShape& shape, SourceStorage storage);

/// Takes all memory of a sweep from `arena`, without that of the semi-global optimizer.
WorkMemoryMap map_memory(Arena& arena, const SweepShape& shape, const SweepPlan& plan);

}  // namespace recon::cuda
