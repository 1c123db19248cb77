// Planes on weak texture, supported by reliable pixels around.

#include "optimize/patch_match/supported_planes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "core/parallel.hpp"
#include "reference/supported_planes_reference.hpp"
#include "reference/sweep_problems.hpp"
#include "reference/textured_plane.hpp"

namespace recon {
namespace {

using reference::hashed;
using reference::TextbookPlane;
using reference::TextbookState;
using reference::TexturedPlane;

constexpr InverseRange kRange = {0.3f, 2.2f};
constexpr int kWidth = 96, kHeight = 72;
constexpr TextbookPlane kSlanted = {1.0, 0.004, -0.003};

/// A rectangle of pixels.
struct Box {
  int left, top, right, bottom;
  bool contains(int x, int y) const { return x >= left && x < right && y >= top && y < bottom; }
};
constexpr Box kHole = {40, 30, 60, 45};

/// A textured plane whose states are right, but for random ones in a hole.
struct Problem {
  TexturedPlane scene = reference::textured_plane(kWidth, kHeight, kSlanted);
  Image<PatchState> states{kWidth, kHeight};

  explicit Problem(const Box& hole = kHole) {
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        states(x, y) =
            hole.contains(x, y) ? PatchState{random_plane(x, y), 0.6f} : PatchState{plane(x, y), 0.1f};
  }

  SlantedPlane plane(int x, int y, double pixels = 0) const {
    const TextbookPlane truth = scene.at(x, y);
    return {static_cast<float>(truth.w + pixels / scene.parallax()), static_cast<float>(truth.wx),
            static_cast<float>(truth.wy)};
  }

  SlantedPlane random_plane(int x, int y) const {
    const auto a = static_cast<std::uint32_t>(x), b = static_cast<std::uint32_t>(y);
    return plane(x, y, 14 * (2 * hashed(21, a, b) - 1));
  }

  /// Moves the planes of a box by some pixels of parallax.
  void displace(const Box& box, double pixels) {
    for (int y = box.top; y < box.bottom; ++y)
      for (int x = box.left; x < box.right; ++x) states(x, y).plane = plane(x, y, pixels);
  }

  Image<PatchState> filled() const {
    std::vector<WarpedImage> sources;
    for (const PosedImage& source : scene.sources)
      sources.push_back({make_source_warp(scene.reference.camera, scene.reference.cam_from_world,
                                          source.camera, source.cam_from_world),
                         source.channel[0]});
    Image<PatchState> result = states.clone();
    fill_supported_planes(result.view(), scene.reference.channel[0], sources, kRange);
    return result;
  }

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

TEST(SupportedPlanes, AreThoseOfTheTextbook) {
  Problem problem({30, 20, 75, 55});
  problem.displace({0, 0, 34, 30}, 5);  // another surface, whose supports are wrong
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const auto a = static_cast<std::uint32_t>(x), b = static_cast<std::uint32_t>(y);
      PatchState& state = problem.states(x, y);
      state.plane.w += static_cast<float>(0.6 * (hashed(22, a, b) - 0.5) / problem.scene.parallax());
      if (hashed(23, a, b) < 0.1) state = {problem.random_plane(x, y), hashed(24, a, b) < 0.5 ? 0.2f : 0.7f};
    }
  std::vector<TextbookState> states;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const auto& [plane, cost] = problem.states(x, y);
      states.push_back({{plane.w, plane.wx, plane.wy}, cost});
    }
  const auto expected = reference::supported_planes(states, problem.scene.reference, problem.scene.sources,
                                                    kRange.min, kRange.max);
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
  // The rest is contradicted by the photos.
  EXPECT_GT(possible, 600);
  EXPECT_GT(changed, 0.7 * possible);
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
    const TexturedPlane scene = reference::textured_plane(width, height, kSlanted);
    Image<PatchState> states(width, height, {{1.0f, 0.0f, 0.0f}, kNoPatchCost});
    const WarpedImage source = {make_source_warp(scene.reference.camera, scene.reference.cam_from_world,
                                                 scene.sources[0].camera, scene.sources[0].cam_from_world),
                                scene.sources[0].channel[0]};
    fill_supported_planes(states.view(), scene.reference.channel[0], {source}, kRange);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) EXPECT_EQ(states(x, y).cost, kNoPatchCost);
  }
}

}  // namespace
}  // namespace recon
