// Batches of pairs in device memory, and threads that work on a GPU.

#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "cuda/device/current_device.hpp"
#include "cuda/live_calls.hpp"
#include "cuda/live_pair.hpp"
#include "reconstruct/matcher.hpp"
#include "reconstruct/stereo.hpp"

namespace recon {
namespace {

using cuda::current_device;
using reconstruct::DeviceImage;
using reconstruct::DeviceMapView;
using reconstruct::Matcher;
using reconstruct::Options;
using reconstruct::PixelType;
using test::downloaded;
using test::gpu;
using test::map_for;
using test::same_bits;
using testing::HasSubstr;
using Pair = test::LivePair;

class CudaBatch : public test::GpuTest<> {
 protected:
  static Options options() { return {{"max-disparity", "32"}}; }
};

TEST_F(CudaBatch, EqualsCallsOneByOne) {
  const reconstruct::Device device = gpu();
  const Pair pairs[] = {
      {160, 90, 32, PixelType::kGrey8}, {160, 90, 20, PixelType::kGrey8}, {160, 90, 7, PixelType::kGrey8}};
  const Matcher matcher(device, 160, 90, PixelType::kGrey8, options());
  cuda::Call call;
  std::vector<DeviceImage> left, right;
  for (const Pair& pair : pairs) {
    left.push_back(pair.upload(0, call));
    right.push_back(pair.upload(1, call, 5));
  }
  const std::vector<reconstruct::DeviceMap> made = matcher.new_maps(3);
  EXPECT_EQ(made[2].data.get(), made[0].data.get() + 2 * 160 * 90) << "not in one allocation";
  const std::vector<DeviceMapView> given = {map_for(pairs[0], call), made[1], map_for(pairs[2], call, 3)};
  matcher.match_batch(left, right, {made.begin(), made.end()}, call.get());
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(
        same_bits(downloaded(made[i], call, 160),
                  reconstruct::match(device, pairs[i].host(0), pairs[i].host(1), options()).disparity))
        << "of pair " << i;
  matcher.match_batch(left, right, given, call.get());
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(
        same_bits(downloaded(given[i], call, 160),
                  reconstruct::match(device, pairs[i].host(0), pairs[i].host(1), options()).disparity))
        << "of pair " << i;
}

TEST_F(CudaBatch, IsRefusedForOne) {
  const Pair pair(160, 90, 32, PixelType::kGrey8), smaller(150, 90, 32, PixelType::kGrey8);
  const Matcher matcher(gpu(), 160, 90, PixelType::kGrey8, options());
  cuda::Call call;
  const DeviceImage image = pair.upload(0, call);
  const DeviceMapView map = map_for(pair, call);
  using Images = std::vector<DeviceImage>;
  const auto refusal = [&](const Images& left, const Images& right, std::size_t maps) {
    try {
      matcher.match_batch(left, right, std::vector<DeviceMapView>(maps, map), call.get());
    } catch (const reconstruct::UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  DeviceImage host = image;
  host.data = pair.host(0).data;
  EXPECT_THAT(refusal({}, {}, 0), HasSubstr("0 left and 0 right images"));
  EXPECT_THAT(refusal({image, image}, {image}, 2), HasSubstr("2 left and 1 right images"));
  EXPECT_THAT(refusal({image, image}, {image, image}, 1), HasSubstr("1 maps for 2 pairs"));
  EXPECT_THAT(refusal({image, image}, {image, host}, 2),
              HasSubstr("pair 1: right is not in the memory of a GPU"));
  EXPECT_THAT(refusal({image, smaller.upload(0, call)}, {image, image}, 2),
              HasSubstr("pair 1: left has 150x90 pixels"));
  const Image<float> untouched = downloaded(map, call, 160);
  for (int y = 0; y < 90; ++y)
    for (int x = 0; x < 160; ++x) ASSERT_TRUE(std::isnan(untouched(x, y))) << "pair 0 was matched";
  EXPECT_THROW(static_cast<void>(matcher.new_maps(0)), reconstruct::UsageError);
}

class CudaThreads : public CudaBatch {};

/// Whether a context is current in the calling thread, by the driver.
bool has_context() {
  void* call = nullptr;
  cudaDriverEntryPointQueryResult found{};
  RECON_CUDA_TRY(
      cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &call, 12000, cudaEnableDefault, &found));
  CUcontext context = nullptr;
  EXPECT_EQ(reinterpret_cast<CUresult (*)(CUcontext*)>(call)(&context), CUDA_SUCCESS);
  return context != nullptr;
}

TEST_F(CudaThreads, StayWithoutAContext) {
  const int last = find_cuda_devices().visible - 1;
  const Pair pair(160, 90, 32, PixelType::kGrey8);
  std::async(std::launch::async, [&] {
    ASSERT_FALSE(has_context()) << "of a fresh thread";
    const cuda::CurrentDevice current(last);
    EXPECT_EQ(current_device(), last);
    EXPECT_TRUE(has_context());
  }).get();
  std::async(std::launch::async, [&] {
    const std::string name = "cuda:" + std::to_string(last);
    const reconstruct::Device device(
        {.device = name, .threads = 1, .memory_limit = {}, .gpu_memory_limit = {}});
    EXPECT_FALSE(has_context()) << "after a device was opened";
    const Matcher matcher(device, 160, 90, PixelType::kGrey8, options());
    EXPECT_FALSE(has_context()) << "after a matcher was made";
    std::optional<reconstruct::DeviceMap> map = matcher.new_map();
    map.reset();
    EXPECT_FALSE(has_context()) << "after a map was made and freed";
    reconstruct::match(device, pair.host(0), pair.host(1), options());
    EXPECT_FALSE(has_context()) << "after a pair was matched";
    EXPECT_EQ(current_device(), 0);
  }).get();
}

}  // namespace
}  // namespace recon
