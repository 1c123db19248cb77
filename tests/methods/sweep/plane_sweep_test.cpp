#include "methods/sweep/plane_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "match/posed_image.hpp"
#include "methods/backend.hpp"
#include "refine/normals.hpp"
#include "render/grey.hpp"
#include "render/render.hpp"
#include "render/scene_description.hpp"
#include "render/slanted_plane_scene.hpp"

namespace recon {
namespace {

using test::grey;

/// A slanted plane seen by three cameras, with its exact depth.
struct SlantedPlane {
  explicit SlantedPlane(double noise) {
    PlaneSceneOptions options;
    options.width = 240, options.height = 180, options.focal = 240, options.noise = noise;
    SceneDescription description = slanted_plane_scene(options);
    description.samples = 2;
    for (int i = 0; i < 3; ++i) {
      RenderedView view = render_view(description, i);
      images.push_back(grey(view.image));
      if (i == 0) depth = std::move(view.depth);
      PosedImage posed;
      posed.camera = *as_pinhole(description.cameras[0]);
      posed.cam_from_world = description.views[static_cast<std::size_t>(i)].cam_from_world;
      posed.channel[0] = images.back().view();
      (i == 0 ? problem.reference : problem.sources.emplace_back()) = posed;
    }
  }
  std::vector<Image<std::uint8_t>> images;
  Image<float> depth;
  SweepProblem problem;
};

struct Bias {
  double mean, median_absolute, known;
};

/// Errors in planes, away from the border.
Bias bias_in_planes(const SlantedPlane& scene, const Image<float>& depth) {
  std::vector<double> errors;
  int pixels = 0;
  double sum = 0;
  for (int y = 20; y < depth.height() - 20; ++y)
    for (int x = 20; x < depth.width() - 20; ++x) {
      ++pixels;
      const double error =
          (1.0 / static_cast<double>(depth(x, y)) - 1.0 / static_cast<double>(scene.depth(x, y))) /
          static_cast<double>(scene.problem.planes.step);
      if (!(std::abs(error) < 2)) continue;
      errors.push_back(std::abs(error));
      sum += error;
    }
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2),
                   errors.end());
  return {sum / static_cast<double>(errors.size()), errors[errors.size() / 2],
          static_cast<double>(errors.size()) / pixels};
}

class SlantedPlaneSweep : public testing::TestWithParam<CostKind> {};

TEST_P(SlantedPlaneSweep, HasABiasBelowAFiftiethOfAPlane) {
  SlantedPlane scene(1.0);
  scene.problem.cost.kind = GetParam();
  scene.problem.planes =
      make_plane_set(1.2, 5.0, auto_plane_count(scene.problem.reference, scene.problem.sources, 1.2, 5.0));
  const auto backend = make_cpu_backend({});
  const Bias bias = bias_in_planes(scene, backend->sweep(scene.problem).depth);
  // A shift of half a pixel between the cameras and the sweep shows up as half a plane.
  EXPECT_LT(std::abs(bias.mean), 0.02);
  EXPECT_LT(bias.median_absolute, 0.25);
  EXPECT_GT(bias.known, 0.95);
}

INSTANTIATE_TEST_SUITE_P(Costs, SlantedPlaneSweep, testing::Values(CostKind::kZncc, CostKind::kSad),
                         [](const auto& c) { return c.param == CostKind::kSad ? "sad" : "zncc"; });

TEST(AutoPlaneCount, PutsPlanesAPixelApart) {
  // Rectified cameras, f b = 240 * 0.1 = 24 px: from depth 2 to 1 the disparity moves by 24 - 12 = 12 px.
  SlantedPlane scene(0);
  scene.problem.sources.resize(1);
  EXPECT_EQ(auto_plane_count(scene.problem.reference, scene.problem.sources, 1.0, 2.0), 13);
}

TEST(EstimateView, LeavesFlatAreasUnknownAndGivesTrueNormals) {
  SlantedPlane scene(0.5);
  for (Image<std::uint8_t>& image : scene.images)
    for (int y = 0; y < 60; ++y)
      for (int x = 0; x < image.width(); ++x) image(x, y) = 128;
  scene.problem.planes = make_plane_set(1.2, 5.0, 40);
  const auto backend = make_cpu_backend({});
  const ViewDepth view = estimate_view(*backend, scene.problem, {});
  const Image<Vec3f> normal = normals_from_depth(view.depth.view(), scene.problem.reference.camera);
  int known_flat = 0, known = 0, good_normals = 0, normals = 0;
  const Vec3d n{std::sin(0.5235987755982988), 0, -std::cos(0.5235987755982988)};
  for (int x = 20; x < 220; ++x) {
    for (int y = 0; y < 55; ++y) known_flat += !std::isnan(view.depth(x, y));
    for (int y = 70; y < 160; ++y) {
      known += !std::isnan(view.depth(x, y));
      const Vec3f f = normal(x, y);
      if (std::isnan(f.x)) continue;
      ++normals;
      good_normals += dot(n, Vec3d{f.x, f.y, f.z}) > 0.95;
    }
  }
  EXPECT_EQ(known_flat, 0);
  EXPECT_GT(known, 200 * 90 * 9 / 10);
  EXPECT_GT(good_normals, normals * 9 / 10);
}

TEST(EstimateView, TrustsTextureOfAnyChannel) {
  SlantedPlane scene(0.5);
  scene.problem.planes = make_plane_set(1.2, 5.0, 40);
  scene.problem.cost.kind = CostKind::kSad;
  const Image<std::uint8_t> flat(240, 180, 128);
  const auto add_flat_channels = [&](PosedImage& image) {
    image.channels = 3;
    image.channel[2] = image.channel[0];
    image.channel[0] = image.channel[1] = flat.view();
  };
  add_flat_channels(scene.problem.reference);
  for (PosedImage& source : scene.problem.sources) add_flat_channels(source);
  PhotometricFilterOptions filter;
  filter.max_cost = 15;
  const auto backend = make_cpu_backend({});
  const ViewDepth view = estimate_view(*backend, scene.problem, filter);
  int known = 0;
  for (int y = 20; y < 160; ++y)
    for (int x = 20; x < 220; ++x) known += !std::isnan(view.depth(x, y));
  EXPECT_GT(known, 200 * 140 * 8 / 10);
}

TEST(FinishView, InvalidatesWhatAMaskIgnoresBeforeItFilters) {
  // Depths rise along x; the mask ignores columns 6 and 7 of 12, so that the eight pixels behind are a
  // speckle.
  const auto depth_at = [](int x) { return 1.0f + 0.001f * static_cast<float>(x); };
  Image<float> depth(12, 2);
  Image<std::uint8_t> mask(12, 2, 255);
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 12; ++x) depth(x, y) = depth_at(x);
    mask(6, y) = mask(7, y) = 0;
  }
  const auto finish = [&](ImageView<const std::uint8_t> ignored) {
    return finish_view(depth.clone(), Image<float>(12, 2, 0.5f), ignored, true, 9);
  };
  const ViewDepth whole = finish({}), masked = finish(mask.view());
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 12; ++x) {
      EXPECT_FALSE(std::isnan(whole.depth(x, y))) << x;
      EXPECT_EQ(std::isnan(masked.depth(x, y)), x >= 6) << x;
      EXPECT_EQ(std::isnan(masked.confidence(x, y)), x >= 6) << x;
      EXPECT_TRUE(x >= 5 || masked.depth(x, y) == whole.depth(x, y)) << x;
    }
    EXPECT_EQ(whole.depth(5, y), depth_at(5)) << "the median of columns 4 to 6";
    EXPECT_EQ(masked.depth(5, y), depth_at(4)) << "the lower median of columns 4 and 5";
  }
}

TEST(CpuBackend, SaysWhatItTakesAndRefusesWhatDoesNotFit) {
  SweepShape shape;
  shape.width = shape.source_width = 6000, shape.height = shape.source_height = 4000;
  shape.sources = 8, shape.planes = 512;
  const WorkMemory memory = make_cpu_backend({2, {}})->memory(shape);
  EXPECT_LT(memory.host_bytes, std::size_t{1} << 30);
  EXPECT_GT(memory.host_bytes, std::size_t{8} * 6000 * 4000 * 2);
  EXPECT_EQ(memory.tiles, 1) << "tiles of a core's cache do not make it fit";
  EXPECT_THROW(make_cpu_backend({2, std::size_t{100} << 20})->memory(shape), OutOfMemory);
}

}  // namespace
}  // namespace recon
