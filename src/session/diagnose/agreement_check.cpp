#include "session/diagnose/agreement_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "session/diagnose/agreement.hpp"
#include "session/diagnose/empty_photos.hpp"

namespace recon {

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

}  // namespace recon
