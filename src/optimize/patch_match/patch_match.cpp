#include "optimize/patch_match/patch_match.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimize/patch_match/patch_match.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "core/parallel.hpp"
#include "match/patch.hpp"
#include "optimize/patch_match/patch_block-inl.hpp"
#include "optimize/patch_match/smooth_planes.hpp"

#ifndef RECON_PATCH_MATCH_ONCE
#define RECON_PATCH_MATCH_ONCE
namespace recon {

/// The rounded costs of rows in all sources. Each has a margin of unseen pixels, as those outside the image.
class RatedRows {
 public:
  static constexpr int kMargin = 2;  ///< pixels, see cost_around
  static constexpr int kSlack = 64;  ///< bytes that loads and stores may reach beyond the margin

  RatedRows(int width, int sources, int first, int last)
      : first_(first),
        last_(last),
        sources_(sources),
        pitch_(pitch(width)),
        costs_(element_count({pitch_, sources, last - first})),
        unseen_(static_cast<int>(pitch_)) {
    std::fill_n(costs_.data(), element_count({pitch_, sources, last - first}), kUnseen);
    std::fill_n(unseen_.data(), pitch_, kUnseen);
  }

  /// The costs of row y in a source; of rows that are not kept, unseen.
  std::uint8_t* row(int y, int source) {
    if (y < first_ || y >= last_) return unseen_.data() + kMargin;
    return costs_.data() + (std::ptrdiff_t{y - first_} * sources_ + source) * pitch_ + kMargin;
  }

  /// Bytes of `count` rows, those around them and the sums of one, see choose_row.
  static std::size_t bytes(int width, int sources, int count) {
    return element_count(
               {pitch(width), sources, count + 2 * kMargin + static_cast<int>(sizeof(std::int16_t))}) +
           static_cast<std::size_t>(pitch(width));
  }
  static std::ptrdiff_t pitch(int width) { return padded_count<std::uint8_t>(width + 2 * kMargin + kSlack); }

 private:
  int first_, last_, sources_;
  std::ptrdiff_t pitch_;
  AlignedBuffer<std::uint8_t> costs_, unseen_;
};

/// What the passes over the pixels of a level share.
struct PatchPass {
  const PatchLevel* level;
  const PatchWeights* weights;
  const PatchSourceTable* table;
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

/// Calls body(block) for the blocks of a row, whose pixels are `stride` apart.
template <class Body>
HWY_INLINE void for_blocks(const PatchPass& pass, int y, int first, int stride, const Body& body) {
  PatchBlock block(*pass.level, *pass.weights, *pass.table);
  for (int x = first; x < pass.states.width; x += stride * patch_lanes()) {
    block.load(x, y, stride);
    body(block);
  }
}

/// The states of a row from the planes of the coarser level.
void refine_row(const PatchPass& pass, int y) {
  for_blocks(pass, y, 0, 1, [&](PatchBlock& block) {
    block.choose([&](int x) { return pass.coarse_sources(x, y); });
    for (int lane = 0; lane < block.count(); ++lane)
      for (int k = 0; k < kCoarserPlanes; ++k) {
        const SlantedPlane plane = coarser_plane(pass.coarse, block.x(lane), y, pass.iteration.range, k);
        if (k == 0) block.best(lane) = {plane, kNoPatchCost};
        block.offer(lane, plane);
      }
    block.take_best();
    for (int lane = 0; lane < block.count(); ++lane) pass.states.at(block.x(lane), y) = block.best(lane);
  });
}

/// The rounded costs of the own planes of a row in every source, see rounded_cost.
void rate_row(const PatchPass& pass, int y, RatedRows& rows) {
  const F32 df;
  const I32 di;
  const int sources = static_cast<int>(pass.level->sources.size());
  for_blocks(pass, y, 0, 1, [&](const PatchBlock& block) HWY_ATTR {
    alignas(64) float w[kMaxPatchLanes], wx[kMaxPatchLanes], wy[kMaxPatchLanes];
    for (float* it : {w, wx, wy}) std::fill_n(it, kMaxPatchLanes, kUnknown);  // not visible
    for (int lane = 0; lane < block.count(); ++lane) {
      const SlantedPlane& plane = pass.states.at(block.x(lane), y).plane;
      w[lane] = plane.w, wx[lane] = plane.wx, wy[lane] = plane.wy;
    }
    const PlaneLanes planes = {hn::Load(df, w), hn::Load(df, wx), hn::Load(df, wy)};
    for (int s = 0; s < sources; ++s) {
      const FloatLanes cost = block.costs(pass.level->sources[s], planes);
      const auto seen = hn::RebindMask(di, hn::Ge(cost, hn::Zero(df)));
      const auto hundredths = hn::Add(hn::Mul(cost, hn::Set(df, 100.0f)), hn::Set(df, 0.5f));
      const auto rounded = hn::IfThenElse(seen, hn::ConvertTo(di, hundredths), hn::Set(di, int{kUnseen}));
      hn::StoreU(hn::DemoteTo(U8Quarter(), rounded), U8Quarter(), rows.row(y, s) + block.x(0));
    }
  });
}

/// cost_around of a row in a source; may write 64 bytes beyond its end.
void add_around(RatedRows& rows, int y, int source, int width, std::int16_t* sums) {
  const U16 d16;
  const hn::RebindToSigned<U16> di16;
  for (int x = 0; x < width; x += static_cast<int>(hn::Lanes(d16))) {
    auto sum = hn::Zero(d16), lowest = hn::Set(d16, kUnseen);
    const auto add = [&](const std::uint8_t* costs) HWY_ATTR {
      const auto cost = hn::PromoteTo(d16, hn::LoadU(U8Half(), costs));
      lowest = hn::Min(lowest, cost);
      sum = hn::Add(sum, hn::Min(cost, hn::Set(d16, kCostCap)));
    };
    for (const int dy : {-2, 0, 2})
      for (const int dx : {-2, 0, 2}) add(rows.row(y + dy, source) + x + dx);
    add(rows.row(y, source) + x);
    const auto unseen = hn::RebindMask(di16, hn::Eq(lowest, hn::Set(d16, kUnseen)));
    hn::StoreU(hn::IfThenElse(unseen, hn::Set(di16, -1), hn::BitCast(di16, sum)), di16, sums + x);
  }
}

/// Chooses the sources of a row by the costs of the planes around each pixel, see chosen_sources.
/// @param sums  memory for the sources, `pitch` numbers each
void choose_row(const PatchPass& pass, int y, RatedRows& rows, std::int16_t* sums, std::ptrdiff_t pitch,
                PatchSources* chosen) {
  const int sources = static_cast<int>(pass.level->sources.size());
  for (int s = 0; s < sources; ++s) add_around(rows, y, s, pass.states.width, sums + s * pitch);
  for (int x = 0; x < pass.states.width; ++x)
    chosen[x] = lowest_sources(sources, pass.iteration.best_k,
                               [&](int s) { return std::int32_t{sums[s * pitch + x]}; });
}

/// The costs of the own planes of a row.
void score_row(const PatchPass& pass, int y) {
  for_blocks(pass, y, 0, 1, [&](PatchBlock& block) {
    block.choose([&](int x) { return pass.sources(x, y); });
    for (int lane = 0; lane < block.count(); ++lane) {
      const SlantedPlane& plane = pass.states.at(block.x(lane), y).plane;
      block.best(lane) = {plane, kNoPatchCost};
      block.offer(lane, plane);
    }
    block.take_best();
    for (int lane = 0; lane < block.count(); ++lane)
      pass.states.at(block.x(lane), y).cost = block.best(lane).cost;
  });
}

/// Offers the planes of neighbours, see region_plane.
void offer_regions(const PatchPass& pass, int y, PatchBlock& block) {
  const PatchStates& states = pass.states;
  const int x = block.x(0), last = block.x(block.count() - 1);
  const bool inner = block.count() == patch_lanes() && x >= kRegionReach && y >= kRegionReach &&
                     last + kRegionReach < states.width && y + kRegionReach < states.height;
  SlantedPlane plane;
  if (!inner) {
    for (int lane = 0; lane < block.count(); ++lane)
      for (int region = 0; region < kRegions; ++region)
        if (region_plane(states, block.x(lane), y, pass.iteration.range, region, plane))
          block.offer(lane, plane);
    return;
  }
  const F32 df;
  const I32 di;
  constexpr int kStep = 2 * sizeof(PatchState) / sizeof(float);
  const auto index = hn::Mul(hn::Iota(di, 0), hn::Set(di, kStep));
  for (int region = 0; region < kRegions; ++region) {
    auto lowest = hn::Set(df, kNoPatchCost);
    auto nearest = hn::Zero(di);  // neighbour of lowest cost, dx and dy + 128 in a byte each
    for_region(region, [&](int dx, int dy) HWY_ATTR {
      const auto cost = hn::GatherIndex(df, &states.at(x + dx, y + dy).cost, index);
      const auto lower = hn::Lt(cost, lowest);
      lowest = hn::IfThenElse(lower, cost, lowest);
      nearest = hn::IfThenElse(hn::RebindMask(di, lower), hn::Set(di, (dx + 128) | (dy + 128) << 8), nearest);
    });
    alignas(64) std::int32_t offset[kMaxPatchLanes];
    hn::Store(nearest, di, offset);
    for (int lane = 0; lane < block.count(); ++lane) {
      if (offset[lane] == 0) continue;
      const int dx = (offset[lane] & 255) - 128, dy = (offset[lane] >> 8) - 128;
      plane = neighbour_plane(states, block.x(lane), y, dx, dy);
      if (contains(pass.iteration.range, plane.w)) block.offer(lane, plane);
    }
  }
}

/// One iteration for the pixels of a colour in a row, see improved.
void improve_row(const PatchPass& pass, int y, int colour) {
  const PatchIteration& iteration = pass.iteration;
  for_blocks(pass, y, (y + colour) & 1, 2, [&](PatchBlock& block) {
    block.choose([&](int x) { return pass.sources(x, y); });
    float step[kMaxPatchLanes] = {};
    std::uint32_t seed[kMaxPatchLanes] = {};
    for (int lane = 0; lane < block.count(); ++lane) {
      const int x = block.x(lane);
      block.best(lane) = pass.states.at(x, y);
      seed[lane] = perturbation_seed(x, y, iteration.index);
      step[lane] = perturbation_step(block.sources(lane), iteration.index, [&](std::uint32_t s) {
        return parallax(pass.level->sources[s].warp, x, y, block.best(lane).plane.w);
      });
    }
    offer_regions(pass, y, block);
    block.take_best();
    for (int kind = 0; kind < kPerturbations; ++kind) {
      for (int lane = 0; lane < block.count(); ++lane) {
        if (!(step[lane] > 0.0f)) continue;
        const SlantedPlane plane = perturbed(block.best(lane).plane, kind, step[lane],
                                             static_cast<float>(iteration.radius), seed[lane]);
        if (contains(iteration.range, plane.w)) block.offer(lane, plane);
      }
      block.take_best();
    }
    for (int lane = 0; lane < block.count(); ++lane) pass.states.at(block.x(lane), y) = block.best(lane);
  });
}

/// The states of a row that are offered these planes, see smoothed_state.
void smooth_row(const PatchPass& pass, int y, const SlantedPlane* planes, PatchState* smooth) {
  for_blocks(pass, y, 0, 1, [&](PatchBlock& block) {
    block.choose([&](int x) { return pass.sources(x, y); });
    float bound[kMaxPatchLanes] = {};
    for (int lane = 0; lane < block.count(); ++lane) {
      const int x = block.x(lane);
      const PatchState& own = pass.states.at(x, y);
      bound[lane] = max_smooth_cost(own.cost, block.sums(lane));
      block.best(lane) = {own.plane, bound[lane]};
      if (planes[x].w == planes[x].w) block.offer(lane, planes[x]);
    }
    block.take_best();
    for (int lane = 0; lane < block.count(); ++lane) {
      const bool taken = block.best(lane).cost < bound[lane];
      smooth[block.x(lane)] = taken ? block.best(lane) : pass.states.at(block.x(lane), y);
    }
  });
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(refine_row);
HWY_EXPORT(rate_row);
HWY_EXPORT(choose_row);
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
void choose_sources(const PatchPass& pass, Image<PatchSources>& chosen) {
  const int width = pass.states.width, height = pass.states.height;
  const int sources = static_cast<int>(pass.level->sources.size());
  const std::ptrdiff_t pitch = RatedRows::pitch(width);
  parallel_for((height + kBandRows - 1) / kBandRows, [&](int band) {
    const int begin = band * kBandRows, end = std::min(begin + kBandRows, height);
    const int first = std::max(begin - RatedRows::kMargin, 0),
              last = std::min(end + RatedRows::kMargin, height);
    RatedRows rows(width, sources, first, last);
    AlignedBuffer<std::int16_t> sums(element_count({pitch, sources}));
    for (int y = first; y < last; ++y) HWY_DYNAMIC_DISPATCH(rate_row)(pass, y, rows);
    for (int y = begin; y < end; ++y)
      HWY_DYNAMIC_DISPATCH(choose_row)(pass, y, rows, sums.data(), pitch, chosen.row(y));
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

Image<PatchState> refined_patches(int levels, const std::function<const PatchLevel&(int)>& level_at,
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
    const PatchSourceTable table(
        static_cast<int>(level.sources.size()), [&](int s) { return level.sources[s].warp; },
        [&](int s) -> const SampledImage& { return level.sources[s].image; });
    PatchPass pass{&level,
                   &weights,
                   &table,
                   patch_iteration(range, options),
                   patch_states(states),
                   patch_states(coarse),
                   coarse_sources.view(),
                   sources.view()};
    if (coarse.empty())
      begin(pass, depth);
    else
      parallel_for(height, [&](int y) { HWY_DYNAMIC_DISPATCH(refine_row)(pass, y); });
    const auto choose = [&] {
      choose_sources(pass, sources);
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

}  // namespace

Image<PatchState> patch_match(int levels, const std::function<const PatchLevel&(int)>& level_at,
                              ImageView<const float> depth, const InverseRange& range,
                              const PatchMatchOptions& options, bool smooth) {
  const CountedMemory* counted = CountedMemory::current();
  if (counted == nullptr) return refined_patches(levels, level_at, depth, range, options, smooth);
  const PatchLevel& finest = level_at(levels - 1);
  const int width = finest.reference.width, height = finest.reference.height;
  const std::size_t states = element_count({padded_count<PatchState>(width), height, sizeof(PatchState)});
  const std::size_t chosen = element_count({padded_count<PatchSources>(width), height, sizeof(PatchSources)});
  const std::size_t rows = RatedRows::bytes(width, static_cast<int>(finest.sources.size()), kBandRows);
  // Of the level, of the one before it, and of the one before that until its memory is freed.
  CountedBytes((states + chosen) / 16 * 21 + (smooth ? states : 0) + counted->threads() * rows);
  return Image<PatchState>(width, height);
}

}  // namespace recon
#endif
