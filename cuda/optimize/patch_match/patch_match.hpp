#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/match/sweep.hpp"
#include "optimize/patch_match/edge_planes_step.hpp"
#include "optimize/patch_match/patch_match_step.hpp"

namespace recon::cuda {

/// Arguments of the kernels of a level of patches; passed by value, so in constant memory.
struct PatchArgs {
  DeviceSource source[kMaxSources];  ///< grey
  int sources;
  SourceStorage storage;
  const std::uint8_t* reference;
  int reference_pitch;          ///< bytes
  const std::uint8_t* weights;  ///< see PatchWeights::data
  PatchIteration iteration;
  PatchStates states;
  PatchSources* chosen;  ///< by (y, x), without padding
  PatchStates coarse;    ///< of the coarser level
  const PatchSources* coarse_chosen;
  float* costs;  ///< of the own planes by (source, y - row_begin, x); negative where a source does not see it
  std::uint8_t* rounded_costs;  ///< the same, see rounded_cost
  int row_begin, rows;          ///< of both
};

/// The first planes, from depths with rows `pitch` floats apart. All throw DeviceError.
void launch_first_planes(const PatchArgs& args, const float* depth, std::ptrdiff_t pitch,
                         cudaStream_t stream);

/// The states from those of the coarser level.
void launch_refine(const PatchArgs& args, cudaStream_t stream);

/// The costs of the own planes of the rows of `costs` in all sources, then the sources of the rows [begin,
/// end) and the costs of their states.
void launch_choose(const PatchArgs& args, int begin, int end, cudaStream_t stream);

/// One iteration for the pixels of a colour of the checkerboard.
void launch_improve(const PatchArgs& args, int colour, cudaStream_t stream);

/// The states with smooth surfaces, see agreed_plane.
/// @param smooth  receives them by (y, x) without padding; shares no memory with the states
void launch_smooth(const PatchArgs& args, PatchState* smooth, cudaStream_t stream);

/// Depth, cost and confidence of the pixels, without padding; see patch_depth.
void launch_patch_depths(const PatchStates& states, float* const (&results)[3], cudaStream_t stream);

/// The states after a pass over the pixels near edges, see edge_state.
/// @param args     of the finest level
/// @param pass     0 .. kEdgePasses - 1
/// @param colours  of the reference, without padding; null: grey levels are compared
/// @param voters   scratch, one a pixel
/// @param moved    receives them by (y, x) without padding; shares no memory with the states
void launch_edges(const PatchArgs& args, int pass, const Rgb8* colours, EdgeVoter* voters, PatchState* moved,
                  cudaStream_t stream);

}  // namespace recon::cuda
