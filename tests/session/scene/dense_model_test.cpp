// The model of the undistorted images of a plan, on a row of cameras.

#include "session/scene/dense_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scene/camera.hpp"
#include "session/plan/plan.hpp"
#include "session/row_of_views.hpp"

namespace recon {
namespace {

TEST(DenseModel, MovesObservationsToWherePointsAreSeenWithoutDistortion) {
  const ScenePlan plan = make_plan(row_of_views(4, kRadialCamera), {}, SceneSettings(options_with()));
  const Scene dense = undistorted_scene(plan);
  expect_consistent(dense);
  ASSERT_EQ(dense.cameras.size(), 1u);
  EXPECT_EQ(dense.cameras[0].model, CameraModel::kPinhole);
  EXPECT_EQ(dense.camera_ids[0], 7u);
  std::size_t count = 0;
  for (const SparsePoint& point : dense.points)
    for (const TrackElement& element : point.track) {
      const View& view = dense.views[static_cast<std::size_t>(element.view)];
      const auto pixel = Lens(dense.cameras[0]).project(view.cam_from_world * point.position);
      EXPECT_NEAR(view.observations[element.observation].pixel.x, pixel->x, 1e-4);
      EXPECT_NEAR(view.observations[element.observation].pixel.y, pixel->y, 1e-4);
      ++count;
    }
  EXPECT_GT(count, 100u);
}

TEST(DenseModel, CountsImagesAlikeByOrderAndById) {
  const ScenePlan plan = make_plan(row_of_views(4, kPinholeCamera), {}, SceneSettings(options_with()));
  const Scene dense = undistorted_scene(plan);
  const std::vector<int> indices = dense_indices(plan);
  for (std::size_t i = 0; i < plan.views.size(); ++i)
    EXPECT_EQ(dense.views[static_cast<std::size_t>(indices[i])].name, plan.scene.views[i].name);
  for (std::size_t i = 1; i < dense.views.size(); ++i) EXPECT_LT(dense.views[i - 1].id, dense.views[i].id);
}

TEST(DenseModel, HasOnlyTheViewsThatAreNeeded) {
  SessionOptions options = options_with();
  options.views = "v0.png";
  options.selection.max_sources = 1;
  options.stage = Stage::kEstimate;
  const ScenePlan plan = make_plan(row_of_views(5, kPinholeCamera), {}, SceneSettings(options));
  const Scene dense = undistorted_scene(plan);
  EXPECT_EQ(dense.views.size(), 2u);
  EXPECT_EQ(dense.points.size(), plan.scene.points.size());
  expect_consistent(dense);
}

TEST(DenseModel, MovesObservationsAsOneByOneAndDropsThoseOutside) {
  Scene scene = row_of_views(4, kRadialCamera);
  for (View& view : scene.views)
    for (const Vec2d pixel : {Vec2d{0.5, 0.5}, Vec2d{100, 0.5}, Vec2d{0.5, 75}, Vec2d{-3, 75}})
      view.observations.push_back({pixel, kNoPoint});
  const ScenePlan plan = make_plan(scene, {}, SceneSettings(options_with()));
  const Scene dense = undistorted_scene(plan);
  std::size_t dropped = 0;
  for (std::size_t v = 0; v < scene.views.size(); ++v) {
    const Pinhole target = plan.views[v].camera;
    std::vector<Observation> expected;
    for (const Observation& observation : scene.views[v].observations) {
      const auto ray = Lens(kRadialCamera).unproject(observation.pixel);
      const Vec2d pixel = target.project(*ray);
      if (pixel.x >= 0 && pixel.y >= 0 && pixel.x <= target.width && pixel.y <= target.height)
        expected.push_back({pixel, observation.point_id});
    }
    dropped += scene.views[v].observations.size() - expected.size();
    ASSERT_EQ(dense.views[v].observations.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(dense.views[v].observations[i].pixel.x, expected[i].pixel.x);
      EXPECT_EQ(dense.views[v].observations[i].pixel.y, expected[i].pixel.y);
      EXPECT_EQ(dense.views[v].observations[i].point_id, expected[i].point_id);
    }
  }
  EXPECT_GT(dropped, 0u);
  expect_consistent(dense);
}

}  // namespace
}  // namespace recon
