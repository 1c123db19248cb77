#include "session/diagnose/photo_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/log.hpp"
#include "core/plain_number.hpp"
#include "core/quantile.hpp"
#include "scene/calibration_check.hpp"
#include "scene/epipolar_check.hpp"
#include "scene/sparse_index.hpp"
#include "scene/view_geometry.hpp"
#include "session/diagnose/calibration.hpp"
#include "session/products/small_views.hpp"

namespace recon {

namespace {

/// Up to so many photos each view is compared with so many others; of more photos some views, spread over
/// them, with fewer others.
constexpr std::size_t kPhotos = 36, kOthers = 3;
constexpr std::size_t kSpreadViews = 12, kOthersOfSpread = 2;
/// The others of one view that is in doubt, or of each of its photo's faces.
constexpr std::size_t kOthersOfOne = 6;
/// Shares of matches near their epipolar lines: right calibrations reach 0.44 to 0.99, by chance it is up to
/// 0.2. Up to the last one a mistake is looked for.
constexpr double kPhotosContradict = 0.35, kPhotosFit = 0.5;
/// A mistake is named when the share without it is at least this, and this factor larger.
constexpr double kExplained = 0.45, kBetter = 1.4;
/// A photo with this factor fewer matches than others, and at least this share of their corners, is apart
/// from them.
constexpr double kApart = 10, kAsMuch = 0.5;
/// Views that have a message of their own.
constexpr std::size_t kNamedPhotos = 5;
/// Min matches of a scene; fewer may fit by chance or not.
constexpr std::size_t kMinMatches = 60;

/// All faces of a view's photo, or the view.
std::vector<int> views_of_photo(const std::vector<CalibratedView>& views, int view) {
  if (views[view].photo < 0) return {view};
  std::vector<int> faces;
  for (std::size_t i = 0; i < views.size(); ++i)
    if (views[i].photo == views[view].photo) faces.push_back(static_cast<int>(i));
  return faces;
}

/// What a photo shows, and shares with others.
struct PhotoCounts {
  double corners = 0, matches = 0;
};

/// The medians of the photos that have matches.
PhotoCounts usual_counts(const std::vector<CalibratedView>& views, const std::vector<ViewMatch>& matches,
                         const SmallViews& small) {
  std::map<int, PhotoCounts> photos;
  std::set<int> counted;
  for (const ViewMatch& it : matches)
    for (const int view : {it.reference, it.source}) {
      PhotoCounts& counts = photos[views[view].photo < 0 ? view : views[view].photo];
      ++counts.matches;
      if (counted.insert(view).second) counts.corners += static_cast<double>(small.corner_count(view));
    }
  std::vector<double> corners, shared;
  for (const auto& [photo, counts] : photos) {
    corners.push_back(counts.corners);
    shared.push_back(counts.matches);
  }
  return photos.empty() ? PhotoCounts() : PhotoCounts{quantile(corners, 0.5), quantile(shared, 0.5)};
}

/// Whether a photo shares next to nothing with others though it shows as much as they do.
bool is_apart(const PhotoCounts& its, const PhotoCounts& usual) {
  return kApart * its.matches < usual.matches && its.corners >= kAsMuch * usual.corners;
}

/// The views that are compared with others.
struct Comparison {
  std::vector<int> views;
  std::size_t others = kOthers;
};

Comparison compared_views(const ScenePlan& plan) {
  Comparison comparison{plan.views_in_scope()};
  if (plan.needed_views().size() <= kPhotos) return comparison;
  const std::vector<int> all = std::move(comparison.views);
  comparison = {{}, kOthersOfSpread};
  const std::size_t step = (all.size() + kSpreadViews - 1) / kSpreadViews;
  // Of wide photos the sides in turn, not the same of all.
  for (std::size_t i = 0, n = 0; i < all.size(); i += step, ++n) {
    const std::size_t side = plan.scene_view(all[i]).face ? n % step : 0;
    comparison.views.push_back(all[std::min(i + side, all.size() - 1)]);
  }
  return comparison;
}

/// Pairs of each view and its first sources, of those whose photos are there; each pair once.
ViewPairs pairs_of(const ScenePlan& plan, const Comparison& comparison,
                   const std::vector<std::vector<int>>& sources) {
  std::set<std::pair<int, int>> pairs;
  for (const int view : comparison.views) {
    std::size_t count = 0;
    for (const int source : sources[view])
      if (plan.view(source).needed && count++ < comparison.others) pairs.insert(std::minmax(view, source));
  }
  return {pairs.begin(), pairs.end()};
}

/// The next view by name of another photo; of a face, one of the same side where there is one.
int next_view(const ScenePlan& plan, int view) {
  const View& it = plan.scene_view(view);
  const int count = static_cast<int>(plan.views.size());
  if (!it.face) return view + 1 < count ? view + 1 : view - 1;
  int next = view;
  for (int i = 1; i < count; ++i) {
    const View& other = plan.scene_view((view + i) % count);
    if (other.photo_name() == it.photo_name()) continue;
    if (next == view) next = (view + i) % count;
    if (other.face && other.face->side == it.face->side) return (view + i) % count;
  }
  return next;
}

/// Of each view the nearest, the next by name, and the second nearest.
std::vector<std::vector<int>> neighbours(const ScenePlan& plan) {
  const SceneGeometry geometry(plan.scene);
  std::vector<std::vector<int>> result(plan.views.size());
  for (int view = 0; view < geometry.size(); ++view) {
    result[view] = nearest_views(geometry, view, 2);
    const int next = next_view(plan, view);
    if (std::ranges::find(result[view], next) == result[view].end())
      result[view].insert(result[view].begin() + 1, next);
  }
  return result;
}

/// The sources of the plan. Those that shared corners chose fit cameras and poses better than others: instead
/// of them, those by the geometry alone.
std::vector<std::vector<int>> planned_sources(const PreparedPhotos& photos) {
  const ScenePlan& plan = photos.products.plan;
  if (!photos.input.photo_points.empty()) return select_sources(SceneIndex(plan.scene), photos.selection);
  std::vector<std::vector<int>> sources;
  for (const ViewPlan& view : plan.views) sources.push_back(view.sources);
  return sources;
}

/// The camera of images of another size, scaled to its own.
Pinhole centred(Pinhole camera) {
  const auto [x, y] = size_factors({camera.cx, camera.cy}, camera.width, camera.height);
  return {camera.width, camera.height, camera.fx * x, camera.fy * y, camera.cx * x, camera.cy * y};
}

/// The fit of the same photos without a mistake of cameras and poses.
EpipolarFit fit_without(CalibrationMistake mistake, const PreparedPhotos& photos,
                        const Comparison& comparison, SmallViews& small) {
  const ScenePlan& plan = photos.products.plan;
  const Scene scene = without_mistake(plan.scene, mistake);
  std::vector<CalibratedView> views = small_cameras(plan);
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i].cam_from_world = scene.views[i].cam_from_world;
    if (mistake == CalibrationMistake::kImageSize) views[i].camera = centred(views[i].camera);
  }
  const ViewPairs pairs = pairs_of(plan, comparison, select_sources(SceneIndex(scene), photos.selection));
  return fit_matches(views, small.matches(pairs, views));
}

bool has_faces(const Scene& scene) {
  return std::ranges::any_of(scene.views, [](const View& view) { return view.face != nullptr; });
}

/// The mistake without which the photos fit, and better than with the change of cameras that is known;
/// nothing if they never do.
std::optional<CalibrationMistake> explain(const PreparedPhotos& photos, const Comparison& comparison,
                                          const EpipolarVerdict& verdict, SmallViews& small) {
  std::optional<CalibrationMistake> best;
  double most = std::max(kExplained, kBetter * verdict.fit.share);
  if (verdict.camera) most = std::max(most, verdict.camera->fit.share);
  for (const CalibrationMistake mistake : kCalibrationMistakes) {
    // Faces are cut to what their photo shows: their principal points lie anywhere.
    if (mistake == CalibrationMistake::kImageSize && has_faces(photos.products.plan.scene)) continue;
    const EpipolarFit it = fit_without(mistake, photos, comparison, small);
    messages().debug("with mistake {}: {:.3f} of {} corners fit", static_cast<int>(mistake), it.share,
                     it.matches);
    if (it.matches < kMinMatches || it.share < most) continue;
    best = mistake;
    most = it.share;
  }
  return best;
}

/// The matches with the sources, or with neighbours where only these fit: sources may be chosen badly,
/// without points to tell.
std::vector<ViewMatch> comparable_matches(const PreparedPhotos& photos, const Comparison& comparison,
                                          const std::vector<CalibratedView>& views, SmallViews& small) {
  const ScenePlan& plan = photos.products.plan;
  std::vector<ViewMatch> matches = small.matches(pairs_of(plan, comparison, planned_sources(photos)), views);
  const EpipolarFit given = fit_matches(views, matches);
  messages().debug("{:.3f} of {} corners fit, median {:.3f}", given.share, given.matches, given.median);
  if (given.matches >= kMinMatches && given.share >= kPhotosContradict) return matches;
  std::vector<ViewMatch> beside = small.matches(pairs_of(plan, comparison, neighbours(plan)), views);
  const EpipolarFit fit = fit_matches(views, beside);
  messages().debug("of neighbours {:.3f} of {} corners fit, median {:.3f}", fit.share, fit.matches,
                   fit.median);
  return fit.matches >= kMinMatches && fit.share > kPhotosFit ? beside : matches;
}

std::string correction_text(const CameraCorrection& correction, const Camera& camera) {
  switch (correction.error) {
    case CameraError::kFocal:
      return focal_text(correction.focal, camera);
    case CameraError::kCentre:
      return fmt::format("principal points moved by ({:+.0f}, {:+.0f}) pixels",
                         correction.centre.x * camera.width, correction.centre.y * camera.width);
    case CameraError::kDistortion:
      break;
  }
  return fmt::format("a radial distortion (k1) that is changed by {}{}", correction.distortion < 0 ? "" : "+",
                     plain(correction.distortion, 2));
}

std::string evidence_of(const DoubtedView& doubt, const EpipolarFit& others) {
  return fmt::format(
      "{:.0f} % of {} corners that it shares with other views lie on their epipolar lines, {:.0f} % of those "
      "of the others{}",
      100 * doubt.fit.share, doubt.fit.matches, 100 * others.share,
      doubt.degrees ? fmt::format("; it fits when it is turned by {:.1f} degrees", *doubt.degrees) : "");
}

/// Notes the single photos that do not fit to the others, unless more of these say that they do.
void note_doubts(const PreparedPhotos& photos, const EpipolarVerdict& verdict, bool checked_later,
                 Findings& findings) {
  for (const DoubtedView& it : verdict.views) {
    const std::string& name = photos.products.plan.scene_view(it.view).photo_name();
    if (findings.doubted_views.contains(name)) continue;
    if (!it.degrees && judge_photo(photos, it.view) != PhotoVerdict::kContradicts) continue;
    findings.photo_doubts.emplace(name, evidence_of(it, verdict.fit));
    messages().debug("{} is in doubt: {}", name, findings.photo_doubts.at(name));
  }
  if (!checked_later) warn_of_photos(photos.input.folder.root.string(), findings.photo_doubts, findings);
}

/// Warns of cameras with whose change the photos fit better. The change is one of pinholes, and says nothing
/// of the lens of a photo that became several.
void warn_of_cameras(const PreparedPhotos& photos, const EpipolarVerdict& verdict, Findings& findings) {
  const ScenePlan& plan = photos.products.plan;
  const CameraCorrection& correction = *verdict.camera;
  const Camera& camera = plan.photo_camera(0);
  const Pinhole& view = plan.view(0).camera;
  const bool is_face = has_faces(plan.scene);
  const double side = is_face ? std::max(view.width, view.height) : std::max(camera.width, camera.height);
  const double unit = side / kEpipolarUnits;
  const std::string change = is_face ? "other parameters of the lens" : correction_text(correction, camera);
  findings.warn_of_result(
      fmt::format("{}: the photos do not fit the cameras: with {}, corners that views share would lie {} "
                  "pixels from their epipolar lines (median of {}), and not {}; correct the cameras and "
                  "run again, else depths and cloud are wrong or missing",
                  photos.input.folder.root.string(), change, plain(correction.fit.median * unit, 2),
                  verdict.fit.matches, plain(verdict.fit.median * unit, 2)),
      "the photos do not fit the cameras, but would with " + change);
}

void warn_of_scene(const SceneInput& input, const EpipolarFit& fit, std::optional<CalibrationMistake> mistake,
                   Findings& findings) {
  findings.warn_of_result(
      fmt::format("{}: the photos contradict cameras and poses: {:.0f} % of {} corners that views share lie "
                  "on their epipolar lines, by chance 20 % or less, with right poses mostly more than half; "
                  "expect few and wrong points; {}",
                  input.folder.root.string(), 100 * fit.share, fit.matches, causes(input, mistake, findings)),
      "the photos contradict cameras and poses");
}

}  // namespace

void check_photos_fit(const PreparedPhotos& photos, bool checked_later, Findings& findings) {
  const Comparison comparison = compared_views(photos.products.plan);
  const std::vector<CalibratedView> views = small_cameras(photos.products.plan);
  SmallViews small(photos.products, photos.host, SmallViewsOf::kPrepared);
  const EpipolarVerdict verdict = judge_matches(views, comparable_matches(photos, comparison, views, small));
  messages().debug("{} views are in doubt; of the others {:.3f} of {} corners fit, median {:.3f}",
                   verdict.views.size(), verdict.fit.share, verdict.fit.matches, verdict.fit.median);
  note_doubts(photos, verdict, checked_later, findings);
  const bool enough = verdict.fit.matches >= kMinMatches;
  std::optional<CalibrationMistake> mistake;
  if (!enough || verdict.fit.share < kPhotosFit) mistake = explain(photos, comparison, verdict, small);
  const bool contradict = enough && verdict.fit.share < kPhotosContradict;
  if (mistake || (contradict && !verdict.camera))
    warn_of_scene(photos.input, verdict.fit, mistake, findings);
  else if (verdict.camera)
    warn_of_cameras(photos, verdict, findings);
  if (mistake || contradict)
    findings.photos_fit = false;
  else if (!verdict.camera && enough && verdict.fit.share > kPhotosFit)
    findings.photos_fit = true;
}

PhotoVerdict judge_photo(const PreparedPhotos& photos, int view) {
  const ScenePlan& plan = photos.products.plan;
  const std::vector<CalibratedView> views = small_cameras(plan);
  const std::vector<int> its_views = views_of_photo(views, view);
  const std::vector<std::vector<int>> beside = neighbours(plan);
  std::vector<std::vector<int>> others = planned_sources(photos);
  for (const int it : its_views) others[it].insert(others[it].begin(), beside[it].begin(), beside[it].end());
  SmallViews small(photos.products, photos.host, SmallViewsOf::kPrepared);
  std::vector<ViewMatch> matches = comparable_matches(photos, compared_views(plan), views, small);
  const auto is_its = [&](int it) { return std::ranges::binary_search(its_views, it); };
  std::erase_if(matches, [&](const ViewMatch& it) { return is_its(it.reference) || is_its(it.source); });
  const std::vector<ViewMatch> its = small.matches(pairs_of(plan, {its_views, kOthersOfOne}, others), views);
  PhotoCounts counts{0, static_cast<double>(its.size())};
  for (const int it : its_views) counts.corners += static_cast<double>(small.corner_count(it));
  const PhotoCounts usual = usual_counts(views, matches, small);
  messages().debug("{} has {} corners and {} matches, others {} and {}", plan.name(view), counts.corners,
                   counts.matches, usual.corners, usual.matches);
  const bool apart = is_apart(counts, usual);
  matches.insert(matches.end(), its.begin(), its.end());
  const EpipolarVerdict verdict = judge_matches(views, std::move(matches));
  if (std::ranges::any_of(verdict.views, [&](const DoubtedView& it) { return is_its(it.view); }))
    return PhotoVerdict::kContradicts;
  return apart ? PhotoVerdict::kApart : PhotoVerdict::kNothing;
}

void warn_of_photos(const std::string& scene, const std::map<std::string, std::string>& evidence,
                    Findings& findings) {
  std::size_t named = 0;
  for (const auto& [photo, text] : evidence) {
    findings.doubted_views.insert(photo);
    if (named++ < kNamedPhotos)
      findings.warn(
          fmt::format("{}: its photo contradicts its camera or its pose: {}; check them, or remove the view",
                      photo, text));
    else if (named == evidence.size())
      findings.warn(
          fmt::format("{}: the photos of {} more views contradict their cameras or their poses, such as {}",
                      scene, named - kNamedPhotos, photo));
  }
}

}  // namespace recon
