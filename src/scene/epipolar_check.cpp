#include "scene/epipolar_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/eigen.hpp"
#include "core/hypotenuse.hpp"
#include "core/parallel.hpp"
#include "core/quantile.hpp"
#include "scene/view_geometry.hpp"

namespace recon {
namespace {

/// Scales of the robust weights from step to step of a fit, units.
constexpr std::array kScales = {6.0, 6.0, 6.0, 3.0, 3.0, 3.0, 1.5, 1.5, 0.7, 0.7, 0.7};
constexpr double kMaxStep = 0.3;      ///< of a parameter
constexpr double kDifference = 1e-4;  ///< for derivatives
/// The scale of the distances in what a hypothesis explains, units.
constexpr double kGainScale = 0.25;
/// Min matches of a scene and of a view that are judged.
constexpr std::size_t kMinOfScene = 100, kMinOfView = 30;
/// A fitted parameter is beyond doubt when it is at least so many standard errors from 0.
constexpr double kMinErrors = 7;
/// Min change of the focal length, of the principal point as a share of the width, of a radius in the corner
/// of the image, and of a pose, radians.
constexpr double kMinFocal = 0.025, kMinCentre = 0.03, kMinDistortion = 0.01,
                 kMinTurn = std::numbers::pi / 180;
/// Max median distance with the change, as a share of that without it.
constexpr double kBetterMedian = 0.93, kBetterMedianOfView = 0.6;
/// Max change of a radius: more is no lens, but photos that are turned or of other views.
constexpr double kMaxDistortion = 0.4;
/// Lines have to move by so many pixels, measured at those that move most, for another camera to mean
/// something: corners are found no better than to a tenth of a pixel, and what they are off by, the sampling
/// of small images, is alike in all of them, so that more matches do not average it out.
constexpr double kMinPixels = 0.1, kMovedMost = 0.9;
/// Max share of a view's matches that fit, of the share of the others'; these have to fit themselves. It has
/// to be so many standard deviations below, those of as many matches, where no turn explains it.
constexpr double kOfOthers = 0.5, kOthersFit = 0.4, kDeviations = 2;

/// What is fitted, of three parameters at most.
enum class Freedom { kFocal, kCentre, kDistortion, kTurn };

struct Hypothesis {
  Freedom freedom = Freedom::kFocal;
  int view = -1;  ///< that is turned, with all faces of its photo
  std::array<double, 3> value{};

  std::size_t parameters() const {
    constexpr std::array<std::size_t, 4> kCount = {1, 2, 1, 3};
    return kCount[static_cast<std::size_t>(freedom)];
  }
};

double longer_side_of(const Pinhole& camera) {
  return std::max(camera.width, camera.height);
}

/// The rotation about `axis` by its length.
Mat3d rotation_by(Vec3d axis) {
  const Eigen::Vector3d v(axis.x, axis.y, axis.z);
  const Eigen::Matrix3d rotation = Eigen::AngleAxisd(v.norm(), v.normalized()).toRotationMatrix();
  Mat3d result;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) result(i, j) = rotation(i, j);
  return result;
}

/// A camera with a change.
class ChangedCamera {
 public:
  ChangedCamera(const Pinhole& camera, const Hypothesis& change) : camera_(camera) {
    if (change.freedom == Freedom::kFocal) {
      camera_.fx *= std::exp(change.value[0]);
      camera_.fy *= std::exp(change.value[0]);
    } else if (change.freedom == Freedom::kCentre) {
      camera_.cx += change.value[0] * camera.width;
      camera_.cy += change.value[1] * camera.width;
    } else if (change.freedom == Freedom::kDistortion) {
      distortion_ = change.value[0];
    }
  }

  Vec3d ray(Vec2d pixel) const {
    const Vec3d x = camera_.ray(pixel);
    const double factor = 1 + distortion_ * (x.x * x.x + x.y * x.y);
    return {x.x * factor, x.y * factor, 1};
  }
  /// Of a vector at depth 1, in pixels to that of a ray.
  double in_pixels(Vec3d l) const { return hypotenuse(l.x / camera_.fx, l.y / camera_.fy); }

 private:
  Pinhole camera_;
  double distortion_ = 0;
};

int photo_of(std::span<const CalibratedView> views, int view) {
  return views[view].photo < 0 ? view : views[view].photo;
}

/// A face turns about the axis of the first one of its photo.
Pose changed_pose(std::span<const CalibratedView> views, int index, const Hypothesis& change) {
  const Pose& pose = views[index].cam_from_world;
  if (change.view != photo_of(views, index)) return pose;
  Vec3d axis{change.value[0], change.value[1], change.value[2]};
  if (change.view != index)
    axis = pose.rotation * (transpose(views[change.view].cam_from_world.rotation) * axis);
  return Pose{rotation_by(axis), {0, 0, 0}} * pose;
}

/// The signed distance of a match from its epipolar lines, in units, with a change of cameras or poses.
double distance_of(std::span<const CalibratedView> views, const ViewMatch& match, const Hypothesis& change) {
  const CalibratedView &a = views[match.reference], &b = views[match.source];
  const ChangedCamera camera_a(a.camera, change), camera_b(b.camera, change);
  const Pose relative =
      changed_pose(views, match.source, change) * inverse(changed_pose(views, match.reference, change));
  const Vec3d x = camera_a.ray(match.at.in_reference), y = camera_b.ray(match.at.in_source);
  const Vec3d line_b = cross(relative.translation, relative.rotation * x);
  const Vec3d line_a = transpose(relative.rotation) * cross(y, relative.translation);
  const double slope = hypotenuse(camera_a.in_pixels(line_a), camera_b.in_pixels(line_b));
  return slope > 0 ? dot(y, line_b) / slope * kEpipolarUnits / longer_side_of(b.camera) : 0;
}

/// Normal equations of up to three parameters; the matrix is positive definite, since it begins as the unit
/// matrix.
struct NormalEquations {
  Eigen::Matrix3d matrix = Eigen::Matrix3d::Identity();
  Eigen::Vector3d gradient = Eigen::Vector3d::Zero();
};

using Matches = std::vector<ViewMatch>;

NormalEquations equations_of(std::span<const CalibratedView> views, const Matches& matches,
                             const Hypothesis& change, double scale) {
  NormalEquations equations;
  for (const ViewMatch& match : matches) {
    const double distance = distance_of(views, match, change);
    Eigen::Vector3d row = Eigen::Vector3d::Zero();
    for (std::size_t k = 0; k < change.parameters(); ++k) {
      Hypothesis next = change;
      next.value[k] += kDifference;
      row[static_cast<int>(k)] = (distance_of(views, match, next) - distance) / kDifference;
    }
    const double root = 1 / (1 + distance * distance / (scale * scale));
    equations.matrix += root * root * row * row.transpose();
    equations.gradient += root * root * distance * row;
  }
  return equations;
}

std::vector<double> distances_of(std::span<const CalibratedView> views, const Matches& matches,
                                 const Hypothesis& change) {
  std::vector<double> distances;
  for (const ViewMatch& match : matches) distances.push_back(std::abs(distance_of(views, match, change)));
  return distances;
}

/// How far a change moves the lines that it moves most, in pixels of the first view.
double pixels_moved(std::span<const CalibratedView> views, const Matches& matches, const Hypothesis& change) {
  std::vector<double> moved;
  for (const ViewMatch& match : matches)
    moved.push_back(std::abs(distance_of(views, match, change) - distance_of(views, match, {})));
  return quantile(moved, kMovedMost) * longer_side_of(views[matches.front().reference].camera) /
         kEpipolarUnits;
}

EpipolarFit fit_of_distances(std::vector<double> distances) {
  EpipolarFit fit;
  fit.matches = distances.size();
  if (distances.empty()) return fit;
  const auto near = std::ranges::count_if(distances, [](double it) { return it <= 1; });
  fit.share = static_cast<double>(near) / static_cast<double>(fit.matches);
  fit.median = quantile(distances, 0.5);
  return fit;
}

/// What distances cost, robustly.
double cost_of(const std::vector<double>& distances) {
  return std::accumulate(distances.begin(), distances.end(), 0.0, [](double sum, double it) {
    return sum + std::log1p(it * it / (kGainScale * kGainScale));
  });
}

/// What a hypothesis makes of some matches.
struct Explanation {
  Hypothesis change;
  EpipolarFit before, after;
  double gain = 0;    ///< of the cost
  double errors = 0;  ///< the largest parameter in standard errors
};

/// Fits the parameters by robust least squares whose weights become narrower.
Explanation explained_by(std::span<const CalibratedView> views, const Matches& matches, Freedom freedom,
                         int view = -1) {
  Explanation result{{freedom, view, {}}, {}, {}};
  NormalEquations last;
  for (const double scale : kScales) {
    last = equations_of(views, matches, result.change, scale);
    const Eigen::Vector3d steps = last.matrix.llt().solve(last.gradient);
    for (std::size_t k = 0; k < result.change.parameters(); ++k)
      result.change.value[k] -= std::clamp(steps[static_cast<int>(k)], -kMaxStep, kMaxStep);
  }
  const std::vector<double> before = distances_of(views, matches, {});
  const std::vector<double> after = distances_of(views, matches, result.change);
  result.gain = cost_of(before) - cost_of(after);
  result.before = fit_of_distances(before);
  result.after = fit_of_distances(after);
  const double deviation = 1.4826 * result.after.median;
  const Eigen::Matrix3d covariance = last.matrix.inverse();
  for (std::size_t k = 0; k < result.change.parameters(); ++k) {
    const int i = static_cast<int>(k);
    const double error = deviation * std::sqrt(covariance(i, i));
    result.errors = std::max(result.errors, std::abs(result.change.value[k]) / error);
  }
  return result;
}

/// Whether a fit means something that a user would correct.
bool is_large(const Explanation& it, std::span<const CalibratedView> views, const Matches& matches) {
  const auto& value = it.change.value;
  if (it.change.freedom == Freedom::kTurn) return norm(Vec3d{value[0], value[1], value[2]}) > kMinTurn;
  const Pinhole& camera = views[matches.front().reference].camera;
  if (!(pixels_moved(views, matches, it.change) > kMinPixels)) return false;
  if (it.change.freedom == Freedom::kFocal) return std::abs(value[0]) > kMinFocal;
  if (it.change.freedom == Freedom::kCentre) return hypotenuse(value[0], value[1]) > kMinCentre;
  const Vec3d corner = camera.ray({0, 0});
  const double of_radius = std::abs(value[0]) * (corner.x * corner.x + corner.y * corner.y);
  return of_radius > kMinDistortion && of_radius < kMaxDistortion;
}

bool is_beyond_doubt(const Explanation& it) {
  const double better = it.change.freedom == Freedom::kTurn ? kBetterMedianOfView : kBetterMedian;
  return it.errors > kMinErrors && it.after.median < better * it.before.median;
}

CameraCorrection correction_of(const Explanation& it) {
  CameraCorrection correction;
  correction.fit = it.after;
  const auto& value = it.change.value;
  if (it.change.freedom == Freedom::kFocal) {
    correction.focal = std::exp(value[0]);
  } else if (it.change.freedom == Freedom::kCentre) {
    correction.error = CameraError::kCentre;
    correction.centre = {value[0], value[1]};
  } else {
    // The rays are those of undistorted pixels: what is added to them was taken too much.
    correction.error = CameraError::kDistortion;
    correction.distortion = -value[0];
  }
  return correction;
}

/// The matches of a photo, or those of all others.
Matches matches_of(std::span<const CalibratedView> views, const Matches& matches, int photo,
                   bool others = false) {
  Matches result;
  for (const ViewMatch& it : matches)
    if ((photo_of(views, it.reference) == photo || photo_of(views, it.source) == photo) != others)
      result.push_back(it);
  return result;
}

/// A doubted view, and the cost that the doubt explains.
struct Doubt {
  std::optional<DoubtedView> view;
  double gain = 0;
};

/// Whether the share of some matches that fit is below another one by so many standard deviations.
bool is_below(const EpipolarFit& fit, double share, double deviations) {
  const double variance = share * (1 - share) / static_cast<double>(fit.matches);
  return fit.share < share - deviations * std::sqrt(variance);
}

Doubt doubt_view(std::span<const CalibratedView> views, const Matches& all, int view) {
  if (photo_of(views, view) != view) return {};
  const Matches its = matches_of(views, all, view);
  if (its.size() < kMinOfView) return {};
  const Matches others = matches_of(views, all, view, true);
  const Explanation turn = explained_by(views, its, Freedom::kTurn, view);
  const std::vector<double> of_others = distances_of(views, others, {});
  const EpipolarFit others_fit = fit_of_distances(of_others);
  if (others_fit.share < kOthersFit) return {};
  const Vec3d axis{turn.change.value[0], turn.change.value[1], turn.change.value[2]};
  if (is_beyond_doubt(turn) && is_large(turn, views, its) && turn.after.share > kOfOthers * others_fit.share)
    return {DoubtedView{view, turn.before, norm(axis) * 180 / std::numbers::pi}, turn.gain};
  // A small turn that explains it is no chance.
  const double deviations = is_beyond_doubt(turn) ? 0 : kDeviations;
  if (!is_below(turn.before, kOfOthers * others_fit.share, deviations)) return {};
  const double usual = cost_of(of_others) / static_cast<double>(others.size());
  return {DoubtedView{view, turn.before, std::nullopt},
          cost_of(distances_of(views, its, {})) - usual * static_cast<double>(its.size())};
}

/// The change of all cameras that explains most, if it is beyond doubt.
std::optional<Explanation> explain_by_cameras(std::span<const CalibratedView> views, const Matches& matches) {
  constexpr std::array kFreedoms = {Freedom::kFocal, Freedom::kCentre, Freedom::kDistortion};
  std::array<Explanation, kFreedoms.size()> tried;
  parallel_for(static_cast<int>(kFreedoms.size()),
               [&](int i) { tried[i] = explained_by(views, matches, kFreedoms[i]); });
  std::optional<Explanation> best;
  for (const Explanation& it : tried)
    if (is_beyond_doubt(it) && it.after.share > kOthersFit && (!best || it.gain > best->gain)) best = it;
  if (best && !is_large(*best, views, matches)) return std::nullopt;
  return best;
}

/// The view whose doubt explains most.
Doubt doubt_views(std::span<const CalibratedView> views, const Matches& matches) {
  std::vector<Doubt> doubts(views.size());
  parallel_for(static_cast<int>(views.size()), [&](int i) { doubts[i] = doubt_view(views, matches, i); });
  Doubt most;
  for (const Doubt& it : doubts)
    if (it.view && it.gain > most.gain) most = it;
  return most;
}

}  // namespace

EpipolarFit fit_matches(std::span<const CalibratedView> views, std::span<const ViewMatch> matches) {
  return fit_of_distances(distances_of(views, {matches.begin(), matches.end()}, {}));
}

EpipolarVerdict judge_matches(std::span<const CalibratedView> views, std::vector<ViewMatch> matches) {
  EpipolarVerdict verdict;
  while (matches.size() >= kMinOfScene) {
    const auto camera = explain_by_cameras(views, matches);
    const Doubt doubt = doubt_views(views, matches);
    if (camera && camera->gain > doubt.gain) {
      verdict.camera = correction_of(*camera);
      break;
    }
    if (!doubt.view) break;
    verdict.views.push_back(*doubt.view);
    matches = matches_of(views, matches, doubt.view->view, true);
  }
  verdict.fit = fit_matches(views, matches);
  return verdict;
}

}  // namespace recon
