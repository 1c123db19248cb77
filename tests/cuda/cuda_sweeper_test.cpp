// Views in device memory: the public sweeper beside the public call for images in host memory, bit for bit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda/live_calls.hpp"
#include "cuda/live_views.hpp"
#include "reconstruct/sweep.hpp"
#include "reconstruct/sweeper.hpp"

namespace recon {
namespace {

using reconstruct::DeviceDepthMapsView;
using reconstruct::DeviceImage;
using reconstruct::DeviceView;
using reconstruct::Options;
using reconstruct::PixelType;
using reconstruct::Sweeper;
using test::maps_for;
using testing::HasSubstr;
using Views = test::LiveViews;

/// A map beside that of the host, and what lies beside it.
template <class T>
void expect_same(const reconstruct::DeviceMapViewOf<T>& found, const reconstruct::Map<T>& expected,
                 cuda::Call& call, const char* name) {
  constexpr int kFloats = sizeof(T) / sizeof(float);
  const auto pitch = found.pitch / static_cast<std::ptrdiff_t>(sizeof(float));
  const Image<float> all =
      call.download(reinterpret_cast<const float*>(found.data), pitch, static_cast<int>(pitch), found.height);
  int differ = 0, beside = 0;
  for (int y = 0; y < found.height; ++y) {
    const auto* row = reinterpret_cast<const float*>(expected.row(y));
    for (int x = 0; x < pitch; ++x) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &all(x, y), sizeof bits);
      if (x >= kFloats * found.width)
        beside += bits == 0xFFFFFFFFu ? 0 : 1;
      else
        differ += std::memcmp(&all(x, y), row + x, sizeof(float)) == 0 ? 0 : 1;
    }
  }
  EXPECT_EQ(differ, 0) << "values of " << name << " differ";
  EXPECT_EQ(beside, 0) << "values were written beside " << name;
}

void expect_same(const DeviceDepthMapsView& found, const reconstruct::DepthMaps& expected, cuda::Call& call) {
  expect_same(found.depth, expected.depth, call, "the depth");
  expect_same(found.normal, expected.normal, call, "the normal");
  expect_same(found.confidence, expected.confidence, call, "the confidence");
}

/// The share of the pixels with a depth.
double known_share(const reconstruct::Map<float>& depth) {
  int known = 0;
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x) known += std::isnan(depth(x, y)) ? 0 : 1;
  return static_cast<double>(known) / (static_cast<double>(depth.width) * depth.height);
}

struct SweeperCase {
  std::string name;
  int width, height, sources;
  Options options = {};
  PixelType type = PixelType::kGrey8;
  int padding = 0;  ///< bytes of the images, pixels of the maps
  bool masked = false;
};

class CudaSweeper : public test::GpuTest<testing::TestWithParam<SweeperCase>> {};

TEST_P(CudaSweeper, EqualsTheCallFromHostMemoryToTheBit) {
  const SweeperCase& c = GetParam();
  const reconstruct::Device device = test::gpu();
  const Views views(c.width, c.height, c.sources, c.type);
  const auto expected = reconstruct::sweep(device, views.host(0, c.masked), views.host_sources(), c.options);
  const double least = c.width > 100 ? 0.1 : 0;
  EXPECT_GE(known_share(expected.depth), least) << "next to nothing is compared";
  const Sweeper sweeper(device, c.width, c.height, c.type, c.sources, c.options);
  cuda::Call call;
  for (int repeat = 0; repeat < 2; ++repeat) {
    SCOPED_TRACE("call " + std::to_string(repeat));
    const DeviceDepthMapsView maps = maps_for(views, call, c.padding);
    sweeper.sweep(views.upload(0, call, c.padding, c.masked), views.upload_sources(call, 2 * c.padding), maps,
                  call.get());
    expect_same(maps, expected, call);
  }
}

std::vector<SweeperCase> sweeper_cases() {
  constexpr PixelType kRgb = PixelType::kRgb8, kGrey = PixelType::kGrey8;
  const Options bounded = {{"depth-min", "1"}, {"depth-max", "8"}};
  const auto with = [](Options options, const Options& more) {
    options.insert(more.begin(), more.end());
    return options;
  };
  const Options planes = {{"planes", "48"}, {"optimizer", "sgm"}};
  return {
      {"patches", 480, 352, 3},
      {"patches_bounded", 480, 352, 3, bounded, kGrey, 13},
      {"patches_of_two_levels", 800, 650, 2, bounded},
      {"patches_searched", 1000, 700, 2},
      {"patches_of_one_level", 200, 150, 2, {}, kGrey, 1},
      {"patches_masked", 480, 352, 2, bounded, kGrey, 3, true},
      {"patches_of_colours", 331, 321, 2, {}, kRgb, 5, true},
      {"patches_plain", 200, 150, 1, with(bounded, {{"refine", "none"}})},
      {"patches_cut_off", 480, 352, 2, {{"depth-min", "3"}, {"depth-max", "4.000001"}}},
      {"planes", 331, 221, 2, planes, kGrey, 7},
      {"planes_bounded", 331, 221, 2, with(planes, bounded), kGrey, 7, true},
      {"planes_winner", 200, 150, 2, {{"planes", "48"}, {"optimizer", "winner"}}},
      {"planes_textured", 200, 150, 2, with(planes, {{"min-texture", "30"}, {"speckle", "200"}})},
      {"planes_all", 200, 150, 2, with(planes, {{"min-texture", "0"}, {"speckle", "0"}})},
      {"planes_sad_of_colours", 200, 150, 2, with(planes, {{"cost", "sad"}, {"colour", "true"}}), kRgb, 3},
      {"planes_sad_of_grey", 200, 150, 2, with(planes, {{"cost", "sad"}, {"colour", "true"}})},
      {"planes_of_windows", 200, 150, 2, with(planes, {{"aggregation", "cw"}, {"cost", "sad"}})},
      {"planes_of_crosses", 200, 150, 2, with(planes, {{"aggregation", "cross"}, {"cost", "sad"}}), kRgb},
      {"one_row", 70, 1, 1, bounded},
      {"one_pixel", 1, 1, 1, bounded}};
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaSweeper, testing::ValuesIn(sweeper_cases()),
                         [](const auto& test_case) { return test_case.param.name; });

class CudaSweeperCalls : public test::GpuTest<> {
 protected:
  static Options bounded() { return {{"depth-min", "1"}, {"depth-max", "8"}}; }
};

TEST_F(CudaSweeperCalls, EqualTheCpu) {
  const Views views(480, 352, 3);
  const reconstruct::Device cpu({.device = "cpu", .threads = 2, .memory_limit = {}, .gpu_memory_limit = {}});
  const auto expected = reconstruct::sweep(cpu, views.host(0), views.host_sources());
  const Sweeper sweeper(test::gpu(), 480, 352, PixelType::kGrey8, 3);
  cuda::Call call;
  const DeviceDepthMapsView maps = maps_for(views, call);
  sweeper.sweep(views.upload(0, call), views.upload_sources(call), maps, call.get());
  EXPECT_TRUE(test::same_bits(test::downloaded(maps.depth, call, 480), expected.depth));
  EXPECT_TRUE(test::same_bits(test::downloaded(maps.confidence, call, 480), expected.confidence));
}

TEST_F(CudaSweeperCalls, TakeOtherBoundsSourcesAndMapsEachTime) {
  const reconstruct::Device device = test::gpu();
  const Views views(480, 352, 3);
  const Sweeper sweeper(device, 480, 352, PixelType::kGrey8, 3, {{"depth-max", "30"}});
  cuda::Call call;
  const DeviceView reference = views.upload(0, call);
  std::vector<DeviceView> sources = views.upload_sources(call);
  std::vector<reconstruct::View> host = views.host_sources();
  const DeviceDepthMapsView maps = maps_for(views, call);
  sweeper.sweep(reference, sources, maps, call.get(), {.min = 1.5, .max = 6});
  expect_same(maps,
              reconstruct::sweep(device, views.host(0), host, {{"depth-min", "1.5"}, {"depth-max", "6"}}),
              call);
  sources.pop_back();
  host.pop_back();
  const DeviceDepthMapsView two = maps_for(views, call);
  sweeper.sweep(reference, sources, two, call.get());
  const auto expected = reconstruct::sweep(device, views.host(0), host, {{"depth-max", "30"}});
  expect_same(two, expected, call);
  DeviceDepthMapsView depth_alone = maps_for(views, call);
  depth_alone.normal = {};
  depth_alone.confidence = {};
  sweeper.sweep(reference, sources, depth_alone, call.get());
  expect_same(depth_alone.depth, expected.depth, call, "the depth alone");
}

TEST_F(CudaSweeperCalls, AllocateNothing) {
  const reconstruct::Device device = test::gpu();
  const Views views(480, 352, 3);
  const Sweeper sweeper(device, 480, 352, PixelType::kGrey8, 3);
  EXPECT_GT(sweeper.bytes(), std::size_t{480} * 352 * 30);
  cuda::Call call;
  const DeviceView reference = views.upload(0, call);
  std::vector<DeviceView> sources = views.upload_sources(call);
  const DeviceDepthMapsView maps = maps_for(views, call);
  const auto sweep = [&](int i) {
    for (DeviceView& source : sources) source.cam_from_world.translation[0] *= i % 2 == 0 ? 1.3 : 1 / 1.3;
    if (i % 4 == 0)
      return sweeper.sweep(reference, sources, maps, call.get(), {.min = 1 + 0.1 * i, .max = 8});
    sweeper.sweep(reference, sources, maps, call.get());
  };
  const std::size_t bytes = sweeper.bytes();
  for (int i = 0; i < 2; ++i) sweep(i);
  call.synchronize();
  const std::size_t free = cuda::free_memory();
  for (int i = 2; i < 40; ++i) sweep(i);
  call.synchronize();
  EXPECT_LE(free, cuda::free_memory() + test::kOfTheDriver);
  EXPECT_EQ(sweeper.bytes(), bytes);
}

TEST_F(CudaSweeperCalls, WaitForStreamsAndLetOthersWait) {
  const reconstruct::Device device = test::gpu();
  const Views views(200, 150, 1);
  const auto expected = reconstruct::sweep(device, views.host(0), views.host_sources(), bounded());
  const Sweeper sweeper(device, 200, 150, PixelType::kGrey8, 1, bounded());
  constexpr std::size_t kBytes = std::size_t{200} * 150;
  for (int late = 0; late < 3; ++late) {  // the reference, the source, or what is queued on the stream itself
    SCOPED_TRACE(late);
    cuda::Call camera, worker, reader;
    DeviceView reference = views.upload(0, camera), source = views.upload(1, camera);
    const DeviceDepthMapsView maps = maps_for(views, worker), copy = maps_for(views, reader);
    auto* const memory = camera.take<std::uint8_t>(kBytes);
    for (cuda::Call* call : {&camera, &worker, &reader}) call->synchronize();
    cuda::Call& writer = late == 2 ? worker : camera;
    test::delay(writer.get());
    DeviceImage& image = late == 1 ? source.image : reference.image;
    RECON_CUDA_TRY(cudaMemcpyAsync(memory, image.data, kBytes, cudaMemcpyDeviceToDevice, writer.get()));
    image.data = memory;
    if (late < 2) image.stream = camera.get();
    sweeper.sweep(reference, {source}, maps, worker.get());
    sweeper.order_after_sweep(reader.get());
    RECON_CUDA_TRY(cudaMemcpyAsync(copy.depth.data, maps.depth.data, kBytes * sizeof(float),
                                   cudaMemcpyDeviceToDevice, reader.get()));
    EXPECT_TRUE(test::same_bits(test::downloaded(copy.depth, reader, 200), expected.depth));
    // What follows on the stream of the call waits too.
    EXPECT_TRUE(test::same_bits(test::downloaded(maps.depth, worker, 200), expected.depth));
  }
}

TEST_F(CudaSweeperCalls, OfTwoThreadsGiveEachItsOwnResult) {
  const reconstruct::Device device = test::gpu();
  const Views views[] = {{200, 150, 1}, {200, 150, 2}};
  const Sweeper sweeper(device, 200, 150, PixelType::kGrey8, 2);
  constexpr int kRounds = 20;
  int right[2] = {0, 0};
  const auto work = [&](int i) {
    const Views& own = views[i];
    const auto expected = reconstruct::sweep(device, own.host(0), own.host_sources());
    cuda::Call call;
    const DeviceView reference = own.upload(0, call);
    const std::vector<DeviceView> sources = own.upload_sources(call);
    for (int round = 0; round < kRounds; ++round) {
      const DeviceDepthMapsView maps = maps_for(own, call);
      sweeper.sweep(reference, sources, maps, call.get());
      right[i] += test::same_bits(test::downloaded(maps.depth, call, 200), expected.depth) ? 1 : 0;
    }
  };
  std::future<void> other = std::async(std::launch::async, work, 1);
  work(0);
  other.get();
  EXPECT_THAT(right, testing::Each(kRounds)) << "maps that are right";
}

TEST_F(CudaSweeperCalls, OfSweepersThatEndLeaveNothing) {
  const reconstruct::Device device = test::gpu();
  const Views views(200, 150, 1);
  cuda::Call call;
  const DeviceView reference = views.upload(0, call);
  const std::vector<DeviceView> sources = views.upload_sources(call);
  std::optional<reconstruct::DeviceDepthMaps> kept;
  const auto once = [&] {
    const Sweeper sweeper(device, 200, 150, PixelType::kGrey8, 1, bounded());
    const reconstruct::DeviceDepthMaps maps = sweeper.new_maps();
    sweeper.sweep(reference, sources, maps, call.get());  // the sweeper ends while its work is queued
    if (!kept) kept = maps;
  };
  for (int i = 0; i < 3; ++i) once();
  call.synchronize();
  const std::size_t free = cuda::free_memory();
  for (int i = 0; i < 20; ++i) once();
  call.synchronize();
  EXPECT_LE(free, cuda::free_memory() + test::kOfTheDriver);
  expect_same(*kept, reconstruct::sweep(device, views.host(0), views.host_sources(), bounded()), call);
}

TEST_F(CudaSweeperCalls, RefuseWhatTheyCannotTake) {
  const Views views(200, 150, 1), smaller(190, 150, 1), coloured(200, 150, 1, PixelType::kRgb8);
  Sweeper sweeper(test::gpu(), 200, 150, PixelType::kGrey8, 1, bounded());
  cuda::Call call;
  const DeviceView reference = views.upload(0, call), source = views.upload(1, call);
  const DeviceDepthMapsView maps = maps_for(views, call);
  const auto refusal = [&](const DeviceView& a, const std::vector<DeviceView>& b,
                           const DeviceDepthMapsView& to, const reconstruct::DepthBounds& bounds = {}) {
    try {
      sweeper.sweep(a, b, to, call.get(), bounds);
    } catch (const reconstruct::UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto changed = [](DeviceView view, const auto& change) {
    change(view);
    return view;
  };
  const auto with_maps = [&](const auto& change) {
    DeviceDepthMapsView other = maps;
    change(other);
    return refusal(reference, {source}, other);
  };
  const cuda::PinnedBuffer pinned(std::size_t{200} * 150 * sizeof(float) * 3);
  EXPECT_THAT(
      refusal(changed(reference, [&](auto& it) { it.image.data = views.host(0).image.data; }), {source},
              maps),
      HasSubstr("the reference is not in the memory of a GPU; images in host memory are for sweep()"));
  EXPECT_THAT(refusal(reference, {changed(source, [&](auto& it) { it.image.data = pinned.data(); })}, maps),
              HasSubstr("source 0 is not in the memory of a GPU"));
  EXPECT_THAT(refusal(reference, {changed(source, [](auto& it) { it.image.data = nullptr; })}, maps),
              HasSubstr("source 0 has no memory"));
  EXPECT_THAT(refusal(changed(reference, [](auto& it) { it.image.pitch = 199; }), {source}, maps),
              HasSubstr("the reference has a pitch of 199 bytes; a row takes 200"));
  EXPECT_THAT(refusal(smaller.upload(0, call), {source}, maps),
              HasSubstr("the reference has 190x150 pixels; the sweeper is for 200x150"));
  EXPECT_THAT(refusal(reference, {coloured.upload(1, call)}, maps), HasSubstr("source 0 has 3 channels"));
  EXPECT_THAT(
      refusal(changed(reference, [](auto& it) { it.image.type = PixelType::kGrey16; }), {source}, maps),
      HasSubstr("the reference is of 16 bits"));
  EXPECT_THAT(
      refusal(changed(reference, [&](auto& it) { it.mask = smaller.upload(0, call).image; }), {source}, maps),
      HasSubstr("the mask of the reference has 190x150 pixels"));
  EXPECT_THAT(refusal(reference, {}, maps), HasSubstr("there are 0 sources"));
  EXPECT_THAT(refusal(reference, {source, source}, maps),
              HasSubstr("there are 2 sources; the sweeper takes 1 to 1"));
  EXPECT_THAT(refusal(changed(reference, [](auto& it) { it.camera.fx = 0; }), {source}, maps),
              HasSubstr("the reference has the focal lengths 0"));
  EXPECT_THAT(refusal(reference, {source}, maps, {.min = 3, .max = 2}), HasSubstr("bounded by 3 and 2"));
  EXPECT_THAT(refusal(reference, {source}, maps, {.min = -1, .max = {}}),
              HasSubstr("a bound of the depths is -1"));
  EXPECT_THAT(with_maps([](auto& to) { to.depth.data = nullptr; }), HasSubstr("depth has no memory"));
  EXPECT_THAT(with_maps([&](auto& to) { to.depth.data = reinterpret_cast<float*>(pinned.data()); }),
              HasSubstr("depth is not in the memory of a GPU"));
  EXPECT_THAT(with_maps([](auto& to) { to.normal.pitch = 200 * 12 - 4; }),
              HasSubstr("normal has a pitch of 2396"));
  EXPECT_THAT(with_maps([](auto& to) { to.confidence.height = 149; }),
              HasSubstr("confidence has 200x149 pixels"));
  EXPECT_THAT(with_maps([](auto& to) { to.depth.pitch = 802; }), HasSubstr("no multiples of 4"));
  EXPECT_THROW(sweeper.sweep(reference, {reference}, maps, call.get()), reconstruct::InputError)
      << "there is no baseline";
  EXPECT_EQ(refusal(reference, {source}, maps), "");
  const Sweeper taken = std::move(sweeper);
  EXPECT_THAT(refusal(reference, {source}, maps), HasSubstr("the sweeper is empty"));
  taken.sweep(reference, {source}, maps, call.get());
  call.synchronize();
}

TEST_F(CudaSweeperCalls, KeepToTheLimitOfTheDevice) {
  const reconstruct::Device small(
      {.device = "cuda", .threads = 1, .memory_limit = {}, .gpu_memory_limit = std::size_t{64} << 20});
  EXPECT_THROW(Sweeper(small, 1920, 1080, PixelType::kGrey8, 8), reconstruct::OutOfMemory);
}

}  // namespace
}  // namespace recon
