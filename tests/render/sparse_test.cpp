#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "render/render.hpp"
#include "scene/camera.hpp"

namespace recon {
namespace {

/// Four views of a sphere before a wall and a plain patch, in a box.
SceneDescription test_scene(CameraModel model) {
  SceneDescription description;
  description.cameras = {typical_camera(model, 64, 48, 55)};
  for (int i = 0; i < 4; ++i)
    description.views.push_back({view_name_of(i, 4), 0, look_at({0.3 * i - 0.45, -2, 0.2}, {0, 0, 0}), 1});
  SurfaceTexture plain;
  plain.contrast = 0;
  description.objects = {{Box{{4, 4, 3}}, Pose{}, {}},
                         {Sphere{0.3}, {identity<double>(), {0.1, 0, 0}}, {}},
                         {Quad{0.2, 0.2}, {rotation_xyz({90, 0, 0}), {-0.6, 0.1, 0}}, plain}};
  description.samples = 1;
  description.sparse.points = 150;
  return description;
}

class EveryCameraModel : public testing::TestWithParam<int> {};

TEST_P(EveryCameraModel, RendersAllPixelsWithExactDepth) {
  const auto model = model_from_id(GetParam()).value();
  const SceneDescription description = test_scene(model);
  const RenderedView rendered = render_view(description, 1);
  const Lens lens(description.cameras[0]);
  const Pose world_from_cam = inverse(description.views[1].cam_from_world);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) {
      ASSERT_GT(rendered.depth(x, y), 0) << x << ' ' << y;
      const auto ray = lens.unproject({x + 0.5, y + 0.5});
      ASSERT_TRUE(ray);
      const Vec3d place = world_from_cam * (rendered.depth(x, y) / ray->z * *ray);
      // The place lies on one of the surfaces.
      const double wall = std::min({std::abs(4 - std::abs(place.x)), std::abs(4 - std::abs(place.y)),
                                    std::abs(3 - std::abs(place.z))});
      const double sphere = std::abs(norm(place - Vec3d{0.1, 0, 0}) - 0.3);
      const double patch = std::abs(place.y - 0.1);
      ASSERT_LT(std::min({wall, sphere, patch}), 1e-6 * rendered.depth(x, y)) << x << ' ' << y;
    }
}

TEST_P(EveryCameraModel, SparsePointsReproject) {
  const auto model = model_from_id(GetParam()).value();
  const Scene scene = sparse_scene(test_scene(model));
  EXPECT_EQ(scene.points.size(), 150u);
  EXPECT_EQ(scene.views.size(), 4u);
  for (const SparsePoint& point : scene.points) {
    EXPECT_GE(point.track.size(), 2u);
    EXPECT_EQ(point.error, 0);
    for (const TrackElement& element : point.track) {
      const View& view = scene.views[element.view];
      const Observation& observation = view.observations[element.observation];
      EXPECT_EQ(observation.point_id, point.id);
      const auto pixel = Lens(scene.cameras[view.camera]).project(view.cam_from_world * point.position);
      ASSERT_TRUE(pixel);
      EXPECT_NEAR(pixel->x, observation.pixel.x, 1e-3);
      EXPECT_NEAR(pixel->y, observation.pixel.y, 1e-3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryCameraModel, testing::Range(0, 11), [](const auto& one) {
  return std::string(model_name(model_from_id(one.param).value()));
});

TEST(SparsePoints, ObservationsAreVisibleInTheRenderedDepth) {
  const SceneDescription description = test_scene(CameraModel::kPinhole);
  const Scene scene = sparse_scene(description);
  int checked = 0;
  for (int v = 0; v < 4; ++v) {
    const RenderedView rendered = render_view(description, v);
    for (const SparsePoint& point : scene.points)
      for (const TrackElement& element : point.track) {
        if (element.view != v) continue;
        const Vec2d pixel = scene.views[v].observations[element.observation].pixel;
        const double z = (scene.views[v].cam_from_world * point.position).z;
        // A hidden point would lie behind what the pixel and all its neighbours show.
        bool hidden = true;
        for (int y = static_cast<int>(pixel.y) - 1; y <= static_cast<int>(pixel.y) + 1; ++y)
          for (int x = static_cast<int>(pixel.x) - 1; x <= static_cast<int>(pixel.x) + 1; ++x)
            if (rendered.depth.view().contains(x, y) && z < rendered.depth(x, y) * 1.01) hidden = false;
        EXPECT_FALSE(hidden);
        ++checked;
      }
  }
  EXPECT_GT(checked, 300);
}

TEST(SparsePoints, NoneOnSurfacesWithoutDetail) {
  SceneDescription description = test_scene(CameraModel::kPinhole);
  const Scene scene = sparse_scene(description);
  for (const SparsePoint& point : scene.points)
    EXPECT_FALSE(std::abs(point.position.y - 0.1) < 1e-9 && std::abs(point.position.x + 0.6) < 0.2);
  for (SceneObject& object : description.objects) object.texture.contrast = 0;
  EXPECT_TRUE(sparse_scene(description).points.empty());
}

TEST(SparsePoints, NoiseMovesObservationsOnly) {
  SceneDescription description = test_scene(CameraModel::kPinhole);
  description.sparse.points = 600;
  description.sparse.noise = 0.5;
  const Scene scene = sparse_scene(description);
  double squares = 0, errors = 0;
  int count = 0;
  for (const SparsePoint& point : scene.points) {
    errors += point.error / static_cast<double>(scene.points.size());
    for (const TrackElement& element : point.track) {
      const View& view = scene.views[element.view];
      const auto pixel = Lens(scene.cameras[view.camera]).project(view.cam_from_world * point.position);
      const Vec2d off = view.observations[element.observation].pixel - *pixel;
      squares += off.x * off.x + off.y * off.y;
      count += 2;
    }
  }
  EXPECT_NEAR(std::sqrt(squares / count), 0.5, 0.03);
  EXPECT_NEAR(errors, 0.5 * std::sqrt(3.14159 / 2), 0.04);  // mean of a Rayleigh distribution
}

TEST(SparsePoints, MinimumOfViewsHolds) {
  SceneDescription description = test_scene(CameraModel::kPinhole);
  description.sparse.min_views = 4;
  for (const SparsePoint& point : sparse_scene(description).points) EXPECT_EQ(point.track.size(), 4u);
}

}  // namespace
}  // namespace recon
