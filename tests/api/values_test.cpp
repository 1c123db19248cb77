// Public types: objects that were moved from, and options as members.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reconstruct/fuse.hpp"
#include "reconstruct/pair_options.hpp"
#include "reconstruct/scene.hpp"
#include "reconstruct/scene_options.hpp"
#include "reconstruct/stereo.hpp"
#include "reconstruct/sweep.hpp"

namespace reconstruct {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr int kWidth = 64, kHeight = 40;

/// Texture without repetitions, moved by some pixels.
std::vector<std::uint8_t> texture(int shift) {
  std::vector<std::uint8_t> pixels(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) {
    std::uint32_t hash = static_cast<std::uint32_t>(i + shift) * 2654435761u;
    hash ^= hash >> 15;
    pixels[i] = static_cast<std::uint8_t>((hash * 2246822519u) >> 24);
  }
  return pixels;
}

ImageView view_of(const std::vector<std::uint8_t>& pixels) {
  return {pixels.data(), kWidth, kHeight, kWidth, PixelType::kGrey8};
}

Device cpu() {
  return Device({.device = "cpu", .threads = 1, .memory_limit = {}, .gpu_memory_limit = {}});
}

template <class Call>
std::string fault_of(const Call& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing is thrown";
}

class ValuesTest : public testing::Test {
 protected:
  Disparities matched(const Options& options) const {
    return match(device_, view_of(left_), view_of(right_), options);
  }

  const Device device_ = cpu();
  const std::vector<std::uint8_t> left_ = texture(0), right_ = texture(5);
};

TEST_F(ValuesTest, ADeviceThatWasMovedFromIsEmptyAndRefused) {
  Device first = cpu();
  EXPECT_FALSE(first.empty());
  Device second = std::move(first);
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_THAT(second.name(), HasSubstr("CPU"));
  const View view{view_of(left_), {50, 50, 32, 20}, {}, {}};
  const FusionView map{{}, {50, 50, 32, 20}, {}, {}, {}, {}, {}, {}};
  EXPECT_EQ(fault_of([&] { first.name(); }), "the device is empty: it was moved from");
  EXPECT_EQ(fault_of([&] {
              match(first, view_of(left_), view_of(right_), {{"max-disparity", "16"}});
            }),
            "the device is empty: it was moved from");
  EXPECT_EQ(fault_of([&] { sweep(first, view, {view}); }), "the device is empty: it was moved from");
  EXPECT_EQ(fault_of([&] { fuse(first, {map, map}); }), "the device is empty: it was moved from");
  first = std::move(second);
  EXPECT_THAT(first.name(), HasSubstr("CPU"));
}

TEST_F(ValuesTest, AMapThatWasMovedFromIsEmpty) {
  Disparities result = matched({{"max-disparity", "16"}, {"fill", "true"}});
  EXPECT_NEAR(result.disparity(40, 20), 5, 0.1);
  const Disparities moved = std::move(result);
  EXPECT_TRUE(result.disparity.empty() && result.filled.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(fault_of([&] { result.disparity(40, 20); }),
            "a map of 0 rows has no row 20; it is empty, or was moved from");
  EXPECT_EQ(MapView<float>(result.disparity).data, nullptr);
  EXPECT_NEAR(moved.disparity(40, 20), 5, 0.1);
  EXPECT_EQ(fault_of([&] { moved.disparity.row(kHeight); }), "a map of 40 rows has no row 40");
  EXPECT_EQ(fault_of([&] { moved.disparity.row(-1); }), "a map of 40 rows has no row -1");
  // What was moved from is given on.
  const FusionView map{result.disparity, {50, 50, 32, 20}, {}, {}, {}, {}, {}, {}};
  EXPECT_THAT(fault_of([&] { fuse(device_, {map, map}); }), HasSubstr("or no data"));
  result = moved;
  EXPECT_NEAR(result.disparity(40, 20), 5, 0.1);
}

TEST_F(ValuesTest, OptionsAsMembersAreThoseWithTexts) {
  PairOptions options{.method = PairOptions::Method::kBm};
  options.cost = PairOptions::Cost::kSsd;
  options.max_disparity = 16;
  options.roi = std::vector<double>{0, 0, 64, 20.0};
  options.fill = false;
  EXPECT_THAT(Options(options),
              ElementsAre(Pair("cost", "ssd"), Pair("fill", "false"), Pair("max-disparity", "16"),
                          Pair("method", "bm"), Pair("roi", "0,0,64,20")));
  const Disparities found = matched(options),
                    expected = matched(
                        {{"method", "bm"}, {"cost", "ssd"}, {"max-disparity", "16"}, {"roi", "0,0,64,20"}});
  int known = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const float a = found.disparity(x, y), b = expected.disparity(x, y);
      known += a == a ? 1 : 0;
      ASSERT_TRUE(a == b || (a != a && b != b)) << x << " " << y;
    }
  EXPECT_GT(known, 200);
}

TEST_F(ValuesTest, EveryTypeOfAMemberHasItsText) {
  SceneOptions options;
  EXPECT_TRUE(Options(options).empty());
  options.quality = SceneOptions::Quality::kDraft;
  options.export_priors = SceneOptions::ExportPriors::k3dgs;
  options.combine = SceneOptions::Combine::kBestK;
  options.output = "a folder/dense";
  options.depth_min = 0.1;
  options.depth_max = 1e20;
  options.refine = {{"edges", "patches"}};
  options.memory_limit = std::uint64_t{5} << 30;
  options.overwrite = true;
  options.offset = "auto";
  EXPECT_THAT(Options(options),
              ElementsAre(Pair("combine", "best-k"), Pair("depth-max", "1e+20"), Pair("depth-min", "0.1"),
                          Pair("export-priors", "3dgs"), Pair("memory-limit", "5368709120"),
                          Pair("offset", "auto"), Pair("output", "a folder/dense"), Pair("overwrite", "true"),
                          Pair("quality", "draft"), Pair("refine", "edges,patches")));
}

TEST_F(ValuesTest, MembersWithoutAMeaningAreNamed) {
  PairOptions options;
  options.method = static_cast<PairOptions::Method>(99);
  EXPECT_EQ(fault_of([&] { static_cast<void>(Options(options)); }),
            "--method has an empty value, or one that is none of its type");
  options = {};
  options.device = "cpu";
  EXPECT_THAT(fault_of([&] { matched(options); }), HasSubstr("--device has no meaning for match"));
  SceneOptions scene;
  scene.min_views = 3;
  EXPECT_THAT(fault_of([&] { matched(scene); }), HasSubstr("--min-views is for scenes"));
}

TEST_F(ValuesTest, SimilarOptionsAreNamed) {
  EXPECT_EQ(fault_of([&] {
              matched({{"max-dispartiy", "16"}});
            }),
            "there is no option 'max-dispartiy'; did you mean 'max-disparity', in Python max_disparity?");
  EXPECT_THAT(fault_of([&] {
                matched({{"max_disparity", "16"}});
              }),
              HasSubstr("did you mean 'max-disparity'"));
  EXPECT_THAT(fault_of([&] {
                run({"scene"}, {{"help-all", "true"}});
              }),
              HasSubstr("belongs to the command line"));
}

}  // namespace
}  // namespace reconstruct
