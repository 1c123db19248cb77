#include "methods/sweep/view_sweep.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "match/cpu_sweep.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "methods/sweep/sweep_stages.hpp"
#include "optimize/patch_match/edge_planes.hpp"
#include "optimize/patch_match/patch_match.hpp"
#include "optimize/patch_match/supported_planes.hpp"

namespace recon {
namespace {

SourceWarp warp_into(const SweepImages& images, const PosedImage& source) {
  return make_source_warp(images.reference.camera, images.reference.cam_from_world, source.camera,
                          source.cam_from_world);
}

PatchLevel patch_level(const SweepImages& images) {
  PatchLevel level;
  level.reference = images.reference.channel[0];
  level.sources.resize(images.sources.size());
  std::vector<std::size_t> first = {0};
  for (const PosedImage& source : images.sources)
    first.push_back(first.back() +
                    SampledImage::bytes(source.channel[0].width, source.channel[0].height) / 2);
  level.pixels = AlignedBuffer<std::uint16_t>(first.back());
  parallel_for(static_cast<int>(images.sources.size()), [&](int i) {
    const PosedImage& source = images.sources[i];
    level.sources[i] = {warp_into(images, source),
                        SampledImage(source.channel[0], level.pixels.data() + first[i])};
  });
  return level;
}

DepthEstimate depth_estimate(ImageView<const PatchState> states) {
  DepthEstimate result = uninitialised_estimate(states.width, states.height);
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

/// The patches of a view and the steps that refine them, on the host.
class PatchStages {
 public:
  explicit PatchStages(const SweepProblem& problem) : problem_(problem), range_(patch_range(problem)) {
    const Pinhole& camera = problem.reference.camera;
    EXPECTS(problem.colours.data == nullptr ||
            (problem.colours.width == camera.width && problem.colours.height == camera.height));
  }

  /// @param coarsest  depths of the coarsest level
  DepthEstimate run(const DepthEstimate& coarsest) {
    refine_levels(coarsest.depth.view());
    for_stages(kPatchSteps, problem_.refine, [this](PatchStep step) { run_step(step); });
    return depth_estimate(std::as_const(states_).view());
  }

 private:
  void run_step(PatchStep step) {
    switch (step) {
      case PatchStep::kPrior:
        return fill_weak_texture();
      case PatchStep::kEdges:
        return move_edges();
    }
  }

  void refine_levels(ImageView<const float> depth) {
    const int halvings = static_cast<int>(problem_.coarser.size());
    std::optional<PatchLevel> level;
    const auto level_at = [&](int l) -> const PatchLevel& {
      level.reset();
      return level.emplace(patch_level(l < halvings ? problem_.coarser[halvings - 1 - l] : problem_));
    };
    states_ = patch_match(halvings + 1, level_at, depth, range_, problem_.patch_match,
                          problem_.refine.smooth_patches);
  }

  /// Gives pixels of weak texture the planes that their surroundings support.
  void fill_weak_texture() {
    std::vector<WarpedImage> sources;
    for (const PosedImage& source : problem_.sources)
      sources.push_back({warp_into(problem_, source), source.channel[0]});
    fill_supported_planes(states_.view(), problem_.reference.channel[0], sources, range_);
  }

  void move_edges() {
    const ImageView<const std::uint8_t>& grey = problem_.reference.channel[0];
    states_ = with_moved_edges(
        states_.view(), {grey.data, grey.pitch, problem_.colours.data, problem_.colours.pitch}, range_);
  }

  const SweepProblem& problem_;
  const InverseRange range_;
  Image<PatchState> states_;
};

/// Images of a shape, halved `halvings` times.
SweepImages sized_images(const SweepShape& shape, int halvings) {
  const auto halved = [halvings](int side) { return (side + (1 << halvings) - 1) >> halvings; };
  const auto sized = [&](int width, int height) {
    return sized_image({halved(width), halved(height)}, shape.channels);
  };
  const PosedImage source = sized(shape.source_width, shape.source_height);
  return {sized(shape.width, shape.height),
          std::vector<PosedImage>(static_cast<std::size_t>(shape.sources), source)};
}

}  // namespace

SweepProblem sized_problem(const SweepShape& shape) {
  SweepProblem problem{shape, sized_images(shape, 0), {1, 1, shape.planes}, {}};
  for (int level = 1; has_patches(shape) && level <= shape.patch_match.levels; ++level)
    problem.coarser.push_back(sized_images(shape, level));
  return problem;
}

DepthEstimate sweep_view(const SweepProblem& problem) {
  check(problem, true);
  if (has_patches(problem)) return PatchStages(problem).run(sweep_view(coarsest_sweep(problem)));
  CpuSweep sweep = prepare_cpu_sweep(problem.reference, problem.sources, problem.planes, problem.cost);
  const std::vector<SweepBlock> blocks = blocks_of(sweep_shape(problem));
  DepthEstimate view;
  if (blocks.size() > 1)
    view = uninitialised_estimate(problem.reference.camera.width, problem.reference.camera.height);
  for (const SweepBlock& block : blocks) {
    change_reference(sweep, cropped(problem.reference, block.outer), problem.sources);
    SweepStages stages(problem, block, &sweep);
    stages.run();
    stages.put(view);
  }
  return view;
}

void optimize_block(const SweepProblem& problem, const SweepBlock& block, Volume<float> costs,
                    DepthEstimate& view) {
  SweepStages stages(problem, block, nullptr);
  stages.run_on(std::move(costs));
  stages.put(view);
}

}  // namespace recon
