#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "methods/backend.hpp"
#include "reconstruct/fuse.hpp"
#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/scene/confirmed_depths.hpp"
#include "session/scene/prior_fits.hpp"

namespace reconstruct::detail {

/// What messages call a view of `fuse`.
std::string view_name(std::size_t view);

/// A copy of the caller's depths, unknown as NaN.
recon::Image<float> given_depth(const MapView<float>& map);

/// The depth maps of all views, from the caller's to those that the check across views leaves, as the program
/// makes them: what priors fill comes between.
class CheckedViews {
 public:
  /// The arguments outlive this.
  /// @param kind  of the priors
  CheckedViews(recon::Backend& backend, const std::vector<FusionView>& views, const recon::ScenePlan& plan,
               const recon::CheckSettings& settings, recon::PriorKind kind);

  std::vector<recon::ViewDepth>& checked() { return checked_; }

  /// Which priors are not used.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  /// The maps of a view before the check.
  struct Unchecked {
    recon::ViewDepth maps;
    std::unique_ptr<recon::ViewDepth> by_prior;  ///< what a prior has filled; or null
    float normal_noise = 0;
  };

  /// A view in small, in which its prior is fitted.
  struct Small {
    recon::Pinhole camera;
    recon::ViewDepth maps;
    recon::ConfirmedDepths confirmed;
  };

  /// @param id  identifies the maps on the device
  recon::DepthSource depth_source(int view, const recon::ViewDepth& maps, std::uint64_t id) const;
  recon::DepthSource given_source(int view) const;
  recon::DepthSource filled_source(int view) const;
  std::vector<recon::DepthSource> sources(int view, bool by_priors) const;
  recon::Image<std::uint8_t> mask(int view) const;
  recon::PriorSource priors() const;
  std::vector<Small> small_views(recon::Backend& backend) const;
  void fill_by_priors(recon::Backend& backend, recon::PriorKind kind);
  /// @param prior  depths in small
  void fill(int view, recon::ImageView<const float> prior);
  recon::ViewDepth check(recon::Backend& backend, int view) const;

  const std::vector<FusionView>& views_;
  const recon::CheckSettings& settings_;
  const recon::ScenePlan& plan_;
  const std::uint64_t first_id_;  ///< of given maps, then of those in small, then of the filled ones
  std::vector<Unchecked> unchecked_;
  std::vector<recon::ViewDepth> checked_;
  std::vector<std::string> warnings_;
};

}  // namespace reconstruct::detail
