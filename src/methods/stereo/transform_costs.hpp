#pragma once

#include "match/transformed_image.hpp"
#include "methods/stereo/pair.hpp"

namespace recon {

/// The costs of a rectified pair by a rank or census transform of its images.
class TransformCosts {
 public:
  /// @param outside_cost  cost where the match lies outside the right image, 0 .. 255
  /// @throws std::logic_error where an option is out of range, OutOfMemory
  TransformCosts(const GreyPair& grey, const DisparityRange& range, const TransformOptions& options,
                 int outside_cost)
      : range_(range),
        options_(options),
        outside_cost_(outside_cost),
        left_(transformed(grey.left, grey.left16, options, false)),
        right_(transformed(grey.right, grey.right16, options, true)) {
    EXPECTS(outside_cost >= 0 && outside_cost <= 255);
  }

  /// Computes the costs of `count` pixels of row y; see CostSource.
  void fill(int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) const {
    transform_costs(left_, right_, options_, range_.min, range_.count, outside_cost_, y, first, count, costs,
                    stride);
  }

  /// Bytes of this, and those used temporarily by its constructor.
  static std::size_t stored_bytes(int width, int height, const TransformOptions& options) {
    return 2 * TransformedImage::stored_bytes(width, height, options);
  }
  static std::size_t working_bytes(int width, int height, const TransformOptions& options) {
    return TransformedImage::working_bytes(width, height, options, 2);
  }

 private:
  static TransformedImage transformed(ImageView<const std::uint8_t> grey,
                                      ImageView<const std::uint16_t> grey16, const TransformOptions& options,
                                      bool mirrored) {
    return grey16.empty() ? TransformedImage(grey, options, mirrored)
                          : TransformedImage(grey16, options, mirrored);
  }

  DisparityRange range_;
  TransformOptions options_;
  int outside_cost_;
  TransformedImage left_, right_;
};

}  // namespace recon
