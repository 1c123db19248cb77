#include "match/cross_arms.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace recon {

Image<Cross> cross_arms(ImageView<const Rgb8> image, const CrossOptions& options) {
  EXPECTS(options.reach >= 1 && options.reach <= 256);
  EXPECTS(options.near_reach >= 0 && options.near_reach <= 256);
  EXPECTS(options.colour >= 0 && options.colour <= 256);
  EXPECTS(options.strict_colour >= 0 && options.strict_colour <= 256);
  Image<Cross> crosses(image.width, image.height);
  const auto arm = [&](int x, int y, int dx, int dy, int available) {
    return static_cast<std::uint8_t>(
        arm_length(options, available, [&](int k) { return image(x + k * dx, y + k * dy); }));
  };
  parallel_for(image.height, [&](int y) {
    for (int x = 0; x < image.width; ++x)
      crosses(x, y) = {arm(x, y, -1, 0, x), arm(x, y, 1, 0, image.width - 1 - x), arm(x, y, 0, -1, y),
                       arm(x, y, 0, 1, image.height - 1 - y)};
  });
  return crosses;
}

}  // namespace recon
