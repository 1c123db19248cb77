// Pairs that are not rectified, or not searched where their disparities are, are noticed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/pair_fixture.hpp"
#include "io/image/image_file.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Smooth noise in three-pixel steps, in 0 .. 255.
double texture(double x, double y) {
  const auto noise = [](int a, int b) {
    std::uint32_t h =
        static_cast<std::uint32_t>(a) * 0x9e3779b1u ^ static_cast<std::uint32_t>(b) * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    return static_cast<double>((h ^ (h >> 13)) & 255u);
  };
  const double u = x / 3, v = y / 3;
  const int a = static_cast<int>(std::floor(u)), b = static_cast<int>(std::floor(v));
  const double s = u - a, t = v - b;
  return (1 - t) * ((1 - s) * noise(a, b) + s * noise(a + 1, b)) +
         t * ((1 - s) * noise(a, b + 1) + s * noise(a + 1, b + 1));
}

class PairWarning : public PairTest, public testing::WithParamInterface<const char*> {
 protected:
  /// Writes a pair of disparity 6, 200x150, whose right image is `lower` rows lower and turned by `degrees`.
  void write_pair(int lower, double degrees = 0) const {
    constexpr int kWide = 200, kHigh = 150;
    Image<std::uint8_t> left(kWide, kHigh), right(kWide, kHigh);
    const double c = std::cos(degrees * std::acos(-1.0) / 180), s = std::sin(degrees * std::acos(-1.0) / 180);
    for (int y = 0; y < kHigh; ++y)
      for (int x = 0; x < kWide; ++x) {
        left(x, y) = static_cast<std::uint8_t>(texture(x, y));
        const double dx = x - 0.5 * kWide, dy = y - 0.5 * kHigh - lower;
        right(x, y) = static_cast<std::uint8_t>(
            texture(c * dx + s * dy + 0.5 * kWide + kShift, -s * dx + c * dy + 0.5 * kHigh));
      }
    write_image(file("left.png"), left.view());
    write_image(file("right.png"), right.view());
  }

  std::vector<std::string> warnings(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.end(), {"--method", GetParam(), "--json", "--overwrite"});
    const Outcome outcome = match(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.json().at("scenes").at(0).at("warnings").get<std::vector<std::string>>();
  }

  /// Another scene in the right image.
  void replace_right() const {
    Image<std::uint8_t> other(200, 150);
    for (int y = 0; y < other.height(); ++y)
      for (int x = 0; x < other.width(); ++x)
        other(x, y) = static_cast<std::uint8_t>(texture(x + 5000, y + 900));
    write_image(file("right.png"), other.view());
  }

  nlohmann::json report() const { return nlohmann::json::parse(content(file("dense/report.json"))); }

  /// Expects a doubt in the last line, and in the report, also of a result that is kept.
  void expect_doubt(const std::string& text, std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.end(), {"--method", GetParam()});
    for (const char* run : {"first", "kept"}) {
      const Outcome outcome = match(arguments);
      std::erase(arguments, "--overwrite");
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_THAT(outcome.out, AllOf(HasSubstr("; THE RESULT IS IN DOUBT: "),
                                     HasSubstr(text + ": correct that and run again; ")))
          << run;
      EXPECT_THAT(report().value("doubt", ""), testing::EndsWith(text)) << run;
    }
  }
};

TEST_P(PairWarning, ARightPairHasNone) {
  write_pair(0);
  EXPECT_THAT(warnings(), IsEmpty());
  EXPECT_FALSE(report().contains("doubt"));
}

TEST_P(PairWarning, OfRowsThatAreOffSaysByHowMuch) {
  for (const auto& [lower, words] : {std::pair{1, "is 1 row lower in the right one"},
                                     {3, "is 3 rows lower in the right one"},
                                     {-2, "is 2 rows higher in the right one"}}) {
    write_pair(lower);
    EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr("the rows of the images do not correspond"),
                                           HasSubstr(words), HasSubstr("rectify them"))))
        << lower;
  }
}

TEST_P(PairWarning, OfATurnedImageSaysByHowMuch) {
  write_pair(0, 1);
  EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr("the rows of the images do not correspond"),
                                         HasSubstr("one image is turned by about 1."))));
}

TEST_P(PairWarning, OfDisparitiesBeyondTheSearchNamesThemAndTheOption) {
  write_pair(0);
  EXPECT_THAT(
      warnings({"--max-disparity", "5"}),
      Contains(AllOf(HasSubstr("match clearly better outside of 0 <= d < 5, at disparities of 6 to 6"),
                     HasSubstr("raise --max-disparity"))));
  EXPECT_THAT(warnings({"--min-disparity", "9", "--max-disparity", "16"}),
              Contains(HasSubstr("lower --min-disparity")));
}

TEST_P(PairWarning, OfImagesOfDifferentScenesSaysHowLittleIsFound) {
  write_pair(0);
  replace_right();
  EXPECT_THAT(match({"--method", GetParam()}).err,
              AllOf(HasSubstr("hardly anything of the left image is found in the right one: "),
                    HasSubstr("; the images are not rectified, or do not show the same scene, with texture; "
                              "photos that are not rectified are no pair: run COLMAP")));
}

TEST_P(PairWarning, OfAllOfTheResultIsADoubt) {
  write_pair(0);
  expect_doubt("places match clearly better outside of 0 <= d < 5, at disparities of 6 to 6",
               {"--max-disparity", "5", "--overwrite"});
  write_pair(2);
  expect_doubt("the rows of the images do not correspond", {"--overwrite"});
  replace_right();
  expect_doubt("hardly anything of the left image is found in the right one", {"--overwrite"});
  fs::copy_file(file("left.png"), file("right.png"), fs::copy_options::overwrite_existing);
  expect_doubt("both are the same image", {"--overwrite"});
}

TEST_P(PairWarning, IsCountedInTheLastLine) {
  write_pair(0);
  EXPECT_THAT(match({"--method", GetParam()}).out, testing::Not(HasSubstr("warning")));
  write_pair(2);
  EXPECT_THAT(match({"--method", GetParam()}).out, testing::ContainsRegex("; 1 warning; see "));
}

TEST_P(PairWarning, StaysWithAResultThatIsKept) {
  write_pair(2);
  const auto before = warnings();
  const Outcome kept = match({"--method", GetParam(), "--json"});
  EXPECT_THAT(kept.err, HasSubstr("kept"));
  EXPECT_EQ(kept.json().at("scenes").at(0).at("warnings"), nlohmann::json(before));
}

INSTANTIATE_TEST_SUITE_P(Methods, PairWarning, testing::Values("bm", "sgm", "bp"));

}  // namespace
}  // namespace recon
