#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/hypotenuse.hpp"
#include "core/vec.hpp"
#include "scene/scene.hpp"

namespace recon {

/// Limits of a calibration that can be right.
namespace calibration_limit {
/// Max median reprojection error of a view, pixels and share of the longer side: both have to be exceeded.
/// Structure from motion keeps observations below 4 pixels of the images that it worked on, which may have
/// been smaller.
inline constexpr double kMedianError = 3, kMedianErrorOfSide = 0.001;
/// The same of small photos, whose 3 pixels are much, and where a motion of whole photos explains the error:
/// it is this many times what remains. Errors below the first are none: where pixels are counted from says
/// as much.
inline constexpr double kLeastError = 0.75, kErrorOfSmall = 0.005, kErrorOfMoved = 0.002, kExplained = 3;
/// Max share of the observations of a view whose points lie behind it.
inline constexpr double kBehind = 0.05;
/// Min observations of a view that is judged.
inline constexpr std::size_t kMinObservations = 10;
/// Max median reprojection error of a scene, as a share of the longer side: beyond it no window meets its
/// counterpart.
inline constexpr double kUsableError = 0.1;
/// Max distance of the principal point from the middle of the photo, as a share of its side.
inline constexpr double kPrincipalShift = 0.2;
/// Least and greatest angle of view across the photo, degrees, of a camera without fisheye lens.
inline constexpr double kMinAngle = 0.5, kMaxAngle = 150;
/// Max ratio of the two focal lengths.
inline constexpr double kFocalRatio = 2;
}  // namespace calibration_limit

/// How the observations of sparse points fit the cameras and poses of one view or of several.
struct ObservationFit {
  std::size_t observations = 0;  ///< that were projected
  double behind = 0;             ///< the share of these whose points lie behind the camera
  double median_error = 0;       ///< reprojection error, pixels; infinite where most points have no image
  double median_of_side = 0;     ///< the same as a share of the longer side of the photo
  double median_moved = 0;       ///< the same error, pixels, when each photo may move, see remaining_errors
};

/// The fit of each of some views, and of all of them together.
struct SceneFit {
  ObservationFit all;
  std::vector<ObservationFit> views;
  std::size_t placeholders = 0;  ///< views whose observations are all at one place
};

/// Projects the observed points of `views` (indices of the scene's) into the photos, at most 2000 of a view,
/// evenly spread over its observations. Observations without a point, and of points that the scene does not
/// have, are not counted, nor are those of a view that are all at one place: they are placeholders.
/// Deterministic.
SceneFit fit_observations(const Scene& scene, std::span<const int> views);

/// Whether most of the error is alike in a whole photo, as that of wrong poses and cameras is: right ones
/// leave the scatter of the observations.
bool is_explained_by_motion(const ObservationFit& fit);

/// Whether the camera or the pose cannot be right: the reprojection errors are too large, for the size of the
/// photo or against the scatter of the observations, or points lie behind the camera. Few observations say
/// nothing.
bool is_off(const ObservationFit& fit);

/// Whether no depth can come from a scene with this fit: most of its points lie behind the cameras that
/// observe them, or far from where these observe them.
bool is_unusable(const ObservationFit& all);

/// What people do to whole models.
enum class CalibrationMistake {
  kInverted,      ///< poses are camera-to-world where world-to-camera is meant, or the reverse
  kAxes,          ///< the y and z axes of the cameras point the other way (OpenGL against OpenCV)
  kInvertedAxes,  ///< both
  kCentre,        ///< translations are camera centres
  kImageSize,     ///< cameras are of images in whose middle their principal points would be
};
inline constexpr std::array kCalibrationMistakes = {
    CalibrationMistake::kInverted, CalibrationMistake::kAxes, CalibrationMistake::kInvertedAxes,
    CalibrationMistake::kCentre, CalibrationMistake::kImageSize};

/// The scene without a mistake; the world may be another one, if there are no points to tell.
Scene without_mistake(const Scene& scene, CalibrationMistake mistake);

/// The mistake without which the observations of `views` fit, best of all; nothing if they never do.
std::optional<CalibrationMistake> explain_misfit(const Scene& scene, std::span<const int> views);

/// The factor of all focal lengths with which the observations of `views` fit; nothing if there is none.
std::optional<double> fitting_focal_factor(const Scene& scene, std::span<const int> views);

/// What is unusual about the camera of a photo.
struct CameraDoubt {
  bool principal_point = false;  ///< it lies far from the middle
  bool angle = false;            ///< the focal length means a very small or very large angle of view
  bool ratio = false;            ///< the focal lengths of x and y differ much

  bool any() const { return principal_point || angle || ratio; }
};

/// Compares principal point and focal lengths with the size of the photo. Fisheye lenses have any angle.
CameraDoubt doubt_camera(const Camera& camera);

/// The angle of view across the photo, degrees, without distortion.
double angle_of_view(const Camera& camera);

/// The factors by which a camera with this principal point has to be scaled so that it is in the middle of
/// the photo, or near it: if near a whole number or its inverse in both directions, this number.
std::array<double, 2> size_factors(Vec2d principal_point, int width, int height);

/// The same of a camera and its photo.
std::array<double, 2> size_factors(const Camera& camera);

/// Where a point was observed, and where its camera and its pose put it, pixels.
struct Displacement {
  Vec2d observed, projected;

  double length() const { return hypotenuse(projected.x - observed.x, projected.y - observed.y); }
};

/// The lengths, pixels, that remain of the displacements of one photo when it may be moved as a whole: by a
/// linear map of its pixels and a radial distortion about its centre, which is what a turn, a step to the
/// side, another focal length, another principal point and another lens do to it. Fitted by least squares
/// with the weights of Geman and McClure. Few displacements remain as they are. Deterministic.
std::vector<double> remaining_errors(std::span<const Displacement> displacements, Vec2d centre);

}  // namespace recon
