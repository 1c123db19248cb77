#include <algorithm>

#include "core/error.hpp"
#include "methods/backend.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"

namespace recon {

namespace {

// Bytes a pixel, counted from the types that are alive at the same time.
constexpr std::size_t kMapBytes = 20;     // depth, normal and confidence of a view
constexpr std::size_t kFusionBytes = 23;  // and its colours
constexpr std::size_t kPointBytes = 140;  // a fused point with its views, in rows that grow
constexpr std::size_t kLoadBytes = 16;    // one map as it is in its file, beside what is made of it
constexpr std::size_t kEstimateBytes =
    32;                                // the maps (20), filters (12); what a sweep returns is in its own sum
constexpr std::size_t kMaskBytes = 2;  // and of a masked one: the decoder's mask and ours
constexpr std::size_t kCheckBytes =
    84;  // reference, result and one source (60), a file (16), counts, agreement
constexpr std::size_t kDecodeBytes =
    16;  // of the photo: the decoder's image, ours, the undistorted one, its grey

constexpr int kWritesWaiting = 4;
constexpr std::size_t kProgramBytes = std::size_t{96} << 20;  // code, libraries

// Bytes in addition to the pixels, for the whole run of a scene.
constexpr std::size_t kViewBytes = std::size_t{64} << 10;  // what the steps of a view leave: their records
constexpr std::size_t kSparsePointBytes = sizeof(SparsePoint) + 32;  // its track's block in memory included

std::size_t pixels(const Pinhole& camera) {
  return static_cast<std::size_t>(camera.width) * static_cast<std::size_t>(camera.height);
}

std::size_t pixels(const Camera& camera) {
  return static_cast<std::size_t>(camera.width) * static_cast<std::size_t>(camera.height);
}

/// Memory of a model, and of its copy with the undistorted images while that is written.
struct ModelBytes {
  std::size_t held = 0;
  std::size_t copy = 0;
};

ModelBytes model_bytes(const ScenePlan& plan) {
  std::size_t observations = 0, points = plan.scene.points.size() * kSparsePointBytes;
  for (const View& view : plan.scene.views) observations += view.observations.size() * sizeof(Observation);
  for (const SparsePoint& point : plan.scene.points) points += point.track.size() * sizeof(TrackElement);
  // The model as it was read, and the plan's, which shares with it what is the same.
  const std::size_t plans_points = plan.left_out.empty() ? 0 : points;
  return {plan.scene.views.size() * kViewBytes + observations + points + plans_points,
          observations + observations / 6 + points};  // with the new index of each observation
}

/// Memory of fusion with the maps of `views` views; a file is read before a view's points are made.
std::size_t fusion_bytes(std::size_t view_pixels, std::size_t views, int spacing) {
  const std::size_t pixels_a_point =
      spacing == 1 ? kFusionBands : static_cast<std::size_t>(spacing * spacing);
  return view_pixels * (views * kFusionBytes + std::max(kLoadBytes, kPointBytes / pixels_a_point));
}

int count_within(std::size_t available, std::size_t each, int max) {
  return static_cast<int>(
      std::clamp<std::size_t>(available / std::max<std::size_t>(each, 1), 1, static_cast<std::size_t>(max)));
}

/// Photos of `photo` pixels that may be decoded concurrently.
int decoded_at_once(const ScenePlan& plan, std::size_t photo, std::size_t limit, int threads) {
  const std::size_t others = kProgramBytes + model_bytes(plan).held;
  return count_within((limit - std::min(limit, others)) / 2, photo * kDecodeBytes, threads);
}

/// The largest sizes of a plan, in pixels.
struct Sizes {
  std::size_t photo = 0;        // as it is in its file
  std::size_t view = 0;         // undistorted
  std::size_t most_images = 0;  // a reference and its sources together
  std::size_t most_views = 0;   // a view and those that it is fused with
};

Sizes measure(const ScenePlan& plan) {
  Sizes sizes;
  const std::vector<std::vector<int>> overlaps = plan.overlaps();
  for (const int i : plan.needed_views()) {
    const View& view = plan.scene.views[static_cast<std::size_t>(i)];
    sizes.photo = std::max(sizes.photo, pixels(plan.scene.cameras[static_cast<std::size_t>(view.camera)]));
    sizes.view = std::max(sizes.view, pixels(plan.view(i).camera));
    std::size_t images = pixels(plan.view(i).camera);
    for (const int source : plan.view(i).sources) images += pixels(plan.view(source).camera);
    if (plan.view(i).in_scope)
      sizes.most_views = std::max(sizes.most_views, overlaps[static_cast<std::size_t>(i)].size() + 1);
    if (plan.view(i).active) sizes.most_images = std::max(sizes.most_images, images);
  }
  return sizes;
}

/// Bytes that a concurrent stream holds of a view beside those of the backend.
std::size_t estimate_bytes(const ScenePlan& plan, const Sizes& sizes, int channels) {
  std::size_t bytes = sizes.view * kEstimateBytes;
  for (const int i : plan.active_views()) {
    const ViewPlan& view = plan.view(i);
    for (const ViewPair& it : view.pairs)
      bytes = std::max(bytes,
                       pair_depth_bytes(view.camera, it.pair, static_cast<int>(view.pairs.size()), channels));
  }
  return bytes + (count_masked(plan.scene) > 0 ? sizes.view * kMaskBytes : 0);
}

/// Max memory of matching a pair of the view on `backend`.
/// @throws OutOfMemory when a pair does not fit
WorkMemory pairs_memory(const ViewPlan& view, const SessionOptions& options, const Backend& backend) {
  WorkMemory most;
  PairOptions matching = pair_depth_options(options).matching;
  for (const ViewPair& it : view.pairs) {
    matching.range = {it.pair.min_disparity, it.pair.disparities};
    const WorkMemory one = backend.pair_memory(it.pair.left.width, it.pair.left.height, matching);
    most.host_bytes = std::max(most.host_bytes, one.host_bytes);
    most.device_bytes = std::max(most.device_bytes, one.device_bytes);
    most.tiles = std::max(most.tiles, one.tiles);
  }
  return most;
}

/// The memory of a view on `backend`.
WorkMemory view_memory(const ScenePlan& plan, int view, const SessionOptions& options,
                       const Backend& backend) {
  return plan.view(view).pairs.empty() ? backend.memory(sweep_shape(sweep_problem(plan, view, options)))
                                       : pairs_memory(plan.view(view), options, backend);
}

/// The memory of the concurrent sweeps or pairs of all backends.
WorkMemory matching(const ScenePlan& plan, const SessionOptions& options,
                    const std::vector<std::unique_ptr<Backend>>& backends) {
  WorkMemory all;
  for (const auto& backend : backends) {
    std::size_t host = 0;
    for (const int view : plan.active_views()) {
      const WorkMemory one = view_memory(plan, view, options, *backend);
      host = std::max(host, one.host_bytes);
      all.device_bytes = std::max(all.device_bytes, one.device_bytes);
      all.tiles = std::max(all.tiles, one.tiles);
    }
    all.host_bytes += host * static_cast<std::size_t>(backend->streams());
  }
  return all;
}

/// The options that would reduce the memory of matching, as the end of a message.
std::string ways_out(const ScenePlan& plan, const SessionOptions& options,
                     const std::vector<std::unique_ptr<Backend>>& backends) {
  std::string ways = "; raise --memory-limit, or lower --max-image-size, --sources, --threads";
  const std::vector<int> active = plan.active_views();
  if (active.empty() || !plan.view(active.front()).pairs.empty()) return ways;
  const SweepShape shape = sweep_shape(sweep_problem(plan, active.front(), options));
  const auto helps = [&](const SweepShape& less) {
    return std::any_of(backends.begin(), backends.end(), [&](const auto& backend) {
      return backend->memory(less).host_bytes < backend->memory(shape).host_bytes;
    });
  };
  SweepShape fewer_planes = shape, winner = shape;
  fewer_planes.planes = std::max(2, fewer_planes.planes / 2);
  winner.optimizer = SweepOptimizer::kWinnerTakeAll;
  if (helps(fewer_planes)) ways += " or --planes";
  if (helps(winner)) ways += ", or take --optimizer winner";
  return ways;
}

}  // namespace

std::size_t model_memory(std::size_t limit) {
  return limit - std::min(limit, kProgramBytes);
}

int photos_at_once(const ScenePlan& plan, std::size_t limit, int threads) {
  return decoded_at_once(plan, measure(plan).photo, limit, threads);
}

int photos_at_once(const Scene& scene, std::size_t limit, int threads) {
  std::size_t photo = 0;
  for (const Camera& camera : scene.cameras) photo = std::max(photo, pixels(camera));
  return decoded_at_once({scene, {}, {}, {}}, photo, limit, threads);
}

MemoryPlan plan_memory(const ScenePlan& plan, const SessionOptions& options,
                       const std::vector<std::unique_ptr<Backend>>& backends, std::size_t limit,
                       int threads) {
  const Sizes sizes = measure(plan);
  const WorkMemory match = matching(plan, options, backends);
  std::size_t streams = 0;
  for (const auto& backend : backends) streams += static_cast<std::size_t>(backend->streams());
  const std::size_t channels = options.in_colour({options.method_of(false), false}) ? 3 : 1;
  const bool halved = options.method_of(false) == Method::kPlaneSweep && options.sweep_stages.patches;
  const auto channel_bytes = [&](std::size_t pixels) {
    return pixels * channels + (halved ? pixels / 3 : 0);
  };
  const std::size_t stream =
      estimate_bytes(plan, sizes, static_cast<int>(channels)) + channel_bytes(sizes.most_images);
  const std::size_t fusion = fusion_bytes(sizes.view, sizes.most_views, options.point_spacing);
  const std::size_t check = sizes.view * kCheckBytes;
  const ModelBytes model = model_bytes(plan);
  const std::size_t base = kProgramBytes + model.held;
  const bool estimate_only = options.stage == Stage::kEstimate;
  const std::size_t others =
      std::max({sizes.photo * kDecodeBytes, model.copy, estimate_only ? 0 : std::max(check, fusion)});
  const auto min_with = [&](std::size_t stream_count) {
    return base + std::max(match.host_bytes + stream_count * stream, others);
  };

  MemoryPlan memory;
  memory.limit = limit;
  memory.tiles = match.tiles;
  memory.device_peak = match.device_bytes;
  // Twice the streams where memory allows: while one view is filtered, the next one is swept.
  memory.spare_streams = threads > 1 && min_with(2 * streams) <= limit / 2;
  const std::size_t least = min_with(memory.spare_streams ? 2 * streams : streams);
  if (least > limit)
    throw OutOfMemory("views of up to " + std::to_string(sizes.view) + " pixels take at least " +
                      format_byte_size(least) + " of memory, " + format_byte_size(model.held + model.copy) +
                      " of it for the model, and the limit is " + format_byte_size(limit) +
                      ways_out(plan, options, backends));

  // A quarter of the rest is for more concurrent work, the remainder for caches, at most what the scene
  // fills.
  const std::size_t spare = limit - least;
  const std::size_t all = plan.needed_views().size() * sizes.view;
  memory.writes_waiting =
      static_cast<int>(std::min<std::size_t>(kWritesWaiting, spare / 4 / (sizes.view * kMapBytes)));
  memory.photo_cache = std::min(spare / 4, all * 3 + channel_bytes(all));
  memory.map_cache = std::min(spare / 4, all * kMapBytes);
  const std::size_t work = least - base + spare / 4;
  memory.check_at_once = count_within(work, check, threads);
  memory.fusion_views = static_cast<int>(sizes.most_views) +
                        static_cast<int>((work - std::min(work, fusion)) / (sizes.view * kFusionBytes));
  const std::size_t held =
      std::min(static_cast<std::size_t>(memory.fusion_views), plan.views_in_scope().size());
  const std::size_t busy =
      std::max({least - base, estimate_only ? 0 : check * static_cast<std::size_t>(memory.check_at_once),
                sizes.photo * kDecodeBytes * static_cast<std::size_t>(photos_at_once(plan, limit, threads))});
  // Fusion no longer has the photometric maps.
  const std::size_t fusing = estimate_only ? 0 : fusion_bytes(sizes.view, held, options.point_spacing);
  memory.peak = std::min(
      limit, base + memory.photo_cache + memory.map_cache + std::max(busy + memory.map_cache, fusing));
  return memory;
}

std::uint64_t output_bytes(const ScenePlan& plan) {
  constexpr std::uint64_t kCloudBytesPerPixel =
      18;  // about one pixel in four becomes a point of 72 bytes, with its views
  std::uint64_t bytes = 0;
  for (const int view : plan.needed_views()) {
    const std::uint64_t size = pixels(plan.view(view).camera);
    bytes += size * 3;  // the undistorted image, were it not compressed
    if (!plan.scene_view(view).mask_hash.empty()) bytes += size;
    if (plan.view(view).in_scope) bytes += size * (2 * kMapBytes + 1 + kCloudBytesPerPixel);
  }
  return bytes;
}

}  // namespace recon
