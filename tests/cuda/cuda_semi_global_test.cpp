#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "cuda/gpu_test.hpp"
#include "cuda/optimize/semi_global/semi_global.hpp"
#include "cuda/pair_run.hpp"
#include "cuda/testing/support.hpp"
#include "reference/semi_global_reference.hpp"
#include "steps/path_sums.hpp"

namespace recon {
namespace {

using test::same_image;

struct PairCase {
  std::string name;
  int width, height;
  DisparityRange range;
  MethodSpec options = presets::semi_global();
  bool words = false;
  int brightest = 255;  ///< at about 10, the texture is weak at some pixels
};

/// A right image of blocks and noise, and a left one that sees it shifted by a disparity that changes along
/// the rows and from row to row.
class NoisyPair {
 public:
  explicit NoisyPair(const PairCase& c)
      : left_(c.width, c.height), right_(c.width, c.height), left16_(), right16_() {
    std::mt19937 random(static_cast<unsigned>(c.width * 31 + c.height));
    const int most = std::max(1, c.brightest / 40);
    std::uniform_int_distribution<int> noise(-most, most), grey(0, c.brightest);
    std::vector<int> blocks(static_cast<std::size_t>(c.width / 3 + c.height / 2 + 2) * 64);
    for (int& block : blocks) block = grey(random);
    const auto scene = [&](int x, int y) {
      const auto i = static_cast<std::size_t>(std::abs(x / 3 * 7 + y / 2 * 13)) % blocks.size();
      return blocks[i];
    };
    for (int y = 0; y < c.height; ++y)
      for (int x = 0; x < c.width; ++x) {
        const int shift = c.range.min + (x / 9 + y / 4) % c.range.count;
        left_(x, y) = static_cast<std::uint8_t>(std::clamp(scene(x - shift, y) + noise(random), 0, 255));
        right_(x, y) = static_cast<std::uint8_t>(std::clamp(scene(x, y) + noise(random), 0, 255));
      }
    problem_.images.left = left_.view();
    problem_.images.right = right_.view();
    problem_.options = {c.options, c.range};
    if (c.words) widen(random);
  }
  const PairProblem& problem() const { return problem_; }

 private:
  void widen(std::mt19937& random) {
    std::uniform_int_distribution<int> low(0, 255);
    left16_ = Image<std::uint16_t>(left_.width(), left_.height());
    right16_ = Image<std::uint16_t>(left_.width(), left_.height());
    for (int y = 0; y < left_.height(); ++y)
      for (int x = 0; x < left_.width(); ++x) {
        left16_(x, y) = static_cast<std::uint16_t>(left_(x, y) * 256 + low(random));
        right16_(x, y) = static_cast<std::uint16_t>(right_(x, y) * 256 + low(random));
      }
    problem_.images.left16 = left16_.view();
    problem_.images.right16 = right16_.view();
  }

  Image<std::uint8_t> left_, right_;
  Image<std::uint16_t> left16_, right16_;
  PairProblem problem_;
};

MethodSpec with_transform(Transform transform, int rank_window = 9) {
  MethodSpec options = presets::semi_global();
  options.cost.transform = {transform, rank_window};
  return options;
}

MethodSpec with_optimizer(SemiGlobalOptions optimizer) {
  MethodSpec options = presets::semi_global();
  options.semi_global = optimizer;
  return options;
}

MethodSpec with_filters(int uniqueness, int left_right, bool subpixel, bool median) {
  MethodSpec options = presets::semi_global();
  options.uniqueness = uniqueness;
  options.refine.left_right = left_right >= 0;
  options.left_right = static_cast<float>(std::max(left_right, 0));
  options.refine.subpixel = subpixel;
  options.refine.median = options.refine.smooth_disparities = median;
  return options;
}

std::vector<PairCase> pair_cases() {
  std::vector<PairCase> cases = {
      {"rank3", 41, 23, {0, 16}, with_transform(Transform::kRank, 3)},
      {"rank15", 41, 23, {0, 16}, with_transform(Transform::kRank, 15)},
      {"census5x5", 41, 23, {0, 16}, with_transform(Transform::kCensus5x5)},
      {"census9x7", 41, 23, {0, 16}, with_transform(Transform::kCensus9x7)},
      {"symmetric", 41, 23, {0, 16}, with_transform(Transform::kSymmetricCensus)},
      {"scaled", 41, 23, {0, 16}, with_transform(Transform::kScaledCensus)},
      {"scaled_words", 37, 11, {-3, 20}, with_transform(Transform::kScaledCensus), true},
      {"scaled_weak", 83, 45, {0, 16}, with_transform(Transform::kScaledCensus), false, 10},
      {"scaled_weak_words", 83, 45, {-3, 20}, with_transform(Transform::kScaledCensus), true, 10},
      {"rank_words", 37, 11, {-3, 20}, with_transform(Transform::kRank), true},
      {"census9x7_words", 37, 11, {-3, 20}, with_transform(Transform::kCensus9x7), true},
      {"symmetric_words", 37, 11, {-3, 20}, with_transform(Transform::kSymmetricCensus), true},
      {"one_pixel", 1, 1, {0, 7}},
      {"one_row", 53, 1, {-2, 16}},
      {"one_column", 1, 47, {0, 5}},
      {"two_rows", 70, 2, {0, 16}},
      {"three_rows", 300, 3, {0, 64}},
      {"tall", 5, 150, {-1, 7}},
      {"odd", 33, 17, {0, 16}},
      {"one_disparity", 33, 17, {0, 1}},
      {"two_disparities", 33, 17, {-1, 2}},
      {"seven", 33, 17, {0, 7}},
      {"hundred", 131, 19, {0, 100}},
      {"hundred_28", 140, 45, {-40, 128}},
      {"two_hundred_57", 290, 18, {-20, 257}},
      {"five_hundred_13", 33, 17, {-256, 513}},
      {"thousand_25", 21, 14, {-512, 1025}},
      {"all", 9, 5, {-2048, 4096}},
      {"wider_range_than_image", 17, 33, {0, 64}},
      {"all_outside", 33, 17, {100, 16}},
      {"far_negative", 60, 20, {-40, 16}},
      {"wide", 700, 40, {0, 64}},
      {"big", 320, 200, {0, 128}},
      {"four_paths", 61, 35, {0, 24}, with_optimizer({4, 10, 60, 0})},
      {"four_paths_hundred", 161, 35, {0, 100}, with_optimizer({4, 10, 60, 8})},
      {"no_penalties", 61, 35, {0, 24}, with_optimizer({8, 0, 0, 0})},
      {"no_falloff", 61, 35, {0, 24}, with_optimizer({8, 10, 60, 0})},
      {"two_bytes", 61, 35, {0, 24}, with_optimizer({8, 100, 1000, 20})},
      {"two_bytes_hundred", 161, 35, {0, 100}, with_optimizer({8, 100, 1000, 20})},
      {"max_penalties", 161, 35, {0, 100}, with_optimizer({8, kMaxPathCost - 24, kMaxPathCost - 24, 0})},
      {"just_one_byte", 61, 35, {0, 24}, with_optimizer({8, 30, 255 - 24, 0})},
      {"just_two_bytes", 61, 35, {0, 24}, with_optimizer({8, 30, 256 - 24, 0})},
      {"plain", 61, 35, {0, 24}, with_filters(0, -1, false, false)},
      {"unique", 61, 35, {0, 24}, with_filters(20, -1, false, false)},
      {"left_right", 61, 35, {0, 24}, with_filters(0, 0, false, false)},
      {"subpixel", 61, 35, {0, 24}, with_filters(0, 1, true, false)},
  };
  cases.push_back({"dear_outside", 61, 35, {0, 24}});
  cases.back().options.cost.outside_cost = 255;
  return cases;
}

class CudaSemiGlobal : public test::GpuTest<::testing::TestWithParam<PairCase>> {};

TEST_P(CudaSemiGlobal, EqualsTheTextbookToTheBit) {
  const NoisyPair pair(GetParam());
  const Image<float> expected = reference::semi_global_disparity(pair.problem());
  for (const int poison : {0x00, 0xFF, 0x81}) {
    const test::PairRun run = test::run_pair(pair.problem(), static_cast<std::uint8_t>(poison));
    EXPECT_TRUE(same_image(expected, run.map.disparity)) << "poison " << poison;
    EXPECT_EQ(run.planned_bytes, run.arena_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaSemiGlobal, ::testing::ValuesIn(pair_cases()),
                         [](const auto& test_case) { return test_case.param.name; });

/// The optimizer alone, over costs by (y, x, d) without padding.
struct GivenCosts {
  const std::vector<std::uint8_t>* costs = nullptr;
  ImageView<const std::uint8_t> guide;
  cuda::SemiGlobalInput input;  ///< without addresses
};
struct PathWinners {
  std::vector<PathWinner> winners;          ///< by pixel
  std::vector<std::uint16_t> right_planes;  ///< by pixel, or empty; kNoPlane where there is none
};

template <class T>
ImageView<const T> one_row(const std::vector<T>& values) {
  const int count = static_cast<int>(values.size());
  return {values.data(), count, 1, count};
}

PathWinners optimize(GivenCosts given) {
  constexpr std::uint8_t kPoison = 0xA5;
  cuda::SemiGlobalInput& input = given.input;
  input.width = given.guide.width;
  input.height = given.guide.height;
  input.guide_pitch = input.width;
  const std::size_t pixels = element_count({input.width, input.height});
  const auto planes = static_cast<std::size_t>(input.planes);
  const auto padded = static_cast<std::size_t>(cuda::path_planes(input.planes));
  std::vector<std::uint8_t> costs(pixels * padded, kPoison);
  for (std::size_t i = 0; i < pixels; ++i)
    for (int d = 0; d < input.planes; ++d)
      costs[i * padded + static_cast<std::size_t>(cuda::plane_byte(d))] =
          (*given.costs)[i * planes + static_cast<std::size_t>(d)];
  cuda::Call call(kPoison);
  input.costs = call.upload(one_row(costs), static_cast<std::ptrdiff_t>(costs.size()));
  input.guide = call.upload(given.guide, input.width);
  const auto take = [&](cuda::Arena& arena) { return cuda::SemiGlobal::take(input, arena); };
  const std::size_t bytes = cuda::bytes_taken(take);
  cuda::Arena arena(call.take<std::byte>(bytes), bytes);
  const cuda::SemiGlobal optimizer(input, take(arena));
  optimizer.queue(call);
  PathWinners result;
  const int width = input.width, height = input.height;
  const auto each_pixel = [&](const auto& image, const auto& use) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) use(image(x, y));
  };
  each_pixel(call.download(optimizer.winners(), width, width, height),
             [&](const PathWinner& winner) { result.winners.push_back(winner); });
  if (!input.right_view) return result;
  each_pixel(call.download(optimizer.right_keys(), width, width, height),
             [&](std::uint32_t key) { result.right_planes.push_back(static_cast<std::uint16_t>(key)); });
  return result;
}

struct WinnerCase {
  std::string name;
  int width, height, planes, max_cost;
  SemiGlobalOptions options;
  bool right_view = false;
  int min_disparity = 0;
  bool in_place = false;  ///< in one and in two volumes of sums
};

void expect_textbook(const PathWinners& found, const reference::IntVolume& sums, const WinnerCase& c) {
  const auto sum_or_none = [](int sum) { return sum < 0 ? int{kNoSum} : sum; };
  for (int y = 0; y < c.height; ++y)
    for (int x = 0; x < c.width; ++x) {
      const std::size_t i = static_cast<std::size_t>(y * c.width + x);
      const reference::IntWinner expected = reference::winner_of(sums, x, y);
      ASSERT_EQ(found.winners[i].plane, expected.plane) << x << ", " << y;
      ASSERT_EQ(found.winners[i].cost, expected.cost) << x << ", " << y;
      ASSERT_EQ(found.winners[i].before, sum_or_none(expected.before)) << x << ", " << y;
      ASSERT_EQ(found.winners[i].after, sum_or_none(expected.after)) << x << ", " << y;
      ASSERT_EQ(found.winners[i].second, sum_or_none(expected.second)) << x << ", " << y;
      if (!c.right_view) continue;
      const int right = reference::right_winner_of(sums, c.min_disparity, x, y);
      ASSERT_EQ(found.right_planes[i], right < 0 ? int{kNoPlane} : right) << x << ", " << y;
    }
}

class CudaPathWinners : public test::GpuTest<::testing::TestWithParam<WinnerCase>> {};

TEST_P(CudaPathWinners, EqualTheTextbook) {
  const WinnerCase& c = GetParam();
  std::mt19937 random(7);
  std::uniform_int_distribution<int> cost(0, c.max_cost), grey(0, 255);
  reference::IntVolume costs(c.width, c.height, c.planes);
  std::vector<std::uint8_t> bytes;
  for (int& value : costs.values) value = cost(random), bytes.push_back(static_cast<std::uint8_t>(value));
  Image<std::uint8_t> guide(c.width, c.height);
  for (int y = 0; y < c.height; ++y)
    for (int x = 0; x < c.width; ++x) guide(x, y) = static_cast<std::uint8_t>(grey(random));
  const reference::IntVolume sums = reference::summed_path_costs(costs, guide.view(), c.options);
  ASSERT_EQ(steps::path_sums(costs, guide.view(), c.options).values, sums.values);

  GivenCosts given;
  given.costs = &bytes;
  given.input.max_cost = c.max_cost;
  given.input.planes = c.planes;
  given.guide = guide.view();
  given.input.options = c.options;
  given.input.right_view = c.right_view;
  given.input.min_disparity = c.min_disparity;
  for (const int volumes : c.in_place ? std::vector{1, 2} : std::vector{0}) {
    SCOPED_TRACE("volumes of sums: " + std::to_string(volumes));
    given.input.sums = volumes;
    expect_textbook(optimize(given), sums, c);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CudaPathWinners,
    ::testing::Values(WinnerCase{"bytes", 67, 31, 40, 120, {8, 9, 120, 0}},
                      WinnerCase{"two_bytes", 67, 31, 40, 255, {8, 9, 120, 12}},
                      WinnerCase{"max_penalties", 45, 21, 96, 255, {8, 100, kMaxPathCost - 255, 30}},
                      WinnerCase{"one_plane", 30, 20, 1, 255, {8, 9, 120, 0}},
                      WinnerCase{"three_planes", 30, 20, 3, 255, {8, 9, 120, 0}},
                      WinnerCase{"levels", 30, 20, 200, 1, {8, 0, 1, 0}},
                      WinnerCase{"many", 25, 12, 700, 255, {8, 9, 120, 0}},
                      WinnerCase{"most", 7, 6, 4096, 255, {8, 9, 120, 0}},
                      WinnerCase{"four_paths", 67, 31, 128, 255, {4, 9, 120, 0}},
                      WinnerCase{"right_view", 67, 31, 40, 120, {8, 9, 120, 0}, true, -5},
                      WinnerCase{"right_view_ties", 67, 31, 65, 1, {8, 0, 1, 0}, true, 3},
                      WinnerCase{"right_view_words", 150, 9, 70, 255, {8, 100, 1000, 30}, true, 2},
                      WinnerCase{"right_view_many", 90, 5, 300, 100, {8, 9, 20, 0}, true, -100},
                      WinnerCase{"max_bytes", 40, 21, 20, 127, {8, 5, 128, 6}, true, 0},
                      WinnerCase{"in_place", 67, 31, 40, 120, {8, 9, 120, 6}, true, -5, true},
                      WinnerCase{"in_place_hundred", 150, 11, 100, 127, {8, 5, 120, 6}, true, 0, true},
                      WinnerCase{"in_place_four_paths", 33, 50, 70, 100, {4, 9, 20, 0}, false, 0, true},
                      WinnerCase{"in_place_many", 90, 5, 300, 100, {8, 9, 20, 0}, true, -100, true},
                      WinnerCase{"in_place_one_pixel", 1, 1, 3, 100, {8, 9, 20, 0}, true, 0, true},
                      WinnerCase{"one_column", 1, 40, 9, 100, {8, 9, 20, 4}, true, -3},
                      WinnerCase{"one_row", 300, 1, 9, 100, {8, 9, 20, 4}, true, 1},
                      WinnerCase{"in_place_one_column", 1, 40, 9, 100, {8, 9, 20, 4}, true, -3, true}),
    [](const auto& test_case) { return test_case.param.name; });

class CudaSemiGlobalOptions : public test::GpuTest<> {};

TEST_F(CudaSemiGlobalOptions, RefusesPenaltiesThatCouldOverflow) {
  NoisyPair pair({"", 20, 10, {0, 8}, with_optimizer({8, 10, kMaxPathCost - 23, 0})});
  EXPECT_THROW(test::run_pair(pair.problem(), 0), std::logic_error);
}

}  // namespace
}  // namespace recon
