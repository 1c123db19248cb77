#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/products/findings.hpp"
#include "session/products/scene_input.hpp"
#include "session/products/scene_products.hpp"

namespace recon {

/// Random depths agree on up to this share, of checked to estimated pixels; right ones of hard scenes on
/// more.
inline constexpr double kAgreementByChance = 0.12;

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

}  // namespace recon
