#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/aligned_buffer.hpp"
#include "core/image.hpp"
#include "core/lru_cache.hpp"
#include "core/volume.hpp"

namespace recon {
namespace {

struct ThreeBytes {
  std::uint8_t a, b, c;
};

template <class T>
std::uintptr_t misalignment(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) % kRowAlignment;
}

TEST(PaddedCount, IsTheSmallestMultipleOf64Bytes) {
  EXPECT_EQ(padded_count<float>(0), 0);
  EXPECT_EQ(padded_count<float>(1), 16);
  EXPECT_EQ(padded_count<float>(16), 16);
  EXPECT_EQ(padded_count<float>(17), 32);
  EXPECT_EQ(padded_count<std::uint8_t>(65), 128);
  EXPECT_EQ(padded_count<double>(9), 16);
  EXPECT_EQ(padded_count<ThreeBytes>(1), 64);
  EXPECT_EQ(padded_count<ThreeBytes>(65), 128);
}

TEST(AlignedBuffer, RefusesMoreThanAnyMemory) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(AlignedBuffer<double>{kMost / 4}, OutOfMemory);
  EXPECT_THROW(AlignedBuffer<char>{kMost}, OutOfMemory);
}

TEST(AlignedBuffer, SaysHowMuchWasAskedForAndWhatToDo) {
  try {
    AlignedBuffer<char> buffer(std::size_t{1} << 62);
    FAIL() << "4 EiB were given";
  } catch (const OutOfMemory& error) {
    EXPECT_NE(std::string(error.what()).find("4398046511104 MiB"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("--memory-limit"), std::string::npos) << error.what();
  }
}

TEST(Image, RowsAreAlignedAtOddWidths) {
  for (const int width : {1, 15, 16, 17, 31, 33, 311}) {
    Image<float> image(width, 3);
    for (int y = 0; y < 3; ++y) EXPECT_EQ(misalignment(image.row(y)), 0u) << width << " " << y;
    Image<Rgb8> colours(width, 3);
    for (int y = 0; y < 3; ++y) EXPECT_EQ(misalignment(colours.row(y)), 0u) << width << " " << y;
  }
}

TEST(Image, ViewSeesTheOwnersPixels) {
  Image<int> image(3, 2, 7);
  image(2, 1) = 9;
  const ImageView<const int> view = std::as_const(image).view();
  EXPECT_EQ(view(0, 0), 7);
  EXPECT_EQ(view(2, 1), 9);
  EXPECT_EQ(view.row(1) - view.row(0), image.pitch());
  image.view()(0, 0) = 1;
  EXPECT_EQ(view(0, 0), 1);
  EXPECT_TRUE(view.contains(2, 1));
  EXPECT_FALSE(view.contains(3, 1));
  EXPECT_FALSE(view.contains(0, 2));
  EXPECT_FALSE(view.contains(-1, 0));
}

TEST(Image, CloneIsACopyAndMoveIsNot) {
  static_assert(!std::is_copy_constructible_v<Image<int>> && !std::is_copy_assignable_v<Image<int>>);
  Image<int> image(2, 2, 5);
  Image<int> copy = image.clone();
  copy(0, 0) = 6;
  EXPECT_EQ(image(0, 0), 5);
  const int* pixels = image.row(0);
  const Image<int> moved = std::move(image);
  EXPECT_EQ(moved.row(0), pixels);
  EXPECT_EQ(moved(1, 1), 5);
}

TEST(Image, MayBeEmpty) {
  EXPECT_TRUE(Image<float>().empty());
  EXPECT_TRUE(Image<float>(0, 5).empty());
  EXPECT_TRUE(Image<float>(5, 0).empty());
  EXPECT_TRUE(Image<float>(0, 5).clone().view().empty());
}

TEST(Image, RefusesNegativeSizes) {
  EXPECT_THROW(Image<float>(-1, 2), std::logic_error);
  EXPECT_THROW(Image<float>(2, -1), std::logic_error);
  EXPECT_THROW(Image<float>(-2, -2), std::logic_error);
}

TEST(Volume, RowsOfAPlaneFollowTheRowsOfThePlanesBefore) {
  Volume<std::uint8_t> volume(70, 3, 2);
  const auto view = volume.view();
  EXPECT_EQ(view.pitch, 128);
  EXPECT_EQ(view.row(0, 1) - view.row(0, 0), 128);
  EXPECT_EQ(view.row(1, 0) - view.row(0, 0), 3 * 128);
  EXPECT_EQ(&view(69, 1, 2) - view.data, (1 * 3 + 2) * 128 + 69);
  for (int y = 0; y < 2; ++y)
    for (int d = 0; d < 3; ++d) EXPECT_EQ(misalignment(view.row(y, d)), 0u);
}

TEST(Volume, BytesAreCountedBeforeTheyAreTaken) {
  EXPECT_EQ(Volume<std::uint16_t>::bytes(33, 4, 5), 64u * 4 * 5 * 2);
  EXPECT_EQ(Volume<float>::bytes(6000, 512, 4000), 6000ull * 512 * 4000 * 4);
}

TEST(Volume, RefusesSizesWhoseProductOverflows) {
  constexpr int kMost = std::numeric_limits<int>::max();
  EXPECT_THROW(Volume<float>(kMost, kMost, kMost), OutOfMemory);
  EXPECT_THROW(Volume<float>::bytes(kMost, kMost, kMost), OutOfMemory);
}

TEST(Volume, RefusesNegativeSizes) {
  EXPECT_THROW(Volume<float>(-1, 2, 2), std::logic_error);
  EXPECT_THROW(Volume<float>(2, -1, 2), std::logic_error);
  EXPECT_THROW(Volume<float>(2, 2, -1), std::logic_error);
}

// Before 2.38, glibc cannot reuse a freed std::aligned_alloc block for the same size if a small allocation
// was made in between.
TEST(AlignedBuffer, GivesBackSmallArraysSoThatTheirMemoryServesAgain) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer keeps what is freed";
#endif
  std::vector<std::vector<char>> kept;
  kept.reserve(20000);
  const std::size_t before = mallinfo2().arena;
  for (int i = 0; i < 2000; ++i) {
    std::vector<AlignedBuffer<float>> maps;
    for (const std::size_t count : {3072u, 9216u, 3072u}) maps.emplace_back(count);
    for (int j = 0; j < 10; ++j) kept.emplace_back(40 + 8 * (j % 5));
  }
  EXPECT_LT(mallinfo2().arena - before, std::size_t{4} << 20);
}

TEST(LruCache, EvictsTheLeastRecentlyUsed) {
  LruCache<std::string, int> cache(30);
  const auto insert = [&](const char* key, int value) {
    cache.insert(key, std::make_shared<const int>(value), 10);
  };
  insert("a", 1);
  insert("b", 2);
  insert("c", 3);
  EXPECT_EQ(*cache.find("a"), 1);
  insert("d", 4);
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_NE(cache.find("a"), nullptr);
  insert("a", 9);
  EXPECT_EQ(*cache.find("a"), 1) << "the first value is kept";
  cache.set_budget(10);
  EXPECT_EQ(cache.find("c"), nullptr);
  EXPECT_EQ(*cache.find("a"), 1);
  const auto big = cache.insert("big", std::make_shared<const int>(5), 11);
  EXPECT_EQ(*big, 5);
  EXPECT_EQ(cache.find("big"), nullptr);
  EXPECT_NE(cache.find("a"), nullptr) << "what does not fit evicts nothing";
}

TEST(LruCache, ForgetsWhatIsErasedAndReusesItsSpace) {
  LruCache<std::string, int> cache(20);
  const auto first = cache.insert("first", std::make_shared<int>(1), 10);
  cache.insert("second", std::make_shared<int>(2), 10);
  cache.erase("first");
  cache.erase("nothing");
  EXPECT_EQ(cache.find("first"), nullptr);
  EXPECT_EQ(*first, 1) << "who uses it keeps it";
  cache.insert("third", std::make_shared<int>(3), 10);
  EXPECT_EQ(*cache.find("second"), 2) << "the third takes the space of the first";
  EXPECT_EQ(*cache.find("third"), 3);
}

TEST(LruCache, LoadsWhatItDoesNotHave) {
  LruCache<std::string, int> cache(30);
  int loads = 0;
  const auto load = [&] {
    ++loads;
    return std::make_shared<const int>(7);
  };
  const auto size = [](int) { return std::size_t{10}; };
  EXPECT_EQ(*cache.get("a", load, size), 7);
  EXPECT_EQ(*cache.get("a", load, size), 7);
  EXPECT_EQ(loads, 1);
  const auto nothing = [] { return std::shared_ptr<const int>(); };
  EXPECT_EQ(cache.get("b", nothing, size), nullptr);
  EXPECT_EQ(*cache.get("b", load, size), 7) << "a missing value is not cached";
}

}  // namespace
}  // namespace recon
