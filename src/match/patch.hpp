#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "core/image.hpp"
#include "match/cpu_sweep.hpp"
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
  /// By (sample, difference); three readable bytes follow.
  const std::uint8_t* data() const { return table_.data(); }

 private:
  int radius_;
  std::array<std::uint8_t, 256 * patch_samples(kMaxPatchRadius) + 3> table_{};
};

/// Sources as lanes look them up, each its own.
struct PatchSourceTable {
  float a[9][kMaxSources], b[3][kMaxSources];  ///< see SourceWarp
  std::int32_t last_column[kMaxSources], last_row[kMaxSources];
  std::int32_t pitch[kMaxSources];     ///< pairs from one row to the next
  std::int32_t offset[kMaxSources];    ///< bytes from `base` to the first pair
  const std::uint8_t* base = nullptr;  ///< the middle of the memory of the images, a multiple of 4
  bool near = false;                   ///< whether all images are at most 2 GiB from `base`

  /// @param count  1..kMaxSources
  /// @param warp   warp(s) of source s
  /// @param image  image(s) of source s, which has to outlive the table
  template <class Warp, class Image>
  PatchSourceTable(int count, const Warp& warp, const Image& image) {
    std::uintptr_t first = std::numeric_limits<std::uintptr_t>::max(), last = 0;
    for (int s = 0; s < count; ++s) {
      const SampledImage& pixels = image(s);
      for (int i = 0; i < 9; ++i) a[i][s] = warp(s).a[i];
      for (int i = 0; i < 3; ++i) b[i][s] = warp(s).b[i];
      last_column[s] = pixels.width() - 1, last_row[s] = pixels.height() - 1;
      pitch[s] = static_cast<std::int32_t>(pixels.pitch());
      first = std::min(first, address(pixels));
      last = std::max(last, address(pixels) + SampledImage::bytes(pixels.width(), pixels.height()));
    }
    near = last - first <= 2 * static_cast<std::uintptr_t>(std::numeric_limits<std::int32_t>::max()) - 4;
    if (!near) return;
    const std::uintptr_t middle = (first + (last - first) / 2) / 4 * 4;
    base = reinterpret_cast<const std::uint8_t*>(middle);
    for (int s = 0; s < count; ++s)
      offset[s] = static_cast<std::int32_t>(static_cast<std::intptr_t>(address(image(s)) - middle));
  }

 private:
  static std::uintptr_t address(const SampledImage& image) {
    return reinterpret_cast<std::uintptr_t>(image.data());
  }
};

}  // namespace recon
