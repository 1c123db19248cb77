#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "core/error.hpp"
#include "core/half.hpp"
#include "cuda/gpu_test.hpp"
#include "cuda/methods/sweep/sweep_executor.hpp"

namespace recon::test {

/// How the sources are stored; empty: as in the backend. The results are the same.
using Storage = std::optional<cuda::SourceStorage>;
inline constexpr Storage kAuto{}, kBytes{cuda::SourceStorage::kBytes};

/// One view in pieces that fit a limit, and its bytes of device memory.
struct LimitedSweep {
  DepthEstimate estimate;
  std::size_t planned_bytes = 0, arena_bytes = 0;
  int tiles = 1;
};
inline LimitedSweep sweep_limited(const SweepProblem& problem, Storage storage, std::size_t memory_limit) {
  const cuda::SweepPlan plan = cuda::plan_sweep(sweep_shape(problem), memory_limit, storage);
  cuda::Workspace workspace;
  DepthEstimate estimate = cuda::sweep_view(problem, plan, workspace);
  return {std::move(estimate), plan.bytes, workspace.arena.capacity(), plan.tiles};
}

/// Sweeps views one after the other, on two workspaces in turn that share a cache of source images.
struct CachedSweeps {
  std::vector<DepthEstimate> estimates;
  std::size_t uploads = 0;  ///< channels of sources, into the cache
};
/// @param budget  bytes of the cache
inline CachedSweeps sweep_with_cache(const std::vector<SweepProblem>& problems, Storage storage,
                                     std::size_t budget) {
  cuda::ImageCache cache;
  cache.set_budget(budget);
  cuda::Workspace workspaces[2];
  for (cuda::Workspace& workspace : workspaces) workspace.host_threads = 1;
  CachedSweeps result;
  for (std::size_t i = 0; i < problems.size(); ++i)
    result.estimates.push_back(cuda::sweep_view(
        problems[i], cuda::plan_sweep(sweep_shape(problems[i]), std::size_t{1} << 30, storage),
        workspaces[i % 2], &cache));
  result.uploads = cache.uploads();
  return result;
}

/// The costs of all planes, which are stored in one piece.
inline Volume<Half> sweep_volume(const SweepProblem& problem, Storage storage) {
  const cuda::SweepPlan plan = cuda::plan_sweep(sweep_shape(problem), cuda::free_memory(), storage);
  EXPECT_EQ(plan.tiles, 1);
  Volume<Half> volume(problem.reference.camera.width, problem.planes.count, problem.reference.camera.height);
  const VolumeView<Half> view = volume.view();
  cuda::Workspace workspace;
  cuda::CachedSources none(nullptr);
  cuda::BlockExecutor executor(problem, plan, workspace, none);
  executor.queue(executor.blocks().front());
  const auto bytes = element_count({view.pitch, view.planes, view.height, sizeof(Half)});
  RECON_CUDA_TRY(cudaMemcpyAsync(view.data, executor.queued().volume, bytes, cudaMemcpyDeviceToHost,
                                 workspace.stream.get()));
  workspace.stream.synchronize();
  return volume;
}

/// Expects that a sweep takes what was planned, gives the same in pieces within `per_cent` of that, and is
/// refused where nothing fits.
inline void expect_memory_counted(const SweepProblem& problem, std::size_t per_cent) {
  const LimitedSweep whole = sweep_limited(problem, kAuto, std::size_t{1} << 30);
  EXPECT_EQ(whole.arena_bytes, whole.planned_bytes);
  const std::size_t limit = whole.planned_bytes * per_cent / 100;
  const LimitedSweep limited = sweep_limited(problem, kAuto, limit);
  EXPECT_LE(limited.arena_bytes, limit);
  EXPECT_GT(limited.tiles, 1);
  expect_same(whole.estimate, limited.estimate);
  EXPECT_THROW(sweep_limited(problem, kAuto, 1 << 20), OutOfMemory);
}

}  // namespace recon::test
