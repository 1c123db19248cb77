#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "cuda/methods/stereo/pair_workspace.hpp"
#include "cuda/optimize/belief/belief.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

/// The steps of belief propagation on one pair; all but `stage` and `result` only queue.
class BeliefCall {
 public:
  /// Bytes of device memory.
  static std::size_t device_bytes(int width, int height, const PairOptions& options);

  BeliefCall(const PairProblem& problem, PairWorkspace& workspace);

  void stage();   ///< images to page-locked memory, blurred if requested
  void upload();  ///< images to the device
  void propagate();
  void download();              ///< winners to page-locked memory
  DisparityMap result() const;  ///< after the stream has completed

 private:
  const PairProblem& problem_;
  PairWorkspace& workspace_;
  BeliefArgs args_;
  std::byte* images_ = nullptr;  ///< on the device, left above right
  std::size_t image_bytes_ = 0;  ///< of both
  std::size_t winner_bytes_ = 0;
};

}  // namespace recon::cuda
