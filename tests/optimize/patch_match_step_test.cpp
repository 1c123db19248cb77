// The decisions of a pixel in the optimizer of slanted patches, against straightforward versions.

#include "optimize/patch_match/patch_match_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "core/image.hpp"

namespace recon {
namespace {

constexpr InverseRange kStepRange = {0.1f, 2.0f};

using Random = std::mt19937;
double drawn(Random& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random()) / 4294967296.0);
}

/// States of an image that are poisoned around it.
class States {
 public:
  States(int width, int height, Random& random) : width_(width), height_(height) {
    for (int i = 0; i < width * height; ++i)
      states_.push_back(
          {{static_cast<float>(drawn(random, 0.8, 1.2)), static_cast<float>(drawn(random, -0.01, 0.01)),
            static_cast<float>(drawn(random, -0.01, 0.01))},
           static_cast<float>(std::floor(drawn(random, 0, 12)) / 4)});  // with ties, up to 2.75
  }
  PatchState& at(int x, int y) { return states_[static_cast<std::size_t>(y * width_ + x)]; }
  PatchStates view() { return {states_.data(), width_, height_, width_}; }
  bool contains(int x, int y) const { return x >= 0 && y >= 0 && x < width_ && y < height_; }

 private:
  int width_, height_;
  std::vector<PatchState> states_;
};

using Offset = std::pair<int, int>;

/// The regions around a pixel, in the order in which they are asked; within one the first of the lowest wins.
std::vector<std::vector<Offset>> regions() {
  std::vector<std::vector<Offset>> all = {{{1, 0}, {3, 0}, {3, 2}, {3, -2}},
                                          {{-1, 0}, {-3, 0}, {-3, -2}, {-3, 2}},
                                          {{0, 1}, {0, 3}, {2, 3}, {-2, 3}},
                                          {{0, -1}, {0, -3}, {-2, -3}, {2, -3}}};
  for (const Offset& step : {Offset{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
    all.emplace_back();
    for (const int d : {5, 7, 9, 11, 13, 15, 17, 19, 21, 23})
      all.back().push_back({d * step.first, d * step.second});
  }
  return all;
}

TEST(PatchPropagation, OffersTheBestNeighbourOfEachRegion) {
  const std::vector<std::vector<Offset>> all = regions();
  for (const auto& region : all)
    for (const auto& [dx, dy] : region) EXPECT_EQ((dx + dy) & 1, 1) << "of the other colour";
  const InverseRange range = {0.85f, 1.15f};  // some planes leave it
  Random random(5);
  for (const auto& [width, height, x, y] : {std::array{61, 57, 30, 28},
                                            {61, 57, 0, 0},
                                            {61, 57, 60, 55},
                                            {9, 7, 4, 3},
                                            {2, 1, 0, 0},
                                            {1, 1, 0, 0}})
    for (int repeat = 0; repeat < 20; ++repeat) {
      States states(width, height, random);
      if (repeat % 4 == 1)
        for (const Offset& it : all[3])
          if (states.contains(x + it.first, y + it.second))
            states.at(x + it.first, y + it.second).cost = kNoPatchCost;  // none to offer
      std::vector<SlantedPlane> expected;
      for (const auto& region : all) {
        const PatchState* lowest = nullptr;
        Offset from;
        for (const Offset& it : region) {
          if (!states.contains(x + it.first, y + it.second)) continue;
          const PatchState& state = states.at(x + it.first, y + it.second);
          if (state.cost < (lowest ? lowest->cost : kNoPatchCost)) lowest = &state, from = it;
        }
        if (!lowest) continue;
        SlantedPlane plane = lowest->plane;
        plane.w = static_cast<float>(plane.w - from.first * static_cast<double>(plane.wx) -
                                     from.second * static_cast<double>(plane.wy));
        if (plane.w >= range.min && plane.w <= range.max) expected.push_back(plane);
      }
      states.at(x, y).cost = 2.9f;
      std::vector<SlantedPlane> offered;
      const PatchState best =
          improved(states.view(), x, y, {range, 3, 0, 1}, 0.0f, [&](const SlantedPlane& plane, float bound) {
            EXPECT_EQ(bound, offered.size() < 3 ? 2.9f : 0.25f);
            offered.push_back(plane);
            return offered.size() == 3 ? 0.25f : 2.95f;  // the third is the best
          });
      ASSERT_EQ(offered.size(), expected.size());
      for (std::size_t i = 0; i < offered.size(); ++i) {
        EXPECT_NEAR(offered[i].w, expected[i].w, 1e-6) << i;
        EXPECT_EQ(offered[i].wx, expected[i].wx) << i;
        EXPECT_EQ(offered[i].wy, expected[i].wy) << i;
      }
      EXPECT_EQ(best.cost, offered.size() < 3 ? 2.9f : 0.25f);
      EXPECT_EQ(best.plane.w, offered.size() < 3 ? states.at(x, y).plane.w : offered[2].w);
    }
}

TEST(PatchPerturbation, StaysNearAndDiffersBetweenPixelsAndIterations) {
  Random random(6);
  States states(40, 30, random);
  constexpr float kStep = 0.02f;
  std::set<float> first;
  double sum = 0;
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x)
      for (const int iteration : {0, 1}) {
        std::vector<SlantedPlane> offered;
        States alone(1, 1, random);
        alone.at(0, 0) = states.at(x, y);
        // The pixel of a large image whose neighbours have nothing to offer.
        for (int i = 0; i < 40 * 30; ++i) states.view().data[i].cost = kNoPatchCost;
        improved(states.view(), x, y, {kStepRange, 3, iteration, 1}, kStep,
                 [&](const SlantedPlane& plane, float) {
                   offered.push_back(plane);
                   return kNoPatchCost;
                 });
        ASSERT_EQ(offered.size(), static_cast<std::size_t>(kPerturbations));
        const SlantedPlane& own = alone.at(0, 0).plane;
        for (const SlantedPlane& plane : offered) {
          EXPECT_LE(std::abs(plane.w - own.w), kStep * 1.0001f);
          EXPECT_LE(std::abs(plane.wx - own.wx), kStep / 3 * 1.0001f);
          EXPECT_LE(std::abs(plane.wy - own.wy), kStep / 3 * 1.0001f);
        }
        EXPECT_EQ(offered[0].wx, own.wx);
        EXPECT_EQ(offered[1].w, own.w);
        EXPECT_NE(offered[1].wx, own.wx);
        first.insert(offered[0].w - own.w);
        sum += static_cast<double>((offered[0].w - own.w) / kStep);
      }
  EXPECT_GE(first.size(), 2350u) << "of 2400";
  EXPECT_NEAR(sum / 2400, 0, 0.04);  // uniform in [-1, 1): the deviation of the mean is 0.012
}

TEST(PatchPerturbation, IsWorthTwoPixelsOfTheFastestSourceAndHalfOfItInTheNextIteration) {
  const PatchSources sources = 0xFFFF0207u;
  const auto speed = [](std::uint32_t s) { return s == 7 ? 10.0f : s == 2 ? 40.0f : 1000.0f; };
  EXPECT_FLOAT_EQ(perturbation_step(sources, 0, speed), 0.05f);
  EXPECT_FLOAT_EQ(perturbation_step(sources, 1, speed), 0.025f);
  EXPECT_EQ(perturbation_step(sources, 0, [](std::uint32_t) { return 0.0f; }), 0.0f);
  EXPECT_EQ(perturbation_step(0xFFFFFFFFu, 0, speed), 0.0f);
}

TEST(PatchSourceChoice, TakesTheLowestMeansAround) {
  Random random(7);
  for (int repeat = 0; repeat < 4000; ++repeat) {
    const int sources = 1 + static_cast<int>(random() % 32),
              best_k = 1 + static_cast<int>(random() % kMaxPatchSources);
    const double high = drawn(random, 5, 200);  // small: ties; large: costs above the cap
    std::vector<std::array<int, 9>> costs(static_cast<std::size_t>(sources));
    for (auto& source : costs)
      for (const unsigned blind = random() % 3 == 0 ? 1 : 6; int& cost : source)
        cost = random() % blind == 0 ? kUnseen : static_cast<int>(drawn(random, 0, high));
    std::vector<std::pair<double, int>> ranked;
    for (int s = 0; s < sources; ++s) {
      const auto& around = costs[static_cast<std::size_t>(s)];
      if (std::count(around.begin(), around.end(), int{kUnseen}) == 9) continue;
      double sum = std::min(around[4], 120);  // the pixel itself counts twice
      for (const int cost : around) sum += std::min(cost, 120);
      ranked.push_back({sum / 10, s});
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<int> expected;
    for (const auto& [mean, s] : ranked)
      if (static_cast<int>(expected.size()) < best_k && (expected.empty() || mean <= ranked[0].first + 30))
        expected.push_back(s);
    const PatchSources chosen = chosen_sources(sources, best_k, [&](int s, int dx, int dy) {
      EXPECT_TRUE((dx == -2 || dx == 0 || dx == 2) && (dy == -2 || dy == 0 || dy == 2));
      return costs[static_cast<std::size_t>(s)][static_cast<std::size_t>(dy / 2 * 3 + dx / 2 + 4)];
    });
    std::vector<int> found;
    for (int k = 0; k < kMaxPatchSources; ++k)
      if (const auto s = source_at(chosen, k); s != kNoSource) found.push_back(static_cast<int>(s));
    ASSERT_EQ(found, expected);
  }
}

TEST(PatchMeanCost, IsTheMeanOrNotBelowTheBound) {
  Random random(8);
  for (int repeat = 0; repeat < 1000; ++repeat) {
    std::vector<float> costs;
    PatchSources sources = 0xFFFFFFFFu;
    const int count = static_cast<int>(random() % (kMaxPatchSources + 1));
    for (int k = 0; k < count; ++k) {
      costs.push_back(static_cast<float>(drawn(random, 0, 2)));
      sources = (sources & ~(255u << (8 * k))) | static_cast<std::uint32_t>(k) << (8 * k);
    }
    double mean = 0;
    for (const float cost : costs) mean += static_cast<double>(cost) / count;
    const float bound = static_cast<float>(drawn(random, 0, 3));
    const float found = mean_cost(sources, bound, [&](std::uint32_t s) { return costs[s]; });
    const double expected = count == 0 ? kNoPatchCost : mean;
    if (count == 0 || expected < static_cast<double>(bound) - 1e-6) {
      EXPECT_NEAR(found, expected, 1e-6);
    } else if (expected > static_cast<double>(bound) + 1e-6) {
      EXPECT_GE(found, bound);
    }
  }
}

TEST(PatchRefinement, TakesTheBestOfTheFourNearestPixels) {
  Random random(9);
  // Finer sizes with their coarser ones, rounded up, and down.
  for (const auto& [width, height, coarse_width, coarse_height] :
       {std::array{10, 8, 5, 4}, {9, 7, 5, 4}, {9, 7, 4, 3}, {2, 2, 1, 1}, {1, 1, 1, 1}, {3, 1, 2, 1}})
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        States coarse(coarse_width, coarse_height, random);
        const InverseRange range = {0.9f, 1.1f};  // some planes leave it
        const auto score = [](const SlantedPlane& plane) {
          return 1.0f + std::sin(1e4f * plane.w + 1e5f * plane.wx);  // no order, no ties
        };
        PatchState best = {{}, 9};
        for (int cy = 0; cy < coarse_height; ++cy)
          for (int cx = 0; cx < coarse_width; ++cx) {
            const double dx = x + 0.5 - 2 * (cx + 0.5), dy = y + 0.5 - 2 * (cy + 0.5);
            if (std::abs(dx) > 1.5 || std::abs(dy) > 1.5) continue;
            const SlantedPlane& plane = coarse.at(cx, cy).plane;
            SlantedPlane finer = {0, plane.wx / 2, plane.wy / 2};
            finer.w = plane.w + (finer.wx * static_cast<float>(dx) + finer.wy * static_cast<float>(dy));
            finer.w = std::clamp(finer.w, range.min, range.max);
            if (score(finer) < best.cost) best = {finer, score(finer)};
          }
        const PatchState found =
            finer_state(coarse.view(), x, y, range, [&](const SlantedPlane& plane, float bound) {
              return std::max(score(plane), score(plane) < bound ? 0.0f : bound);
            });
        EXPECT_EQ(found.cost, best.cost) << width << " " << x << " " << y;
        EXPECT_EQ(found.plane.w, best.plane.w) << width << " " << x << " " << y;
        EXPECT_EQ(found.plane.wx, best.plane.wx) << width << " " << x << " " << y;
        EXPECT_EQ(found.plane.wy, best.plane.wy) << width << " " << x << " " << y;
        const PatchState nearest =
            finer_state(coarse.view(), x, y, range, [](const SlantedPlane&, float) { return 1.0f; });
        const PatchState& under =
            coarse.at(std::min(x / 2, coarse_width - 1), std::min(y / 2, coarse_height - 1));
        EXPECT_EQ(nearest.plane.wx, under.plane.wx / 2) << "ties";
      }
}

TEST(FirstPlane, FollowsTheDepthsOnTheSmoothSide) {
  const auto plane_of = [](float here, float left, float right, float above = kUnknown,
                           float below = kUnknown) {
    return first_plane(kStepRange, [=](int dx, int dy) {
      return 1 / (dx < 0 ? left : dx > 0 ? right : dy < 0 ? above : dy > 0 ? below : here);
    });
  };
  // (inverse depth, before, after) -> slope: the mean where both sides agree, else the smoother one; none
  // across an edge of 5 % or into unknown depths.
  const std::vector<std::array<float, 4>> cases = {
      {1.0f, 0.99f, 1.012f, 0.011f},    {1.0f, 0.98f, 1.03f, 0.025f},   {1.0f, 0.99f, 1.04f, 0.01f},
      {1.0f, 0.96f, 0.99f, -0.01f},     {1.0f, 0.9f, 1.03f, 0.03f},     {1.0f, 0.97f, 1.2f, 0.03f},
      {1.0f, 0.9f, 1.2f, 0.0f},         {1.0f, kUnknown, 1.03f, 0.03f}, {1.0f, 0.97f, kUnknown, 0.03f},
      {1.0f, kUnknown, kUnknown, 0.0f}, {1.0f, kUnknown, 0.9f, 0.0f}};
  for (const auto& [here, before, after, slope] : cases) {
    const SlantedPlane row = plane_of(here, before, after),
                       column = plane_of(here, kUnknown, kUnknown, before, after);
    EXPECT_FLOAT_EQ(row.w, here);
    EXPECT_NEAR(row.wx, slope, 1e-6) << before << " " << after;
    EXPECT_EQ(row.wy, 0.0f);
    EXPECT_NEAR(column.wy, slope, 1e-6) << before << " " << after;
    EXPECT_EQ(column.wx, 0.0f);
  }
}

TEST(FirstPlane, BeginsInTheMiddleWhereTheDepthIsUnknown) {
  for (const float depth : {kUnknown, 0.0f, -1.0f, 0.4f, 11.0f, std::numeric_limits<float>::infinity()}) {
    const SlantedPlane plane =
        first_plane(kStepRange, [&](int dx, int dy) { return dx == 0 && dy == 0 ? depth : 1.0f; });
    EXPECT_FLOAT_EQ(plane.w, 1.05f) << depth;
    EXPECT_EQ(plane.wx, 0.0f);
    EXPECT_EQ(plane.wy, 0.0f);
  }
}

}  // namespace
}  // namespace recon
