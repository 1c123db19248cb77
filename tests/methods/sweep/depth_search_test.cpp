#include "methods/sweep/depth_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/aligned_buffer.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "methods/sweep/view_sweep.hpp"
#include "reference/textured_plane.hpp"

namespace recon {
namespace {

SweepProblem problem_of(const reference::TexturedPlane& scene, double near, double far) {
  SweepProblem problem;
  problem.reference = scene.reference;
  problem.sources = scene.sources;
  problem.planes = make_plane_set(near, far, 64);
  return problem;
}

TEST(FoundRange, HoldsTheSurfaceAndLittleMore) {
  // Inverse depths from 0.75 to 1.25 of those from 0.02 to 4.
  const auto scene = reference::textured_plane(320, 240, {1.0, 0.5 / 320, 0});
  const auto cpu = make_cpu_backend({.threads = 2, .memory_limit = {}});
  const auto found = found_range(*cpu, problem_of(scene, 0.25, 50));
  ASSERT_TRUE(found);
  EXPECT_LT(found->near, 1 / 1.24);
  EXPECT_GT(found->near, 1 / 1.7);
  EXPECT_GT(found->far, 1 / 0.76);
  EXPECT_LT(found->far, 10);  // of the 50 that are searched
}

TEST(FoundRange, SweepsNoMoreThanIsSaid) {
  for (const auto& [width, height] : {std::pair{1000, 701}, {320, 240}, {90, 70}}) {
    const auto scene = reference::textured_plane(width, height, {1.0, 0.5 / width, 0});
    SweepProblem problem = problem_of(scene, 0.25, 50);
    for (const int levels : {0, 1}) {
      problem.optimizer = levels > 0 ? Optimizer::kPatches : Optimizer::kSemiGlobal;
      problem.patch_match.levels = levels;
      std::vector<Image<std::uint8_t>> pixels;
      halve_images(problem, halved_into(pixels));
      const SweepShape said = search_shape(sweep_shape(problem));
      int sweeps = 0;
      const auto sweep = [&](const SweepProblem& given) {
        ++sweeps;
        const SweepShape shape = sweep_shape(given);
        EXPECT_EQ(
            std::tuple(shape.width, shape.height, shape.source_width, shape.source_height, shape.sources),
            std::tuple(said.width, said.height, said.source_width, said.source_height, said.sources));
        EXPECT_LE(shape.planes, said.planes);
        EXPECT_EQ(shape.optimizer, said.optimizer);
        return sweep_view(given);
      };
      const auto found = found_range({halved_into(pixels), sweep}, problem);
      EXPECT_EQ(sweeps, 1);
      const auto cpu = make_cpu_backend({.threads = 2, .memory_limit = {}});
      const auto expected = found_range(*cpu, problem);
      ASSERT_EQ(found.has_value(), expected.has_value());
      if (!found) continue;
      EXPECT_EQ(found->near, expected->near);
      EXPECT_EQ(found->far, expected->far);
    }
  }
}

/// Finds a surface at inverse depth 1 in the left half of a view, and one at 3 in the right half, of which it
/// is less sure.
class HalfSure : public Backend {
 public:
  HalfSure(float cost, float confidence) : cost_(cost), confidence_(confidence) {}
  std::string name() const override { return "half sure"; }
  int streams() const override { return 1; }
  WorkMemory memory(const SweepShape&) const override { return {}; }
  WorkMemory pair_memory(int, int, const PairSpec&) const override { return {}; }
  DisparityMap match(const PairProblem&) override { return {}; }
  DepthEstimate sweep(const SweepProblem& problem) override {
    const int width = problem.reference.camera.width, height = problem.reference.camera.height;
    DepthEstimate estimate{{width, height, 1.0f}, {width, height, 0.1f}, {width, height, 0.9f}};
    for (int y = 0; y < height; ++y)
      for (int x = width / 2; x < width; ++x) {
        estimate.depth(x, y) = 1.0f / 3;
        estimate.cost(x, y) = cost_;
        estimate.confidence(x, y) = confidence_;
      }
    return estimate;
  }

 private:
  float cost_, confidence_;
};

TEST(FoundRange, DependsOnNoDepthsOfHighCostOrLittleConfidence) {
  const auto scene = reference::textured_plane(320, 240, {1.0, 0, 0});
  SweepProblem problem = problem_of(scene, 0.25, 50);
  const auto nearest = [&](float cost, float confidence) {
    HalfSure backend(cost, confidence);
    const auto found = found_range(backend, problem);
    return found ? found->near : 0;
  };
  const PhotometricFilterOptions filter;
  problem.cost.kind = CostKind::kZncc;
  EXPECT_LT(nearest(filter.max_cost, filter.min_confidence), 1.0 / 3);
  EXPECT_GT(nearest(1.01f * filter.max_cost, 1), 0.5);
  EXPECT_GT(nearest(0, 0.99f * filter.min_confidence), 0.5);
  problem.cost.kind = CostKind::kSad;
  EXPECT_LT(nearest(15, 1), 1.0 / 3) << "grey levels";
  EXPECT_GT(nearest(15.1f, 1), 0.5);
}

TEST(FoundRange, IsNoneWithoutTexture) {
  auto scene = reference::textured_plane(320, 240, {1.0, 0, 0});
  for (auto& image : scene.images) image.fill(100);
  const auto cpu = make_cpu_backend({.threads = 2, .memory_limit = {}});
  EXPECT_FALSE(found_range(*cpu, problem_of(scene, 0.25, 50)));
}

TEST(NarrowedRange, IsThatFoundAndThatOfTheSparsePointsWithinTheSearched) {
  const DepthRange searched{1, 100};
  const DepthRange points{4, 8}, guess{4, 8, true};
  const auto expect = [&](const DepthRange& expected, std::optional<DepthRange> found, double near,
                          double far) {
    const DepthRange range = narrowed_range(searched, expected, found);
    EXPECT_EQ(range.near, near);
    EXPECT_EQ(range.far, far);
  };
  expect(points, std::nullopt, 4, 8);
  expect(guess, std::nullopt, 4, 8);
  expect(points, DepthRange{5, 6}, 4, 8);
  expect(guess, DepthRange{5, 6}, 5, 6);
  expect(points, DepthRange{3, 50}, 3, 50);
  expect(guess, DepthRange{0.5, 200}, 1, 100);
}

TEST(KeepWithin, BoundsAreExact) {
  ViewDepth maps;
  maps.depth = Image<float>(5, 1, kUnknown);
  maps.confidence = Image<float>(5, 1, 0.5f);
  maps.depth(0, 0) = 2.7f;
  maps.depth(1, 0) = 2.79999f;  // by rounding
  maps.depth(2, 0) = 3.0f;
  maps.depth(3, 0) = 3.6f;
  keep_within({2.8, 3.5}, maps);
  EXPECT_TRUE(std::isnan(maps.depth(0, 0)) && std::isnan(maps.confidence(0, 0)));
  EXPECT_GE(static_cast<double>(maps.depth(1, 0)), 2.8);
  EXPECT_LT(static_cast<double>(maps.depth(1, 0)), 2.800001);
  EXPECT_EQ(maps.depth(2, 0), 3.0f);
  EXPECT_TRUE(std::isnan(maps.depth(3, 0)));
  EXPECT_EQ(maps.confidence(2, 0), 0.5f);
}

TEST(KeepWithin, PatchesStayWithinTheBounds) {
  auto scene = reference::textured_plane(160, 120, {1.0, 0.8 / 160, 0});  // inverse depths 0.6 to 1.4
  SweepProblem problem = problem_of(scene, 1 / 1.2, 1 / 0.8);
  problem.optimizer = Optimizer::kPatches;
  problem.refine.prior = true;
  problem.patch_match.levels = 0;
  problem.bounds = {0.8f, 1.2f};
  const auto cpu = make_cpu_backend({.threads = 2, .memory_limit = {}});
  const DepthEstimate found = cpu->sweep(problem);
  int at_bounds = 0;
  for (int y = 0; y < 120; ++y)
    for (int x = 0; x < 160; ++x) {
      const float z = found.depth(x, y);
      if (std::isnan(z)) continue;
      ASSERT_GE(z, 0.99999f / 1.2f);
      ASSERT_LE(z, 1.00001f / 0.8f);
      at_bounds += z < 1.01f / 1.2f || z > 0.99f / 0.8f;
    }
  EXPECT_GT(at_bounds, 100) << "no depth is near a bound";
}

}  // namespace
}  // namespace recon
