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

/// Told of each step that was queued, by its name.
using PipelineMark = std::function<void(const char* step)>;

/// Pipelines of single stages over pairs of one size with one set of options: the memory on the device and
/// what is queued there. Both views are matched side by side where their volumes are small, else one after
/// the other in the same memory.
class PipelineStream {
 public:
  /// Bytes that the constructor takes from its arena.
  static std::size_t bytes(int width, int height, const PairOptions& options);

  /// @param arena  is made large enough; what it held is lost
  /// @throws std::logic_error where runs_on_gpu is false, or an option out of range
  PipelineStream(int width, int height, const PairOptions& options, Arena& arena);

  /// Images from host memory, through `staging`. Returns when they may change.
  void upload(const ColourPair& images, PinnedBuffer& staging, const Stream& stream) const;

  /// Everything from images to disparities on the device; the steps are "images", "cost", "aggregation",
  /// "scanline", "winner", of either view, and then those of the refinement. Where steps are told of they
  /// come one after the other.
  void queue(const Stream& stream, const PipelineMark& mark = {}) const;

  /// Done on return.
  Image<float> download(PinnedBuffer& staging, const Stream& stream) const;

  struct Buffers {
    Rgb8* colours[2];  ///< left and right, as all pairs here
    std::uint8_t* grey;
    std::uint64_t* census[2];
    float* tables;  ///< CostTables
    std::uint8_t* edges[2];
    Cross* arms[2];
    float* costs[2];
    std::byte* scratch[2];  ///< of the aggregation, or for another volume
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
  /// Where the right view is matched meanwhile; null: it is not.
  struct Side {
    Stream stream;
    Event begins, ends;
  };
  std::unique_ptr<Side> side_;
};

}  // namespace recon::cuda
