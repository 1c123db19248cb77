// What sweeps of images in device memory refuse, without a device.

#include "methods/sweep/device_sweeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/error.hpp"
#include "methods/backend.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

constexpr int kSide = 20, kRows = 10, kSources = 2;

/// At an address that nobody reads.
template <class T>
T* nowhere(std::uintptr_t at) {
  return reinterpret_cast<T*>(at);
}

DeviceSweeping sweeping(int channels = 1) {
  DeviceSweeping result;
  result.shape.width = kSide;
  result.shape.height = kRows;
  result.shape.sources = kSources;
  result.channels = channels;
  return result;
}

DeviceSweep right_call() {
  DeviceSweep call;
  for (const std::uintptr_t at : {0x1001, 0x2003, 0x3000})
    call.images.push_back({nowhere<std::uint8_t>(at), kSide, kRows, kSide + 1});
  call.mask = {nowhere<std::uint8_t>(0x4001), kSide, kRows, kSide};
  call.depth = {nowhere<float>(0x5000), kSide, kRows, 4 * kSide};
  call.normal = {nowhere<float>(0x6004), kSide, kRows, 12 * kSide, {}, 3};
  call.confidence = {nowhere<float>(0x7000), kSide, kRows, 4 * kSide + 8};
  return call;
}

std::string refusal(const std::function<void(DeviceSweep&)>& change, int channels = 1) {
  DeviceSweep call = right_call();
  change(call);
  try {
    check_device_sweep(sweeping(channels), call);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(DeviceSweep, OfTheShapeIsTaken) {
  EXPECT_EQ(refusal([](DeviceSweep&) {}), "");
  EXPECT_EQ(refusal([](DeviceSweep& it) { it.images.pop_back(); }), "") << "fewer sources";
  EXPECT_EQ(refusal([](DeviceSweep& it) { it.mask = {}; }), "") << "no mask";
  EXPECT_EQ(refusal([](DeviceSweep& it) { it.normal = it.confidence = {}; }), "") << "the depth alone";
  const auto coloured = [](DeviceSweep& it) {
    for (DevicePixels& image : it.images) image.channels = 3, image.pitch = 3 * kSide;
  };
  EXPECT_EQ(refusal(coloured, 3), "");
}

TEST(DeviceSweep, OfAnotherShapeIsRefused) {
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.images.resize(1); }), HasSubstr("there are 0 sources"));
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.images.push_back(it.images.back()); }),
              HasSubstr("there are 3 sources; the sweeper takes 1 to 2"));
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.images[0].data = nullptr; }),
              HasSubstr("the reference has no memory"));
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.images[2].width = 21; }),
              HasSubstr("source 1 has 21x10 pixels; the sweeper is for 20x10"));
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.images[1].pitch = 19; }),
              HasSubstr("source 0 has a pitch of 19 bytes; a row takes 20"));
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.images[1].channels = 3; }),
              HasSubstr("source 0 has 3 channels; the sweeper is for images of 1"));
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.mask.height = 9; }),
              HasSubstr("the mask of the reference has 20x9 pixels"));
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.mask.channels = 3; }),
              HasSubstr("the mask of the reference has 3"));
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.depth = {}; }), HasSubstr("depth has no memory"));
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.depth.pitch = 82; }), HasSubstr("no multiples of 4"));
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.normal.pitch = 12 * kSide - 4; }),
              HasSubstr("normal has a pitch of 236 bytes; a row takes 240"));
  EXPECT_THAT(refusal([](DeviceSweep& it) { it.confidence.data = nowhere<float>(0x7002); }),
              HasSubstr("confidence has values at addresses"));
}

TEST(DeviceSweep, NeedsAGpu) {
  const auto cpu = make_cpu_backend({1, {}});
  EXPECT_THROW(cpu->device_sweeper(sweeping()), DeviceUnavailable);
}

}  // namespace
}  // namespace recon
