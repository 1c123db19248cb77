#include "match/sampled_image.hpp"

#include <algorithm>

#include "core/parallel.hpp"

namespace recon {

SampledImage::SampledImage(ImageView<const std::uint8_t> image)
    : width_(image.width), height_(image.height), pairs_(image.width + 1, image.height) {
  EXPECTS(!image.empty());
  parallel_for(
      height_,
      [&](int y) {
        const std::uint8_t* upper = image.row(y);
        const std::uint8_t* lower = image.row(std::min(y + 1, height_ - 1));
        std::uint16_t* out = pairs_.row(y);
        for (int x = 0; x < width_; ++x) out[x] = static_cast<std::uint16_t>(upper[x] | lower[x] << 8);
        out[width_] = out[width_ - 1];
      },
      64);
}

}  // namespace recon
