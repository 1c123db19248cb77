#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "session/diagnose/photo_check.hpp"
#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/products/findings.hpp"
#include "session/products/scene_input.hpp"
#include "session/products/scene_products.hpp"

namespace recon {

/// What the check across views leaves of some views' depths.
struct ViewAgreement {
  double estimated = 0;  ///< mean share of the pixels with a depth before it
  double checked = 0;    ///< the same after it

  /// Checked divided by estimated pixels.
  double share() const { return estimated > 0 ? checked / estimated : 0; }
};

/// The agreement of finished views.
ViewAgreement agreement_of(const SceneProducts& products, const std::vector<int>& views);

/// Whether so few depths agree that chance explains it.
bool by_chance(const Findings& findings, const ViewAgreement& agreement);

/// Why views agree by chance only, for people; in full once.
std::string disagreement(const SceneInput& input, Findings& findings);

/// Whether a cloud of `points` is there by chance: its views agree by chance only, and the photos contradict
/// cameras and poses, or hardly a pixel in a hundred became a point.
/// @param spacing  see FusionOptions
bool is_cloud_by_chance(const SceneProducts& products, const Findings& findings,
                        const std::vector<int>& views, std::uint64_t points, int spacing);

/// Warns when the views agree by chance only, or single views do where the others agree. A doubt of a photo
/// is dropped where other views confirm half as much of its depths as of all.
void check_agreement(const PreparedPhotos& photos, Findings& findings);

/// Warns where --min-views asks for more views than any view has as sources, which is what it can have.
void warn_of_min_views(const ScenePlan& plan, const SceneSettings& settings, Findings& findings);

/// Warns where --min-fused-views asks for more than the views that are fused. Without any, the run ends with
/// the reason.
void warn_of_min_fused_views(std::size_t views, const SceneSettings& settings, Findings& findings);

}  // namespace recon
