#include <limits>

#include "scene/camera.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "scene/lens_row.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#ifndef RECON_SCENE_LENS_ROW_ONCE
#define RECON_SCENE_LENS_ROW_ONCE
namespace recon {

/// A perspective lens whose distortion is a quotient of polynomials, as in Lens.
struct PolynomialLens {
  const std::array<double, 5>& numerator;
  const std::array<double, 4>& denominator;
  Vec2d tangential, prism, focal, centre;
  double limit;
};

}  // namespace recon
#endif

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of at most Lens::kRowSlack elements.
using F64 = hn::CappedTag<double, 8>;
using V64 = hn::Vec<F64>;

HWY_INLINE V64 number(double value) {
  return hn::Set(F64(), value);
}

template <std::size_t N>
HWY_INLINE V64 polynomial(const std::array<double, N>& p, V64 s) {
  V64 sum = number(p[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = hn::Add(hn::Mul(sum, s), number(p[i]));
  return sum;
}

void project_points(const PolynomialLens& lens, const double* points_x, double point_y, int count,
                    double* pixel_x, double* pixel_y) {
  const F64 d;
  const V64 y = number(point_y), nan = number(std::numeric_limits<double>::quiet_NaN());
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(d))) {
    const V64 x = hn::LoadU(d, points_x + i);
    const V64 rr = hn::Add(hn::Mul(x, x), hn::Mul(y, y));
    const auto visible = hn::Lt(hn::Sqrt(rr), number(lens.limit));
    const V64 g = hn::Div(polynomial(lens.numerator, rr), polynomial(lens.denominator, rr));
    const V64 along = hn::Add(hn::Mul(number(lens.tangential.x), x), hn::Mul(number(lens.tangential.y), y));
    const V64 scale = hn::Add(g, hn::Mul(number(2), along));
    const auto pixel = [&](V64 base, double across, double focal, double centre) HWY_ATTR {
      const V64 distorted = hn::Add(hn::Mul(base, scale), hn::Mul(number(across), rr));
      return hn::IfThenElse(visible, hn::Add(hn::Mul(number(focal), distorted), number(centre)), nan);
    };
    hn::StoreU(pixel(x, lens.tangential.x + lens.prism.x, lens.focal.x, lens.centre.x), d, pixel_x + i);
    hn::StoreU(pixel(y, lens.tangential.y + lens.prism.y, lens.focal.y, lens.centre.y), d, pixel_y + i);
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(project_points);

void Lens::project_row(const double* x, double y, int count, double* pixel_x, double* pixel_y) const {
  if (!fisheye_ && formula_ == Formula::kPolynomial) {
    // Of perspective lenses, the further coefficients are 0.
    const std::array<double, 5> numerator{numerator_[0], numerator_[1], numerator_[2], numerator_[3],
                                          numerator_[4]};
    const PolynomialLens lens{numerator, denominator_, tangential_, prism_, focal_, centre_, limit_};
    HWY_DYNAMIC_DISPATCH(project_points)(lens, x, y, count, pixel_x, pixel_y);
    return;
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < count; ++i) {
    const Vec2d pixel = project({x[i], y, 1.0}).value_or(Vec2d{kNone, kNone});
    pixel_x[i] = pixel.x, pixel_y[i] = pixel.y;
  }
}

}  // namespace recon
#endif
