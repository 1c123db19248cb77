// Depth edges that move to where the photo has them.

#include "optimize/patch_match/edge_planes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/parallel.hpp"
#include "reference/edge_planes_reference.hpp"
#include "reference/sweep_problems.hpp"

namespace recon {
namespace {

constexpr InverseRange kEdgeTestRange = {0.1f, 2.0f};

/// A bright near surface on the left of a dark far one, both slanted. The depth edge lies some pixels beyond
/// that of the photo.
struct FattenedScene {
  FattenedScene(int width, int height, int photo_edge, int depth_edge)
      : states(width, height), grey(width, height) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        states(x, y) = {x < depth_edge ? near_plane(x, y) : far_plane(x, y), 0.2f};
        grey(x, y) = x < photo_edge ? 180 : 90;
      }
  }

  static SlantedPlane near_plane(int x, int y) { return plane_at({1.0f, 0.002f, -0.001f}, x, y); }
  static SlantedPlane far_plane(int x, int y) { return plane_at({0.5f, -0.001f, 0.001f}, x, y); }
  static SlantedPlane plane_at(SlantedPlane plane, int x, int y) {
    plane.w = inverse_depth(plane, static_cast<float>(x), static_cast<float>(y));
    return plane;
  }

  Image<PatchState> moved() { return with_moved_edges(states.view(), edge_image(), kEdgeTestRange); }

  EdgeImage edge_image() const { return {grey.view().data, grey.view().pitch, nullptr, 0}; }

  Image<PatchState> states;
  Image<std::uint8_t> grey;
};

/// The columns of a row that have the near plane; no other has one between two that do.
int near_columns(const Image<PatchState>& states, int y) {
  int near = 0;
  for (int x = 0; x < states.width(); ++x)
    if (states(x, y).plane.w > 0.75f) {
      EXPECT_EQ(near, x);
      ++near;
    }
  return near;
}

TEST(EdgePlanes, OfTheNearerSurfaceEndWhereItsPhotoEnds) {
  for (const int beyond : {-1, 0, 1, 2, 3}) {
    FattenedScene scene(40, 20, 20, 20 + beyond);
    const Image<PatchState> moved = scene.moved();
    for (int y = 0; y < 20; ++y) EXPECT_EQ(near_columns(moved, y), 20) << beyond;
    for (int x = 0; x < 40; ++x) EXPECT_EQ(moved(x, 10).cost, 0.2f) << x;
    for (int x = 20; x < 20 + beyond; ++x)
      EXPECT_NEAR(moved(x, 10).plane.w, FattenedScene::far_plane(x, 10).w, 1e-6f) << "extrapolated";
  }
}

TEST(EdgePlanes, AreWhereColoursOfTheSameGreyLevelMeet) {
  FattenedScene scene(40, 20, 20, 22);
  Image<Rgb8> colours(40, 20);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 40; ++x) colours(x, y) = x < 20 ? Rgb8{200, 90, 90} : Rgb8{90, 200, 90};
  scene.grey.fill(90);
  EdgeImage image = scene.edge_image();
  image.colours = colours.view().data, image.colour_pitch = colours.view().pitch;
  const Image<PatchState> moved = with_moved_edges(scene.states.view(), image, kEdgeTestRange);
  for (int y = 0; y < 20; ++y) EXPECT_EQ(near_columns(moved, y), 20);
}

TEST(EdgePlanes, AreUnknownWhereThePhotoHasNoContrast) {
  FattenedScene scene(40, 20, 20, 24);
  scene.grey.fill(90);
  const Image<PatchState> moved = scene.moved();
  for (int y = 4; y < 16; ++y)
    for (int x = 0; x < 40; ++x) {
      const bool beside = moved(x, y).plane.w > 0.75f ? moved(x + 1, y).plane.w < 0.75f
                                                      : moved(std::max(x - 1, 0), y).plane.w > 0.75f;
      EXPECT_EQ(moved(x, y).cost, beside ? kNoPatchCost : 0.2f) << x << " " << y;
    }
}

/// A strip of a colour between those of both surfaces, as a blurred edge has it.
TEST(EdgePlanes, AreUnknownWhereAPixelLooksLikeBothSurfaces) {
  FattenedScene scene(40, 20, 20, 23);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 40; ++x) scene.grey(x, y) = x < 20 ? 100 : x < 23 ? 93 : 90;
  const Image<PatchState> moved = scene.moved();
  for (int y = 4; y < 16; ++y)
    for (int x = 0; x < 40; ++x) EXPECT_EQ(moved(x, y).cost == kNoPatchCost, x >= 20 && x < 23) << x;
}

TEST(EdgePlanes, StayWithinTheRange) {
  FattenedScene scene(40, 20, 20, 24);
  const Image<PatchState> moved = with_moved_edges(scene.states.view(), scene.edge_image(), {0.75f, 2.0f});
  for (int y = 0; y < 20; ++y) EXPECT_EQ(near_columns(moved, y), 24);
}

/// A pole is too thin to have pixels inside its surface; it looks like nothing behind it.
TEST(EdgePlanes, OfAPoleStay) {
  FattenedScene scene(40, 20, 0, 0);
  for (int y = 0; y < 20; ++y)
    for (int x = 18; x < 21; ++x)
      scene.states(x, y).plane = FattenedScene::near_plane(x, y), scene.grey(x, y) = 180;
  const Image<PatchState> moved = scene.moved();
  for (int x = 0; x < 40; ++x) EXPECT_EQ(moved(x, 10).plane.w > 0.75f, x >= 18 && x < 21) << x;
}

/// Nothing matches in a bright sky, whose depths are noise; beside a trunk its windows match the trunk.
TEST(EdgePlanes, OfATrunkAreUnknownInTheSky) {
  FattenedScene scene(40, 20, 20, 24);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 40; ++x) {
      const double noise = reference::hashed(1, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
      if (x >= 24) scene.states(x, y) = {{static_cast<float>(0.1 + 0.5 * noise), 0.0f, 0.0f}, 1.2f};
      scene.grey(x, y) = x < 20 ? 90 : 250;
    }
  const Image<PatchState> moved = scene.moved();
  for (int y = 4; y < 16; ++y)
    for (int x = 4; x < 24; ++x) EXPECT_EQ(moved(x, y).cost, x < 20 ? 0.2f : kNoPatchCost) << x << " " << y;
}

/// A part of a wall matches, beside one of the same colour that does not.
TEST(EdgePlanes, OfAPlainWallStayBesideUnmatchedPixels) {
  FattenedScene scene(40, 20, 0, 20);
  for (int y = 0; y < 20; ++y)
    for (int x = 20; x < 40; ++x) scene.states(x, y).cost = 1.2f;
  const Image<PatchState> moved = scene.moved();
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 20; ++x) EXPECT_EQ(moved(x, y).cost, 0.2f) << x << " " << y;
}

/// Blocks of planes and grey levels, with noise in both.
struct RandomScene {
  RandomScene(int width, int height, std::uint32_t seed, bool in_colour = false)
      : states(width, height), grey(width, height), colours(width, height), has_colours(in_colour) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const auto a = static_cast<std::uint32_t>(x), b = static_cast<std::uint32_t>(y);
        const double block = reference::hashed(seed, a / 9, b / 7),
                     other = reference::hashed(seed + 1, a / 9, b / 7);
        const double noise = reference::hashed(seed + 2, a, b);
        states(x, y) = {
            {static_cast<float>(0.5 + block + (noise < 0.02 ? 0.3 : 0.004 * noise)),
             static_cast<float>(0.004 * (other - 0.5)), static_cast<float>(0.002 * (block - 0.5))},
            static_cast<float>(0.7 * reference::hashed(seed + 3, a, b))};
        const double photo = reference::hashed(seed, (a + 2) / 9, b / 7);
        grey(x, y) = static_cast<std::uint8_t>(40 * photo + 12 * reference::hashed(seed + 4, a, b));
        colours(x, y) = {static_cast<std::uint8_t>(grey(x, y) + 20 * other), 200,
                         static_cast<std::uint8_t>(30 * noise)};
      }
  }
  EdgeImage edge_image() const {
    return {grey.view().data, grey.view().pitch, has_colours ? colours.view().data : nullptr,
            colours.view().pitch};
  }

  /// Large surfaces, of which a third matches nothing, in a photo of strong contrasts at other places.
  static RandomScene with_unmatched(int width, int height, std::uint32_t seed, bool in_colour) {
    RandomScene scene(width, height, seed, in_colour);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const auto a = static_cast<std::uint32_t>(x), b = static_cast<std::uint32_t>(y);
        const double block = reference::hashed(seed + 5, a / 24, b / 20);
        const double photo = reference::hashed(seed + 6, a / 17, b / 15);
        const double noise = reference::hashed(seed + 7, a, b);
        PatchState& state = scene.states(x, y);
        state.plane.w = static_cast<float>(0.7 + 0.6 * block + (block < 0.33 ? 0.1 * noise : 0.0));
        state.cost = block < 0.33 ? 1.0f : 0.2f;
        scene.grey(x, y) = static_cast<std::uint8_t>(30 * std::floor(7 * photo) + 12 * noise);
        scene.colours(x, y) = {scene.grey(x, y), static_cast<std::uint8_t>(200 * photo), 90};
      }
    return scene;
  }

  Image<PatchState> states;
  Image<std::uint8_t> grey;
  Image<Rgb8> colours;
  bool has_colours;
};

/// The states after a pass of the textbook.
/// @param unmatched  receives how many pixels are unknown by the votes of unmatched ones alone
Image<PatchState> textbook_pass(const RandomScene& scene, const InverseRange& range,
                                const reference::EdgeRules& rules, int& unmatched) {
  const int width = scene.states.width(), height = scene.states.height();
  std::vector<reference::EdgePixel> pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto& [plane, cost] = scene.states(x, y);
      const std::uint8_t grey = scene.grey(x, y);
      const Rgb8 colour = scene.has_colours ? scene.colours(x, y) : Rgb8{grey, grey, grey};
      pixels.push_back({static_cast<double>(plane.w), static_cast<double>(plane.wx),
                        static_cast<double>(plane.wy), static_cast<double>(cost), colour.r, colour.g,
                        colour.b});
    }
  const auto decisions = reference::edge_planes(pixels, width, height, static_cast<double>(range.min),
                                                static_cast<double>(range.max), rules);
  unmatched = 0;
  Image<PatchState> result(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto [giver, unknown, by_unmatched] = decisions[static_cast<std::size_t>(y * width + x)];
      const int i = giver % width, j = giver / width;
      const auto& [plane, cost] = scene.states(i, j);
      const float w = inverse_depth(plane, static_cast<float>(x - i), static_cast<float>(y - j));
      result(x, y) = {{w, plane.wx, plane.wy}, unknown ? kNoPatchCost : cost};
      unmatched += by_unmatched;
    }
  return result;
}

/// What the passes of the textbook changed, in numbers of pixels.
struct Changes {
  int moved = 0, unknown = 0;
  int by_unmatched[2] = {};  ///< of those unknown, by pass
};

Changes expect_textbook(RandomScene scene) {
  const InverseRange range{0.6f, 1.4f};
  const Image<PatchState> moved = with_moved_edges(scene.states.view(), scene.edge_image(), range);
  const Image<PatchState> before = scene.states.clone();
  const reference::EdgeRules rules[] = {{4, 0, 2, 8, 2.0, std::sqrt(2.0), 25}, {1, 1, 1, 4, 1.0, 2.0, 8}};
  Changes changes;
  for (int pass = 0; pass < 2; ++pass)
    scene.states = textbook_pass(scene, range, rules[pass], changes.by_unmatched[pass]);
  for (int y = 0; y < moved.height(); ++y)
    for (int x = 0; x < moved.width(); ++x) {
      const PatchState &is = moved(x, y), &expected = scene.states(x, y);
      EXPECT_TRUE(is.plane.w == expected.plane.w && is.plane.wx == expected.plane.wx &&
                  is.plane.wy == expected.plane.wy && is.cost == expected.cost)
          << x << " " << y;
      changes.moved += is.plane.w != before(x, y).plane.w;
      changes.unknown += is.cost == kNoPatchCost;
    }
  return changes;
}

TEST(EdgePlanes, AreThoseOfTheTextbook) {
  const auto expect_changes = [](int width, int height, std::uint32_t seed, bool in_colour = false) {
    const Changes changes = expect_textbook({width, height, seed, in_colour});
    EXPECT_GT(changes.moved, width * height / 100);
    EXPECT_GT(changes.unknown, width * height / 200);
  };
  expect_changes(67, 41, 1);
  expect_changes(64, 48, 9);
  expect_changes(61, 47, 6, true);
  expect_textbook({1, 1, 2});
  expect_textbook({1, 23, 3});
  expect_textbook({37, 2, 4});
}

TEST(EdgePlanes, BesideUnmatchedPixelsAreThoseOfTheTextbook) {
  for (const bool in_colour : {false, true}) {
    const Changes changes = expect_textbook(RandomScene::with_unmatched(90, 70, 11, in_colour));
    EXPECT_GT(changes.by_unmatched[0], 20);
    EXPECT_GT(changes.by_unmatched[1], 2);
  }
}

TEST(EdgePlanes, AreTheSameForAnyNumberOfThreads) {
  RandomScene scene(150, 90, 5);
  const auto moved = [&] {
    return with_moved_edges(scene.states.view(), scene.edge_image(), kEdgeTestRange);
  };
  const Image<PatchState> expected = moved();
  for (const int threads : {1, 4}) {
    const Image<PatchState> result = ThreadLimit(threads).run(moved);
    for (int y = 0; y < 90; ++y)
      EXPECT_EQ(std::memcmp(result.row(y), expected.row(y), 150 * sizeof(PatchState)), 0) << threads;
  }
}

}  // namespace
}  // namespace recon
