#pragma once

#include "core/image.hpp"

namespace recon {

/// What a prior says of the depths of a view. A prior is a map of values that follow the inverse depths up to
/// a scale, a shift and a smooth bend over the image, as those of networks do.
struct PriorFit {
  /// Relative error up to which a depth that a fit predicts is right.
  static constexpr float kRight = 0.01f;

  Image<float> depth;     ///< NaN where the prior has no value, or no depth follows from it
  Image<float> error;     ///< expected relative error of `depth`, at most kMaxError
  double right = 0;       ///< share of the anchors that a fit to others than those around them predicts
  double right_flat = 0;  ///< the same of smooth surfaces without the prior
  int anchors = 0;        ///< pixels by which the prior was judged
  static constexpr float kMaxError = 0.1f;
  /// A prior that is less confident is not used.
  static constexpr float kMinConfidence = 0.1f;
  /// Fewer can be met by chance.
  static constexpr int kMinAnchors = 200;

  /// Whether the prior follows the depths: where a smooth surface through others fails at an anchor, it
  /// predicts it at least every second time.
  bool follows() const { return is_known() && right_flat < 1 && 1 - right <= 0.5 * (1 - right_flat); }
  /// Whether there are enough anchors to judge the prior.
  bool is_known() const { return anchors >= kMinAnchors; }
};

/// Fits a prior to the depths of a view that are certain, the anchors: the inverse depth at a pixel is
/// (scale * prior + shift) * bend, see PriorBend, times a local ratio, by cells of 16 x 16 pixels: coarse to
/// fine, cells of twice the size and around a cell decide as far as it has few anchors, and anchors whose
/// ratio is off by much more than 2 % lose their weight. Expected errors come from cross-validation: anchors
/// that are predicted by a fit without their fold, blocks of 48 x 48 pixels. Deterministic.
/// @param prior       finite values, NaN = unknown
/// @param anchor      depths of the same size, NaN = none
/// @param confidence  of the prior, [0, 1], by which anchors are weighted: where it is unknown or below
///                    PriorFit::kMinConfidence, the prior counts as unknown; or empty: 1
PriorFit fit_prior(ImageView<const float> prior, ImageView<const float> anchor,
                   ImageView<const float> confidence = {});

}  // namespace recon
