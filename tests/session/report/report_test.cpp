// What the report shows: the thinned cloud, the histograms, and the data of its page.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "io/cloud/ply.hpp"
#include "io/temporary_folder.hpp"
#include "session/report/page.hpp"
#include "session/scene/depth_histogram.hpp"

namespace recon {
namespace {

/// RFC 4648, section 10.
TEST(Base64, HasTheTestVectorsOfItsStandard) {
  const std::vector<std::pair<std::string, std::string>> vectors = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) EXPECT_EQ(base64(bytes), text);
  EXPECT_EQ(base64("\xFF\xFE\xFD"), "//79");
}

/// A grid of points far from the origin, and one outlier.
class CloudViewTest : public testing::Test {
 protected:
  static constexpr int kSide = 40;
  CloudViewTest() {
    PlyWriter writer(folder_ / "cloud.ply", {PlyPosition::kDouble});
    for (int i = 0; i < kSide * kSide; ++i) writer.add({point(i), {0, 0, 1}, colour(i), 1, {}});
    writer.add({Vec3d{0, 0, 0}, {0, 0, 1}, {1, 2, 3}, 1, {}});
    writer.commit();
  }
  CloudView view(const std::vector<Pose>& cameras, std::size_t first = 0,
                 std::size_t max_points = kMaxViewedPoints) const {
    return view_cloud(folder_ / "cloud.ply", cameras, {kCamera, cameras[first], 5}, max_points);
  }

  static constexpr Pinhole kCamera{400, 300, 500, 250, 150, 150};
  static Vec3d point(int i) { return {412345 + 0.1 * (i % kSide), 5651234 + 0.2 * (i / kSide), 120}; }
  static Rgb8 colour(int i) { return {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i / 7), 9}; }

  TemporaryFolder folder_;
};

TEST_F(CloudViewTest, HasThePointsWithinHalfAStepAndNoOutliers) {
  const CloudView view = this->view({Pose{}});
  ASSERT_EQ(view.size(), static_cast<std::size_t>(kSide * kSide));
  EXPECT_LT(view.step, 0.001);
  EXPECT_TRUE(view.confidences.empty()) << "all are the same";
  for (int i = 0; i < kSide * kSide; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(view.colours[at], colour(i));
    const Vec3d p = point(i);
    EXPECT_NEAR(view.origin.x + view.step * view.positions[3 * at], p.x, 0.51 * view.step);
    EXPECT_NEAR(view.origin.y + view.step * view.positions[3 * at + 1], p.y, 0.51 * view.step);
    EXPECT_NEAR(view.origin.z + view.step * view.positions[3 * at + 2], p.z, 0.51 * view.step);
  }
}

TEST_F(CloudViewTest, TakesEveryNthPoint) {
  const CloudView view = this->view({Pose{}}, 0, 200);
  ASSERT_GT(view.size(), 170u);
  ASSERT_LE(view.size(), 200u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(view.colours[i], colour(static_cast<int>(9 * i)));
}

/// A camera at a place that looks along z, turned around it by an angle and then raised by another one.
Pose camera_at(Vec3d centre, double roll, double pitch = 0) {
  const Mat3d around_z = {{std::cos(roll), -std::sin(roll), 0, std::sin(roll), std::cos(roll), 0, 0, 0, 1}};
  const Mat3d around_x = {
      {1, 0, 0, 0, std::cos(pitch), -std::sin(pitch), 0, std::sin(pitch), std::cos(pitch)}};
  Pose pose;
  pose.rotation = around_z * around_x;
  pose.translation = -(pose.rotation * centre);
  return pose;
}

constexpr double kRight = 1.5707963267948966;

TEST_F(CloudViewTest, BeginsAsAPhotoSeesIt) {
  const Vec3d centre = point(0) - Vec3d{0, 0, 3};
  const CloudView view = this->view({camera_at({0, 0, 0}, 0), camera_at(centre, 0)}, 1);
  const auto in_scene = [&](Vec3d v) { return view.origin + view.step * v; };
  EXPECT_NEAR(in_scene(view.eye).x, centre.x, 1e-6);
  EXPECT_NEAR(in_scene(view.eye).z, centre.z, 1e-6);
  EXPECT_NEAR(in_scene(view.target).y, centre.y, 1e-6);
  EXPECT_NEAR(in_scene(view.target).z, centre.z + 5, 1e-6);
  EXPECT_DOUBLE_EQ(view.half_width, 250.0 / 500) << "the farther side of the principal point";
  EXPECT_DOUBLE_EQ(view.half_height, 150.0 / 250);
  EXPECT_EQ(view.up.y, -1);
}

TEST_F(CloudViewTest, TurnsAroundWhatIsUpForAllAsFarAsThePhotoIsUpright) {
  // Two cameras are level, the third one looks down by 0.5.
  const std::vector<Pose> level = {camera_at({0, 0, 0}, 0), camera_at({1, 0, 0}, 0),
                                   camera_at({2, 0, 0}, 0, 0.5)};
  const Vec3d up = view(level, 2).up, own = transpose(level[2].rotation) * Vec3d{0, -1, 0};
  EXPECT_EQ(up.x, 0);
  EXPECT_GT(-up.y, 0.98) << "upright, but not that of the tilted camera";
  EXPECT_LT(-own.y, 0.9);
  // Of a camera on its side, its own.
  const std::vector<Pose> rolled = {camera_at({0, 0, 0}, 0), camera_at({1, 0, 0}, 0),
                                    camera_at({2, 0, 0}, kRight)};
  EXPECT_NEAR(std::abs(view(rolled, 2).up.x), 1, 1e-9);
  // Straight down, to and fro: no direction is up for all.
  const std::vector<Pose> down = {camera_at({0, 0, 0}, 0, 2 * kRight),
                                  camera_at({1, 0, 0}, 2 * kRight, 2 * kRight)};
  const Vec3d of_first = transpose(down[0].rotation) * Vec3d{0, -1, 0};
  EXPECT_NEAR(dot(view(down, 0).up, of_first), 1, 1e-9);
}

TEST(CentralCamera, IsNearestToTheMiddle) {
  std::vector<Pose> cameras;
  for (const double x : {0.0, 10.0, 4.0, 2.0, 5.0}) cameras.push_back(camera_at({x, 1, 0}, 0.3 * x));
  EXPECT_EQ(central_camera(cameras), 2u) << "the middle is at 4.2";
  EXPECT_EQ(central_camera({cameras[0], cameras[3]}), 0u) << "both are equally near";
}

TEST(CloudViewConfidence, IsABytePerPointWhereItVaries) {
  const TemporaryFolder folder;
  PlyWriter writer(folder / "cloud.ply");
  constexpr int kPoints = 500;
  for (int i = 0; i < kPoints; ++i)
    writer.add({{0.01 * (i % 7), 0, 1}, {0, 0, 1}, {1, 2, 3}, 0.25f * static_cast<float>(i % 5), {}});
  writer.commit();
  const CloudView view = view_cloud(folder / "cloud.ply", {Pose{}}, {{4, 3, 4, 4, 2, 1}, Pose{}, 1});
  ASSERT_EQ(view.size(), static_cast<std::size_t>(kPoints));
  for (std::size_t i = 0; i < view.size(); ++i)
    EXPECT_EQ(view.confidences[i], (std::array{0, 64, 128, 191, 255}[i % 5]));
  const nlohmann::json object = cloud_view_json(view);
  EXPECT_EQ(object.at("confidences").get<std::string>().substr(0, 8), "AECAv/8A");
}

TEST(DepthHistogram, CountsKnownDepthsByOctaves) {
  Image<float> depth(3, 2, std::numeric_limits<float>::quiet_NaN());
  depth(0, 0) = 1.0f, depth(1, 0) = 1.01f, depth(2, 1) = 2.0f, depth(0, 1) = 0.5f;
  const DepthHistogram histogram = depth_histogram(depth.view());
  EXPECT_EQ(histogram, (DepthHistogram{{depth_bin(0.5), 1}, {depth_bin(1), 2}, {depth_bin(2), 1}}));
  EXPECT_EQ(depth_bin(2) - depth_bin(1), depth_bin(1) - depth_bin(0.5));
  for (const double z : {0.013, 0.5, 1.0, 7.3, 4100.0}) {
    EXPECT_LE(depth_bin_begin(depth_bin(z)), z * (1 + 1e-12));
    EXPECT_GT(depth_bin_begin(depth_bin(z) + 1), z);
  }
  EXPECT_EQ(parse_histogram(histogram_json(histogram)), histogram);
  const auto damaged = nlohmann::json::parse(R"({"a":1, "1x":1, "2000000000":1, "3":null, "4":-1, "5":6})");
  EXPECT_EQ(parse_histogram(damaged), (DepthHistogram{{5, 6}}));
  EXPECT_EQ(parse_histogram(7), DepthHistogram());
}

TEST(DepthHistogram, HasQuantilesWithinABin) {
  DepthHistogram histogram;
  for (int i = 0; i < 100; ++i) ++histogram[depth_bin(1 + 0.09 * i)];  // 1 to 9.91
  EXPECT_NEAR(depth_quantile(histogram, 0.02), 1.18, 0.1);
  EXPECT_NEAR(depth_quantile(histogram, 0.5), 5.5, 0.25);
  EXPECT_NEAR(depth_quantile(histogram, 0.98), 9.8, 0.5);
  EXPECT_NEAR(depth_quantile({{depth_bin(3), 7}}, 0), depth_bin_begin(depth_bin(3)), 1e-12);
}

TEST(WebPage, HasItsDataInAnElementThatNothingInThemEnds) {
  const std::string odd = "</script><script>alert(\"1\")</script><!--\x01\n\xE2\x80\xA8'\\";
  const std::string page = web_page("scene", {{"scene", odd}, {odd, "caf\xE9"}});
  const std::size_t begin = page.find(data_mark("scene")) + data_mark("scene").size();
  const std::string element = page.substr(begin);
  const nlohmann::json data = nlohmann::json::parse(element.substr(0, element.find('<')));
  EXPECT_EQ(data.at("scene"), odd);
  EXPECT_EQ(data.at(odd), "caf\xEF\xBF\xBD");
  EXPECT_EQ(data.at("palette").get<std::string>().size(), 256u * 4);
  EXPECT_THAT(element, testing::EndsWith("}</script>\n")) << "there is no cloud";
}

TEST(FileAddress, HasAnyBytes) {
  EXPECT_EQ(file_address("a b/caf\xE9 #1%.png"), "a%20b/caf%E9%20%231%25.png");
  EXPECT_EQ(file_address("javascript:alert('\"<')"), "javascript%3Aalert%28%27%22%3C%27%29");
}

}  // namespace
}  // namespace recon
