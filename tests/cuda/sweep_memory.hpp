#pragma once

#include "core/error.hpp"
#include "cuda/gpu_test.hpp"
#include "cuda/testing/cuda_sweep.hpp"

namespace recon::test {

/// Expects that a sweep takes what was planned, gives the same in pieces within `per_cent` of that, and is
/// refused where nothing fits.
inline void expect_memory_counted(const SweepProblem& problem, std::size_t per_cent) {
  constexpr auto kAuto = cuda::SweepVariant::kAuto;
  const cuda::LimitedSweep whole = cuda::sweep_limited(problem, kAuto, std::size_t{1} << 30);
  EXPECT_EQ(whole.arena_bytes, whole.planned_bytes);
  const std::size_t limit = whole.planned_bytes * per_cent / 100;
  const cuda::LimitedSweep limited = cuda::sweep_limited(problem, kAuto, limit);
  EXPECT_LE(limited.arena_bytes, limit);
  EXPECT_GT(limited.tiles, 1);
  expect_same(whole.estimate, limited.estimate);
  EXPECT_THROW(cuda::sweep_limited(problem, kAuto, 1 << 20), OutOfMemory);
}

}  // namespace recon::test
