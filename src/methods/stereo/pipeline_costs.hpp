#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "match/transformed_image.hpp"
#include "methods/stereo/pipeline_matching.hpp"
#include "optimize/semi_global/semi_global.hpp"

namespace recon {

/// The costs of both views of a pair for a pipeline's options.
class PipelineCosts {
 public:
  /// @throws std::logic_error where an option is out of range; OutOfMemory
  explicit PipelineCosts(const PipelineProblem& problem);

  /// Computes costs by (y, d, x), finite. The cost of a transform is the same in both views for matching
  /// pixels.
  /// @param costs  of the pair's width and height and the range's planes; every cost is overwritten
  void fill(PairSide side, VolumeView<float> costs) const;

  /// Max bytes of this and a call of `fill`, excluding images and volume.
  static std::size_t bytes(int width, int height, int planes, const PipelineOptions& options, int threads);

 private:
  void fill_from_transforms(PairSide side, VolumeView<float> costs) const;

  const PipelineProblem& problem_;
  std::optional<TransformedImage> left_, right_;  ///< for kTransform
};

/// Upper bound of the costs of a pipeline.
float max_cost(const PipelineOptions& options);

/// Integer steps per unit of cost, and the max integer cost; see WholeCosts.
float whole_cost_steps(const PipelineOptions& options);
int whole_cost_limit(const PipelineOptions& options);

/// A volume's costs for the semi-global optimizer: rounded to integers, 0 .. whole_cost_limit; AD-Census
/// costs in steps of 1 / kAdCensusSteps.
class WholeCosts : public CostSource {
 public:
  WholeCosts(VolumeView<const float> costs, const PipelineOptions& options);

  int max_cost() const override { return most_; }
  void fill(int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) const override;

 private:
  VolumeView<const float> costs_;
  float steps_;
  int most_;
};

}  // namespace recon
