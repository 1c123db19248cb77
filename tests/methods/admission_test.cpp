#include "methods/admission.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <set>
#include <vector>

#include "core/error.hpp"

namespace recon {
namespace {

using namespace std::chrono_literals;

/// Asks for `bytes` on another thread, which returns its streams at once.
std::future<std::vector<int>> work(Admission& admission, std::size_t bytes) {
  return std::async(std::launch::async, [&admission, bytes] { return admission.admit(bytes).streams(); });
}

bool waits(const auto& future) {
  return future.wait_for(50ms) == std::future_status::timeout;
}

TEST(Admission, GivesEachWorkAStreamOfItsOwn) {
  Admission admission(3);
  std::future<std::vector<int>> fourth;
  {
    const auto first = admission.admit(), second = admission.admit(), third = admission.admit();
    std::set<int> streams;
    for (const auto* permit : {&first, &second, &third})
      for (const int stream : permit->streams()) EXPECT_TRUE(streams.insert(stream).second);
    EXPECT_EQ(streams, (std::set<int>{0, 1, 2}));
    fourth = work(admission, 0);
    EXPECT_TRUE(waits(fourth));
  }
  EXPECT_EQ(fourth.get().size(), 1u);
}

TEST(Admission, GivesLargeWorkTheStreamsWhoseMemoryItNeeds) {
  Admission admission(4, 402);
  EXPECT_EQ(admission.share(), 100u);
  EXPECT_EQ(admission.admit(100).streams().size(), 1u);
  EXPECT_EQ(admission.admit(101).streams().size(), 2u);
  EXPECT_EQ(admission.admit(402).streams().size(), 4u) << "all of the memory, with what no share has";
  EXPECT_EQ(admission.admit(1000).streams().size(), 4u);
}

TEST(Admission, IsInTheOrderOfArrival) {
  Admission admission(2, 200);
  std::future<std::vector<int>> large, small;
  {
    const auto first = admission.admit(100);
    large = work(admission, 200);
    EXPECT_TRUE(waits(large)) << "one stream is not enough";
    small = work(admission, 100);
    EXPECT_TRUE(waits(small)) << "large work would starve if small work passed it";
  }
  EXPECT_EQ(large.get().size(), 2u);
  EXPECT_EQ(small.get().size(), 1u);
}

TEST(Admission, RefusesADeviceWithoutStreams) {
  EXPECT_THROW(Admission(0), std::logic_error);
}

}  // namespace
}  // namespace recon
