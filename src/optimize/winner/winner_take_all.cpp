#include "optimize/winner/winner_take_all.hpp"

#include <algorithm>

#include "core/error.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimize/winner/winner_take_all.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The bits of a cost that are compared: those of non-negative halves as signed 16-bit integers.
struct HalfLanes {
  using Lane = std::int16_t;
  static constexpr Lane infinite() { return static_cast<Lane>(kHalfInfinityBits); }
  static float value(Lane bits) { return to_float({static_cast<std::uint16_t>(bits)}); }
};
struct FloatLanes {
  using Lane = float;
  static Lane infinite() { return invalid_cost(); }
  static float value(Lane cost) { return cost; }
};

/// WinnerScan on vectors.
template <class Lanes, class Cost>
void scan_row(VolumeView<const Cost> volume, int y, Winner* winners) {
  using Lane = typename Lanes::Lane;
  using D = hn::ScalableTag<Lane>;
  const D tag;
  const int lanes = static_cast<int>(hn::Lanes(tag));
  const auto infinite = hn::Set(tag, Lanes::infinite());
  HWY_ALIGN Lane plane_lanes[hn::MaxLanes(tag)], cost_lanes[hn::MaxLanes(tag)],
      before_lanes[hn::MaxLanes(tag)], after_lanes[hn::MaxLanes(tag)], second_lanes[hn::MaxLanes(tag)];
  for (int x = 0; x < volume.width; x += lanes) {
    auto plane = hn::Set(tag, Lane{-1});
    auto cost = infinite, before = infinite, after = infinite, second = infinite;
    auto previous = infinite, min_earlier = infinite;
    auto just_won = hn::Lt(cost, cost);
    for (int d = 0; d < volume.planes; ++d) {
      const auto c = hn::Load(tag, reinterpret_cast<const Lane*>(volume.row(y, d) + x));
      const auto better = hn::Lt(c, cost);
      second = hn::IfThenElse(better, min_earlier, hn::IfThenElse(just_won, second, hn::Min(second, c)));
      after = hn::IfThenElse(better, infinite, hn::IfThenElse(just_won, c, after));
      before = hn::IfThenElse(better, previous, before);
      plane = hn::IfThenElse(better, hn::Set(tag, static_cast<Lane>(d)), plane);
      cost = hn::Min(cost, c);
      min_earlier = hn::Min(min_earlier, previous);
      previous = c;
      just_won = better;
    }
    hn::Store(plane, tag, plane_lanes);
    hn::Store(cost, tag, cost_lanes);
    hn::Store(before, tag, before_lanes);
    hn::Store(after, tag, after_lanes);
    hn::Store(second, tag, second_lanes);
    for (int i = 0; i < std::min(lanes, volume.width - x); ++i)
      winners[x + i] = {static_cast<int>(plane_lanes[i]), Lanes::value(cost_lanes[i]),
                        Lanes::value(before_lanes[i]), Lanes::value(after_lanes[i]),
                        Lanes::value(second_lanes[i])};
  }
}

void scan_halves(VolumeView<const Half> volume, int y, Winner* winners) {
  scan_row<HalfLanes>(volume, y, winners);
}
void scan_floats(VolumeView<const float> volume, int y, Winner* winners) {
  scan_row<FloatLanes>(volume, y, winners);
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(scan_halves);
HWY_EXPORT(scan_floats);

void winner_take_all(VolumeView<const Half> volume, int y, Winner* winners) {
  EXPECTS(y >= 0 && y < volume.height && volume.planes >= 1 && volume.planes <= kMaxPlanes);
  HWY_DYNAMIC_DISPATCH(scan_halves)(volume, y, winners);
}

void winner_take_all(VolumeView<const float> volume, int y, Winner* winners) {
  EXPECTS(y >= 0 && y < volume.height && volume.planes >= 1 && volume.planes <= kMaxPlanes);
  HWY_DYNAMIC_DISPATCH(scan_floats)(volume, y, winners);
}

}  // namespace recon
#endif
