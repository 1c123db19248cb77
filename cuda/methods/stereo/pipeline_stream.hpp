#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/device/volume.hpp"
#include "cuda/refine/outliers.hpp"
#include "match/ad_census.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

/// Called with the name of each queued step.
using PipelineMark = std::function<void(const char* step)>;

/// Pipelines of single stages over pairs of one size with one set of options: the device memory and the
/// queued work. Both views are matched concurrently if their volumes are small, else one after the other in
/// the same memory.
class PipelineStream {
 public:
  /// Bytes that the constructor takes from its arena.
  static std::size_t bytes(int width, int height, const PairOptions& options);

  /// @param arena  is made large enough; its contents are lost
  /// @throws std::logic_error if runs_on_gpu is false or an option is out of range
  PipelineStream(int width, int height, const PairOptions& options, Arena& arena);

  /// Uploads images from host memory through `staging`. Returns when they may change.
  void upload(const ColourPair& images, PinnedBuffer& staging, const Stream& stream) const;

  /// Queues everything from images to disparities on the device; the steps are "images", "cost",
  /// "aggregation", "scanline", "winner", for each view, and then those of the refinement. With `mark` the
  /// steps run sequentially.
  void queue(const Stream& stream, const PipelineMark& mark = {}) const;

  /// Complete on return.
  Image<float> download(PinnedBuffer& staging, const Stream& stream) const;

  struct Buffers {
    Rgb8* colours[2];  ///< left and right, as in all arrays of two here
    std::uint8_t* grey;
    std::uint64_t* census[2];
    float* tables;  ///< CostTables
    std::uint8_t* edges[2];
    Cross* arms[2];
    float* costs[2];
    std::byte* scratch[2];  ///< for the aggregation, or for a second volume
    float *left, *right, *spare;
    Outlier* outliers;
    std::int16_t* bins;
    OutlierList list;
    float* reliable;
    int *labels, *sizes, *strips;
  };

 private:
  void queue_images(cudaStream_t stream) const;
  DeviceVolume match(PairSide side, float* disparity, cudaStream_t stream, const PipelineMark& mark) const;
  DeviceVolume aggregate(PairSide side, const DeviceVolume& costs, cudaStream_t stream) const;
  DeviceVolume match_both(const Stream& stream, const PipelineMark& mark) const;
  void queue_repair(cudaStream_t stream, const PipelineMark& mark) const;
  void queue_map_steps(const DeviceVolume& costs, cudaStream_t stream, const PipelineMark& mark) const;
  const float* result() const;

  int width_, height_;
  DisparityRange range_;
  PipelineOptions options_;
  CostTables tables_;
  Buffers at_;
  /// Resources for matching the right view concurrently; null: not concurrent.
  struct Side {
    Stream stream;
    Event begins, ends;
  };
  std::unique_ptr<Side> side_;
};

}  // namespace recon::cuda
