// What is said of depth maps of a rendered room, whose depths are known in closed form: of each kind of wrong
// maps, with sparse points and without, and of right ones.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "scene/synthetic_scene.hpp"
#include "session/diagnose/given_depths.hpp"

namespace recon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Pinhole kRoomCamera{160, 120, 110, 110, 80, 60};
constexpr int kRoomViews = 7;

double hit_sphere(Vec3d from, Vec3d direction, Vec3d centre, double radius) {
  const Vec3d to = centre - from;
  const double along = dot(to, direction), squared = dot(direction, direction),
               root = along * along - squared * (dot(to, to) - radius * radius);
  return root > 0 ? (along - std::sqrt(root)) / squared : 1e9;
}

/// The depth along a ray of depth 1 from `from`: a floor, a wall that is not parallel to any image, and
/// balls.
double depth_of_room(Vec3d from, Vec3d direction) {
  double depth = std::min(hit_sphere(from, direction, {-1, 0.4, 3.2}, 0.6),
                          hit_sphere(from, direction, {0.8, -0.7, 4}, 0.7));
  const Vec3d wall = normalized(Vec3d{0.3, 0.05, 1});
  const auto plane = [&](Vec3d normal, double distance) {
    const double slope = dot(normal, direction);
    if (slope > 1e-9) depth = std::min(depth, (distance - dot(normal, from)) / slope);
  };
  plane(wall, 5);
  plane({0, 1, 0}, 1);
  return depth;
}

/// Maps of views in an arc.
struct Room {
  MapEvidence maps;
  struct Point {
    Vec2d pixel;
    double depth;
  };
  std::vector<std::vector<Point>> points;  ///< that each view sees
};

/// The right maps.
Room room(int side = 160) {
  Room result;
  MapEvidence& maps = result.maps;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int view = 0; view < kRoomViews; ++view) {
    const double angle = 0.12 * (view - 3);
    const Pose pose =
        test::looking_at({3 * std::sin(angle), -0.15 * (view % 3), 3.5 - 3.5 * std::cos(angle)}, {0, 0, 3.5});
    const auto depth_at_pixel = [&](Vec2d pixel) {
      return depth_of_room(camera_centre(pose), transpose(pose.rotation) * kRoomCamera.ray(pixel));
    };
    const int width = side, height = side * kRoomCamera.height / kRoomCamera.width;
    Image<float> map(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        map(x, y) = static_cast<float>(
            depth_at_pixel({(x + 0.5) * kRoomCamera.width / width, (y + 0.5) * kRoomCamera.height / height}));
    maps.views.push_back(view);
    maps.names.push_back("v" + std::to_string(view));
    std::vector<Room::Point>& points = result.points.emplace_back();
    for (int i = 0; i < 80; ++i) {
      const Vec2d pixel{kRoomCamera.width * unit(random), kRoomCamera.height * unit(random)};
      points.push_back({pixel, depth_at_pixel(pixel)});
    }
    maps.maps.push_back({kRoomCamera, pose, std::move(map)});
    for (const int source : {view - 1, view + 1})
      if (source >= 0 && source < kRoomViews) maps.pairs.emplace_back(view, source);
  }
  return result;
}

MapDoubts doubts(Room& room, bool with_points) {
  MapEvidence& maps = room.maps;
  maps.samples.assign(kRoomViews, {});
  for (int view = 0; view < kRoomViews; ++view)
    for (const auto& [pixel, depth] : room.points[view])
      if (const double value = depth_at(maps.maps[view].map, kRoomCamera, pixel); value > 0 && with_points)
        maps.samples[view].push_back({value, depth, norm(kRoomCamera.ray(pixel))});
  return judge(maps, "POINTS", [](double scale) { return "unit " + std::to_string(1 / scale); });
}
MapDoubts doubts(Room&& room, bool with_points) {
  return doubts(room, with_points);
}

using Change = std::function<double(int view, double depth, Vec2d pixel)>;

Room changed(const Change& change, int side = 160) {
  Room result = room(side);
  for (int view = 0; view < kRoomViews; ++view) {
    Image<float>& map = result.maps.maps[view].map;
    for (int y = 0; y < map.height(); ++y)
      for (int x = 0; x < map.width(); ++x)
        map(x, y) = static_cast<float>(change(
            view, map(x, y),
            {(x + 0.5) * kRoomCamera.width / map.width(), (y + 0.5) * kRoomCamera.height / map.height()}));
  }
  return result;
}

Change plainly(const std::function<double(double depth)>& change) {
  return [=](int, double depth, Vec2d) { return change(depth); };
}

/// The maps of other views or places.
Room rearranged(const std::function<float(const MapEvidence& maps, int view, int x, int y)>& from) {
  const Room right = room();
  Room result = room();
  for (int view = 0; view < kRoomViews; ++view)
    for (int y = 0; y < 120; ++y)
      for (int x = 0; x < 160; ++x) result.maps.maps[view].map(x, y) = from(right.maps, view, x, y);
  return result;
}

/// A random value for a place, the same at each call.
double noise_at(int view, Vec2d pixel, double cell) {
  std::minstd_rand random(static_cast<unsigned>(1 + view + 31 * static_cast<int>(pixel.x / cell) +
                                                7919 * static_cast<int>(pixel.y / cell)));
  random.discard(5);
  return std::uniform_real_distribution<double>(-1, 1)(random);
}

/// The only text with points and without.
void expect_text(Room room, const char* with_points, const char* without, bool useless = false) {
  for (const bool points : {true, false}) {
    const MapDoubts it = doubts(room, points);
    const char* text = points ? with_points : without;
    EXPECT_THAT(it.texts, ElementsAre(HasSubstr(text))) << points;
    EXPECT_EQ(it.useless, useless) << text << points;
  }
}

/// Something is said, with points and without.
void expect_doubts(Room room, const char* what, bool useless) {
  for (const bool points : {true, false}) {
    const MapDoubts it = doubts(room, points);
    EXPECT_FALSE(it.texts.empty()) << what << points;
    EXPECT_EQ(it.useless, useless) << what << points << testing::PrintToString(it.texts);
  }
}

TEST(MapDoubts, RightMapsHaveNone) {
  const auto expect_none = [](Room room, const char* what) {
    for (const bool points : {true, false}) {
      const MapDoubts it = doubts(room, points);
      EXPECT_THAT(it.texts, IsEmpty()) << what << points;
      EXPECT_FALSE(it.useless);
    }
  };
  const auto places = [](double share, double cell) -> Change {
    return [=](int view, double depth, Vec2d pixel) {
      return noise_at(view, pixel, cell) < 2 * share - 1 ? depth : kUnknown;
    };
  };
  expect_none(room(), "as rendered");
  expect_none(room(80), "half the resolution");
  expect_none(room(40), "a quarter of it");
  expect_none(changed(places(0.5, 12)), "holes");
  expect_none(changed(places(0.04, 1)), "few are known");
  expect_none(changed(plainly([](double depth) { return std::round(100 * depth) / 100; })),
              "whole centimetres");
  expect_none(changed([](int view, double depth, Vec2d pixel) {
                return depth * (1 + 0.02 * noise_at(view, pixel, 1));
              }),
              "noise");
  expect_none(changed([](int view, double depth, Vec2d pixel) {
                return noise_at(view, pixel, 9) < -0.3 ? depth * std::exp(noise_at(view, pixel, 5)) : depth;
              }),
              "wrong areas");
  expect_none(changed([](int view, double depth, Vec2d pixel) {
                return depth * (1 + 0.03 * noise_at(view, {0, 0}, 1) + 0.01 * noise_at(view, pixel, 30));
              }),
              "sensors that are displaced");
  expect_none(changed([](int view, double depth, Vec2d) { return view % 2 == 0 ? depth : kUnknown; }),
              "maps of some views");
}

TEST(MapDoubts, AUnitOfAllIsNamed) {
  const std::pair<double, const char*> kUnits[] = {
      {1000, "1000"}, {100, "100"}, {0.001, "0.001"}, {3.2808, "3.2"}, {1.1, "1."}};
  for (const auto& [scale, number] : kUnits) {
    const std::string text = fmt::format("the depths are {}", number);
    expect_text(changed(plainly([scale = scale](double depth) { return scale * depth; })), text.c_str(),
                text.c_str());
  }
  for (const auto& [scale, number] : {std::pair(1.04, "1.0"), std::pair(0.97, "0.97")})
    expect_text(changed(plainly([scale = scale](double depth) { return scale * depth; })),
                fmt::format("the depths are {} times those of POINTS (", scale).c_str(),
                fmt::format("the depths are {}", number).c_str());
}

TEST(MapDoubts, ScalesOfViewsAreNamedWithTheViews) {
  constexpr double kScales[kRoomViews] = {1, 1.4, 0.7, 1.15, 0.9, 1, 2};
  expect_text(changed([&](int view, double depth, Vec2d) { return kScales[view] * depth; }),
              "scales of their own: their depths are so many times those of POINTS: 5 of 7 views (v1 1.4, v2 "
              "0.7, v3 1.15, v4 0.9, v6 2)",
              "scales of their own: their depths are so many times those of other views: ");
  expect_text(changed([](int view, double depth, Vec2d) { return view == 2 ? 1.5 * depth : depth; }),
              "those of POINTS: 1 of 7 views (v2 1.5)", "those of other views: 1 of 7 views (v2 1.");
  const auto halves =
      doubts(changed([](int view, double depth, Vec2d) { return view < 4 ? depth : 1.3 * depth; }), true);
  EXPECT_THAT(halves.texts, ElementsAre(HasSubstr("3 of 7 views (v4 1.3, v5 1.3, v6 1.3)")));
}

TEST(MapDoubts, ShiftsAreNamed) {
  const auto with_points = [](const Change& change) { return doubts(changed(change), true).texts; };
  EXPECT_THAT(
      with_points([](int view, double depth, Vec2d) { return (0.6 + 0.1 * view) * depth + 1 + 0.2 * view; }),
      ElementsAre(HasSubstr("a scale and a shift of their own against POINTS")));
  EXPECT_THAT(
      with_points([](int view, double depth, Vec2d) { return 1 / ((0.6 + 0.1 * view) / depth + 0.15); }),
      ElementsAre(HasSubstr("a shift of their own in the inverse of the depths against POINTS")));
  expect_doubts(
      changed([](int view, double depth, Vec2d) { return (0.6 + 0.1 * view) * depth + 1 + 0.2 * view; }),
      "shifted", false);
  expect_doubts(
      changed([](int view, double depth, Vec2d) { return 1 / ((0.6 + 0.1 * view) / depth + 0.15); }),
      "shifted inverse", false);
}

TEST(MapDoubts, DistancesAndInverseDepthsAreNamed) {
  expect_text(changed([](int, double depth, Vec2d pixel) { return depth * norm(kRoomCamera.ray(pixel)); }),
              "distances to the camera", "distances to the camera");
  for (const double scale : {1.0, 400.0})
    expect_text(changed(plainly([=](double depth) { return scale / depth; })),
                "the depths do not fit POINTS: most places have another ratio in 7 of 7 views",
                "the depths do not fit other views, but their inverse does", true);
}

TEST(MapDoubts, MapsOfOtherImagesAreNamed) {
  auto mirrored = rearranged(
      [](const MapEvidence& maps, int view, int x, int y) { return maps.maps[view].map(159 - x, y); });
  EXPECT_THAT(doubts(mirrored, true).texts, ElementsAre(HasSubstr("the maps seem to be mirrored")));
  EXPECT_THAT(doubts(mirrored, false).texts, ElementsAre(HasSubstr("the maps seem to be mirrored")));
  auto turned = rearranged(
      [](const MapEvidence& maps, int view, int x, int y) { return maps.maps[view].map(159 - x, 119 - y); });
  EXPECT_THAT(doubts(turned, false).texts, ElementsAre(HasSubstr("turned by 180 degrees")));
  auto upside_down = rearranged(
      [](const MapEvidence& maps, int view, int x, int y) { return maps.maps[view].map(x, 119 - y); });
  EXPECT_THAT(doubts(upside_down, false).texts, ElementsAre(HasSubstr("upside down")));
  auto next = rearranged([](const MapEvidence& maps, int view, int x, int y) {
    return maps.maps[(view + 1) % kRoomViews].map(x, y);
  });
  expect_text(std::move(next), "that of v6 would be right for v0", "that of v6 would be right for v0");
  auto one = rearranged([](const MapEvidence& maps, int view, int x, int y) {
    return maps.maps[view].map(x, view == 3 ? 119 - y : y);
  });
  expect_text(std::move(one), "in 1 of 7 views (v3)", "in 1 of 7 views (v3)");
}

TEST(MapDoubts, TwoMapsThatAreExchangedAreNamed) {
  for (const auto& [a, b] : {std::pair(0, 1), std::pair(1, 3), std::pair(2, 6), std::pair(4, 5)}) {
    const auto names = fmt::format("the maps of v{} and v{} seem to be exchanged: ", a, b);
    expect_text(rearranged([a = a, b = b](const MapEvidence& maps, int view, int x, int y) {
                  return maps.maps[view == a ? b : view == b ? a : view].map(x, y);
                }),
                names.c_str(), names.c_str());
  }
}

TEST(MapDoubts, OfMapsWithoutDepthsNothingAgrees) {
  expect_doubts(changed([](int view, double depth, Vec2d) { return (0.1 + 0.02 * view) / depth + 0.05; }),
                "disparities that are too near for other views to see", true);
  expect_doubts(changed([](int view, double, Vec2d pixel) { return 3 * std::exp(noise_at(view, pixel, 1)); }),
                "noise", true);
  expect_doubts(
      changed([](int view, double, Vec2d pixel) { return 3 * std::exp(noise_at(view, pixel, 16)); }), "areas",
      true);
  expect_doubts(changed(plainly([](double) { return 3.0; })), "constant", true);
}

}  // namespace
}  // namespace recon
