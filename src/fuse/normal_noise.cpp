#include "fuse/normal_noise.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace recon {

float normal_noise(ImageView<const float> depth, ImageView<const Vec3f> normal,
                   ImageView<const float> confidence) {
  constexpr int kApart = 4, kGrid = 64;
  constexpr float kMaxStep = 0.01f, kMinConfidence = 0.7f;
  constexpr std::size_t kMinPlaces = 64;
  std::vector<double> cosines;
  const int width = depth.width - kApart;
  for (int j = 0; j < kGrid; ++j)
    for (int i = 0; i < kGrid && width > 0; ++i) {
      const int x = (2 * i + 1) * width / (2 * kGrid), y = (2 * j + 1) * depth.height / (2 * kGrid);
      const float z = depth(x, y), step = std::abs(depth(x + kApart, y) - z);
      if (!(step <= kMaxStep * z) || !(confidence(x, y) >= kMinConfidence)) continue;
      const double cosine = dot(widened(normal(x, y)), widened(normal(x + kApart, y)));
      if (!std::isnan(cosine)) cosines.push_back(cosine);
    }
  if (cosines.size() < kMinPlaces) return 0;
  const auto median = cosines.begin() + static_cast<std::ptrdiff_t>(cosines.size() / 2);
  std::nth_element(cosines.begin(), median, cosines.end());
  return static_cast<float>(std::acos(std::clamp(*median, -1.0, 1.0)) * 180 / std::numbers::pi);
}

}  // namespace recon
