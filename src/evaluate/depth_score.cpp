#include "evaluate/depth_score.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "evaluate/statistics.hpp"
#include "evaluate/truth_view.hpp"
#include "scene/pinhole.hpp"

namespace recon {
namespace {

/// Rescales pixel coordinates from a frame of size `from` to size `to`.
Vec2d rescaled(Vec2d pixel, Vec2d from, Vec2d to) {
  return {pixel.x * to.x / from.x, pixel.y * to.y / from.y};
}

Vec2d size_of(const Camera& camera) {
  return {double(camera.width), double(camera.height)};
}

float nearest(ImageView<const float> image, Vec2d pixel) {
  if (!(pixel.x >= 0 && pixel.x < image.width && pixel.y >= 0 && pixel.y < image.height)) return kUnknown;
  return image(static_cast<int>(pixel.x), static_cast<int>(pixel.y));
}

/// Resamples the truth at `truth_pixel(centre)` for each pixel centre.
template <class Map>
Image<float> sampled(ImageView<const float> truth, int width, int height, const Map& truth_pixel) {
  Image<float> result(width, height);
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x) {
      const std::optional<Vec2d> pixel = truth_pixel(pixel_centre(x, y));
      result(x, y) = pixel ? nearest(truth, *pixel) : kUnknown;
    }
  });
  return result;
}

}  // namespace

DepthComparison& DepthComparison::operator+=(const DepthComparison& other) {
  known += other.known;
  unknown += other.unknown;
  estimated_unknown += other.estimated_unknown;
  errors.insert(errors.end(), other.errors.begin(), other.errors.end());
  return *this;
}

DepthComparison compare_depth(ImageView<const float> estimate, ImageView<const float> truth) {
  EXPECTS(estimate.width == truth.width && estimate.height == truth.height);
  DepthComparison result;
  for (int y = 0; y < truth.height; ++y)
    for (int x = 0; x < truth.width; ++x) {
      const bool estimated = is_known_depth(estimate(x, y));
      if (!is_known_depth(truth(x, y))) {
        ++result.unknown;
        result.estimated_unknown += estimated ? 1 : 0;
        continue;
      }
      ++result.known;
      if (estimated) result.errors.push_back(std::abs(estimate(x, y) - truth(x, y)) / truth(x, y));
    }
  return result;
}

DepthScore score_depth(const DepthComparison& comparison, std::span<const double> thresholds) {
  DepthScore score;
  score.known = comparison.known;
  score.estimated = std::ssize(comparison.errors);
  score.completeness = share(score.estimated, score.known);
  for (const double threshold : thresholds) {
    const auto within = std::ranges::count_if(
        comparison.errors, [&](float error) { return error <= static_cast<float>(threshold); });
    score.within_of_known.push_back(share(within, score.known));
    score.within_of_estimated.push_back(share(within, score.estimated));
  }
  score.median_error = median(comparison.errors);
  score.mean_error = mean(comparison.errors);
  score.estimated_where_unknown = share(comparison.estimated_unknown, comparison.unknown);
  score.estimates_on_unknown =
      share(comparison.estimated_unknown, comparison.estimated_unknown + score.estimated);
  return score;
}

Image<float> resample_truth(ImageView<const float> truth, int width, int height) {
  const Vec2d map_size{double(width), double(height)}, truth_size{double(truth.width), double(truth.height)};
  return sampled(truth, width, height,
                 [&](Vec2d centre) { return std::optional(rescaled(centre, map_size, truth_size)); });
}

Image<float> resample_truth(ImageView<const float> truth, const Camera& truth_camera, int width, int height,
                            const Camera& map_camera) {
  const Vec2d map_size{double(width), double(height)}, truth_size{double(truth.width), double(truth.height)};
  const Lens map_lens(map_camera), truth_lens(truth_camera);
  return sampled(truth, width, height, [&](Vec2d centre) -> std::optional<Vec2d> {
    const auto ray = map_lens.unproject(rescaled(centre, map_size, size_of(map_camera)));
    const auto pixel = ray ? truth_lens.project(*ray) : std::nullopt;
    if (!pixel) return std::nullopt;
    return rescaled(*pixel, size_of(truth_camera), truth_size);
  });
}

}  // namespace recon
