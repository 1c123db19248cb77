#include "session/scene/plan_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "session/options/option_text.hpp"

namespace recon {

namespace {

constexpr int kWritesWaiting = 32;
// Freed blocks of this size and more are returned to the system, see return_freed_memory.
constexpr std::size_t kReturnedBlock = std::size_t{256} << 10;
constexpr std::size_t kAmpleBlock = std::size_t{16} << 20;

/// `bytes` less those that are taken.
std::size_t rest_of(std::size_t bytes, std::size_t taken) {
  return bytes - std::min(bytes, taken);
}

int count_within(std::size_t available, std::size_t each, int max) {
  return static_cast<int>(
      std::clamp<std::size_t>(available / std::max<std::size_t>(each, 1), 1, static_cast<std::size_t>(max)));
}

/// Several threads a stream where memory allows: while a view is swept, others are filtered, which takes
/// several times as long where a GPU sweeps.
int threads_a_stream(const SceneMemory& scene, FusionMemory memory, std::size_t limit, int threads) {
  if (threads == 1) return 1;
  for (int count = scene.device_bytes > 0 ? 4 : 2; count > 1; --count)
    if (scene.least(count, memory) <= limit) return count;
  return 1;
}

/// The options that would reduce the memory, as the end of a message. Other options than those of the depth
/// maps that are there do not go with them.
std::string ways_out(const ScenePlan& plan, const SceneSettings& settings, const Backends& backends) {
  if (!settings.plan.estimates) return "; raise --memory-limit";
  if (settings.plan.given_maps) return "; raise --memory-limit, or lower --max-image-size or --threads";
  std::string ways = "; raise --memory-limit, or lower --max-image-size, --sources, --threads";
  const std::vector<int> active = plan.active_views();
  if (active.empty() || plan.view(active.front()).planes == 0) return ways;
  const SweepShape shape = sweep_shape(sweep_problem(plan, active.front(), settings.matching));
  const auto helps = [&](const SweepShape& less) {
    return std::ranges::any_of(backends, [&](const auto& backend) {
      return backend->memory(less).host_bytes < backend->memory(shape).host_bytes;
    });
  };
  SweepShape fewer_planes = shape, winner = shape;
  fewer_planes.planes = std::max(2, fewer_planes.planes / 2);
  label_optimizer(winner) = Optimizer::kWinnerTakeAll;
  if (helps(fewer_planes)) ways += " or --planes";
  if (helps(winner)) ways += ", or take --optimizer winner";
  return ways;
}

/// The division of the memory that is left where the steps have the least that they need.
class Division {
 public:
  Division(const SceneMemory& scene, FusionMemory memory, std::size_t limit, int threads)
      : scene_(scene), memory_(memory), threads_(threads) {
    plan_.limit = limit;
    plan_.tiles = scene.tiles;
    plan_.device_peak = scene.device_bytes;
    plan_.threads_a_stream = threads_a_stream(scene, memory, limit / 2, threads);
    least_ = scene.least(plan_.threads_a_stream, memory);
  }

  std::size_t least() const { return least_; }

  /// @param views  that are fused
  MemoryPlan plan(std::size_t views) {
    // Where memory is ample, freed blocks stay in the heaps of the threads.
    const std::size_t heaps = static_cast<std::size_t>(threads_) * kAmpleBlock;
    const bool ample = least_ + heaps <= plan_.limit / 2;
    plan_.returned_block = ample ? kAmpleBlock : kReturnedBlock;
    // A quarter of the rest is for more concurrent work, the remainder for caches.
    spare_ = plan_.limit - least_ - (ample ? heaps : 0);
    work_ = least_ - scene_.base + spare_ / 4;
    plan_.photo_cache = std::min(spare_ / 4, scene_.photo_cache);
    plan_.map_cache = std::min(spare_ / 2, scene_.map_cache);
    plan_.keeps_maps = plan_.map_cache == scene_.map_cache;
    plan_estimation();
    plan_checks();
    const std::size_t others = scene_.base + (ample ? heaps : 0) + plan_.photo_cache + plan_.map_cache,
                      before_fusion = busy();
    plan_fusion(rest_of(plan_.limit, others + before_fusion));
    const std::size_t fusing = plan_.of_step[Step::kFusion] = fusion(views);
    // Those before the check are freed.
    const std::size_t freed = plan_.keeps_maps ? plan_.map_cache / 2 : 0;
    const std::size_t most =
        plan_.fusion_beside ? before_fusion + fusing : std::max(before_fusion, rest_of(fusing, freed));
    plan_.peak = std::min(plan_.limit, others + most);
    return plan_;
  }

 private:
  /// The photos that are read concurrently, and the writes that wait.
  void plan_estimation() {
    plan_.photos_a_thread = threads_;
    while (plan_.photos_a_thread > 1 && estimation() > work_) --plan_.photos_a_thread;
    plan_.writes_waiting =
        static_cast<int>(std::min<std::size_t>(kWritesWaiting, spare_ / 8 / scene_.writing));
    plan_.model_beside = spare_ / 8 >= scene_.copy;
  }

  void plan_checks() {
    if (scene_.check == 0) return;
    plan_.check_at_once =
        count_within(rest_of(work_, scene_.planes), std::max(scene_.check, scene_.areas), threads_);
    // Where a GPU sweeps, the processor has time for the check.
    if (plan_.device_peak > 0)
      plan_.checks_beside = static_cast<int>(
          std::min(spare_ / 8 / scene_.check, static_cast<std::size_t>(plan_.check_at_once)));
  }

  /// The views that fusion holds, and whether it begins beside the estimation.
  /// @param beside  bytes that estimation, checks and caches leave
  void plan_fusion(std::size_t beside) {
    const std::size_t most = scene_.most_views, ahead = scene_.fusion(most + 1, FusionMemory::kReadAhead);
    const auto views_within = [&](std::size_t bytes, std::size_t needed) {
      return static_cast<int>(most + rest_of(bytes, needed) / scene_.view);
    };
    plan_.fusion_reads_ahead = memory_ != FusionMemory::kFiles && work_ >= ahead + scene_.view;
    if (memory_ == FusionMemory::kFiles)
      plan_.fusion_views = static_cast<int>(2 * most);
    else
      plan_.fusion_views = plan_.fusion_reads_ahead
                               ? views_within(work_, ahead)
                               : views_within(work_, scene_.fusion(most, FusionMemory::kHeld));
    if (plan_.checks_beside == 0 || !plan_.fusion_reads_ahead || beside < ahead) return;
    plan_.fusion_beside = true;
    plan_.fusion_views = std::min(plan_.fusion_views, views_within(beside, ahead));
  }

  /// Bytes of the fusion of so many views; sets those of its files.
  std::size_t fusion(std::size_t views) {
    const std::size_t held = std::min<std::size_t>(plan_.fusion_views, views);
    if (memory_ == FusionMemory::kFiles) {
      plan_.fusion_files = held * scene_.view;
      return scene_.fusion(scene_.most_views, memory_);
    }
    return plan_.fusion_reads_ahead ? scene_.fusion(std::min(held + 1, views), FusionMemory::kReadAhead)
                                    : scene_.fusion(held, memory_);
  }

  std::size_t estimation() const { return scene_.estimation(plan_.threads_a_stream, plan_.photos_a_thread); }

  /// Bytes of the steps before fusion.
  std::size_t busy() const {
    const auto of = [](std::size_t bytes, int count) { return bytes * static_cast<std::size_t>(count); };
    const std::size_t estimating =
        std::max(least_ - scene_.base, estimation()) + (plan_.model_beside ? scene_.copy : 0);
    const int photos = count_within(rest_of(plan_.limit, scene_.base) / 2, scene_.photo, threads_);
    return std::max(
        {estimating + (plan_.checks_beside > 0 ? scene_.planes : 0) + of(scene_.check, plan_.checks_beside),
         scene_.planes + of(std::max(scene_.check, scene_.areas), plan_.check_at_once),
         of(scene_.photo, photos)});
  }

  const SceneMemory& scene_;
  const FusionMemory memory_;
  const int threads_;
  MemoryPlan plan_;
  std::size_t least_ = 0, spare_ = 0, work_ = 0;
};

}  // namespace

MemoryPlan plan_memory(const ScenePlan& plan, const SceneSettings& settings, const Backends& backends,
                       const HostLimits& host) {
  const auto& [limit, threads] = host;
  const SceneMemory scene = scene_memory(plan, settings, backends);
  const std::size_t held = scene.base + scene.fusion(scene.most_views, FusionMemory::kHeld);
  Division division(scene, held > limit ? FusionMemory::kFiles : FusionMemory::kHeld, limit, threads);
  if (division.least() > limit)
    throw OutOfMemory(fmt::format(
        "views of up to {} pixels take at least {} of memory, {} of it for the model, and the limit is {}{}",
        scene.view_pixels, format_byte_size(division.least()),
        format_byte_size(scene.base - kProgramBytes + scene.copy), format_byte_size(limit),
        ways_out(plan, settings, backends)));
  MemoryPlan memory = division.plan(plan.views_in_scope().size());
  memory.of_step[Step::kPrepare] = scene.photo;
  for (const SceneMemory::Stream& stream : scene.streams)
    memory.of_step[Step::kEstimate] =
        std::max(memory.of_step[Step::kEstimate], scene.images + stream.matching);
  if (scene.planes > 0) memory.of_step[Step::kPlanes] = std::max(scene.check, scene.areas);
  memory.of_step[Step::kCheck] = scene.check;
  memory.gpu = std::ranges::any_of(backends, [](const auto& backend) { return backend->is_gpu(); });
  return memory;
}

}  // namespace recon
