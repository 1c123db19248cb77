// The public matcher of pairs in device memory: what it refuses without a GPU.

#include "reconstruct/matcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reconstruct/error.hpp"
#include "reconstruct/pair_options.hpp"

namespace reconstruct {
namespace {

using testing::HasSubstr;

class MatcherTest : public testing::Test {
 protected:
  std::string refusal(int width, int height, PixelType type, const Options& options) const {
    try {
      const Matcher matcher(device_, width, height, type, options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  std::string refusal(Options options) const {
    options.try_emplace("max-disparity", "16");
    return refusal(120, 80, PixelType::kGrey8, options);
  }

  const Device device_{{.device = "cpu", .threads = 1, .memory_limit = {}, .gpu_memory_limit = {}}};
};

TEST_F(MatcherTest, NeedsAGpu) {
  PairOptions options;
  options.max_disparity = 16;
  try {
    const Matcher matcher(device_, 120, 80, PixelType::kGrey8, options);
    FAIL() << "a matcher on the CPU";
  } catch (const DeviceUnavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr("images in device memory need a GPU; this device is CPU"));
  }
}

TEST_F(MatcherTest, RefusesOptionsOfTheHost) {
  EXPECT_THAT(refusal({{"fill", "true"}}), HasSubstr("--fill is computed on the host"));
  EXPECT_THAT(refusal({{"refine", "graphcut"}}), HasSubstr("graphcut is computed on the host"));
  EXPECT_THAT(refusal({{"method", "bp"}, {"sigma", "0.7"}}),
              HasSubstr("--sigma blurs the images on the host"));
}

TEST_F(MatcherTest, RefusesWhatMatchRefuses) {
  EXPECT_THAT(refusal(120, 80, PixelType::kGrey8, {}), HasSubstr("--max-disparity is needed"));
  EXPECT_THAT(refusal({{"max_disparity", "16"}}), HasSubstr("did you mean 'max-disparity'"));
  EXPECT_THAT(refusal({{"min-disparity", "200"}, {"max-disparity", "210"}}), HasSubstr("120 pixels wide"));
  EXPECT_THAT(refusal({{"output", "dense"}}), HasSubstr("--output has no meaning for Matcher"));
}

TEST_F(MatcherTest, RefusesImagesThatItCannotTake) {
  const Options options{{"max-disparity", "16"}};
  EXPECT_THAT(refusal(0, 80, PixelType::kGrey8, options), HasSubstr("0x80 pixels"));
  EXPECT_THAT(refusal(120, 16385, PixelType::kGrey8, options), HasSubstr("120x16385 pixels"));
  EXPECT_THAT(refusal(120, 80, PixelType::kGrey16, options), HasSubstr("of 16 bits: a matcher takes 8"));
}

TEST_F(MatcherTest, RefusesADeviceThatWasMovedFrom) {
  Device device = device_;
  const Device taken = std::move(device);
  EXPECT_THROW(Matcher(device, 120, 80, PixelType::kGrey8, {{"max-disparity", "16"}}), UsageError);
}

}  // namespace
}  // namespace reconstruct
