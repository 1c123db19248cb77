#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "fuse/islands.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"

namespace recon {

namespace {

// Bytes a pixel, counted from the types that are alive at the same time.
constexpr std::size_t kMapBytes = 20;           // depth, normal and confidence of a view
constexpr std::size_t kUncheckedFileBytes = 5;  // depth and confidence before the check, in files
constexpr std::size_t kCheckedFileBytes = 17;   // depth, normal and confidence after it, in files
constexpr std::size_t kFusionBytes = 23;        // and its colours
constexpr std::size_t kMappedShare = 8;     // of the bytes of maps in files, one in this many is in memory
constexpr std::size_t kPointBytes = 140;    // a fused point with its views, in rows that grow
constexpr std::size_t kLoadBytes = 16;      // one map as it is in its file, beside what is made of it
constexpr std::size_t kWriteBytes = 3;      // of a confidence map: its greys and its file
constexpr std::size_t kEstimateBytes = 32;  // the maps (20), filters (12); the result of a sweep is apart
constexpr std::size_t kResultBytes = 12;    // what a sweep returns
constexpr std::size_t kMaskBytes = 2;       // and of a masked one: the decoder's mask and ours
// Reference, result and one source (60), what is read of it (16), agreement (8), variation or holes (4).
constexpr std::size_t kCheckBytes = std::max<std::size_t>(88, 2 * kMapBytes + 8 + islands_bytes(1));
constexpr std::size_t kDecodeBytes = 16;  // of the photo: the decoder's image, ours, undistorted, its grey
constexpr int kWritesWaiting = 32;
// Freed blocks of this size and more are returned to the system, see return_freed_memory.
constexpr std::size_t kReturnedBlock = std::size_t{256} << 10;
constexpr std::size_t kAmpleBlock = std::size_t{4} << 20;

// Bytes in addition to the pixels, for the whole run of a scene.
constexpr std::size_t kViewBytes = std::size_t{64} << 10;  // what the steps of a view leave: their records
constexpr std::size_t kSparsePointBytes = sizeof(SparsePoint) + 32;  // its track's block in memory included

std::size_t pixels(const auto& camera) {
  return static_cast<std::size_t>(camera.width) * static_cast<std::size_t>(camera.height);
}

/// Rows of an image begin at multiples of 64 bytes or elements, and its halves have half the rows of any
/// padding.
std::size_t padded_pixels(const Pinhole& camera) {
  constexpr int kPadding = 64;
  return static_cast<std::size_t>(padded_count<Rgb8>(camera.width) + kPadding) *
         static_cast<std::size_t>(camera.height);
}

/// Bytes of a pixel for masks, see prepared_mask.
std::size_t mask_bytes(const ScenePlan& plan) {
  const auto is_masked = [](const View& it) { return it.face || !it.mask_hash.empty(); };
  return std::ranges::any_of(plan.scene.views, is_masked) ? kMaskBytes : 0;
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
/// @param in_files  whether the maps are in mapped files: then those of their pages in use, and a view as it
///                  is read and copied there
std::size_t fusion_bytes(std::size_t view_pixels, std::size_t views, int spacing, bool in_files) {
  const std::size_t pixels_a_point =
      spacing == 1 ? kFusionShares : static_cast<std::size_t>(spacing * spacing);
  const std::size_t maps = views * kFusionBytes / (in_files ? kMappedShare : 1);
  const std::size_t loading = kLoadBytes + (in_files ? kFusionBytes : 0);
  return view_pixels * (maps + std::max(loading, kPointBytes / pixels_a_point));
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
  std::size_t padded = 0;       // with the padding of an image and of its halves
  std::size_t most_images = 0;  // a reference and its sources together
  std::size_t most_views = 0;   // a view and those that it is fused with
};

Sizes measure(const ScenePlan& plan) {
  Sizes sizes;
  const std::vector<std::vector<int>> overlaps = plan.overlaps();
  for (const int i : plan.needed_views()) {
    sizes.photo = std::max(sizes.photo, pixels(plan.photo_camera(i)));
    sizes.view = std::max(sizes.view, pixels(plan.view(i).camera));
    sizes.padded = std::max(sizes.padded, padded_pixels(plan.view(i).camera));
    std::size_t images = pixels(plan.view(i).camera);
    for (const int source : plan.view(i).sources) images += pixels(plan.view(source).camera);
    if (plan.view(i).in_scope) sizes.most_views = std::max(sizes.most_views, overlaps[i].size() + 1);
    if (plan.view(i).active) sizes.most_images = std::max(sizes.most_images, images);
  }
  return sizes;
}

/// Bytes that a concurrent stream holds of a view beside those of the backend.
std::size_t estimate_bytes(const ScenePlan& plan, const Sizes& sizes, int channels) {
  std::size_t bytes = sizes.view * kEstimateBytes + plan.given_map_bytes;
  for (const int i : plan.active_views()) {
    const ViewPlan& view = plan.view(i);
    for (const ViewPair& it : view.pairs)
      bytes = std::max(bytes,
                       pair_depth_bytes(view.camera, it.pair, static_cast<int>(view.pairs.size()), channels));
  }
  return bytes;
}

/// Max memory of matching a pair of the view on `backend`.
/// @throws OutOfMemory when a pair does not fit
WorkMemory pairs_memory(const ViewPlan& view, const SessionOptions& options, const Backend& backend) {
  WorkMemory most;
  PairSpec matching(pair_depth_options(options).matching);
  for (const ViewPair& it : view.pairs) {
    matching.range = {it.pair.min_disparity, it.pair.disparities};
    const WorkMemory one = backend.pair_memory(it.pair.left.width, it.pair.left.height, matching);
    most.host_bytes = std::max(most.host_bytes, one.host_bytes);
    most.device_bytes = std::max(most.device_bytes, one.device_bytes);
    most.tiles = std::max(most.tiles, one.tiles);
  }
  return most;
}

/// The memory of a view on `backend`; none where its map is given.
WorkMemory view_memory(const ScenePlan& plan, int view, const SessionOptions& options,
                       const Backend& backend) {
  if (!options.depth_maps.empty()) return {};
  return plan.view(view).pairs.empty() ? backend.memory(sweep_shape(sweep_problem(plan, view, options)))
                                       : pairs_memory(plan.view(view), options, backend);
}

/// The memory of matching on all streams of all backends.
struct Matching {
  WorkMemory sweeps;      ///< of the concurrent sweeps or pairs
  std::size_t swept = 0;  ///< host bytes of streams that sweep or, afterwards, filter
  std::size_t streams = 0;
};

/// @param filtering  bytes that a stream needs after a sweep, when it has the result but not the rest
Matching matching(const ScenePlan& plan, const SessionOptions& options, const Backends& backends,
                  std::size_t filtering) {
  Matching all;
  for (const auto& backend : backends) {
    std::size_t host = 0;
    for (const int view : plan.active_views()) {
      const WorkMemory one = view_memory(plan, view, options, *backend);
      host = std::max(host, one.host_bytes);
      all.sweeps.device_bytes = std::max(all.sweeps.device_bytes, one.device_bytes);
      all.sweeps.tiles = std::max(all.sweeps.tiles, one.tiles);
    }
    const auto streams = static_cast<std::size_t>(backend->streams());
    all.sweeps.host_bytes += host * streams;
    all.swept += std::max(host, filtering) * streams;
    all.streams += streams;
  }
  return all;
}

/// Host memory that the steps need at least.
struct Needs {
  std::size_t base = 0;    ///< the program and the model, in all steps
  std::size_t copy = 0;    ///< of the model while it is written
  std::size_t decode = 0;  ///< of a photo
  std::size_t alone = 0;   ///< estimation with as many threads as streams
  std::size_t sweeps = 0;  ///< of all streams, counted apart from `thread`
  std::size_t thread = 0;  ///< and of one thread of each stream
  std::size_t check = 0;   ///< of a view
  std::size_t fusion = 0;
  bool in_files = false;  ///< the maps that are fused

  std::size_t least(int threads_a_stream) const {
    const std::size_t estimation =
        threads_a_stream == 1 ? alone : sweeps + static_cast<std::size_t>(threads_a_stream) * thread;
    return base + std::max({estimation, copy, decode, check, fusion});
  }
};

Needs needs_of(const ScenePlan& plan, const SessionOptions& options, const Sizes& sizes,
               const Matching& match, std::size_t images, std::size_t filters, std::size_t limit) {
  const ModelBytes model = model_bytes(plan);
  Needs needs;
  needs.base = kProgramBytes + model.held;
  needs.copy = model.copy;
  needs.decode = sizes.photo * kDecodeBytes;
  needs.sweeps = match.sweeps.host_bytes;
  needs.thread = match.streams * (images + filters);
  // A stream that sweeps has no maps yet; one that matches pairs has those of the pairs before.
  needs.alone = options.method_of(false) == Method::kPlaneSweep
                    ? match.swept + match.streams * images
                    : match.sweeps.host_bytes + match.streams * (images + filters);
  if (options.stage == Stage::kEstimate) return needs;
  needs.check = sizes.view * (kCheckBytes + mask_bytes(plan));
  const auto fusion = [&](bool in_files) {
    return fusion_bytes(sizes.view, sizes.most_views, options.point_spacing, in_files);
  };
  needs.in_files = needs.base + fusion(false) > limit;
  needs.fusion = fusion(needs.in_files);
  return needs;
}

/// Several threads a stream where memory allows: while a view is swept, others are filtered, which takes
/// several times as long where a GPU sweeps.
int threads_a_stream(const Needs& needs, bool gpu, std::size_t limit, int threads) {
  if (threads == 1) return 1;
  for (int count = gpu ? 4 : 2; count > 1; --count)
    if (needs.least(count) <= limit) return count;
  return 1;
}

/// The options that would reduce the memory of matching, as the end of a message.
std::string ways_out(const ScenePlan& plan, const SessionOptions& options, const Backends& backends) {
  std::string ways = "; raise --memory-limit, or lower --max-image-size, --sources, --threads";
  if (options.workers > 1) ways += ", --jobs";
  const std::vector<int> active = plan.active_views();
  if (active.empty() || plan.view(active.front()).planes == 0) return ways;
  const SweepShape shape = sweep_shape(sweep_problem(plan, active.front(), options));
  const auto helps = [&](const SweepShape& less) {
    return std::ranges::any_of(backends, [&](const auto& backend) {
      return backend->memory(less).host_bytes < backend->memory(shape).host_bytes;
    });
  };
  SweepShape fewer_planes = shape, winner = shape;
  fewer_planes.planes = std::max(2, fewer_planes.planes / 2);
  winner.optimizer = Optimizer::kWinnerTakeAll;
  if (helps(fewer_planes)) ways += " or --planes";
  if (helps(winner)) ways += ", or take --optimizer winner";
  return ways;
}

/// The writes and the checks of views that run concurrently.
/// @param spare  bytes beside the least that the work needs
/// @param work   bytes for concurrent work
void plan_checks(const Needs& needs, const Sizes& sizes, std::size_t spare, std::size_t work, int threads,
                 MemoryPlan& memory) {
  memory.writes_waiting = static_cast<int>(
      std::min<std::size_t>(kWritesWaiting, spare / 8 / (sizes.view * (kMapBytes + kWriteBytes))));
  if (needs.check == 0) return;
  memory.check_at_once = count_within(work, needs.check, threads);
  // Where a GPU sweeps, the processor has time for the check.
  if (memory.device_peak > 0)
    memory.checks_beside =
        static_cast<int>(std::min(spare / 8 / needs.check, static_cast<std::size_t>(memory.check_at_once)));
}

/// The views that fusion holds, and whether it begins beside the estimation.
/// @param work    bytes for concurrent work
/// @param beside  bytes that estimation, checks and caches leave
void plan_fusion(const Needs& needs, const Sizes& sizes, std::size_t work, std::size_t beside,
                 MemoryPlan& memory) {
  const std::size_t view_bytes = sizes.view * kFusionBytes;
  const auto most_views = static_cast<int>(sizes.most_views);
  const auto more_views = static_cast<int>((work - std::min(work, needs.fusion)) / view_bytes);
  // A map that is read beside takes no more than a view that is held.
  memory.fusion_reads_ahead = !needs.in_files && more_views >= 2;
  memory.fusion_views =
      most_views + (needs.in_files ? most_views : more_views - (memory.fusion_reads_ahead ? 1 : 0));
  if (memory.checks_beside == 0 || !memory.fusion_reads_ahead || beside < needs.fusion + view_bytes) return;
  memory.fusion_beside = true;
  const std::size_t views = sizes.most_views + (beside - needs.fusion) / view_bytes - 1;
  memory.fusion_views = static_cast<int>(std::min(static_cast<std::size_t>(memory.fusion_views), views));
}

/// Sets the bytes of the maps in files; returns those of fusion, when the photometric maps are freed.
std::size_t plan_held_maps(const ScenePlan& plan, const Needs& needs, const Sizes& sizes, int spacing,
                           MemoryPlan& memory) {
  const std::size_t held = std::min<std::size_t>(memory.fusion_views, plan.views_in_scope().size());
  if (needs.in_files) memory.fusion_files = held * sizes.view * kFusionBytes;
  return needs.fusion == 0 || needs.in_files ? needs.fusion : fusion_bytes(sizes.view, held, spacing, false);
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

MemoryPlan plan_memory(const ScenePlan& plan, const SessionOptions& options, const Backends& backends,
                       std::size_t limit, int threads) {
  const Sizes sizes = measure(plan);
  const Job job{options.method_of(false), false};
  const bool halved = options.swept_by_patches(job);
  const std::size_t channels = options.in_colour(job) ? 3 : 1;
  const auto channel_bytes = [&](std::size_t pixels) {
    return pixels * channels + (halved ? pixels / 3 : 0);
  };
  const std::size_t filters = estimate_bytes(plan, sizes, static_cast<int>(channels));
  const Matching match = matching(plan, options, backends, filters + sizes.view * kResultBytes);
  const Needs needs =
      needs_of(plan, options, sizes, match, channel_bytes(sizes.most_images) + sizes.view * mask_bytes(plan),
               filters, limit);

  MemoryPlan memory{.limit = limit};
  memory.tiles = match.sweeps.tiles;
  memory.device_peak = match.sweeps.device_bytes;
  memory.threads_a_stream = threads_a_stream(needs, memory.device_peak > 0, limit / 2, threads);
  const std::size_t least = needs.least(memory.threads_a_stream);
  if (least > limit)
    throw OutOfMemory(fmt::format(
        "views of up to {} pixels take at least {} of memory, {} of it for the model, and the limit is {}{}",
        sizes.view, format_byte_size(least), format_byte_size(needs.base - kProgramBytes + needs.copy),
        format_byte_size(limit), ways_out(plan, options, backends)));

  // Where memory is ample, freed blocks stay in the heaps of the threads.
  const std::size_t heaps = static_cast<std::size_t>(threads) * kAmpleBlock;
  const bool ample = least + heaps <= limit / 2;
  memory.returned_block = ample ? kAmpleBlock : kReturnedBlock;
  // A quarter of the rest is for more concurrent work, the remainder for caches.
  const std::size_t spare = limit - least - (ample ? heaps : 0);
  const std::size_t work = least - needs.base + spare / 4;
  const std::size_t all = plan.needed_views().size() * sizes.padded;
  plan_checks(needs, sizes, spare, work, threads, memory);
  memory.photo_cache = std::min(spare / 4, all * 3 + channel_bytes(all));
  // The maps before and after the check: of few views, the last check needs all of those before it.
  memory.map_cache = std::min(spare / 2, all * kMapBytes * 2);
  memory.keeps_maps = memory.map_cache == all * kMapBytes * 2;
  const std::size_t busy =
      std::max({least - needs.base + needs.check * static_cast<std::size_t>(memory.checks_beside),
                needs.check * static_cast<std::size_t>(memory.check_at_once),
                needs.decode * static_cast<std::size_t>(photos_at_once(plan, limit, threads))});
  const std::size_t others = needs.base + (ample ? heaps : 0) + memory.photo_cache + memory.map_cache;
  plan_fusion(needs, sizes, work, limit - std::min(limit, others + busy), memory);
  const std::size_t fusing = plan_held_maps(plan, needs, sizes, options.point_spacing, memory);
  memory.peak = std::min(limit, others + (memory.fusion_beside ? busy + fusing : std::max(busy, fusing)));
  return memory;
}

/// Bytes of the files of all maps, at most. With --clean, the maps of a view before the check are removed
/// after the last check that needs them.
static std::uint64_t map_file_bytes(const ScenePlan& plan, bool clean) {
  const std::vector<int> views = plan.views_in_scope();
  const auto size_of = [&](int view) { return pixels(plan.view(view).camera); };
  std::vector<std::size_t> last_check(plan.views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    last_check[views[i]] = i;
    for (const int source : plan.view(views[i]).sources) last_check[source] = i;
  }
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> removed(views.size());
  for (const int view : views) {
    bytes += size_of(view) * kUncheckedFileBytes;
    if (clean) removed[last_check[view]] += size_of(view) * kUncheckedFileBytes;
  }
  std::uint64_t max = bytes;
  for (std::size_t i = 0; i < views.size(); ++i) {
    bytes += size_of(views[i]) * kCheckedFileBytes;
    max = std::max(max, bytes);
    bytes -= removed[i];
  }
  return max;
}

std::uint64_t output_bytes(const ScenePlan& plan, const SessionOptions& options) {
  // About one pixel in four becomes a point of 72 bytes with its views, of 44 without them.
  constexpr std::uint64_t kCloudBytesPerPixel = 18, kTileBytesPerPixel = 11;
  // Tiles are written from a temporary file of the same size.
  const std::uint64_t cloud = kCloudBytesPerPixel + (options.tile > 0 ? 2 * kTileBytesPerPixel : 0);
  std::uint64_t bytes = map_file_bytes(plan, options.clean);
  for (const int view : plan.needed_views()) {
    const std::uint64_t size = pixels(plan.view(view).camera);
    bytes += size * 3;  // the undistorted image, were it not compressed
    if (!plan.scene_view(view).mask_hash.empty()) bytes += size;
    if (plan.view(view).in_scope) bytes += size * (1 + cloud);
  }
  return bytes;
}

}  // namespace recon
