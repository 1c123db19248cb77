#pragma once

#include "cuda/methods/stereo/pair_grey.hpp"
#include "cuda/methods/stereo/pair_stream.hpp"
#include "cuda/optimize/semi_global/semi_global.hpp"

namespace recon::cuda {

/// Semi-global matching.
class SemiGlobalStream : public PairStream {
 public:
  static std::size_t bytes(const PairShape& shape, const PairOptions& options);

  SemiGlobalStream(const PairShape& shape, const PairOptions& options, Arena& arena);

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
  SemiGlobalPairOptions options_;
  Buffers at_;
  SemiGlobal optimizer_;
};

}  // namespace recon::cuda
