// The images of a pair as they are read: one range of values for both, and which of them is the left one.

#include "session/pair/pair_input.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "session/pair/pair_image_rows.hpp"

namespace recon {
namespace {

using testing::ElementsAre;

TEST(CommonDepth, EightBitsStayAsTheyAre) {
  const PairImages images =
      common_depth({row_image<std::uint8_t>({0, 9, 200}), {}}, {row_image<std::uint8_t>({1, 2, 3}), {}});
  EXPECT_THAT(values_of(images.left), ElementsAre(0, 9, 200));
  EXPECT_THAT(values_of(images.right), ElementsAre(1, 2, 3));
  EXPECT_TRUE(images.left16.empty() && images.right16.empty());
}

TEST(CommonDepth, SixteenBitsAreScaledByOneFactor) {
  const PairImages images = common_depth({{}, row_image<std::uint16_t>({0, 1020, 4080})},
                                         {{}, row_image<std::uint16_t>({8, 24, 2040})});
  EXPECT_THAT(values_of(images.left16), ElementsAre(0, 1020, 4080));
  EXPECT_THAT(values_of(images.right16), ElementsAre(8, 24, 2040));
  // 4080 becomes 255: a sixteenth of each, halves up.
  EXPECT_THAT(values_of(images.left), ElementsAre(0, 64, 255));
  EXPECT_THAT(values_of(images.right), ElementsAre(1, 2, 128));
}

TEST(CommonDepth, EightBitsBesideSixteenAreSpread) {
  const PairImages images = common_depth({row_image<std::uint8_t>({0, 1, 255}), {}},
                                         {{}, row_image<std::uint16_t>({0, 257, 65535})});
  EXPECT_THAT(values_of(images.left16), ElementsAre(0, 257, 65535));
  EXPECT_THAT(values_of(images.left), ElementsAre(0, 1, 255));
  EXPECT_THAT(values_of(images.right), ElementsAre(0, 1, 255));
}

TEST(CommonDepth, EightBitsBesideTwelveInSixteenHaveTheSameWhite) {
  const PairImages images = common_depth({row_image<std::uint8_t>({0, 51, 255}), {}},
                                         {{}, row_image<std::uint16_t>({0, 819, 4000})});
  EXPECT_THAT(values_of(images.left16), ElementsAre(0, 819, 4095));
  EXPECT_THAT(values_of(images.left), ElementsAre(0, 51, 255));
  EXPECT_THAT(values_of(images.right), ElementsAre(0, 51, 249));
}

TEST(CommonDepth, ValuesFarAboveBlackAreSpread) {
  const PairImages images = common_depth({{}, row_image<std::uint16_t>({7000, 7510, 8020})},
                                         {{}, row_image<std::uint16_t>({7002, 7100, 8000})});
  EXPECT_THAT(values_of(images.left), ElementsAre(0, 128, 255));
  EXPECT_THAT(values_of(images.right), ElementsAre(1, 25, 250));
}

TEST(CommonDepth, BlackImagesStayBlack) {
  const PairImages images =
      common_depth({{}, row_image<std::uint16_t>({0})}, {{}, row_image<std::uint16_t>({0})});
  EXPECT_EQ(images.left(0, 0), 0);
}

/// The CPU, which notes how often it matches, at which size.
class NotingBackend : public Backend {
 public:
  int matches = 0, width = 0;

  std::string name() const override { return cpu_->name(); }
  int streams() const override { return 1; }
  WorkMemory memory(const SweepShape& shape) const override { return cpu_->memory(shape); }
  DepthEstimate sweep(const SweepProblem& problem) override { return cpu_->sweep(problem); }
  WorkMemory pair_memory(int pair_width, int, const PairSpec&) const override {
    return {static_cast<std::size_t>(pair_width), 7, 1};
  }
  DisparityMap match(const PairProblem& problem) override {
    ++matches;
    width = problem.images.left.width;
    return cpu_->match(problem);
  }

 private:
  std::unique_ptr<Backend> cpu_ = make_cpu_backend({});
};

TEST(Orders, DistinguishALeftImageFromARightOne) {
  // Random texture of 3 x 3 pixels that moves by 12 px, odd sizes.
  const auto texture = [](int x, int y) {
    const auto h = static_cast<std::uint32_t>(x / 3 + 100) * 0x9e3779b1u ^
                   static_cast<std::uint32_t>(y / 3) * 0x85ebca77u;
    return static_cast<std::uint8_t>((h ^ (h >> 15)) * 0x2c1b3c6du >> 24);
  };
  Image<std::uint8_t> left(161, 91), right(161, 91);
  for (int y = 0; y < 91; ++y)
    for (int x = 0; x < 161; ++x) {
      left(x, y) = texture(x, y);
      right(x, y) = texture(x + 12, y);
    }
  const GreyPair given{left.view(), right.view(), {}, {}}, wrong{right.view(), left.view(), {}, {}};
  NotingBackend backend;
  EXPECT_FALSE(compare_orders(backend, given, {0, 32}).seem_swapped());
  EXPECT_EQ(backend.matches, 2) << "on the device, not beside it";
  EXPECT_EQ(backend.width, 81) << "at half the size";
  const WorkMemory memory = compare_orders_memory(backend, 161, 91, {0, 32});
  EXPECT_EQ(memory.host_bytes, 81u);
  EXPECT_EQ(memory.device_bytes, 7u);
  EXPECT_GT(compare_orders(backend, given, {0, 32}).as_given, 0.7);
  EXPECT_TRUE(compare_orders(backend, wrong, {0, 32}).seem_swapped());
  EXPECT_FALSE(compare_orders(backend, wrong, {-31, 32}).seem_swapped());
  const Image<std::uint8_t> one(1, 1, 7);
  EXPECT_FALSE(compare_orders(backend, {one.view(), one.view(), {}, {}}, {-3, 7}).seem_swapped());
}

}  // namespace
}  // namespace recon
