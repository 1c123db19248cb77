#include "io/cloud/ply_tiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "io/cloud/naive_tiles.hpp"
#include "io/cloud/ply.hpp"
#include "io/error_message.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PlyTiles : public testing::Test {
 protected:
  fs::path cloud() const { return folder_ / "fused.ply"; }
  fs::path tiles() const { return folder_ / "tiles"; }

  void write(const std::vector<Vec3d>& positions, const PlyCoordinates& type = {}) const {
    PlyWriter writer(cloud(), type);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      PlyPoint point;
      point.position = positions[i];
      point.normal = {0, 0, static_cast<float>(i)};  // no two points are the same
      point.colour = {static_cast<std::uint8_t>(i), 2, 3};
      point.confidence = 0.5f;
      writer.add(point);
    }
    writer.commit();
  }

  void write_random(int count, Vec3d centre, double extent, const PlyCoordinates& type = {}) const {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> offset(-extent / 2, extent / 2);
    std::vector<Vec3d> positions;
    for (int i = 0; i < count; ++i)
      positions.push_back(centre + Vec3d{offset(random), offset(random), offset(random)});
    write(positions, type);
  }

  std::vector<std::string> names(double size) const {
    std::vector<std::string> all;
    std::vector<std::string> claimed;
    for (const PlyTile& tile :
         divide_ply(cloud(), size, tiles(), [&](const auto& files) { claimed = files; }))
      all.push_back(tile.name);
    EXPECT_EQ(claimed, all);
    return all;
  }

  const TemporaryFolder folder_;
};

TEST_F(PlyTiles, HaveEveryPointOnceOnBothSidesOfTheOrigin) {
  // More than a chunk of the reader.
  write_random(70000, {0.3, -0.2, 0}, 10);
  EXPECT_EQ(names(0.5).size(), 21u * 21);
  expect_divided(cloud(), tiles(), 0.5);
}

TEST_F(PlyTiles, KeepTheDigitsOfGeographicCoordinates) {
  write_random(3000, {412345.678, 5651234.5, 120}, 400, {PlyPosition::kDouble});
  EXPECT_THAT(names(100), testing::Contains("412300_5651200.ply"));
  expect_divided(cloud(), tiles(), 100);
  EXPECT_TRUE(NaiveCloud(tiles() / "412300_5651200.ply").is_double);
}

TEST_F(PlyTiles, AreNamedByTheCoordinatesBeforeAnOffset) {
  write_random(3000, {412345.678, 5180034.5, 120}, 400, {PlyPosition::kFloat, {412000, 5180000, -3.5}});
  EXPECT_THAT(names(100), testing::Contains("412300_5180000.ply"));
  expect_divided(cloud(), tiles(), 100);
  const NaiveCloud tile(tiles() / "412300_5180000.ply");
  EXPECT_FALSE(tile.is_double);
  EXPECT_EQ(tile.offset, (std::array<double, 3>{412000, 5180000, -3.5}));
  for (const Vec3d& position : read_ply(tiles() / "412300_5180000.ply").positions)
    EXPECT_TRUE(position.x >= 412300 && position.x < 412400 && position.y >= 5180000 && position.y < 5180100);
}

TEST_F(PlyTiles, HaveNamesWithoutWhatAProductRounds) {
  write({{0.35, -0.25, 9}});
  EXPECT_THAT(names(0.1), ElementsAre("0.3_m0.3.ply"));
}

TEST_F(PlyTiles, HaveTheirLowerBoundsAndNotTheUpper) {
  write({{0, 0, 9}, {2, 0, 9}, {-2, -0.0, 9}, {1.99, -2, 9}, {-2.01, 3.99, 9}, {1, 1, 9}});
  EXPECT_THAT(names(2), ElementsAre("m4_2.ply", "m2_0.ply", "0_m2.ply", "0_0.ply", "2_0.ply"));
  expect_divided(cloud(), tiles(), 2);
}

TEST_F(PlyTiles, OneTileHasTheBytesOfTheCloud) {
  write_random(200, {5, 5, 5}, 1);
  const std::vector<PlyTile> written = divide_ply(cloud(), 1000, tiles());
  ASSERT_EQ(written.size(), 1u);
  EXPECT_EQ(written[0].name, "0_0.ply");
  EXPECT_EQ(written[0].identity, identify_file(cloud()));
  EXPECT_EQ(written[0].identity, identify_file(tiles() / "0_0.ply"));
  EXPECT_EQ(slurp(tiles() / "0_0.ply"), slurp(cloud()));
}

TEST_F(PlyTiles, OfTooSmallASizeAreRefusedWithOneThatDoes) {
  write_random(20000, {100, 100, 0}, 8);
  const std::string message = message_of<UsageError>([&] { divide_ply(cloud(), 0.001, tiles()); });
  EXPECT_THAT(message, AllOf(HasSubstr("fused.ply: --tile 0.001 would divide the cloud of 7.99"),
                             HasSubstr("into more than 10000 tiles; give at least 0.085")));
  for (const double size : {1e-17, 1e-320})
    EXPECT_THAT(message_of<UsageError>([&] { divide_ply(cloud(), size, tiles()); }),
                HasSubstr("give at least 0.085"));
  EXPECT_FALSE(fs::exists(tiles()));
  std::set<std::pair<double, double>> least;
  const NaiveCloud whole(cloud());
  for (const std::string& point : whole.points)
    least.emplace(std::floor(whole.coordinate(point, 0) / 0.085),
                  std::floor(whole.coordinate(point, 1) / 0.085));
  EXPECT_LE(least.size(), kMaxPlyTiles);
  EXPECT_GT(least.size(), kMaxPlyTiles / 2) << "the advice is far too large";
}

int faults_left = 0;

/// A failure leaves complete tiles alone, and no temporary file.
TEST_F(PlyTiles, AppearUnderTheirNamesWhenComplete) {
  write_random(500, {0, 0, 0}, 2);
  ASSERT_EQ(names(1).size(), 4u);
  std::map<std::string, std::string> expected;
  for (const auto& entry : fs::directory_iterator(tiles()))
    expected[entry.path().filename()] = slurp(entry.path());
  for (const FaultPoint point : {FaultPoint::kFileWrite, FaultPoint::kFileCommit}) {
    fs::remove_all(tiles());
    static FaultPoint failing;
    failing = point;
    faults_left = 3;
    set_fault_handler([](FaultPoint at) {
      if (at == failing && --faults_left == 0) throw OutputError("injected");
    });
    EXPECT_THROW(divide_ply(cloud(), 1, tiles()), OutputError);
    set_fault_handler(nullptr);
    std::size_t complete = 0;
    for (const auto& entry : fs::directory_iterator(tiles())) {
      EXPECT_EQ(slurp(entry.path()), expected[entry.path().filename()]) << entry.path();
      ++complete;
    }
    EXPECT_GT(complete, 0u);
    EXPECT_LT(complete, 4u);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 3)
        << "the two files of the cloud and the folder of the tiles";
  }
}

std::size_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) << 10;
}

TEST_F(PlyTiles, OfALargeCloudTakeLittleMemory) {
  PlyWriter writer(cloud());
  EncodedPoints points;
  for (int i = 0; i < 40000; ++i) {
    PlyPoint point;
    point.position = {i % 200 * 0.1, i / 200 * 0.1, 1};
    writer.encode(point, points);
  }
  constexpr std::size_t kBytes = std::size_t{128} << 20;
  for (std::size_t bytes = 0; bytes < kBytes; bytes += points.cloud.size()) {
    writer.add_vertices(points);
    writer.add_visibility(points);
  }
  writer.commit();
  const std::size_t before = peak_memory();
  EXPECT_EQ(names(5).size(), 16u);
  EXPECT_LT(peak_memory() - before, kBytes / 2);
}

TEST_F(PlyTiles, OfOtherFilesAreRefused) {
  const auto refusal = [&](const std::string& bytes) {
    spill(cloud(), bytes);
    return message_of<InputError>([&] { divide_ply(cloud(), 1, tiles()); });
  };
  const std::string head = "ply\nformat binary_little_endian 1.0\nelement vertex 1\n", end = "end_header\n";
  const std::string x = "property float x\n", y = "property float y\n", eight(8, '\0');
  EXPECT_THAT(refusal(head + x + end + eight), HasSubstr("fused.ply:3: the vertices have no property y"));
  EXPECT_THAT(refusal(head + x + "property int y\n" + end + eight), HasSubstr("no property y of type float"));
  EXPECT_THAT(refusal(head + x + y + "element face 0\n" + end + eight), HasSubstr("vertices alone"));
  EXPECT_THAT(refusal("ply\nformat binary_big_endian 1.0\nelement vertex 1\n" + x + y + end + eight),
              HasSubstr("little-endian"));
  EXPECT_THAT(refusal(head + x + y + end + "1234567"), HasSubstr("too short"));
  const std::string zero(4, '\0'), nan("\0\0\xC0\x7F", 4);
  EXPECT_THAT(refusal(head + x + y + end + zero + nan), HasSubstr("not finite"));
  spill(cloud(), "ply\nformat binary_little_endian 1.0\nelement vertex 0\n" + x + y + end);
  EXPECT_THAT(names(1), IsEmpty());
}

}  // namespace
}  // namespace recon
