#include "session/diagnose/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/plain_number.hpp"
#include "io/image/image_file.hpp"

namespace recon {

namespace {

/// Views that one message names.
constexpr std::size_t kNamed = 5;

/// The poses of a format.
struct PoseRule {
  const char *what, *direction, *inverse, *axes;
};

PoseRule pose_rule(SceneFormat format) {
  if (format == SceneFormat::kNerf)
    return {"transform_matrix", "camera-to-world", "world-to-camera",
            "x to the right, y up, z backward, as in OpenGL"};
  return {"each pose", "world-to-camera", "camera-to-world",
          "x to the right, y down, z forward, as in OpenCV"};
}

std::string rule_text(SceneFormat format) {
  const PoseRule rule = pose_rule(format);
  return fmt::format("{} has to be {} ({})", rule.what, rule.direction, rule.axes);
}

std::string usual_causes(SceneFormat format) {
  return fmt::format(
      "usual causes are inverted poses, axes of OpenGL for those of OpenCV or the reverse ({}), K or "
      "observations of images of another size, another camera model, and photos that are turned or in "
      "another order",
      rule_text(format));
}

/// A mistake as it is made in the files of a format: those of NeRF have other axes, and the inverse of a
/// pose.
CalibrationMistake in_format(CalibrationMistake mistake, SceneFormat format) {
  if (format != SceneFormat::kNerf) return mistake;
  if (mistake == CalibrationMistake::kInverted) return CalibrationMistake::kInvertedAxes;
  if (mistake == CalibrationMistake::kInvertedAxes) return CalibrationMistake::kInverted;
  return mistake;
}

/// What is wrong, what it has to be, and that it fits then.
std::string mistake_text(CalibrationMistake mistake, SceneFormat format) {
  const std::string rule = rule_text(format), yours = std::string("; yours is ") + pose_rule(format).inverse;
  switch (in_format(mistake, format)) {
    case CalibrationMistake::kInverted:
      return "the poses are inverted: " + rule + yours + "; inverted, they fit";
    case CalibrationMistake::kAxes:
      return "the y and z axes of the cameras point the other way: " + rule +
             "; with y and z turned, they fit";
    case CalibrationMistake::kInvertedAxes:
      return "the poses are inverted, and the y and z axes of the cameras point the other way: " + rule +
             yours + "; inverted, with y and z turned, they fit";
    case CalibrationMistake::kCentre:
      return "the translations are camera centres C: they have to be -R C; with these, the poses fit";
    case CalibrationMistake::kImageSize:
      break;
  }
  return "the cameras are of images of another size, or their principal points are wrong";
}

/// The size of the images that K seems to be of.
std::string size_of_k(const Camera& camera) {
  const auto [x, y] = size_factors(camera);
  return fmt::format("{:.0f}x{:.0f}", camera.width / x, camera.height / y);
}

/// The sizes of the first photo whose principal point is doubted and of the images that K seems to be of.
std::string sizes_text(const Scene& scene) {
  for (const Camera& camera : scene.cameras) {
    if (!doubt_camera(camera).principal_point) continue;
    return fmt::format(": of about {} for a photo of {}", size_of_k(camera),
                       size_text(camera.width, camera.height));
  }
  return {};
}

std::string error_text(const ObservationFit& fit) {
  std::string text;
  if (fit.behind > calibration_limit::kBehind)
    text = fmt::format("{:.0f} % of {} observed points lie behind the camera", 100 * fit.behind,
                       fit.observations);
  if (!std::isfinite(fit.median_error)) return text.empty() ? "most points have no image" : text;
  return fmt::format(
      "{}the median reprojection error of {} observations is {:.1f} pixels{}",
      text.empty() ? "" : text + ", ", fit.observations, fit.median_error,
      is_explained_by_motion(fit)
          ? fmt::format(" ({:.1f} with each photo shifted, turned and scaled)", fit.median_moved)
          : "");
}

/// The usable views, indices of the scene's.
std::vector<int> usable_views(const Scene& scene, const std::vector<LeftOut>& left_out) {
  std::vector<int> views;
  for (std::size_t i = 0; i < scene.views.size(); ++i)
    if (!is_left_out(left_out, scene.views[i].name)) views.push_back(static_cast<int>(i));
  return views;
}

/// Warns of single views among others that fit.
void warn_of_views(const SceneInput& input, const std::vector<std::pair<int, ObservationFit>>& off,
                   double usual, Findings& findings) {
  for (const auto& [view, fit] : off) findings.doubted_views.insert(input.scene.views[view].name);
  for (std::size_t i = 0; i < std::min(off.size(), kNamed); ++i)
    findings.warn(fmt::format(
        "{}: its pose or its camera does not fit the sparse points: {}, that of all views {:.1f}; "
        "correct it, or remove the view",
        input.scene.views[off[i].first].name, error_text(off[i].second), usual));
  if (off.size() > kNamed)
    findings.warn(fmt::format("{}: {} more views do not fit the sparse points, such as {}",
                              input.folder.model.string(), off.size() - kNamed,
                              input.scene.views[off[kNamed].first].name));
}

/// Focal lengths with which a model fits its points; empty: there are none, or several cameras, of which any
/// may be wrong, or faces, whose cameras are in no file.
std::string fitting_focal_text(const SceneInput& input, const std::vector<int>& views) {
  const View& first = input.scene.views[views.front()];
  for (const int view : views)
    if (const View& it = input.scene.views[view]; it.camera != first.camera || it.face) return {};
  constexpr double kMinChange = 0.01;
  const auto factor = fitting_focal_factor(input.scene, views);
  return factor && std::abs(*factor - 1) > kMinChange ? focal_text(*factor, input.scene.cameras[first.camera])
                                                      : "";
}

/// What people did to a model that does not fit its points: the mistake without which it fits, or else focal
/// lengths, or a principal point that no photo has.
std::string causes_of_misfit(const SceneInput& input, const std::vector<int>& views,
                             std::optional<CalibrationMistake> mistake, const std::string& focal,
                             Findings& findings) {
  if (!focal.empty())
    return "the focal lengths seem to be wrong: with " + focal +
           " they would fit; correct the cameras and run again";
  for (std::size_t i = 0; !mistake && i < views.size(); ++i) {
    const View& view = input.scene.views[views[i]];
    const Camera& camera = input.scene.cameras[view.camera];
    if (!doubt_camera(camera).principal_point) continue;
    const auto [x, y] = Lens(camera).principal_point();
    return fmt::format(
        "the principal point ({}, {}) of {} is far from the middle of the photo of {}: it has to be "
        "in pixels from the upper left corner of this photo",
        plain(x, 6), plain(y, 6), view.name, size_text(camera.width, camera.height));
  }
  return causes(input, mistake, findings);
}

/// @returns the fit of all views of the scene
SceneFit check_points(const SceneInput& input, const std::vector<int>& views, Findings& findings) {
  const SceneFit fit = fit_observations(input.scene, views);
  const std::string model = input.folder.model.string();
  std::vector<std::pair<int, ObservationFit>> off;
  for (std::size_t i = 0; i < views.size(); ++i)
    if (is_off(fit.views[i])) off.emplace_back(views[i], fit.views[i]);
  const bool most_off = is_off(fit.all) || 2 * off.size() > views.size();
  const auto mistake = most_off ? explain_misfit(input.scene, views) : std::nullopt;
  const std::string focal = is_off(fit.all) && !mistake ? fitting_focal_text(input, views) : "";
  if (fit.placeholders > 0)
    findings.warn(
        fmt::format("{}: the observations of {} of {} views are all at one place: they are placeholders, and "
                    "do not tell whether cameras and poses fit the sparse points",
                    model, fit.placeholders, views.size()));
  if (is_unusable(fit.all))
    throw InputError(
        fmt::format("{}: cameras and poses contradict the sparse points: {}; {}; if only the points are "
                    "wrong, remove the "
                    "points3D file",
                    model, error_text(fit.all), causes_of_misfit(input, views, mistake, focal, findings)));
  if (most_off)
    findings.warn_of_result(
        fmt::format("{}: cameras and poses do not fit the sparse points: {}, in {} of {} views too large; "
                    "expect few and wrong points; {}",
                    model, error_text(fit.all), off.size(), views.size(),
                    causes_of_misfit(input, views, mistake, focal, findings)),
        "cameras and poses do not fit the sparse points" +
            (focal.empty() ? "" : ", but would with " + focal));
  else
    warn_of_views(input, off, fit.all.median_error, findings);
  return fit;
}

std::string doubt_text(const CameraDoubt& doubt, const Camera& camera) {
  const auto focal = static_cast<std::size_t>(focal_length_count(camera.model));
  const std::string photo = size_text(camera.width, camera.height);
  if (doubt.principal_point)
    return fmt::format("the principal point ({}, {}) is far from the middle of the photo of {}: {}",
                       plain(camera.params[focal], 6), plain(camera.params[focal + 1], 6), photo,
                       camera.params[focal] >= 1 && camera.params[focal + 1] >= 1
                           ? "K seems to be of images of about " + size_of_k(camera)
                           : "it has to be in pixels from the upper left corner");
  if (doubt.angle)
    return fmt::format(
        "the focal length of {} pixels means an angle of view of {} degrees across the photo of {}: it "
        "has to be in pixels of this photo",
        plain(camera.params.front(), 6), plain(angle_of_view(camera), 3), photo);
  return fmt::format(
      "the focal lengths {} and {} differ much: K seems to be of images of another shape than {}",
      plain(camera.params[0], 6), plain(camera.params[1], 6), photo);
}

/// Warns of the first camera that does not fit its photos, unless the sparse points confirm it.
void check_cameras(const SceneInput& input, const std::vector<int>& views, const SceneFit& fit,
                   Findings& findings) {
  std::vector<int> doubtful;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const bool confirmed =
        fit.views[i].observations >= calibration_limit::kMinObservations && !is_off(fit.views[i]);
    const Camera& camera = input.scene.cameras[input.scene.views[views[i]].camera];
    if (!confirmed && doubt_camera(camera).any()) doubtful.push_back(views[i]);
  }
  if (doubtful.empty()) return;
  const View& view = input.scene.views[doubtful.front()];
  const Camera& camera = input.scene.cameras[view.camera];
  std::string others;
  if (doubtful.size() > 1) others = fmt::format(" ({} more views have such a camera)", doubtful.size() - 1);
  findings.warn(fmt::format("{}: the camera of {}: {}{}; expect few and wrong points if it is wrong",
                            input.folder.model.string(), view.name, doubt_text(doubt_camera(camera), camera),
                            others));
}

}  // namespace

std::string focal_text(double factor, const Camera& camera) {
  const double focal = camera.params.front();
  return fmt::format("focal lengths times {} ({:.0f} instead of {:.0f} pixels)", plain(factor, 3),
                     factor * focal, focal);
}

std::string causes(const SceneInput& input, std::optional<CalibrationMistake> mistake, Findings& findings) {
  std::string text =
      mistake ? mistake_text(*mistake, input.folder.format) : usual_causes(input.folder.format);
  const bool first = findings.is_new("causes");
  if (mistake ? !findings.is_new(text) : !first) return "an earlier warning names the causes";
  if (!mistake) return text;
  if (*mistake == CalibrationMistake::kImageSize) text += sizes_text(input.scene) + "; with others, they fit";
  return text;
}

void check_calibration(const SceneInput& input, const std::vector<LeftOut>& left_out, Findings& findings) {
  const std::vector<int> views = usable_views(input.scene, left_out);
  check_cameras(input, views, check_points(input, views, findings), findings);
}

}  // namespace recon
