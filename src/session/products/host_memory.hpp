#pragma once

#include <cstddef>
#include <span>

#include "scene/scene.hpp"
#include "session/plan/plan.hpp"

namespace recon {

/// Bytes of code and libraries.
inline constexpr std::size_t kProgramBytes = std::size_t{96} << 20;

/// Points of a cloud that a report shows.
inline constexpr std::size_t kMaxViewedPoints = 300000;

/// The pixels of a camera, or of an image of a size.
std::size_t pixels_of(const auto& size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}

/// What a run may take of the host.
struct HostLimits {
  std::size_t memory = 0;  ///< bytes of the whole program
  int threads = 1;
};

/// Bytes of the observations of a scene, and of points.
std::size_t observation_memory(const Scene& scene);
std::size_t point_memory(std::span<const SparsePoint> points);

/// Bytes of the program, the model and the plan, in all steps.
std::size_t base_memory(const ScenePlan& plan);

/// To read the largest photo that the plan needs, or that a scene may have.
std::size_t photo_memory(const ScenePlan& plan);
std::size_t photo_memory(const Scene& scene);

/// Bytes that reading the model of a scene may take, of the `limit` that the whole program has.
/// @throws OutOfMemory where the limit is below what the program itself takes
std::size_t model_memory(std::size_t limit);

/// Photos that may be decoded concurrently within the limits.
int photos_at_once(const ScenePlan& plan, const HostLimits& host);

/// The same before there is a plan, for photos or masks of any camera of the scene.
int photos_at_once(const Scene& scene, const HostLimits& host);

}  // namespace recon
