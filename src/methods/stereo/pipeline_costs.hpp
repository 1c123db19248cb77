#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "match/transformed_image.hpp"
#include "methods/stereo/pair.hpp"
#include "optimize/semi_global/semi_global.hpp"

namespace recon {

/// The costs of both views of a pair for a pipeline's options.
class PipelineCosts {
 public:
  /// @throws std::logic_error where an option is out of range; OutOfMemory
  explicit PipelineCosts(const PairProblem& problem);

  /// Computes costs by (y, d, x), finite. The cost of a transform is the same in both views for matching
  /// pixels.
  /// @param costs  of the pair's width and height and the range's planes; every cost is overwritten
  void fill(PairSide side, VolumeView<float> costs) const;

  /// The costs of the left view as they are computed, which are integers; of kTransform only.
  CostSource integers() const;

 private:
  void fill_from_transforms(PairSide side, VolumeView<float> costs) const;
  /// See CostSource.
  void fill_group(int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) const;

  const PairProblem& problem_;
  std::optional<TransformedImage> left_, right_;  ///< for kTransform
};

/// A volume's costs for the semi-global optimizer: rounded to integers, 0 .. whole_cost_limit; AD-Census
/// costs in steps of 1 / kAdCensusSteps.
CostSource whole_costs(VolumeView<const float> costs, const CostOptions& options);

}  // namespace recon
