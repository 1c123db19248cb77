// The planes of a scene from points of known planes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "fuse/planes/scene_planes.hpp"

namespace recon {
namespace {

Vec3f narrowed(Vec3d a) {
  return {static_cast<float>(a.x), static_cast<float>(a.y), static_cast<float>(a.z)};
}

/// Points that a camera at the origin sees: on planes with noise, and anywhere.
class Points {
 public:
  explicit Points(unsigned seed) : random_(seed) {}

  /// Points on a rectangle of a plane. @param noise  relative to depth, and of the normals, standard
  /// deviation
  void add(const WorldPlane& plane, int count, double noise, double size = 3) {
    const Vec3d any = std::abs(plane.normal.x) < 0.7 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
    const Vec3d u = normalized(cross(plane.normal, any)), v = cross(plane.normal, u);
    for (int i = 0; i < count; ++i) {
      const Vec3d on = plane.offset * plane.normal + size * uniform() * u + size * uniform() * v;
      const double depth = norm(on);
      const Vec3d normal =
          normalized(plane.normal + 20 * noise * Vec3d{normal_(random_), normal_(random_), normal_(random_)});
      points.push_back({narrowed(on + depth * noise * normal_(random_) * plane.normal), narrowed(normal),
                        static_cast<float>(depth)});
    }
  }
  void add_outliers(int count) {
    for (int i = 0; i < count; ++i) {
      const Vec3d at{5 * uniform(), 5 * uniform(), 5 * uniform()};
      points.push_back({narrowed(at), narrowed(normalized(Vec3d{uniform(), uniform(), uniform()})),
                        static_cast<float>(norm(at))});
    }
  }

  std::vector<SurfacePoint> points;

 private:
  double uniform() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

const std::vector<WorldPlane> kPlanes = {
    {{0, -1, 0}, -1.2}, {normalized(Vec3d{0.1, 0.05, -1}), -4}, {normalized(Vec3d{1, 0.2, -0.3}), -2.5}};

Points three_planes(int times = 1) {
  Points points(20261201);
  points.add(kPlanes[1], times * 3000, 0.002);
  points.add(kPlanes[2], times * 1200, 0.002);
  points.add(kPlanes[0], times * 6000, 0.002);
  points.add_outliers(times * 1500);
  return points;
}

void expect_near(const WorldPlane& found, const WorldPlane& expected, double tolerance) {
  EXPECT_NEAR(norm(found.normal), 1, 1e-12);
  EXPECT_LT(norm(found.normal - expected.normal), tolerance);
  EXPECT_NEAR(found.offset, expected.offset, tolerance * std::abs(expected.offset));
}

/// A fit to N points within 2 units of its centre is right to about noise / sqrt(N): 0.002 x 4 / sqrt(1200)
/// is 2e-4; the weights and the outliers add to that.
TEST(ScenePlanes, AreFoundWithTheirSidesTheLargestFirst) {
  const std::vector<WorldPlane> planes = find_scene_planes(three_planes().points);
  ASSERT_EQ(planes.size(), 3u) << "outliers are no plane";
  for (std::size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE("plane " + std::to_string(i));
    expect_near(planes[i], kPlanes[i], 1e-3);
  }
}

TEST(ScenePlanes, OfExactPointsAreExact) {
  Points points(3);
  points.add(kPlanes[1], 2000, 0);
  const std::vector<WorldPlane> planes = find_scene_planes(points.points);
  ASSERT_EQ(planes.size(), 1u);
  expect_near(planes[0], kPlanes[1], 1e-6);  // positions are floats
}

/// Coordinates of a map, as far as floats have the digits.
TEST(ScenePlanes, FarFromTheOriginAreFound) {
  Points points(4);
  points.add(kPlanes[1], 2000, 0.001);
  const Vec3d away{3000, -2000, 500};
  for (SurfacePoint& it : points.points) it.position = narrowed(widened(it.position) + away);
  const std::vector<WorldPlane> planes = find_scene_planes(points.points);
  ASSERT_EQ(planes.size(), 1u);
  EXPECT_LT(norm(planes[0].normal - kPlanes[1].normal), 2e-3);
  EXPECT_NEAR(dot(planes[0].normal, away + kPlanes[1].offset * kPlanes[1].normal), planes[0].offset, 2e-3);
}

TEST(ScenePlanes, WithTwoSidesAreTwo) {
  Points points(5);
  points.add(kPlanes[1], 2000, 0.002);
  points.add({-kPlanes[1].normal, -kPlanes[1].offset}, 1000, 0.002);
  const std::vector<WorldPlane> planes = find_scene_planes(points.points);
  ASSERT_EQ(planes.size(), 2u);
  expect_near(planes[0], kPlanes[1], 1e-3);
  expect_near(planes[1], {-kPlanes[1].normal, -kPlanes[1].offset}, 1e-3);
}

/// Planes through single points of the sample are what the first plane has to beat.
TEST(ScenePlanes, TheFirstHasAsManyPointsAsAnyPlaneThroughAPoint) {
  const std::vector<SurfacePoint> points = three_planes().points;
  const ScenePlaneOptions options;
  const auto count_on = [&](Vec3d normal, double offset) {
    int count = 0;
    for (const SurfacePoint& it : points) {
      const double away = dot(normal, widened(it.position)) - offset;
      count += std::abs(away) <= options.max_distance * static_cast<double>(it.depth) &&
               dot(normal, widened(it.normal)) >= options.min_cosine;
    }
    return count;
  };
  int most = 0;
  for (std::size_t i = 0; i < points.size(); i += 5) {
    const Vec3d normal = widened(points[i].normal);
    most = std::max(most, count_on(normal, dot(normal, widened(points[i].position))));
  }
  const WorldPlane first = find_scene_planes(points).front();
  EXPECT_GE(count_on(first.normal, first.offset), most);
  EXPECT_GT(most, 3000);
}

TEST(ScenePlanes, AreTheSameForAnyNumberOfThreads) {
  const std::vector<SurfacePoint> points = three_planes(10).points;
  const auto found = [&](int threads) {
    return ThreadLimit(threads).run([&] { return find_scene_planes(points); });
  };
  const std::vector<WorldPlane> one = found(1);
  for (const int threads : {2, 5}) {
    const std::vector<WorldPlane> several = found(threads);
    ASSERT_EQ(several.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(several[i].normal.x, one[i].normal.x);
      EXPECT_EQ(several[i].normal.y, one[i].normal.y);
      EXPECT_EQ(several[i].normal.z, one[i].normal.z);
      EXPECT_EQ(several[i].offset, one[i].offset);
    }
  }
}

TEST(ScenePlanes, AreNoMoreThanAsked) {
  const std::vector<SurfacePoint> points = three_planes().points;
  for (const int max : {0, 1, 2}) {
    ScenePlaneOptions options;
    options.max_planes = max;
    const std::vector<WorldPlane> planes = find_scene_planes(points, options);
    ASSERT_EQ(planes.size(), static_cast<std::size_t>(max));
    for (std::size_t i = 0; i < planes.size(); ++i) expect_near(planes[i], kPlanes[i], 1e-3);
  }
}

TEST(ScenePlanes, HaveTheLeastShareOfThePoints) {
  for (const auto& [share, count] :
       {std::pair(0.05, 3u), std::pair(0.15, 2u), std::pair(0.4, 1u), std::pair(0.6, 0u)}) {
    ScenePlaneOptions options;
    options.min_share = share;
    EXPECT_EQ(find_scene_planes(three_planes().points, options).size(), count) << share;
  }
}

TEST(ScenePlanes, OfFewPointsAreNoneOrThoseOfThePoints) {
  EXPECT_TRUE(find_scene_planes({}).empty());
  for (int count = 1; count <= 8; ++count) {
    Points points(6);
    points.add(kPlanes[1], count, 0.001);
    const std::vector<WorldPlane> planes = find_scene_planes(points.points);
    for (const WorldPlane& plane : planes) {
      EXPECT_NEAR(norm(plane.normal), 1, 1e-9) << count;
      EXPECT_GT(dot(plane.normal, kPlanes[1].normal), 0.9) << count;
      EXPECT_NEAR(plane.offset, kPlanes[1].offset, 1) << count;
    }
    if (count == 8) {
      EXPECT_EQ(planes.size(), 1u);
    }
  }
}

}  // namespace
}  // namespace recon
