#include "optimize/patch_match/patch_match.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimize/patch_match/patch_match.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "core/parallel.hpp"
#include "match/patch.hpp"
#include "match/patch_sums-inl.hpp"
#include "optimize/patch_match/smooth_planes.hpp"

#ifndef RECON_PATCH_MATCH_ONCE
#define RECON_PATCH_MATCH_ONCE
namespace recon {

/// What the passes over the pixels of a level share.
struct PatchPass {
  const PatchLevel* level;
  const PatchWeights* weights;
  PatchIteration iteration;
  PatchStates states, coarse;
  ImageView<const PatchSources> coarser_sources;
  ImageView<const PatchSources> sources;

  /// The sources of the pixel's neighbour in the coarser level.
  PatchSources coarse_sources(int x, int y) const {
    return coarser_sources(std::min(x / 2, coarse.width - 1), std::min(y / 2, coarse.height - 1));
  }
};

}  // namespace recon
#endif

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

/// The patch of a pixel, compared with the sources.
class PixelPatch {
 public:
  PixelPatch(const PatchPass& pass) : pass_(pass), patch_(pass.weights->radius()) {}

  void load(int x, int y) {
    x_ = x, y_ = y;
    patch_.load(pass_.level->reference, *pass_.weights, x, y);
  }

  /// The cost in one source; negative where the patch is not visible.
  float visible_cost(const PatchLevel::Source& source, const SlantedPlane& plane) const {
    const PatchWarp warp = patch_warp(source.warp, x_, y_, plane, pass_.weights->radius(),
                                      source.image.width(), source.image.height());
    return warp.visible ? patch_cost(patch_.sums, patch_sums(patch_, source.image, warp)) : -1.0f;
  }

  /// The mean cost over the sources of the pixel; see mean_cost.
  float cost(PatchSources sources, const SlantedPlane& plane, float bound) const {
    return mean_cost(sources, bound, [&](std::uint32_t s) {
      const float cost = visible_cost(pass_.level->sources[s], plane);
      return cost < 0.0f ? kInvisibleCost : cost;
    });
  }

  const ReferenceSums& sums() const { return patch_.sums; }

 private:
  const PatchPass& pass_;
  ReferencePatch patch_;
  int x_ = 0, y_ = 0;
};

/// The states of a row from the planes of the coarser level.
void refine_row(const PatchPass& pass, int y) {
  PixelPatch patch(pass);
  for (int x = 0; x < pass.states.width; ++x) {
    patch.load(x, y);
    const PatchSources sources = pass.coarse_sources(x, y);
    pass.states.at(x, y) = finer_state(
        pass.coarse, x, y, pass.iteration.range,
        [&](const SlantedPlane& plane, float bound) { return patch.cost(sources, plane, bound); });
  }
}

/// The rounded costs of the own planes of a row in every source, see rounded_cost.
void rate_row(const PatchPass& pass, int y, std::uint8_t* costs) {
  PixelPatch patch(pass);
  const int sources = static_cast<int>(pass.level->sources.size());
  for (int x = 0; x < pass.states.width; ++x) {
    patch.load(x, y);
    for (int s = 0; s < sources; ++s) {
      const float cost = patch.visible_cost(pass.level->sources[s], pass.states.at(x, y).plane);
      costs[x * sources + s] = cost < 0.0f ? kUnseen : rounded_cost(cost);
    }
  }
}

/// The costs of the own planes of a row.
void score_row(const PatchPass& pass, int y) {
  PixelPatch patch(pass);
  for (int x = 0; x < pass.states.width; ++x) {
    patch.load(x, y);
    PatchState& state = pass.states.at(x, y);
    state.cost = patch.cost(pass.sources(x, y), state.plane, kNoPatchCost);
  }
}

/// One iteration for the pixels of a colour in a row.
void improve_row(const PatchPass& pass, int y, int colour) {
  PixelPatch patch(pass);
  for (int x = (y + colour) & 1; x < pass.states.width; x += 2) {
    patch.load(x, y);
    const PatchSources sources = pass.sources(x, y);
    const float w = pass.states.at(x, y).plane.w;
    const float step = perturbation_step(sources, pass.iteration.index, [&](std::uint32_t s) {
      return parallax(pass.level->sources[s].warp, x, y, w);
    });
    pass.states.at(x, y) =
        improved(pass.states, x, y, pass.iteration, step,
                 [&](const SlantedPlane& plane, float bound) { return patch.cost(sources, plane, bound); });
  }
}

/// The states of a row that are offered these planes.
void smooth_row(const PatchPass& pass, int y, const SlantedPlane* planes, PatchState* smooth) {
  PixelPatch patch(pass);
  for (int x = 0; x < pass.states.width; ++x) {
    patch.load(x, y);
    const PatchSources sources = pass.sources(x, y);
    smooth[x] = smoothed_state(
        pass.states.at(x, y), planes[x], patch.sums(),
        [&](const SlantedPlane& plane, float bound) { return patch.cost(sources, plane, bound); });
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(refine_row);
HWY_EXPORT(rate_row);
HWY_EXPORT(score_row);
HWY_EXPORT(improve_row);
HWY_EXPORT(smooth_row);

namespace {

/// Rows whose sources are chosen by one task.
constexpr int kBandRows = 32;

PatchStates patch_states(Image<PatchState>& image) {
  return {image.view().data, image.width(), image.height(), image.pitch()};
}

/// Chooses the sources of every pixel by the costs of the planes around it.
void choose_sources(const PatchPass& pass, const PatchMatchOptions& options, Image<PatchSources>& chosen) {
  const int width = pass.states.width, height = pass.states.height;
  const int sources = static_cast<int>(pass.level->sources.size());
  parallel_for((height + kBandRows - 1) / kBandRows, [&](int band) {
    const int begin = band * kBandRows, end = std::min(begin + kBandRows, height);
    const int first = std::max(begin - 2, 0), last = std::min(end + 2, height);
    AlignedBuffer<std::uint8_t> costs(element_count({width, sources, last - first}));
    const auto row = [&](int y) { return costs.data() + std::ptrdiff_t{y - first} * width * sources; };
    for (int y = first; y < last; ++y) HWY_DYNAMIC_DISPATCH(rate_row)(pass, y, row(y));
    for (int y = begin; y < end; ++y)
      for (int x = 0; x < width; ++x)
        chosen(x, y) = chosen_sources(sources, options.best_k, [&](int s, int dx, int dy) {
          if (!pass.states.contains(x + dx, y + dy)) return int{kUnseen};
          return int{row(y + dy)[(x + dx) * sources + s]};
        });
  });
}

/// The first planes of the coarsest level.
void begin(const PatchPass& pass, ImageView<const float> depth) {
  parallel_for(depth.height, [&](int y) {
    for (int x = 0; x < depth.width; ++x)
      pass.states.at(x, y) = {first_plane(pass.iteration.range,
                                          [&](int dx, int dy) {
                                            return depth(std::clamp(x + dx, 0, depth.width - 1),
                                                         std::clamp(y + dy, 0, depth.height - 1));
                                          }),
                              kNoPatchCost};
  });
}

/// The states with smooth surfaces, see agreed_plane.
Image<PatchState> smoothed(const PatchPass& pass) {
  const int width = pass.states.width;
  Image<PatchState> result(width, pass.states.height);
  parallel_for(pass.states.height, [&](int y) {
    std::vector<float> units(width);
    for (int x = 0; x < width; ++x)
      units[x] = smooth_unit(pass.sources(x, y), [&](std::uint32_t s) {
        return parallax(pass.level->sources[s].warp, x, y, pass.states.at(x, y).plane.w);
      });
    std::vector<SlantedPlane> planes(width);
    agreed_planes(pass.states, pass.level->reference, pass.iteration.range, y, units.data(), planes.data());
    HWY_DYNAMIC_DISPATCH(smooth_row)(pass, y, planes.data(), result.row(y));
  });
  return result;
}

}  // namespace

Image<PatchState> patch_match(int levels, const std::function<const PatchLevel&(int)>& level_at,
                              ImageView<const float> depth, const InverseRange& range,
                              const PatchMatchOptions& options, bool smooth) {
  EXPECTS(levels >= 1 && options.best_k >= 1 && options.best_k <= kMaxPatchSources);
  const PatchWeights weights(options.radius);
  Image<PatchState> states, coarse;
  Image<PatchSources> sources, coarse_sources;
  for (int l = 0; l < levels; ++l) {
    const PatchLevel& level = level_at(l);
    EXPECTS(!level.sources.empty() && level.sources.size() <= static_cast<std::size_t>(kMaxSources));
    const int width = level.reference.width, height = level.reference.height;
    EXPECTS(width <= kMaxImageSide && height <= kMaxImageSide);
    EXPECTS(l > 0 || (depth.width == width && depth.height == height));
    for (const PatchLevel::Source& source : level.sources)
      EXPECTS(source.image.width() <= kMaxImageSide && source.image.height() <= kMaxImageSide);
    std::swap(states, coarse);
    std::swap(sources, coarse_sources);
    states = Image<PatchState>(width, height);
    sources = Image<PatchSources>(width, height);
    PatchPass pass{&level,
                   &weights,
                   {range, options.radius, 0},
                   patch_states(states),
                   patch_states(coarse),
                   coarse_sources.view(),
                   sources.view()};
    if (coarse.empty())
      begin(pass, depth);
    else
      parallel_for(height, [&](int y) { HWY_DYNAMIC_DISPATCH(refine_row)(pass, y); });
    const auto choose = [&] {
      choose_sources(pass, options, sources);
      parallel_for(height, [&](int y) { HWY_DYNAMIC_DISPATCH(score_row)(pass, y); });
    };
    choose();
    for (int& i = pass.iteration.index; i < options.iterations; ++i) {
      if (i > 0) choose();
      for (const int colour : {0, 1})
        parallel_for(height, [&](int y) { HWY_DYNAMIC_DISPATCH(improve_row)(pass, y, colour); });
      if (!smooth || l < levels - 1) continue;
      states = smoothed(pass);
      pass.states = patch_states(states);
    }
  }
  return states;
}

std::size_t patch_match_bytes(int width, int height, int sources, bool smooth, int threads) {
  const std::size_t states = element_count({padded_count<PatchState>(width), height, sizeof(PatchState)});
  const std::size_t chosen = element_count({padded_count<PatchSources>(width), height, sizeof(PatchSources)});
  // Of the level, of the one before it, and of the one before that until its memory is freed.
  return (states + chosen) / 16 * 21 + (smooth ? states : 0) +
         static_cast<std::size_t>(threads) * element_count({width, sources, kBandRows + 4});
}

}  // namespace recon
#endif
