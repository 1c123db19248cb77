#include "refine/median.hpp"

#include <limits>

#include "core/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "refine/median.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "refine/median_step.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

/// `median_of_nine` on vectors.
template <class V>
HWY_INLINE V median_of_vectors(V (&v)[9]) {
  const auto order = [&](int a, int b) HWY_ATTR {
    const V low = hn::Min(v[a], v[b]);
    v[b] = hn::Max(v[a], v[b]);
    v[a] = low;
  };
  for (int triple = 0; triple < 9; triple += 3) {
    order(triple + 1, triple + 2);
    order(triple, triple + 1);
    order(triple + 1, triple + 2);
  }
  order(1, 4);
  order(4, 7);
  order(1, 4);
  const V greatest_low = hn::Max(hn::Max(v[0], v[3]), v[6]);
  const V least_high = hn::Min(hn::Min(v[2], v[5]), v[8]);
  const V low = hn::Min(greatest_low, v[4]), high = hn::Max(greatest_low, v[4]);
  return hn::Max(low, hn::Min(high, least_high));
}

void median_row_on_target(ImageView<const float> in, int y, float* out) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int x = 0;
  const auto one = [&](int centre_x) {
    float v[9], next = kInfinity;
    for (int n = 0; n < 9; ++n) {
      const int i = centre_x + n % 3 - 1, j = y + n / 3 - 1;
      v[n] = known_or_infinity(in.contains(i, j) ? in(i, j) : kUnknown, next);
    }
    const float centre = in(centre_x, y);
    out[centre_x] = centre == centre ? median_of_nine(v) : centre;
  };
  one(x++);
  if (y > 0 && y + 1 < in.height) {
    for (; x + lanes < in.width; x += lanes) {
      const auto centre = hn::LoadU(d, in.row(y) + x);
      V v[9];
      auto next = hn::Set(d, kInfinity);
      for (int n = 0; n < 9; ++n) {
        const auto value = hn::LoadU(d, in.row(y + n / 3 - 1) + x + n % 3 - 1);
        const auto known = hn::Eq(value, value);
        v[n] = hn::IfThenElse(known, value, next);
        next = hn::IfThenElse(known, next, hn::Neg(next));
      }
      hn::StoreU(hn::IfThenElse(hn::Eq(centre, centre), median_of_vectors(v), centre), d, out + x);
    }
  }
  for (; x < in.width; ++x) one(x);
}

}  // namespace HWY_NAMESPACE
}  // namespace recon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(median_row_on_target);

void median_3x3(ImageView<const float> in, ImageView<float> out) {
  EXPECTS(in.width == out.width && in.height == out.height && in.data != out.data);
  parallel_for(
      in.height,
      [&](int y) {
        HWY_DYNAMIC_DISPATCH(median_row_on_target)
        (in, y, out.row(y));
      },
      16);
}

}  // namespace recon
#endif
