#pragma once

#include <cstddef>

#include "cuda/methods/stereo/pair_stream.hpp"
#include "cuda/optimize/belief/belief.hpp"

namespace recon::cuda {

/// Belief propagation.
class BeliefStream : public PairStream {
 public:
  static std::size_t bytes(const PairShape& shape, const PairOptions& options);

  BeliefStream(const PairShape& shape, const PairOptions& options, Arena& arena);

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

}  // namespace recon::cuda
