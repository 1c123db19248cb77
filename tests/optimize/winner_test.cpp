#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "optimize/winner/winner_take_all.hpp"
#include "reference/sweep_problems.hpp"

namespace recon {
namespace {

constexpr float kNoCost = std::numeric_limits<float>::infinity();

Winner scan(const std::vector<float>& costs) {
  WinnerScan s;
  s.clear();
  for (const float c : costs) s.push(c);
  return s.winner;
}

/// Directly from the definition, over all costs at once.
Winner search(const std::vector<float>& costs) {
  Winner w{-1, kNoCost, kNoCost, kNoCost, kNoCost};
  const int n = static_cast<int>(costs.size());
  const auto at = [&](int d) { return d >= 0 && d < n ? costs[static_cast<std::size_t>(d)] : kNoCost; };
  for (int d = 0; d < n; ++d)
    if (at(d) < w.cost) w.plane = d, w.cost = at(d);
  if (w.plane < 0) return w;
  w.before = at(w.plane - 1);
  w.after = at(w.plane + 1);
  for (int d = 0; d < n; ++d)
    if (std::abs(d - w.plane) > 1) w.second = std::min(w.second, at(d));
  return w;
}

void expect_equal(const Winner& a, const Winner& b, const std::string& where) {
  EXPECT_EQ(a.plane, b.plane) << where;
  EXPECT_EQ(a.cost, b.cost) << where;
  EXPECT_EQ(a.before, b.before) << where;
  EXPECT_EQ(a.after, b.after) << where;
  EXPECT_EQ(a.second, b.second) << where;
}

TEST(WinnerScan, HandCheckedCases) {
  expect_equal(scan({5, 3, 4, 9, 3.5f}), {1, 3, 5, 4, 3.5f}, "second right of the winner");
  expect_equal(scan({2, 2, 2}), {0, 2, kNoCost, 2, 2}, "ties: the lowest plane");
  expect_equal(scan({1, kNoCost, 7}), {0, 1, kNoCost, kNoCost, 7}, "a plane without a cost");
  expect_equal(scan({kNoCost, kNoCost}), {-1, kNoCost, kNoCost, kNoCost, kNoCost}, "no cost at all");
  expect_equal(scan({4}), {0, 4, kNoCost, kNoCost, kNoCost}, "one plane");
}

TEST(WinnerTakeAll, EqualsTheSearchOverAllCosts) {
  for (const int planes : {1, 2, 3, 17, 100}) {
    for (const int width : {1, 31, 32, 33, 70}) {
      Volume<Half> volume(width, planes, 2);
      Volume<float> floats(width, planes, 2);
      for (int d = 0; d < planes; ++d)
        for (int x = 0; x < width; ++x) {
          const double r = reference::hashed(static_cast<std::uint32_t>(planes),
                                             static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(x));
          // Few levels, so that there are ties; some samples have no cost.
          volume.view()(x, 1, d) =
              to_half(r < 0.1 ? kNoCost : static_cast<float>(static_cast<int>(r * 12)) / 8);
          volume.view()(x, 0, d) = to_half(0);
          floats.view()(x, 1, d) = to_float(volume.view()(x, 1, d));
          floats.view()(x, 0, d) = 0;
        }
      std::vector<Winner> winners(static_cast<std::size_t>(width), Winner{-7, 0, 0, 0, 0});
      std::vector<Winner> of_floats = winners;
      winner_take_all(volume.view(), 1, winners.data());
      winner_take_all(floats.view(), 1, of_floats.data());
      for (int x = 0; x < width; ++x) {
        std::vector<float> costs;
        for (int d = 0; d < planes; ++d) costs.push_back(to_float(volume.view()(x, 1, d)));
        const std::string where = std::to_string(planes) + " planes, x = " + std::to_string(x);
        expect_equal(winners[static_cast<std::size_t>(x)], search(costs), where);
        expect_equal(of_floats[static_cast<std::size_t>(x)], search(costs), where + ", floats");
        expect_equal(scan(costs), search(costs), where + ", scan");
      }
    }
  }
}

TEST(Uniqueness, IsZeroForEqualsAndOneForNoRival) {
  EXPECT_EQ(uniqueness({3, 0.5f, 1, 1, 0.5f}), 0.0f);
  EXPECT_EQ(uniqueness({3, 0.5f, 1, 1, kNoCost}), 1.0f);
  EXPECT_FLOAT_EQ(uniqueness({3, 0.5f, 1, 1, 2.0f}), std::sqrt(0.75f));
  EXPECT_EQ(uniqueness({3, 0.0f, 1, 1, 0.0f}), 0.0f);
  EXPECT_EQ(uniqueness({-1, kNoCost, kNoCost, kNoCost, kNoCost}), 0.0f);
}

}  // namespace
}  // namespace recon
