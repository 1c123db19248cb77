// Planes on weak texture, supported by reliable pixels around.

#include "optimize/patch_match/supported_planes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "core/parallel.hpp"
#include "optimize/supported_planes_problem.hpp"
#include "reference/supported_planes_reference.hpp"

namespace recon {
namespace {

using reference::TextbookPlane;
using reference::TextbookState;
using reference::TexturedPlane;
using test::Box;

constexpr int kWidth = 96, kHeight = 72;
constexpr Box kHole = {40, 30, 60, 45};

struct Problem : test::SupportedPlanesProblem {
  explicit Problem(const Box& hole = kHole) : SupportedPlanesProblem(kWidth, kHeight, hole) {}

  bool right(const PatchState& state, int x, int y) const {
    return state.cost == kSupportedCost && std::abs(state.plane.w - plane(x, y).w) * scene.parallax() < 0.01;
  }
};

bool same(const PatchState& a, const PatchState& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

int differing(const Image<PatchState>& a, const Image<PatchState>& b) {
  int count = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) count += !same(a(x, y), b(x, y));
  return count;
}

TEST(SupportedPlanes, FillAHoleByThePlaneAround) {
  const Problem problem;
  const Image<PatchState> filled = problem.filled();
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      EXPECT_TRUE(kHole.contains(x, y) ? problem.right(filled(x, y), x, y)
                                       : same(filled(x, y), problem.states(x, y)))
          << x << " " << y;
}

/// The planes that the textbook allows for each pixel.
std::vector<std::vector<TextbookPlane>> textbook(const Problem& problem) {
  std::vector<TextbookState> states;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const auto& [plane, cost] = problem.states(x, y);
      states.push_back({{plane.w, plane.wx, plane.wy}, cost});
    }
  return reference::supported_planes(states, problem.scene.reference, problem.scene.sources,
                                     test::kSupportedRange.min, test::kSupportedRange.max);
}

/// Expects only planes of the textbook, and returns how many pixels have one and how many could.
std::pair<int, int> expect_textbook(const Problem& problem) {
  const auto expected = textbook(problem);
  const Image<PatchState> filled = problem.filled();
  int changed = 0, possible = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const auto& planes = expected[static_cast<std::size_t>(y * kWidth + x)];
      possible += !planes.empty();
      if (same(filled(x, y), problem.states(x, y))) continue;
      ++changed;
      const SlantedPlane& plane = filled(x, y).plane;
      const auto is = [&](const TextbookPlane& other) {
        return std::abs(plane.w - other.w) < 1e-5 && std::abs(plane.wx - other.wx) < 1e-6 &&
               std::abs(plane.wy - other.wy) < 1e-6;
      };
      EXPECT_TRUE(std::any_of(planes.begin(), planes.end(), is)) << x << " " << y;
    }
  return {changed, possible};
}

TEST(SupportedPlanes, AreThoseOfTheTextbook) {
  Problem problem({30, 20, 75, 55});
  problem.displace({0, 0, 34, 30}, 5);  // another surface, whose supports are wrong
  problem.disturb();
  const auto [changed, possible] = expect_textbook(problem);
  // The rest is contradicted by the photos.
  EXPECT_GT(possible, 600);
  EXPECT_GT(changed, 0.7 * possible);
}

/// Holes that are open on two opposite sides, or were but for what stands in them.
TEST(SupportedPlanes, OfOpenAreasAreThoseOfTheTextbook) {
  for (const Box& hole : {Box{30, 0, 75, kHeight}, Box{0, 20, kWidth, 55}}) {
    const Problem problem(hole);
    const auto [changed, possible] = expect_textbook(problem);
    EXPECT_EQ(changed, possible);
    EXPECT_LT(possible, 200);
  }
  Problem problem({30, 0, 75, kHeight});
  for (int x = 45; x < 60; ++x)
    for (int y = 0; y < 10; ++y) problem.states(x, y) = {problem.plane(x, y), 0.1f};
  const auto [changed, possible] = expect_textbook(problem);
  EXPECT_EQ(changed, possible);
  EXPECT_GT(possible, 400);
  EXPECT_LT(possible, 45 * kHeight - 400);
}

TEST(SupportedPlanes, SurviveTwoWrongSupports) {
  for (const Box& wrong : {Box{70, 0, kWidth, 45}, Box{0, 0, 40, 20}, Box{0, 50, 96, 72}}) {
    Problem problem({50, 37, 51, 38});
    problem.displace(wrong, 4);
    EXPECT_TRUE(problem.right(problem.filled()(50, 37), 50, 37));
  }
}

TEST(SupportedPlanes, NeedSixSupports) {
  const Problem problem({60, 20, kWidth, 52});  // nothing on the right
  const Image<PatchState> filled = problem.filled();
  for (int y = 20; y < 52; ++y)
    for (int x = 60; x < kWidth; ++x) {
      const int up = y - 19, down = 52 - y;
      if (x + std::min(up, down) < kWidth) continue;
      EXPECT_TRUE(same(filled(x, y), problem.states(x, y))) << x << " " << y;
    }
}

/// Between two columns, open above and below, may be the sky.
TEST(SupportedPlanes, AreNotOfAStripBetweenTwoColumns) {
  const Problem open({40, 0, 60, kHeight});
  EXPECT_EQ(differing(open.filled(), open.states), 0);
  const Problem closed_above({40, 10, 60, kHeight});
  const Image<PatchState> filled = closed_above.filled();
  for (int y = 20; y < 60; ++y)
    for (int x = 40; x < 60; ++x) EXPECT_TRUE(closed_above.right(filled(x, y), x, y)) << x << " " << y;
}

TEST(SupportedPlanes, AreRejectedWherePhotosContradict) {
  Problem problem;
  const Image<PatchState> random = problem.states.clone();
  problem.displace({0, 0, kWidth, kHeight}, 9);
  for (int y = kHole.top; y < kHole.bottom; ++y)
    for (int x = kHole.left; x < kHole.right; ++x) problem.states(x, y) = random(x, y);
  EXPECT_EQ(differing(problem.filled(), problem.states), 0);
}

TEST(SupportedPlanes, AllowForOtherExposures) {
  Problem problem;
  for (std::size_t i = 1; i < problem.scene.images.size(); ++i) {
    Image<std::uint8_t>& image = problem.scene.images[i];
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        image(x, y) =
            static_cast<std::uint8_t>(std::lround(image(x, y) * (0.7 + 0.04 * static_cast<double>(i))));
  }
  const Image<PatchState> filled = problem.filled();
  for (int y = kHole.top; y < kHole.bottom; ++y)
    for (int x = kHole.left; x < kHole.right; ++x) EXPECT_TRUE(problem.right(filled(x, y), x, y));
}

TEST(SupportedPlanes, AreTheSameForAnyNumberOfThreads) {
  Problem problem({20, 10, 80, 60});
  problem.displace({0, 0, 30, kHeight}, 2);
  const Image<PatchState> filled = problem.filled();
  EXPECT_GT(differing(filled, problem.states), 500);
  for (const int threads : {1, 4})
    EXPECT_EQ(differing(filled, ThreadLimit(threads).run([&] { return problem.filled(); })), 0) << threads;
}

TEST(SupportedPlanes, TakeTinyImages) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {9, 1}, {3, 2}}) {
    const TexturedPlane scene = reference::textured_plane(width, height, test::slanted_plane(kWidth));
    Image<PatchState> states(width, height, {{1.0f, 0.0f, 0.0f}, kNoPatchCost});
    const WarpedImage source = {make_source_warp(scene.reference.camera, scene.reference.cam_from_world,
                                                 scene.sources[0].camera, scene.sources[0].cam_from_world),
                                scene.sources[0].channel[0]};
    fill_supported_planes(states.view(), scene.reference.channel[0], {source}, test::kSupportedRange);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) EXPECT_EQ(states(x, y).cost, kNoPatchCost);
  }
}

}  // namespace
}  // namespace recon
