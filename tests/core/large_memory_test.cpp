// Large arrays: freed memory is reused, and the memory held never exceeds the peak use.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "core/aligned_buffer.hpp"
#include "core/error.hpp"

namespace recon {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Each test starts with an empty cache and its own counts.
class LargeMemory : public testing::Test {
 protected:
  LargeMemory() { release_kept_memory(); }
  ~LargeMemory() override { release_kept_memory(); }
};

TEST_F(LargeMemory, IsAlignedAndAsLargeAsAskedFor) {
  for (const std::size_t bytes : {kMiB, kMiB + 1, 3 * kMiB + 63}) {
    const LargeBlock block = take_large_memory(bytes);
    EXPECT_GE(block.bytes, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % 64, 0u);
    give_back_large_memory(block);
  }
}

TEST_F(LargeMemory, ServesAgain) {
  const LargeBlock first = take_large_memory(8 * kMiB);
  give_back_large_memory(first);
  EXPECT_EQ(kept_memory(), 8 * kMiB);
  const LargeBlock second = take_large_memory(8 * kMiB - kMiB / 2);
  EXPECT_EQ(second.data, first.data);
  EXPECT_EQ(kept_memory(), 0u);
  give_back_large_memory(second);
}

TEST_F(LargeMemory, TheBlockThatFitsBestServes) {
  const LargeBlock larger = take_large_memory(9 * kMiB), smaller = take_large_memory(8 * kMiB);
  give_back_large_memory(larger);
  give_back_large_memory(smaller);
  const LargeBlock again = take_large_memory(8 * kMiB);
  EXPECT_EQ(again.data, smaller.data);
  give_back_large_memory(again);
}

TEST_F(LargeMemory, ABlockMuchTooLargeDoesNot) {
  give_back_large_memory(take_large_memory(8 * kMiB));
  const LargeBlock small = take_large_memory(2 * kMiB);
  EXPECT_EQ(small.bytes, 2 * kMiB);
  give_back_large_memory(small);
}

TEST_F(LargeMemory, NeverHoldsMoreThanWasOnceInUse) {
  give_back_large_memory(take_large_memory(8 * kMiB));
  const LargeBlock other = take_large_memory(4 * kMiB);  // with the 8 in the cache that would be 12
  EXPECT_EQ(kept_memory(), 0u);
  give_back_large_memory(other);
  EXPECT_EQ(kept_memory(), 4 * kMiB);
  const LargeBlock third = take_large_memory(3 * kMiB);  // 7 of the peak of 8
  EXPECT_EQ(kept_memory(), 4 * kMiB);
  give_back_large_memory(third);
}

TEST_F(LargeMemory, IsReleasedOnRequest) {
  give_back_large_memory(take_large_memory(5 * kMiB));
  release_kept_memory();
  EXPECT_EQ(kept_memory(), 0u);
}

TEST_F(LargeMemory, BuffersUseIt) {
  const void* place = nullptr;
  {
    AlignedBuffer<float> buffer(kMiB);
    place = buffer.data();
    AlignedBuffer<float> moved = std::move(buffer);
    EXPECT_EQ(moved.data(), place);
    EXPECT_EQ(kept_memory(), 0u);
  }
  EXPECT_EQ(kept_memory(), kMiB * sizeof(float));
  const AlignedBuffer<float> again(kMiB);
  EXPECT_EQ(again.data(), place);
}

TEST_F(LargeMemory, SmallBuffersAreNotKept) {
  { const AlignedBuffer<float> buffer(1000); }
  EXPECT_EQ(kept_memory(), 0u);
}

TEST_F(LargeMemory, MoreThanThereIsIsOutOfMemory) {
  give_back_large_memory(take_large_memory(2 * kMiB));
  EXPECT_THROW(take_large_memory(std::size_t{1} << 60), OutOfMemory);
  EXPECT_THROW(take_large_memory(std::numeric_limits<std::size_t>::max() - 63), OutOfMemory);
}

TEST_F(LargeMemory, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        AlignedBuffer<std::uint8_t> buffer(kMiB + static_cast<std::size_t>(64 * ((i + t) % 3)));
        buffer.data()[0] = static_cast<std::uint8_t>(t);
        buffer.data()[kMiB - 1] = static_cast<std::uint8_t>(t);
        std::this_thread::yield();
        EXPECT_EQ(buffer.data()[0], t);
        EXPECT_EQ(buffer.data()[kMiB - 1], t);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(kept_memory(), 4 * (kMiB + 128));
}

}  // namespace
}  // namespace recon
