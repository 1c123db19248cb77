// A cloud thinned evenly: how many points stay, and how far all others are from them.
#include "io/cloud/ply_thinning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/error.hpp"
#include "io/cloud/ply.hpp"
#include "io/error_message.hpp"
#include "io/file/output_file.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

using Points = std::vector<Vec3d>;

/// Two walls and a floor; half of the points are in a hundredth of the floor.
Points uneven_cloud(std::size_t count) {
  std::mt19937 generator(7);
  const auto number = [&] { return static_cast<double>(generator()) / 4294967296.0; };
  Points points;
  for (std::size_t i = 0; i < count; ++i) {
    const double u = 10 * number(), v = 10 * number();
    if (i % 2 == 0)
      points.push_back({100 + u / 10, v / 10, 0});
    else
      points.push_back(i % 3 == 0   ? Vec3d{100, u, v}
                       : i % 3 == 1 ? Vec3d{100 + u, 0, v}
                                    : Vec3d{100 + u, v, 0});
  }
  return points;
}

void write_points(const std::filesystem::path& file, const Points& points, const PlyCoordinates& position) {
  PlyWriter writer(file, {position});
  for (const Vec3d& point : points) writer.add({point, {}, {}, 0, {}});
  writer.commit();
}

/// The largest distance of a point to the nearest of the chosen ones.
double largest_gap(const Points& points, const std::vector<std::uint64_t>& chosen) {
  double gap = 0;
  for (const Vec3d& point : points) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const std::uint64_t index : chosen) nearest = std::min(nearest, norm(points[index] - point));
    gap = std::max(gap, nearest);
  }
  return gap;
}

TEST(ThinnedCloud, IsTheSameBehindAnOffset) {
  const TemporaryFolder folder;
  const Points points = uneven_cloud(1000);
  const NearBall near{{100, 0, 0}, 2};
  write_points(folder / "a.ply", points, {PlyPosition::kDouble});
  write_points(folder / "b.ply", points, {PlyPosition::kDouble, {64, -32, 128}});
  EXPECT_NE(slurp(folder / "a.ply"), slurp(folder / "b.ply"));
  EXPECT_EQ(thin_ply(folder / "a.ply", 100, near), thin_ply(folder / "b.ply", 100, near));
}

TEST(ThinnedCloud, IsEvenAndHasNearlyAsManyPointsAsItMay) {
  const TemporaryFolder folder;
  const Points points = uneven_cloud(6000);
  for (const PlyPosition position : {PlyPosition::kFloat, PlyPosition::kDouble}) {
    write_points(folder / "c.ply", points, {position});
    for (const std::size_t most : {1u, 10u, 100u, 600u}) {
      const std::vector<std::uint64_t> chosen = thin_ply(folder / "c.ply", most);
      EXPECT_TRUE(std::ranges::is_sorted(chosen));
      EXPECT_EQ(std::ranges::adjacent_find(chosen), chosen.end());
      EXPECT_LT(chosen.back(), points.size());
      EXPECT_LE(chosen.size(), most);
      if (most < 100) continue;  // few cubes come and go several at a time
      EXPECT_GE(chosen.size(), most * 95 / 100);
      std::vector<std::uint64_t> random;
      std::mt19937 generator(3);
      while (random.size() < chosen.size()) random.push_back(generator() % points.size());
      // A cube of the 3 * 100 square units has at most so large a diagonal, were it full.
      const double gap = largest_gap(points, chosen), cube = std::sqrt(300.0 / static_cast<double>(most));
      EXPECT_LT(gap, std::sqrt(3.0) * 1.3 * cube);
      EXPECT_LT(gap, 0.7 * largest_gap(points, random));
    }
  }
}

TEST(ThinnedCloud, IsDenseNearbyWhereAFewPointsAreFarAway) {
  const TemporaryFolder folder;
  for (const double distance : {1e4, 3e5, 1e10}) {
    Points points = uneven_cloud(6000);
    for (int i = 0; i < 50; ++i) points.push_back({distance, distance * i / 50, distance});
    for (const PlyPosition position : {PlyPosition::kFloat, PlyPosition::kDouble}) {
      write_points(folder / "c.ply", points, {position});
      const std::vector<std::uint64_t> chosen = thin_ply(folder / "c.ply", 650);
      EXPECT_LE(chosen.size(), 650u) << distance;
      EXPECT_GE(chosen.size(), 650u * 95 / 100) << distance;
      EXPECT_LT(largest_gap(uneven_cloud(6000), {chosen.begin(), std::ranges::lower_bound(chosen, 6000u)}),
                std::sqrt(3.0) * 1.3 * std::sqrt(300.0 / 600))
          << distance;
    }
  }
}

/// A ball of radius 1 and, behind it, a surface of 4000 x 4000 units that has ten times as many points.
Points ball_before_far_surface(int in_ball) {
  std::mt19937 generator(11);
  const auto number = [&] { return 2 * static_cast<double>(generator()) / 4294967296.0 - 1; };
  Points points;
  while (static_cast<int>(points.size()) < in_ball) {
    const Vec3d p{number(), number(), number()};
    if (const double r = norm(p); r > 0.1 && r < 1) points.push_back(1 / r * p);
  }
  for (int i = 0; i < 10 * in_ball; ++i) points.push_back({2000 * number(), 2000 * number(), 1000});
  return points;
}

TEST(ThinnedCloud, IsDenseNearbyBeforeALargeFarSurface) {
  const TemporaryFolder folder;
  constexpr int kInBall = 3000;
  const Points points = ball_before_far_surface(kInBall);
  const auto in_ball = [&](const std::vector<std::uint64_t>& chosen) {
    return std::ranges::lower_bound(chosen, std::uint64_t{kInBall}) - chosen.begin();
  };
  write_points(folder / "c.ply", points, {PlyPosition::kFloat});
  const std::vector<std::uint64_t> even = thin_ply(folder / "c.ply", 2000),
                                   near = thin_ply(folder / "c.ply", 2000, {{0, 0, 0}, 3});
  EXPECT_LT(in_ball(even), 10) << "evenly in space";
  EXPECT_LE(near.size(), 2000u);
  EXPECT_GE(near.size(), 1900u);
  EXPECT_GT(in_ball(near), 150);
  Points ball(points.begin(), points.begin() + kInBall);
  EXPECT_LT(largest_gap(ball, {near.begin(), near.begin() + in_ball(near)}), 0.6);
}

TEST(ThinnedCloud, IsContractedBeyondWhatIsNear) {
  const NearBall near{{1, 2, 3}, 2};
  const auto expect_at = [&](Vec3d p, Vec3d expected) {
    EXPECT_LT(norm(near.radius * contracted(p, near) + near.centre - expected), 1e-12);
  };
  expect_at({1, 2, 3}, {1, 2, 3});
  expect_at({3, 2, 3}, {3, 2, 3});
  expect_at({1, 6, 3}, {1, 5, 3});       // twice as far: 2 (2 - 1/2)
  expect_at({1, 2, -1e15}, {1, 2, -1});  // at infinity
  expect_at({0.5, 2.5, 3}, {0.5, 2.5, 3});
  EXPECT_EQ(contracted({1e300, -1e300, 0}, {}).x, 1e300) << "all is near";
}

/// Views that stand in one place but for rounding.
TEST(ThinnedCloud, HasAllDirectionsAboutATinyBall) {
  const TemporaryFolder folder;
  write_points(folder / "c.ply", ball_before_far_surface(3000), {PlyPosition::kDouble});
  const NearBall tiny{{0.25, 0.5, -0.125}, 1e-16};
  EXPECT_GE(thin_ply(folder / "c.ply", 2000, tiny).size(), 1900u);
}

TEST(ThinnedCloud, KeepsAllOfASmallCloudAndOneOfEqualPoints) {
  const TemporaryFolder folder;
  write_points(folder / "c.ply", {{1, 2, 3}, {4, 5, 6}}, {PlyPosition::kFloat});
  EXPECT_EQ(thin_ply(folder / "c.ply", 2), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(thin_ply(folder / "c.ply", 1).size(), 1u);
  write_points(folder / "c.ply", Points(9, Vec3d{1, 2, 3}), {PlyPosition::kDouble});
  EXPECT_EQ(thin_ply(folder / "c.ply", 3), (std::vector<std::uint64_t>{0}));
  Points two(100, Vec3d{1, 2, 3});
  two.back().x = 1e6;
  write_points(folder / "c.ply", two, {PlyPosition::kDouble});
  EXPECT_EQ(thin_ply(folder / "c.ply", 50), (std::vector<std::uint64_t>{0, 99}));
}

TEST(ThinnedCloud, IsOneThatThisProgramWrote) {
  const TemporaryFolder folder;
  write_file(folder / "c.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n");
  EXPECT_THAT(message_of<InputError>([&] { thin_ply(folder / "c.ply", 1); }), HasSubstr("not binary"));
  write_points(folder / "c.ply", {{1, 2, 3}, {0, std::nan(""), 0}, {4, 5, 6}}, {PlyPosition::kFloat});
  EXPECT_THAT(message_of<InputError>([&] { thin_ply(folder / "c.ply", 2); }), HasSubstr("not finite"));
}

}  // namespace
}  // namespace recon
