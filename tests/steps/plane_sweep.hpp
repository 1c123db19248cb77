#pragma once

#include <algorithm>
#include <vector>

#include "core/half.hpp"
#include "core/volume.hpp"
#include "match/combine_step.hpp"
#include "match/cost_step.hpp"
#include "match/posed_image.hpp"
#include "match/warp_step.hpp"
#include "methods/sweep/depth_step.hpp"
#include "methods/sweep/sweep_problem.hpp"
#include "optimize/winner/winner_step.hpp"

/// The plane sweep by the steps of production code: single thread, whole images, no reuse between windows.

namespace recon::steps {

/// A source image warped to the reference by one plane, and the visibility of its pixels in the source.
struct WarpedImage {
  Image<std::uint8_t> channel[3];
  Image<std::uint8_t> seen;
};

inline WarpedImage warped_image(const SweepProblem& problem, const PosedImage& source, int d) {
  const PosedImage& reference = problem.reference;
  const SourceWarp warp =
      make_source_warp(reference.camera, reference.cam_from_world, source.camera, source.cam_from_world);
  const float w = inverse_depth(problem.planes, static_cast<float>(d));
  const int width = reference.camera.width, height = reference.camera.height;
  WarpedImage warped;
  warped.seen = Image<std::uint8_t>(width, height);
  for (int c = 0; c < source.channels; ++c) warped.channel[c] = Image<std::uint8_t>(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const SamplePosition p =
          sample_position(row_warp(warp, w, y), x, source.camera.width, source.camera.height);
      warped.seen(x, y) = p.inside;
      const int left = p.u / kSubpixels, top = p.v / kSubpixels;
      const int right = std::min(left + 1, source.camera.width - 1);
      const int bottom = std::min(top + 1, source.camera.height - 1);
      for (int c = 0; c < source.channels; ++c) {
        const auto& image = source.channel[static_cast<std::size_t>(c)];
        warped.channel[c](x, y) = static_cast<std::uint8_t>(bilinear(
            image(left, top), image(right, top), image(left, bottom), image(right, bottom),
            static_cast<std::uint32_t>(p.u % kSubpixels), static_cast<std::uint32_t>(p.v % kSubpixels)));
      }
    }
  return warped;
}

/// The cost of the window around (x, y).
inline float window_cost(const SweepProblem& problem, const WarpedImage& warped, int x, int y) {
  const PosedImage& reference = problem.reference;
  const int radius = problem.cost.window / 2;
  std::uint32_t count = 0, difference = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;
  for (int j = -radius; j <= radius; ++j)
    for (int i = -radius; i <= radius; ++i) {
      const int column = std::clamp(x + i, 0, reference.camera.width - 1);
      const int row = std::clamp(y + j, 0, reference.camera.height - 1);
      for (int c = 0; c < reference.channels; ++c) {
        const std::uint32_t p = reference.channel[static_cast<std::size_t>(c)](column, row);
        const std::uint32_t q = warped.channel[c](column, row);
        ++count;
        difference += p > q ? p - q : q - p;
        a += p, b += q, aa += p * p, bb += q * q, ab += p * q;
      }
    }
  if (problem.cost.kind == CostKind::kSad) return sad_cost(difference, 1.0f / static_cast<float>(count));
  return zncc_cost(scaled_variance(count, a, aa), scaled_variance(count, b, bb),
                   scaled_covariance(count, a, b, ab));
}

/// Combines the costs of the sources that see a sample, in the order of the sources.
inline float combined_cost(const CostOptions& options, std::vector<float> costs) {
  if (costs.empty()) return invalid_cost();
  if (options.combination != Combination::kMean) std::sort(costs.begin(), costs.end());
  const int kept = options.combination == Combination::kMinimum ? 1
                   : options.combination == Combination::kMean  ? static_cast<int>(costs.size())
                                                                : options.best_k;
  costs.resize(std::min(costs.size(), static_cast<std::size_t>(kept)));
  float sum = 0.0f;
  for (const float cost : costs) sum += cost;
  return sum / static_cast<float>(costs.size());
}

/// The cost volume of the whole reference view.
inline Volume<Half> sweep_volume(const SweepProblem& problem) {
  const int width = problem.reference.camera.width, height = problem.reference.camera.height;
  Volume<Half> volume(width, problem.planes.count, height);
  for (int d = 0; d < problem.planes.count; ++d) {
    std::vector<WarpedImage> warped;
    for (const PosedImage& source : problem.sources) warped.push_back(warped_image(problem, source, d));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        std::vector<float> costs;
        for (const WarpedImage& image : warped)
          if (image.seen(x, y)) costs.push_back(window_cost(problem, image, x, y));
        volume.view()(x, y, d) = to_half(combined_cost(problem.cost, std::move(costs)));
      }
  }
  return volume;
}

/// Winner, parabola and uniqueness of every pixel of a volume.
inline DepthEstimate winners(VolumeView<const Half> volume, const PlaneSet& planes) {
  DepthEstimate estimate = uninitialised_estimate(volume.width, volume.height);
  for (int y = 0; y < volume.height; ++y)
    for (int x = 0; x < volume.width; ++x) {
      WinnerScan scan;
      scan.clear();
      for (int d = 0; d < volume.planes; ++d) scan.push(to_float(volume(x, y, d)));
      const WinnerDepth result = winner_depth(scan.winner, planes);
      estimate.depth(x, y) = result.depth;
      estimate.cost(x, y) = result.cost;
      estimate.confidence(x, y) = result.confidence;
    }
  return estimate;
}

}  // namespace recon::steps
