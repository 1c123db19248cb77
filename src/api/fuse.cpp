#include "reconstruct/fuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "api/call.hpp"
#include "api/checked_views.hpp"
#include "api/convert.hpp"
#include "api/views.hpp"
#include "core/interrupt.hpp"
#include "core/plain_number.hpp"
#include "fuse/agreement.hpp"
#include "fuse/device_fusion.hpp"
#include "fuse/fusion.hpp"
#include "io/map/given_map.hpp"
#include "match/combine_step.hpp"
#include "session/diagnose/given_depths.hpp"
#include "session/options/option.hpp"
#include "session/plan/plan.hpp"

namespace reconstruct {

namespace {

using namespace recon;
using detail::view_name;
using reconstruct::FusionView;

SceneSettings fusion_settings(const Options& given, bool with_priors) {
  constexpr const char* kOfPriors = "prior-kind";  // it has a meaning without --prior-maps here
  Options others = given;
  others.erase(kOfPriors);
  SessionOptions options = detail::parse_results_options(
      others, "fuse", false,
      {OptionResult::kCheck, OptionResult::kAgreement, OptionResult::kCloud, OptionResult::kPlan});
  if (const auto kind = given.find(kOfPriors); kind != given.end()) {
    if (!with_priors) throw UsageError("--prior-kind has a meaning where views have priors only");
    find_option(kOfPriors)->set(options, kind->second);
  }
  for (const char* of_sweeps : {"max-image-size", "quality", "preset"})
    if (given.contains(of_sweeps))
      throw UsageError(std::string("--") + of_sweeps + " has no meaning for fuse, whose maps are given");
  return SceneSettings(options);
}

void check_map(const MapView<float>& map, const MapView<float>& depth, const std::string& name) {
  if (map.data == nullptr || map.width < 1 || map.height < 1 ||
      std::max(map.width, map.height) > recon::kMaxImageSide)
    throw UsageError(name + " has " + size_text(map.width, map.height) +
                     " pixels, or no data; each side must be 1 to " + std::to_string(recon::kMaxImageSide));
  if (map.width != depth.width || map.height != depth.height)
    throw UsageError(name + " has " + size_text(map.width, map.height) + " pixels and the depth map " +
                     size_text(depth.width, depth.height));
  if (map.pitch < static_cast<std::ptrdiff_t>(sizeof(float)) * map.width || map.pitch % sizeof(float) != 0)
    throw UsageError(name + " has a pitch of " + std::to_string(map.pitch) + " bytes");
}

/// Of the sources of a view are counted those that agree, in few bits: the program has as many at most.
void check_sources(const FusionView& view, std::size_t index, std::size_t count) {
  const std::string name = view_name(index);
  if (view.sources.size() > std::size_t{kMaxSources})
    throw UsageError(name + " has " + std::to_string(view.sources.size()) + " sources; it may have " +
                     std::to_string(kMaxSources));
  std::set<int> before;
  for (const int source : view.sources) {
    if (source < 0 || source >= static_cast<int>(count) || source == static_cast<int>(index))
      throw UsageError(name + " has the source " + std::to_string(source) + "; it must be another of the " +
                       std::to_string(count) + " views");
    if (!before.insert(source).second)
      throw UsageError(name + " has the source " + std::to_string(source) + " twice; each counts once");
  }
}

/// Priors and their confidences may be of any resolution.
void check_prior(const FusionView& view, const std::string& name) {
  if (view.prior.data == nullptr) {
    if (view.prior_confidence.data != nullptr)
      throw UsageError(name + " has confidences of a prior, and no prior");
    return;
  }
  for (const auto& [map, what] : {std::pair(&view.prior, "the prior of "),
                                  std::pair(&view.prior_confidence, "the confidence of the prior of ")}) {
    if (map->data == nullptr) continue;
    check_map(*map, *map, what + name);
    if (!same_shape_of_image(map->width, map->height, view.depth.width, view.depth.height))
      throw UsageError(fmt::format(
          "{}{} has {} pixels and the depth map {}; it must be of all of it, in any "
          "resolution above a sixteenth",
          what, name, size_text(map->width, map->height), size_text(view.depth.width, view.depth.height)));
  }
}

void check_view(const FusionView& view, std::size_t index, std::size_t count) {
  const std::string name = view_name(index);
  check_map(view.depth, view.depth, "the depth map of " + name);
  if (view.confidence.data != nullptr) check_map(view.confidence, view.depth, "the confidence of " + name);
  check_sources(view, index, count);
  check_prior(view, name);
  if (view.colour.data == nullptr) return;
  detail::check_image(view.colour, "the colour of " + name);
  if (view.colour.width != view.depth.width || view.colour.height != view.depth.height)
    throw UsageError("the colour of " + name + " has " + size_text(view.colour.width, view.colour.height) +
                     " pixels and the depth map " + size_text(view.depth.width, view.depth.height));
}

ScenePlan fusion_plan(const std::vector<FusionView>& views, const SceneSettings& settings) {
  if (views.size() < 2)
    throw UsageError("there is " + std::to_string(views.size()) +
                     " view; depths are checked across at least 2");
  Scene scene;
  std::vector<std::vector<int>> sources;
  bool any = false;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const FusionView& view = views[i];
    check_view(view, i, views.size());
    detail::add_view(view.camera, view.cam_from_world, view.depth.width, view.depth.height, view_name(i),
                     scene);
    sources.push_back(view.sources);
    any |= !view.sources.empty();
  }
  return plan_given_views(std::move(scene), any ? sources : std::vector<std::vector<int>>{}, {}, settings);
}

/// Hands fusion the checked maps.
class MapsInMemory : public FusionMapLoader {
 public:
  MapsInMemory(const std::vector<FusionView>& views, const std::vector<ViewDepth>& maps) : maps_(maps) {
    std::vector<reconstruct::ImageView> colours;
    for (const FusionView& view : views) colours.push_back(view.colour);
    const SampleLevels levels = detail::levels_of_images(colours);
    for (std::size_t i = 0; i < views.size(); ++i)
      colours_.push_back(
          views[i].colour.data == nullptr
              ? recon::Image<Rgb8>(maps[i].depth.width(), maps[i].depth.height(), Rgb8{0, 0, 0})
              : detail::colour_of(views[i].colour, levels));
  }

  std::shared_ptr<const FusionMaps> load(int view) override {
    check_interrupted();
    const ViewDepth& maps = maps_[view];
    return std::make_shared<const FusionMaps>(FusionMaps{
        maps.depth.view(), maps.normal.view(), maps.confidence.view(), colours_[view].view(), {}, {}});
  }

 private:
  const std::vector<ViewDepth>& maps_;
  std::vector<recon::Image<Rgb8>> colours_;
};

/// Keeps the points in the region of interest.
class CloudInMemory : public PointSink {
 public:
  explicit CloudInMemory(const std::optional<SceneBox>& roi) : roi_(roi) {}

  void reserve(int count) override { kept_.resize(count); }
  void keep(int slot, const FusedPoints& points) override {
    Cloud& cloud = kept_[slot];
    cloud.points.clear();
    cloud.views.clear();
    points.visit([&](const FusedPoint& point, std::span<const std::uint32_t> views) {
      const auto [p, n, c] = std::tuple(point.position, point.normal, point.colour);
      if (roi_ && !roi_->contains(p)) return;
      cloud.points.push_back(
          {{p.x, p.y, p.z}, {n.x, n.y, n.z}, {c.r, c.g, c.b}, point.confidence, point.view_count});
      cloud.views.insert(cloud.views.end(), views.begin(), views.end());
    });
  }
  void add(int slot) override {
    const Cloud& more = kept_[slot];
    all_.points.insert(all_.points.end(), more.points.begin(), more.points.end());
    all_.views.insert(all_.views.end(), more.views.begin(), more.views.end());
  }

  Cloud take() { return std::move(all_); }

 private:
  const std::optional<SceneBox>& roi_;
  std::vector<Cloud> kept_;
  Cloud all_;
};

/// What the program says of maps of --depth-maps.
/// @throws InputError where next to nothing of them agrees
std::vector<std::string> doubts_of_maps(const std::vector<FusionView>& views, const ScenePlan& plan) {
  const auto points = [&](const std::vector<int>& of_views) {
    std::vector<std::vector<Vec3d>> seen;
    for (const int view : of_views) {
      seen.emplace_back();
      for (const auto& [x, y, z] : views[view].points) seen.back().push_back({x, y, z});
    }
    return seen;
  };
  std::vector<int> all(views.size());
  std::iota(all.begin(), all.end(), 0);
  MapDoubts doubts =
      doubts_of({plan, std::move(all), [](int) { return true; },
                 [&](int view) { return detail::given_depth(views[view].depth); }, points,
                 "the sparse points", [](double scale) { return "divide them by " + plain(scale, 4); }});
  if (doubts.useless) throw InputError(fmt::format("{}", fmt::join(doubts.texts, "; ")));
  return std::move(doubts.texts);
}

Fusion fuse_views(Backend& backend, const std::vector<FusionView>& views, const SceneSettings& settings) {
  const ScenePlan plan = fusion_plan(views, settings);
  Fusion result;
  result.warnings = doubts_of_maps(views, plan);
  detail::CheckedViews check(backend, views, plan, settings.check, settings.prior.kind);
  std::ranges::copy(check.warnings(), std::back_inserter(result.warnings));
  const std::vector<std::vector<int>> overlaps = plan.overlaps();
  std::vector<recon::FusionView> geometry;
  for (std::size_t i = 0; i < views.size(); ++i)
    geometry.push_back({plan.views[i].camera, plan.scene.views[i].cam_from_world, overlaps[i]});
  recon::FusionOptions fusion = settings.fusion(views.size());
  fusion.max_cached_views = views.size();
  MapsInMemory maps(views, check.checked());
  CloudInMemory cloud(settings.cloud.roi);
  const std::unique_ptr<DeviceFusion> device = backend.fusion(geometry, fusion);
  recon::fuse(geometry, maps, fusion, cloud, device.get());
  for (ViewDepth& it : check.checked()) result.checked.push_back(detail::maps_of(std::move(it)));
  result.cloud = cloud.take();
  return result;
}

}  // namespace

Fusion fuse(const Device& device, const std::vector<FusionView>& views, const Options& options,
            std::stop_token stop) {
  return detail::on_device(device, std::move(stop), [&](const detail::OpenDevice& opened) {
    const bool with_priors =
        std::ranges::any_of(views, [](const FusionView& view) { return view.prior.data != nullptr; });
    return fuse_views(opened.front(), views, fusion_settings(options, with_priors));
  });
}

}  // namespace reconstruct
