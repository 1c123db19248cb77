#pragma once

#include <vector>

#include "cuda/methods/stereo/block_device.hpp"
#include "cuda/methods/stereo/pair_stream.hpp"
#include "methods/stereo/block/block_plan.hpp"

namespace recon::cuda {

/// Block matching.
class BlockStream : public PairStream {
 public:
  static std::size_t bytes(const PairShape& shape, const PairOptions& options);

  /// @param tiling  of the search; it does not change the result
  BlockStream(const PairShape& shape, const PairOptions& options, Arena& arena, BlockTiling tiling = {});

  void upload(const PairProblem& problem, PairWorkspace& workspace) override;
  void queue(PairWorkspace& workspace) const override;
  Image<float> download(PairWorkspace& workspace) const override;

  /// The search of the finest level only, over images that are already prefiltered.
  void queue_search(PairWorkspace& workspace) const { search(levels_[0], workspace.stream); }

 private:
  void search(const DeviceBlock& level, const Stream& stream) const;

  std::vector<BlockLevel> plan_;
  std::vector<DeviceBlock> levels_;
  std::uint32_t* scratch_ = nullptr;  ///< for the general kernel
  BlockTiling tiling_;
};

}  // namespace recon::cuda
