#include "api/checked_views.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/convert.hpp"
#include "api/views.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/unique_id.hpp"
#include "fuse/normal_noise.hpp"
#include "io/map/map_files.hpp"
#include "scene/corner_matches.hpp"
#include "session/products/filled_maps.hpp"
#include "session/products/stores.hpp"
#include "session/scene/confirmed_depths.hpp"
#include "session/scene/view_check.hpp"

namespace reconstruct::detail {

using namespace recon;
using reconstruct::FusionView;

namespace {

/// A copy of the caller's map, with NaN where it says nothing.
template <class IsKnown>
recon::Image<float> copy_of(const MapView<float>& map, const IsKnown& is_known) {
  recon::Image<float> image(map.width, map.height);
  for (int y = 0; y < map.height; ++y) {
    const float* from = row_of(map, y);
    for (int x = 0; x < map.width; ++x) image(x, y) = is_known(from[x]) ? from[x] : kUnknown;
  }
  return image;
}

/// A copy of the caller's maps.
ViewDepth given_maps(const FusionView& view, const recon::Image<std::uint8_t>& mask,
                     const DepthRange& bounds) {
  const int width = view.depth.width, height = view.depth.height;
  recon::Image<float> depth = given_depth(view.depth), confidence(width, height);
  for (int y = 0; y < height; ++y) {
    const float* trust = view.confidence.data == nullptr ? nullptr : row_of(view.confidence, y);
    for (int x = 0; x < width; ++x) {
      const float given = trust == nullptr ? 1.0f : trust[x];
      confidence(x, y) = std::isnan(depth(x, y)) ? kUnknown : given >= 0 ? std::min(given, 1.0f) : 0.0f;
    }
  }
  ViewDepth maps = finish_view(std::move(depth), std::move(confidence), mask.view(), false, 0);
  keep_within(bounds, maps);
  round_confidences(maps.confidence.view());
  return maps;
}

Prior given_prior(const FusionView& view) {
  Prior prior;
  prior.values = copy_of(view.prior, [](float value) { return value != 0 && std::isfinite(value); });
  if (view.prior_confidence.data != nullptr)
    prior.confidence = copy_of(view.prior_confidence, [](float value) { return value >= 0; });
  return prior;
}

}  // namespace

std::string view_name(std::size_t view) {
  return "view " + std::to_string(view);
}

recon::Image<float> given_depth(const MapView<float>& map) {
  return copy_of(map, [](float depth) { return std::isfinite(depth) && depth > 0; });
}

CheckedViews::CheckedViews(Backend& backend, const std::vector<FusionView>& views, const ScenePlan& plan,
                           const CheckSettings& settings, PriorKind kind)
    : views_(views),
      settings_(settings),
      plan_(plan),
      first_id_(unique_ids(3 * views.size())),
      unchecked_(views.size()) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    const int view = static_cast<int>(i);
    ViewDepth& maps = unchecked_[i].maps = given_maps(views[i], mask(view), settings.bounds);
    maps.normal = backend.normals(maps.depth.view(), plan_.view(view).camera, first_id_ + i);
    unchecked_[i].normal_noise =
        recon::normal_noise(maps.depth.view(), maps.normal.view(), maps.confidence.view());
  }
  fill_by_priors(backend, kind);
  for (std::size_t i = 0; i < views.size(); ++i) checked_.push_back(check(backend, static_cast<int>(i)));
}

DepthSource CheckedViews::depth_source(int view, const ViewDepth& maps, std::uint64_t id) const {
  return {plan_.view(view).camera, plan_.scene_view(view).cam_from_world, id,
          [&maps] {
            return DepthSource::Maps{maps.depth.view(), maps.normal.view(), nullptr};
          },
          unchecked_[view].normal_noise};
}

DepthSource CheckedViews::given_source(int view) const {
  return depth_source(view, unchecked_[view].maps, first_id_ + static_cast<std::uint64_t>(view));
}

DepthSource CheckedViews::filled_source(int view) const {
  if (!unchecked_[view].by_prior) return given_source(view);
  return depth_source(view, *unchecked_[view].by_prior,
                      first_id_ + 2 * views_.size() + static_cast<std::uint64_t>(view));
}

std::vector<DepthSource> CheckedViews::sources(int view, bool by_priors) const {
  std::vector<DepthSource> result;
  for (const int source : plan_.view(view).sources)
    result.push_back(by_priors ? filled_source(source) : given_source(source));
  return result;
}

recon::Image<std::uint8_t> CheckedViews::mask(int view) const {
  const FusionView& it = views_[view];
  return mask_of(it.mask, it.depth.width, it.depth.height, view_name(static_cast<std::size_t>(view)));
}

PriorSource CheckedViews::priors() const {
  const auto has = [](const FusionView& view) { return view.prior.data != nullptr; };
  return {std::ranges::any_of(views_, has), [this, has](int view) { return has(views_[view]); },
          [this](int view, const Pinhole& camera, PriorKind kind) {
            return prior_in_image(given_prior(views_[view]), kind, {plan_.photo_camera(view)}, camera);
          }};
}

std::vector<CheckedViews::Small> CheckedViews::small_views(Backend& backend) const {
  std::vector<Small> small(views_.size());
  for (std::size_t i = 0; i < small.size(); ++i) {
    const Pinhole& camera = plan_.view(static_cast<int>(i)).camera;
    const int factor = plane_image_factor(camera);
    small[i].camera = averaged(camera, factor);
    small[i].maps = thinned(unchecked_[i].maps, small[i].camera, factor);
  }
  const auto source_of = [&](int view) {
    DepthSource source =
        depth_source(view, small[view].maps, first_id_ + views_.size() + static_cast<std::uint64_t>(view));
    source.camera = small[view].camera;
    return source;
  };
  for (int view = 0; view < std::ssize(small); ++view) {
    check_interrupted();
    std::vector<DepthSource> asked;
    for (const int source : plan_.view(view).sources)
      if (asked.size() < kAskedSources) asked.push_back(source_of(source));
    small[view].confirmed = confirmed_depths(
        small[view].maps.depth.view(), asked.size(), settings_, [&](const ConsistencyOptions& options) {
          return backend.count_agreement(source_of(view), asked, options);
        });
  }
  return small;
}

void CheckedViews::fill_by_priors(Backend& backend, PriorKind kind) {
  constexpr int kReadAtOnce = 4;
  const PriorSource priors = this->priors();
  if (!priors.any) return;
  const std::vector<Small> small = small_views(backend);
  std::vector<ConfirmedView> confirmed;
  for (int view = 0; view < std::ssize(small); ++view) {
    const Small& it = small[view];
    confirmed.push_back({view, it.camera, it.confirmed.depth.view(), it.confirmed.reliability.view()});
  }
  const PriorFits fits(priors, kind, confirmed, kReadAtOnce);
  std::vector<nlohmann::json> said(small.size());
  bounded_parallel_for(static_cast<int>(small.size()), kReadAtOnce, [&](int view) {
    check_interrupted();
    const Pinhole& camera = small[view].camera;
    const recon::Image<float> no_planes(camera.width, camera.height, kUnknown),
        filling = fits.filling(confirmed[view], no_planes.view(), said[view]);
    if (!filling.empty()) fill(view, filling.view());
  });
  nlohmann::json of_views = nlohmann::json::object();
  for (std::size_t i = 0; i < said.size(); ++i)
    if (!said[i].is_null()) of_views[view_name(i)] = std::move(said[i]);
  warnings_ = unused_priors(of_views, "");
}

void CheckedViews::fill(int view, recon::ImageView<const float> prior) {
  const ViewDepth& maps = unchecked_[view].maps;
  unchecked_[view].by_prior = std::make_unique<ViewDepth>(
      ViewDepth{maps.depth.clone(), maps.normal.clone(), maps.confidence.clone()});
  ViewDepth& filled = *unchecked_[view].by_prior;
  const recon::Image<std::uint8_t> mask = this->mask(view);
  fill_by_prior(prior, plan_.view(view).camera, settings_.bounds,
                {filled.depth.view(), filled.normal.view(), filled.confidence.view(), mask.view()});
}

ViewDepth CheckedViews::check(Backend& backend, int view) const {
  check_interrupted();
  const recon::Image<std::uint8_t> mask = this->mask(view);
  const Unchecked& unchecked = unchecked_[view];
  const ViewDepth& maps = unchecked.by_prior ? *unchecked.by_prior : unchecked.maps;
  ViewCheck of_view{filled_source(view), sources(view, false), mask.view(), {}, {}};
  of_view.count_agreement = [&] {
    recon::Image<Agreement> said =
        backend.count_agreement(of_view.reference, of_view.sources, settings_.consistency);
    if (unchecked.by_prior)
      take_said_of_priors(
          maps.confidence.view(),
          backend.count_agreement(of_view.reference, sources(view, true), settings_.consistency), said);
    return said;
  };
  of_view.normals = [&](recon::ImageView<const float> depth) {
    return backend.checked_normals(depth, of_view.reference.camera);
  };
  return recon::check_view(of_view, maps, settings_);
}

}  // namespace reconstruct::detail
