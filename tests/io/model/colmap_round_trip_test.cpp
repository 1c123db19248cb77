#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/error_message.hpp"
#include "io/model/colmap_in_memory.hpp"
#include "io/model/colmap_model.hpp"
#include "io/model/scene_comparison.hpp"
#include "io/model/scene_samples.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

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

TEST_P(ColmapRoundTrip, SortsViewsByNameAndFollowsThemInTracks) {
  Scene scene = scene_of_all_models();
  std::swap(scene.views[2].name, scene.views[9].name);
  const Scene read = parse_colmap_model(format_colmap_model(scene, GetParam()), GetParam());
  EXPECT_EQ(read.views[2].id, 23u);
  EXPECT_EQ(read.views[9].id, 44u);
  EXPECT_EQ(read.points[0].track[0].view, 2);
  EXPECT_EQ(read.points[1].track[1].view, 9);
}

// More than is read at a time; lines and records cross the boundaries of the pieces.
TEST_P(ColmapRoundTrip, OfAModelThatIsReadInPieces) {
  Scene scene = scene_of_all_models();
  for (View& view : scene.views)
    for (int i = 0; i < 20000; ++i) view.observations.push_back({{i + 0.125, i / 3.0}, kNoPoint});
  const TemporaryFolder folder;
  write_colmap_model(folder.path(), scene, GetParam());
  expect_same(read_colmap_model(folder.path()), scene);
  // The bytes equal those of the whole model in memory.
  const ColmapFiles files = format_colmap_model(scene, GetParam());
  EXPECT_TRUE(slurp(folder / files.images.name) == files.images.bytes);
}

TEST_P(ColmapRoundTrip, StopsBeforeTheMemoryLimit) {
  Scene scene = scene_of_all_models();
  for (int i = 0; i < 10000; ++i) scene.views[0].observations.push_back({{1, 2}, kNoPoint});
  const TemporaryFolder folder;
  write_colmap_model(folder.path(), scene, GetParam());
  EXPECT_EQ(read_colmap_model(folder.path(), 400000).views.size(), scene.views.size());
  const std::string message = message_of<OutOfMemory>([&] { read_colmap_model(folder.path(), 200000); });
  EXPECT_THAT(message, testing::HasSubstr("images."));
  EXPECT_THAT(message, testing::HasSubstr("--memory-limit"));
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
  const auto add_model = [&](const std::string& place, const std::string& extension) {
    for (const char* file : {"/cameras", "/images"}) spill(folder / (place + file + extension), "");
  };
  spill(folder / "sparse/cameras.txt", "");  // without images
  EXPECT_EQ(find_model_folder(folder.path()), std::nullopt);
  for (const char* place : {"sparse/10", "sparse/2", "sparse/1x", "sparse/extra"}) add_model(place, ".txt");
  EXPECT_EQ(find_model(folder.path()), folder / "sparse/2");
  add_model("sparse/0", ".bin");
  EXPECT_EQ(find_model(folder.path()), folder / "sparse/0");
  add_model("sparse", ".txt");
  EXPECT_EQ(find_model(folder.path()), folder / "sparse");
  std::filesystem::create_directory(folder / "images");
}

TEST(FindModel, TakesTheLargestOfSeveral) {
  const TemporaryFolder folder;
  const auto binary_count = [](char count) { return std::string(1, count) + std::string(7, '\0'); };
  const auto add_model = [&](const std::string& place, const std::string& extension,
                             const std::string& images) {
    spill(folder / ("sparse/" + place + "/cameras" + extension), "");
    spill(folder / ("sparse/" + place + "/images" + extension), images);
  };
  const std::string view = " 1 0 0 0 0 0 0 1 a.png\n", observation = "1 1 -1\n";
  add_model("0", ".bin", binary_count(2));
  EXPECT_EQ(find_model_folders(folder.path()).at(0).images, 0u) << "the only one is not opened";
  add_model("1", ".txt", "# Image list\n1" + view + observation + "2" + view + "\n3" + view);
  add_model("2", ".bin", binary_count(3));
  add_model("3", ".bin", "cut");
  const std::vector<ModelFolder> found = find_model_folders(folder.path());
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].path, folder / "sparse/1") << "of equal ones the first";
  EXPECT_EQ(found[0].images, 3u);
  EXPECT_EQ(found[1].path, folder / "sparse/2");
  EXPECT_EQ(found[2].path, folder / "sparse/0");
  EXPECT_EQ(found[2].images, 2u);
  EXPECT_EQ(found[3].images, 0u);
}

}  // namespace
}  // namespace recon
