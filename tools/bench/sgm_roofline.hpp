#pragma once

#include "methods/stereo/pair.hpp"
#include "tools/bench/h200.hpp"

namespace recon {

/// What an H200 does at best, as measured: instructions of a thread on pairs of 16 bits that come as two
/// operations (viaddmin, vimin3), or as one, per second.
inline constexpr double kH200PairInstructionsPerSecond = 16.5e12;

/// The least that our arrangement of semi-global matching moves and does, by stage; bytes.
struct SgmRoofline {
  double transform, costs, paths, winner, disparity, median;
  double pair_steps;  ///< path costs of two planes

  explicit SgmRoofline(const PairProblem& problem) {
    const SemiGlobalPairOptions& options = problem.options.semi_global;
    const double pixels = static_cast<double>(problem.images.left.width) * problem.images.left.height;
    const double cells = pixels * problem.options.range.count;
    const bool bytes = max_transform_cost(options.transform) + options.optimizer.p2 <= 255;
    const double code = options.transform.transform == Transform::kCensus9x7 ? 8 : 4;
    const double directions = options.optimizer.paths, record = 10 * pixels;
    // A byte of every direction; or two volumes of sums of 16 bits, which every two directions are added to.
    const double stored = (bytes ? directions : 4) * cells;
    transform = 2 * pixels * (1 + code);
    costs = 2 * pixels * code + cells;
    // Both directions along the rows read the costs, those that go down read them together, so do those that
    // go up.
    paths = 4 * cells + (bytes ? stored : stored * (directions - 1));
    winner = stored + record + 4 * pixels;
    disparity = record + 8 * pixels;
    median = options.median ? 8 * pixels : 0;
    pair_steps = cells * options.optimizer.paths / 2;
  }

  double all_bytes() const { return transform + costs + paths + winner + disparity + median; }
  /// A step of two planes is five such instructions at least: two minima, one with an addition, a sum of
  /// three, and its share of the least of all.
  double pair_step_seconds() const { return 5 * pair_steps / kH200PairInstructionsPerSecond; }
  double floor_seconds() const {
    const double bytes = all_bytes() / kH200BytesPerSecond;
    return bytes > pair_step_seconds() ? bytes : pair_step_seconds();
  }
};

}  // namespace recon
