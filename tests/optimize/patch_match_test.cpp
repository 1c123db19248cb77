// The optimizer of slanted patches on planes in closed form.

#include "optimize/patch_match/patch_match.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>

#include "core/parallel.hpp"
#include "reference/sweep_problems.hpp"
#include "reference/textured_plane.hpp"
#include "steps/instruction_sets.hpp"

namespace recon {
namespace {

using reference::hashed;
using reference::TextbookPlane;
using reference::TexturedPlane;

constexpr InverseRange kRange = {0.3f, 2.2f};

Image<PatchState> run(const std::vector<PatchLevel>& levels, ImageView<const float> depth,
                      const PatchMatchOptions& options, bool smooth) {
  const auto level = [&](int i) -> const PatchLevel& { return levels[static_cast<std::size_t>(i)]; };
  return patch_match(static_cast<int>(levels.size()), level, depth, kRange, options, smooth);
}

/// The images of a scene, halved, as the optimizer takes them, and coarse depths with noise and holes.
struct PatchProblem {
  TexturedPlane scene;
  std::vector<Image<std::uint8_t>> pixels;
  std::vector<PatchLevel> levels;
  std::vector<ImageView<const std::uint8_t>> greys;  ///< of the sources, finest level first
  Image<float> depth;

  /// @param noise  of the coarsest depths, pixels of parallax of the coarsest level
  /// @param holes  share of unknown depths
  PatchProblem(int width, int height, const TextbookPlane& plane, int halvings, double noise, double holes,
               int sources = 4)
      : scene(reference::textured_plane(width, height, plane, sources)) {
    PosedImage view = scene.reference;
    std::vector<PosedImage> others = scene.sources;
    const auto halve = [&](PosedImage& image) {
      pixels.push_back(halved(image.channel[0]));
      image.camera = halved(image.camera);
      image.channel[0] = std::as_const(pixels.back()).view();
    };
    for (int level = 0; level <= halvings; ++level) {
      if (level > 0) {
        halve(view);
        for (PosedImage& other : others) halve(other);
      }
      PatchLevel it;
      it.reference = view.channel[0];
      for (const PosedImage& other : others) greys.push_back(other.channel[0]);
      for (const PosedImage& other : others)
        it.sources.push_back(
            {make_source_warp(view.camera, view.cam_from_world, other.camera, other.cam_from_world),
             SampledImage(other.channel[0])});
      levels.insert(levels.begin(), std::move(it));
    }
    depth = Image<float>(view.camera.width, view.camera.height);
    const int size = 1 << halvings;
    for (int y = 0; y < depth.height(); ++y)
      for (int x = 0; x < depth.width(); ++x) {
        const auto a = static_cast<std::uint32_t>(x), b = static_cast<std::uint32_t>(y);
        const double w = scene.at(size * (x + 0.5) - 0.5, size * (y + 0.5) - 0.5).w;
        const double offset = noise * (2 * hashed(11, a, b) - 1) * size / scene.parallax();
        depth(x, y) = hashed(12, a, b) < holes ? kUnknown : static_cast<float>(1 / (w + offset));
      }
  }

  /// The image of a source of a level.
  ImageView<const std::uint8_t> grey(std::size_t level, std::size_t source) const {
    return greys[(levels.size() - 1 - level) * levels[0].sources.size() + source];
  }

  Image<PatchState> run(const PatchMatchOptions& options = {}, bool smooth = false) const {
    return recon::run(levels, depth.view(), options, smooth);
  }
};

void expect_same(const Image<PatchState>& a, const Image<PatchState>& b, const std::string& what) {
  ASSERT_EQ(a.width(), b.width());
  for (int y = 0; y < a.height(); ++y)
    ASSERT_EQ(std::memcmp(a.row(y), b.row(y), static_cast<std::size_t>(a.width()) * sizeof(PatchState)), 0)
        << what << ", row " << y;
}

/// The share of pixels, `border` from it, whose inverse depth is within 0.1 pixel of parallax, and whose
/// slopes change it by less than 0.1 pixel over the radius of the patch.
void expect_plane(const PatchProblem& problem, const Image<PatchState>& states, int border, double share) {
  const double pixel = 1 / problem.scene.parallax();
  int pixels = 0, right = 0, right_slope = 0;
  for (int y = border; y < states.height() - border; ++y)
    for (int x = border; x < states.width() - border; ++x) {
      const TextbookPlane truth = problem.scene.at(x, y);
      const SlantedPlane& plane = states(x, y).plane;
      ++pixels;
      right += std::abs(plane.w - truth.w) < 0.1 * pixel;
      right_slope += 3 * std::hypot(plane.wx - truth.wx, plane.wy - truth.wy) < 0.1 * pixel;
    }
  EXPECT_GE(right, share * pixels) << "of " << pixels;
  EXPECT_GE(right_slope, share * pixels) << "of " << pixels;
}

constexpr TextbookPlane kSlanted = {1.0, 0.004, -0.003};

TEST(PatchMatch, FindsASlantedPlaneFromNoisyDepthsWithHoles) {
  const PatchProblem problem(131, 98, kSlanted, 2, 1.0, 0.1);
  expect_plane(problem, problem.run(), 10, 0.95);
}

/// On a photo of little contrast, to which every source adds noise of its own.
TEST(PatchMatch, SmoothSurfacesAreNearerToThePlane) {
  PatchProblem problem(131, 98, kSlanted, 1, 0.5, 0.0);
  std::vector<Image<std::uint8_t>> noisy;
  for (std::size_t i = 0; i < problem.levels.size(); ++i) {
    PatchLevel& level = problem.levels[i];
    const auto with_noise = [&](ImageView<const std::uint8_t> image, std::uint32_t seed) {
      Image<std::uint8_t> result(image.width, image.height);
      for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
          const double noise = 2 * hashed(seed, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
          result(x, y) = static_cast<std::uint8_t>(100 + image(x, y) / 16 + std::lround(noise));
        }
      noisy.push_back(std::move(result));
      return std::as_const(noisy.back()).view();
    };
    noisy.reserve(64);
    const auto seed = static_cast<std::uint32_t>(100 * i);
    level.reference = with_noise(level.reference, seed + 20);
    for (std::size_t s = 0; s < level.sources.size(); ++s)
      level.sources[s].image =
          SampledImage(with_noise(problem.grey(i, s), seed + 21 + static_cast<std::uint32_t>(s)));
  }
  const auto error = [&](bool smooth) {
    const Image<PatchState> states = problem.run({}, smooth);
    double sum = 0;
    for (int y = 12; y < 86; ++y)
      for (int x = 12; x < 119; ++x)
        sum += std::min(1.0,
                        std::abs(states(x, y).plane.w - problem.scene.at(x, y).w) * problem.scene.parallax());
    return sum;
  };
  EXPECT_LT(error(true), 0.8 * error(false));
}

TEST(PatchMatch, FindsItWithOneSource) {
  const PatchProblem problem(131, 98, kSlanted, 2, 1.0, 0.1, 1);
  expect_plane(problem, problem.run(), 16, 0.9);
}

TEST(PatchMatch, IsTheSameForAnyNumberOfThreadsAndEveryInstructionSet) {
  const PatchProblem problem(67, 45, kSlanted, 2, 1.0, 0.2);
  const auto run = [&] { return problem.run({}, true); };
  const Image<PatchState> states = run();
  expect_same(states, run(), "again");
  for (const int threads : {1, 4})
    expect_same(states, ThreadLimit(threads).run(run), std::to_string(threads) + " threads");
  int sets = 0;
  for (const std::int64_t target : {HWY_SCALAR, HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    ++sets;
    hwy::SetSupportedTargetsForTest(target);
    const Image<PatchState> other = run();
    hwy::SetSupportedTargetsForTest(0);
    expect_same(states, other, hwy::TargetName(target));
  }
  EXPECT_GE(sets, kLeastInstructionSets) << "one instruction set alone";
}

/// Images that are more than 32 bits apart are read one after the other.
TEST(PatchMatch, IsTheSameWhereverTheSourcesLie) {
  PatchProblem problem(67, 45, kSlanted, 1, 1.0, 0.1);
  const auto run = [&] { return problem.run({}, true); };
  const auto place_at = [&](std::uint8_t* memory, std::size_t distance) {
    for (std::size_t l = 0; l < problem.levels.size(); ++l)
      for (std::size_t s = 0; s < problem.levels[l].sources.size(); ++s)
        problem.levels[l].sources[s].image = SampledImage(
            problem.grey(l, s), reinterpret_cast<std::uint16_t*>(memory + s * distance + l * (1 << 20)));
  };
  constexpr std::size_t kFar = std::size_t{3} << 30, kAll = 4 * kFar;
  // Pages that are reserved and not touched but for the images.
  void* const reserved =
      mmap(nullptr, kAll, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) GTEST_SKIP() << "no 12 GiB of addresses to reserve";
  place_at(static_cast<std::uint8_t*>(reserved), std::size_t{1} << 22);
  const Image<PatchState> near = run();
  place_at(static_cast<std::uint8_t*>(reserved), kFar);
  expect_same(near, run(), "far");
  munmap(reserved, kAll);
}

/// With one source, which every iteration chooses again.
TEST(PatchMatch, NeverRaisesACost) {
  const PatchProblem problem(67, 45, kSlanted, 0, 2.0, 0.2, 1);
  PatchMatchOptions options;
  options.iterations = 0;
  Image<PatchState> before = problem.run(options);
  for (int y = 0; y < 45; ++y)
    for (int x = 0; x < 67; ++x) {
      const double w = 1 / problem.depth(x, y);
      EXPECT_FLOAT_EQ(before(x, y).plane.w,
                      contains(kRange, static_cast<float>(w)) ? static_cast<float>(w) : 1.25f);
    }
  for (options.iterations = 1; options.iterations <= 3; ++options.iterations) {
    Image<PatchState> after = problem.run(options);
    int lower = 0;
    for (int y = 0; y < 45; ++y)
      for (int x = 0; x < 67; ++x) {
        ASSERT_LE(after(x, y).cost, before(x, y).cost) << x << " " << y;
        lower += after(x, y).cost < before(x, y).cost;
        EXPECT_TRUE(contains(kRange, after(x, y).plane.w));
      }
    EXPECT_GT(lower, 67 * 45 / 10);
    before = std::move(after);
  }
}

/// With one source there is one choice: kNoPatchCost where it did not see the first plane, else its cost, or
/// kInvisibleCost.
TEST(PatchMatch, KeepsTheCostsOfItsPlanes) {
  const PatchProblem problem(67, 45, kSlanted, 0, 2.0, 0.2, 1);
  for (const int iterations : {0, 2}) {
    PatchMatchOptions options;
    options.iterations = iterations;
    const Image<PatchState> states = problem.run(options);
    int seen = 0, unseen = 0;
    for (int y = 0; y < 45; ++y)
      for (int x = 0; x < 67; ++x) {
        const auto& [plane, cost] = states(x, y);
        const reference::TextbookPatch expected = reference::compare_patch(
            problem.scene.reference, problem.scene.sources[0], x, y, {plane.w, plane.wx, plane.wy},
            options.radius, reference::PatchMap::kAffine);
        if (cost == kNoPatchCost || cost == kInvisibleCost) {
          EXPECT_TRUE(expected.margin < 0.01) << x << " " << y;
          ++unseen;
        } else {
          EXPECT_NEAR(cost, expected.cost, 0.03) << x << " " << y;
          ++seen;
        }
      }
    EXPECT_GT(seen, 1000);
    EXPECT_GT(unseen, 10);
  }
}

TEST(PatchMatch, LeavesTheFirstPlaneWhereNoSourceSeesIt) {
  PatchProblem problem(35, 27, kSlanted, 1, 0.0, 1.0);  // all depths unknown
  for (PatchLevel& level : problem.levels)
    for (PatchLevel::Source& source : level.sources) source.warp.a[8] = -100;  // behind the source
  const Image<PatchState> states = problem.run();
  for (int y = 0; y < 27; ++y)
    for (int x = 0; x < 35; ++x) {
      EXPECT_EQ(states(x, y).cost, kNoPatchCost);
      EXPECT_FLOAT_EQ(states(x, y).plane.w, 1.25f);
    }
}

TEST(PatchMatch, TakesTinyImages) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {9, 1}, {2, 3}, {5, 5}, {7, 34}})
    for (const int halvings : {0, 2}) {
      const PatchProblem problem(width, height, kSlanted, halvings, 1.0, 0.3);
      const Image<PatchState> states = problem.run();
      ASSERT_EQ(states.width(), width);
      ASSERT_EQ(states.height(), height);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          EXPECT_TRUE(contains(kRange, states(x, y).plane.w));
          EXPECT_TRUE(states(x, y).cost >= 0 && states(x, y).cost <= kNoPatchCost);
        }
    }
}

TEST(PatchMatch, RefusesWhatItCannotTake) {
  const PatchProblem problem(33, 25, kSlanted, 1, 1.0, 0.0);
  PatchMatchOptions options;
  options.best_k = kMaxPatchSources + 1;
  EXPECT_THROW(problem.run(options), std::logic_error);
  options = {};
  options.radius = kMaxPatchRadius + 1;
  EXPECT_THROW(problem.run(options), std::logic_error);
  EXPECT_THROW(run(problem.levels, Image<float>(33, 25, 1.0f).view(), {}, false), std::logic_error);
  EXPECT_THROW(run({}, problem.depth.view(), {}, false), std::logic_error);
  const auto sized = [&](int reference, int source) {
    const Image<std::uint8_t> a(reference, 1, 0), b(source, 1, 0);
    std::vector<PatchLevel> level(1);
    level[0].reference = a.view();
    level[0].sources.push_back({problem.levels[0].sources[0].warp, SampledImage(b.view())});
    run(level, Image<float>(reference, 1, 1.0f).view(), {}, false);
  };
  EXPECT_THROW(sized(kMaxImageSide + 1, 9), std::logic_error);
  EXPECT_THROW(sized(9, kMaxImageSide + 1), std::logic_error);
}

}  // namespace
}  // namespace recon
