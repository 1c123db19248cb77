// The division of a device's memory, on a device that is none.

#include "cuda/methods/device_budget.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <limits>
#include <stdexcept>
#include <vector>

namespace recon::cuda {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Notes what a budget does.
struct FakeDevice {
  std::vector<int> released;
  std::size_t images = 0;  ///< max bytes
  int pauses = 0;
  DeviceBudget::Clock::time_point now{100s};

  DeviceBudget::Device device() {
    return {[this](int stream) { released.push_back(stream); }, [this](std::size_t bytes) { images = bytes; },
            [this] { ++pauses; }, [this] { return now; }};
  }
};

class DeviceBudgets : public testing::Test {
 protected:
  FakeDevice device_;
  DeviceBudget budget_{2, 1000, device_.device()};
};

/// Work that fails a number of times, as memory is short.
struct ShortOfMemory {
  int failures;
  int calls = 0;

  int operator()() {
    if (++calls <= failures) throw OutOfMemory("no memory");
    return 7;
  }
};

TEST_F(DeviceBudgets, ImagesGetWhatStreamsLeaveThatDoWorkLikeTheLargest) {
  EXPECT_EQ(budget_.share(), 500u);
  budget_.limit_images();
  EXPECT_EQ(device_.images, 1000u) << "no work yet";
  {
    const auto work = budget_.admit(100);
    EXPECT_EQ(work.bytes(), 500u);
    EXPECT_EQ(device_.images, 800u);
  }
  budget_.admit(50);
  EXPECT_EQ(device_.images, 800u) << "the next work may be large again";
  budget_.admit(500);
  EXPECT_EQ(device_.images, 0u);
  EXPECT_THAT(device_.released, IsEmpty()) << "streams keep their memory for the next work";
}

TEST_F(DeviceBudgets, LargeWorkHasTheMemoryOfOtherStreamsAndNoImages) {
  budget_.admit(100);
  {
    const auto large = budget_.admit(501);
    EXPECT_EQ(large.bytes(), 1000u);
    EXPECT_THAT(device_.released, UnorderedElementsAre(0, 1));
    EXPECT_EQ(device_.images, 0u);
    device_.released.clear();
    budget_.limit_images();
    EXPECT_EQ(device_.images, 0u) << "while it works";
  }
  EXPECT_THAT(device_.released, ElementsAre(testing::AnyOf(0, 1))) << "what other streams need";
  budget_.limit_images();
  EXPECT_EQ(device_.images, 800u) << "large work does not count as that of a stream";
}

TEST_F(DeviceBudgets, WorkAloneWaitsForAllOther) {
  std::future<void> alone;
  {
    const auto other = budget_.admit(100);
    alone = std::async(std::launch::async, [this] {
      EXPECT_EQ(budget_.admit_alone().bytes(), 1000u);
      EXPECT_EQ(device_.released.size(), 3u) << "both streams, and its own at the end";
    });
    EXPECT_EQ(alone.wait_for(50ms), std::future_status::timeout);
  }
  alone.get();
  budget_.limit_images();
  EXPECT_EQ(device_.images, 800u);
}

TEST_F(DeviceBudgets, WorkAloneOfASingleStreamIsWithoutImagesToo) {
  DeviceBudget single(1, 1000, device_.device());
  {
    const auto alone = single.admit_alone();
    EXPECT_EQ(alone.bytes(), 1000u);
    EXPECT_EQ(device_.images, 0u);
    EXPECT_THAT(device_.released, ElementsAre(0));
  }
  single.limit_images();
  EXPECT_EQ(device_.images, 1000u) << "it takes what is free, which says nothing about other work";
}

TEST_F(DeviceBudgets, WorkThatFailsIsDoneAgainWithoutImages) {
  budget_.limit_images();
  ShortOfMemory once{1};
  EXPECT_EQ(budget_.run([&] { return once(); }), 7);
  EXPECT_EQ(once.calls, 2);
  EXPECT_EQ(device_.images, 0u);
  EXPECT_EQ(device_.pauses, 1);
  budget_.admit(100);
  EXPECT_EQ(device_.images, 0u) << "the shortage may last";

  ShortOfMemory again{1};
  EXPECT_THROW(budget_.run([&] { return again(); }), OutOfMemory);
  EXPECT_EQ(again.calls, 1) << "no images were in the way";

  device_.now += DeviceBudget::kPauseOfImages;
  budget_.limit_images();
  EXPECT_EQ(device_.images, 800u);
  ShortOfMemory always{std::numeric_limits<int>::max()};
  EXPECT_THROW(budget_.run([&] { return always(); }), OutOfMemory);
  EXPECT_EQ(always.calls, 2);
  EXPECT_EQ(device_.pauses, 1) << "said once";
}

/// Images may have been in the way of work during which other work gives them up.
TEST_F(DeviceBudgets, WorkThatBeganWithImagesIsDoneAgain) {
  ShortOfMemory outer{1}, inner{1};
  EXPECT_EQ(budget_.run([&] {
    if (outer.calls == 0) budget_.run([&] { return inner(); });
    return outer();
  }),
            7);
  EXPECT_EQ(outer.calls, 2);
}

TEST_F(DeviceBudgets, OtherErrorsAreNotForTheBudget) {
  int calls = 0;
  const auto fails = [&]() -> int {
    ++calls;
    throw DeviceError("a fault");
  };
  EXPECT_THROW(budget_.run(fails), DeviceError);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(device_.pauses, 0);
}

}  // namespace
}  // namespace recon::cuda
