#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "refine/depth_filters.hpp"
#include "refine/rows.hpp"

namespace recon {
namespace {

using test::U;

Image<float> map_of(const std::vector<std::vector<float>>& rows) {
  return test::image_of(rows);
}

TEST(DisparitySpeckles, GoBySizeAndStep) {
  // 4.0 to 5.0 is one surface, 5.0 to 6.25 is not; the patch of two pixels at the right is removed.
  Image<float> map = map_of({{4, 5, 6.25f, 6.25f}, {4, 5, 5, 5}, {U, 5, 5, 5}});
  remove_disparity_speckles(map.view(), 3);
  EXPECT_EQ(map(0, 0), 4.0f);
  EXPECT_EQ(map(1, 0), 5.0f);
  EXPECT_TRUE(std::isnan(map(2, 0)) && std::isnan(map(3, 0)));
  EXPECT_TRUE(std::isnan(map(0, 2)));
  EXPECT_EQ(map(3, 2), 5.0f);
  Image<float> kept = map_of({{4, 5, 6.25f, 6.25f}});
  remove_disparity_speckles(kept.view(), 2);
  EXPECT_EQ(kept(3, 0), 6.25f) << "a patch of the least size stays";
}

TEST(DisparitySpeckles, TouchAcrossCornersOnlyByEdges) {
  Image<float> map = map_of({{1, U}, {U, 1}});
  remove_disparity_speckles(map.view(), 2);
  EXPECT_TRUE(std::isnan(map(0, 0)) && std::isnan(map(1, 1)));
}

}  // namespace
}  // namespace recon
