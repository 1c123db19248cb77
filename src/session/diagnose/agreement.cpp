#include "session/diagnose/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "session/diagnose/calibration.hpp"

namespace recon {

namespace {

/// Random depths agree on up to this share, of checked to estimated pixels; right ones of hard scenes on
/// more.
constexpr double kAgreementByChance = 0.12;
/// The same where the photos fit cameras and poses, and where they contradict them.
constexpr double kByChanceOfFitting = 0.1, kByChanceOfContradicted = 0.2;
/// Points by chance of a pixel before the check.
constexpr double kNextToNothing = 0.01;

}  // namespace

bool by_chance(const Findings& findings, const ViewAgreement& agreement) {
  double limit = kAgreementByChance;
  if (findings.photos_fit) limit = *findings.photos_fit ? kByChanceOfFitting : kByChanceOfContradicted;
  return agreement.share() < limit;
}

std::string disagreement(const SceneInput& input, Findings& findings) {
  if (!findings.is_new("disagreement")) return "an earlier warning says what to check";
  if (input.given.any()) return "check the given maps, their --depth-unit and the poses";
  if (findings.photos_fit && *findings.photos_fit)
    return "the photos fit cameras and poses, so that the depth range is in doubt: set --depth-min and "
           "--depth-max";
  return "check the poses and the depth range (--depth-min, --depth-max); " +
         causes(input, std::nullopt, findings);
}

ViewAgreement agreement_of(const SceneProducts& products, const std::vector<int>& views) {
  ViewAgreement sum;
  for (const int view : views) {
    sum.estimated += products.known_share(Step::kEstimate, view) / static_cast<double>(views.size());
    sum.checked += products.known_share(Step::kCheck, view) / static_cast<double>(views.size());
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
    pixels += products.known_share(Step::kEstimate, view) * camera.width * camera.height;
  }
  const double pixels_a_point = static_cast<double>(spacing) * spacing;
  return static_cast<double>(points) * pixels_a_point < kNextToNothing * pixels;
}

namespace {

/// With fewer depths before the check, matching finds next to nothing.
constexpr double kMinEstimated = 0.01;
/// A view is named when it agrees by chance only, and on less than this share of what the others do.
constexpr double kOfOtherViews = 0.25;
/// A photo that corners speak against is named when it agrees on less than this share of what all do: a small
/// turn leaves some.
constexpr double kOfAllInDoubt = 0.5;
/// Photos that are looked at.
constexpr std::size_t kJudged = 5;

/// Whether other views confirm next to nothing of some views, and more of others.
bool is_alone(const SceneProducts& products, const std::vector<int>& views, const ViewAgreement& all) {
  const double share = agreement_of(products, views).share();
  return share < kAgreementByChance && share < kOfOtherViews * all.share();
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
  const std::map<std::string, std::vector<int>> photos = products.plan.by_photo(views);
  for (const auto& [photo, doubt] : findings.photo_doubts) {
    const auto its_views = photos.find(photo);
    if (its_views == photos.end())
      wrong.emplace(photo, doubt);  // of a source, which this run gives no depths
    else if (agreement_of(products, its_views->second).share() < kOfAllInDoubt * all.share())
      wrong.emplace(photo, evidence_of(its_views->second) + "; " + doubt);
  }
  for (const auto& [photo, its_views] : photos) {
    if (findings.doubted_views.contains(photo) || findings.photo_doubts.contains(photo)) continue;
    const auto first =
        std::ranges::find_if(its_views, [&](int view) { return is_alone(products, {view}, all); });
    if (first == its_views.end()) continue;
    const std::string evidence = evidence_of({*first});
    if (judged++ >= kJudged) continue;
    const PhotoVerdict verdict = judge_photo(compared, *first);
    if (verdict == PhotoVerdict::kContradicts)
      wrong.emplace(photo, evidence);
    else if (std::ranges::all_of(its_views, [&](int view) { return is_alone(products, {view}, all); }))
      warn_of_lone_photo(products, its_views, verdict, evidence, findings);
  }
  warn_of_photos(compared.input.folder.root.string(), wrong, findings);
}

}  // namespace

void check_agreement(const PreparedPhotos& photos, Findings& findings) {
  const SceneProducts& products = photos.products;
  const std::vector<int> views = products.views_with(Step::kCheck);
  if (views.empty()) return;
  const ViewAgreement all = agreement_of(products, views);
  const bool found = all.estimated >= kMinEstimated;
  if (found && !by_chance(findings, all)) {
    judge_photos(photos, views, all, findings);
    return;
  }
  const std::string scene = photos.input.folder.root.string();
  warn_of_photos(scene, findings.photo_doubts, findings);  // nothing speaks against them
  if (!found) return;                                      // the cloud is empty, which has its own message
  findings.warn_of_result(
      fmt::format("{}: the views do not agree: {:.1f} % of the pixels have a depth before the check across "
                  "views, and {:.1f} % after it, as it is by chance; points are there by chance: {}",
                  scene, 100 * all.estimated, 100 * all.checked, disagreement(photos.input, findings)),
      "the views do not agree");
}

void warn_of_min_views(const ScenePlan& plan, const SceneSettings& settings, Findings& findings) {
  int most = 0;
  for (const int view : plan.views_in_scope())
    most = std::max(most, static_cast<int>(plan.view(view).sources.size()));
  if (settings.check.consistency.min_views > most)
    findings.warn(
        fmt::format("depths need the agreement of {} instead of {} views, as no view has more sources; lower "
                    "--min-views, or raise --sources",
                    most, settings.check.consistency.min_views));
}

void warn_of_min_fused_views(std::size_t views, const SceneSettings& settings, Findings& findings) {
  if (views > 0 && static_cast<int>(views) < settings.cloud.min_views)
    findings.warn(
        fmt::format("points need {} instead of {} views, as there are no more; lower --min-fused-views, or "
                    "add photos that overlap",
                    views, settings.cloud.min_views));
}

}  // namespace recon
