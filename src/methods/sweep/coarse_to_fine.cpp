#include "methods/sweep/coarse_to_fine.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/parallel.hpp"
#include "match/cpu_sweep.hpp"
#include "match/posed_image.hpp"
#include "methods/sweep/depth_step.hpp"
#include "optimize/patch_match/patch_match.hpp"
#include "optimize/patch_match/supported_planes.hpp"

namespace recon {
namespace {

/// The coarse sweep takes the best sources only: the patches choose among all.
constexpr int kCoarseSources = 8;

SourceWarp warp_into(const SweepImages& images, const PosedImage& source) {
  return make_source_warp(images.reference.camera, images.reference.cam_from_world, source.camera,
                          source.cam_from_world);
}

PatchLevel patch_level(const SweepImages& images) {
  PatchLevel level;
  level.reference = images.reference.channel[0];
  level.sources.resize(images.sources.size());
  parallel_for(static_cast<int>(images.sources.size()), [&](int i) {
    const PosedImage& source = images.sources[static_cast<std::size_t>(i)];
    level.sources[static_cast<std::size_t>(i)] = {warp_into(images, source), SampledImage(source.channel[0])};
  });
  return level;
}

DepthEstimate depth_estimate(ImageView<const PatchState> states) {
  DepthEstimate result{Image<float>(states.width, states.height), Image<float>(states.width, states.height),
                       Image<float>(states.width, states.height)};
  parallel_for(states.height, [&](int y) {
    for (int x = 0; x < states.width; ++x) {
      const WinnerDepth pixel = patch_depth(states(x, y));
      result.depth(x, y) = pixel.depth;
      result.cost(x, y) = pixel.cost;
      result.confidence(x, y) = pixel.confidence;
    }
  });
  return result;
}

/// Gives pixels of weak texture the planes that their surroundings support, if the stages have that.
void fill_weak_texture(const SweepProblem& problem, ImageView<PatchState> states) {
  if (!problem.stages.prior) return;
  std::vector<WarpedImage> sources;
  for (const PosedImage& source : problem.sources)
    sources.push_back({warp_into(problem, source), source.channel[0]});
  fill_supported_planes(states, problem.reference.channel[0], sources, patch_range(problem.planes));
}

}  // namespace

std::vector<Image<std::uint8_t>> halve_images(SweepProblem& problem) {
  std::vector<Image<std::uint8_t>> pixels;
  const auto halve = [&](PosedImage& image) {
    pixels.push_back(halved(image.channel[0]));
    image.camera = halved(image.camera);
    image.channel[0] = std::as_const(pixels.back()).view();
    image.id = 0;
  };
  problem.coarser.clear();
  SweepImages images = problem;
  for (int level = 0; level < problem.stages.patch_match.levels; ++level) {
    halve(images.reference);
    for (PosedImage& source : images.sources) halve(source);
    problem.coarser.push_back(images);
  }
  return pixels;
}

SweepProblem coarsest_sweep(const SweepProblem& problem) {
  SweepProblem sweep = problem;
  sweep.stages.patches = false;
  if (!problem.coarser.empty()) static_cast<SweepImages&>(sweep) = problem.coarser.back();
  sweep.coarser.clear();
  sweep.sources.resize(std::min(sweep.sources.size(), static_cast<std::size_t>(kCoarseSources)));
  return sweep;
}

SweepShape coarsest_shape(const SweepShape& shape) {
  SweepShape coarsest = shape;
  coarsest.stages.patches = false;
  coarsest.sources = std::min(coarsest.sources, kCoarseSources);
  const int levels = shape.stages.patch_match.levels;
  for (int* side : {&coarsest.width, &coarsest.height, &coarsest.source_width, &coarsest.source_height})
    *side = (*side + (1 << levels) - 1) >> levels;
  return coarsest;
}

InverseRange patch_range(const PlaneSet& planes) {
  return {0.8f * planes.inverse_far, 1.25f * inverse_depth(planes, static_cast<float>(planes.count - 1))};
}

DepthEstimate refine_patches(const SweepProblem& problem, const DepthEstimate& coarsest) {
  const int halvings = static_cast<int>(problem.coarser.size());
  std::optional<PatchLevel> level;
  const auto level_at = [&](int l) -> const PatchLevel& {
    level.reset();
    return level.emplace(
        patch_level(l < halvings ? problem.coarser[static_cast<std::size_t>(halvings - 1 - l)] : problem));
  };
  Image<PatchState> states = patch_match(halvings + 1, level_at, coarsest.depth.view(),
                                         patch_range(problem.planes), problem.stages.patch_match);
  level.reset();
  fill_weak_texture(problem, states.view());
  return depth_estimate(std::as_const(states).view());
}

std::size_t refine_patches_bytes(const SweepShape& shape, int threads) {
  const std::size_t sampled =
      static_cast<std::size_t>(shape.sources) * SampledImage::bytes(shape.source_width, shape.source_height);
  const auto results = [](const SweepShape& size) {
    return element_count({3, padded_count<float>(size.width), size.height, sizeof(float)});
  };
  const std::size_t states =
      element_count({padded_count<PatchState>(shape.width), shape.height, sizeof(PatchState)});
  const std::size_t prior = shape.stages.prior ? supported_planes_bytes(shape.width, shape.height) : 0;
  return results(coarsest_shape(shape)) +
         std::max(sampled + patch_match_bytes(shape.width, shape.height, shape.sources, threads),
                  states + std::max(results(shape), prior));
}

}  // namespace recon
