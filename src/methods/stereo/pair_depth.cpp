#include "methods/stereo/pair_depth.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.hpp"
#include "methods/stereo/pair.hpp"

namespace recon {

namespace {

/// Max difference of disparities on the same surface, pixels.
constexpr float kSameSurface = 1.0f;

/// A rectified image: in grey, and in colour if it has three channels.
struct TurnedImage {
  Image<std::uint8_t> grey;
  Image<Rgb8> colour;

  TurnedImage(const PosedImage& image, const Mat3d& target_from_camera, const Pinhole& target) {
    const auto turned = [&](std::size_t channel) {
      return rectified_image(image.channel[channel], image.camera, target_from_camera, target);
    };
    grey = turned(0);
    if (image.channels == 1) return;
    const Image<std::uint8_t> green = turned(1), blue = turned(2);
    colour = Image<Rgb8>(grey.width(), grey.height());
    parallel_for(grey.height(), [&](int y) {
      for (int x = 0; x < grey.width(); ++x) {
        colour(x, y) = {grey(x, y), green(x, y), blue(x, y)};
        grey(x, y) = static_cast<std::uint8_t>(grey_of(colour(x, y)));
      }
    });
  }
};

DisparityMap match_rectified(const PairMatcher& match, const PosedImage& reference, const PairSource& source,
                             const MethodSpec& matching) {
  const RectifiedPair& pair = source.pair;
  const TurnedImage left(reference, pair.left_from_reference, pair.left);
  const TurnedImage right(source.image, pair.right_from_source, pair.right);
  return match({{left.grey.view(), right.grey.view(), {}, {}},
                {matching, {pair.min_disparity, pair.disparities}},
                {left.colour.view(), right.colour.view()}});
}

/// Disparity at pixel coordinates `pixel`: bilinear over those of the four neighbours that agree with the
/// nearest pixel; NaN if the nearest pixel is unknown.
float disparity_at(ImageView<const float> disparity, Vec2d pixel) {
  const int nearest_x = static_cast<int>(std::floor(pixel.x));
  const int nearest_y = static_cast<int>(std::floor(pixel.y));
  if (!disparity.contains(nearest_x, nearest_y)) return kUnknown;
  const float nearest = disparity(nearest_x, nearest_y);
  if (std::isnan(nearest)) return kUnknown;
  const Vec2d at = index_of(pixel);
  const int x0 = static_cast<int>(std::floor(at.x)), y0 = static_cast<int>(std::floor(at.y));
  const double u = at.x - x0, v = at.y - y0;
  double sum = 0, weights = 0;
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 2; ++i) {
      if (!disparity.contains(x0 + i, y0 + j)) continue;
      const float d = disparity(x0 + i, y0 + j);
      if (!(std::abs(d - nearest) <= kSameSurface)) continue;
      const double weight = (i == 0 ? 1 - u : u) * (j == 0 ? 1 - v : v);
      sum += weight * static_cast<double>(d);
      weights += weight;
    }
  return static_cast<float>(sum / weights);
}

bool within(Vec2d pixel, const Pinhole& camera) {
  return pixel.x >= 0 && pixel.y >= 0 && pixel.x <= camera.width && pixel.y <= camera.height;
}

Image<float> depth_by(const PairMatcher& match, const PosedImage& reference, const PairSource& source,
                      const MethodSpec& matching) {
  EXPECTS(reference.channels == source.image.channels &&
          (reference.channels == 1 || reference.channels == 3));
  EXPECTS(reference.channels == 3 || fused_stages(matching));
  const DisparityMap map = match_rectified(match, reference, source, matching);
  const ImageView<const float> disparity = map.disparity.view();
  const RectifiedPair& pair = source.pair;
  const Pose source_from_reference = source.image.cam_from_world * inverse(reference.cam_from_world);
  Image<float> depth(reference.camera.width, reference.camera.height);
  parallel_for(depth.height(), [&](int y) {
    for (int x = 0; x < depth.width(); ++x) {
      depth(x, y) = kUnknown;
      const Vec3d ray = reference.camera.ray(pixel_centre(x, y)), left = pair.left_from_reference * ray;
      if (!(left.z > 0)) continue;
      const float d = disparity_at(disparity, pair.left.project(left));
      if (std::isnan(d)) continue;
      const double z = pair.depth(static_cast<double>(d)) / left.z;
      if (!(z > 0) || std::isinf(z)) continue;
      const Vec3d point = source_from_reference * (z * ray);
      if (point.z > 0 && within(source.image.camera.project(point), source.image.camera))
        depth(x, y) = static_cast<float>(z);
    }
  });
  return depth;
}

}  // namespace

RectifyLimits pair_limits(const MethodSpec& method) {
  const std::optional<FusedStages> fused = fused_stages(method);
  RectifyLimits limits;
  limits.max_side = kMaxImageSide;
  limits.max_disparities = kMaxDisparities;
  limits.max_volume = std::size_t{1} << 29;
  if (fused == FusedStages::kBeliefs) limits.max_volume = std::size_t{1} << 25;
  if (!fused) limits.max_volume = std::size_t{1} << 27;
  return limits;
}

MergedDepth merge_depths(const std::vector<Image<float>>& maps, const std::vector<float>& weights,
                         float max_relative_depth) {
  EXPECTS(!maps.empty() && maps.size() <= static_cast<std::size_t>(kMaxSources));
  EXPECTS(weights.size() == maps.size());
  const int width = maps.front().width(), height = maps.front().height();
  MergedDepth merged{Image<float>(width, height), Image<float>(width, height)};
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x) {
      std::array<double, kMaxSources> inverse_depth, weight;
      int count = 0;
      for (std::size_t i = 0; i < maps.size(); ++i) {
        if (std::isnan(maps[i](x, y))) continue;
        inverse_depth[count] = 1 / static_cast<double>(maps[i](x, y));
        weight[count++] = static_cast<double>(weights[i]);
      }
      const auto agree = [&](int i, int k) {
        const double a = inverse_depth[i], b = inverse_depth[k];
        return std::abs(a - b) <= static_cast<double>(max_relative_depth) * std::max(a, b);
      };
      int best = 0, max_agreeing = 0;
      for (int i = 0; i < count; ++i) {
        int agreeing = 0;  // with value i, including itself
        for (int k = 0; k < count; ++k) agreeing += agree(i, k);
        if (agreeing > max_agreeing) best = i, max_agreeing = agreeing;
      }
      merged.depth(x, y) = merged.confidence(x, y) = kUnknown;
      if (max_agreeing == 0 || (max_agreeing == 1 && count > 1)) continue;
      double sum = 0, total = 0;
      for (int i = 0; i < count; ++i)
        if (agree(best, i)) {
          sum += weight[i] * inverse_depth[i];
          total += weight[i];
        }
      merged.depth(x, y) = static_cast<float>(total / sum);
      merged.confidence(x, y) = static_cast<float>(max_agreeing) / static_cast<float>(maps.size());
    }
  });
  return merged;
}

ViewDepth estimate_view_from_pairs(const PairMatcher& match, const PosedImage& reference,
                                   const std::vector<PairSource>& sources, const PairDepthOptions& options,
                                   ImageView<const std::uint8_t> mask) {
  std::vector<Image<float>> maps;
  std::vector<float> weights;
  for (const PairSource& source : sources) {
    maps.push_back(depth_by(match, reference, source, options.matching));
    // The error in inverse depth is inversely proportional to this weight.
    weights.push_back(static_cast<float>(source.pair.left.fx * source.pair.baseline));
  }
  MergedDepth merged = merge_depths(maps, weights, options.max_relative_depth);
  maps.clear();
  return finish_view(std::move(merged.depth), std::move(merged.confidence), mask, options.median,
                     options.speckle_size);
}

}  // namespace recon
