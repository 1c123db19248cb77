#include "methods/stereo/pair_depth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "tests/scene/synthetic_scene.hpp"

namespace recon {
namespace {

using namespace recon::test;

constexpr Pinhole kCamera{160, 120, 150, 150, 79, 61};
constexpr Pinhole kOtherCamera{180, 130, 170, 168, 92, 64};
constexpr DepthRange kRange{1.0, 3.0};

/// Knows the answer: the disparity of the pixel (x, y) of the left image.
class KnowingBackend : public Backend {
 public:
  explicit KnowingBackend(std::function<float(int, int)> disparity) : disparity_(std::move(disparity)) {}
  std::string name() const override { return "knowing"; }
  int streams() const override { return 1; }
  WorkMemory memory(const SweepShape&) const override { return {}; }
  DepthEstimate sweep(const SweepProblem&) override { return {}; }
  WorkMemory pair_memory(int, int, const PairSpec&) const override { return {}; }
  DisparityMap match(const PairProblem& problem) override {
    check_pair(problem);
    DisparityMap map{Image<float>(problem.images.left.width, problem.images.left.height)};
    for (int y = 0; y < map.disparity.height(); ++y)
      for (int x = 0; x < map.disparity.width(); ++x) map.disparity(x, y) = disparity_(x, y);
    return map;
  }

 private:
  std::function<float(int, int)> disparity_;
};

/// A reference at the origin and one source that look at a slanted plane.
struct PlaneBeforeTwoViews {
  explicit PlaneBeforeTwoViews(Vec3d centre, double roll_degrees = 0)
      : reference_grey(kCamera.width, kCamera.height, 0),
        source_grey(kOtherCamera.width, kOtherCamera.height, 0) {
    reference.camera = kCamera;
    reference.channel[0] = reference_grey.view();
    source.image.camera = kOtherCamera;
    source.image.channel[0] = source_grey.view();
    const double c = std::cos(roll_degrees * kPi / 180), s = std::sin(roll_degrees * kPi / 180);
    source.image.cam_from_world =
        Pose{{{c, -s, 0, s, c, 0, 0, 0, 1}}, {0, 0, 0}} * looking_at(centre, {0, 0, 2});
    source.pair = *rectify(kCamera, {}, kOtherCamera, source.image.cam_from_world, kRange).pair;
  }

  /// Where the ray through a pixel of the reference meets the plane z = 2 + 0.3 x - 0.2 y.
  static double depth(Vec3d ray) { return 2 / (ray.z - 0.3 * ray.x + 0.2 * ray.y); }

  float disparity(int x, int y) const {
    const Vec3d ray = source.pair.left.ray(pixel_centre(x, y));
    const Vec3d in_reference = transpose(source.pair.left_from_reference) * ray;
    return static_cast<float>(source.pair.disparity(depth(in_reference)));
  }

  Image<std::uint8_t> reference_grey, source_grey;
  PosedImage reference;
  PairSource source;
};

struct Place {
  const char* name;
  Vec3d centre;
  double roll;
};

/// From one source, without filters.
Image<float> depth_from_pair(Backend& backend, const PlaneBeforeTwoViews& scene) {
  PairDepthOptions options;
  options.median = false;
  options.speckle_size = 0;
  const auto match = [&](const PairProblem& problem) { return backend.match(problem); };
  return std::move(estimate_view_from_pairs(match, scene.reference, {scene.source}, options).depth);
}

class DepthFromPair : public ::testing::TestWithParam<Place> {};

TEST_P(DepthFromPair, CarriesDisparityBackToTheReference) {
  const PlaneBeforeTwoViews scene(GetParam().centre, GetParam().roll);
  KnowingBackend backend([&](int x, int y) { return scene.disparity(x, y); });
  const Image<float> depth = depth_from_pair(backend, scene);
  int known = 0, seen = 0;
  for (int y = 0; y < kCamera.height; ++y)
    for (int x = 0; x < kCamera.width; ++x) {
      const Vec3d ray = kCamera.ray(pixel_centre(x, y));
      const double z = PlaneBeforeTwoViews::depth(ray);
      const Vec2d pixel = kOtherCamera.project(scene.source.image.cam_from_world * (z * ray));
      const bool in_source =
          pixel.x >= 0 && pixel.y >= 0 && pixel.x <= kOtherCamera.width && pixel.y <= kOtherCamera.height;
      seen += in_source;
      if (std::isnan(depth(x, y))) continue;
      ++known;
      ASSERT_TRUE(in_source) << x << " " << y;
      ASSERT_NEAR(static_cast<double>(depth(x, y)), z, 2e-5 * z) << x << " " << y;
    }
  EXPECT_GT(seen, kCamera.width * kCamera.height / 2);
  // The frames are cut by samples, which may cost the outermost pixels.
  EXPECT_GE(known, seen * 99 / 100);
}

INSTANTIATE_TEST_SUITE_P(Places, DepthFromPair,
                         ::testing::Values(Place{"right", {0.3, 0, 0}, 0}, Place{"left", {-0.3, 0, 0}, 0},
                                           Place{"above", {0, -0.3, 0.1}, 0},
                                           Place{"below", {0.03, 0.3, 0}, 0},
                                           Place{"aslant", {0.3, -0.2, 0.2}, 0},
                                           Place{"right_turned_by_90", {0.3, 0, 0}, 90},
                                           Place{"left_turned_by_180", {-0.3, 0.1, -0.1}, 180}),
                         [](const auto& place) { return place.param.name; });

TEST(DepthFromPair, DoesNotMixSurfacesAndKeepsUnknownUnknown) {
  const PlaneBeforeTwoViews scene({0.3, -0.1, 0.1});
  const RectifiedPair& pair = scene.source.pair;
  const auto near = static_cast<float>(pair.disparity(1.4)), far = static_cast<float>(pair.disparity(2.2));
  const int middle = pair.left.width / 2;
  KnowingBackend backend([&](int x, int y) { return y < 20 ? kUnknown : x < middle ? near : far; });
  const Image<float> depth = depth_from_pair(backend, scene);
  int of_near = 0, of_far = 0, unknown = 0;
  for (int y = 0; y < kCamera.height; ++y)
    for (int x = 0; x < kCamera.width; ++x) {
      const Vec3d left = pair.left_from_reference * kCamera.ray(pixel_centre(x, y));
      const Vec2d place = pair.left.project(left);
      const double z = static_cast<double>(depth(x, y)) * left.z;
      if (std::isnan(z)) {
        ++unknown;
      } else {
        ASSERT_GE(place.y, 20);
        ASSERT_NEAR(z, place.x < middle ? 1.4 : 2.2, 1e-5);
        ++(place.x < middle ? of_near : of_far);
      }
    }
  EXPECT_GT(of_near, 3000);
  EXPECT_GT(of_far, 3000);
  EXPECT_GT(unknown, 2000);
}

MergedDepth merge(const std::vector<float>& depths, std::vector<float> weights = {}) {
  std::vector<Image<float>> maps;
  for (const float z : depths) maps.emplace_back(1, 1, z);
  weights.resize(maps.size(), 1.0f);
  return merge_depths(maps, weights, 0.01f);
}

TEST(MergeDepths, TakesTheMeanInInverseDepthOfThoseThatAgree) {
  const MergedDepth merged = merge({2.0f, 1.0f, 2.01f, kUnknown});
  EXPECT_FLOAT_EQ(merged.depth(0, 0), 2 / (1 / 2.0f + 1 / 2.01f));
  EXPECT_FLOAT_EQ(merged.confidence(0, 0), 0.5f);
}

TEST(MergeDepths, WeighsTheMean) {
  const MergedDepth merged = merge({2.0f, 2.01f}, {3, 1});
  EXPECT_FLOAT_EQ(merged.depth(0, 0), 4 / (3 / 2.0f + 1 / 2.01f));
  EXPECT_FLOAT_EQ(merged.confidence(0, 0), 1);
}

TEST(MergeDepths, TakesTheLargestGroupAndOfEqualOnesTheFirst) {
  EXPECT_FLOAT_EQ(merge({1.0f, 1.0f, 2.0f, 2.0f}).depth(0, 0), 1.0f);
  EXPECT_FLOAT_EQ(merge({1.0f, 2.0f, 2.0f, 2.0f}).depth(0, 0), 2.0f);
}

TEST(MergeDepths, KeepsTheOnlyDepthAndDropsContradictions) {
  EXPECT_FLOAT_EQ(merge({kUnknown, 2.0f, kUnknown, kUnknown}).depth(0, 0), 2.0f);
  EXPECT_FLOAT_EQ(merge({kUnknown, 2.0f, kUnknown, kUnknown}).confidence(0, 0), 0.25f);
  EXPECT_TRUE(std::isnan(merge({1.0f, 2.0f, kUnknown, 3.0f}).depth(0, 0)));
  EXPECT_TRUE(std::isnan(merge({1.0f, 2.0f, kUnknown, 3.0f}).confidence(0, 0)));
  EXPECT_TRUE(std::isnan(merge({kUnknown, kUnknown}).depth(0, 0)));
}

}  // namespace
}  // namespace recon
