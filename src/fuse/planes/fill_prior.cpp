#include "fuse/planes/fill_prior.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"

namespace recon {
namespace {

/// The value of the block that a pixel of the larger image lies in.
template <class T>
T block_of(ImageView<const T> image, int factor, int x, int y) {
  return image(std::min(x / factor, image.width - 1), std::min(y / factor, image.height - 1));
}

/// The depth at a pixel of the larger image: bilinear in inverse depth where the four depths around it are of
/// one surface, else that of the block that it lies in.
float enlarged(ImageView<const float> depth, int factor, int x, int y) {
  constexpr float kOneSurface = 0.05f;
  const float nearest = block_of(depth, factor, x, y);
  if (factor == 1 || std::isnan(nearest)) return nearest;
  const auto f = static_cast<float>(factor);
  const float u = std::clamp((static_cast<float>(x) + 0.5f) / f - 0.5f, 0.0f,
                             static_cast<float>(depth.width - 1)),
              v = std::clamp((static_cast<float>(y) + 0.5f) / f - 0.5f, 0.0f,
                             static_cast<float>(depth.height - 1));
  const int x0 = static_cast<int>(u), y0 = static_cast<int>(v);
  const float a = u - static_cast<float>(x0), b = v - static_cast<float>(y0);
  float inverse = 0;
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 2; ++i) {
      const float z = depth(std::min(x0 + i, depth.width - 1), std::min(y0 + j, depth.height - 1));
      if (!(std::abs(z / nearest - 1) <= kOneSurface)) return nearest;
      inverse += (i == 0 ? 1 - a : a) * (j == 0 ? 1 - b : b) / z;
    }
  return 1 / inverse;
}

}  // namespace

void fill_prior(ImageView<const float> prior, ImageView<const Vec3f> normals, int factor,
                const DepthRange& bounds, const CheckedMaps& maps) {
  constexpr float kConfirmed = 0.02f;
  const auto near = static_cast<float>(bounds.near), far = static_cast<float>(bounds.far);
  parallel_for(maps.depth.height, [&](int y) {
    for (int x = 0; x < maps.depth.width; ++x) {
      if (!maps.mask.empty() && maps.mask(x, y) == 0) continue;
      const float depth = enlarged(prior, factor, x, y);
      if (!(depth >= near && depth <= far) || std::abs(maps.depth(x, y) / depth - 1) <= kConfirmed) continue;
      maps.depth(x, y) = depth;
      maps.normal(x, y) = block_of(normals, factor, x, y);
      maps.confidence(x, y) = kPriorConfidence;
    }
  });
}

}  // namespace recon
