// The sums of slanted patches in SIMD, the samples of a patch side by side; compiled once per instruction set
// (Highway's per-target inclusion).

#if defined(RECON_MATCH_PATCH_SUMS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef RECON_MATCH_PATCH_SUMS_INL_HPP_
#undef RECON_MATCH_PATCH_SUMS_INL_HPP_
#else
#define RECON_MATCH_PATCH_SUMS_INL_HPP_
#endif

#include <hwy/highway.h>

#include "match/patch.hpp"
#include "match/sweep_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

/// Two signed 16-bit halves of a lane.
inline std::int32_t halves(std::int32_t low, std::int32_t high) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(low) & 0xFFFFu) |
         static_cast<std::int32_t>(static_cast<std::uint32_t>(high) << 16);
}

/// The sums of a visible patch with the samples of a source; see add_sample.
HWY_INLINE PatchSums patch_sums(const ReferencePatch& patch, const SampledImage& source,
                                const PatchWarp& warp) {
  const I32 di;
  const auto round = hn::Set(di, 1 << (kPatchExtraBits - 1));
  const auto u0 = hn::Add(hn::Set(di, warp.u), round), v0 = hn::Add(hn::Set(di, warp.v), round);
  const auto u_slopes = hn::Set(di, halves(warp.ux, warp.uy));
  const auto v_slopes = hn::Set(di, halves(warp.vx, warp.vy));
  const auto centre = hn::Set(di, 4 * patch.centre);
  const auto low_half = hn::Set(di, 0xFFFF);
  auto q_sum = hn::Zero(di), qq_sum = hn::Zero(di), qr_sum = hn::Zero(di);
  for (int i = 0; i < patch.padded; i += static_cast<int>(hn::Lanes(di))) {
    const auto offset = hn::Load(di, patch.offset + i);
    const auto u = hn::ShiftRight<kPatchExtraBits>(hn::Add(u0, multiply_add_pairs(offset, u_slopes)));
    const auto v = hn::ShiftRight<kPatchExtraBits>(hn::Add(v0, multiply_add_pairs(offset, v_slopes)));
    // Only the low halves are multiplied: those above are zero in one of the factors.
    const auto q = hn::And(hn::Sub(sample<2>(source, u, v), centre), low_half);
    const auto weighted = multiply_add_pairs(q, hn::Load(di, patch.weight + i));
    q_sum = hn::Add(q_sum, weighted);
    qq_sum = hn::Add(qq_sum, multiply_add_pairs(weighted, q));
    qr_sum = hn::Add(qr_sum, multiply_add_pairs(weighted, hn::Load(di, patch.value + i)));
  }
  return {hn::GetLane(hn::SumOfLanes(di, q_sum)), hn::GetLane(hn::SumOfLanes(di, qq_sum)),
          hn::GetLane(hn::SumOfLanes(di, qr_sum))};
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
