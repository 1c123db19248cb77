// The trees of objects and views against testing every one.

#include <gtest/gtest.h>

#include <algorithm>

#include "render/hash.hpp"
#include "render/tracer.hpp"
#include "render/view_tree.hpp"
#include "scene/camera.hpp"

namespace recon {
namespace {

double between(std::uint64_t position, int what, double low, double high) {
  return low + (high - low) * uniform_of(hash_of(77, position, what));
}

Vec3d random_place(std::uint64_t position, double half) {
  return {between(position, 0, -half, half), between(position, 1, -half, half),
          between(position, 2, -half, half)};
}

/// Spheres and boxes along a road, the first of them twice.
SceneDescription objects_of_a_road(int count) {
  SceneDescription description;
  for (int i = 0; i < count; ++i) {
    const auto position = static_cast<std::uint64_t>(i);
    const double size = between(position, 3, 0.05, 0.6);
    const Vec3d place = random_place(position, 2) + Vec3d{0.4 * i, 0, 0};
    const Pose pose = {rotation_xyz({10.0 * i, 0, 0}), place};
    if (i % 2 == 0)
      description.objects.push_back({Sphere{size}, pose, {}});
    else
      description.objects.push_back({Box{{size, 0.3, 2 * size}}, pose, {}});
    if (i < 10) description.objects.push_back(description.objects.back());
  }
  return description;
}

/// The first hit of all objects, the first of them where several are hit at once.
std::optional<std::pair<int, double>> first_hit(const SceneDescription& description, Vec3d origin,
                                                Vec3d direction) {
  std::optional<std::pair<int, double>> first;
  for (std::size_t i = 0; i < description.objects.size(); ++i) {
    const auto& [shape, world_from_object, texture] = description.objects[i];
    const Pose object_from_world = inverse(world_from_object);
    const auto hit =
        intersect(shape, object_from_world * origin, object_from_world.rotation * direction, 0.0);
    if (hit && (!first || hit->t < first->second)) first = {static_cast<int>(i), hit->t};
  }
  return first;
}

TEST(ObjectTree, FindsTheFirstHitOfAllObjects) {
  for (const int count : {0, 1, 3, 4, 60}) {
    const SceneDescription description = objects_of_a_road(count);
    const Tracer tracer(description);
    int hits = 0, of_twins = 0;
    for (std::uint64_t i = 0; i < 6000; ++i) {
      const Vec3d origin = random_place(1000 + i, 3) + Vec3d{between(i, 9, 0, 0.4 * count), 0, 0};
      const Vec3d along_axes[3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}};
      const Vec3d direction = i % 8 < 3 ? along_axes[i % 8] : normalized(random_place(9000 + i, 1));
      const auto expected = first_hit(description, origin, direction);
      const auto hit = tracer.cast(origin, direction);
      ASSERT_EQ(hit.has_value(), expected.has_value()) << count << " objects, ray " << i;
      if (!hit) continue;
      ++hits;
      ASSERT_EQ(hit->object, expected->first) << count << " objects, ray " << i;
      ASSERT_EQ(hit->t, expected->second);
      of_twins += expected->first < 20;
    }
    EXPECT_TRUE(count == 0 || (hits > 10 && of_twins > 10)) << count << " objects";
  }
}

SceneDescription row_of_views(int count, CameraModel model) {
  SceneDescription description;
  description.cameras = {typical_camera(model, 64, 48, 60)};
  for (int i = 0; i < count; ++i) {
    const Vec3d eye{0.5 * i, 1.0 * (i % 2), 0};
    description.views.push_back(
        {view_name_of(i, count), 0, look_at(eye, eye + Vec3d{0.3, 1, 0.1 * (i % 3)}), 1});
  }
  return description;
}

TEST(ViewTree, VisitsAllViewsThatHaveAnImageOfAPlaceInOrder) {
  for (int id = 0; id <= 16; ++id) {
    const auto model = model_from_id(id);
    if (!model) continue;
    for (const int count : {1, 2, 37}) {
      const SceneDescription description = row_of_views(count, *model);
      const Camera& camera = description.cameras[0];
      const Lens lens(camera);
      const ViewTree tree(description);
      int seen = 0;
      for (std::uint64_t i = 0; i < 500; ++i) {
        const Vec3d place = random_place(i, 6) + Vec3d{between(i, 8, 0, 0.5 * count), 0, 0};
        std::vector<int> visited;
        tree.visit(place, [&](int view) { visited.push_back(view); });
        ASSERT_TRUE(std::ranges::is_sorted(visited));
        for (int view = 0; view < count; ++view) {
          const auto pixel = lens.project(description.views[view].cam_from_world * place);
          if (!pixel || pixel->x < 0 || pixel->x > camera.width || pixel->y < 0 || pixel->y > camera.height)
            continue;
          ++seen;
          ASSERT_TRUE(std::ranges::binary_search(visited, view))
              << model_name(*model) << ", view " << view << " of " << count << ", place " << i;
        }
      }
      EXPECT_GT(seen, 20) << model_name(*model) << " " << count;
    }
  }
}

TEST(ViewTree, AsksFewOfManyViews) {
  constexpr int kViews = 4000;
  const ViewTree tree(row_of_views(kViews, CameraModel::kOpenCv));
  int visited = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Vec3d place{between(i, 1, 0, 0.5 * kViews), 8, between(i, 2, -2, 2)};
    tree.visit(place, [&](int) { ++visited; });
  }
  EXPECT_LT(visited, 100 * kViews / 50);
  EXPECT_GT(visited, 100);
}

}  // namespace
}  // namespace recon
