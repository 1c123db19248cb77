// What calls with images in device memory refuse, without a device.

#include "methods/stereo/device_matcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "methods/backend.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

constexpr int kWidth = 20, kHeight = 10;

template <class T>
T* address(std::uintptr_t at) {
  return reinterpret_cast<T*>(at);
}

/// The images of a call, at addresses that nobody reads.
struct Images {
  DevicePixels left{address<std::uint8_t>(0x1001), kWidth, kHeight, kWidth};
  DevicePixels right{address<std::uint8_t>(0x2003), kWidth, kHeight, kWidth + 1};
  DeviceFloats disparity{address<float>(0x3000), kWidth, kHeight, 4 * kWidth};

  std::string refusal(int channels = 1) const {
    try {
      check_device_pair({kWidth, kHeight, channels}, {left, right, disparity});
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  }
};

TEST(DevicePair, OfBytesIsTakenAtAnyAddressAndPitch) {
  EXPECT_EQ(Images().refusal(), "");
  Images colours;
  colours.left.channels = colours.right.channels = 3;
  colours.left.pitch = 3 * kWidth;
  colours.right.pitch = 3 * kWidth + 2;
  EXPECT_EQ(colours.refusal(3), "");
}

TEST(DevicePair, OfAnotherShapeIsRefused) {
  const auto with = [](const std::function<void(Images&)>& change) {
    Images images;
    change(images);
    return images.refusal();
  };
  EXPECT_THAT(with([](Images& i) { i.left.data = nullptr; }), HasSubstr("left has no memory"));
  EXPECT_THAT(with([](Images& i) { i.disparity.data = nullptr; }), HasSubstr("disparity has no memory"));
  EXPECT_THAT(with([](Images& i) { i.right.width = 21; }),
              HasSubstr("right has 21x10 pixels; the matcher is for 20x10"));
  EXPECT_THAT(with([](Images& i) { i.disparity.height = 9; }), HasSubstr("disparity has 20x9 pixels"));
  EXPECT_THAT(with([](Images& i) { i.left.pitch = 19; }),
              HasSubstr("left has a pitch of 19 bytes; a row takes 20"));
  EXPECT_THAT(with([](Images& i) { i.left.pitch = -20; }), HasSubstr("left has a pitch of -20"));
  EXPECT_THAT(with([](Images& i) { i.disparity.pitch = 76; }), HasSubstr("disparity has a pitch of 76"));
  EXPECT_THAT(with([](Images& i) { i.disparity.pitch = 82; }), HasSubstr("no multiples of 4"));
  EXPECT_THAT(with([](Images& i) { i.disparity.data = address<float>(0x3002); }),
              HasSubstr("no multiples of 4"));
  EXPECT_THAT(with([](Images& i) { i.right.channels = 3; }), HasSubstr("right has 3 channels"));
}

TEST(DevicePair, IsMatchedByMethodsThatTheDeviceHasAllOf) {
  const auto refusal = [](const MethodSpec& method) -> std::string {
    try {
      check_runs_on_device(PairSpec(method, {0, 16}));
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal(presets::semi_global()), "");
  EXPECT_EQ(refusal(presets::block_matching()), "");
  EXPECT_EQ(refusal(presets::belief_propagation()), "");
  EXPECT_EQ(refusal(presets::ad_census()), "");
  MethodSpec cut = presets::plain_pipeline(), blurred = presets::belief_propagation();
  cut.optimizer = Optimizer::kGraphCut;
  blurred.belief.smoothing_sigma = 0.7f;
  EXPECT_THAT(refusal(cut), HasSubstr("graphcut is computed on the host"));
  EXPECT_THAT(refusal(blurred), HasSubstr("--sigma blurs"));
}

TEST(DevicePair, NeedsAGpu) {
  const auto cpu = make_cpu_backend({1, {}});
  EXPECT_THROW(cpu->device_matcher({kWidth, kHeight}), DeviceUnavailable);
}

}  // namespace
}  // namespace recon
