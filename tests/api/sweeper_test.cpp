// The public sweeper of views in device memory: what it refuses without a GPU.

#include "reconstruct/sweeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reconstruct/error.hpp"
#include "reconstruct/scene_options.hpp"

namespace reconstruct {
namespace {

using testing::HasSubstr;

class SweeperTest : public testing::Test {
 protected:
  std::string refusal(int width, int height, PixelType type, int sources, const Options& options = {}) const {
    try {
      const Sweeper sweeper(device_, width, height, type, sources, options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  std::string refusal(const Options& options) const {
    return refusal(320, 240, PixelType::kGrey8, 2, options);
  }

  const Device device_{{.device = "cpu", .threads = 1, .memory_limit = {}, .gpu_memory_limit = {}}};
};

TEST_F(SweeperTest, NeedsAGpu) {
  SceneOptions options;
  options.depth_min = 1;
  try {
    const Sweeper sweeper(device_, 320, 240, PixelType::kGrey8, 2, options);
    FAIL() << "a sweeper on the CPU";
  } catch (const DeviceUnavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr("images in device memory need a GPU; this device is CPU"));
  }
}

TEST_F(SweeperTest, RefusesOptionsOfTheHost) {
  EXPECT_THAT(refusal({{"optimizer", "graphcut"}}), HasSubstr("graphcut is computed on the host"));
  EXPECT_THAT(refusal({{"refine", "graphcut"}, {"planes", "64"}, {"optimizer", "winner"}}),
              HasSubstr("graphcut is computed on the host"));
}

TEST_F(SweeperTest, RefusesWhatSweepRefuses) {
  EXPECT_THAT(refusal({{"depth_min", "1"}}), HasSubstr("did you mean 'depth-min'"));
  EXPECT_THAT(refusal({{"sources", "3"}}), HasSubstr("--sources has no meaning for Sweeper"));
  EXPECT_THAT(refusal({{"method", "sgm"}}), HasSubstr("Sweeper takes planesweep"));
  EXPECT_THAT(refusal({{"output", "dense"}}), HasSubstr("--output has no meaning for Sweeper"));
}

TEST_F(SweeperTest, RefusesImagesThatItCannotTake) {
  EXPECT_THAT(refusal(0, 240, PixelType::kGrey8, 2), HasSubstr("a sweeper for 0x240 pixels"));
  EXPECT_THAT(refusal(320, 16385, PixelType::kGrey8, 2), HasSubstr("320x16385 pixels"));
  EXPECT_THAT(refusal(320, 240, PixelType::kGrey16, 2), HasSubstr("of 16 bits: a sweeper takes 8"));
  EXPECT_THAT(refusal(320, 240, PixelType::kGrey8, 0), HasSubstr("a sweeper for 0 sources"));
  EXPECT_THAT(refusal(320, 240, PixelType::kGrey8, 33), HasSubstr("it takes 1 to 32"));
}

TEST_F(SweeperTest, RefusesADeviceThatWasMovedFrom) {
  Device device = device_;
  const Device taken = std::move(device);
  EXPECT_THROW(Sweeper(device, 320, 240, PixelType::kGrey8, 2), UsageError);
}

}  // namespace
}  // namespace reconstruct
