#include "methods/sweep/plane_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "match/posed_image.hpp"
#include "optimize/winner/winner_take_all.hpp"
#include "refine/depth_filters.hpp"

namespace recon {
namespace {

/// Max relative depth step between neighbours of a patch.
constexpr float kSpeckleStep = 0.02f;

/// The max local contrast over the channels around each pixel.
Image<float> highest_contrast(const PosedImage& reference, int window) {
  Image<float> highest = local_contrast(reference.channel[0], window);
  for (std::size_t c = 1; c < static_cast<std::size_t>(reference.channels); ++c) {
    const Image<float> other = local_contrast(reference.channel[c], window);
    for (int y = 0; y < highest.height(); ++y)
      for (int x = 0; x < highest.width(); ++x) highest(x, y) = std::max(highest(x, y), other(x, y));
  }
  return highest;
}

void invalidate_untrusted(const PosedImage& reference, int window, const PhotometricFilterOptions& filter,
                          DepthEstimate& estimate) {
  const Image<float> contrast = highest_contrast(reference, window);
  for (int y = 0; y < estimate.depth.height(); ++y)
    for (int x = 0; x < estimate.depth.width(); ++x)
      if (!(estimate.cost(x, y) <= filter.max_cost && estimate.confidence(x, y) >= filter.min_confidence &&
            contrast(x, y) >= filter.min_texture))
        estimate.depth(x, y) = std::numeric_limits<float>::quiet_NaN();
}

/// The max path length in the source, in pixels, of a sample from `near` to `far`, over a grid of reference
/// pixels.
double longest_path(const PosedImage& reference, const PosedImage& source, double near, double far) {
  constexpr int kSteps = 8;
  const Pose source_from_reference = source.cam_from_world * inverse(reference.cam_from_world);
  double longest = 0;
  for (int j = 0; j <= kSteps; ++j) {
    for (int i = 0; i <= kSteps; ++i) {
      const Vec3d ray = reference.camera.ray({reference.camera.width * static_cast<double>(i) / kSteps,
                                              reference.camera.height * static_cast<double>(j) / kSteps});
      // Steps uniform in inverse depth; only those inside the source are measured.
      constexpr int kSamples = 64;
      double length = 0;
      bool previous_inside = false;
      Vec2d previous{0, 0};
      for (int k = 0; k <= kSamples; ++k) {
        const double w = 1 / far + (1 / near - 1 / far) * k / kSamples;
        const Vec3d point = source_from_reference * ((1 / w) * ray);
        if (!(point.z > kMinDepthRatio / w)) {
          previous_inside = false;
          continue;
        }
        const Vec2d pixel = source.camera.project(point);
        const bool inside =
            pixel.x >= 0 && pixel.y >= 0 && pixel.x <= source.camera.width && pixel.y <= source.camera.height;
        if (inside && previous_inside)
          length = std::max(length, kSamples * std::hypot(pixel.x - previous.x, pixel.y - previous.y));
        previous = pixel;
        previous_inside = inside;
      }
      longest = std::max(longest, length);
    }
  }
  return longest;
}

}  // namespace

ViewDepth finish_view(Image<float> depth, Image<float> confidence, ImageView<const std::uint8_t> mask,
                      bool median, int speckle_size) {
  EXPECTS(mask.empty() || (mask.width == depth.width() && mask.height == depth.height()));
  for (int y = 0; y < mask.height; ++y)
    for (int x = 0; x < mask.width; ++x)
      if (mask(x, y) == 0) depth(x, y) = std::numeric_limits<float>::quiet_NaN();
  ViewDepth result;
  result.depth = median ? median_3x3(depth.view()) : std::move(depth);
  remove_speckles(result.depth.view(), speckle_size, kSpeckleStep);
  result.confidence = std::move(confidence);
  for (int y = 0; y < result.depth.height(); ++y)
    for (int x = 0; x < result.depth.width(); ++x)
      if (std::isnan(result.depth(x, y))) result.confidence(x, y) = std::numeric_limits<float>::quiet_NaN();
  return result;
}

ViewDepth estimate_view(Backend& backend, const SweepProblem& problem, const PhotometricFilterOptions& filter,
                        ImageView<const std::uint8_t> mask) {
  DepthEstimate estimate = backend.sweep(problem);
  invalidate_untrusted(problem.reference, problem.options.window, filter, estimate);
  return finish_view(std::move(estimate.depth), std::move(estimate.confidence), mask, filter.median,
                     filter.speckle_size);
}

int auto_plane_count(const PosedImage& reference, const std::vector<PosedImage>& sources, double near,
                     double far) {
  EXPECTS(near > 0 && far > near);
  double longest = 0;
  for (const PosedImage& source : sources)
    longest = std::max(longest, longest_path(reference, source, near, far));
  constexpr double kRounding = 1e-6;
  return std::clamp(static_cast<int>(std::ceil(longest - kRounding)) + 1, 2, kMaxPlanes);
}

}  // namespace recon
