// A coarse sweep that slanted patches refine, from images to depths.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/aligned_buffer.hpp"
#include "core/counted_memory.hpp"
#include "core/parallel.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "methods/sweep/view_sweep.hpp"
#include "reference/sweep_problems.hpp"
#include "reference/textured_plane.hpp"

namespace recon {
namespace {

/// A sweep of a slanted plane with its images.
struct Sweep {
  Sweep(int width, int height, int levels, int sources = 3)
      : scene(reference::textured_plane(width, height, {1.0, 0.5 / width, -0.4 / width}, sources)) {
    problem.reference = scene.reference;
    problem.sources = scene.sources;
    problem.planes = make_plane_set(0.6, 2.0, 32);
    problem.optimizer = Optimizer::kPatches;
    problem.cost.window = 5;
    problem.refine.prior = true;
    problem.patch_match.levels = levels;
    halves = halve_images(problem);
  }
  reference::TexturedPlane scene;
  SweepProblem problem;
  std::vector<Image<std::uint8_t>> halves;
};

TEST(CoarseToFine, FindsASlantedPlane) {
  for (const int levels : {0, 1, 2}) {
    const Sweep sweep(111, 86, levels);
    const DepthEstimate found = sweep_view(sweep.problem);
    ASSERT_EQ(found.depth.width(), 111);
    ASSERT_EQ(found.depth.height(), 86);
    const double pixel = 1 / sweep.scene.parallax();
    int pixels = 0, right = 0;
    for (int y = 10; y < 76; ++y)
      for (int x = 10; x < 101; ++x, ++pixels) {
        right += std::abs(1 / static_cast<double>(found.depth(x, y)) - sweep.scene.at(x, y).w) < 0.1 * pixel;
        EXPECT_EQ(found.confidence(x, y), std::max(0.0f, 1 - found.cost(x, y)));
      }
    EXPECT_GE(right, 0.95 * pixels) << levels << " levels";
  }
}

TEST(CoarseToFine, KnowsNoDepthWhereNoSourceSees) {
  Sweep sweep(64, 48, 1);
  for (SweepImages* images : {static_cast<SweepImages*>(&sweep.problem), &sweep.problem.coarser[0]})
    for (PosedImage& source : images->sources) source.cam_from_world.translation.z = -100;  // behind it
  const DepthEstimate found = sweep_view(sweep.problem);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) {
      EXPECT_TRUE(std::isnan(found.depth(x, y)));
      EXPECT_EQ(found.confidence(x, y), 0);
    }
}

TEST(CoarseToFine, HalvesImagesAndCamerasTogether) {
  const Sweep sweep(67, 45, 3);
  int width = 67, height = 45;
  ASSERT_EQ(sweep.problem.coarser.size(), 3u);
  for (const SweepImages& images : sweep.problem.coarser) {
    width = (width + 1) / 2, height = (height + 1) / 2;
    ASSERT_EQ(images.sources.size(), 3u);
    for (const PosedImage* image : {&images.reference, &images.sources[0], &images.sources[2]}) {
      EXPECT_EQ(image->camera.width, width);
      EXPECT_EQ(image->camera.height, height);
      EXPECT_EQ(image->channel[0].width, width);
      EXPECT_EQ(image->channel[0].height, height);
      EXPECT_EQ(image->id, 0u);
    }
    EXPECT_NE(images.sources[0].channel[0].data, images.sources[1].channel[0].data);
  }
}

TEST(CoarseToFine, SweepsTheCoarsestLevelWithoutPatches) {
  const Sweep sweep(67, 45, 2);
  const SweepProblem coarsest = coarsest_sweep(sweep.problem);
  EXPECT_FALSE(has_patches(coarsest) || coarsest.refine.prior);
  EXPECT_TRUE(coarsest.coarser.empty());
  EXPECT_EQ(coarsest.reference.camera.width, 17);
  EXPECT_EQ(coarsest.reference.camera.height, 12);
  EXPECT_EQ(coarsest.sources[1].channel[0].width, 17);
  const SweepShape expected = sweep_shape(coarsest), found = coarsest_shape(sweep_shape(sweep.problem));
  EXPECT_EQ(found.width, expected.width);
  EXPECT_EQ(found.height, expected.height);
  EXPECT_EQ(found.source_width, expected.source_width);
  EXPECT_EQ(found.source_height, expected.source_height);
  EXPECT_EQ(found.planes, expected.planes);
  EXPECT_EQ(found.optimizer, expected.optimizer);
}

/// Edges of patches in colours that are grey are those in grey; the colours are of the full size alone.
TEST(CoarseToFine, LooksForEdgesInColoursOfTheFinestLevel) {
  Sweep sweep(67, 45, 1);
  sweep.problem.refine.patch_edges = true;
  const DepthEstimate in_grey = sweep_view(sweep.problem);
  Image<Rgb8> colours(67, 45);
  for (int y = 0; y < 45; ++y)
    for (int x = 0; x < 67; ++x) {
      const std::uint8_t grey = sweep.problem.reference.channel[0](x, y);
      colours(x, y) = {grey, grey, grey};
    }
  sweep.problem.colours = colours.view();
  const DepthEstimate in_colour = sweep_view(sweep.problem);
  for (int y = 0; y < 45; ++y)
    EXPECT_EQ(std::memcmp(in_colour.depth.row(y), in_grey.depth.row(y), 67 * sizeof(float)), 0) << y;
  sweep.problem.colours.width = 66;
  EXPECT_THROW(sweep_view(sweep.problem), std::logic_error);
}

TEST(CoarseToFine, RangesAreThoseOfThePlanesAndMore) {
  SweepProblem problem;
  problem.planes = make_plane_set(0.5, 4.0, 9);
  EXPECT_FLOAT_EQ(patch_range(problem).min, 0.2f);
  EXPECT_FLOAT_EQ(patch_range(problem).max, 2.5f);
  problem.bounds = {0.24f, 2.1f};
  EXPECT_EQ(patch_range(problem).min, 0.24f);
  EXPECT_EQ(patch_range(problem).max, 2.1f);
}

/// The arrays kept when all is freed are as large as those of the peak; only those of a MiB or more are kept.
TEST(CoarseToFine, TakesTheMemoryThatItSays) {
  for (const int levels : {0, 2}) {
    Sweep sweep(1024, 768, levels, 2);
    sweep.problem.patch_match.iterations = 0;
    sweep.problem.coarsest = Optimizer::kWinnerTakeAll;
    sweep.problem.planes.count = 4;
    release_kept_memory();
    ThreadLimit(2).run([&] { return sweep_view(sweep.problem); });
    const std::size_t taken = kept_memory(),
                      said = counted_bytes(2, [&] { sweep_view(sized_problem(sweep_shape(sweep.problem))); });
    EXPECT_LE(taken, said) << levels << " levels";
    EXPECT_GE(taken, said / 20 * 13) << levels << " levels";
  }
}

}  // namespace
}  // namespace recon
