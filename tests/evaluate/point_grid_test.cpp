#include "evaluate/point_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "core/parallel.hpp"

namespace recon {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr double kNone = std::numeric_limits<double>::infinity();

std::vector<Vec3f> random_points(int count, unsigned seed, float extent) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> coordinate(-extent, extent);
  std::vector<Vec3f> points;
  for (int i = 0; i < count; ++i) {
    const float x = coordinate(random), y = coordinate(random), z = coordinate(random);
    points.push_back({x, y, z});
  }
  return points;
}

double brute_force_distance(Vec3f query, const std::vector<Vec3f>& points, double radius) {
  double best = kNone;
  for (const Vec3f p : points)
    best = std::min(best, std::hypot(double(p.x) - query.x, double(p.y) - query.y, double(p.z) - query.z));
  return best <= radius ? best : kNone;
}

std::vector<float> flat(const std::vector<Vec3f>& points) {
  std::vector<float> values;
  for (const Vec3f p : points) values.insert(values.end(), {p.x, p.y, p.z});
  return values;
}

TEST(Cell, FloorsAlsoBelowZero) {
  EXPECT_EQ(cell_of({0.0f, 0.49f, 0.5f}, 0.5), (Cell{1, 0, 0}));
  EXPECT_EQ(cell_of({-0.1f, -0.5f, -0.6f}, 0.5), (Cell{-2, -1, -1}));
}

TEST(Cell, FarPointsStayInRange) {
  const Cell cell = cell_of({1e30f, -1e30f, 0.0f}, 1e-3);
  EXPECT_EQ(cell.x, std::numeric_limits<std::int32_t>::max() - 1);
  EXPECT_EQ(cell.y, -(std::numeric_limits<std::int32_t>::max() - 1));
}

TEST(Thin, KeepsThePointNearestToTheCentreInTheOrderOfTheVoxels) {
  // Voxel (0,0,0) holds two points, of which the second is nearer to (0.5, 0.5, 0.5); then one in x = 1 and
  // one in z = 1.
  const std::vector<Vec3f> points{
      {0.5f, 0.5f, 1.5f}, {0.1f, 0.5f, 0.5f}, {0.6f, 0.5f, 0.5f}, {1.9f, 0.5f, 0.5f}};
  EXPECT_EQ(flat(thin(points, 1.0)), flat({{0.6f, 0.5f, 0.5f}, {1.9f, 0.5f, 0.5f}, {0.5f, 0.5f, 1.5f}}));
}

TEST(Thin, TiesGoToTheLowestIndexAndPointsThatAreNotFiniteAreDropped) {
  const std::vector<Vec3f> points{{kNaN, 0, 0}, {0.75f, 0.5f, 0.5f}, {0.25f, 0.5f, 0.5f}, {0, INFINITY, 0}};
  EXPECT_EQ(flat(thin(points, 1.0)), flat({{0.75f, 0.5f, 0.5f}}));
  EXPECT_TRUE(thin({}, 1.0).empty());
}

TEST(Thin, AgreesWithAMapOfVoxels) {
  const std::vector<Vec3f> points = random_points(5000, 1, 2.0f);
  std::map<std::tuple<double, double, double>, std::pair<double, Vec3f>> voxels;
  for (const Vec3f p : points) {
    const double x = std::floor(p.x / 0.3), y = std::floor(p.y / 0.3), z = std::floor(p.z / 0.3);
    const double distance = std::hypot(p.x - (x + 0.5) * 0.3, p.y - (y + 0.5) * 0.3, p.z - (z + 0.5) * 0.3);
    const auto [it, is_new] = voxels.try_emplace({z, y, x}, distance, p);
    if (!is_new && distance < it->second.first) it->second = {distance, p};
  }
  std::vector<Vec3f> expected;
  for (const auto& [voxel, nearest] : voxels) expected.push_back(nearest.second);
  EXPECT_EQ(flat(thin(points, 0.3)), flat(expected));
}

TEST(Thin, OfPartsIsTheSameAsOfTheWhole) {
  const std::vector<Vec3f> points = random_points(4000, 2, 1.0f);
  const std::span<const Vec3f> all(points);
  std::vector<Vec3f> parts = thin(all.first(1500), 0.1);
  const std::vector<Vec3f> rest = thin(all.subspan(1500), 0.1);
  parts.insert(parts.end(), rest.begin(), rest.end());
  EXPECT_EQ(flat(thin(parts, 0.1)), flat(thin(points, 0.1)));
}

TEST(Thin, IsTheSameForAnyNumberOfThreads) {
  const std::vector<Vec3f> points = random_points(20000, 3, 1.0f);
  std::vector<Vec3f> alone;
  {
    ThreadLimit one(1);
    alone = one.run([&] { return thin(points, 0.05); });
  }
  EXPECT_EQ(flat(alone), flat(thin(points, 0.05)));
}

TEST(PointGrid, AgreesWithBruteForce) {
  const std::vector<Vec3f> points = random_points(800, 4, 1.0f);
  const std::vector<Vec3f> queries = random_points(500, 5, 1.2f);
  for (const double radius : {0.02, 0.1, 0.35, 5.0}) {
    const std::vector<double> distances = PointGrid(points, radius).nearest_distances(queries);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const double expected = brute_force_distance(queries[i], points, radius);
      if (std::isinf(expected))
        EXPECT_EQ(distances[i], kNone) << "query " << i << ", radius " << radius;
      else
        EXPECT_NEAR(distances[i], expected, 1e-12) << "query " << i << ", radius " << radius;
    }
  }
}

TEST(PointGrid, FindsAPointExactlyAtTheRadiusAcrossCellBorders) {
  for (int cell = -40; cell <= 40; ++cell) {
    const PointGrid grid(std::vector<Vec3f>{{static_cast<float>(cell) * 0.25f, 0, 0}}, 0.25);
    EXPECT_EQ(grid.nearest_distance({static_cast<float>(cell) * 0.25f + 0.25f, 0, 0}), 0.25) << cell;
    EXPECT_EQ(grid.nearest_distance({static_cast<float>(cell) * 0.25f - 0.25f, 0, 0}), 0.25) << cell;
    EXPECT_EQ(grid.nearest_distance({static_cast<float>(cell) * 0.25f, 0.2501f, 0}), kNone) << cell;
  }
}

TEST(PointGrid, WithoutPointsOrWithAQueryThatIsNotFiniteFindsNothing) {
  EXPECT_EQ(PointGrid({}, 1.0).nearest_distance({0, 0, 0}), kNone);
  const PointGrid grid(std::vector<Vec3f>{{0, 0, 0}, {kNaN, 0, 0}}, 1.0);
  EXPECT_EQ(grid.nearest_distance({kNaN, 0, 0}), kNone);
  EXPECT_EQ(grid.nearest_distance({0, 0.5f, 0}), 0.5);
}

}  // namespace
}  // namespace recon
