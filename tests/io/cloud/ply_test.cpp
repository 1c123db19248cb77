#include "io/cloud/ply.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/temporary_folder.hpp"

namespace recon {

namespace {

using testing::HasSubstr;
using namespace std::string_literals;

void write_sample(const std::filesystem::path& path, int count) {
  PlyWriter writer(path);
  std::vector<std::uint32_t> views(static_cast<std::size_t>(count));
  std::iota(views.begin(), views.end(), 3u);
  for (int i = 0; i < count; ++i) {
    PlyPoint point;
    point.position = {static_cast<float>(i), 0.5f, -2};
    point.normal = {0, 0, static_cast<float>(-i)};
    point.colour = {static_cast<std::uint8_t>(i), 100, 255};
    point.confidence = 0.25f;
    point.views = std::span(views).first(static_cast<std::size_t>(i));
    writer.add(point);
  }
  writer.commit();
}

TEST(PlyWriter, HasTheseBytes) {
  const TemporaryFolder folder;
  write_sample(folder / "a.ply", 3);
  const std::string bytes = slurp(folder / "a.ply");
  const std::string end = "end_header\n";
  const std::size_t body = bytes.find(end) + end.size();
  EXPECT_THAT(bytes, testing::StartsWith("ply\nformat binary_little_endian 1.0\ncomment"));
  EXPECT_THAT(
      bytes,
      HasSubstr(
          "\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty float nx\n"
          "property float ny\nproperty float nz\nproperty uchar red\nproperty uchar green\n"
          "property uchar blue\nproperty float confidence\nproperty uchar scalar_views\nend_header\n"));
  ASSERT_EQ(bytes.size() - body, 3u * 32);
  const std::string two = "\0\0\0\x40"s, half = "\0\0\0\x3F"s, minus_two = "\0\0\0\xC0"s, zero = "\0\0\0\0"s,
                    quarter = "\0\0\x80\x3E"s;
  EXPECT_EQ(bytes.substr(body + 64),
            two + half + minus_two + zero + zero + minus_two + "\x02\x64\xFF"s + quarter + "\x02"s);
  // COLMAP: the number of points (8 bytes), per point the number of views and the views (4 bytes each).
  EXPECT_EQ(slurp(folder / "a.ply.vis"), "\3\0\0\0\0\0\0\0"s + "\0\0\0\0"s + "\1\0\0\0"s + "\3\0\0\0"s +
                                             "\2\0\0\0"s + "\3\0\0\0"s + "\4\0\0\0"s);
}

TEST(PlyWriter, WritesPositionsInDoublePrecisionWhenAsked) {
  const TemporaryFolder folder;
  const Vec3d far{412345.678901, 5651234.567891, -120.25};
  PlyWriter writer(folder / "a.ply", {PlyPosition::kDouble});
  for (int i = 0; i < 2; ++i) {
    PlyPoint point;
    point.position = far;
    point.normal = {0.5f, 0, -1};
    writer.add(point);
  }
  writer.commit();
  const std::string bytes = slurp(folder / "a.ply");
  EXPECT_THAT(bytes,
              HasSubstr("\nproperty double x\nproperty double y\nproperty double z\nproperty float nx\n"));
  const std::string end = "end_header\n";
  EXPECT_EQ(bytes.size() - bytes.find(end) - end.size(), 2u * (32 + 12));
  const PlyCloud cloud = read_ply(folder / "a.ply");
  ASSERT_EQ(cloud.positions.size(), 2u);
  EXPECT_EQ(cloud.positions[1].x, far.x);
  EXPECT_EQ(cloud.positions[1].y, far.y);
  EXPECT_EQ(cloud.positions[1].z, far.z);
  EXPECT_EQ(cloud.normals[1].x, 0.5f);
}

/// MeshLab has floats: at 5,180,000 these are half a unit apart.
TEST(PlyWriter, SubtractsAnOffsetThatReadersAddAgain) {
  const TemporaryFolder folder;
  const Vec3d far{412345.678, 5180000.123, -120.25}, offset{412300, 5180000, -100.5};
  {
    PlyWriter writer(folder / "a.ply", {PlyPosition::kFloat, offset});
    writer.add({far, {}, {}, 0, {}});
    writer.add({far + Vec3d{0.01, 0.01, 0.01}, {}, {}, 0, {}});
    writer.commit();
  }
  const std::string bytes = slurp(folder / "a.ply"), end = "end_header\n";
  EXPECT_THAT(bytes,
              HasSubstr("\ncomment offset 412300 5180000 -100.5\nelement vertex 2\nproperty float x\n"));
  float x = 0;
  std::memcpy(&x, bytes.data() + bytes.find(end) + end.size(), sizeof x);
  EXPECT_NEAR(x, 45.678, 1e-5);
  for (const PlyCloud& cloud : {read_ply(folder / "a.ply"), read_ply_sample(folder / "a.ply", 2)}) {
    ASSERT_EQ(cloud.positions.size(), 2u);
    EXPECT_NEAR(norm(cloud.positions[0] - far), 0, 1e-5);
    EXPECT_NEAR(cloud.positions[1].y - cloud.positions[0].y, 0.01, 1e-5);
  }
}

TEST(PlyReader, AddsNoOffsetOfOtherProgramsAndRefusesADamagedOne) {
  const auto file = [](const std::string& comments) {
    return "ply\nformat ascii 1.0\n" + comments +
           "element vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n";
  };
  const auto x_of = [&](const std::string& comments) {
    return parse_ply(file(comments), "a.ply").positions[0].x;
  };
  EXPECT_EQ(x_of("comment offset 10 20 30\n"), 1);
  EXPECT_EQ(x_of("comment\ncomment written by reconstruct  \ncomment\ncomment offset 10 20 30\n"), 11);
  for (const char* damaged : {"10 20", "10 x 30", "nan 20 30"})
    EXPECT_THAT(message_of<InputError>([&] {
                  x_of("comment written by reconstruct\ncomment offset " + std::string(damaged) + "\n");
                }),
                HasSubstr("a.ply:4: "))
        << damaged;
}

TEST(PlyWriter, LeavesNothingWithoutCommitAndReadsBack) {
  const TemporaryFolder folder;
  { PlyWriter writer(folder / "none.ply"); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  write_sample(folder / "a.ply", 300);
  const PlyCloud cloud = read_ply(folder / "a.ply");
  ASSERT_EQ(cloud.positions.size(), 300u);
  EXPECT_EQ(cloud.positions[299].x, 299);
  EXPECT_EQ(cloud.normals[299].z, -299);
  EXPECT_EQ(cloud.colours[299], (Rgb8{43, 100, 255}));
  EXPECT_EQ(cloud.confidences[299], 0.25f);
  EXPECT_EQ(slurp(folder / "a.ply").back(), '\xFF') << "299 views are shown as 255";
}

TEST(PlyWriter, ReportsAFullDisk) {
  EXPECT_THAT(message_of<OutputError>([] { PlyWriter writer("/proc/a.ply"); }), HasSubstr("/proc/a.ply: "));
}

constexpr const char* kAscii =
    "ply\r\nformat ascii 1.0\r\ncomment x\r\nobj_info y\r\n"
    "element face 2\r\nproperty list uchar int vertex_indices\r\n"
    "element empty 99999999999\r\n"
    "element vertex 2\r\nproperty uchar alpha\r\nproperty double z\r\nproperty list uchar short "
    "tags\r\nproperty float x\r\n"
    "property float quality\r\nproperty float red\r\nproperty float green\r\nproperty float blue\r\nproperty "
    "int y\r\n"
    "element edge 1\r\nproperty int a\r\nend_header\r\n"
    "3 0 1 2\r\n0\r\n"
    "9 3.5 2 7 7 1.5 0.75 0 0.5 1 -2\r\n"
    "9 +1e-999 0 1e1 0 2 -1 0.001 4";

TEST(PlyReader, ReadsAsciiWithAnyElementsAndLists) {
  const PlyCloud cloud = parse_ply(kAscii, "a.ply");
  ASSERT_EQ(cloud.positions.size(), 2u);
  EXPECT_EQ(cloud.positions[0].x, 1.5f);
  EXPECT_EQ(cloud.positions[0].y, -2);
  EXPECT_EQ(cloud.positions[0].z, 3.5f);
  EXPECT_EQ(cloud.positions[1].x, 10);
  EXPECT_EQ(cloud.positions[1].z, 0);
  EXPECT_TRUE(cloud.normals.empty());
  EXPECT_EQ(cloud.colours[0], (Rgb8{0, 128, 255}));
  EXPECT_EQ(cloud.colours[1], (Rgb8{255, 0, 0}));
  EXPECT_EQ(cloud.confidences[0], 0.75f);
}

TEST(PlyReader, ReadsBigEndian) {
  const std::string header =
      "ply\nformat binary_big_endian 1.0\nelement face 1\nproperty list ushort uchar v\nelement vertex "
      "1\nproperty short x\n"
      "property float y\nproperty double z\nproperty ushort red\nproperty ushort green\nproperty ushort "
      "blue\nend_header\n";
  const PlyCloud cloud = parse_ply(header + "\0\2\7\7"s + "\xFF\xFE"s + "\x3F\x80\0\0"s +
                                       "\x40\x10\0\0\0\0\0\0"s + "\xFF\xFF\x80\xE8\0\0"s,
                                   "a.ply");
  ASSERT_EQ(cloud.positions.size(), 1u);
  EXPECT_EQ(cloud.positions[0].x, -2);
  EXPECT_EQ(cloud.positions[0].y, 1);
  EXPECT_EQ(cloud.positions[0].z, 4);
  EXPECT_EQ(cloud.colours[0], (Rgb8{255, 128, 0}));  // 33000 / 257 = 128.4
}

TEST(PlyReader, LeavesOutWhatIsNotFinite) {
  const std::string header =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float "
      "z\nend_header\n";
  const PlyCloud cloud = parse_ply(header + "nan 0 0\n1 2 3\n0 inf 0\n", "a.ply");
  ASSERT_EQ(cloud.positions.size(), 1u);
  EXPECT_EQ(cloud.positions[0].y, 2);
}

TEST(PlyReader, RefusesFaultsWithPlaceAndReason) {
  const std::string ascii = "ply\nformat ascii 1.0\n", little = "ply\nformat binary_little_endian 1.0\n";
  const std::string xyz = "property float x\nproperty float y\nproperty float z\n", end = "end_header\n";
  const struct {
    std::string bytes, place, message;
  } faults[] = {
      {"", "a.ply: ", "the file is empty"},
      {"solid\n", "a.ply:1: ", "no PLY"},
      {"ply\nformat ascii 1.0\n", "a.ply:2: ", "truncated"},
      {"ply\n" + end, "a.ply:2: ", "no \"format\""},
      {"ply\nformat utf8 1.0\n", "a.ply:2: ", "\"utf8\""},
      {ascii + "elephant vertex 1\n", "a.ply:3: ", "\"elephant\""},
      {ascii + "property float x\n", "a.ply:3: ", "before the first element"},
      {ascii + "element vertex -1\n", "a.ply:3: ", "\"-1\""},
      {ascii + "element vertex 1\nproperty real x\n", "a.ply:4: ", "\"real\""},
      {ascii + "element vertex 1\nproperty list float int x\n", "a.ply:4: ", "integer type"},
      {ascii + end, "a.ply:3: ", "no element \"vertex\""},
      {ascii + "element vertex 1\nproperty float x\nproperty float y\n" + end + "1 2 3\n",
       "a.ply:3: ", "x, y and z"},
      {ascii + "element vertex 3\n" + xyz + end + "1 2 3 4 5 6\n", "a.ply:3: ", "too short"},
      {ascii + "element vertex 2\n" + xyz + end + "1 2 3\n4 5          \n",
       "a.ply:10: ", "ends inside an element"},
      {ascii + "element vertex 1\n" + xyz + end + "1\n2x 3\n", "a.ply:9: ", "\"2x\""},
      {little + "element vertex 4000000000000000000\n" + xyz + end, "a.ply:3: ", "too short"},
      {little + "element vertex 2\n" + xyz + end + std::string(23, 'x'), "a.ply:3: ", "too short"},
      {little + "element face 1\nproperty list uint double v\nelement vertex 0\n" + xyz + end +
           "\xFF\xFF\xFF\xFF"s,
       "a.ply: byte ", "impossible length"},
      {little + "element face 2\nproperty list uchar uchar v\nelement vertex 0\n" + xyz + end + "\1\1",
       "a.ply: byte ", "truncated"},
      {ascii + "element face 1\nproperty list int int v\nelement vertex 0\n" + xyz + end + "-1\n",
       "a.ply:10: ", "impossible length"},
  };
  for (const auto& fault : faults) {
    const std::string message = message_of<InputError>([&] { parse_ply(fault.bytes, "a.ply"); });
    EXPECT_THAT(message, testing::StartsWith(fault.place));
    EXPECT_THAT(message, HasSubstr(fault.message));
  }
}

TEST(PlyReader, RefusesEveryTruncation) {
  const TemporaryFolder folder;
  write_sample(folder / "a.ply", 5);
  const std::string whole = slurp(folder / "a.ply");
  for (std::size_t length = 0; length < whole.size(); ++length)
    ASSERT_THROW(parse_ply(std::string_view(whole).substr(0, length), "a.ply"), InputError) << length;
}

using testing::ElementsAre;
using testing::IsEmpty;

/// Two points: the first seen by views 0 and 2, the second by view 2.
const std::string kTwoPoints =
    "\2\0\0\0\0\0\0\0"
    "\2\0\0\0\0\0\0\0\2\0\0\0"
    "\1\0\0\0\2\0\0\0"s;

TEST(Visibility, ListsThePointsOfEachView) {
  const auto views = parse_visibility(kTwoPoints, "a.vis", 2, 3);
  EXPECT_THAT(views, ElementsAre(ElementsAre(0u), IsEmpty(), ElementsAre(0u, 1u)));
}

TEST(Visibility, RefusesWhatDoesNotBelongToTheCloud) {
  EXPECT_THAT(message_of<InputError>([] { parse_visibility(kTwoPoints, "a.vis", 3, 3); }),
              HasSubstr("the cloud has 3"));
  EXPECT_THAT(message_of<InputError>([] { parse_visibility(kTwoPoints, "a.vis", 2, 2); }),
              HasSubstr("a.vis: byte 16"));
}

TEST(Visibility, RefusesDamage) {
  for (std::size_t length = 0; length < kTwoPoints.size(); ++length)
    EXPECT_THROW(parse_visibility(kTwoPoints.substr(0, length), "a.vis", 2, 3), InputError) << length;
  EXPECT_THROW(parse_visibility(kTwoPoints + "x", "a.vis", 2, 3), InputError);
  EXPECT_THROW(parse_visibility("\0\0\0\0\0\0\0\x80"s, "a.vis", std::size_t{1} << 63, 3), InputError);
}

TEST(PlySample, IsEveryNthVertexOfTheFile) {
  const TemporaryFolder folder;
  PlyWriter writer(folder / "cloud.ply");
  for (int i = 0; i < 100000; ++i)
    writer.add({{i * 0.5, 0, 1}, {0, 0, 1}, {static_cast<std::uint8_t>(i), 0, 0}, 0.5f, {}});
  writer.commit();
  const PlyCloud all = read_ply(folder / "cloud.ply");
  for (const std::size_t max : {1u, 999u, 9999u, 30000u, 100000u, 200000u}) {
    const PlyCloud sample = read_ply_sample(folder / "cloud.ply", max);
    const std::size_t step = (all.positions.size() + max - 1) / max;
    ASSERT_EQ(sample.positions.size(), (all.positions.size() + step - 1) / step);
    for (std::size_t i = 0; i < sample.positions.size(); ++i) {
      ASSERT_EQ(sample.positions[i].x, all.positions[i * step].x);
      ASSERT_EQ(sample.colours[i].r, all.colours[i * step].r);
    }
  }
}

TEST(PlySample, RefusesOtherFiles) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& bytes) {
    spill(folder / "a.ply", bytes);
    return message_of<InputError>([&] { read_ply_sample(folder / "a.ply", 10); });
  };
  const std::string vertex = "element vertex 2\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string head = "ply\nformat binary_little_endian 1.0\n";
  EXPECT_EQ(message(head + vertex + "end_header\n" + std::string(24, 'a')), "(nothing thrown)");
  EXPECT_THAT(message(head + vertex + "end_header\n" + std::string(23, 'a')), HasSubstr("too short"));
  EXPECT_THAT(message("ply\nformat ascii 1.0\n" + vertex + "end_header\n1 2 3\n4 5 6\n"),
              HasSubstr("not binary"));
  EXPECT_THAT(message(head + "element vertex 1\nproperty list uchar int x\nend_header\n1234"),
              HasSubstr("lists"));
  EXPECT_THAT(message(head + vertex), HasSubstr("truncated"));
  EXPECT_THAT(message(head + "element vertex 18446744073709551615\nproperty float x\nend_header\n"),
              HasSubstr("too short"));
}

}  // namespace

}  // namespace recon
