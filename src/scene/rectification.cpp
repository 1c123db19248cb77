#include "scene/rectification.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace recon {

namespace {

constexpr double kDegree = std::numbers::pi / 180;
/// Max angle between an optical axis and the common axis; beyond it, too little of the image is left.
constexpr double kMaxTilt = 65 * kDegree;
/// Rays at larger angles to the common axis are clipped, since their images grow without bound.
const double kMinCosine = std::cos(75 * kDegree);
/// Sampling of the overlap: grid cells per side of the reference, and steps of inverse depth.
constexpr int kOverlapCells = 16;
constexpr int kDepths = 32;
/// Border around the source image, relative to its size, that covers the space between two samples.
constexpr double kBorder = 1.0 / kOverlapCells;
/// Min share of the reference's pixels that the source sees.
constexpr double kMinPairOverlap = 0.05;
/// Margin around the overlap in pixels, so that all pixels in it have neighbours.
constexpr int kMargin = 1;

struct Interval {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double length() const { return high - low; }
};

/// The overlap of both views, at focal length 1 and principal point 0.
struct Overlap {
  Interval left_x, right_x, y;
  Interval disparity;
  double share = 0;  ///< of the reference's pixels
};

bool within_border(Vec2d pixel, const Pinhole& camera) {
  const double bx = kBorder * camera.width, by = kBorder * camera.height;
  return pixel.x >= -bx && pixel.y >= -by && pixel.x <= camera.width + bx && pixel.y <= camera.height + by;
}

/// Computes the overlap over a grid of the reference's pixels and depths.
Overlap find_overlap(const Pinhole& reference, const Pinhole& source, const Pose& source_from_reference,
                     const RectifiedPair& pair, const DepthRange& range) {
  Overlap overlap;
  int seen = 0;
  for (int j = 0; j <= kOverlapCells; ++j)
    for (int i = 0; i <= kOverlapCells; ++i) {
      const Vec3d ray = reference.ray({reference.width * static_cast<double>(i) / kOverlapCells,
                                       reference.height * static_cast<double>(j) / kOverlapCells});
      const Vec3d left = pair.left_from_reference * ray;
      if (left.z < kMinCosine * norm(left)) continue;
      bool any = false;
      for (int k = 0; k <= kDepths; ++k) {
        const double w = 1 / range.far + (1 / range.near - 1 / range.far) * k / kDepths;
        const Vec3d point = source_from_reference * ((1 / w) * ray);
        if (!(point.z > 0) || !within_border(source.project(point), source)) continue;
        const Vec3d right = pair.right_from_source * point;
        if (right.z < kMinCosine * norm(right)) continue;
        any = true;
        overlap.right_x.add(right.x / right.z);
        overlap.disparity.add(pair.baseline * w / left.z);
      }
      if (!any) continue;
      ++seen;
      overlap.left_x.add(left.x / left.z);
      overlap.y.add(left.y / left.z);
    }
  overlap.share = static_cast<double>(seen) / ((kOverlapCells + 1) * (kOverlapCells + 1));
  return overlap;
}

int pixels(double length) {
  return std::max(1, static_cast<int>(std::ceil(length)));
}

/// The cameras and disparities at focal length `f`.
void lay_out(const Overlap& overlap, double f, RectifiedPair& pair) {
  pair.left.width = pixels(f * std::max(overlap.left_x.length(), overlap.right_x.length())) + 2 * kMargin;
  pair.left.height = pixels(f * overlap.y.length()) + 2 * kMargin;
  pair.left.fx = pair.left.fy = f;
  pair.left.cx = kMargin - f * overlap.left_x.low;
  pair.left.cy = kMargin - f * overlap.y.low;
  pair.right = pair.left;
  pair.right.cx = kMargin - f * overlap.right_x.low;
  // One more at each end for the sub-pixel parabola.
  const double offset = pair.left.cx - pair.right.cx;
  pair.min_disparity = static_cast<int>(std::floor(f * overlap.disparity.low + offset)) - 1;
  pair.disparities =
      static_cast<int>(std::ceil(f * overlap.disparity.high + offset)) + 2 - pair.min_disparity;
}

bool within(const RectifiedPair& pair, const RectifyLimits& limits) {
  const auto width = static_cast<std::size_t>(pair.left.width);
  const auto height = static_cast<std::size_t>(pair.left.height);
  return std::max(pair.left.width, pair.left.height) <= limits.max_side &&
         pair.disparities <= limits.max_disparities &&
         width * height * static_cast<std::size_t>(pair.disparities) <= limits.max_volume;
}

double clamped_acos(double cosine) {
  return std::acos(std::clamp(cosine, -1.0, 1.0));
}

Rectification refuse(const std::string& reason) {
  return {std::nullopt, reason};
}

/// Image samples per side of a target pixel.
int samples_along(const Pinhole& camera, const Pinhole& target) {
  return std::max(1, static_cast<int>(std::ceil(std::max(camera.fx, camera.fy) / target.fx - 1e-6)));
}

}  // namespace

Rectification rectify(const Pinhole& reference, const Pose& reference_from_world, const Pinhole& source,
                      const Pose& source_from_world, const DepthRange& range, const RectifyLimits& limits) {
  EXPECTS(range.near > 0 && range.far > range.near);
  EXPECTS(limits.max_side >= 16 && limits.max_disparities >= 16 && limits.max_volume >= 4096);
  const Pose source_from_reference = source_from_world * inverse(reference_from_world);
  // All axes in the reference's coordinates.
  const Pose reference_from_source = inverse(source_from_reference);
  RectifiedPair pair;
  pair.baseline = norm(reference_from_source.translation);
  if (!(pair.baseline > 1e-9 * range.far)) return refuse("both photos were taken from the same place");
  const Vec3d x = (1 / pair.baseline) * reference_from_source.translation;
  const Vec3d reference_axis{0, 0, 1}, source_axis = reference_from_source.rotation * reference_axis;
  const Vec3d mean = reference_axis + source_axis, across = mean - dot(mean, x) * x;
  const Vec3d z = normalized(across), y = cross(z, x);
  if (!(norm(across) > 1e-6) || clamped_acos(z.z) > kMaxTilt || clamped_acos(dot(z, source_axis)) > kMaxTilt)
    return refuse("one camera stands before the other, along the direction of view");
  pair.left_from_reference = {{x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z}};
  pair.right_from_source = pair.left_from_reference * reference_from_source.rotation;

  const Overlap overlap = find_overlap(reference, source, source_from_reference, pair, range);
  if (overlap.share < kMinPairOverlap)
    return refuse("it sees too little of what the view sees between the nearest and the farthest depth");
  constexpr double kSmaller = 0.97;
  // The pixel area is kept at the optical axis of the reference, where the rotation magnifies by 1 / cos^3.
  double focal = std::sqrt(reference.fx * reference.fy) * std::pow(z.z, 1.5);
  lay_out(overlap, focal, pair);
  while (!within(pair, limits)) lay_out(overlap, focal *= kSmaller, pair);
  return {pair, {}};
}

Image<std::uint8_t> rectified_image(ImageView<const std::uint8_t> image, const Pinhole& camera,
                                    const Mat3d& target_from_camera, const Pinhole& target) {
  EXPECTS(image.width == camera.width && image.height == camera.height && !image.empty());
  const Mat3d camera_from_target = transpose(target_from_camera);
  const int n = samples_along(camera, target);
  const auto sample = [&](double px, double py) {
    const Vec3d ray = camera_from_target * target.ray({px, py});
    const Vec2d at = index_of(camera.project(ray));
    // Rays at z <= 0, which see nothing, are mapped to an arbitrary pixel.
    const double u = ray.z > 0 ? std::clamp(at.x, 0.0, image.width - 1.0) : 0.0;
    const double v = ray.z > 0 ? std::clamp(at.y, 0.0, image.height - 1.0) : 0.0;
    const int x0 = static_cast<int>(u), y0 = static_cast<int>(v);
    const int x1 = std::min(x0 + 1, image.width - 1), y1 = std::min(y0 + 1, image.height - 1);
    const std::uint8_t *top = image.row(y0), *bottom = image.row(y1);
    const double a = u - x0, b = v - y0;
    return (1 - b) * ((1 - a) * top[x0] + a * top[x1]) + b * ((1 - a) * bottom[x0] + a * bottom[x1]);
  };
  Image<std::uint8_t> result(target.width, target.height);
  parallel_for(target.height, [&](int row) {
    for (int column = 0; column < target.width; ++column) {
      double sum = 0;
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) sum += sample(column + (i + 0.5) / n, row + (j + 0.5) / n);
      result.row(row)[column] = static_cast<std::uint8_t>(std::lround(sum / (n * n)));
    }
  });
  return result;
}

}  // namespace recon
