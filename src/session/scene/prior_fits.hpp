#pragma once

#include <functional>
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

/// Where the priors of views come from.
struct PriorSource {
  bool any = false;  ///< whether there are priors
  std::function<bool(int view)> has;
  /// See prior_in_image. @throws InputError where it cannot be read
  std::function<Prior(int view, const Pinhole& camera, PriorKind kind)> read;
};

/// The priors of views, fitted to their confirmed depths.
class PriorFits {
 public:
  /// So many views, at most, show what the values follow.
  static constexpr std::size_t kAsked = 5;

  /// @param kind  of the priors; for kAuto it is chosen by some of the views
  /// @param at_once  maps that are read side by side
  PriorFits(PriorSource priors, PriorKind kind, const std::vector<ConfirmedView>& views, int at_once);

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

  const PriorSource priors_;
  PriorKind kind_;
};

/// Which priors are not used, for people.
/// @param priors   what PriorFits::filling says of each view, by its name
/// @param subject  what the texts begin with, such as "--prior-maps FOLDER: "
std::vector<std::string> unused_priors(const nlohmann::json& priors, const std::string& subject);

/// Says what the values of the priors of --prior-maps follow, and which priors are not used.
/// @param result  of Step::kPlanes
void report_priors(const nlohmann::json& result, const std::string& folder, Findings& findings);

}  // namespace recon
