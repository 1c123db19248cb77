#include <gtest/gtest.h>

#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/gpu_test.hpp"
#include "cuda/methods/workspace.hpp"

namespace recon::cuda {
namespace {

class Device : public test::GpuTest<> {};

TEST_F(Device, FailedCallsAreNamedWithTheirPlace) {
  try {
    RECON_CUDA_TRY(cudaSetDevice(12345));
    FAIL() << "no exception";
  } catch (const DeviceError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("cudaSetDevice(12345)"), std::string::npos) << what;
    EXPECT_NE(what.find("cudaErrorInvalidDevice"), std::string::npos) << what;
    EXPECT_NE(what.find("device_test.cpp:"), std::string::npos) << what;
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the error was not cleared";
}

TEST_F(Device, TooMuchMemoryIsItsOwnErrorWithTheNumbers) {
  constexpr std::size_t bytes = std::size_t{1} << 50;
  try {
    const DeviceBuffer buffer(bytes);
    FAIL() << "no exception";
  } catch (const OutOfMemory& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find(std::to_string(bytes) + " bytes"), std::string::npos) << what;
    EXPECT_NE(what.find("free"), std::string::npos) << what;
  }
  EXPECT_NO_THROW(DeviceBuffer(1024));
}

TEST_F(Device, BuffersMoveAndEmptyOnesHoldNothing) {
  DeviceBuffer a(100);
  std::byte* data = a.data();
  DeviceBuffer b(std::move(a));
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(b.bytes(), 100u);
  EXPECT_EQ(a.bytes(), 0u);
  EXPECT_EQ(DeviceBuffer(0).data(), nullptr);
}

TEST_F(Device, ArenaGivesAlignedPiecesOfOneAllocation) {
  Arena arena;
  arena.reset(4 * kArenaAlignment);
  auto* a = arena.take<std::uint8_t>(1);
  auto* b = arena.take<float>(65);  // 260 bytes: two steps
  auto* c = arena.take<std::uint8_t>(kArenaAlignment);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % kArenaAlignment, 0u);
  EXPECT_EQ(reinterpret_cast<std::uint8_t*>(b) - a, static_cast<std::ptrdiff_t>(kArenaAlignment));
  EXPECT_EQ(c - a, static_cast<std::ptrdiff_t>(3 * kArenaAlignment));
  EXPECT_EQ(arena.used(), arena.capacity());
  EXPECT_THROW(arena.take<std::uint8_t>(1), std::logic_error);
  arena.reset(kArenaAlignment);
  EXPECT_EQ(arena.capacity(), 4 * kArenaAlignment) << "a smaller need keeps the memory";
  EXPECT_EQ(arena.take<std::uint8_t>(1), a);
  arena.release();
  EXPECT_EQ(arena.capacity(), 0u);
}

TEST_F(Device, ArenaInMemoryOfAnotherOwnerDoesNotGrow) {
  const DeviceBuffer buffer(2 * kArenaAlignment);
  Arena arena(buffer.data(), buffer.bytes());
  EXPECT_EQ(arena.take<std::byte>(1), buffer.data());
  EXPECT_EQ(arena.take<std::byte>(kArenaAlignment), buffer.data() + kArenaAlignment);
  EXPECT_THROW(arena.take<std::byte>(1), std::logic_error);
  EXPECT_THROW(arena.reset(buffer.bytes() + 1), std::logic_error);
  EXPECT_THROW(arena.release(), std::logic_error);
  arena.reset(buffer.bytes());
  EXPECT_EQ(arena.take<std::byte>(1), buffer.data());
}

TEST_F(Device, EventsTimeWhatLiesBetween) {
  const Stream stream;
  const DeviceBuffer buffer(std::size_t{64} << 20);
  Event start, stop;
  start.record(stream);
  RECON_CUDA_TRY(cudaMemsetAsync(buffer.data(), 0, buffer.bytes(), stream.get()));
  stop.record(stream);
  stop.synchronize();
  EXPECT_GT(stop.milliseconds_since(start), 0.0);
}

/// Images of several staging halves, with pitches of their own.
TEST_F(Device, StagingCopiesThereAndBack) {
  constexpr int kWidth = 1999, kHeight = 2 * static_cast<int>(Staging::kBytes) / 4 / 2000;
  Image<float> sent(kWidth, kHeight), received(kWidth, kHeight, -1.0f);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) sent(x, y) = static_cast<float>(y * kWidth + x);
  const std::ptrdiff_t pitch = padded_count<float>(kWidth);
  const DeviceBuffer buffer(static_cast<std::size_t>(pitch) * kHeight * sizeof(float));
  const Stream stream;
  Staging staging;
  const ImageView<const std::uint8_t> bytes{reinterpret_cast<const std::uint8_t*>(sent.row(0)),
                                            kWidth * static_cast<int>(sizeof(float)), kHeight,
                                            sent.pitch() * static_cast<std::ptrdiff_t>(sizeof(float))};
  staging.upload(bytes, reinterpret_cast<std::uint8_t*>(buffer.data()),
                 pitch * static_cast<std::ptrdiff_t>(sizeof(float)), stream);
  staging.download(reinterpret_cast<const float*>(buffer.data()), pitch, received.view(), stream);
  EXPECT_TRUE(test::same_image(sent, received));
}

}  // namespace
}  // namespace recon::cuda
