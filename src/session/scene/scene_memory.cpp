#include <algorithm>
#include <memory>

#include "core/counted_memory.hpp"
#include "fuse/planes/scene_planes.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/stereo/pair_depth.hpp"
#include "refine/mean_normals.hpp"
#include "scene/corner_matches.hpp"
#include "session/products/filled_maps.hpp"
#include "session/products/stores.hpp"
#include "session/scene/plan_memory.hpp"
#include "session/scene/view_check.hpp"

namespace recon {

namespace {

/// Rows of an image begin at multiples of 64 bytes or elements, and its halves have half the rows of any
/// padding.
std::size_t padded_pixels(const Pinhole& camera) {
  constexpr int kPadding = 64;
  return static_cast<std::size_t>(padded_count<Rgb8>(camera.width) + kPadding) *
         static_cast<std::size_t>(camera.height);
}

/// The memory of a view on a backend: of a thread that matches and filters, and of one that filters only.
struct ViewMemory {
  WorkMemory work;
  std::size_t matching = 0, finishing = 0;
};

ViewMemory swept_memory(const ScenePlan& plan, int view, const MatchingSettings& matching,
                        const Backend& backend) {
  const SweepProblem problem = sweep_problem(plan, view, matching);
  const WorkMemory work = backend.memory(sweep_shape(problem));
  const std::size_t filter = counted_bytes(1, [&] {
    const Pinhole& camera = problem.reference.camera;
    filter_estimate(sized_image(camera, problem.reference.channels), problem.cost.window, matching.filter,
                    uninitialised_estimate(camera.width, camera.height));
  });
  return {work, std::max(work.host_bytes, filter), filter};
}

/// The pairs of a view need as much as the one that needs most.
ViewMemory paired_memory(const ScenePlan& plan, int view, const MatchingSettings& matching,
                         const Backend& backend) {
  const ViewPlan& it = plan.view(view);
  const PairDepthOptions pairs = pair_depth_options(matching);
  PairSpec spec(pairs.matching);
  WorkMemory most;
  const PosedImage image = sized_image(it.camera, matching.colour ? 3 : 1);
  std::vector<PairSource> sources;
  for (const ViewPair& pair : it.pairs) {
    spec.range = {pair.pair.min_disparity, pair.pair.disparities};
    const WorkMemory one = backend.pair_memory(pair.pair.left.width, pair.pair.left.height, spec);
    most.host_bytes = std::max(most.host_bytes, one.host_bytes);
    most.device_bytes = std::max(most.device_bytes, one.device_bytes);
    most.tiles = std::max(most.tiles, one.tiles);
    sources.push_back({image, pair.pair});
  }
  const auto bytes = [&](std::size_t of_matching) {
    const auto match = [&](const PairProblem& problem) {
      { const CountedBytes matching_bytes(of_matching); }
      return DisparityMap{Image<float>(problem.images.left.width, problem.images.left.height)};
    };
    return counted_bytes(1, [&] { estimate_view_from_pairs(match, image, sources, pairs); });
  };
  return {most, bytes(most.host_bytes), bytes(0)};
}

/// The memory of the estimation of a view; where maps are given, they are read.
ViewMemory estimation_memory(const ScenePlan& plan, int view, const SceneSettings& settings,
                             const Backend& backend) {
  if (settings.plan.given_maps) return {{}, plan.given_map_bytes, plan.given_map_bytes};
  return plan.view(view).pairs.empty() ? swept_memory(plan, view, settings.matching, backend)
                                       : paired_memory(plan, view, settings.matching, backend);
}

/// Adds the estimation of all views on a backend.
void add_stream(const ScenePlan& plan, const SceneSettings& settings, const Backend& backend,
                SceneMemory& memory) {
  SceneMemory::Stream stream{static_cast<std::size_t>(backend.streams()), 0, 0};
  for (const int view : plan.active_views()) {
    const ViewMemory of_view = estimation_memory(plan, view, settings, backend);
    // Then the maps get normals, and are written.
    const std::size_t maps =
        pixels_of(plan.view(view).camera) * (ViewDepth::kPixelBytes + MapStore::kWriteBytes);
    stream.matching = std::max({stream.matching, of_view.matching, maps});
    stream.finishing = std::max({stream.finishing, of_view.finishing, maps});
    memory.device_bytes = std::max(memory.device_bytes, of_view.work.device_bytes);
    memory.tiles = std::max(memory.tiles, of_view.work.tiles);
  }
  memory.streams.push_back(stream);
}

/// Adds a view in small whose areas get planes: while they are searched, its depths, their reliability,
/// greys, sky and points are kept; its areas are divided by edges and lists of pixels. To fit a prior then
/// takes less: its maps and lists of anchors are up to 64 bytes a pixel.
void add_planes(std::size_t pixels, SceneMemory& memory) {
  constexpr std::size_t kHeld = 2 * sizeof(float) + 2 * sizeof(std::uint8_t) + sizeof(SurfacePoint) / 4,
                        kAreas = 112;
  memory.planes += pixels * kHeld;
  memory.areas = std::max(memory.areas, pixels * kAreas);
}

/// The check of a view and sources of the camera's size, with the maps that it takes.
/// @param priors  whether maps of priors take part, beside those without them
std::size_t check_memory(const Pinhole& camera, const CheckSettings& settings, bool priors) {
  const auto read = [&] {
    auto maps = std::make_shared<ViewDepth>(uninitialised_view(camera.width, camera.height));
    const CountedBytes reading(element_count({camera.width, camera.height, MapStore::kReadUnchecked}));
    return maps;
  };
  const DepthSource view{camera, {}, 0, [&] {
                           const auto maps = read();
                           return DepthSource::Maps{maps->depth.view(), maps->normal.view(), maps};
                         }};
  const auto count = [&] {
    Image<Agreement> said = count_agreement(view, {view}, settings.consistency);
    if (priors) count_agreement(view, {view}, settings.consistency);
    return said;
  };
  const auto normals = [&](ImageView<const float> depth) { return checked_normals(depth, camera); };
  return counted_bytes(1, [&] {
    const std::shared_ptr<const ViewDepth> maps = read(), without_priors = priors ? read() : nullptr;
    check_view({view, {view}, {}, count, normals}, *maps, settings);
  });
}

/// Sets what depends on the sizes of the views.
void measure_views(const ScenePlan& plan, const SceneSettings& settings, SceneMemory& memory) {
  const MatchingSettings& matching = settings.matching;
  const auto channels = [&](std::size_t pixels) {
    return pixels * (matching.colour ? 3 : 1) + (matching.patches() ? pixels / 3 : 0);  // and their halves
  };
  const bool with_planes = settings.plan.checks && settings.check.fills_areas();
  const bool with_colours = !settings.plan.given_maps && has_step(matching.spec.refine, kNeedsColours);
  std::size_t padded = 0, check = 0;
  for (const int view : plan.needed_views()) {
    const Pinhole& camera = plan.view(view).camera;
    memory.view_pixels = std::max(memory.view_pixels, pixels_of(camera));
    padded = std::max(padded, padded_pixels(camera));
    check = std::max(check, check_memory(camera, settings.check, plan.prior_map_bytes > 0));
    if (with_planes) add_planes(pixels_of(averaged(camera, plane_image_factor(camera))), memory);
    std::size_t images = pixels_of(camera);
    for (const int source : plan.view(view).sources) images += pixels_of(plan.view(source).camera);
    const std::size_t colours = with_colours ? padded_pixels(camera) * sizeof(Rgb8) : 0;  // of the reference
    if (plan.view(view).active) memory.images = std::max(memory.images, channels(images) + colours);
  }
  if (with_planes) memory.areas += plan.prior_map_bytes;
  const bool masked = std::ranges::any_of(
      plan.scene.views, [](const View& view) { return view.face || !view.mask_hash.empty(); });
  const std::size_t mask = masked ? 2 * memory.view_pixels : 0,  // the decoder's and ours
      all = plan.needed_views().size() * padded;
  memory.images += mask;
  if (settings.plan.checks) memory.check = check + mask;
  memory.writing = memory.view_pixels * (ViewDepth::kPixelBytes + MapStore::kWriteBytes);
  memory.photo_cache = all * sizeof(Rgb8) + channels(all);
  // The maps before and after the check: of few views, the last check needs all of those before it.
  memory.map_cache = all * ViewDepth::kPixelBytes * 2;
}

void measure_fusion(const ScenePlan& plan, SceneMemory& memory) {
  const std::vector<int> views = plan.views_in_scope();
  std::vector<int> index(plan.views.size(), -1);
  for (std::size_t i = 0; i < views.size(); ++i) index[views[i]] = static_cast<int>(i);
  const std::vector<std::vector<int>> overlaps = plan.overlaps();
  std::vector<std::vector<int>> neighbours(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    memory.most_views = std::max(memory.most_views, overlaps[views[i]].size() + 1);
    for (const int other : overlaps[views[i]])
      if (index[other] >= 0) neighbours[i].push_back(index[other]);
  }
  memory.marked_views = views_marked_at_once(neighbours);
  memory.view = memory.view_pixels * FusionMaps::kPixelBytes;
  memory.load = std::max(memory.view_pixels * MapStore::kReadChecked, memory.photo);
}

}  // namespace

std::size_t SceneMemory::estimation(int threads, int photos) const {
  const auto count = static_cast<std::size_t>(threads);
  std::size_t bytes = 0;
  for (const Stream& stream : streams) {
    const std::size_t beside = std::max(stream.finishing, photo * static_cast<std::size_t>(photos));
    bytes += stream.count * (count * images + std::max(stream.matching, beside) + (count - 1) * beside);
  }
  return bytes;
}

std::size_t SceneMemory::fusion(std::size_t held_views, FusionMemory memory) const {
  return check == 0 ? 0 : fusion_bytes({view_pixels, held_views, marked_views, spacing, load, memory});
}

std::size_t SceneMemory::least(int threads_a_stream, FusionMemory memory) const {
  return base + std::max({estimation(threads_a_stream, 1), copy, photo, planes + std::max(check, areas),
                          fusion(most_views, memory)});
}

SceneMemory scene_memory(const ScenePlan& plan, const SceneSettings& settings, const Backends& backends) {
  SceneMemory memory;
  memory.base = base_memory(plan);
  // With the new index of each observation.
  memory.copy = observation_memory(plan.scene) / 6 * 7 + point_memory(plan.scene.points);
  memory.photo = photo_memory(plan);
  memory.spacing = settings.cloud.spacing;
  measure_views(plan, settings, memory);
  measure_fusion(plan, memory);
  if (settings.plan.estimates)
    for (const auto& backend : backends) add_stream(plan, settings, *backend, memory);
  return memory;
}

}  // namespace recon
