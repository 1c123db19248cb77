#include "cuda/optimize/winner/winner_range.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace recon::cuda {
namespace {

WinnerRange scanned(const std::vector<float>& costs, int begin, int end) {
  WinnerScan scan;
  scan.clear();
  for (int d = begin; d < end; ++d) scan.push(costs[static_cast<std::size_t>(d)]);
  WinnerRange range{scan.winner, costs[static_cast<std::size_t>(begin)],
                    costs[static_cast<std::size_t>(end - 1)]};
  if (range.winner.plane >= 0) range.winner.plane += begin;
  return range;
}

/// Cut anywhere, down to single planes, with many ties and planes without a cost: as if never cut.
TEST(WinnerRange, JoinedRangesEqualOneScan) {
  std::mt19937 random(3);
  const auto integer = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int trial = 0; trial < 20000; ++trial) {
    const int planes = integer(2, 12);
    std::vector<float> costs(static_cast<std::size_t>(planes));
    for (float& cost : costs) cost = integer(0, 4) == 0 ? invalid_cost() : static_cast<float>(integer(0, 5));
    const WinnerRange whole = scanned(costs, 0, planes);
    int begin = integer(1, planes);
    WinnerRange joint = scanned(costs, 0, begin);
    while (begin < planes) {
      const int end = integer(begin + 1, planes);
      joint = joined(joint, scanned(costs, begin, end), begin);
      begin = end;
    }
    ASSERT_EQ(joint.winner.plane, whole.winner.plane) << "trial " << trial;
    ASSERT_EQ(joint.winner.cost, whole.winner.cost) << "trial " << trial;
    ASSERT_EQ(joint.winner.second, whole.winner.second) << "trial " << trial;
    ASSERT_EQ(joint.first, whole.first);
    ASSERT_EQ(joint.last, whole.last);
    if (whole.winner.plane < 0) continue;
    ASSERT_EQ(joint.winner.before, whole.winner.before) << "trial " << trial;
    ASSERT_EQ(joint.winner.after, whole.winner.after) << "trial " << trial;
  }
}

}  // namespace
}  // namespace recon::cuda
