#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "match/transformed_image.hpp"
#include "methods/stereo/pair.hpp"
#include "optimize/semi_global/semi_global.hpp"

namespace recon {

/// The costs of a rectified pair by a rank or census transform of its images.
class TransformCosts {
 public:
  /// @throws std::logic_error where an option is out of range, OutOfMemory
  TransformCosts(const GreyPair& grey, const DisparityRange& range, const CostOptions& cost)
      : range_(range),
        options_(cost.transform),
        outside_cost_(cost.outside_cost),
        left_(transformed(grey.left, grey.left16, options_, false)),
        right_(transformed(grey.right, grey.right16, options_, true)) {
    EXPECTS(outside_cost_ >= 0 && outside_cost_ <= 255);
  }

  /// Computes the costs of `count` pixels of row y; see CostSource.
  void fill(int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) const {
    transform_costs(left_, right_, options_, range_.min, range_.count, outside_cost_, y, first, count, costs,
                    stride);
  }

 private:
  static TransformedImage transformed(ImageView<const std::uint8_t> grey,
                                      ImageView<const std::uint16_t> grey16, const TransformOptions& options,
                                      bool mirrored) {
    return grey16.empty() ? TransformedImage(grey, options, mirrored)
                          : TransformedImage(grey16, grey, options, mirrored);
  }

  DisparityRange range_;
  TransformOptions options_;
  int outside_cost_;
  TransformedImage left_, right_;
};

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

  const PairProblem& problem_;
  std::optional<TransformCosts> transform_;  ///< for kTransform
};

/// A volume's costs for the semi-global optimizer: rounded to integers, 0 .. whole_cost_limit; AD-Census
/// costs in steps of 1 / kAdCensusSteps.
CostSource whole_costs(VolumeView<const float> costs, const CostOptions& options);

}  // namespace recon
