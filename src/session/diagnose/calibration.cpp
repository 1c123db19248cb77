#include "session/diagnose/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "io/image/image_file.hpp"
#include "scene/calibration_check.hpp"

namespace recon {

namespace {

/// Limits of the agreement across views, of checked to estimated pixels.
namespace agreement_limit {
/// Random depths agree on up to this share; right ones of hard scenes on more.
constexpr double kByChance = 0.12;
/// The same where the photos fit cameras and poses, and where they contradict them.
constexpr double kByChanceOfFitting = 0.1, kByChanceOfContradicted = 0.2;
/// With fewer depths before the check, matching finds next to nothing.
constexpr double kMinEstimated = 0.01;
/// A view is named when it agrees on less than this, and on less than this share of what the others do.
constexpr double kOfOtherViews = 0.25;
/// A photo that corners speak against is named when it agrees on less than this share of what all do: a small
/// turn leaves some.
constexpr double kOfAllInDoubt = 0.5;
/// Points by chance of a pixel before the check.
constexpr double kNextToNothing = 0.01;
}  // namespace agreement_limit

/// Views that one message names.
constexpr std::size_t kNamed = 5;

/// What the poses of a format have to be.
const char* pose_rule(SceneFormat format) {
  return format == SceneFormat::kNerf
             ? "transform_matrix is camera-to-world, with x to the right, y up and z backward (OpenGL)"
             : "poses are world-to-camera, with x to the right, y down and z forward (OpenCV)";
}

std::string usual_causes(SceneFormat format) {
  return fmt::format(
      "usual causes are inverted poses, axes of OpenGL for those of OpenCV or the reverse (here {}), K or "
      "observations of images of another size, another camera model, and photos that are turned or in "
      "another order",
      pose_rule(format));
}

/// A mistake as it is made in the files of a format: those of NeRF have other axes, and the inverse of a
/// pose.
CalibrationMistake in_format(CalibrationMistake mistake, SceneFormat format) {
  if (format != SceneFormat::kNerf) return mistake;
  if (mistake == CalibrationMistake::kInverted) return CalibrationMistake::kInvertedAxes;
  if (mistake == CalibrationMistake::kInvertedAxes) return CalibrationMistake::kInverted;
  return mistake;
}

std::string mistake_text(CalibrationMistake mistake, SceneFormat format) {
  const std::string rule = std::string(": here ") + pose_rule(format);
  switch (in_format(mistake, format)) {
    case CalibrationMistake::kInverted:
      return "the poses are inverted" + rule;
    case CalibrationMistake::kAxes:
      return "the y and z axes of the cameras point the other way" + rule;
    case CalibrationMistake::kInvertedAxes:
      return "the poses are inverted, and the y and z axes of the cameras point the other way" + rule;
    case CalibrationMistake::kCentre:
      return "the translations are camera centres C: they have to be -R C";
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

/// What people did to a model that does not fit its points: the mistake without which it fits, or else a
/// principal point that no photo has.
std::string causes_of_misfit(const SceneInput& input, const std::vector<int>& views, Findings& findings) {
  const auto mistake = explain_misfit(input.scene, views);
  for (std::size_t i = 0; !mistake && i < views.size(); ++i) {
    const View& view = input.scene.views[views[i]];
    const Camera& camera = input.scene.cameras[view.camera];
    if (!doubt_camera(camera).principal_point) continue;
    const auto [x, y] = Lens(camera).principal_point();
    return fmt::format(
        "the principal point ({:g}, {:g}) of {} is far from the middle of the photo of {}: it has to be "
        "in pixels from the upper left corner of this photo",
        x, y, view.name, size_text(camera.width, camera.height));
  }
  return causes(input, mistake, findings);
}

/// @returns the fit of all views of the scene
SceneFit check_points(const SceneInput& input, const std::vector<int>& views, Findings& findings) {
  const SceneFit fit = fit_observations(input.scene, views);
  const std::string model = input.folder.model.string();
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
                    model, error_text(fit.all), causes_of_misfit(input, views, findings)));
  std::vector<std::pair<int, ObservationFit>> off;
  for (std::size_t i = 0; i < views.size(); ++i)
    if (is_off(fit.views[i])) off.emplace_back(views[i], fit.views[i]);
  if (is_off(fit.all) || 2 * off.size() > views.size())
    findings.warn(fmt::format(
        "{}: cameras and poses do not fit the sparse points: {}, in {} of {} views too large; "
        "expect few and wrong points; {}",
        model, error_text(fit.all), off.size(), views.size(), causes_of_misfit(input, views, findings)));
  else
    warn_of_views(input, off, fit.all.median_error, findings);
  return fit;
}

std::string doubt_text(const CameraDoubt& doubt, const Camera& camera) {
  const auto focal = static_cast<std::size_t>(focal_length_count(camera.model));
  const std::string photo = size_text(camera.width, camera.height);
  if (doubt.principal_point)
    return fmt::format("the principal point ({:g}, {:g}) is far from the middle of the photo of {}: {}",
                       camera.params[focal], camera.params[focal + 1], photo,
                       camera.params[focal] >= 1 && camera.params[focal + 1] >= 1
                           ? "K seems to be of images of about " + size_of_k(camera)
                           : "it has to be in pixels from the upper left corner");
  if (doubt.angle)
    return fmt::format(
        "the focal length of {:g} pixels means an angle of view of {:.3g} degrees across the photo of {}: it "
        "has to be in pixels of this photo",
        camera.params.front(), angle_of_view(camera), photo);
  return fmt::format(
      "the focal lengths {:g} and {:g} differ much: K seems to be of images of another shape than {}",
      camera.params[0], camera.params[1], photo);
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

std::vector<int> finished_views(const SceneProducts& products) {
  std::vector<int> views;
  for (const int view : products.plan.views_in_scope())
    if (products.result(Step::kEstimate, view) && products.result(Step::kCheck, view)) views.push_back(view);
  return views;
}

double known(const StepRecord* record) {
  return record ? record->result.value("known", 0.0) : 0;
}

/// Finished views by their photos.
std::map<std::string, std::vector<int>> by_photo(const ScenePlan& plan, const std::vector<int>& views) {
  std::map<std::string, std::vector<int>> photos;
  for (const int view : views) photos[plan.scene_view(view).photo_name()].push_back(view);
  return photos;
}

/// Whether other views confirm next to nothing of some views, and more of others.
bool is_alone(const SceneProducts& products, const std::vector<int>& views, const ViewAgreement& all) {
  const double share = agreement_of(products, views).share();
  return share < agreement_limit::kByChance && share < agreement_limit::kOfOtherViews * all.share();
}

/// Warns of a photo that other views confirm nothing of, if it shows nothing or is apart from theirs.
void warn_of_lone_photo(SceneProducts& products, const std::vector<int>& its_views, PhotoVerdict verdict,
                        const std::string& evidence, Findings& findings) {
  const std::string& photo = products.plan.scene_view(its_views.front()).photo_name();
  if (const std::string what = what_is_empty(products, its_views); !what.empty())
    findings.warn(
        fmt::format("{}: its photo is {}: {}; replace the photo, or remove the view", photo, what, evidence));
  else if (verdict == PhotoVerdict::kApart)
    findings.warn(fmt::format(
        "{}: it does not go together with the other photos: {}, and they show next to nothing of it "
        "where they should; check its photo, its camera and its pose, or remove the view",
        photo, evidence));
  else
    return;
  findings.doubted_views.insert(photo);
}

/// Warns of single photos whose depths other views do not confirm where corners speak against them too, or
/// that show nothing.
/// @param views  all that are finished
void judge_photos(const PreparedPhotos& compared, const std::vector<int>& views, const ViewAgreement& all,
                  Findings& findings) {
  SceneProducts& products = compared.products;
  const auto evidence_of = [&](const std::vector<int>& its_views) {
    return fmt::format("other views confirm {:.1f} % of its depths, and {:.0f} % of those of all views",
                       100 * agreement_of(products, its_views).share(), 100 * all.share());
  };
  std::map<std::string, std::string> wrong;
  std::size_t judged = 0;
  const std::map<std::string, std::vector<int>> photos = by_photo(products.plan, views);
  for (const auto& [photo, doubt] : findings.photo_doubts) {
    const auto its_views = photos.find(photo);
    if (its_views == photos.end())
      wrong.emplace(photo, doubt);  // of a source, which this run gives no depths
    else if (agreement_of(products, its_views->second).share() < agreement_limit::kOfAllInDoubt * all.share())
      wrong.emplace(photo, evidence_of(its_views->second) + "; " + doubt);
  }
  for (const auto& [photo, its_views] : photos) {
    if (findings.doubted_views.contains(photo) || findings.photo_doubts.contains(photo)) continue;
    const auto first =
        std::ranges::find_if(its_views, [&](int view) { return is_alone(products, {view}, all); });
    if (first == its_views.end()) continue;
    const std::string evidence = evidence_of({*first});
    if (judged++ >= kNamed) continue;
    const PhotoVerdict verdict = judge_photo(compared, *first);
    if (verdict == PhotoVerdict::kContradicts)
      wrong.emplace(photo, evidence);
    else if (std::ranges::all_of(its_views, [&](int view) { return is_alone(products, {view}, all); }))
      warn_of_lone_photo(products, its_views, verdict, evidence, findings);
  }
  warn_of_photos(compared.input.folder.root.string(), wrong, findings);
}

}  // namespace

std::string causes(const SceneInput& input, std::optional<CalibrationMistake> mistake, Findings& findings) {
  std::string text =
      mistake ? mistake_text(*mistake, input.folder.format) : usual_causes(input.folder.format);
  const bool first = findings.is_new("causes");
  if (mistake ? !findings.is_new(text) : !first) return "an earlier warning names the causes";
  if (!mistake) return text;
  if (*mistake == CalibrationMistake::kImageSize) text += sizes_text(input.scene);
  return text + " (without that they fit)";
}

void check_calibration(const SceneInput& input, const std::vector<LeftOut>& left_out, Findings& findings) {
  const std::vector<int> views = usable_views(input.scene, left_out);
  check_cameras(input, views, check_points(input, views, findings), findings);
}

bool by_chance(const Findings& findings, const ViewAgreement& agreement) {
  using namespace agreement_limit;
  double limit = kByChance;
  if (findings.photos_fit) limit = *findings.photos_fit ? kByChanceOfFitting : kByChanceOfContradicted;
  return agreement.share() < limit;
}

std::string disagreement(const SceneInput& input, Findings& findings) {
  if (findings.photos_fit && *findings.photos_fit)
    return "the photos fit cameras and poses, so that the depth range is in doubt: set --depth-min and "
           "--depth-max";
  return "check the poses and the depth range (--depth-min, --depth-max); " +
         causes(input, std::nullopt, findings);
}

ViewAgreement agreement_of(const SceneProducts& products, const std::vector<int>& views) {
  ViewAgreement sum;
  for (const int view : views) {
    sum.estimated += known(products.result(Step::kEstimate, view)) / static_cast<double>(views.size());
    sum.checked += known(products.result(Step::kCheck, view)) / static_cast<double>(views.size());
  }
  return sum;
}

bool is_cloud_by_chance(const SceneProducts& products, const Findings& findings,
                        const std::vector<int>& views, std::uint64_t points, int spacing) {
  const ViewAgreement agreement = agreement_of(products, views);
  if (!by_chance(findings, agreement)) return false;
  if (findings.photos_fit && !*findings.photos_fit) return true;
  double pixels = 0;
  for (const int view : views) {
    const Pinhole& camera = products.plan.view(view).camera;
    pixels += known(products.result(Step::kEstimate, view)) * camera.width * camera.height;
  }
  const double pixels_a_point = static_cast<double>(spacing) * spacing;
  return static_cast<double>(points) * pixels_a_point < agreement_limit::kNextToNothing * pixels;
}

void check_agreement(const PreparedPhotos& photos, Findings& findings) {
  const SceneProducts& products = photos.products;
  const std::vector<int> views = finished_views(products);
  if (views.empty()) return;
  const ViewAgreement all = agreement_of(products, views);
  const bool found = all.estimated >= agreement_limit::kMinEstimated;
  if (found && !by_chance(findings, all)) {
    judge_photos(photos, views, all, findings);
    return;
  }
  const std::string scene = photos.input.folder.root.string();
  warn_of_photos(scene, findings.photo_doubts, findings);  // nothing speaks against them
  if (!found) return;                                      // the cloud is empty, which has its own message
  findings.warn(fmt::format(
      "{}: the views do not agree: {:.1f} % of the pixels have a depth before the check across views, and "
      "{:.1f} % after it, as it is by chance; points are there by chance: {}",
      scene, 100 * all.estimated, 100 * all.checked, disagreement(photos.input, findings)));
}

}  // namespace recon
