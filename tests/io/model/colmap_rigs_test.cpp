// Rigs and frames as COLMAP documents them (doc/format.rst, "rigs.txt" and "frames.txt").

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "io/error_message.hpp"
#include "io/model/colmap_in_memory.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kCameras = "1 PINHOLE 4 4 5 5 2 2\n2 PINHOLE 4 4 5 5 2 2\n";
constexpr const char* kImages =
    "1 1 0 0 0 9 9 9 1 a.png\n1 1 7\n2 1 0 0 0 9 9 9 2 b.png\n1 1 7\n3 1 0 0 0 0 0 0 1 c.png\n\n";
constexpr const char* kPoints = "7 0 0 0 0 0 0 0 1 0 2 0\n";
// Camera 2 is turned by 90 degrees about y.
constexpr const char* kRigs = "# a comment\n1 3 CAMERA 1 CAMERA 2 1 1 0 -1 0 0 0 1 IMU 1 0\n";
// Frame 1: turned by 180 degrees about z and moved; frame 2: identity.
constexpr const char* kFrames =
    "5 1 0 0 0 1 1 2 3 3 CAMERA 1 1 CAMERA 2 2 IMU 1 77\n6 1 1 0 0 0 0 0 0 1 CAMERA 1 3\n";

Scene parse_rigs(const std::string& rigs, const std::string& frames, const std::string& images = kImages) {
  return parse_colmap_model({{"cameras.txt", kCameras},
                             {"images.txt", images},
                             ColmapFile{"points3D.txt", kPoints},
                             ColmapFile{"rigs.txt", rigs},
                             ColmapFile{"frames.txt", frames}},
                            ColmapFormat::kText);
}

void expect_pose(const View& view, const std::array<double, 9>& rotation, Vec3d translation) {
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(view.cam_from_world.rotation.m[i], rotation[i], 1e-15) << i;
  EXPECT_NEAR(norm(view.cam_from_world.translation - translation), 0, 1e-15) << view.name;
}

// x_cam2 = S (F x + f) + s with S = [0 0 -1; 0 1 0; 1 0 0], F = diag(-1, -1, 1), by hand.
TEST(ColmapRigs, PosesAreThoseOfTheFrameTimesThatInTheRig) {
  const Scene scene = parse_rigs(kRigs, kFrames);
  ASSERT_EQ(scene.views.size(), 3u);
  expect_pose(scene.views[0], {-1, 0, 0, 0, -1, 0, 0, 0, 1}, {1, 2, 3});
  expect_pose(scene.views[1], {0, 0, -1, 0, -1, 0, -1, 0, 0}, {-3, 2, 2});
  expect_pose(scene.views[2], {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0});
  EXPECT_THAT(scene.warnings,
              ElementsAre(AllOf(StartsWith("images.txt:1: the pose of image 1 (\"a.png\") is another"),
                                HasSubstr("so it is with 2 of 3 images: the poses of the frames"))));
}

TEST(ColmapRigs, RoundedPosesAreNoOtherOnes) {
  const Scene scene = parse_rigs(
      kRigs, kFrames,
      "1 0 0 0 1 1.0000001 2 3 1 a.png\n\n2 0 0.70710678 0 -0.70710678 -3 2 2.0000001 2 b.png\n\n");
  EXPECT_THAT(scene.warnings, ElementsAre(HasSubstr("which does not know it"))) << "of the point alone";
}

TEST(ColmapRigs, AnImageWithoutAFrameOrAPlaceInItsRigIsLeftOut) {
  const char* frames = "5 1 0 0 0 1 1 2 3 2 CAMERA 1 1 CAMERA 2 2\n";
  const Scene scene = parse_rigs("1 2 CAMERA 1 CAMERA 2 0\n", frames);
  ASSERT_EQ(scene.views.size(), 1u);
  ASSERT_EQ(scene.unusable.size(), 2u);
  EXPECT_EQ(scene.unusable[0].name, "b.png");
  EXPECT_THAT(scene.unusable[0].reason,
              StartsWith("images.txt:3: image 2 has no pose: the rigs and frames files"));
  EXPECT_EQ(scene.unusable[1].name, "c.png");
  EXPECT_THAT(scene.points[0].track, testing::SizeIs(1));
}

TEST(ColmapRigs, APoseThatIsNoneLeavesOutTheImagesOfItsFrame) {
  for (const char* pose : {"nan 0 0 1 1 2 3", "0 0 0 0 1 2 3", "1 0 0 0 1 inf 3", "1 0 0 0 1 1e999 3"}) {
    const Scene scene = parse_rigs(
        kRigs, std::string("5 1 ") + pose + " 2 CAMERA 1 1 CAMERA 2 2\n6 1 1 0 0 0 0 0 0 1 CAMERA 1 3\n");
    EXPECT_EQ(scene.views.size(), 1u) << pose;
    EXPECT_EQ(scene.unusable.size(), 2u) << pose;
  }
}

TEST(ColmapRigs, APoseOfAFrameIsUsedWhereThatOfTheImageIsNone) {
  const Scene scene = parse_rigs(kRigs, kFrames, "1 nan nan nan nan 0 0 0 1 a.png\n\n");
  ASSERT_EQ(scene.views.size(), 1u);
  EXPECT_EQ(scene.views[0].cam_from_world.translation.z, 3);
}

TEST(ColmapRigs, FaultsAreRefusedWithTheirPlace) {
  const auto refusal = [](const char* rigs, const char* frames) {
    return message_of<InputError>([&] { parse_rigs(rigs, frames); });
  };
  EXPECT_THAT(refusal("1 2 CAMERA 1 CAMERA\n", kFrames),
              StartsWith("rigs.txt:1: the line ends where SENSOR_ID"));
  EXPECT_THAT(refusal("1 4000000000 CAMERA 1\n", kFrames),
              StartsWith("rigs.txt:1: the line ends where SENSOR_TYPE"));
  EXPECT_THAT(refusal(kRigs, "x\n"), StartsWith("frames.txt:1: FRAME_ID is \"x\""));
  EXPECT_THAT(refusal(kRigs, "5 1 1 0 0 0 0 0 0 1 CAMERA 1 1\n6 1 1 0 0 0 0 0 0 1 CAMERA 1 1\n"),
              StartsWith("frames.txt:2: image 1 is in two frames"));
}

template <class... T>
std::string bytes_of(T... values) {
  std::string bytes;
  const auto add = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  (add(values), ...);
  return bytes;
}

using U32 = std::uint32_t;
using U64 = std::uint64_t;
constexpr std::int32_t kCamera = 0, kImu = 1;

std::string binary_rigs() {
  return bytes_of(U64{1}, U32{1}, U32{3}, kCamera, U32{1}, kCamera, U32{2}, char{1}, 1.0, 0.0, -1.0, 0.0, 0.0,
                  0.0, 1.0, kImu, U32{1}, char{0});
}
std::string binary_frames() {
  return bytes_of(U64{2}, U32{5}, U32{1}, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, U32{3}, kCamera, U32{1}, U64{1},
                  kCamera, U32{2}, U64{2}, kImu, U32{1}, U64{77}) +
         bytes_of(U32{6}, U32{1}, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, U32{1}, kCamera, U32{1}, U64{3});
}

/// The model of `kImages` in the binary format.
ColmapFiles binary_model(const std::string& rigs, const std::string& frames) {
  ColmapFiles files = format_colmap_model(
      parse_colmap_model(
          {{"cameras.txt", kCameras}, {"images.txt", kImages}, ColmapFile{"points3D.txt", kPoints}},
          ColmapFormat::kText),
      ColmapFormat::kBinary);
  files.rigs = ColmapFile{"rigs.bin", rigs};
  files.frames = ColmapFile{"frames.bin", frames};
  return files;
}

TEST(ColmapRigs, BytesAreReadAsTextIs) {
  const Scene text = parse_rigs(kRigs, kFrames),
              binary =
                  parse_colmap_model(binary_model(binary_rigs(), binary_frames()), ColmapFormat::kBinary);
  ASSERT_EQ(binary.views.size(), text.views.size());
  for (std::size_t v = 0; v < text.views.size(); ++v) {
    const Pose &a = text.views[v].cam_from_world, &b = binary.views[v].cam_from_world;
    EXPECT_TRUE(std::equal(a.rotation.m, a.rotation.m + 9, b.rotation.m));
    EXPECT_EQ(norm(a.translation - b.translation), 0);
  }
  EXPECT_THAT(binary.warnings, ElementsAre(StartsWith("images.bin: byte 8: the pose of image 1")));
}

TEST(ColmapRigs, EveryTruncationIsRefused) {
  const std::string rigs = binary_rigs(), frames = binary_frames();
  const auto refusal = [](const std::string& cut_rigs, const std::string& cut_frames) {
    return message_of<InputError>(
        [&] { parse_colmap_model(binary_model(cut_rigs, cut_frames), ColmapFormat::kBinary); });
  };
  for (std::size_t length = 0; length < rigs.size(); ++length)
    ASSERT_THAT(refusal(rigs.substr(0, length), frames),
                AllOf(StartsWith("rigs.bin"), HasSubstr("truncated")));
  for (std::size_t length = 0; length < frames.size(); ++length)
    ASSERT_THAT(refusal(rigs, frames.substr(0, length)),
                AllOf(StartsWith("frames.bin"), HasSubstr("truncated")));
  std::string absurd = frames;
  absurd.replace(8 + 4 + 4 + 56, 4, "\xFF\xFF\xFF\xFF");
  EXPECT_THAT(refusal(rigs, absurd),
              AllOf(StartsWith("frames.bin: byte 72: 4294967295 images"), HasSubstr("truncated")));
}

TEST(ColmapRigs, FilesOfAFolderAreUsedTogether) {
  const TemporaryFolder folder;
  const auto read = [&] { return read_colmap_model(folder.path()); };
  const auto write = [&](const char* name, const char* text) { spill(folder / name, text); };
  write("cameras.txt", kCameras), write("images.txt", kImages), write("points3D.txt", kPoints);
  write("rigs.txt", kRigs);
  EXPECT_EQ(read().views[0].cam_from_world.translation.z, 9);
  EXPECT_THAT(read().warnings, IsEmpty());
  write("frames.txt", kFrames);
  EXPECT_EQ(read().views[0].cam_from_world.translation.z, 3);
  std::filesystem::remove(folder / "rigs.txt");
  EXPECT_EQ(read().views[0].cam_from_world.translation.z, 9);
  EXPECT_THAT(read().warnings, ElementsAre(HasSubstr("frames.txt: there is no rigs.txt beside it")));
}

}  // namespace
}  // namespace recon
