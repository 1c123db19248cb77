#include "reconstruct/sweep.hpp"

#include <utility>

#include "api/call.hpp"
#include "api/convert.hpp"
#include "api/sweep_call.hpp"
#include "api/views.hpp"
#include "core/parallel.hpp"
#include "core/unique_id.hpp"
#include "io/map/map_files.hpp"
#include "match/combine_step.hpp"
#include "methods/sweep/device_sweeper.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"
#include "session/products/stores.hpp"

namespace reconstruct {

namespace {

using namespace recon;
using reconstruct::ImageView;
using reconstruct::View;

/// The reference and then the sources.
using Views = std::vector<const View*>;

}  // namespace

SceneSettings detail::sweep_settings(const Options& given, const char* call) {
  SessionOptions options =
      parse_results_options(given, call, false, {OptionResult::kDepthMaps, OptionResult::kPlan});
  for (const char* of_choice : {"sources", "min-angle", "max-angle", "max-image-size"})
    if (given.contains(of_choice))
      throw UsageError(std::string("--") + of_choice + " has no meaning for " + call +
                       ", whose sources and images are as they are given");
  if (options.method_of(false) != Method::kPlaneSweep)
    throw UsageError("--method is '" + method_keyword(options.method_of(false)) + "'; " + call +
                     " takes planesweep");
  return SceneSettings(options);
}

ScenePlan detail::sweep_plan(const std::vector<PlacedView>& views, const SceneSettings& settings) {
  if (views.size() < 2 || views.size() > std::size_t{kMaxSources} + 1)
    throw UsageError("there are " + std::to_string(views.size() - 1) + " sources; a sweep takes 1 to " +
                     std::to_string(kMaxSources));
  Scene scene;
  std::vector<std::vector<int>> sources(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    const PlacedView& view = views[i];
    add_view(view.camera, view.cam_from_world, view.width, view.height, name_in_sweep(i), scene);
    if (i > 0) sources[0].push_back(static_cast<int>(i));
  }
  return plan_given_views(std::move(scene), sources, {0}, settings);
}

namespace {

DepthMaps sweep_views(Backend& backend, const Views& views, const SceneSettings& settings) {
  std::vector<detail::PlacedView> placed;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const View& view = *views[i];
    detail::check_image(view.image, name_in_sweep(i));
    placed.push_back({view.camera, view.cam_from_world, view.image.width, view.image.height});
  }
  const ScenePlan plan = detail::sweep_plan(placed, settings);
  const MatchingSettings& matching = settings.matching;
  SweepProblem problem = sweep_problem(plan, 0, matching);
  backend.memory(sweep_shape(problem));  // throws where it does not suffice
  std::vector<ImageView> photos;
  for (const View* view : views) photos.push_back(view->image);
  const SampleLevels levels = detail::levels_of_images(photos);
  std::vector<PhotoStore::Channels> channels(views.size());
  PhotoStore::Colour colours;  // of the reference
  recon::parallel_for(static_cast<int>(views.size()), [&](int i) {
    PhotoStore::Colour colour = detail::colour_of(views[i]->image, levels);
    channels[i] = split_channels(colour, matching.colour, plan.view(0).levels);
    if (i == 0 && has_step(problem.refine, kNeedsColours)) colours = std::move(colour);
  });
  if (has_step(problem.refine, kNeedsColours)) problem.colours = colours.view();
  set_all_pixels(
      [&](std::size_t i) -> const auto& { return channels[i]; }, problem);
  narrow_planes(backend, plan, 0, matching, problem);
  const Pinhole& camera = plan.view(0).camera;
  const recon::Image<std::uint8_t> mask =
      detail::mask_of(views.front()->mask, camera.width, camera.height, name_in_sweep(0));
  ViewDepth maps = estimate_view(backend, problem, matching.filter, mask.view());
  keep_within(matching.bounds, maps);
  round_confidences(maps.confidence.view());
  maps.normal = backend.normals(maps.depth.view(), camera, unique_ids(1));
  return detail::maps_of(std::move(maps));
}

}  // namespace

DepthMaps sweep(const Device& device, const View& reference, const std::vector<View>& sources,
                const Options& options, std::stop_token stop) {
  return detail::on_device(device, std::move(stop), [&](const detail::OpenDevice& opened) {
    Views views = {&reference};
    for (const View& source : sources) views.push_back(&source);
    return sweep_views(opened.front(), views, detail::sweep_settings(options, "sweep"));
  });
}

}  // namespace reconstruct
