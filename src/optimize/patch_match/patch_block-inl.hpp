// Pixels of a row and the planes that are offered to them, compared by vectors of patches; compiled once per
// instruction set (Highway's per-target inclusion).

#if defined(RECON_OPTIMIZE_PATCH_BLOCK_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef RECON_OPTIMIZE_PATCH_BLOCK_INL_HPP_
#undef RECON_OPTIMIZE_PATCH_BLOCK_INL_HPP_
#else
#define RECON_OPTIMIZE_PATCH_BLOCK_INL_HPP_
#endif

#include <hwy/highway.h>

#include "match/patch_lanes-inl.hpp"
#include "optimize/patch_match/patch_match.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

/// Planes that are offered to the pixels of a block, in order for each pixel.
struct OfferedPlanes {
  static constexpr int kCapacity = kMaxPatchLanes * kRegions;
  static_assert(kCoarserPlanes <= kRegions);

  alignas(64) float w[kCapacity];
  alignas(64) float wx[kCapacity];
  alignas(64) float wy[kCapacity];
  alignas(64) float sum[kCapacity];  ///< of the costs so far
  alignas(64) std::int32_t pixel[kCapacity];
  int count = 0;

  void add(int lane, const SlantedPlane& plane) {
    w[count] = plane.w, wx[count] = plane.wx, wy[count] = plane.wy;
    sum[count] = 0.0f;
    pixel[count++] = lane;
  }
  /// Moves plane `from` to an index that is not greater.
  void move(int from, int to) {
    w[to] = w[from], wx[to] = wx[from], wy[to] = wy[from];
    sum[to] = sum[from];
    pixel[to] = pixel[from];
  }
  SlantedPlane plane(int i) const { return {w[i], wx[i], wy[i]}; }
};

/// As many pixels of a row as a vector has lanes, each with its sources and the best plane so far.
class PatchBlock {
 public:
  PatchBlock(const PatchLevel& level, const PatchWeights& weights, const PatchSourceTable& table)
      : level_(level), table_(table), patches_(weights) {}

  /// Begins with the pixels x, x + stride, ... of row y, `stride` 1 or 2.
  void load(int x, int y, int stride) {
    x_ = x, stride_ = stride;
    count_ = std::min(patch_lanes(), (level_.reference.width - x + stride - 1) / stride);
    offered_.count = 0;
    patches_.load(level_.reference, x, y, stride);
  }

  int count() const { return count_; }  ///< of the pixels inside the image
  int x(int lane) const { return x_ + lane * stride_; }
  PatchSources sources(int lane) const { return sources_[lane]; }
  PatchState& best(int lane) { return best_[lane]; }
  ReferenceSums sums(int lane) const { return patches_.sums(lane); }

  /// Sets the sources of the pixels: sources_at(x).
  template <class SourcesAt>
  void choose(const SourcesAt& sources_at);

  /// Offers a plane to a pixel.
  void offer(int lane, const SlantedPlane& plane) {
    if (ranks_of_[lane] > 0) offered_.add(lane, plane);
  }

  /// Gives each pixel the first of the offered planes of lowest cost, if that is below the cost of its best
  /// plane; see mean_cost.
  void take_best();

  /// The cost of the planes of all pixels in one source, negative where it does not see the patch.
  HWY_INLINE FloatLanes costs(const PatchLevel::Source& source, const PlaneLanes& planes) const {
    return patches_.costs(one_source(source.warp, source.image), planes);
  }

 private:
  HWY_INLINE FloatLanes ranked_costs(int rank, const PlaneLanes& planes, IntLanes pixels) const;
  HWY_INLINE FloatLanes distant_costs(int rank, const PlaneLanes& planes, IntLanes pixels) const;
  void add_costs(int rank);
  void settle(int rank);

  const PatchLevel& level_;
  const PatchSourceTable& table_;
  PatchLanes patches_;
  int x_ = 0, stride_ = 1, count_ = 0, ranks_ = 0;
  SourceLanes ranked_[kMaxPatchSources];
  PatchSources sources_[kMaxPatchLanes];
  int ranks_of_[kMaxPatchLanes];
  float scale_[kMaxPatchLanes];  ///< 1 / the number of sources
  PatchState best_[kMaxPatchLanes];
  OfferedPlanes offered_;
};

template <class SourcesAt>
void PatchBlock::choose(const SourcesAt& sources_at) {
  ranks_ = 0;
  for (int lane = 0; lane < count_; ++lane) {
    sources_[lane] = sources_at(x(lane));
    ranks_of_[lane] = source_count(sources_[lane]);
    scale_[lane] = 1.0f / static_cast<float>(std::max(ranks_of_[lane], 1));
    ranks_ = std::max(ranks_, ranks_of_[lane]);
  }
  if (!table_.near) return;
  for (int rank = 0; rank < ranks_; ++rank) {
    alignas(64) std::int32_t index[kMaxPatchLanes] = {};
    for (int lane = 0; lane < count_; ++lane)
      if (rank < ranks_of_[lane]) index[lane] = static_cast<std::int32_t>(source_at(sources_[lane], rank));
    ranked_[rank] = sources_of(table_, hn::Load(I32(), index));
  }
}

void PatchBlock::take_best() {
  for (int rank = 0; offered_.count > 0; ++rank) {
    add_costs(rank);
    settle(rank);
  }
}

/// Adds the costs of the offered planes in the source of a rank.
void PatchBlock::add_costs(int rank) {
  const F32 df;
  const I32 di;
  OfferedPlanes& o = offered_;
  const int lanes = patch_lanes();
  const int padded = (o.count + lanes - 1) / lanes * lanes;
  std::fill(o.w + o.count, o.w + padded, kUnknown);  // not visible
  for (float* numbers : {o.wx, o.wy, o.sum}) std::fill(numbers + o.count, numbers + padded, 0.0f);
  std::fill(o.pixel + o.count, o.pixel + padded, 0);
  for (int i = 0; i < padded; i += lanes) {
    const PlaneLanes planes = {hn::Load(df, o.w + i), hn::Load(df, o.wx + i), hn::Load(df, o.wy + i)};
    const FloatLanes cost = ranked_costs(rank, planes, hn::Load(di, o.pixel + i));
    const auto seen = hn::Ge(cost, hn::Zero(df));
    const FloatLanes sum = hn::Load(df, o.sum + i);
    hn::Store(hn::Add(sum, hn::IfThenElse(seen, cost, hn::Set(df, kInvisibleCost))), df, o.sum + i);
  }
}

/// Takes the planes that have been compared with all sources of their pixels, and drops those
/// whose partial cost is not below the best.
void PatchBlock::settle(int rank) {
  int left = 0;
  for (int i = 0; i < offered_.count; ++i) {
    const int lane = offered_.pixel[i];
    const float cost = offered_.sum[i] * scale_[lane];
    if (!(cost < best_[lane].cost)) continue;
    if (rank + 1 == ranks_of_[lane])
      best_[lane] = {offered_.plane(i), cost};
    else
      offered_.move(i, left++);
  }
  offered_.count = left;
}

/// The costs in the sources of a rank.
/// @param pixels  the lane in which the pixel of each plane has been loaded
HWY_INLINE FloatLanes PatchBlock::ranked_costs(int rank, const PlaneLanes& planes, IntLanes pixels) const {
  if (!table_.near) return distant_costs(rank, planes, pixels);
  const PixelLanes lanes = hn::IndicesFromVec(I32(), pixels);
  return patches_.costs(looked_up(ranked_[rank], lanes), planes, lanes);
}

/// The same, source after source.
HWY_INLINE FloatLanes PatchBlock::distant_costs(int rank, const PlaneLanes& planes, IntLanes pixels) const {
  const F32 df;
  const I32 di;
  alignas(64) std::int32_t source[kMaxPatchLanes];
  hn::Store(pixels, di, source);
  std::uint32_t left = 0;
  for (int lane = 0; lane < patch_lanes(); ++lane) {
    source[lane] = static_cast<std::int32_t>(source_at(sources_[source[lane]], rank));
    if (source[lane] != static_cast<std::int32_t>(kNoSource)) left |= 1u << source[lane];
  }
  static_assert(kMaxSources <= 32);
  FloatLanes result = hn::Set(df, -1.0f);
  for (int s = 0; s < kMaxSources; ++s) {
    if ((left >> s & 1u) == 0) continue;
    const auto own = hn::RebindMask(df, hn::Eq(hn::Load(di, source), hn::Set(di, s)));
    const SourceLanes lanes = one_source(level_.sources[s].warp, level_.sources[s].image);
    result = hn::IfThenElse(own, patches_.costs(lanes, planes, hn::IndicesFromVec(di, pixels)), result);
  }
  return result;
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
