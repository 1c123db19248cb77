#pragma once

#include <oneapi/tbb/task_arena.h>

#include <cstddef>
#include <memory>

#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/methods/staging.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

/// Resources to match one pair at a time on one device, reused so that a further pair of the same size
/// allocates no device memory.
struct PairWorkspace {
  Stream stream;
  Arena arena;
  Staging staging;
  int host_threads = oneapi::tbb::task_arena::automatic;  ///< for graph cuts
};

/// The properties of a pair's images that determine its device memory.
struct PairShape {
  int width = 0, height = 0;
  bool words = true;  ///< whether grey images of 16 bits may be given
};
PairShape pair_shape(const PairProblem& problem);

/// A method for pairs of one shape with one set of options: the device memory and the queued work.
class PairStream {
 public:
  virtual ~PairStream() = default;

  /// Queues the upload of the images. They may change on return, except those of a pipeline with a graph cut,
  /// which `queue` uses too.
  virtual void upload(const PairProblem& problem, PairWorkspace& workspace) = 0;

  /// Queues everything from images to disparities on the device.
  virtual void queue(PairWorkspace& workspace) const = 0;

  /// The disparities of the left image; complete on return.
  virtual Image<float> download(PairWorkspace& workspace) const = 0;
};

/// The method of the options, with memory of `arena`, which is made large enough; its contents are lost.
/// @throws std::logic_error if an option is out of range; OutOfMemory
std::unique_ptr<PairStream> make_pair_stream(const PairShape& shape, const PairOptions& options,
                                             Arena& arena);

/// The bytes that make_pair_stream takes from its arena.
std::size_t pair_stream_bytes(const PairShape& shape, const PairOptions& options);

/// Matches a pair with the method of the options, on the current device: bit-identical to the CPU, except
/// for adaptive weights (see cuda/aggregate/adaptive_weight.hpp).
/// @throws std::logic_error for invalid images, range or options; OutOfMemory, DeviceError
DisparityMap match_pair(const PairProblem& problem, PairWorkspace& workspace);

}  // namespace recon::cuda
