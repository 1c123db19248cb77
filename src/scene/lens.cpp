#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/hypotenuse.hpp"
#include "scene/camera.hpp"
#include "scene/polynomial.hpp"

namespace recon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Max tangent of the angle to the axis of distorted perspective lenses (89.9 degrees).
constexpr double kMaxTangent = 1000.0;
/// Max error of `unproject`, pixels.
constexpr double kMaxPixelError = 1e-7;
/// Below this omega the FOV model equals a pinhole in double precision.
constexpr double kMinOmega = 1e-6;

double length(Vec2d v) {
  return hypotenuse(v.x, v.y);
}

/// Value and derivative, with respect to r, of a polynomial in r^2.
template <std::size_t N>
std::pair<double, double> value_and_slope(const std::array<double, N>& p, double r) {
  const double s = r * r;
  double value = 0, slope = 0;
  for (std::size_t i = N; i-- > 0;) {
    slope = slope * s + value;
    value = value * s + p[i];
  }
  return {value, 2 * r * slope};
}

}  // namespace

Lens::Lens(const Camera& camera) {
  const std::vector<double>& q = camera.params;
  EXPECTS(q.size() == static_cast<std::size_t>(parameter_count(camera.model)));
  if (is_panorama(camera.model)) {
    formula_ = Formula::kSpherical;
    focal_ = {q[0] / (2 * std::numbers::pi), q[1] / std::numbers::pi};
    centre_ = {0.5 * q[0], 0.5 * q[1]};
    return;
  }
  const bool one_focal = focal_length_count(camera.model) == 1;
  fisheye_ = is_fisheye(camera.model);
  focal_ = one_focal ? Vec2d{q[0], q[0]} : Vec2d{q[0], q[1]};
  centre_ = one_focal ? Vec2d{q[1], q[2]} : Vec2d{q[2], q[3]};
  set_distortion(camera);
  limit_ = find_limit();
}

void Lens::set_distortion(const Camera& camera) {
  const std::vector<double>& q = camera.params;
  switch (camera.model) {
    case CameraModel::kSimplePinhole:
    case CameraModel::kPinhole:
    case CameraModel::kSimpleFisheye:
    case CameraModel::kFisheye:
    case CameraModel::kEquirectangular:
      break;
    case CameraModel::kSimpleRadialFisheye:
    case CameraModel::kSimpleRadial:
      numerator_ = {1, q[3]};
      break;
    case CameraModel::kRadialFisheye:
    case CameraModel::kRadial:
      numerator_ = {1, q[3], q[4]};
      break;
    case CameraModel::kOpenCv:
      numerator_ = {1, q[4], q[5]};
      tangential_ = {q[7], q[6]};
      break;
    case CameraModel::kOpenCvFisheye:
      numerator_ = {1, q[4], q[5], q[6], q[7]};
      break;
    case CameraModel::kFullOpenCv:
      numerator_ = {1, q[4], q[5], q[8]};
      tangential_ = {q[7], q[6]};
      denominator_ = {1, q[9], q[10], q[11]};
      break;
    case CameraModel::kFov:
      if (std::abs(q[4]) > kMinOmega) formula_ = Formula::kFov, shape_ = {q[4], 0};
      break;
    case CameraModel::kSimpleDivision:
    case CameraModel::kDivision:
      formula_ = Formula::kDivision, shape_ = {q.back(), 0};
      break;
    case CameraModel::kEucm:
      formula_ = Formula::kUnified, shape_ = {q[4], q[5]};
      break;
    case CameraModel::kThinPrismFisheye:
      numerator_ = {1, q[4], q[5], q[8], q[9]};
      tangential_ = {q[7], q[6]};
      prism_ = {q[10], q[11]};
      break;
    case CameraModel::kRadTanThinPrismFisheye:
      numerator_ = {1, q[4], q[5], q[6], q[7], q[8], q[9]};
      tangential_ = {q[10], q[11]};
      prism_ = {q[12], q[14]};
      outer_prism_ = {q[13], q[15]};
      bent_behind_ = true;
      break;
  }
}

/// The largest radius for the formulas that are no quotient of polynomials.
double Lens::closed_limit() const {
  if (formula_ == Formula::kDivision) return shape_.x > 0 ? 0.5 / std::sqrt(shape_.x) : kInfinity;
  const bool valid = formula_ == Formula::kFov || (shape_.x >= 0 && shape_.x <= 1 && shape_.y > 0);
  return valid ? kInfinity : 0;
}

/// The largest |q| up to which q -> q + 2 q (p . q) + (p + s) |q|^2 + s' |q|^4 is injective: there the
/// symmetric part of its Jacobian is positive definite.
double Lens::bent_limit() const {
  return positive_until({1, -6 * length(tangential_) - 2 * length(prism_), 0, -4 * length(outer_prism_)},
                        kMaxTangent);
}

double Lens::find_limit() const {
  if (formula_ != Formula::kPolynomial) return closed_limit();
  const double cap = fisheye_ ? std::numbers::pi : kMaxTangent;
  const Polynomial n = in_powers_of_r(numerator_), d = in_powers_of_r(denominator_);
  const double bend = bent_behind_ ? 0 : 6 * length(tangential_) + 2 * length(prism_);
  const auto is_zero = [](double c) { return c == 0; };
  const bool polynomial = !std::all_of(numerator_.begin() + 1, numerator_.end(), is_zero) ||
                          !std::all_of(denominator_.begin() + 1, denominator_.end(), is_zero);
  if (!polynomial && bend == 0 && !bent_behind_) return fisheye_ ? cap : kInfinity;

  const double finite = positive_until(d, cap);  // up to the first pole of g
  // d(r n / d)/dr - bend r, times d^2, and n / d - bend r, times d.
  const Polynomial dd = product(d, d), bend_r{0, bend}, r{0, 1};
  const Polynomial slope =
      difference(product(derivative(product(r, n)), d), product(product(r, n), derivative(d)));
  const double rising = positive_until(difference(slope, product(bend_r, dd)), finite);
  const double limit = positive_until(difference(n, product(bend_r, d)), rising);
  return bent_behind_ ? positive_until(difference({bent_limit()}, product(r, n)), limit) : limit;
}

Lens::Radial Lens::fov(double r) const {
  const double omega = shape_.x, slope = 2 * std::tan(0.5 * omega);
  if (r * std::abs(slope) < 1e-4) {  // atan(x) = x - x^3 / 3 + O(x^5)
    const double cubic = slope * slope * slope / (3 * omega);
    return {slope / omega - cubic * r * r, -2 * cubic * r};
  }
  const double g = std::atan(r * slope) / (r * omega);
  return {g, (slope / (omega * (1 + r * r * slope * slope)) - g) / r};
}

Lens::Radial Lens::radial(double r) const {
  if (formula_ == Formula::kFov) return fov(r);
  if (formula_ == Formula::kDivision) {
    const double root = std::sqrt(1 - 4 * shape_.x * r * r), sum = 1 + root;
    return {2 / sum, 8 * shape_.x * r / (root * sum * sum)};
  }
  if (formula_ == Formula::kUnified) {
    const double root = std::sqrt(1 + shape_.y * r * r), sum = shape_.x * root + 1 - shape_.x;
    return {1 / sum, -shape_.x * shape_.y * r / (root * sum * sum)};
  }
  const auto [n, n_r] = value_and_slope(numerator_, r);
  const auto [d, d_r] = value_and_slope(denominator_, r);
  return {n / d, (n_r * d - n * d_r) / (d * d)};
}

Vec2d Lens::distort(Vec2d b) const {
  const double rr = b.x * b.x + b.y * b.y;
  const double g = formula_ == Formula::kPolynomial ? evaluate(numerator_, rr) / evaluate(denominator_, rr)
                                                    : radial(std::sqrt(rr)).g;
  if (bent_behind_) return bend({g * b.x, g * b.y});
  const double scale = g + 2 * (tangential_.x * b.x + tangential_.y * b.y);
  return {b.x * scale + (tangential_.x + prism_.x) * rr, b.y * scale + (tangential_.y + prism_.y) * rr};
}

/// What tangential distortion and thin prism make of radially distorted coordinates.
Vec2d Lens::bend(Vec2d q) const {
  const double rr = q.x * q.x + q.y * q.y, scale = 1 + 2 * (tangential_.x * q.x + tangential_.y * q.y);
  return {q.x * scale + (tangential_.x + prism_.x + outer_prism_.x * rr) * rr,
          q.y * scale + (tangential_.y + prism_.y + outer_prism_.y * rr) * rr};
}

/// The q that `bend` maps to `bent`, by Newton's method; where it does not converge, another one, whose
/// error `undistort` sees.
Vec2d Lens::unbend(Vec2d bent) const {
  constexpr int kMaxSteps = 50;
  Vec2d q = bent;
  double error = length(bend(q) - bent);
  for (int i = 0; i < kMaxSteps && error > 0; ++i) {
    const double rr = q.x * q.x + q.y * q.y, along = 2 * (tangential_.x * q.x + tangential_.y * q.y);
    const Vec2d t{2 * (tangential_.x + prism_.x + 2 * outer_prism_.x * rr),
                  2 * (tangential_.y + prism_.y + 2 * outer_prism_.y * rr)};
    const double a11 = 1 + along + (2 * tangential_.x + t.x) * q.x;
    const double a12 = 2 * tangential_.y * q.x + t.x * q.y;
    const double a21 = 2 * tangential_.x * q.y + t.y * q.x;
    const double a22 = 1 + along + (2 * tangential_.y + t.y) * q.y;
    const double det = a11 * a22 - a12 * a21;
    if (!(det > 0)) break;
    const Vec2d e = bend(q) - bent;
    const Vec2d next{q.x - (a22 * e.x - a12 * e.y) / det, q.y - (a11 * e.y - a21 * e.x) / det};
    const double next_error = length(bend(next) - bent);
    if (!(next_error < error)) break;
    q = next, error = next_error;
  }
  return q;
}

/// Every direction but that of the zero vector has an image.
std::optional<Vec2d> Lens::project_panorama(Vec3d x) const {
  const double level = hypotenuse(x.x, x.z);
  if (level == 0 && x.y == 0) return std::nullopt;
  const double longitude = std::atan2(x.x, x.z), latitude = std::atan2(x.y, level);
  return Vec2d{focal_.x * longitude + centre_.x, focal_.y * latitude + centre_.y};
}

/// The direction of a longitude and a latitude; empty for those outside the photo.
std::optional<Vec3d> Lens::unproject_panorama(Vec2d base) const {
  constexpr double kRounding = 1e-12;
  if (std::abs(base.x) > std::numbers::pi + kRounding ||
      std::abs(base.y) > 0.5 * std::numbers::pi + kRounding)
    return std::nullopt;
  const double level = std::cos(base.y);
  return Vec3d{level * std::sin(base.x), std::sin(base.y), level * std::cos(base.x)};
}

std::optional<Vec2d> Lens::project(Vec3d x) const {
  const double rho = std::sqrt(x.x * x.x + x.y * x.y);
  if (!std::isfinite(rho) || !std::isfinite(x.z)) return std::nullopt;
  if (formula_ == Formula::kSpherical) return project_panorama(x);
  if (x.z <= 0 && (!fisheye_ || rho == 0)) return std::nullopt;
  const double r = fisheye_ ? std::atan2(rho, x.z) : rho / x.z;
  if (!(r < limit_)) return std::nullopt;
  // Near the axis theta / rho tends to 1 / z.
  const double scale = fisheye_ && rho > 1e-12 * x.z ? r / rho : 1 / x.z;
  const Vec2d distorted = distort({x.x * scale, x.y * scale});
  return Vec2d{focal_.x * distorted.x + centre_.x, focal_.y * distorted.y + centre_.y};
}

/// The r near `estimate` with r g(r) = distorted_radius, if rounding leaves no doubt about it: of the
/// floating-point numbers around it, r g(r) exceeds the distorted radius at all above and at none below.
std::optional<double> Lens::isolated_radius(double estimate, double distorted_radius) const {
  constexpr int kNumbers = 16, kMinClear = 6;
  const auto number = [bits = std::bit_cast<std::int64_t>(estimate)](int i) {
    return std::bit_cast<double>(bits + i - kNumbers / 2);
  };
  int below = 0;
  bool rises = true;
  for (int i = 0; i < kNumbers; ++i) {
    const double r = number(i), g = evaluate(numerator_, r * r) / evaluate(denominator_, r * r);
    const bool is_below = !(r * g > distorted_radius);
    rises &= !is_below || below == i;
    below += is_below;
  }
  if (!rises || below < kMinClear || kNumbers - below < kMinClear) return std::nullopt;
  return 0.5 * (number(below - 1) + number(below));
}

/// The r in (0, hi) with r g(r) = distorted_radius that Newton's method finds; empty where it does not
/// converge, or rounding makes the root ambiguous, as the arc tangent of the FOV model often does.
std::optional<double> Lens::newton_radius(double r, double hi, double distorted_radius) const {
  constexpr int kMaxSteps = 10;
  constexpr double kMin = 1e-100, kMinSlope = 0.4, kSettled = 1e-9;  // the next step is below the precision
  for (int i = 0; i < kMaxSteps && formula_ == Formula::kPolynomial && kMin < r && r < hi; ++i) {
    const auto [g, g_r] = radial(r);
    const double slope = g + r * g_r, step = (r * g - distorted_radius) / slope;
    r -= step;
    if (slope < kMinSlope) return std::nullopt;
    if (std::abs(step) <= kSettled * r) return r < hi ? isolated_radius(r, distorted_radius) : std::nullopt;
  }
  return std::nullopt;
}

/// The r in [0, limit) with r g(r) = distorted_radius: Newton's method or, where that fails, the same with a
/// shrinking bracket. Beyond the limit, the r just below it (from which the tangential part may still be
/// solved).
std::optional<double> Lens::solve_radius(double distorted_radius) const {
  double lo = 0, hi = limit_;
  if (hi == kInfinity) {
    for (hi = 1; hi * radial(hi).g < distorted_radius; hi *= 2)
      if (hi > 1e8) return std::nullopt;
  }
  const double start = std::min(distorted_radius, 0.5 * (lo + hi));
  if (const auto root = newton_radius(start, hi, distorted_radius)) return root;
  double r = start;
  for (int i = 0; i < 100; ++i) {
    const auto [g, g_r] = radial(r);
    const double error = r * g - distorted_radius;
    (error > 0 ? hi : lo) = r;
    double next = r - error / (g + r * g_r);
    if (!(lo < next && next < hi)) next = 0.5 * (lo + hi);
    if (std::abs(next - r) <= 1e-16 * r || next == r) break;
    r = next;
  }
  return r;
}

/// The base coordinates that `distort` maps to `distorted`: solves for the radius exactly if the lens is
/// radial; otherwise continues with damped Newton iterations, which cannot leave the domain and so cannot
/// find a second root.
std::optional<Vec2d> Lens::undistort(Vec2d distorted) const {
  if (bent_behind_) return undistort_bent(distorted);
  const double radius = length(distorted);
  if (radius == 0 && length(prism_) == 0) return Vec2d{0, 0};
  const std::optional<double> r0 = solve_radius(radius);
  if (!r0) return std::nullopt;
  const double scale = radius > 0 ? *r0 / radius : 0;
  Vec2d b{distorted.x * scale, distorted.y * scale};

  const auto residual = [&](Vec2d at) { return distort(at) - distorted; };
  Vec2d e = residual(b);
  double r = length(b), error = length(e);
  bool improved = true;
  for (int i = 0; i < 50 && error > 0 && improved; ++i) {
    const auto [g, g_r] = radial(r);
    const double k = r > 0 ? g_r / r : 0, diagonal = g + 2 * (tangential_.x * b.x + tangential_.y * b.y);
    const Vec2d t{2 * (tangential_.x + prism_.x), 2 * (tangential_.y + prism_.y)};
    const double a11 = diagonal + k * b.x * b.x + (2 * tangential_.x + t.x) * b.x;
    const double a12 = k * b.x * b.y + 2 * tangential_.y * b.x + t.x * b.y;
    const double a21 = k * b.x * b.y + 2 * tangential_.x * b.y + t.y * b.x;
    const double a22 = diagonal + k * b.y * b.y + (2 * tangential_.y + t.y) * b.y;
    const double det = a11 * a22 - a12 * a21;
    if (!(det > 0)) break;
    const Vec2d step{(a22 * e.x - a12 * e.y) / det, (a11 * e.y - a21 * e.x) / det};
    improved = false;  // stays so at a root up to rounding, or where there is none
    for (double damping = 1; damping > 1e-6 && !improved; damping *= 0.5) {
      const Vec2d next{b.x - damping * step.x, b.y - damping * step.y};
      if (next.x == b.x && next.y == b.y) break;
      const double next_r = length(next);
      if (!(next_r < limit_)) continue;
      const Vec2d next_e = residual(next);
      const double next_error = length(next_e);
      if (!(next_error < error)) continue;
      b = next, e = next_e, r = next_r, error = next_error;
      improved = true;
    }
  }
  if (length({focal_.x * e.x, focal_.y * e.y}) > kMaxPixelError || !(r < limit_)) return std::nullopt;
  return b;
}

/// The same where radial distortion comes first.
std::optional<Vec2d> Lens::undistort_bent(Vec2d distorted) const {
  const Vec2d q = unbend(distorted);
  const double radius = length(q);
  const double r = radius > 0 ? solve_radius(radius).value_or(kInfinity) : 0;
  if (!(r < limit_)) return std::nullopt;
  const double scale = radius > 0 ? r / radius : 0;
  const Vec2d b{q.x * scale, q.y * scale};
  const Vec2d e = distort(b) - distorted;
  if (!(length({focal_.x * e.x, focal_.y * e.y}) <= kMaxPixelError)) return std::nullopt;
  return b;
}

std::optional<Vec3d> Lens::unproject(Vec2d pixel) const {
  const Vec2d distorted{(pixel.x - centre_.x) / focal_.x, (pixel.y - centre_.y) / focal_.y};
  if (!std::isfinite(distorted.x) || !std::isfinite(distorted.y)) return std::nullopt;
  if (formula_ == Formula::kSpherical) return unproject_panorama(distorted);
  const std::optional<Vec2d> b = undistort(distorted);
  if (!b) return std::nullopt;
  if (!fisheye_) return normalized(Vec3d{b->x, b->y, 1.0});
  const double theta = length(*b);
  const double scale = theta > 1e-12 ? std::sin(theta) / theta : 1.0;
  return Vec3d{b->x * scale, b->y * scale, std::cos(theta)};
}

}  // namespace recon
