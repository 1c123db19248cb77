#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "refine/depth_filters.hpp"
#include "refine/rows.hpp"

namespace recon {
namespace {

using testing::Each;
using testing::ElementsAre;

using test::row_of, test::U;

Image<float> map_of(const std::vector<std::vector<float>>& rows) {
  return test::image_of(rows);
}

TEST(FillDisparity, TakesTheBackgroundBesideAHole) {
  Image<float> map = map_of({{U, 7, U, U, 3}, {5, U, 6, U, U}, {2, 2, 2, 2, 2}});
  const Image<std::uint8_t> filled = fill_disparity(map.view());
  EXPECT_THAT(row_of(map, 0), ElementsAre(7, 7, 3, 3, 3));
  EXPECT_THAT(row_of(map, 1), ElementsAre(5, 5, 6, 6, 6));
  EXPECT_THAT(row_of(map, 2), Each(2.0f));
  EXPECT_THAT(row_of(filled, 0), ElementsAre(255, 0, 255, 255, 0));
  EXPECT_THAT(row_of(filled, 1), ElementsAre(0, 255, 0, 255, 255));
  EXPECT_THAT(row_of(filled, 2), Each(0));
}

TEST(FillDisparity, TakesNegativeDisparitiesAsTheyAre) {
  Image<float> map = map_of({{-2, U, -5, U, 0}});
  fill_disparity(map.view());
  EXPECT_THAT(row_of(map, 0), ElementsAre(-2, -5, -5, -5, 0));
}

TEST(FillDisparity, FillsWholeRowsFromAboveAndBelow) {
  Image<float> map = map_of({{U, U, U}, {4, U, 9}, {U, U, U}, {U, U, U}, {6, 1, 6}});
  const Image<std::uint8_t> filled = fill_disparity(map.view());
  EXPECT_THAT(row_of(map, 0), ElementsAre(4, 4, 9));
  EXPECT_THAT(row_of(map, 1), ElementsAre(4, 4, 9));
  EXPECT_THAT(row_of(map, 2), ElementsAre(4, 1, 6));
  EXPECT_THAT(row_of(map, 3), ElementsAre(4, 1, 6));
  EXPECT_THAT(row_of(filled, 3), Each(255));
  EXPECT_THAT(row_of(filled, 4), Each(0));
}

TEST(FillDisparity, LeavesAnUnknownMapAsItIs) {
  Image<float> map(3, 2, kUnknown);
  const Image<std::uint8_t> filled = fill_disparity(map.view());
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x) {
      EXPECT_TRUE(std::isnan(map(x, y)));
      EXPECT_EQ(filled(x, y), 0);
    }
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
