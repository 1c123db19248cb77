#include "session/products/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "session/options/option_text.hpp"
#include "session/products/stores.hpp"

namespace recon {

namespace {

/// Photos of `each` bytes that are decoded within half of what others leave of the limit.
int photos_within(const HostLimits& host, std::size_t others, std::size_t each) {
  const std::size_t available = (host.memory - std::min(host.memory, others)) / 2;
  return static_cast<int>(std::clamp<std::size_t>(available / std::max<std::size_t>(each, 1), 1,
                                                  static_cast<std::size_t>(host.threads)));
}

}  // namespace

std::size_t observation_memory(const Scene& scene) {
  std::size_t bytes = 0;
  for (const View& view : scene.views) bytes += view.observations.size() * sizeof(Observation);
  return bytes;
}

std::size_t point_memory(std::span<const SparsePoint> points) {
  constexpr std::size_t kTrackBlock = 32;  // in memory, beside its elements
  std::size_t bytes = points.size() * (sizeof(SparsePoint) + kTrackBlock);
  for (const SparsePoint& point : points) bytes += point.track.size() * sizeof(TrackElement);
  return bytes;
}

std::size_t base_memory(const ScenePlan& plan) {
  constexpr std::size_t kViewBytes = std::size_t{64} << 10;  // what the steps of a view leave: their records
  // The model as it was read, and the plan's, which shares with it what is the same; corners are copied to
  // plan.
  const std::size_t points = point_memory(plan.scene.points) * (plan.left_out.empty() ? 1 : 2);
  return kProgramBytes + plan.scene.views.size() * kViewBytes + observation_memory(plan.scene) + points +
         2 * plan.corner_bytes;
}

std::size_t photo_memory(const ScenePlan& plan) {
  std::size_t photo = 0;
  for (const int view : plan.needed_views()) photo = std::max(photo, pixels_of(plan.photo_camera(view)));
  return photo * PhotoStore::kReadBytes;
}

std::size_t photo_memory(const Scene& scene) {
  std::size_t photo = 0;
  for (const Camera& camera : scene.cameras) photo = std::max(photo, pixels_of(camera));
  return photo * PhotoStore::kReadBytes;
}

std::size_t model_memory(std::size_t limit) {
  if (limit <= kProgramBytes)
    throw OutOfMemory(
        fmt::format("the limit on memory is {}, and the program itself takes up to {}; raise "
                    "--memory-limit, or that of the system where it is not given",
                    format_byte_size(limit), format_byte_size(kProgramBytes)));
  return limit - kProgramBytes;
}

int photos_at_once(const ScenePlan& plan, const HostLimits& host) {
  return photos_within(host, base_memory(plan), photo_memory(plan));
}

int photos_at_once(const Scene& scene, const HostLimits& host) {
  return photos_within(host, base_memory({scene, {}, {}, {}}), photo_memory(scene));
}

}  // namespace recon
