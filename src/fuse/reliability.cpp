#include "fuse/reliability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"

namespace recon {
namespace {

constexpr int kReach = 3;

void increment(std::uint8_t& count) {
  if (count < 255) ++count;
}

/// The range of the known inverse depths around a pixel.
struct Range {
  float low = std::numeric_limits<float>::infinity(), high = 0;

  void include(const Range& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

Range range_of(float depth) {
  return std::isnan(depth) ? Range() : Range{1.0f / depth, 1.0f / depth};
}

}  // namespace

void count_agreement(const DepthView& reference, const DepthView& source, const ConsistencyOptions& options,
                     ImageView<Agreement> counts) {
  EXPECTS(counts.width == reference.depth.width && counts.height == reference.depth.height);
  const double cosine = min_cosine(options);
  const Pose source_from_reference = source.cam_from_world * inverse(reference.cam_from_world);
  const auto in_source = [&](Vec3f v) { return source_from_reference.rotation * Vec3d{v.x, v.y, v.z}; };
  parallel_for(counts.height, [&](int y) {
    for (int x = 0; x < counts.width; ++x) {
      const float z = reference.depth(x, y);
      if (std::isnan(z)) continue;
      const Vec3d point =
          source_from_reference * (static_cast<double>(z) * reference.camera.ray(pixel_centre(x, y)));
      const std::optional<Reprojection> found = reproject_camera_point(source, point);
      if (!found || std::isnan(found->found)) continue;
      Agreement& count = counts(x, y);
      increment(count.known);
      if (!depths_agree(*found, options)) {
        increment(seen_through(*found, options) ? count.through : count.hidden);
        continue;
      }
      const Vec3f normal = source.normal(found->x, found->y);
      if (normals_agree(in_source(reference.normal(x, y)), {normal.x, normal.y, normal.z}, cosine))
        increment(count.agree);
    }
  });
}

float reliability(const Agreement& agreement, float cost, float variation) {
  const float agree = agreement.agree, through = agreement.through, hidden = agreement.hidden;
  const float known = std::max(1.0f, static_cast<float>(agreement.known));
  const float seen = std::max(1.0f, agree + through);
  const float z = 2.39f + 0.76f * std::log1p(agree) + 2.79f * agree / known + 0.57f * hidden / known -
                  2.03f * through / seen - 3.33f * std::min(cost, 1.2f) -
                  1.02f * std::min(20.0f * variation, 3.0f);
  // In 1/1024, so that the last bits of a machine's mathematical library do not matter.
  return std::round(1024.0f / (1.0f + std::exp(-z))) / 1024.0f;
}

Image<float> inverse_depth_variation(ImageView<const float> depth) {
  Image<Range> rows(depth.width, depth.height);
  parallel_for(depth.height, [&](int y) {
    for (int x = 0; x < depth.width; ++x) {
      Range range;
      for (int i = std::max(x - kReach, 0); i <= std::min(x + kReach, depth.width - 1); ++i)
        range.include(range_of(depth(i, y)));
      rows(x, y) = range;
    }
  });
  Image<float> result(depth.width, depth.height);
  parallel_for(depth.height, [&](int y) {
    for (int x = 0; x < depth.width; ++x) {
      Range range;
      for (int j = std::max(y - kReach, 0); j <= std::min(y + kReach, depth.height - 1); ++j)
        range.include(rows(x, j));
      result(x, y) = std::isnan(depth(x, y)) ? 0.0f : (range.high - range.low) * depth(x, y);
    }
  });
  return result;
}

}  // namespace recon
