#pragma once

#include <cstdint>
#include <vector>

#include "cuda/methods/sweep/sweep_stages.hpp"
#include "cuda/optimize/patch_match/supported_planes.hpp"
#include "methods/stage_list.hpp"

namespace recon::cuda {

/// What a stage of a level of patches works with when it is queued.
struct LevelRun {
  PatchArgs args;
  const Rgb8* colours;  ///< of the reference, see launch_edges
  const Stream& stream;

  cudaStream_t get() const { return stream.get(); }
};

/// The stages that refine the patches of a view from level to level, with the addresses of their memory. What
/// is not in use at the same time shares memory.
class PatchStages {
 public:
  /// @param storage  of the sources
  /// @param arena    memory for the stages
  PatchStages(const SweepShape& shape, SourceStorage storage, Arena& arena);

  /// The stages of a level. @param level  how often its images are halved
  std::vector<Stage<LevelRun>> at_level(int level) const;

  /// What they start with.
  /// @param images  of the level
  /// @param on_device  their memory
  /// @param coarse  states of the coarser level; none for the coarsest
  PatchArgs args(const SweepProblem& problem, int level, const SweepImages& images,
                 const DeviceImages& on_device, const PatchStates& coarse) const;

  /// Rows of costs that the choice of sources holds at a time, two of them on either side of those for which
  /// it chooses.
  static int band_rows(const SweepShape& shape);

  DeviceImages images;      ///< of a level at a time
  std::uint8_t* weights;    ///< see PatchWeights
  Rgb8* colours = nullptr;  ///< of the finest reference, without padding
  float* depths;            ///< of the coarsest level, rows padded to 64 bytes
  float* results[3];        ///< depth, cost and confidence, of the finest level, rows without padding

 private:
  using LevelStages = std::vector<Stage<LevelRun>>;

  void take_shared(Arena& arena);
  void add_patches(int level, LevelStages& stages) const;
  void add_step(PatchStep step, LevelStages& stages) const;
  /// Replaces the states of the finest level by those that `launch` writes to its argument.
  template <class Launch>
  void replace_states(LevelRun& run, const Launch& launch) const;

  const SweepShape shape_;
  PatchState* states_[2];        ///< of the even levels (the finest is 0) and of the odd ones
  PatchState* other_ = nullptr;  ///< of the finest level in turn with states_[0]
  PatchSources* chosen_[2];      ///< of the finest level and of the others
  float* costs_;                 ///< see PatchArgs
  std::uint8_t* rounded_costs_;
  SupportMemory support_;
  EdgeVoter* voters_;  ///< see launch_edges
};

}  // namespace recon::cuda
