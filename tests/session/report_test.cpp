// What the report shows: the thinned cloud, and the histograms.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "io/ply.hpp"
#include "io/temporary_folder.hpp"
#include "session/report/cloud_view.hpp"
#include "session/report/html.hpp"
#include "session/scene/depth_histogram.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

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
    PlyWriter writer(folder_ / "cloud.ply", PlyPosition::kDouble);
    for (int i = 0; i < kSide * kSide; ++i) writer.add({point(i), {0, 0, 1}, colour(i), 1, {}});
    writer.add({Vec3d{0, 0, 0}, {0, 0, 1}, {1, 2, 3}, 1, {}});
    writer.commit();
  }
  static Vec3d point(int i) { return {412345 + 0.1 * (i % kSide), 5651234 + 0.2 * (i / kSide), 120}; }
  static Rgb8 colour(int i) { return {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i / 7), 9}; }

  TemporaryFolder folder_;
};

TEST_F(CloudViewTest, HasThePointsWithinHalfAStepAndNoOutliers) {
  const CloudView view = view_cloud(folder_ / "cloud.ply", {Pose{}});
  ASSERT_EQ(view.size(), static_cast<std::size_t>(kSide * kSide));
  EXPECT_LT(view.step, 0.001);
  for (int i = 0; i < kSide * kSide; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(view.colours[at], colour(i));
    const Vec3d p = point(i);
    EXPECT_NEAR(view.origin.x + view.step * view.positions[3 * at], p.x, 0.51 * view.step);
    EXPECT_NEAR(view.origin.y + view.step * view.positions[3 * at + 1], p.y, 0.51 * view.step);
    EXPECT_NEAR(view.origin.z + view.step * view.positions[3 * at + 2], p.z, 0.51 * view.step);
  }
  EXPECT_EQ(view.up.y, -1);
  EXPECT_EQ(view.forward.z, 1);
}

TEST_F(CloudViewTest, TakesEveryNthPoint) {
  const CloudView view = view_cloud(folder_ / "cloud.ply", {Pose{}}, 200);
  ASSERT_GT(view.size(), 170u);
  ASSERT_LE(view.size(), 200u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(view.colours[i], colour(static_cast<int>(9 * i)));
}

TEST_F(CloudViewTest, LooksDownWhereNoDirectionIsUp) {
  // Straight down, the second camera turned by half a turn.
  Pose there, back;
  there.rotation = {{1, 0, 0, 0, -1, 0, 0, 0, -1}};
  back.rotation = {{-1, 0, 0, 0, 1, 0, 0, 0, -1}};
  const CloudView view = view_cloud(folder_ / "cloud.ply", {there, back});
  EXPECT_EQ(view.forward.z, -1);
  EXPECT_EQ(view.up.z, 1);
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

TEST(HtmlHistogram, HasABarForEachBin) {
  EXPECT_EQ(html_histogram(nlohmann::json::array(), "a", "m"), "");
  const std::string chart = html_histogram({{0, 2, 10}, {2, 4, 0}, {4, 6, 5}}, "a < b", "°");
  EXPECT_THAT(chart, HasSubstr("a &lt; b"));
  EXPECT_THAT(chart, HasSubstr("height=120.00><title>0 to 2°: 10</title>"));
  EXPECT_THAT(chart, HasSubstr("height=0.00><title>2 to 4°: 0</title>"));
  EXPECT_THAT(chart, HasSubstr("height=60.00><title>4 to 6°: 5</title>"));
}

}  // namespace
}  // namespace recon
