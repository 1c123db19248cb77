#pragma once

#include "cuda/match/transform.hpp"
#include "cuda/methods/stereo/pair_workspace.hpp"
#include "cuda/optimize/semi_global/semi_global.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

/// Semi-global matching of pairs of one size with one set of options: the device memory and the queued work.
class SemiGlobalStream {
 public:
  /// Bytes that the constructor takes from its arena.
  static std::size_t bytes(int width, int height, const PairOptions& options, bool words);

  /// @param words  also allocate images of 16 bits
  /// @param arena  is made large enough; its contents are lost
  SemiGlobalStream(int width, int height, const PairOptions& options, bool words, Arena& arena);

  /// Uploads images from host memory through `staging`. Returns when they may change.
  void upload(const GreyPair& images, PinnedBuffer& staging, const Stream& stream) const;

  /// Queues everything from images to disparities on the device.
  void queue(const Stream& stream) const;

  /// The stages of `queue` except those of `optimizer`, in order.
  void queue_transform(const Stream& stream) const;
  void queue_costs(const Stream& stream) const;
  void queue_disparity(const Stream& stream) const;
  void queue_median(const Stream& stream) const;
  const SemiGlobal& optimizer() const { return optimizer_; }

  /// Complete on return.
  Image<float> download(PinnedBuffer& staging, const Stream& stream) const;

 private:
  struct Memory;
  DeviceGrey grey(int image) const;

  int width_, height_;
  PairOptions options_;
  bool words_;
  std::uint8_t* grey_[2];     ///< left and right
  std::uint16_t* grey16_[2];  ///< the same, or null
  std::byte* codes_[2];
  std::uint8_t* costs_;
  float *disparity_, *median_;
  SemiGlobal optimizer_;
};

}  // namespace recon::cuda
