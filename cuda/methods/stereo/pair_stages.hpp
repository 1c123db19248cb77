#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/device/volume.hpp"
#include "cuda/match/transform.hpp"
#include "cuda/methods/stereo/device_images.hpp"
#include "cuda/methods/workspace.hpp"
#include "methods/stage_list.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

/// The properties of a pair's images that determine its device memory.
struct PairShape {
  int width = 0, height = 0;  ///< pixels
  bool words = true;          ///< whether grey images of 16 bits may be given

  std::size_t pixels() const { return element_count({width, height}); }
};
PairShape pair_shape(const PairProblem& problem);

/// What a stage works with when it is queued.
struct StageRun {
  Workspace& workspace;
  const GreyPair& images;  ///< on the host, for stages that run there
  const Stream& stream;
  DeviceVolume costs;  ///< (y, d, x) of the view, where its last stage left them

  cudaStream_t get() const { return stream.get(); }
};

using PairStage = Stage<StageRun>;

/// A method for pairs of one shape as stages on the device, in the order in which they run.
struct PairStages {
  using Upload = std::function<void(const PairProblem&, Workspace&)>;

  std::vector<std::function<void(Workspace&)>> constants;  ///< uploads that no image changes
  std::vector<Upload> uploads;                             ///< of the images
  PairTargets targets;                                     ///< where they put them
  std::vector<PairStage> images;                           ///< what is derived from the images of both views
  std::vector<PairStage> right, left;                      ///< of a view
  std::vector<PairStage> refinement;                       ///< of the left view
  bool side_by_side = false;  ///< both views have their own memory and are matched concurrently
  PairResult result;
  std::function<Image<float>(Workspace&)> download;

  /// Sets the result, a map without padding, and its download.
  void set_result(float* map, const PairShape& shape);
};

// What each file adds: the stages of one method, with memory of `arena`.
// @throws std::logic_error if an option is out of range
void add_belief_stages(const PairShape& shape, const PairSpec& options, Arena& arena, PairStages& stages);
void add_block_stages(const PairShape& shape, const PairSpec& options, Arena& arena, PairStages& stages);
void add_semi_global_stages(const PairShape& shape, const PairSpec& options, Arena& arena,
                            PairStages& stages);
void add_pipeline_stages(const PairShape& shape, const PairSpec& options, Arena& arena, PairStages& stages);

/// A method for pairs of one shape, which takes its memory from an arena: see bytes_taken.
struct PairMethod {
  PairShape shape;
  PairSpec options;
  /// Empty: the result is downloaded. Otherwise it stays on the device, and what PairStages::result needs to
  /// leave out patches of fewer pixels is computed.
  std::optional<int> min_patch = {};

  /// @throws std::logic_error if an option is out of range, UsageError for a stage that only the CPU has
  PairStages operator()(Arena& arena) const;
};

/// Runs the stages of a method for pairs of one shape.
class PairExecutor {
 public:
  /// Makes the arena large enough for the method and takes its memory from there; its contents are lost.
  /// @throws OutOfMemory, and what the method throws
  PairExecutor(const PairMethod& method, Arena& arena);

  /// Queues the upload of what no image changes; for images that are on the device already.
  void upload_constants(Workspace& workspace);
  /// Where images that are on the device are copied before `queue`.
  const PairTargets& targets() const { return stages_.targets; }
  /// What `queue` leaves.
  const PairResult& result() const { return stages_.result; }

  /// Queues the upload of the images. They may change on return, except those of a pipeline with a graph cut,
  /// which `queue` uses too.
  /// @throws std::logic_error if an image is not of the shape, or missing
  void upload(const PairProblem& problem, Workspace& workspace);

  /// Queues everything from images to disparities on the device; a graph cut is complete on return.
  void queue(Workspace& workspace) const;

  /// The same one stage after the other; calls `mark` after each.
  void queue(Workspace& workspace, const std::function<void(const char* stage)>& mark) const;

  /// The disparities of the left image; complete on return.
  Image<float> download(Workspace& workspace) const { return stages_.download(workspace); }

 private:
  PairShape shape_;
  PairStages stages_;
  GreyPair images_;
  /// Resources for matching the right view concurrently; null: not concurrent.
  struct Side {
    Stream stream;
    Event begins, ends;
  };
  std::unique_ptr<Side> side_;
};

/// Matches a pair with the method of the options, on the current device: bit-identical to the CPU, except
/// for adaptive weights (see cuda/aggregate/adaptive_weight.hpp).
/// @throws std::logic_error for invalid images, range or options; OutOfMemory, DeviceError
DisparityMap match_pair(const PairProblem& problem, Workspace& workspace);

/// The grey images of a pair on the device, left and right, rows without padding.
struct PairGrey {
  std::uint8_t* bytes[2];
  std::uint16_t* words[2];  ///< the same images in their stored depth, or null

  /// Takes their memory and adds their upload.
  static PairGrey add(const PairShape& shape, bool words, Arena& arena, PairStages& stages);

  /// An image in the best depth there is.
  DeviceGrey view(int image, const PairShape& shape) const {
    const void* pixels = words[image] ? static_cast<const void*>(words[image]) : bytes[image];
    return {pixels, words[image] != nullptr, shape.width, shape.width, shape.height};
  }
};

}  // namespace recon::cuda
