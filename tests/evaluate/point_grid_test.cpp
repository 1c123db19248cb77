#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "core/image.hpp"
#include "core/parallel.hpp"
#include "evaluate/cloud_score.hpp"

namespace recon {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

std::vector<Vec3d> random_points(int count, unsigned seed, double extent) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> coordinate(-extent, extent);
  std::vector<Vec3d> points;
  for (int i = 0; i < count; ++i) {
    const double x = coordinate(random), y = coordinate(random), z = coordinate(random);
    points.push_back({x, y, z});
  }
  return points;
}

double brute_force_distance(Vec3d query, const std::vector<Vec3d>& points, double radius) {
  double best = kNone;
  for (const Vec3d p : points)
    best = std::min(best, std::hypot(double(p.x) - query.x, double(p.y) - query.y, double(p.z) - query.z));
  return best <= radius ? best : kNone;
}

std::vector<double> flat(const std::vector<Vec3d>& points) {
  std::vector<double> values;
  for (const Vec3d p : points) values.insert(values.end(), {p.x, p.y, p.z});
  return values;
}

TEST(Cell, FloorsAlsoBelowZero) {
  EXPECT_EQ(cell_of({0.0, 0.49, 0.5}, 0.5), (Cell{1, 0, 0}));
  EXPECT_EQ(cell_of({-0.1, -0.5, -0.6}, 0.5), (Cell{-2, -1, -1}));
}

TEST(Cell, FarPointsStayInRange) {
  const Cell cell = cell_of({1e30, -1e30, 0.0}, 1e-3);
  EXPECT_EQ(cell.x, std::int64_t{1} << 62);
  EXPECT_EQ(cell.y, -(std::int64_t{1} << 62));
}

TEST(Thin, KeepsThePointNearestToTheCentreInTheOrderOfTheVoxels) {
  // Voxel (0,0,0) holds two points, of which the second is nearer to (0.5, 0.5, 0.5); then one in x = 1 and
  // one in z = 1.
  const std::vector<Vec3d> points{{0.5, 0.5, 1.5}, {0.1, 0.5, 0.5}, {0.6, 0.5, 0.5}, {1.9, 0.5, 0.5}};
  EXPECT_EQ(flat(thin(points, 1.0)), flat({{0.6, 0.5, 0.5}, {1.9, 0.5, 0.5}, {0.5, 0.5, 1.5}}));
}

TEST(Thin, TiesGoToTheLowestIndexAndPointsThatAreNotFiniteAreDropped) {
  const std::vector<Vec3d> points{{kUnknown, 0, 0}, {0.75, 0.5, 0.5}, {0.25, 0.5, 0.5}, {0, INFINITY, 0}};
  EXPECT_EQ(flat(thin(points, 1.0)), flat({{0.75, 0.5, 0.5}}));
  EXPECT_TRUE(thin({}, 1.0).empty());
}

TEST(Thin, AgreesWithAMapOfVoxels) {
  const std::vector<Vec3d> points = random_points(5000, 1, 2.0);
  std::map<std::tuple<double, double, double>, std::pair<double, Vec3d>> voxels;
  for (const Vec3d p : points) {
    const double x = std::floor(p.x / 0.3), y = std::floor(p.y / 0.3), z = std::floor(p.z / 0.3);
    const double distance = std::hypot(p.x - (x + 0.5) * 0.3, p.y - (y + 0.5) * 0.3, p.z - (z + 0.5) * 0.3);
    const auto [it, is_new] = voxels.try_emplace({z, y, x}, distance, p);
    if (!is_new && distance < it->second.first) it->second = {distance, p};
  }
  std::vector<Vec3d> expected;
  for (const auto& [voxel, nearest] : voxels) expected.push_back(nearest.second);
  EXPECT_EQ(flat(thin(points, 0.3)), flat(expected));
}

TEST(Thin, OfPartsIsTheSameAsOfTheWhole) {
  const std::vector<Vec3d> points = random_points(4000, 2, 1.0);
  const std::span<const Vec3d> all(points);
  std::vector<Vec3d> parts = thin(all.first(1500), 0.1);
  const std::vector<Vec3d> rest = thin(all.subspan(1500), 0.1);
  parts.insert(parts.end(), rest.begin(), rest.end());
  EXPECT_EQ(flat(thin(parts, 0.1)), flat(thin(points, 0.1)));
}

TEST(Thin, IsTheSameForAnyNumberOfThreads) {
  const std::vector<Vec3d> points = random_points(20000, 3, 1.0);
  std::vector<Vec3d> alone;
  {
    ThreadLimit one(1);
    alone = one.run([&] { return thin(points, 0.05); });
  }
  EXPECT_EQ(flat(alone), flat(thin(points, 0.05)));
}

TEST(PointGrid, AgreesWithBruteForce) {
  const std::vector<Vec3d> points = random_points(800, 4, 1.0);
  const std::vector<Vec3d> queries = random_points(500, 5, 1.2);
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
    const PointGrid grid(std::vector<Vec3d>{{cell * 0.25, 0, 0}}, 0.25);
    EXPECT_EQ(grid.nearest_distance({cell * 0.25 + 0.25, 0, 0}), 0.25) << cell;
    EXPECT_EQ(grid.nearest_distance({cell * 0.25 - 0.25, 0, 0}), 0.25) << cell;
    EXPECT_EQ(grid.nearest_distance({cell * 0.25, 0.2501, 0}), kNone) << cell;
  }
}

TEST(PointGrid, WithoutPointsOrWithAQueryThatIsNotFiniteFindsNothing) {
  EXPECT_EQ(PointGrid({}, 1.0).nearest_distance({0, 0, 0}), kNone);
  const PointGrid grid(std::vector<Vec3d>{{0, 0, 0}, {kUnknown, 0, 0}}, 1.0);
  EXPECT_EQ(grid.nearest_distance({kUnknown, 0, 0}), kNone);
  EXPECT_EQ(grid.nearest_distance({0, 0.5, 0}), 0.5);
}

TEST(PointGrid, DistinguishesMillimetresInMapCoordinates) {
  const Vec3d corner{412345, 5651234, 120};
  std::vector<Vec3d> points;
  for (int i = 0; i < 1000; ++i) points.push_back(corner + Vec3d{0.001 * (i % 10), 0.001 * (i / 10), 0});
  EXPECT_EQ(thin(points, 0.0004).size(), 1000u);
  const PointGrid grid(points, 0.0008);
  EXPECT_NEAR(grid.nearest_distance(corner + Vec3d{0.0033, 0.0400, 0.0004}), 0.0005, 1e-8);
  EXPECT_EQ(grid.nearest_distance(corner + Vec3d{0.0033, 0.0400, 0.0008}), kNone);
}

}  // namespace
}  // namespace recon
