#include "methods/sweep/plane_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/hypotenuse.hpp"
#include "core/parallel.hpp"
#include "match/posed_image.hpp"
#include "methods/backend.hpp"
#include "optimize/semi_global/semi_global.hpp"
#include "optimize/winner/winner_take_all.hpp"
#include "refine/depth_filters.hpp"

namespace recon {
namespace {

constexpr double kMaxFloat = std::numeric_limits<float>::max();

/// The coarse sweep takes the best sources only: the patches choose among all.
constexpr int kCoarseSources = 12;

/// The max local contrast over the channels around each pixel.
Image<float> highest_contrast(const PosedImage& reference, int window) {
  Image<float> highest = local_contrast(reference.channel[0], window);
  for (std::size_t c = 1; c < static_cast<std::size_t>(reference.channels); ++c) {
    const Image<float> other = local_contrast(reference.channel[c], window);
    parallel_for(highest.height(), [&](int y) {
      for (int x = 0; x < highest.width(); ++x) highest(x, y) = std::max(highest(x, y), other(x, y));
    });
  }
  return highest;
}

void invalidate_untrusted(const PosedImage& reference, int window, const PhotometricFilterOptions& filter,
                          DepthEstimate& estimate) {
  Image<float> contrast;  // none where every pixel has enough
  if (filter.min_texture > 0) contrast = highest_contrast(reference, window);
  parallel_for(estimate.depth.height(), [&](int y) {
    for (int x = 0; x < estimate.depth.width(); ++x)
      if (!(estimate.cost(x, y) <= filter.max_cost && estimate.confidence(x, y) >= filter.min_confidence &&
            (contrast.empty() || contrast(x, y) >= filter.min_texture)))
        estimate.depth(x, y) = kUnknown;
  });
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
      double length = 0, square = 0;
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
        if (inside && previous_inside) {
          constexpr double kRounded = 1 - 1e-9;  // shorter ones need no root
          const double dx = pixel.x - previous.x, dy = pixel.y - previous.y, found = dx * dx + dy * dy;
          if (found > kRounded * square) length = std::max(length, kSamples * hypotenuse(dx, dy));
          square = std::max(square, found);
        }
        previous = pixel;
        previous_inside = inside;
      }
      longest = std::max(longest, length);
    }
  }
  return longest;
}

/// The borders of `count` nearly equal parts of [0, length).
std::vector<int> borders(int length, int count) {
  std::vector<int> result;
  for (int i = 0; i <= count; ++i)
    result.push_back(static_cast<int>(static_cast<long long>(length) * i / count));
  return result;
}

/// The max extent of a part with its margins.
int largest_extent(int length, int count) {
  const std::vector<int> border = borders(length, count);
  int largest = 0;
  for (std::size_t i = 0; i + 1 < border.size(); ++i)
    largest = std::max(
        largest, std::min(length, border[i + 1] + kBlockMargin) - std::max(0, border[i] - kBlockMargin));
  return largest;
}

struct Cut {
  int columns, rows;
};

/// The division with the fewest samples. For each number of columns the fewest rows that fit.
Cut best_cut(int width, int height, std::size_t max_pixels) {
  Cut best{0, 0};
  double min_samples = 1e300;
  for (int columns = 1; columns <= width; ++columns) {
    const auto block_width = static_cast<std::size_t>(largest_extent(width, columns));
    if (block_width < 4 * kBlockMargin && best.columns > 0) break;
    const auto fits = [&](int rows) {
      return block_width * static_cast<std::size_t>(largest_extent(height, rows)) <= max_pixels;
    };
    int rows = 1;
    while (rows < height && !fits(rows)) ++rows;
    if (!fits(rows)) continue;
    const double samples = static_cast<double>(block_width) * columns * largest_extent(height, rows) * rows;
    if (samples >= min_samples) continue;
    min_samples = samples;
    best = {columns, rows};
  }
  return best;
}

}  // namespace

ViewDepth finish_view(Image<float> depth, Image<float> confidence, ImageView<const std::uint8_t> mask,
                      bool median, int speckle_size) {
  EXPECTS(mask.empty() || (mask.width == depth.width() && mask.height == depth.height()));
  parallel_for(mask.height, [&](int y) {
    for (int x = 0; x < mask.width; ++x)
      if (mask(x, y) == 0) depth(x, y) = kUnknown;
  });
  if (median) depth = median_3x3(depth.view());
  remove_speckles(depth.view(), speckle_size, kSpeckleStep);
  parallel_for(depth.height(), [&](int y) {
    for (int x = 0; x < depth.width(); ++x)
      if (std::isnan(depth(x, y))) confidence(x, y) = kUnknown;
  });
  return {std::move(depth), {}, std::move(confidence)};
}

std::pair<float, float> outermost_depths(const DepthRange& bounds) {
  auto first = static_cast<float>(bounds.near), last = static_cast<float>(std::min(bounds.far, kMaxFloat));
  if (static_cast<double>(first) < bounds.near)
    first = std::nextafter(first, std::numeric_limits<float>::max());
  if (static_cast<double>(last) > bounds.far) last = std::nextafter(last, 0.0f);
  return {first, last};
}

KeptDepths kept_depths(const DepthRange& bounds) {
  if (bounds.near == kAnyDepth.near && bounds.far == kAnyDepth.far) return {};
  constexpr double kRounding = 1e-5;
  const auto [first, last] = outermost_depths(bounds);
  return {(1 - kRounding) * bounds.near, (1 + kRounding) * bounds.far, first, last};
}

void keep_within(const DepthRange& bounds, ViewDepth& maps) {
  const KeptDepths kept = kept_depths(bounds);
  parallel_for(maps.depth.height(), [&](int y) {
    for (int x = 0; x < maps.depth.width(); ++x) {
      float& z = maps.depth(x, y);
      if (std::isnan(z)) continue;
      z = kept.of(z);
      if (!std::isnan(z)) continue;
      maps.confidence(x, y) = kUnknown;
      if (!maps.normal.empty()) maps.normal(x, y) = {kUnknown, kUnknown, kUnknown};
    }
  });
}

ViewDepth filter_estimate(const PosedImage& reference, int window, const PhotometricFilterOptions& filter,
                          DepthEstimate estimate, ImageView<const std::uint8_t> mask) {
  invalidate_untrusted(reference, window, filter, estimate);
  estimate.cost = {};
  return finish_view(std::move(estimate.depth), std::move(estimate.confidence), mask, filter.median,
                     filter.speckle_size);
}

ViewDepth estimate_view(Backend& backend, const SweepProblem& problem, const PhotometricFilterOptions& filter,
                        ImageView<const std::uint8_t> mask) {
  return filter_estimate(problem.reference, problem.cost.window, filter, backend.sweep(problem), mask);
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

void halve_all(SweepImages& images, const HalveChannel& halve_channel) {
  const auto halve = [&](PosedImage& image) {
    image.camera = halved(image.camera);
    image.id = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(image.channels); ++c)
      image.channel[c] = halve_channel(image.channel[c]);
  };
  halve(images.reference);
  for (PosedImage& source : images.sources) halve(source);
}

HalveChannel halved_into(std::vector<Image<std::uint8_t>>& pixels) {
  return [&pixels](const ImageView<const std::uint8_t>& channel) {
    pixels.push_back(halved(channel));
    return std::as_const(pixels.back()).view();
  };
}

std::vector<Image<std::uint8_t>> halve_images(SweepProblem& problem) {
  std::vector<Image<std::uint8_t>> pixels;
  halve_images(problem, halved_into(pixels));
  return pixels;
}

void halve_images(SweepProblem& problem, const HalveChannel& halve_channel) {
  problem.coarser.clear();
  SweepImages images = problem;
  for (int level = 0; level < problem.patch_match.levels; ++level) {
    halve_all(images, halve_channel);
    problem.coarser.push_back(images);
  }
}

SweepProblem coarsest_sweep(const SweepProblem& problem) {
  SweepProblem sweep = problem;
  static_cast<MethodSpec&>(sweep) = coarsest_method(problem);
  if (!problem.coarser.empty()) static_cast<SweepImages&>(sweep) = problem.coarser.back();
  sweep.coarser.clear();
  sweep.colours = {};
  sweep.sources.resize(std::min<std::size_t>(sweep.sources.size(), kCoarseSources));
  return sweep;
}

SweepShape sweep_shape(const SweepProblem& problem) {
  SweepShape shape{static_cast<const MethodSpec&>(problem)};
  shape.width = problem.reference.camera.width;
  shape.height = problem.reference.camera.height;
  for (const PosedImage& source : problem.sources) {
    shape.source_width = std::max(shape.source_width, source.camera.width);
    shape.source_height = std::max(shape.source_height, source.camera.height);
  }
  shape.channels = problem.reference.channels;
  shape.sources = static_cast<int>(problem.sources.size());
  shape.planes = problem.planes.count;
  return shape;
}

SweepShape coarsest_shape(const SweepShape& shape) {
  SweepShape coarsest = shape;
  static_cast<MethodSpec&>(coarsest) = coarsest_method(shape);
  coarsest.sources = std::min(coarsest.sources, kCoarseSources);
  const int levels = shape.patch_match.levels;
  for (int* side : {&coarsest.width, &coarsest.height, &coarsest.source_width, &coarsest.source_height})
    *side = (*side + (1 << levels) - 1) >> levels;
  return coarsest;
}

InverseRange patch_range(const SweepProblem& problem) {
  const PlaneSet& planes = problem.planes;
  return {std::max(0.8f * planes.inverse_far, problem.bounds.min),
          std::min(1.25f * inverse_depth(planes, static_cast<float>(planes.count - 1)), problem.bounds.max)};
}

std::vector<SweepBlock> sweep_blocks(int width, int height, int planes, std::size_t block_bytes) {
  EXPECTS(width >= 1 && height >= 1 && planes >= 1);
  const Cut cut = best_cut(width, height, block_bytes / static_cast<std::size_t>(cost_stride(planes)));
  EXPECTS(cut.columns > 0);
  const std::vector<int> xs = borders(width, cut.columns), ys = borders(height, cut.rows);
  std::vector<SweepBlock> blocks;
  for (std::size_t j = 0; j + 1 < ys.size(); ++j) {
    for (std::size_t i = 0; i + 1 < xs.size(); ++i) {
      const int left = std::max(0, xs[i] - kBlockMargin), right = std::min(width, xs[i + 1] + kBlockMargin);
      const int top = std::max(0, ys[j] - kBlockMargin), bottom = std::min(height, ys[j + 1] + kBlockMargin);
      blocks.push_back(
          {{left, top, right - left, bottom - top}, {xs[i], ys[j], xs[i + 1] - xs[i], ys[j + 1] - ys[j]}});
    }
  }
  return blocks;
}

std::vector<SweepBlock> blocks_of(const SweepShape& shape) {
  const Tile view{0, 0, shape.width, shape.height};
  const CostStorage storage = cost_storage(shape);
  if (storage == CostStorage::kNone) return {{view, view}};
  std::size_t bytes = shape.block_bytes;
  if (storage == CostStorage::kFloats)
    bytes = std::max(bytes / sizeof(float),
                     element_count({2 * kBlockMargin + 1, 2 * kBlockMargin + 1, cost_stride(shape.planes)}));
  return sweep_blocks(shape.width, shape.height, shape.planes, bytes);
}

Tile largest_block(const std::vector<SweepBlock>& blocks) {
  Tile largest;
  for (const SweepBlock& block : blocks) {
    largest.width = std::max(largest.width, block.outer.width);
    largest.height = std::max(largest.height, block.outer.height);
  }
  return largest;
}

PosedImage cropped(const PosedImage& image, const Tile& tile) {
  PosedImage result = image;
  result.id = 0;
  result.camera.width = tile.width;
  result.camera.height = tile.height;
  result.camera.cx -= tile.x;
  result.camera.cy -= tile.y;
  for (int c = 0; c < image.channels; ++c) {
    ImageView<const std::uint8_t>& channel = result.channel[c];
    channel = {channel.row(tile.y) + tile.x, tile.width, tile.height, channel.pitch};
  }
  return result;
}

}  // namespace recon
