// Pairs in device memory: the public matcher beside the public call for images in host memory, bit for bit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <string>
#include <thread>
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
using test::delay;
using test::downloaded;
using test::gpu;
using test::kOfTheDriver;
using test::map_for;
using test::same_bits;
using testing::HasSubstr;
using Pair = test::LivePair;

struct MatcherCase {
  std::string name;
  int width, height, disparities;
  Options options = {};
  PixelType type = PixelType::kGrey8;
  int padding = 0;  ///< bytes of the images, floats of the map
};

class CudaMatcher : public test::GpuTest<testing::TestWithParam<MatcherCase>> {};

TEST_P(CudaMatcher, EqualsTheCallFromHostMemoryToTheBit) {
  const MatcherCase& c = GetParam();
  const reconstruct::Device device = gpu();
  const Pair pair(c.width, c.height, c.disparities, c.type);
  Options options = c.options;
  options["max-disparity"] = std::to_string(c.disparities);
  const auto expected = reconstruct::match(device, pair.host(0), pair.host(1), options).disparity;
  const Matcher matcher(device, c.width, c.height, c.type, options);
  cuda::Call call;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const DeviceMapView map = map_for(pair, call, c.padding);
    matcher.match(pair.upload(0, call, c.padding), pair.upload(1, call, 2 * c.padding), map, call.get());
    EXPECT_TRUE(same_bits(downloaded(map, call, c.width), expected)) << "call " << repeat;
    const Image<float> padded = downloaded(map, call, c.width + c.padding);
    for (int y = 0; y < c.height; ++y)
      for (int x = c.width; x < padded.width(); ++x) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &padded(x, y), sizeof(bits));
        ASSERT_EQ(bits, 0xFFFFFFFFu) << "written beside the map at " << x << ", " << y;
      }
  }
}

std::vector<MatcherCase> matcher_cases() {
  constexpr PixelType kRgb = PixelType::kRgb8;
  return {{"sgm", 160, 90, 32},
          {"sgm_without_patches", 160, 90, 32, {{"speckle", "0"}}},
          {"sgm_large_patches", 160, 90, 32, {{"speckle", "2000"}}},
          {"sgm_odd", 131, 57, 20, {}, PixelType::kGrey8, 13},
          {"sgm_one_row", 70, 1, 16, {}, PixelType::kGrey8, 1},
          {"sgm_one_pixel", 1, 1, 1},
          {"sgm_colour", 131, 57, 20, {}, kRgb, 7},
          {"sgm_vga", 640, 480, 128, {}, PixelType::kGrey8, 64},
          {"sgm_negative", 131, 57, 20, {{"min-disparity", "-5"}, {"cost", "census9x7"}}},
          {"bm", 131, 57, 20, {{"method", "bm"}}, PixelType::kGrey8, 3},
          {"bm_without_patches", 131, 57, 20, {{"method", "bm"}, {"speckle", "0"}}},
          {"bm_colour", 131, 57, 20, {{"method", "bm"}}, kRgb},
          {"bp", 131, 57, 20, {{"method", "bp"}}, PixelType::kGrey8, 3},
          {"bp_without_patches", 131, 57, 20, {{"method", "bp"}, {"speckle", "0"}}},
          {"ad_census", 131, 57, 20, {{"preset", "ad-census"}}, kRgb, 5},
          {"ad_census_of_grey", 131, 57, 20, {{"preset", "ad-census"}, {"speckle", "30"}}},
          {"adaptive", 131, 57, 20, {{"cost", "census9x7"}, {"aggregation", "aw"}}, kRgb},
          {"pipeline_sgm", 131, 57, 20, {{"method", "pipeline"}, {"refine", "lr,subpixel,median"}}, kRgb},
          {"pipeline_winner", 131, 57, 20, {{"cost", "ad"}, {"optimizer", "winner"}}}};
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaMatcher, testing::ValuesIn(matcher_cases()),
                         [](const auto& test_case) { return test_case.param.name; });

class CudaMatcherCalls : public test::GpuTest<> {
 protected:
  static Options options() { return {{"max-disparity", "32"}}; }
};

TEST_F(CudaMatcherCalls, OnManyStreamsGiveEachItsOwnResult) {
  const reconstruct::Device device = gpu();
  const Pair pairs[] = {{160, 90, 32, PixelType::kGrey8}, {160, 90, 20, PixelType::kGrey8}};
  const Matcher matcher(device, 160, 90, PixelType::kGrey8, options());
  cuda::Call calls[2];
  DeviceImage images[2][2];
  reconstruct::Map<float> expected[2];
  for (int i = 0; i < 2; ++i) {
    expected[i] = reconstruct::match(device, pairs[i].host(0), pairs[i].host(1), options()).disparity;
    for (int k = 0; k < 2; ++k) images[i][k] = pairs[i].upload(k, calls[i]);
    calls[i].synchronize();
  }
  std::vector<DeviceMapView> maps[2];
  for (int round = 0; round < 40; ++round)
    for (int i = 0; i < 2; ++i) maps[i].push_back(map_for(pairs[i], calls[i]));
  for (cuda::Call& call : calls) call.synchronize();
  for (std::size_t round = 0; round < maps[0].size(); ++round)
    for (int i = 0; i < 2; ++i) matcher.match(images[i][0], images[i][1], maps[i][round], calls[i].get());
  for (int i = 0; i < 2; ++i)
    for (const DeviceMapView& map : maps[i])
      ASSERT_TRUE(same_bits(downloaded(map, calls[i], 160), expected[i])) << "of pair " << i;
}

TEST_F(CudaMatcherCalls, OfTwoThreadsGiveEachItsOwnResult) {
  const reconstruct::Device device = gpu();
  const Pair pairs[] = {{160, 90, 32, PixelType::kGrey8}, {160, 90, 20, PixelType::kGrey8}};
  const Matcher matcher(device, 160, 90, PixelType::kGrey8, options());
  constexpr int kRounds = 200;
  int right[2] = {0, 0};
  const auto work = [&](int i) {
    const auto expected = reconstruct::match(device, pairs[i].host(0), pairs[i].host(1), options()).disparity;
    cuda::Call call;
    const DeviceImage images[] = {pairs[i].upload(0, call), pairs[i].upload(1, call)};
    for (int round = 0; round < kRounds; ++round) {
      const DeviceMapView map = map_for(pairs[i], call);
      matcher.match(images[0], images[1], map, call.get());
      right[i] += same_bits(downloaded(map, call, 160), expected) ? 1 : 0;
    }
  };
  std::future<void> other = std::async(std::launch::async, work, 1);
  work(0);
  other.get();
  EXPECT_THAT(right, testing::Each(kRounds)) << "maps that are right";
}

/// Does with a matcher on a GPU all that there is while `before` is current, which must stay so.
void expect_current_device_stays(int before, int on) {
  SCOPED_TRACE("cuda:" + std::to_string(before) +
               " is current, the matcher is on cuda:" + std::to_string(on));
  const Pair pair(160, 90, 32, PixelType::kGrey8);
  RECON_CUDA_TRY(cudaSetDevice(on));
  cuda::Call call;
  const DeviceImage left = pair.upload(0, call), right = pair.upload(1, call);
  const DeviceMapView map = map_for(pair, call);
  RECON_CUDA_TRY(cudaSetDevice(before));
  std::optional<reconstruct::Device> device(
      std::in_place,
      reconstruct::DeviceOptions{
          .device = "cuda:" + std::to_string(on), .threads = 1, .memory_limit = {}, .gpu_memory_limit = {}});
  EXPECT_EQ(current_device(), before) << "a device was opened";
  std::optional<Matcher> matcher(std::in_place, *device, 160, 90, PixelType::kGrey8,
                                 Options{{"max-disparity", "32"}});
  EXPECT_EQ(current_device(), before) << "a matcher was made";
  matcher->match(left, right, map, call.get());
  EXPECT_EQ(current_device(), before) << "a pair was matched";
  matcher->order_after_match(call.get());
  std::optional<reconstruct::DeviceMap> made = matcher->new_map();
  EXPECT_EQ(current_device(), before) << "a map was made";
  matcher.reset();
  made.reset();
  EXPECT_EQ(current_device(), before) << "the matcher and the map are gone";
  device.reset();
  EXPECT_EQ(current_device(), before) << "the device is closed";
  RECON_CUDA_TRY(cudaSetDevice(on));  // of the call
  call.synchronize();
}

TEST_F(CudaMatcherCalls, LeaveTheCurrentDevice) {
  const int last = find_cuda_devices().visible - 1;
  expect_current_device_stays(0, last);
  expect_current_device_stays(last, 0);
  RECON_CUDA_TRY(cudaSetDevice(0));
  if (last == 0) GTEST_SKIP() << "with one GPU no other can become current";
}

TEST_F(CudaMatcherCalls, TakeTheDefaultStreams) {
  const reconstruct::Device device = gpu();
  const Pair pair(160, 90, 32, PixelType::kGrey8);
  const auto expected = reconstruct::match(device, pair.host(0), pair.host(1), options()).disparity;
  const Matcher matcher(device, 160, 90, PixelType::kGrey8, options());
  cuda::Call call;
  const DeviceImage left = pair.upload(0, call), right = pair.upload(1, call);
  for (const cudaStream_t stream : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread}) {
    const DeviceMapView map = map_for(pair, call);
    call.synchronize();
    matcher.match(left, right, map, stream);
    RECON_CUDA_TRY(cudaStreamSynchronize(stream));
    EXPECT_TRUE(same_bits(downloaded(map, call, 160), expected));
  }
}

TEST_F(CudaMatcherCalls, WaitForTheStreamOfAnImageAndLetOthersWait) {
  const reconstruct::Device device = gpu();
  const Pair pair(160, 90, 32, PixelType::kGrey8);
  const auto expected = reconstruct::match(device, pair.host(0), pair.host(1), options()).disparity;
  const Matcher matcher(device, 160, 90, PixelType::kGrey8, options());
  cuda::Call camera, worker, reader;
  DeviceImage left = pair.upload(0, camera);
  const DeviceImage right = pair.upload(1, worker);
  const DeviceMapView map = map_for(pair, worker), copy = map_for(pair, reader);
  auto* const late = camera.take<std::uint8_t>(160 * 90);
  for (cuda::Call* call : {&camera, &worker, &reader}) call->synchronize();
  delay(camera.get());
  RECON_CUDA_TRY(cudaMemcpyAsync(late, left.data, 160 * 90, cudaMemcpyDeviceToDevice, camera.get()));
  left.data = late;
  left.stream = camera.get();
  matcher.match(left, right, map, worker.get());
  matcher.order_after_match(reader.get());
  RECON_CUDA_TRY(
      cudaMemcpyAsync(copy.data, map.data, 160 * 90 * sizeof(float), cudaMemcpyDeviceToDevice, reader.get()));
  EXPECT_TRUE(same_bits(downloaded(copy, reader, 160), expected));
}

TEST_F(CudaMatcherCalls, WaitForTheStreamOfTheMap) {
  const reconstruct::Device device = gpu();
  const Pair pair(160, 90, 32, PixelType::kGrey8);
  const auto expected = reconstruct::match(device, pair.host(0), pair.host(1), options()).disparity;
  const Matcher matcher(device, 160, 90, PixelType::kGrey8, options());
  cuda::Call reader, worker;
  const DeviceImage left = pair.upload(0, worker), right = pair.upload(1, worker);
  DeviceMapView map = map_for(pair, worker);
  const DeviceMapView copy = map_for(pair, reader);
  matcher.match(left, right, map, worker.get());
  RECON_CUDA_TRY(cudaMemsetAsync(map.data, 0, 160 * 90 * sizeof(float), worker.get()));
  for (cuda::Call* call : {&reader, &worker}) call->synchronize();
  delay(reader.get());
  RECON_CUDA_TRY(
      cudaMemcpyAsync(copy.data, map.data, 160 * 90 * sizeof(float), cudaMemcpyDeviceToDevice, reader.get()));
  map.stream = reader.get();
  matcher.match(left, right, map, worker.get());
  EXPECT_TRUE(same_bits(downloaded(map, worker, 160), expected));
  const Image<float> before = downloaded(copy, reader, 160);
  int written = 0;
  for (int y = 0; y < 90; ++y)
    for (int x = 0; x < 160; ++x) written += before(x, y) == 0.0f ? 0 : 1;
  EXPECT_EQ(written, 0) << "values that its reader had not read yet";
}

TEST_F(CudaMatcherCalls, WithOtherMemoryEachTimeKeepNone) {
  const reconstruct::Device device = gpu();
  const Pair pair(160, 90, 32, PixelType::kGrey8);
  const Matcher matcher(device, 160, 90, PixelType::kGrey8, options());
  EXPECT_GT(matcher.bytes(), std::size_t{160} * 90 * 32);
  cuda::Call call;
  constexpr std::size_t kSets = 5;
  std::vector<DeviceImage> lefts, rights;
  std::vector<DeviceMapView> maps;
  for (std::size_t i = 0; i < kSets; ++i) {
    lefts.push_back(pair.upload(0, call));
    rights.push_back(pair.upload(1, call));
    maps.push_back(map_for(pair, call));
  }
  const auto match = [&](std::size_t i) {
    matcher.match(lefts[i % kSets], rights[i / kSets % kSets], maps[i % kSets], call.get());
  };
  match(0);
  call.synchronize();
  const std::size_t free = cuda::free_memory();
  for (std::size_t i = 0; i < 1000; ++i) match(i);
  call.synchronize();
  EXPECT_LE(free, cuda::free_memory() + kOfTheDriver);
}

TEST_F(CudaMatcherCalls, OfMatchersThatEndLeaveNothing) {
  const reconstruct::Device device = gpu();
  const Pair pair(640, 480, 64, PixelType::kGrey8);
  cuda::Call call;
  const DeviceImage left = pair.upload(0, call), right = pair.upload(1, call);
  std::optional<reconstruct::DeviceMap> kept;
  const auto once = [&] {
    const Matcher matcher(device, 640, 480, PixelType::kGrey8, {{"max-disparity", "64"}});
    const reconstruct::DeviceMap map = matcher.new_map();
    matcher.match(left, right, map, call.get());  // the matcher ends while its work is queued
    if (!kept) kept = map;
  };
  for (int i = 0; i < 3; ++i) once();
  call.synchronize();
  const std::size_t free = cuda::free_memory();
  for (int i = 0; i < 50; ++i) once();
  call.synchronize();
  EXPECT_LE(free, cuda::free_memory() + kOfTheDriver);
  const auto expected =
      reconstruct::match(device, pair.host(0), pair.host(1), {{"max-disparity", "64"}}).disparity;
  EXPECT_TRUE(same_bits(downloaded(*kept, call, 640), expected)) << "of a map that outlived its matcher";
}

TEST_F(CudaMatcherCalls, RefuseMemoryOfTheHostAndOtherShapes) {
  const Pair pair(160, 90, 32, PixelType::kGrey8), smaller(150, 90, 32, PixelType::kGrey8);
  Matcher matcher(gpu(), 160, 90, PixelType::kGrey8, options());
  cuda::Call call;
  const DeviceImage left = pair.upload(0, call), right = pair.upload(1, call);
  const DeviceMapView map = map_for(pair, call);
  const auto refusal = [&](const DeviceImage& a, const DeviceImage& b, const DeviceMapView& to) {
    try {
      matcher.match(a, b, to, call.get());
    } catch (const reconstruct::UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  DeviceImage host = left;
  host.data = pair.host(0).data;
  EXPECT_THAT(refusal(host, right, map), HasSubstr("left is not in the memory of a GPU"));
  const cuda::PinnedBuffer pinned(160 * 90 * sizeof(float));
  host.data = pinned.data();
  EXPECT_THAT(refusal(left, host, map), HasSubstr("right is not in the memory of a GPU"));
  DeviceMapView host_map = map;
  host_map.data = reinterpret_cast<float*>(pinned.data());
  EXPECT_THAT(refusal(left, right, host_map), HasSubstr("disparity is not in the memory of a GPU"));
  EXPECT_THAT(refusal(smaller.upload(0, call), right, map), HasSubstr("left has 150x90 pixels"));
  DeviceImage of_16_bits = left;
  of_16_bits.type = PixelType::kGrey16;
  EXPECT_THAT(refusal(left, of_16_bits, map), HasSubstr("right is of 16 bits"));
  EXPECT_EQ(refusal(left, right, map), "");
  const Matcher taken = std::move(matcher);
  EXPECT_THAT(refusal(left, right, map), HasSubstr("the matcher is empty"));
  taken.match(left, right, map, call.get());
  call.synchronize();
}

TEST_F(CudaMatcherCalls, KeepToTheLimitOfTheDevice) {
  const reconstruct::Device small(
      {.device = "cuda", .threads = 1, .memory_limit = {}, .gpu_memory_limit = std::size_t{64} << 20});
  try {
    const Matcher matcher(small, 1280, 720, PixelType::kGrey8, {{"max-disparity", "128"}});
    FAIL() << "a matcher of " << matcher.bytes() << " bytes";
  } catch (const reconstruct::OutOfMemory& error) {
    EXPECT_THAT(error.what(), HasSubstr("the limit is 64 MiB; images of fewer pixels"));
  }
}

}  // namespace
}  // namespace recon
