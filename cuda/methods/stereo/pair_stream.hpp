#pragma once

#include <oneapi/tbb/task_arena.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "core/aligned_buffer.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/match/transform.hpp"
#include "cuda/methods/staging.hpp"
#include "cuda/methods/stereo/block_device.hpp"
#include "cuda/optimize/belief/belief.hpp"
#include "cuda/optimize/semi_global/semi_global.hpp"
#include "methods/stereo/block/block_plan.hpp"
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
std::unique_ptr<PairStream> make_pair_stream(const PairShape& shape, const PairSpec& options, Arena& arena);

/// The bytes that make_pair_stream takes from its arena.
std::size_t pair_stream_bytes(const PairShape& shape, const PairSpec& options);

/// Matches a pair with the method of the options, on the current device: bit-identical to the CPU, except
/// for adaptive weights (see cuda/aggregate/adaptive_weight.hpp).
/// @throws std::logic_error for invalid images, range or options; OutOfMemory, DeviceError
DisparityMap match_pair(const PairProblem& problem, PairWorkspace& workspace);

/// Belief propagation.
class BeliefStream : public PairStream {
 public:
  static std::size_t bytes(const PairShape& shape, const PairSpec& options);

  BeliefStream(const PairShape& shape, const PairSpec& options, Arena& arena);

  void upload(const PairProblem& problem, PairWorkspace& workspace) override;
  void queue(PairWorkspace& workspace) const override;
  Image<float> download(PairWorkspace& workspace) const override;

  /// Device memory; images and winners without padding.
  struct Buffers {
    std::byte* messages;      ///< and costs, of all levels
    std::byte* images;        ///< left above right: bytes, or floats if they are blurred
    std::size_t image_bytes;  ///< of one
    std::uint16_t* winners;
    unsigned* counters;
  };
  const Buffers& buffers() const { return at_; }

 private:
  PairShape shape_;
  DisparityRange range_;
  BeliefOptions options_;
  Buffers at_;
  BeliefArgs args_;
};

/// Block matching.
class BlockStream : public PairStream {
 public:
  static std::size_t bytes(const PairShape& shape, const PairSpec& options);

  BlockStream(const PairShape& shape, const PairSpec& options, Arena& arena);

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
};

/// The grey images of a pair on the device, left and right, rows without padding.
struct PairGrey {
  std::uint8_t* bytes[2];
  std::uint16_t* words[2];  ///< the same images in their stored depth, or null

  static PairGrey take(const PairShape& shape, bool words, Arena& arena) {
    const std::size_t pixels = element_count({shape.width, shape.height});
    PairGrey grey{};
    for (std::uint8_t*& image : grey.bytes) image = arena.take<std::uint8_t>(pixels);
    for (std::uint16_t*& image : grey.words) image = words ? arena.take<std::uint16_t>(pixels) : nullptr;
    return grey;
  }

  void upload(const GreyPair& images, PairWorkspace& workspace) const {
    const auto send = [&](const auto& image, auto* device) {
      if (device) workspace.staging.upload(image, device, image.width, workspace.stream);
    };
    send(images.left, bytes[0]);
    send(images.right, bytes[1]);
    send(images.left16, words[0]);
    send(images.right16, words[1]);
  }

  /// An image in the best depth there is.
  DeviceGrey view(int image, const PairShape& shape) const {
    const void* pixels = words[image] ? static_cast<const void*>(words[image]) : bytes[image];
    return {pixels, words[image] != nullptr, shape.width, shape.width, shape.height};
  }
};

/// Semi-global matching.
class SemiGlobalStream : public PairStream {
 public:
  static std::size_t bytes(const PairShape& shape, const PairSpec& options);

  SemiGlobalStream(const PairShape& shape, const PairSpec& options, Arena& arena);

  void upload(const PairProblem& problem, PairWorkspace& workspace) override;
  void queue(PairWorkspace& workspace) const override;
  Image<float> download(PairWorkspace& workspace) const override;

  /// The stages of `queue` except those of `optimizer`, in order.
  void queue_transform(const Stream& stream) const;
  void queue_costs(const Stream& stream) const;
  void queue_disparity(const Stream& stream) const;
  void queue_median(const Stream& stream) const;
  const SemiGlobal& optimizer() const { return optimizer_; }

  struct Buffers {
    PairGrey grey;
    std::byte* transformed[2];  ///< left and right
    std::uint8_t* costs;
    float *disparity, *median;
    SemiGlobal::Buffers paths;
  };

 private:
  PairShape shape_;
  DisparityRange range_;
  MethodSpec options_;
  WinnerChecks checks_;
  Buffers at_;
  SemiGlobal optimizer_;
};

}  // namespace recon::cuda
