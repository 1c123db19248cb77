#include "optimize/semi_global/semi_global.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/error.hpp"
#include "core/wavefront.hpp"
#include "optimize/semi_global/path_pass.hpp"
#include "optimize/semi_global/semi_global_step.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimize/semi_global/semi_global.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "optimize/semi_global/path_pixels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

void pass_pixels8(const PathPass<std::uint8_t>& pass, PathRow<std::uint8_t>& row, PathPiece& piece, int r,
                  int begin, int end, const std::uint8_t* costs, std::uint8_t* steps) {
  pass_pixels(pass, row, piece, r, begin, end, costs, steps);
}

void pass_pixels8_to16(const PathPass<std::uint8_t>& pass, PathRow<std::uint8_t>& row, PathPiece& piece,
                       int r, int begin, int end, const std::uint8_t* costs, std::uint16_t* sums) {
  pass_pixels(pass, row, piece, r, begin, end, costs, sums);
}

void pass_pixels16(const PathPass<std::uint16_t>& pass, PathRow<std::uint16_t>& row, PathPiece& piece, int r,
                   int begin, int end, const std::uint8_t* costs, std::uint16_t* sums) {
  pass_pixels(pass, row, piece, r, begin, end, costs, sums);
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(pass_pixels8);
HWY_EXPORT(pass_pixels8_to16);
HWY_EXPORT(pass_pixels16);

namespace {

/// T: type of path costs. Sum: type of the sums passed between the passes.
template <class T, class Sum>
class SemiGlobal {
 public:
  SemiGlobal(const SemiGlobalProblem& problem, const PathWinnerSink& sink, int threads)
      : problem_(problem),
        sink_(sink),
        width_(problem.guide.width),
        height_(problem.guide.height),
        padded_(cost_stride(problem.planes)),
        plan_(width_, height_, problem.planes, kCellBytes, threads),
        up_(width_, problem.planes, diagonals(), plan_.wave.rows_in_work()),
        down_(width_, problem.planes, diagonals(), plan_.wave.rows_in_work()),
        block_costs_(problem.stored_costs != nullptr ? 0 : element_count({plan_.rows, width_, padded_})),
        block_sums_(element_count({plan_.rows, width_, padded_})),
        behind_(padded_),
        first_(padded_),
        last_(padded_),
        behind_sums_(padded_) {
    for (int g = 0; g < 256; ++g) p2_[g] = static_cast<T>(edge_penalty(problem.options, g));
    for (std::ptrdiff_t d = 0; d < padded_; ++d) {
      behind_.data()[d] = d < problem.planes ? T{0} : PathSlots<T>::kEnd;
      first_.data()[d] = d == 0 ? PathSlots<T>::kEnd : T{0};
      last_.data()[d] = d == padded_ - 1 ? PathSlots<T>::kEnd : T{0};
      behind_sums_.data()[d] = d < problem.planes ? std::uint16_t{0} : kNoSum;
    }
    for (int i = 0; i < plan_.wave.rows_in_work(); ++i)
      rows_.push_back(std::make_unique<PathRow<T>>(width_, problem.planes));
    for (int i = 0; i < plan_.wave.workers; ++i)
      pieces_.push_back(std::make_unique<PathPiece>(problem.planes, kPathColumns));
    for (int i = 1; i < plan_.blocks; ++i)
      checkpoints_.emplace_back(front_count(width_, problem.planes, problem.options, plan_));
  }

  void run() {
    for (int block = plan_.blocks - 1; block > 0; --block) {
      sweep(block, make_pass(-1, PathSums::kNone));
      up_.save(checkpoints_[block - 1].data());
    }
    for (int block = 0; block < plan_.blocks; ++block) {
      if (block < plan_.blocks - 1) up_.restore(checkpoints_[block].data());
      sweep(block, make_pass(-1, PathSums::kStored));
      sweep(block, make_pass(1, PathSums::kWinner));
    }
  }

  static std::size_t bytes(int width, int height, int planes, const SemiGlobalOptions& options,
                           bool stored_costs, int threads) {
    const PathBlocks plan(width, height, planes, kCellBytes, threads);
    const std::size_t front = front_count(width, planes, options, plan) * sizeof(T) + 3 * kRowAlignment;
    return front * static_cast<std::size_t>(plan.blocks + 1) +
           (stored_costs ? sizeof(Sum) : kCellBytes) *
               element_count({plan.rows, width, cost_stride(planes)}) +
           element_count({cost_stride(planes), 3 * sizeof(T) + 2}) + 8 * kRowAlignment +
           element_count(
               {plan.wave.rows_in_work(), static_cast<std::ptrdiff_t>(PathRow<T>::bytes(width, planes))}) +
           element_count(
               {plan.wave.workers, static_cast<std::ptrdiff_t>(PathPiece::bytes(planes, kPathColumns))}) +
           element_count({plan.rows, 64});  // the wavefront's progress
  }

 private:
  static constexpr std::size_t kCellBytes = sizeof(std::uint8_t) + sizeof(Sum);

  bool diagonals() const { return problem_.options.paths == 8; }

  static std::size_t front_count(int width, int planes, const SemiGlobalOptions& options,
                                 const PathBlocks& plan) {
    return PathFront<T>::count(width, planes, options.paths == 8, plan.wave.rows_in_work());
  }

  PathPass<T> make_pass(int sign, PathSums sums) {
    return {problem_.guide,
            width_,
            height_,
            plan_.wave.rows_in_work(),
            problem_.planes,
            padded_,
            sign,
            diagonals(),
            problem_.options.p1,
            p2_.data(),
            behind_.data(),
            first_.data(),
            last_.data(),
            behind_sums_.data(),
            problem_.right_view,
            problem_.min_disparity,
            sign > 0 ? &down_ : &up_,
            sums};
  }

  /// Runs one pass over the rows of a block.
  void sweep(int block, const PathPass<T>& pass) {
    const int top = block * plan_.rows, bottom = std::min(height_, top + plan_.rows);
    const int first_row = pass.sign > 0 ? top : height_ - bottom;
    wavefront(bottom - top, width_, plan_.wave, [&](int worker, int row, int begin, int end) {
      const int in_work = row % plan_.wave.rows_in_work();
      step(pass, *rows_[in_work], *pieces_[worker], first_row + row, begin, end, top);
    });
  }

  /// Processes columns [begin, end) of row r of a pass.
  void step(const PathPass<T>& pass, PathRow<T>& row, PathPiece& piece, int r, int begin, int end, int top) {
    const int y = pass.y(r);
    const int left = std::min(pass.x(begin), pass.x(end - 1));
    const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(y - top) * width_ * padded_;
    const std::uint8_t* costs = nullptr;
    if (problem_.stored_costs != nullptr) {
      costs = problem_.stored_costs + static_cast<std::ptrdiff_t>(y) * width_ * padded_;
    } else {
      std::uint8_t* const computed =
          pass.sums == PathSums::kNone ? piece.costs.data() - left * padded_ : block_costs_.data() + start;
      if (pass.sums != PathSums::kWinner) compute_costs(y, left, end - begin, computed + left * padded_);
      costs = computed;
    }
    const bool gives_right = pass.right_view && pass.sums == PathSums::kWinner;
    if (gives_right && begin == 0) row.clear_right(width_);
    Sum* const sums = block_sums_.data() + start;
    if constexpr (sizeof(T) == 2)
      HWY_DYNAMIC_DISPATCH(pass_pixels16)(pass, row, piece, r, begin, end, costs, sums);
    else if constexpr (sizeof(Sum) == 2)
      HWY_DYNAMIC_DISPATCH(pass_pixels8_to16)(pass, row, piece, r, begin, end, costs, sums);
    else
      HWY_DYNAMIC_DISPATCH(pass_pixels8)(pass, row, piece, r, begin, end, costs, sums);
    if (pass.sums == PathSums::kWinner && end == width_)
      sink_(y, row.winners.data(), gives_right ? row.take_right(width_) : nullptr);
  }

  void compute_costs(int y, int left, int count, std::uint8_t* costs) const {
    problem_.costs(y, left, count, costs, padded_);
    const int planes = problem_.planes;
    if (planes == padded_) return;
    for (int i = 0; i < count; ++i) std::fill(costs + i * padded_ + planes, costs + (i + 1) * padded_, 255);
  }

  const SemiGlobalProblem& problem_;
  const PathWinnerSink& sink_;
  int width_, height_;
  std::ptrdiff_t padded_;
  PathBlocks plan_;
  std::array<T, 256> p2_;
  PathFront<T> up_, down_;
  AlignedBuffer<std::uint8_t> block_costs_;
  AlignedBuffer<Sum> block_sums_;
  AlignedBuffer<T> behind_, first_, last_;
  AlignedBuffer<std::uint16_t> behind_sums_;
  std::vector<std::unique_ptr<PathRow<T>>> rows_;
  std::vector<std::unique_ptr<PathPiece>> pieces_;
  std::vector<AlignedBuffer<T>> checkpoints_;
};

/// Calls `work` with values of the narrowest sufficient types of path costs and of the sums passed between
/// passes.
template <class Work>
auto with_types(const SemiGlobalOptions& options, int max_cost, const Work& work) {
  if (wide_path_costs(options, max_cost)) return work(std::uint16_t{}, std::uint16_t{});
  if (wide_path_sums(options, max_cost)) return work(std::uint8_t{}, std::uint16_t{});
  return work(std::uint8_t{}, std::uint8_t{});
}

void follow_paths(const SemiGlobalProblem& problem, const PathWinnerSink& sink) {
  const SemiGlobalOptions& options = problem.options;
  EXPECTS((problem.costs != nullptr) != (problem.stored_costs != nullptr));
  EXPECTS(sink != nullptr && !problem.guide.empty());
  EXPECTS(problem.planes >= 1 && problem.planes <= kMaxPathPlanes);
  EXPECTS(options.paths == 4 || options.paths == 8);
  EXPECTS(options.p1 >= 0 && options.p2 >= options.p1 && options.p2_falloff >= 0 &&
          options.p2_falloff <= 65535);
  const int max_cost = problem.max_cost;
  EXPECTS(max_cost >= 0 && max_cost <= 255 && options.p2 <= kMaxPathCost - max_cost);
  const int threads = oneapi::tbb::this_task_arena::max_concurrency();
  with_types(options, max_cost, [&](auto path, auto sum) {
    SemiGlobal<decltype(path), decltype(sum)>(problem, sink, threads).run();
  });
}

}  // namespace

void semi_global(const SemiGlobalProblem& problem, const PathWinnerSink& sink) {
  const auto bytes = [&](int threads) {
    return with_types(problem.options, problem.max_cost, [&](auto path, auto sum) {
      return SemiGlobal<decltype(path), decltype(sum)>::bytes(problem.guide.width, problem.guide.height,
                                                              problem.planes, problem.options,
                                                              problem.stored_costs != nullptr, threads);
    });
  };
  compute(bytes, [&] { follow_paths(problem, sink); });
}

}  // namespace recon
#endif
