// Rectified pairs matched by single stages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/pair_fixture.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class PairPipeline : public PairTest {
 protected:
  PairPipeline() { write_images(); }

  /// `match` by what the arguments say alone.
  Outcome match_by(const std::vector<std::string>& arguments) const {
    const auto given = [&](const char* option) {
      return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
    };
    std::vector<std::string> words = {"/usr/bin/env",    "-C",       folder().string(),
                                      RECON_RECONSTRUCT, "left.png", "right.png"};
    if (!given("--max-disparity")) words.insert(words.end(), {"--max-disparity", "16"});
    if (!given("--device")) words.insert(words.end(), {"--device", "cpu"});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program(folder(), words);
  }
  std::string options_file() const { return content(file("dense/options.toml")); }
};

TEST_F(PairPipeline, EveryStageMatches) {
  for (const std::vector<std::string>& stages : std::vector<std::vector<std::string>>{
           {"--preset", "ad-census"},
           {"--method", "pipeline"},
           {"--cost", "ad"},
           {"--cost", "ad-census", "--optimizer", "sgm"},
           {"--cost", "rank", "--aggregation", "cross"},
           {"--cost", "ad", "--aggregation", "cw", "--optimizer", "winner", "--window", "5"},
           {"--cost", "census9x7", "--aggregation", "aw", "--optimizer", "winner", "--window", "7"},
           {"--optimizer", "scanline", "--refine", "none"},
           {"--optimizer", "graphcut", "--refine", "lr,interpolate"},
           {"--cost", "ad", "--optimizer", "winner", "--refine", "graphcut"},
           {"--preset", "ad-census", "--optimizer", "graphcut", "--aggregation", "none"}}) {
    const Outcome outcome = match_by(stages);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr("kept")));
    EXPECT_NEAR(known_of(file("dense/disparity.pfm")).median, kShift, 0.26) << stages[1];
    EXPECT_GT(known_of(file("dense/disparity.pfm")).share, 0.8) << stages[1];
    const std::string options = options_file();
    EXPECT_THAT(options, HasSubstr("method=\"pipeline\"\n"));
    const Outcome again = match_by({"--config", "dense/options.toml"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("kept")) << options;
    EXPECT_EQ(options_file(), options);
  }
}

TEST_F(PairPipeline, APresetIsItsStages) {
  ASSERT_EQ(match_by({"--preset", "ad-census"}).exit_code, 0);
  const std::string disparity = content(file("dense/disparity.pfm"));
  EXPECT_EQ(known_of(file("dense/disparity.pfm")).share, 1.0);
  for (const char* line :
       {"aggregation=\"cross\"\n", "cost=\"ad-census\"\n", "optimizer=\"scanline\"\n",
        "refine=\"lr,vote,interpolate,edges,subpixel,median\"\n", "p1=100\n", "speckle=0\n"})
    EXPECT_THAT(options_file(), HasSubstr(line));
  const Outcome stages = match_by({"--cost", "ad-census", "--aggregation", "cross", "--optimizer", "scanline",
                                   "--refine", "median,subpixel,edges,interpolate,vote,lr"});
  ASSERT_EQ(stages.exit_code, 0);
  EXPECT_THAT(stages.err, HasSubstr("kept"));
  ASSERT_EQ(match_by({"--preset", "ad-census", "--refine", "lr"}).exit_code, 0);
  EXPECT_NE(content(file("dense/disparity.pfm")), disparity);
  EXPECT_LT(known_of(file("dense/disparity.pfm")).share, 1.0) << "nothing repairs what the check finds";
}

TEST_F(PairPipeline, SupportsCanBeChanged) {
  const auto disparity_of = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = match_by(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return content(file("dense/disparity.pfm"));
  };
  const std::string weights = disparity_of({"--cost", "ad", "--aggregation", "aw"});
  for (const char* line : {"aw-colour=12\n", "aw-space=17.5\n"}) EXPECT_THAT(options_file(), HasSubstr(line));
  EXPECT_THAT(options_file(), Not(HasSubstr("arm-length")));
  EXPECT_NE(disparity_of({"--cost", "ad", "--aggregation", "aw", "--aw-colour", "3"}), weights);
  EXPECT_THAT(options_file(), HasSubstr("aw-colour=3\n"));
  EXPECT_NE(disparity_of({"--cost", "ad", "--aggregation", "aw", "--aw-space", "2"}), weights);
  const std::string crosses = disparity_of({"--cost", "ad", "--aggregation", "cross"});
  for (const char* line : {"arm-colour=20\n", "arm-length=33\n", "cross-iterations=2\n"})
    EXPECT_THAT(options_file(), HasSubstr(line));
  for (const char* option : {"--arm-length", "--arm-colour", "--cross-iterations"})
    EXPECT_NE(disparity_of({"--cost", "ad", "--aggregation", "cross", option, "1"}), crosses) << option;
}

TEST_F(PairPipeline, WrongUsageIsTwo) {
  const auto refused = [&](const std::string& message, const std::vector<std::string>& arguments) {
    const Outcome outcome = match_by(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_FALSE(fs::exists(file("dense/disparity.pfm")));
  };
  // One that the options alone refuse, and others; OfPairs.WrongUsageOfStagesIsRefused tests more of the
  // first kind.
  refused("--optimizer is 'magic'; it can be graphcut, sgm, winner or scanline", {"--optimizer", "magic"});
  refused("--rank-window has a meaning with --cost rank only", {"--cost", "ad", "--rank-window", "5"});
}

TEST_F(PairPipeline, EveryStageRunsWhereAGpuIs) {
  const std::vector<std::vector<std::string>> stages = {
      {"--preset", "ad-census"},
      {"--preset", "ad-census", "--optimizer", "sgm"},
      {"--preset", "ad-census", "--refine", "graphcut"},
      {"--method", "pipeline", "--cost", "census9x7", "--optimizer", "winner"}};
  for (std::vector<std::string> options : stages) {
    options.insert(options.end(), {"--device", "cuda", "--overwrite"});
    const Outcome gpu = match_by(options);
    EXPECT_TRUE(gpu.exit_code == 0 || gpu.exit_code == 5) << gpu.err;
    EXPECT_THAT(gpu.err, HasSubstr(gpu.exit_code == 0 ? "working on cuda:0" : "no GPU can be used"));
  }
}

TEST_F(PairPipeline, ThePlanCountsItsVolumes) {
  write_images(600, 400);
  const auto plan = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--max-disparity", "100", "--dry-run", "--json", "--device", "cpu"});
    return match_by(arguments).json().at("scenes").at(0).at("memory").at("peak").get<std::size_t>();
  };
  constexpr std::size_t kVolume = std::size_t{608} * 400 * 100 * sizeof(float);
  const std::size_t one = plan({"--cost", "ad", "--aggregation", "cross", "--optimizer", "winner"});
  const std::size_t two = plan({"--preset", "ad-census"});
  EXPECT_GT(one, kVolume);
  EXPECT_GT(two, 2 * kVolume);
  EXPECT_GT(two, one + kVolume / 2);
  const Outcome little = match_by(
      {"--max-disparity", "100", "--preset", "ad-census", "--memory-limit", "250M", "--device", "cpu"});
  EXPECT_EQ(little.exit_code, 4);
  EXPECT_THAT(little.err, HasSubstr("narrow --min-disparity and --max-disparity"));
  EXPECT_FALSE(fs::exists(file("dense/disparity.pfm")));
}

}  // namespace
}  // namespace recon
