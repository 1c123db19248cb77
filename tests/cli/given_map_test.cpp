// Depth maps of other programs: all formats give the cloud of the program's own maps; what is missing or
// wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "cli/given_map_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A map as numpy.save writes it.
template <class T>
std::string npy_of(const std::string& type, const Image<float>& map) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                       std::to_string(map.height()) + ", " + std::to_string(map.width()) + "), }";
  header.append(117 - header.size(), ' ').append("\n");
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x) {
      const T value = map(x, y);
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  return bytes;
}

/// The share of the points of a cloud that lie within `distance` of a point of another one.
double share_near(const PlyCloud& cloud, const PlyCloud& other, double distance) {
  std::size_t near = 0;
  for (const Vec3d& p : cloud.positions)
    near +=
        std::ranges::any_of(other.positions, [&](const Vec3d& q) { return norm(p - q) < distance; }) ? 1 : 0;
  return static_cast<double>(near) / static_cast<double>(cloud.positions.size());
}

TEST_F(GivenDepthMaps, OfFloatsGiveTheCloudOfTheOwnOnesByteForByte) {
  const std::string expected = own_cloud();
  ASSERT_FALSE(expected.empty());
  const auto expect_cloud = [&](const char* what) {
    const Outcome outcome = fuse({"--overwrite"});
    EXPECT_EQ(outcome.exit_code, 0) << what << outcome.err;
    EXPECT_EQ(cloud(), expected) << what;
    fs::remove_all(maps());
    fs::create_directories(maps());
  };
  for (const std::string& view : kNames)
    set_content(maps() / (view + ".png.photometric.bin"), own_bytes(view));
  expect_cloud("as COLMAP names them");
  give_own_maps();
  expect_cloud("without the ending of the photo");
  for (const std::string& view : kNames) write_pfm(maps() / (view + ".pfm"), own_map(view).view());
  expect_cloud("PFM");
  for (const std::string& view : kNames)
    set_content(maps() / (view + ".png.npy"), npy_of<float>("<f4", own_map(view)));
  expect_cloud("float32 of NumPy");
  for (const std::string& view : kNames)
    set_content(maps() / (view + ".npy"), npy_of<double>("<f8", own_map(view)));
  expect_cloud("float64 of NumPy");
  const Outcome workspace = run({"--depth-maps", own().string(), "--overwrite"});
  EXPECT_EQ(workspace.exit_code, 0) << "a workspace is found by its depth_maps: " << workspace.err;
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  EXPECT_THAT(report.at("options").dump(), AllOf(HasSubstr("depth-maps"), Not(HasSubstr("window"))));
}

TEST_F(GivenDepthMaps, Of16BitsGiveNearlyTheSameCloud) {
  for (const std::string& view : kNames) {
    const Image<float> map = own_map(view);
    Image<std::uint16_t> levels(map.width(), map.height());
    for (int y = 0; y < map.height(); ++y)
      for (int x = 0; x < map.width(); ++x)
        levels(x, y) = static_cast<std::uint16_t>(std::isnan(map(x, y)) ? 0 : std::lround(map(x, y) / 5e-4f));
    write_png16(maps() / (view + ".png"), levels.view());
  }
  const Outcome without = fuse();
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err,
              AllOf(HasSubstr("--depth-unit is needed: "), HasSubstr("view00.png holds whole numbers")));
  EXPECT_FALSE(fs::exists(dense()));
  const Outcome outcome = fuse({"--depth-unit", "0.0005"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const PlyCloud mine = read_ply(own() / "fused.ply"), theirs = read_ply(dense() / "fused.ply");
  EXPECT_GT(share_near(mine, theirs, 2e-3), 0.94);  // rounded depths give slightly other planes
  EXPECT_GT(share_near(theirs, mine, 2e-3), 0.94);
}

TEST_F(GivenDepthMaps, HaveConfidencesThatCountForDepthsOfOneView) {
  give_own_maps();
  const std::vector<std::string> lone = {"--min-lone-confidence", "0.5", "--scene-planes", "0",
                                         "--overwrite"};
  std::vector<std::string> own_lone = {"-o",  own().string(),   "--min-lone-confidence",
                                       "0.5", "--scene-planes", "0"};
  ASSERT_EQ(run(own_lone).exit_code, 0);
  for (const std::string& view : kNames)
    fs::copy_file(own() / "stereo/confidence_maps" / (view + ".png.photometric.png"),
                  maps() / (view + ".confidence.png"));
  ASSERT_EQ(fuse(lone).exit_code, 0);
  EXPECT_EQ(cloud(), own_cloud());
  const std::size_t size = cloud().size();
  for (const std::string& view : kNames) fs::remove(maps() / (view + ".confidence.png"));
  ASSERT_EQ(fuse(lone).exit_code, 0);
  EXPECT_GT(cloud().size(), size) << "without confidences, all are sure";
  for (const std::string& view : kNames)
    set_content(maps() / (view + ".confidence.npy"), npy_of<float>("<f4", Image<float>(96, 72, 0.0f)));
  ASSERT_EQ(fuse(lone).exit_code, 0);
  EXPECT_LT(cloud().size(), size);
}

TEST_F(GivenDepthMaps, OfAWorkspaceHaveItsConfidencesHoweverItIsNamed) {
  const std::vector<std::string> lone = {"--min-lone-confidence", "0.5", "--overwrite"};
  ASSERT_EQ(run({"-o", own().string(), "--min-lone-confidence", "0.5"}).exit_code, 0);
  const fs::path folder_of_maps = own() / "stereo/depth_maps";
  for (const std::string& view : kNames) fs::remove(folder_of_maps / (view + ".png.geometric.bin"));
  const auto expect_cloud_of = [&](const std::string& named) {
    std::vector<std::string> words = {"--depth-maps", named};
    words.insert(words.end(), lone.begin(), lone.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << named << outcome.err;
    EXPECT_TRUE(cloud() == own_cloud()) << named;
  };
  expect_cloud_of(folder_of_maps.string());
  expect_cloud_of(folder_of_maps.string() + "/");
  expect_cloud_of(folder_of_maps.string() + "//.");
  expect_cloud_of(own().string() + "/");
  fs::create_directory_symlink(folder_of_maps, folder() / "link");
  expect_cloud_of((folder() / "link").string());
  const fs::path elsewhere = folder() / "elsewhere";
  fs::create_directories(elsewhere);
  for (const std::string& view : kNames) {
    const fs::path map = folder_of_maps / (view + ".png.photometric.bin");
    fs::rename(map, elsewhere / (view + ".bin"));
    fs::create_symlink(elsewhere / (view + ".bin"), map);
  }
  expect_cloud_of(folder_of_maps.string());
}

TEST_F(GivenDepthMaps, AreSampledInTheSizeOfTheImages) {
  for (const std::string& view : kNames) {
    const Image<float> map = own_map(view);
    Image<float> twice(2 * map.width(), 2 * map.height());
    for (int y = 0; y < twice.height(); ++y)
      for (int x = 0; x < twice.width(); ++x) twice(x, y) = map(x / 2, y / 2);
    write_pfm(maps() / (view + ".pfm"), twice.view());
  }
  ASSERT_EQ(fuse().exit_code, 0);
  EXPECT_EQ(cloud(), own_cloud());
  write_pfm(maps() / "view01.pfm", Image<float>(72, 96, 3.0f).view());
  const Outcome other = fuse({"--overwrite"});
  EXPECT_EQ(other.exit_code, 7);
  EXPECT_THAT(other.err,
              HasSubstr("view01.pfm: the map has 72x96 pixels, but the undistorted image of view01.png has "
                        "96x72; give a map of the undistorted image"));
}

TEST_F(GivenDepthMaps, ThatChangeAreDoneAgainAndNoOthers) {
  give_own_maps();
  ASSERT_EQ(fuse().exit_code, 0);
  const Outcome same = fuse();
  EXPECT_THAT(same.err, AllOf(HasSubstr("depth maps: 5 of 5 views are finished and kept"),
                              HasSubstr("the cloud is finished and kept")));
  std::string changed = own_bytes("view02");
  std::memset(changed.data() + changed.size() / 2, 0, 400);
  set_content(maps() / "view02.bin", changed);
  const Outcome again = fuse();
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, AllOf(HasSubstr("depth maps: 4 of 5 views are finished and kept"),
                               HasSubstr("the stale view view02.png is done again: another given map"),
                               HasSubstr("the stale cloud is made again")));
  EXPECT_NE(cloud(), own_cloud());
  const Outcome estimated = run({});
  EXPECT_EQ(estimated.exit_code, 0);
  EXPECT_THAT(estimated.err, HasSubstr("--depth-maps gave the map"));
  EXPECT_EQ(cloud(), own_cloud());
  set_content(maps() / "view02.bin", own_bytes("view02"));
  ASSERT_EQ(fuse({"--stage", "estimate"}).exit_code, 0);
  ASSERT_EQ(fuse({"--stage", "fuse"}).exit_code, 0);
  EXPECT_EQ(cloud(), own_cloud());
}

TEST_F(GivenDepthMaps, OfSomeViewsAreFusedWithAWarning) {
  give_own_maps();
  fs::remove(maps() / "view03.bin");
  const Outcome outcome = fuse();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("warning: --depth-maps " + maps().string() +
                                     ": 1 of 5 views has no depth map there, such as view03.png"));
  EXPECT_FALSE(fs::exists(dense() / "stereo/depth_maps/view03.png.geometric.bin"));
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  EXPECT_EQ(report.at("warnings").size(), 1u);
  // One that is damaged fails; the others are fused.
  set_content(maps() / "view03.bin", own_bytes("view03").substr(0, 999));
  const Outcome damaged = fuse();
  EXPECT_EQ(damaged.exit_code, 7);
  EXPECT_THAT(damaged.err,
              HasSubstr("view03.png failed: " + (maps() / "view03.bin").string() + ": byte 0: "));
  // As does what cannot be read at all.
  const auto replace_by = [&](const auto& make) {
    fs::remove(maps() / "view03.bin");
    make(maps() / "view03.bin");
  };
  replace_by([](const fs::path& file) { ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0); });
  const Outcome pipe = fuse();
  EXPECT_EQ(pipe.exit_code, 7);
  EXPECT_THAT(pipe.err, HasSubstr("view03.png failed: " + (maps() / "view03.bin").string() + ": "));
  replace_by([](const fs::path& file) { fs::create_symlink("nowhere", file); });
  const Outcome dangling = fuse();
  EXPECT_EQ(dangling.exit_code, 7);
  EXPECT_THAT(dangling.err, HasSubstr("view03.png failed: " + (maps() / "view03.bin").string() + ": "));
  replace_by([&](const fs::path& file) { set_content(file, own_bytes("view03")); });
  ::mkfifo((maps() / "view03.confidence.png").c_str(), 0600);
  EXPECT_EQ(fuse().exit_code, 7);
  fs::remove_all(maps());
  const Outcome nowhere = fuse();
  EXPECT_EQ(nowhere.exit_code, 3);
  EXPECT_THAT(nowhere.err, HasSubstr("--depth-maps: there is no folder '" + maps().string() + "'\n"));
  EXPECT_THAT(
      run({"--depth-maps", "nowhere"}).err,
      HasSubstr("--depth-maps: there is no folder 'nowhere', neither in " + scene().string() + " nor in "));
  fs::create_symlink(maps(), maps());
  const Outcome loop = fuse();
  EXPECT_EQ(loop.exit_code, 3);
  EXPECT_THAT(loop.err, HasSubstr("--depth-maps: the folder " + maps().string() +
                                  " cannot be read: Too many levels of symbolic links"));
  fs::remove(maps());
  set_content(maps(), "no folder");
  EXPECT_THAT(fuse().err, HasSubstr("--depth-maps has to be a folder of depth maps"));
  fs::remove(maps());
  fs::create_directories(maps());
  const Outcome none = fuse();
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("there is no depth map of any of the 5 views; that of view00.png would be "
                                  "view00.png.geometric.bin, or end with .photometric.bin, .bin, .pfm, .npy, "
                                  ".depth.npy, .png, .exr"));
}

TEST_F(GivenDepthMaps, ArePlannedByTheirHeaders) {
  give_own_maps();
  const Outcome right = fuse({"--dry-run"});
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_THAT(right.out, HasSubstr("\n  depth maps: of 5 of 5 views\n"));
  EXPECT_THAT(right.err, Not(HasSubstr("warning")));
  set_content(maps() / "view01.bin", own_bytes("view01").substr(0, 999));
  set_content(maps() / "view03.bin", "72&96&1&" + own_bytes("view03").substr(8));
  write_image(maps() / "view04.confidence.png", Image<std::uint8_t>(10, 72, 100).view());
  const Outcome faulty = fuse({"--dry-run", "--json"});
  EXPECT_EQ(faulty.exit_code, 7);
  const auto left_out = faulty.json().at("scenes")[0].at("left_out");
  ASSERT_EQ(left_out.size(), 3u);
  const Outcome run = fuse();  // fails with the same words
  EXPECT_EQ(run.exit_code, 7);
  for (const auto& view : left_out)
    EXPECT_THAT(run.err, HasSubstr(view.at("name").get<std::string>() +
                                   " failed: " + view.at("reason").get<std::string>() + "\n"));
  const Outcome text = fuse({"--dry-run"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("\n  depth maps: of 2 of 5 views\n"),
                              HasSubstr("\n  left out: view01.png view03.png view04.png\n")));
  const std::string why = (maps() / "view03.bin").string() + ": the map has 72x96 pixels";
  EXPECT_THAT(text.err, HasSubstr("view03.png will fail: " + why));
  EXPECT_THAT(text.out, Not(HasSubstr(why))) << "it is said once";
  for (const std::string& view : kNames) set_content(maps() / (view + ".bin"), "");
  const Outcome none = fuse({"--dry-run"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("none of the given depth maps can be used: view0"));
  for (const std::string& view : kNames) {
    fs::remove(maps() / (view + ".bin"));
    write_pfm(maps() / (view + ".pfm"), Image<float>(48, 36, 3.0f).view());
  }
  fs::remove(maps() / "view04.confidence.png");
  EXPECT_THAT(fuse({"--dry-run"}).err, HasSubstr("fewer pixels than the images, such as 48x36 for "));
}

TEST_F(GivenDepthMaps, ThatAllFailAreNamedInsteadOfTheMatching) {
  for (const std::string& view : kNames)
    set_content(maps() / (view + ".bin"), own_bytes(view).substr(0, 999));
  const Outcome outcome = fuse();
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("none of the given depth maps can be used: view0"),
                                 HasSubstr(".bin: byte 0: "), Not(HasSubstr("texture"))));
  for (const std::string& view : kNames)
    write_pfm(maps() / (view + ".pfm"), Image<float>(96, 72, kUnknown).view());
  const auto remove_maps = [&](const char* ending) {
    for (const std::string& view : kNames) fs::remove(maps() / (view + ending));
  };
  remove_maps(".bin");
  const Outcome empty = fuse({"--overwrite"});
  EXPECT_EQ(empty.exit_code, 3);
  EXPECT_THAT(empty.err,
              AllOf(HasSubstr("the given depth maps have next to no depth"), Not(HasSubstr("texture"))));
  remove_maps(".pfm");
  for (const std::string& view : kNames)
    write_image(maps() / (view + ".png"), Image<std::uint8_t>(96, 72, 100).view());
  const Outcome of_8_bits = fuse({"--overwrite", "--depth-unit", "1"});
  EXPECT_EQ(of_8_bits.exit_code, 3);
  EXPECT_THAT(of_8_bits.err, AllOf(HasSubstr("has samples of 8 bits; a 16-bit grey PNG is needed"),
                                   Not(HasSubstr("--min-fused-views"))));
}

TEST_F(GivenDepthMaps, ThatAreTooLargeForTheMemoryFailAlone) {
  give_own_maps();
  set_content(maps() / "view01.bin", "4800&3600&1&");
  fs::resize_file(maps() / "view01.bin", 12 + std::uintmax_t{4} * 4800 * 3600);
  const std::string reason =
      (maps() / "view01.bin").string() + ": reading the map takes up to 131.8 MiB of memory, and one of ";
  const Outcome dry = fuse({"--memory-limit", "180MiB", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 7);
  EXPECT_THAT(dry.err, HasSubstr(reason));
  const Outcome outcome = fuse({"--memory-limit", "180MiB"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("view01.png failed: " + reason), Not(HasSubstr("--max-image-size"))));
  EXPECT_LT(outcome.peak_bytes, std::size_t{180} << 20);
}

TEST_F(GivenDepthMaps, KeepOutWhatMasksAndBoundsKeepOut) {
  give_own_maps();
  Image<std::uint8_t> mask(96, 72, 255);
  for (int y = 0; y < 72; ++y)
    for (int x = 0; x < 48; ++x) mask(x, y) = 0;
  fs::create_directories(scene() / "masks");
  write_image(scene() / "masks/view00.png.png", mask.view());
  ASSERT_EQ(fuse({"--depth-max", "4"}).exit_code, 0);
  const Image<float> map = read_depth_map(dense() / "stereo/depth_maps/view00.png.photometric.bin");
  int known = 0;
  for (int y = 0; y < 72; ++y)
    for (int x = 0; x < 96; ++x) {
      if (std::isnan(map(x, y))) continue;
      ++known;
      EXPECT_GE(x, 48);
      EXPECT_LE(map(x, y), 4);
    }
  EXPECT_GT(known, 100);
  const Outcome other = fuse({"--depth-max", "5"});
  EXPECT_THAT(other.err, HasSubstr("depth maps: 5 stale views are done again"));
}

TEST_F(GivenDepthMaps, LeaveNothingToOptionsOfTheEstimation) {
  give_own_maps();
  const auto refusal = [&](const std::vector<std::string>& more) {
    const Outcome outcome = fuse(more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    return outcome.err;
  };
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--window", "7"},
                                               {"--method", "sgm"},
                                               {"--planes", "64"},
                                               {"--refine", "none"}})
    EXPECT_THAT(refusal(more), HasSubstr(more[0] + " has no meaning with --depth-maps"));
  EXPECT_THAT(refusal({"-o", folder().string(), "--overwrite"}), HasSubstr("lies in the output folder"));
  const Outcome unit = run({"--depth-unit", "0.001"});
  EXPECT_EQ(unit.exit_code, 2);
  EXPECT_THAT(unit.err, HasSubstr("--depth-unit has a meaning with --depth-maps only"));
  EXPECT_THAT(refusal({"--depth-unit", "0"}), HasSubstr("--depth-unit is 0; it must lie between"));
  const Outcome plan = fuse({"--dry-run"});
  EXPECT_EQ(plan.exit_code, 0);
  EXPECT_THAT(plan.out, HasSubstr("given"));
}

TEST_F(GivenDepthMaps, OfAPhotoWithDistortionAreNotThoseOfItsUndistortedImage) {
  give_own_maps();
  Scene model = this->model();
  const std::vector<double> pinhole = model.cameras.front().params;
  model.cameras.front().model = CameraModel::kSimpleRadial;
  model.cameras.front().params = {pinhole[0], pinhole[2], pinhole[3], 0.3};
  for (View& view : model.views) view.observations.clear();
  model.points.clear();
  set_model(model);
  const Outcome outcome = fuse();
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(
      outcome.err,
      HasSubstr("view00.bin: the map has 96x72 pixels, but the undistorted image of view00.png has "));
  EXPECT_THAT(outcome.err,
              HasSubstr(", the map is of the photo itself; give a map of the undistorted image"));
}

TEST_F(GivenDepthMaps, OfViewsInFoldersLieInFoldersToo) {
  Scene model = this->model();
  fs::create_directories(scene() / "images/left");
  for (View& view : model.views) {
    fs::rename(scene() / "images" / view.name, scene() / "images/left" / view.name);
    view.name = "left/" + view.name;
  }
  set_model(model);
  fs::create_directories(maps() / "left");
  for (const std::string& view : kNames) set_content(maps() / "left" / (view + ".bin"), own_bytes(view));
  ASSERT_EQ(fuse().exit_code, 0);
  EXPECT_EQ(cloud(), own_cloud());
}

}  // namespace
}  // namespace recon
