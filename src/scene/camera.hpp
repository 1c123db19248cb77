#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/vec.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// The camera models of COLMAP 4; the values are the ids of its binary format.
enum class CameraModel {
  kSimplePinhole = 0,
  kPinhole = 1,
  kSimpleRadial = 2,
  kRadial = 3,
  kOpenCv = 4,
  kOpenCvFisheye = 5,
  kFullOpenCv = 6,
  kFov = 7,
  kSimpleRadialFisheye = 8,
  kRadialFisheye = 9,
  kThinPrismFisheye = 10,
  kRadTanThinPrismFisheye = 11,
  kSimpleDivision = 12,
  kDivision = 13,
  kSimpleFisheye = 14,
  kFisheye = 15,
  kEucm = 16,
  kEquirectangular = 17,
};

/// A COLMAP camera: model, image size in pixels and the parameters in COLMAP's order.
struct Camera {
  CameraModel model = CameraModel::kPinhole;
  int width = 0;
  int height = 0;
  std::vector<double> params;
};

/// COLMAP's name of a model, such as "OPENCV_FISHEYE".
std::string_view model_name(CameraModel model);

/// The model with a given name, or with a given id of COLMAP's binary format; empty if it is not supported.
std::optional<CameraModel> model_from_name(std::string_view name);
std::optional<CameraModel> model_from_id(int id);

/// Number of parameters of a model.
int parameter_count(CameraModel model);

/// Number of focal lengths of a model, 1 or 2: its first parameters, before those of the principal point. A
/// panorama has neither, but width and height: 0.
int focal_length_count(CameraModel model);

/// Whether rays are mapped by their angle to the axis, not by its tangent.
bool is_fisheye(CameraModel model);

/// Whether straight lines stay straight but for a small distortion: no fisheye, nor a model made for one.
bool is_perspective(CameraModel model);

/// Whether the photo shows all directions, longitude along x and latitude along y; its left edge continues at
/// its right one.
bool is_panorama(CameraModel model);

/// The pinhole camera if the model is SIMPLE_PINHOLE or PINHOLE; empty otherwise.
std::optional<Pinhole> as_pinhole(const Camera& camera);

/// The camera of the same photo in another size.
Camera scaled_camera(const Camera& camera, int width, int height);

/// The COLMAP camera of a pinhole.
Camera to_camera(const Pinhole& pinhole);

/// The projection of a camera, prepared for many points.
///
/// All COLMAP models share one formula. With b the base coordinates of a point, r = |b| and f the focal
/// lengths,
///   distorted = g(r) b + 2 b (p . b) + (p + s) r^2,   pixel = f distorted + c,   p = (p2, p1), s = (sx1,
///   sy1);
/// b = (x, y) / z for perspective models and theta (x, y) / |(x, y)| for fisheye models, theta the angle to
/// the axis; g is a polynomial or a quotient of polynomials in r^2, or
///   atan(2 r tan(omega / 2)) / (r omega)           for FOV,
///   2 / (1 + sqrt(1 - 4 k r^2))                    for division models (Fitzgibbon 2001),
///   1 / (alpha sqrt(1 + beta r^2) + 1 - alpha)     for EUCM (Khomutenko, Garcia, Martinet 2016).
/// EQUIRECTANGULAR has b = (longitude, latitude) = (atan2(x, z), atan2(y, |(x, z)|)), g = 1, and the focal
/// lengths (width / 2 pi, height / pi).
/// RAD_TAN_THIN_PRISM_FISHEYE distorts radially first: q = g(r) b takes the place of b and |q| that of r
/// behind it, and (s1, s3) |q|^4 is added.
///
/// The domain is the disc of b in which the map is provably injective: there the symmetric part of its
/// Jacobian is positive definite, since d(r g)/dr and g exceed (6 |p| + 2 |s|) r. Fisheye lenses extend
/// beyond 90 degrees where their distortion allows it; COLMAP 3.8 is limited to 90 degrees and agrees within
/// them.
class Lens {
 public:
  /// @throws std::logic_error when the number of parameters is not that of the model
  explicit Lens(const Camera& camera);

  /// Projects a point in camera coordinates to pixel coordinates; empty where it has no image (behind a
  /// perspective camera, or beyond the angle up to which the distortion is monotonic). Thread-safe.
  std::optional<Vec2d> project(Vec3d x_in_cam) const;

  /// Projects the points (x[i], y, 1) for i in [0, count), finite, to the same pixel coordinates as
  /// `project`, NaN where it has none. The arrays are kRowSlack elements longer than `count`. Thread-safe.
  void project_row(const double* x, double y, int count, double* pixel_x, double* pixel_y) const;
  static constexpr int kRowSlack = 8;

  /// The unit direction in camera coordinates that `project` maps to `pixel`; empty if none.
  /// |project(unproject(p)) - p| < 1e-6 pixels. Thread-safe.
  std::optional<Vec3d> unproject(Vec2d pixel) const;

  /// Focal lengths and principal point in pixels.
  Vec2d focal() const { return focal_; }
  Vec2d principal_point() const { return centre_; }

 private:
  struct Radial {
    double g;    ///< the factor g(r)
    double g_r;  ///< its derivative dg/dr
  };

  /// What g is.
  enum class Formula { kPolynomial, kFov, kDivision, kUnified, kSpherical };

  void set_distortion(const Camera& camera);
  std::optional<Vec2d> project_panorama(Vec3d x) const;
  std::optional<Vec3d> unproject_panorama(Vec2d base) const;
  Radial radial(double r) const;
  Radial fov(double r) const;
  Vec2d distort(Vec2d base) const;
  Vec2d bend(Vec2d q) const;
  Vec2d unbend(Vec2d bent) const;
  std::optional<double> isolated_radius(double estimate, double distorted_radius) const;
  std::optional<double> newton_radius(double start, double hi, double distorted_radius) const;
  std::optional<double> solve_radius(double distorted_radius) const;
  std::optional<Vec2d> undistort(Vec2d distorted) const;
  std::optional<Vec2d> undistort_bent(Vec2d distorted) const;
  double find_limit() const;
  double closed_limit() const;
  double bent_limit() const;

  bool fisheye_ = false;
  Formula formula_ = Formula::kPolynomial;
  Vec2d shape_{0, 0};                     ///< omega; k; alpha and beta
  std::array<double, 7> numerator_{1};    ///< of g, in powers of r^2
  std::array<double, 4> denominator_{1};  ///< of g, in powers of r^2
  Vec2d tangential_{0, 0};                ///< p = (p2, p1)
  Vec2d prism_{0, 0};                     ///< s = (sx1, sy1) or (s0, s2)
  Vec2d outer_prism_{0, 0};               ///< (s1, s3)
  bool bent_behind_ = false;              ///< radial distortion comes first
  Vec2d focal_{1, 1}, centre_{0, 0};
  double limit_ = 0;  ///< radius of the domain in base coordinates
};

}  // namespace recon
