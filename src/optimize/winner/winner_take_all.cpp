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

/// WinnerScan on vectors: the bits of non-negative halves are compared as signed 16-bit integers.
void winner_take_all_on_target(VolumeView<const Half> volume, int y, Winner* winners) {
  using D = hn::ScalableTag<std::int16_t>;
  const D d16;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const auto infinite = hn::Set(d16, static_cast<std::int16_t>(kHalfInfinityBits));
  HWY_ALIGN std::int16_t plane_lanes[hn::MaxLanes(d16)], cost_lanes[hn::MaxLanes(d16)],
      before_lanes[hn::MaxLanes(d16)], after_lanes[hn::MaxLanes(d16)], second_lanes[hn::MaxLanes(d16)];
  for (int x = 0; x < volume.width; x += lanes) {
    auto plane = hn::Set(d16, std::int16_t{-1});
    auto cost = infinite, before = infinite, after = infinite, second = infinite;
    auto previous = infinite, min_earlier = infinite;
    auto just_won = hn::Lt(cost, cost);
    for (int d = 0; d < volume.planes; ++d) {
      const auto c = hn::Load(d16, reinterpret_cast<const std::int16_t*>(volume.row(y, d) + x));
      const auto better = hn::Lt(c, cost);
      second = hn::IfThenElse(better, min_earlier, hn::IfThenElse(just_won, second, hn::Min(second, c)));
      after = hn::IfThenElse(better, infinite, hn::IfThenElse(just_won, c, after));
      before = hn::IfThenElse(better, previous, before);
      plane = hn::IfThenElse(better, hn::Set(d16, static_cast<std::int16_t>(d)), plane);
      cost = hn::Min(cost, c);
      min_earlier = hn::Min(min_earlier, previous);
      previous = c;
      just_won = better;
    }
    hn::Store(plane, d16, plane_lanes);
    hn::Store(cost, d16, cost_lanes);
    hn::Store(before, d16, before_lanes);
    hn::Store(after, d16, after_lanes);
    hn::Store(second, d16, second_lanes);
    const auto value = [](std::int16_t bits) { return to_float({static_cast<std::uint16_t>(bits)}); };
    for (int i = 0; i < std::min(lanes, volume.width - x); ++i)
      winners[x + i] = {plane_lanes[i], value(cost_lanes[i]), value(before_lanes[i]), value(after_lanes[i]),
                        value(second_lanes[i])};
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(winner_take_all_on_target);

void winner_take_all(VolumeView<const Half> volume, int y, Winner* winners) {
  EXPECTS(y >= 0 && y < volume.height && volume.planes >= 1 && volume.planes <= kMaxPlanes);
  HWY_DYNAMIC_DISPATCH(winner_take_all_on_target)(volume, y, winners);
}

}  // namespace recon
#endif
