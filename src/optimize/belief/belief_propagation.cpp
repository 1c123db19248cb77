#include "optimize/belief/belief_propagation.hpp"

#include <oneapi/tbb/enumerable_thread_specific.h>

#include "core/parallel.hpp"
#include "optimize/belief/belief_tiling.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimize/belief/belief_propagation.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "optimize/belief/belief_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

/// Computes costs from fine to coarse, then beliefs from coarse to fine.
template <class T>
class BeliefSolver {
 public:
  BeliefSolver(const BeliefProblem& problem, const BeliefPyramid& pyramid, int threads)
      : problem_(problem),
        levels_(pyramid.levels),
        threads_(threads),
        arena_(element_count({pyramid.elements + 2 * kBeliefColumnStep})),
        winners_(problem.shape.width, problem.shape.height),
        memory_([this] { return TileMemory<T>(levels_[0], problem_.options.iterations, threads_); }) {}

  Image<std::uint16_t> solve() {
    if (levels_.size() > 1) parallel_for(levels_[1].height, [this](int y) { coarsen_images(y); });
    for (std::size_t i = 2; i < levels_.size(); ++i)
      parallel_for(levels_[i].height, [this, i](int y) { coarsen(i, y); });
    for (std::size_t i = levels_.size(); i-- > 0;) run_level(i);
    return std::move(winners_);
  }

 private:
  T* costs(std::size_t i, int y, int parity) {
    return arena_.data() + levels_[i].costs + levels_[i].row(y, parity);
  }

  /// Computes row y of level 1; costs of level 0 are rounded as in their later recomputation.
  void coarsen_images(int y) {
    const BeliefLevel& coarse = levels_[1];
    const BeliefLevel& fine = levels_[0];
    TileMemory<T>& memory = memory_.local();
    const auto row = [&](int i) { return memory.quads.data() + i * fine.pitch; };
    const bool has_lower = 2 * y + 1 < fine.height;
    const BeliefQuads<T> quads{
        row(0), row(1), has_lower ? row(2) : nullptr, row(3), (fine.width + 1) / 2, fine.width / 2};
    for (int d = 0; d < fine.disparities; ++d) {
      for (int i = 0; i < (has_lower ? 4 : 2); ++i) {
        const int x_parity = i % 2, count = (fine.width - x_parity + 1) / 2;
        fill_costs(problem_.costs, {2 * y + i / 2, x_parity, 0, count}, d, memory.scratch.data(), row(i));
      }
      coarsen_row(quads, memory.scratch.data(), costs(1, y, y & 1) + d * coarse.pitch,
                  costs(1, y, (y + 1) & 1) + d * coarse.pitch);
    }
  }

  /// Computes row y of a coarser level.
  void coarsen(std::size_t i, int y) {
    const BeliefLevel& coarse = levels_[i];
    const BeliefLevel& fine = levels_[i - 1];
    const int upper = 2 * y, lower = 2 * y + 1;
    const bool has_lower = lower < fine.height;
    for (int d = 0; d < fine.disparities; ++d) {
      const std::ptrdiff_t at = d * fine.pitch;
      const BeliefQuads<T> quads{costs(i - 1, upper, 0) + at,
                                 costs(i - 1, upper, 1) + at,
                                 has_lower ? costs(i - 1, lower, 1) + at : nullptr,
                                 has_lower ? costs(i - 1, lower, 0) + at : nullptr,
                                 (fine.width + 1) / 2,
                                 fine.width / 2};
      coarsen_row(quads, memory_.local().scratch.data(), costs(i, y, y & 1) + d * coarse.pitch,
                  costs(i, y, (y + 1) & 1) + d * coarse.pitch);
    }
  }

  void run_level(std::size_t i) {
    const BeliefTiling tiling(levels_[i], problem_.options.iterations, sizeof(T), threads_);
    const TileContext<T> context{
        problem_,      levels_[i],     i + 1 < levels_.size() ? &levels_[i + 1] : nullptr, tiling, i == 0,
        arena_.data(), winners_.view()};
    parallel_for(tiling.columns * tiling.rows, [&](int tile) {
      BeliefTileRun<T>(context, tiling.tile(levels_[i], tile), memory_.local()).run();
    });
  }

  const BeliefProblem& problem_;
  const std::vector<BeliefLevel>& levels_;
  int threads_;
  AlignedBuffer<T> arena_;
  Image<std::uint16_t> winners_;
  oneapi::tbb::enumerable_thread_specific<TileMemory<T>> memory_;
};

Image<std::uint16_t> solve_on_target(const BeliefProblem& problem, const BeliefPyramid& pyramid,
                                     int threads) {
  switch (problem.options.storage) {
    case BeliefStorage::kHalf:
      return BeliefSolver<Half>(problem, pyramid, threads).solve();
    case BeliefStorage::kBfloat16:
      return BeliefSolver<Bfloat16>(problem, pyramid, threads).solve();
    default:
      return BeliefSolver<float>(problem, pyramid, threads).solve();
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(solve_on_target);

namespace {

/// Max bytes of propagate_beliefs, including its result.
std::size_t bytes_of_beliefs(const BeliefShape& shape, const BeliefOptions& options, int threads) {
  const BeliefPyramid pyramid = belief_pyramid(shape, options, 1);
  const BeliefLevel& finest = pyramid.levels[0];
  const std::size_t stored = pyramid.element_bytes;
  const BeliefLevel ring = BeliefTiling(finest, options.iterations, stored, threads).ring(finest);
  const std::size_t per_thread = scratch_floats(finest) * sizeof(float) +
                                 (ring_elements(ring) + element_count({5, finest.pitch})) * stored + 1024;
  return element_count({pyramid.elements + 2 * kBeliefColumnStep}) * stored +
         static_cast<std::size_t>(threads + 1) * per_thread +
         element_count({padded_count<std::uint16_t>(shape.width), shape.height, 2}) + (std::size_t{64} << 10);
}

}  // namespace

Image<std::uint16_t> propagate_beliefs(const BeliefShape& shape, const BeliefOptions& options,
                                       const BeliefCosts& costs) {
  check_belief(shape, options);
  Image<std::uint16_t> winners;
  compute([&](int threads) { return bytes_of_beliefs(shape, options, threads); },
          [&] {
            const BeliefProblem problem{shape, options, belief_cap(options, shape.disparities), costs};
            winners = HWY_DYNAMIC_DISPATCH(solve_on_target)(problem, belief_pyramid(shape, options, 1),
                                                            oneapi::tbb::this_task_arena::max_concurrency());
          });
  return winners;
}

}  // namespace recon
#endif
