#include "scene/calibration_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

#include "core/eigen.hpp"
#include "core/parallel.hpp"
#include "core/quantile.hpp"
#include "scene/view_geometry.hpp"

namespace recon {

namespace {

/// With fewer displacements the parameters explain much by chance.
constexpr std::size_t kMinDisplacements = 20;
constexpr int kSteps = 10;
/// Scale of the weights, of the median of the lengths.
constexpr double kScale = 2;

constexpr int kParameters = 7;
using Rows = Eigen::Matrix<double, 2, kParameters>;

/// What each parameter moves at a place: a shift and a linear map of x, the same of y, and a bend.
Rows rows_at(Eigen::Vector2d place) {
  const Eigen::Vector2d bend = place * place.squaredNorm();
  Rows rows;
  rows << 1, place.x(), place.y(), 0, 0, 0, bend.x(),  //
      0, 0, 0, 1, place.x(), place.y(), bend.y();
  return rows;
}

/// The squared error of a length under which it keeps its weight, divided by the same and the length's.
double weight_of(double length, double scale) {
  const double root = scale > 0 ? 1 / (1 + length * length / (scale * scale)) : 1;
  return root * root;
}

}  // namespace

std::vector<double> remaining_errors(std::span<const Displacement> displacements, Vec2d centre) {
  std::vector<double> lengths;
  double radius = 0;
  for (const Displacement& it : displacements) {
    lengths.push_back(it.length());
    radius = std::max(radius, hypotenuse(it.observed.x - centre.x, it.observed.y - centre.y));
  }
  if (displacements.size() < kMinDisplacements || !(radius > 0)) return lengths;

  std::vector<Rows> rows;
  std::vector<Eigen::Vector2d> vectors;
  for (const Displacement& it : displacements) {
    rows.push_back(rows_at(Eigen::Vector2d(it.observed.x - centre.x, it.observed.y - centre.y) / radius));
    vectors.emplace_back(it.projected.x - it.observed.x, it.projected.y - it.observed.y);
  }
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> ordered = lengths;
    const double scale = kScale * quantile(ordered, 0.5);
    // Displacements along a line leave parameters free.
    Eigen::Matrix<double, kParameters, kParameters> matrix = 1e-9 * decltype(matrix)::Identity();
    Eigen::Matrix<double, kParameters, 1> gradient = decltype(gradient)::Zero();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double weight = weight_of(lengths[i], scale);
      matrix += weight * rows[i].transpose() * rows[i];
      gradient += weight * rows[i].transpose() * vectors[i];
    }
    const Eigen::Matrix<double, kParameters, 1> motion = matrix.ldlt().solve(gradient);
    for (std::size_t i = 0; i < rows.size(); ++i) lengths[i] = (vectors[i] - rows[i] * motion).norm();
  }
  return lengths;
}
namespace {

namespace limit = calibration_limit;

/// Observations of a view that are projected: enough for a median.
constexpr std::size_t kSamples = 2000;

/// Finds points by their ids.
class PointsById {
 public:
  explicit PointsById(const Scene& scene) {
    index_.reserve(scene.points.size());
    for (std::size_t i = 0; i < scene.points.size(); ++i) index_.emplace_back(scene.points[i].id, i);
    if (!std::ranges::is_sorted(index_)) std::ranges::sort(index_);
  }

  std::optional<std::size_t> find(std::uint64_t id) const {
    const auto it = std::lower_bound(index_.begin(), index_.end(), std::pair{id, std::size_t{0}});
    if (it == index_.end() || it->first != id) return std::nullopt;
    return it->second;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::size_t>> index_;
};

std::vector<Observation> observations_of_points(const View& view) {
  std::vector<Observation> of_points;
  for (const Observation& it : view.observations)
    if (it.point_id != kNoPoint) of_points.push_back(it);
  return of_points;
}

/// Whether all observations are at one place, such as (0, 0) of exporters that know none.
bool are_placeholders(const std::vector<Observation>& observations) {
  return observations.size() > 1 && std::ranges::all_of(observations, [&](const Observation& it) {
           return it.pixel.x == observations.front().pixel.x && it.pixel.y == observations.front().pixel.y;
         });
}

/// The observations of a view that are projected.
std::vector<Observation> sampled(const View& view) {
  const std::vector<Observation> of_points = observations_of_points(view);
  if (are_placeholders(of_points)) return {};
  std::vector<Observation> samples;
  const std::size_t step = std::max<std::size_t>(1, of_points.size() / kSamples);
  for (std::size_t i = 0; i < of_points.size(); i += step) samples.push_back(of_points[i]);
  return samples;
}

/// The errors of a view's observations, in pixels; infinite where a point has no image.
struct Errors {
  std::vector<double> pixels;
  std::vector<double> moved;  ///< the same when the photo may move
  std::size_t behind = 0;
};

Errors errors_of(const Scene& scene, const View& view, const Lens& lens, const PointsById& points) {
  Errors errors;
  std::vector<Displacement> displacements;
  for (const Observation& observation : sampled(view)) {
    const auto point = points.find(observation.point_id);
    if (!point) continue;
    const Vec3d x = view.cam_from_world * scene.points[*point].position;
    const std::optional<Vec2d> pixel = lens.project(x);
    errors.behind += !pixel && x.z <= 0 ? 1 : 0;
    if (pixel) displacements.push_back({observation.pixel, *pixel});
    errors.pixels.push_back(pixel ? displacements.back().length() : std::numeric_limits<double>::infinity());
  }
  const Camera& camera = scene.cameras[view.camera];
  errors.moved = remaining_errors(displacements, {0.5 * camera.width, 0.5 * camera.height});
  errors.moved.resize(errors.pixels.size(), std::numeric_limits<double>::infinity());
  return errors;
}

double longer_side(const Camera& camera) {
  return std::max(camera.width, camera.height);
}

ObservationFit fit_of(Errors errors, const Camera& camera) {
  ObservationFit fit;
  fit.observations = errors.pixels.size();
  if (fit.observations == 0) return fit;
  fit.behind = static_cast<double>(errors.behind) / static_cast<double>(fit.observations);
  fit.median_error = quantile(errors.pixels, 0.5);
  fit.median_of_side = fit.median_error / longer_side(camera);
  fit.median_moved = quantile(errors.moved, 0.5);
  return fit;
}

/// The fit of all views together.
ObservationFit fit_of_all(const Scene& scene, std::span<const int> views, const std::vector<Errors>& errors) {
  ObservationFit all;
  std::vector<double> pixels, of_side, moved;
  std::size_t behind = 0;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const double side = longer_side(scene.cameras[scene.views[views[i]].camera]);
    behind += errors[i].behind;
    for (const double error : errors[i].pixels) {
      pixels.push_back(error);
      of_side.push_back(error / side);
    }
    moved.insert(moved.end(), errors[i].moved.begin(), errors[i].moved.end());
  }
  all.observations = pixels.size();
  if (pixels.empty()) return all;
  all.behind = static_cast<double>(behind) / static_cast<double>(pixels.size());
  all.median_error = quantile(pixels, 0.5);
  all.median_of_side = quantile(of_side, 0.5);
  all.median_moved = quantile(moved, 0.5);
  return all;
}

/// A pose with its y and z axes turned.
Pose turned_axes(Pose pose) {
  for (int i = 3; i < 9; ++i) pose.rotation.m[i] = -pose.rotation.m[i];
  pose.translation = {pose.translation.x, -pose.translation.y, -pose.translation.z};
  return pose;
}

Pose corrected(const Pose& pose, CalibrationMistake mistake) {
  switch (mistake) {
    case CalibrationMistake::kInverted:
      return inverse(pose);
    case CalibrationMistake::kAxes:
      return turned_axes(pose);
    case CalibrationMistake::kInvertedAxes:
      return turned_axes(inverse(pose));
    case CalibrationMistake::kCentre:
      return {pose.rotation, -(pose.rotation * pose.translation)};
    case CalibrationMistake::kImageSize:
      break;
  }
  return pose;
}

/// Scales a camera to the size of its photo, so that the principal point is near the middle.
void centre_principal_point(Camera& camera) {
  if (is_panorama(camera.model)) return;
  const auto focal = static_cast<std::size_t>(focal_length_count(camera.model));
  const auto [x, y] = size_factors(camera);
  if (!(x > 0 && y > 0)) return;
  camera.params[0] *= x;
  if (focal == 2) camera.params[1] *= y;
  camera.params[focal] *= x;
  camera.params[focal + 1] *= y;
}

}  // namespace

SceneFit fit_observations(const Scene& scene, std::span<const int> views) {
  const PointsById points(scene);
  std::vector<Lens> lenses;
  for (const Camera& camera : scene.cameras) lenses.emplace_back(camera);
  std::vector<Errors> errors(views.size());
  parallel_for(static_cast<int>(views.size()), [&](int i) {
    const View& view = scene.views[views[i]];
    errors[i] = errors_of(scene, view, lenses[view.camera], points);
  });
  SceneFit fit{fit_of_all(scene, views, errors), {}, 0};
  for (std::size_t i = 0; i < views.size(); ++i) {
    fit.placeholders += are_placeholders(observations_of_points(scene.views[views[i]])) ? 1 : 0;
    fit.views.push_back(fit_of(std::move(errors[i]), scene.cameras[scene.views[views[i]].camera]));
  }
  return fit;
}

bool is_explained_by_motion(const ObservationFit& fit) {
  return fit.median_error > limit::kExplained * fit.median_moved;
}

bool is_off(const ObservationFit& fit) {
  if (fit.observations < limit::kMinObservations) return false;
  if (fit.behind > limit::kBehind) return true;
  if (!(fit.median_error > limit::kLeastError && fit.median_of_side > limit::kMedianErrorOfSide))
    return false;
  return fit.median_error > limit::kMedianError || fit.median_of_side > limit::kErrorOfSmall ||
         (fit.median_of_side > limit::kErrorOfMoved && is_explained_by_motion(fit));
}

bool is_unusable(const ObservationFit& all) {
  if (all.observations < limit::kMinObservations) return false;
  return all.behind > 0.5 || all.median_of_side > limit::kUsableError;
}

Scene without_mistake(const Scene& scene, CalibrationMistake mistake) {
  Scene result = scene;
  for (View& view : result.views) {
    Pose& pose = view.cam_from_world;
    if (!view.face) {
      pose = corrected(pose, mistake);
      continue;
    }
    const Pose face_from_photo{view.face->face_from_photo, {0, 0, 0}};
    pose = face_from_photo * corrected(inverse(face_from_photo) * pose, mistake);
  }
  if (mistake == CalibrationMistake::kImageSize)
    for (Camera& camera : result.cameras) centre_principal_point(camera);
  return result;
}

std::optional<CalibrationMistake> explain_misfit(const Scene& scene, std::span<const int> views) {
  std::optional<CalibrationMistake> best;
  double least = std::numeric_limits<double>::infinity();
  for (const CalibrationMistake mistake : kCalibrationMistakes) {
    const ObservationFit fit = fit_observations(without_mistake(scene, mistake), views).all;
    if (is_off(fit) || !(fit.median_error < least)) continue;
    best = mistake;
    least = fit.median_error;
  }
  return best;
}

std::optional<double> fitting_focal_factor(const Scene& scene, std::span<const int> views) {
  const PointsById points(scene);
  std::vector<double> ratios;
  for (const int index : views) {
    const View& view = scene.views[index];
    if (is_panorama(scene.cameras[view.camera].model)) continue;
    const Lens lens(scene.cameras[view.camera]);
    const auto [x, y] = lens.principal_point();
    for (const Observation& observation : sampled(view)) {
      const auto point = points.find(observation.point_id);
      if (!point) continue;
      const auto pixel = lens.project(view.cam_from_world * scene.points[*point].position);
      if (pixel && (pixel->x != x || pixel->y != y))
        ratios.push_back(hypotenuse(observation.pixel.x - x, observation.pixel.y - y) /
                         hypotenuse(pixel->x - x, pixel->y - y));
    }
  }
  if (ratios.size() < limit::kMinObservations) return std::nullopt;
  const double factor = quantile(ratios, 0.5);
  Scene scaled = scene;
  for (Camera& camera : scaled.cameras)
    for (int i = 0; !is_panorama(camera.model) && i < focal_length_count(camera.model); ++i)
      camera.params[static_cast<std::size_t>(i)] *= factor;
  return is_off(fit_observations(scaled, views).all) ? std::nullopt : std::optional(factor);
}

double angle_of_view(const Camera& camera) {
  return 2 * std::atan(0.5 * camera.width / camera.params.front()) * 180 / std::numbers::pi;
}

std::array<double, 2> size_factors(Vec2d principal_point, int width, int height) {
  constexpr double kNear = 0.15;  // the principal point need not be in the middle
  const double x = 0.5 * width / principal_point.x, y = 0.5 * height / principal_point.y;
  const double mean = std::sqrt(x * y);
  const double whole = mean >= 1 ? std::round(mean) : 1 / std::round(1 / mean);
  const bool near = std::abs(x / whole - 1) < kNear && std::abs(y / whole - 1) < kNear;
  return near ? std::array{whole, whole} : std::array{x, y};
}

std::array<double, 2> size_factors(const Camera& camera) {
  const auto focal = static_cast<std::size_t>(focal_length_count(camera.model));
  return size_factors({camera.params[focal], camera.params[focal + 1]}, camera.width, camera.height);
}

CameraDoubt doubt_camera(const Camera& camera) {
  CameraDoubt doubt;
  if (!is_perspective(camera.model) && !is_fisheye(camera.model)) return doubt;
  const auto focal = static_cast<std::size_t>(focal_length_count(camera.model));
  const auto shift = [](double position, int side) { return std::abs(position / side - 0.5); };
  doubt.principal_point = shift(camera.params[focal], camera.width) > limit::kPrincipalShift ||
                          shift(camera.params[focal + 1], camera.height) > limit::kPrincipalShift;
  if (!is_perspective(camera.model)) return doubt;
  const double angle = angle_of_view(camera);
  doubt.angle = angle < limit::kMinAngle || angle > limit::kMaxAngle;
  if (focal == 2) {
    const double ratio = camera.params[0] / camera.params[1];
    doubt.ratio = ratio > limit::kFocalRatio || ratio < 1 / limit::kFocalRatio;
  }
  return doubt;
}

}  // namespace recon
