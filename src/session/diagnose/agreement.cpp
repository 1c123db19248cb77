#include "session/diagnose/agreement.hpp"

#include "session/diagnose/calibration.hpp"

namespace recon {

namespace {

/// See kAgreementByChance; where the photos fit cameras and poses, and where they contradict them.
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

}  // namespace recon
