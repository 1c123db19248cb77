#include "match/gaussian_blur.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"

namespace recon {
namespace {

/// Weights of -reach .. reach.
std::vector<float> gaussian_weights(float sigma) {
  const int reach = static_cast<int>(std::ceil(4.0 * static_cast<double>(sigma)));
  std::vector<double> weights;
  double sum = 0.0;
  for (int i = -reach; i <= reach; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(sigma);
    weights.push_back(std::exp(-0.5 * t * t));
    sum += weights.back();
  }
  std::vector<float> normalised;
  for (const double w : weights) normalised.push_back(static_cast<float>(w / sum));
  return normalised;
}

Image<float> as_floats(ImageView<const std::uint8_t> image) {
  Image<float> result(image.width, image.height);
  parallel_for(image.height, [&](int y) { std::copy_n(image.row(y), image.width, result.row(y)); });
  return result;
}

}  // namespace

Image<float> gaussian_blur(ImageView<const std::uint8_t> image, float sigma) {
  EXPECTS(sigma >= 0.0f && sigma <= 100.0f);
  Image<float> pixels = as_floats(image);
  if (sigma == 0.0f) return pixels;
  const std::vector<float> weights = gaussian_weights(sigma);
  const int reach = static_cast<int>(weights.size() / 2);
  Image<float> along_x(image.width, image.height);
  parallel_for(image.height, [&](int y) {
    for (int x = 0; x < image.width; ++x) {
      float sum = 0.0f;
      for (int i = -reach; i <= reach; ++i)
        sum += weights[i + reach] * pixels(std::clamp(x + i, 0, image.width - 1), y);
      along_x(x, y) = sum;
    }
  });
  parallel_for(image.height, [&](int y) {
    float* out = pixels.row(y);
    std::fill_n(out, image.width, 0.0f);
    for (int i = -reach; i <= reach; ++i) {
      const float weight = weights[i + reach];
      const float* row = along_x.row(std::clamp(y + i, 0, image.height - 1));
      for (int x = 0; x < image.width; ++x) out[x] += weight * row[x];
    }
  });
  return pixels;
}

}  // namespace recon
