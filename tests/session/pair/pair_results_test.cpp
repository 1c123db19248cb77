// What a pair's disparities become: the PNG of KITTI, depths, and the points of a surface.

#include "session/pair/pair_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "io/cloud/ply.hpp"
#include "io/temporary_folder.hpp"
#include "session/pair/pair_image_rows.hpp"

namespace recon {
namespace {

using testing::ElementsAre;

TEST(DisparityPng, IsThatOfKitti) {
  const Image<float> disparity = row_image<float>(
      {kUnknown, 0, 0.001f, 1, 2.501f, 255.99f, 256, -1, std::numeric_limits<float>::infinity()});
  EXPECT_THAT(values_of(disparity_in_16_bits(disparity.view())),
              ElementsAre(0, 1, 1, 256, 640, 65533, 0, 0, 0));
}

TEST(DepthOfDisparity, FollowsTheTriangle) {
  const StereoCamera camera{{4, 1, 100, 100, 2, 0.5}, 3, 5};
  const Image<float> depth = depth_of_disparity(row_image<float>({kUnknown, 25, -5, -6}).view(), camera);
  EXPECT_TRUE(std::isnan(depth(0, 0)));
  EXPECT_EQ(depth(1, 0), 10.0f);  // 3 * 100 / (25 + 5)
  EXPECT_TRUE(std::isnan(depth(2, 0))) << "infinitely far";
  EXPECT_TRUE(std::isnan(depth(3, 0))) << "behind the cameras";
}

TEST(PairCloud, HasThePixelsOfASurfaceAndNotTheSkipped) {
  const TemporaryFolder folder;
  const Workspace workspace(folder.path());
  const Pinhole camera{9, 7, 50, 50, 4.5, 3.5};
  Image<float> depth(9, 7, 2.0f);
  depth(0, 0) = kUnknown;
  depth(8, 6) = 40;  // nothing around it
  Image<Rgb8> colour(9, 7, Rgb8{1, 2, 3});
  colour(4, 3) = {9, 8, 7};
  Image<std::uint8_t> skip(9, 7, 0);
  skip(1, 0) = 255;
  EXPECT_EQ(write_pair_cloud(workspace, depth.view(), colour.view(), skip.view(), camera).points, 60u);
  const PlyCloud cloud = read_ply(workspace.path(pair_file::kCloud));
  ASSERT_EQ(cloud.positions.size(), 60u);
  // The first point is the pixel (2, 0): its centre is at (2.5, 0.5), the ray through it ((2.5 - 4.5) / 50,
  // ...).
  EXPECT_NEAR(cloud.positions[0].x, -0.08, 1e-8);
  EXPECT_NEAR(cloud.positions[0].y, -0.12, 1e-8);
  EXPECT_NEAR(cloud.positions[0].z, 2.0, 1e-8);
}

TEST(PairCloud, LeavesNoFileWithoutPoints) {
  const TemporaryFolder folder;
  const Workspace workspace(folder.path());
  const Image<float> depth(3, 1, 2.0f);
  const Image<Rgb8> colour(3, 1, Rgb8{1, 2, 3});
  EXPECT_EQ(write_pair_cloud(workspace, depth.view(), colour.view(), {}, {3, 1, 50, 50, 1.5, 0.5}).points,
            0u);
  EXPECT_FALSE(std::filesystem::exists(workspace.path(pair_file::kCloud)));
}

}  // namespace
}  // namespace recon
