// The public call for rectified pairs: its results are those of the program, bit for bit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cli/pair_fixture.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "reconstruct/stereo.hpp"

namespace recon {
namespace {

using reconstruct::Device;
using reconstruct::Disparities;
using reconstruct::Options;
using reconstruct::PixelType;
using testing::HasSubstr;

template <class T>
reconstruct::ImageView view_of(const Image<T>& image, PixelType type) {
  return {image.row(0), image.width(), image.height(), image.pitch() * static_cast<std::ptrdiff_t>(sizeof(T)),
          type};
}

/// A colour of each grey value, so that grey and colour differ.
Image<Rgb8> coloured(const Image<std::uint8_t>& grey) {
  Image<Rgb8> colour(grey.width(), grey.height());
  for (int y = 0; y < grey.height(); ++y)
    for (int x = 0; x < grey.width(); ++x) {
      const int value = grey(x, y);
      colour(x, y) = {static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(255 - value / 2),
                      static_cast<std::uint8_t>(value * 7)};
    }
  return colour;
}

Image<std::uint16_t> deepened(const Image<std::uint8_t>& grey) {
  Image<std::uint16_t> deep(grey.width(), grey.height());
  for (int y = 0; y < grey.height(); ++y)
    for (int x = 0; x < grey.width(); ++x)
      deep(x, y) = static_cast<std::uint16_t>(grey(x, y) * 13 + 100 + x % 5);
  return deep;
}

class MatchTest : public PairTest {
 protected:
  /// The program on left.png and right.png.
  Image<float> of_program(const Options& options) const {
    std::vector<std::string> arguments = {
        RECON_RECONSTRUCT, file("left.png"), file("right.png"), "--device", "cpu", "--overwrite", "-o",
        file("dense")};
    for (const auto& [name, value] : options) arguments.push_back("--" + name + "=" + value);
    const Outcome outcome = run_program(folder(), arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return read_pfm(file("dense/disparity.pfm"));
  }

  const Device device_{{.device = "cpu", .threads = 2, .memory_limit = {}, .gpu_memory_limit = {}}};
  const TexturePair pair_ = texture_pair(kWidth, kHeight, kShift);
};

testing::AssertionResult same_bits(const reconstruct::Map<float>& map, const Image<float>& expected) {
  if (map.width != expected.width() || map.height != expected.height())
    return testing::AssertionFailure() << map.width << "x" << map.height << " pixels";
  int known = 0;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      const float a = map(x, y), b = expected(x, y);
      known += a == a ? 1 : 0;
      if (!(a == b || (a != a && b != b)))
        return testing::AssertionFailure() << "at " << x << ", " << y << ": " << a << " and " << b;
    }
  return known > map.width * map.height / 2 ? testing::AssertionSuccess()
                                            : testing::AssertionFailure() << known << " are known";
}

TEST_F(MatchTest, EqualsTheProgramWithEveryMethod) {
  write_image(file("left.png"), pair_.left.view());
  write_image(file("right.png"), pair_.right.view());
  const Options cases[] = {{},
                           {{"method", "bm"}, {"window", "9"}},
                           {{"method", "bp"}},
                           {{"preset", "ad-census"}},
                           {{"cost", "census9x7"}, {"aggregation", "aw"}, {"fill", "true"}},
                           {{"min-disparity", "-4"}, {"p1", "9"}, {"fill", "true"}, {"speckle", "0"}}};
  for (Options options : cases) {
    options["max-disparity"] = "16";
    const Disparities result = reconstruct::match(device_, view_of(pair_.left, PixelType::kGrey8),
                                                  view_of(pair_.right, PixelType::kGrey8), options);
    EXPECT_TRUE(same_bits(result.disparity, of_program(options))) << testing::PrintToString(options);
    EXPECT_EQ(result.filled.empty(), !options.contains("fill"));
  }
}

TEST_F(MatchTest, EqualsTheProgramOfColoursAndOf16Bits) {
  const Image<Rgb8> left = coloured(pair_.left), right = coloured(pair_.right);
  const Image<std::uint16_t> left16 = deepened(pair_.left), right16 = deepened(pair_.right);
  for (Options options : {Options{{"fill", "true"}}, Options{{"preset", "ad-census"}}}) {
    options["max-disparity"] = "16";
    write_image(file("left.png"), left.view());
    write_image(file("right.png"), right.view());
    EXPECT_TRUE(same_bits(reconstruct::match(device_, view_of(left, PixelType::kRgb8),
                                             view_of(right, PixelType::kRgb8), options)
                              .disparity,
                          of_program(options)));
    write_png16(file("left.png"), left16.view());
    write_png16(file("right.png"), right16.view());
    EXPECT_TRUE(same_bits(reconstruct::match(device_, view_of(left16, PixelType::kGrey16),
                                             view_of(right16, PixelType::kGrey16), options)
                              .disparity,
                          of_program(options)));
    write_image(file("right.png"), right.view());
    EXPECT_TRUE(same_bits(reconstruct::match(device_, view_of(left16, PixelType::kGrey16),
                                             view_of(right, PixelType::kRgb8), options)
                              .disparity,
                          of_program(options)));
  }
}

TEST_F(MatchTest, SaysWhatIsWrongAndPrintsNothing) {
  const reconstruct::ImageView left = view_of(pair_.left, PixelType::kGrey8);
  reconstruct::ImageView small = left, short_rows = left, none = left;
  small.height -= 1;
  short_rows.pitch = left.width - 1;
  none.data = nullptr;
  const auto fault = [&](const reconstruct::ImageView& right, const Options& options) -> std::string {
    try {
      reconstruct::match(device_, left, right, options);
    } catch (const reconstruct::UsageError& error) {
      return error.what();
    }
    return "none";
  };
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Options range = {{"max-disparity", "16"}};
  EXPECT_THAT(fault(small, range), HasSubstr("left has 120x80 pixels and right 120x79"));
  EXPECT_THAT(fault(short_rows, range), HasSubstr("right has a pitch of 119 bytes; a row takes 120"));
  EXPECT_THAT(fault(none, range), HasSubstr("right has no pixels"));
  EXPECT_THAT(fault(left, {}), HasSubstr("--max-disparity is needed"));
  EXPECT_THAT(fault(left, {{"max-disparity", "x"}}), HasSubstr("--max-disparity is 'x'"));
  EXPECT_THAT(fault(left, {{"max-disparity", "16"}, {"min-disparity", "20"}}),
              HasSubstr("must be the smaller"));
  EXPECT_THAT(fault(left, {{"max-disparity", "400"}, {"min-disparity", "300"}}),
              HasSubstr("120 pixels wide"));
  EXPECT_THAT(
      fault(left, {{"maximum", "16"}}),
      HasSubstr("there is no option 'maximum'; names are those of the command line, such as 'max-disparity', "
                "in Python max_disparity"));
  EXPECT_THAT(fault(left, {{"max-disparity", "16"}, {"threads", "2"}}), HasSubstr("those of the device"));
  EXPECT_THAT(fault(left, {{"max-disparity", "16"}, {"planes", "2"}}), HasSubstr("--planes"));
  EXPECT_THROW(Device({.device = "gpu", .threads = 0, .memory_limit = {}, .gpu_memory_limit = {}}),
               reconstruct::UsageError);
  EXPECT_THROW(Device({.device = "cpu", .threads = -1, .memory_limit = {}, .gpu_memory_limit = {}}),
               reconstruct::UsageError);
  const Device tiny({.device = "cpu", .threads = 1, .memory_limit = 1000, .gpu_memory_limit = {}});
  EXPECT_THROW(reconstruct::match(tiny, left, left, range), reconstruct::OutOfMemory);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// Equal in every bit.
template <class T>
bool same_map(const reconstruct::Map<T>& a, const reconstruct::Map<T>& b) {
  if (a.width != b.width || a.height != b.height) return false;
  for (int y = 0; y < a.height; ++y)
    if (std::memcmp(a.row(y), b.row(y), static_cast<std::size_t>(a.width) * sizeof(T)) != 0) return false;
  return true;
}

TEST_F(MatchTest, BatchesEqualCallsOneByOne) {
  const TexturePair other = texture_pair(kWidth, kHeight, kShift + 3);
  const Image<std::uint16_t> deep = deepened(pair_.left);
  const Image<Rgb8> colour = coloured(pair_.right);
  const std::vector<reconstruct::ImageView> left = {view_of(pair_.left, PixelType::kGrey8),
                                                    view_of(other.left, PixelType::kGrey8),
                                                    view_of(deep, PixelType::kGrey16)};
  const std::vector<reconstruct::ImageView> right = {view_of(pair_.right, PixelType::kGrey8),
                                                     view_of(other.right, PixelType::kGrey8),
                                                     view_of(colour, PixelType::kRgb8)};
  const Options cases[] = {{}, {{"fill", "true"}}, {{"preset", "ad-census"}}, {{"method", "bm"}}};
  for (Options options : cases) {
    options["max-disparity"] = "16";
    const std::vector<Disparities> batch = reconstruct::match_batch(device_, left, right, options);
    ASSERT_EQ(batch.size(), left.size());
    for (std::size_t i = 0; i < left.size(); ++i) {
      const Disparities one = reconstruct::match(device_, left[i], right[i], options);
      EXPECT_TRUE(same_map(batch[i].disparity, one.disparity)) << i << testing::PrintToString(options);
      EXPECT_TRUE(same_map(batch[i].filled, one.filled)) << i << testing::PrintToString(options);
      EXPECT_EQ(batch[i].disparity.row(0),
                batch[0].disparity.row(0) + static_cast<std::ptrdiff_t>(i) * kHeight *
                                                batch[0].disparity.pitch /
                                                static_cast<std::ptrdiff_t>(sizeof(float)))
          << "not in one allocation";
    }
  }
}

TEST_F(MatchTest, BatchesSayWhatIsWrong) {
  const reconstruct::ImageView image = view_of(pair_.left, PixelType::kGrey8);
  reconstruct::ImageView small = image, none = image;
  small.height -= 1;
  none.data = nullptr;
  using Images = std::vector<reconstruct::ImageView>;
  const auto fault = [&](const Images& left, const Images& right) -> std::string {
    try {
      reconstruct::match_batch(device_, left, right, {{"max-disparity", "16"}});
    } catch (const reconstruct::UsageError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(fault({}, {}), HasSubstr("0 left and 0 right images"));
  EXPECT_THAT(fault({image, image}, {image}), HasSubstr("2 left and 1 right images"));
  EXPECT_THAT(fault({image, image}, {image, none}), HasSubstr("pair 1: right has no pixels"));
  EXPECT_THAT(fault({image, image}, {image, small}),
              HasSubstr("pair 1: left has 120x80 pixels and right 120x79"));
  EXPECT_THAT(fault({image, small}, {image, small}),
              HasSubstr("pair 1: left has 120x79 pixels, that of pair 0 120x80"));
}

TEST_F(MatchTest, StopsWhereItIs) {
  const TexturePair large = texture_pair(1500, 1000, kShift);
  const Options slow = {{"method", "pipeline"}, {"aggregation", "aw"}, {"max-disparity", "256"}};
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop.request_stop();
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(reconstruct::match(device_, view_of(large.left, PixelType::kGrey8),
                                  view_of(large.right, PixelType::kGrey8), slow, stop.get_token()),
               reconstruct::Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << "it takes minutes";
  EXPECT_THROW(reconstruct::match(device_, view_of(pair_.left, PixelType::kGrey8),
                                  view_of(pair_.right, PixelType::kGrey8), {{"max-disparity", "16"}},
                                  stop.get_token()),
               reconstruct::Interrupted);
}

TEST_F(MatchTest, CallsOfSeveralThreadsDoNotDisturbEachOther) {
  const Options options = {{"max-disparity", "16"}};
  const auto call = [&](std::stop_token stop) {
    return reconstruct::match(device_, view_of(pair_.left, PixelType::kGrey8),
                              view_of(pair_.right, PixelType::kGrey8), options, std::move(stop));
  };
  const Disparities expected = call({});
  std::atomic<int> equal{0}, interrupted{0};
  std::stop_source stopped;
  stopped.request_stop();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 5; ++k) try {
          const Disparities result = call(i % 2 == 0 ? std::stop_token() : stopped.get_token());
          bool same = true;
          for (int y = 0; y < kHeight; ++y)
            same &=
                std::memcmp(result.disparity.row(y), expected.disparity.row(y), kWidth * sizeof(float)) == 0;
          equal += same ? 1 : 0;
        } catch (const reconstruct::Interrupted&) {
          ++interrupted;
        }
    });
  threads.clear();
  EXPECT_EQ(equal, 10);
  EXPECT_EQ(interrupted, 10);
}

}  // namespace
}  // namespace recon
