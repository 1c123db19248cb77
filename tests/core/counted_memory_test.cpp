#include "core/counted_memory.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/image.hpp"
#include "core/parallel.hpp"
#include "core/volume.hpp"

namespace recon {
namespace {

TEST(CountedMemory, CountsTheMostThatIsTakenAtATime) {
  const std::size_t bytes = counted_bytes(3, [] {
    Image<float> kept(16, 10);  // 640 bytes
    { const Volume<float> passing(16, 10, 10); }
    const Image<float> moved = std::move(kept), copy = moved.clone();
    const Image<std::uint8_t> last(64, 1, std::uint8_t{7});
  });
  EXPECT_EQ(bytes, 640u + 6400u);
  EXPECT_FALSE(memory_is_counted());
}

TEST(CountedMemory, ReplacedArraysAreGivenBack) {
  EXPECT_EQ(counted_bytes(1,
                          [] {
                            Image<float> image(16, 10);
                            image = Image<float>(16, 20);
                            image = {};
                            image = Image<float>(16, 5);
                          }),
            640u + 1280u);
}

TEST(CountedMemory, ComputesNothing) {
  int calls = 0;
  const std::size_t bytes = counted_bytes(3, [&] {
    parallel_for(10, [&](int) { ++calls; });
    compute([](int threads) { return static_cast<std::size_t>(100 * threads); }, [&] { ++calls; });
  });
  EXPECT_EQ(bytes, 300u);
  EXPECT_EQ(calls, 0);
  compute([](int) { return std::size_t{1}; }, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(CountedMemory, EndsWithAnException) {
  EXPECT_THROW(counted_bytes(1,
                             [] {
                               Image<float>(1 << 30, 1 << 30).fill(0);
                               Volume<float>(1 << 30, 1 << 30, 1 << 30);
                             }),
               OutOfMemory);
  EXPECT_FALSE(memory_is_counted());
  EXPECT_NE(Image<float>(2, 2, 1.0f)(1, 1), 0.0f);
}

}  // namespace
}  // namespace recon
