#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "session/options/options.hpp"
#include "session/products/findings.hpp"
#include "session/products/scene_input.hpp"

namespace recon {

/// What sources confirm of the depths of a view in small.
struct ConfirmedView {
  int view = 0;
  const Pinhole& camera;
  ImageView<const float> depth;        ///< NaN = not confirmed
  ImageView<const float> reliability;  ///< of these depths, see recon::reliability
};

/// The priors of --prior-maps, fitted to the confirmed depths of views.
class PriorFits {
 public:
  /// @param kind  of the priors; for kAuto it is chosen by some of the views
  /// @param at_once  maps that are read side by side
  PriorFits(const PriorMaps& maps, const ScenePlan& plan, PriorKind kind,
            const std::vector<ConfirmedView>& views, int at_once);

  /// The depths by which a prior fills pixels of a view that no plane fills and sources do not confirm, or
  /// confirm with little reliability and unlike the prior; empty where it fills none.
  /// @param planes  the depths that planes of the scene fill, infinite where no surface is, else NaN
  /// @param result  set to what the report says of the prior; null where the view has none; a map that cannot
  ///                be read is a fault of its view
  Image<float> filling(const ConfirmedView& view, ImageView<const float> planes,
                       nlohmann::json& result) const;

  /// As the option names it; empty: there are no priors.
  std::string kind() const;

 private:
  PriorKind better_kind(const std::vector<ConfirmedView>& views, int at_once) const;

  const PriorMaps& maps_;
  const ScenePlan& plan_;
  PriorKind kind_;
};

/// Says what the values of the priors follow, and which priors are not used.
/// @param result  of Step::kPlanes
void report_priors(const nlohmann::json& result, const std::string& folder, Findings& findings);

}  // namespace recon
