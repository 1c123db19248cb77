#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_message.hpp"
#include "io/colmap_model.hpp"
#include "scene_samples.hpp"
#include "temporary_folder.hpp"

namespace recon {
namespace {

void expect_same(Vec3d a, Vec3d b) {
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.z, b.z);
}

void expect_same(const View& a, const View& b) {
  SCOPED_TRACE(b.name);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.camera, b.camera);
  expect_same(a.cam_from_world.translation, b.cam_from_world.translation);
  for (int i = 0; i < 9; ++i)
    EXPECT_NEAR(a.cam_from_world.rotation.m[i], b.cam_from_world.rotation.m[i], 4e-16);
  ASSERT_EQ(a.observations.size(), b.observations.size());
  for (std::size_t i = 0; i < a.observations.size(); ++i) {
    EXPECT_EQ(a.observations[i].pixel.x, b.observations[i].pixel.x);
    EXPECT_EQ(a.observations[i].pixel.y, b.observations[i].pixel.y);
    EXPECT_EQ(a.observations[i].point_id, b.observations[i].point_id);
  }
}

void expect_same(const SparsePoint& a, const SparsePoint& b) {
  EXPECT_EQ(a.id, b.id);
  expect_same(a.position, b.position);
  EXPECT_EQ(a.colour, b.colour);
  EXPECT_EQ(a.error, b.error);
  ASSERT_EQ(a.track.size(), b.track.size());
  for (std::size_t i = 0; i < a.track.size(); ++i) {
    EXPECT_EQ(a.track[i].view, b.track[i].view);
    EXPECT_EQ(a.track[i].observation, b.track[i].observation);
  }
}

void expect_same(const Scene& a, const Scene& b) {
  EXPECT_EQ(a.camera_ids, b.camera_ids);
  ASSERT_EQ(a.cameras.size(), b.cameras.size());
  for (std::size_t i = 0; i < a.cameras.size(); ++i) {
    EXPECT_EQ(a.cameras[i].model, b.cameras[i].model);
    EXPECT_EQ(a.cameras[i].width, b.cameras[i].width);
    EXPECT_EQ(a.cameras[i].height, b.cameras[i].height);
    EXPECT_EQ(a.cameras[i].params, b.cameras[i].params);
  }
  ASSERT_EQ(a.views.size(), b.views.size());
  for (std::size_t i = 0; i < a.views.size(); ++i) expect_same(a.views[i], b.views[i]);
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i) expect_same(a.points[i], b.points[i]);
}

class ColmapRoundTrip : public testing::TestWithParam<ColmapFormat> {};

TEST_P(ColmapRoundTrip, KeepsEveryModelNameAndPoint) {
  const TemporaryFolder folder;
  write_colmap_model(folder.path(), scene_of_all_models(), GetParam());
  expect_same(read_colmap_model(folder.path()), scene_of_all_models());
}

TEST_P(ColmapRoundTrip, WritesTheSameBytesAgain) {
  const ColmapFiles once = format_colmap_model(scene_of_all_models(), GetParam());
  const ColmapFiles twice = format_colmap_model(parse_colmap_model(once, GetParam()), GetParam());
  EXPECT_EQ(once.cameras.bytes, twice.cameras.bytes);
  EXPECT_EQ(once.images.bytes, twice.images.bytes);
  EXPECT_EQ(once.points->bytes, twice.points->bytes);
}

TEST_P(ColmapRoundTrip, ReplacesAModelOfTheOtherFormat) {
  const TemporaryFolder folder;
  const auto other = GetParam() == ColmapFormat::kText ? ColmapFormat::kBinary : ColmapFormat::kText;
  Scene stale = scene_of_all_models();
  stale.views[0].name = "a stale photo.jpg";
  write_colmap_model(folder.path(), stale, other);
  write_colmap_model(folder.path(), scene_of_all_models(), GetParam());
  EXPECT_EQ(read_colmap_model(folder.path()).views[0].name, "sub folder/a photo.jpg");
}

TEST_P(ColmapRoundTrip, SortsViewsByNameAndFollowsThemInTracks) {
  Scene scene = scene_of_all_models();
  std::swap(scene.views[2].name, scene.views[9].name);
  const Scene read = parse_colmap_model(format_colmap_model(scene, GetParam()), GetParam());
  EXPECT_EQ(read.views[2].id, 23u);
  EXPECT_EQ(read.views[9].id, 44u);
  EXPECT_EQ(read.points[0].track[0].view, 2);
  EXPECT_EQ(read.points[1].track[1].view, 9);
}

INSTANTIATE_TEST_SUITE_P(Formats, ColmapRoundTrip,
                         testing::Values(ColmapFormat::kText, ColmapFormat::kBinary), [](const auto& test) {
                           return test.param == ColmapFormat::kText ? "Text" : "Binary";
                         });

TEST(FindModel, TakesSparseBeforeSparse0AndSaysWhatItLookedFor) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of<InputError>([&] { find_model(folder / "absent"); }),
              testing::HasSubstr("no such folder"));
  EXPECT_THAT(message_of<InputError>([&] { find_model(folder.path()); }), testing::HasSubstr("sparse/0/"));
  EXPECT_THAT(message_of<InputError>([&] { find_images(folder.path()); }), testing::HasSubstr("images/"));
  spill(folder / "sparse/0/cameras.bin", "");
  EXPECT_EQ(find_model(folder.path()), folder / "sparse/0");
  spill(folder / "sparse/cameras.txt", "");
  EXPECT_EQ(find_model(folder.path()), folder / "sparse");
  std::filesystem::create_directory(folder / "images");
  EXPECT_EQ(find_images(folder.path()), folder / "images");
}

}  // namespace
}  // namespace recon
