#pragma once

#include <vector>

#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/methods/stereo/block_device.hpp"
#include "methods/stereo/block/block_plan.hpp"

namespace recon::cuda {

/// Block matching of pairs of one size on the device, with memory from an arena.
class BlockStream {
 public:
  /// Resets the arena. @throws OutOfMemory
  BlockStream(int width, int height, const PairOptions& options, Arena& arena);
  static std::size_t bytes(int width, int height, const PairOptions& options);

  void upload(const GreyPair& images, PinnedBuffer& staging, const Stream& stream) const;
  /// From images on the device to the map on the device.
  void queue(const Stream& stream, BlockTiling tiling = {}) const;
  /// The search only, over images that are already prefiltered.
  void queue_search(const Stream& stream, BlockTiling tiling = {}) const {
    search(levels_[0], stream, tiling);
  }
  Image<float> download(PinnedBuffer& staging, const Stream& stream) const;

 private:
  void search(const DeviceBlock& level, const Stream& stream, BlockTiling tiling) const;

  std::vector<BlockLevel> plan_;
  std::vector<DeviceBlock> levels_;
  std::uint32_t* scratch_ = nullptr;  ///< for the general kernel
};

}  // namespace recon::cuda
