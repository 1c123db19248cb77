#pragma once

#include <array>
#include <cstdint>

#include "core/image.hpp"
#include "match/patch_step.hpp"

namespace recon {

/// The weights of a patch: exp(-distance^2 / (2 * 5^2) - |difference| / 18) of offset and grey level, in
/// 1/31.
class PatchWeights {
 public:
  /// @param radius  1..kMaxPatchRadius
  explicit PatchWeights(int radius);

  int radius() const { return radius_; }
  /// @param sample      row by row
  /// @param difference  |difference| of the levels, 0..255
  std::uint8_t at(int sample, int difference) const { return table_[sample * 256 + difference]; }
  const std::uint8_t* data() const { return table_.data(); }  ///< by (sample, difference)

 private:
  int radius_;
  std::array<std::uint8_t, 256 * patch_samples(kMaxPatchRadius)> table_{};
};

/// The reference's side of a patch, laid out for SIMD: elements after the samples have weight 0.
struct ReferencePatch {
  static constexpr int kCapacity = 64;

  alignas(64) std::int32_t offset[kCapacity];  ///< dx and dy as signed 16-bit halves
  alignas(64) std::int32_t weight[kCapacity];  ///< 0 outside the image
  alignas(64) std::int32_t value[kCapacity];   ///< relative to the centre, in the low half
  ReferenceSums sums;
  int padded;  ///< elements, a multiple of 16
  int centre;  ///< level

  explicit ReferencePatch(int radius);

  /// Loads the patch of pixel (x, y).
  void load(ImageView<const std::uint8_t> image, const PatchWeights& weights, int x, int y);
};

}  // namespace recon
