// What the command line means: every number in its range.

#include "tools/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "cli/parsed_options.hpp"
#include "core/error.hpp"
#include "io/error_message.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Arguments, ASwitchMayBeGivenAsFalse) {
  const char* words[] = {"reconstruct", "--quiet=false", "--json"};
  const CommandLine line = parse_command_line(3, words);
  EXPECT_FALSE(line.has("quiet"));
  EXPECT_TRUE(line.has("json"));
  EXPECT_FALSE(line.has("verbose"));
}

struct IntOption {
  std::string name;
  Work work;
  std::string low, high;  ///< beyond the ends of the range
};

/// Every option that takes a whole number, or a text with one.
const std::vector<IntOption> kInts = {{"--window", kSweep, "1", "17"},
                                      {"--window", kBm, "1", "33"},
                                      {"--best-k", kSweep, "0", "33"},
                                      {"--sources", kSweep, "0", "65"},
                                      {"--max-image-size", kSweep, "15", "2147483647"},
                                      {"--planes", kSweep, "1", "1000000"},
                                      {"--speckle", kSweep, "-1", "2147483647"},
                                      {"--min-views", kSweep, "0", "65"},
                                      {"--min-fused-views", kSweep, "0", "2147483647"},
                                      {"--point-spacing", kSweep, "0", "9"},
                                      {"--threads", kSweep, "-1", "4097"},
                                      {"--arm-length", kCross, "-1", "256"},
                                      {"--arm-colour", kCross, "-1", "257"},
                                      {"--cross-iterations", kCross, "-1", "65"},
                                      {"--rank-window", kSgm, "1", "17"},
                                      {"--paths", kSweep, "0", "16"},
                                      {"--p1", kSweep, "-1", "8192"},
                                      {"--p1", kCut, "-1", "8192"},
                                      {"--p1", kStages, "-1", "8192"},
                                      {"--p2", kSweep, "-1", "8192"},
                                      {"--p2-falloff", kSweep, "-1", "256"},
                                      {"--p2-falloff", kCut, "-1", "256"},
                                      {"--uniqueness", kSgm, "-1", "100"},
                                      {"--left-right", kSgm, "-2", "2147483647"},
                                      {"--left-right", kStages, "-1", "4097"},
                                      {"--prefilter-cap", kBm, "0", "32"},
                                      {"--steps", kBm, "0", "3"},
                                      {"--pyramid", kBm, "0", "100"},
                                      {"--levels", kBp, "0", "17"},
                                      {"--iterations", kBp, "0", "1001"},
                                      {"--min-disparity", kSgm, "-2000000", "2000000"},
                                      {"--max-disparity", kSgm, "-2000000", "2000000"}};

/// What is said to the value of an option, by the command line or the check of the work.
std::string refusal(const std::string& option, const Work& work, const std::string& value) {
  Words words = work.words;
  words.push_back(option + "=" + value);
  return message_of<UsageError>([&] { Parsed(words).options.check({work.job}); });
}

TEST(Numbers, TheTablesHaveEveryOption) {
  std::set<std::string> floats, ints, of_program_floats, of_program_ints = {"--planes"};
  for (const FloatOption& option : kFloats) floats.insert(option.name);
  for (const IntOption& option : kInts) ints.insert(option.name);
  for (const Option* option : all_options()) {
    if (option->kind == ValueKind::kDecimal) of_program_floats.insert("--" + option->name);
    if (option->kind == ValueKind::kInteger) of_program_ints.insert("--" + option->name);
  }
  EXPECT_EQ(floats, of_program_floats);
  EXPECT_EQ(ints, of_program_ints);
}

TEST(Numbers, OutOfRangeAreRefused) {
  for (const FloatOption& option : kFloats)
    for (const std::string& value :
         {option.low, option.high, std::string("nan"), std::string("-nan"), std::string("inf"),
          std::string("-inf"), std::string("1e300"), std::string("1e9999")})
      EXPECT_THAT(refusal(option.name, option.work, value),
                  AllOf(StartsWith(option.name + " is "), HasSubstr("; it must ")))
          << value;
  for (const IntOption& option : kInts)
    for (const std::string& value : {option.low, option.high, std::string("-2147483648")})
      EXPECT_THAT(refusal(option.name, option.work, value), StartsWith(option.name + " is ")) << value;
}

TEST(Numbers, OtherTextsAreRefused) {
  for (const char* value : {"", " ", "x", "1x", "0,5", "--5"}) {
    for (const FloatOption& option : kFloats)
      EXPECT_THAT(refusal(option.name, option.work, value), HasSubstr(option.name)) << value;
    for (const IntOption& option : kInts)
      EXPECT_THAT(refusal(option.name, option.work, value), HasSubstr(option.name)) << value;
  }
  for (const IntOption& option : kInts)
    for (const char* value : {"nan", "inf", "7.5", "2147483648", "-2147483649", "99999999999999999999"})
      EXPECT_THAT(refusal(option.name, option.work, value), HasSubstr(option.name)) << value;
}

TEST(Numbers, OfTextsAreRefusedToo) {
  for (const char* value : {"0/4", "5/4", "1/0", "-1/4", "1/", "/4", "1/99999999999", "1/2/3"})
    EXPECT_THAT(refusal("--shard", kSweep, value), StartsWith("--shard is '")) << value;
  for (const char* value : {"0,0,0,5", "-1,0,5,5", "0,0,5", "0,0,5,5,5", "0,0,99999999999,5", "a,b,c,d"})
    EXPECT_THAT(refusal("--roi", kBm, value), StartsWith("--roi is '")) << value;
  for (const char* option : {"--memory-limit", "--gpu-memory-limit"})
    for (const char* value : {"0", "-1G", "nan", "inf", "G", "1e30"})
      EXPECT_THAT(refusal(option, kSweep, value), AllOf(StartsWith(option), HasSubstr("size in bytes")))
          << value;
}

TEST(Numbers, GoodOnesAreNotRefused) {
  for (const FloatOption& option : kFloats)
    EXPECT_EQ(refusal(option.name, option.work, option.good), "(nothing thrown)");
}

TEST(Numbers, AreDecimal) {
  EXPECT_EQ(Parsed({"--speckle", "010"}).options.filter.speckle_size, 10);
  EXPECT_EQ(Parsed({"--min-disparity", "-010"}).options.pair.min_disparity, -10);
  EXPECT_THAT(refusal("--speckle", kSweep, "0x10"), HasSubstr("is '0x10'; it must be a whole number"));
}

TEST(Numbers, OfBytesNeedAUnitWhereTheyAreSmall) {
  EXPECT_EQ(Parsed({"--memory-limit", "4GiB"}).options.memory_limit, std::size_t{4} << 30);
  EXPECT_EQ(Parsed({"--memory-limit", "1048576"}).options.memory_limit, std::size_t{1} << 20);
  EXPECT_EQ(refusal("--memory-limit", kSweep, "5"),
            "--memory-limit is '5'; it must be a size in bytes of at least 1 MiB, such as 500M or 1.5GiB");
}

TEST(Arguments, FaultsNameTheOption) {
  const auto refused = [](const Words& words) { return message_of<UsageError>([&] { Parsed{words}; }); };
  const std::string help = "; reconstruct --help lists the options";
  EXPECT_EQ(refused({"--windwo", "5"}), "there is no option '--windwo'" + help);
  EXPECT_EQ(refused({"-x"}), "there is no option '-x'" + help);
  EXPECT_EQ(refused({"--window"}), "--window needs a value" + help);
  EXPECT_EQ(refused({"--output"}), "--output needs a value" + help);
  EXPECT_EQ(refused({"--window", "5", "--window=7"}), "--window is given more than once" + help);
  EXPECT_EQ(refused({"--colour=maybe"}), "--colour is 'maybe'; it must be true or false");
  EXPECT_EQ(refused({"--stage", "x"}), "--stage is 'x'; it can be all, estimate or fuse");
  EXPECT_EQ(refused({"--method", "x"}), "--method is 'x'; it can be planesweep, sgm, bp, bm or pipeline");
}

TEST(Quality, SetsSourcesAndIterationsThatAreNotGiven) {
  const auto parsed = [](std::vector<std::string> arguments) {
    const SessionOptions options = Parsed(std::move(arguments)).options;
    return std::pair(options.selection.max_sources, options.sweep_stages.patch_match.iterations);
  };
  EXPECT_EQ(parsed({"--quality", "draft"}), std::pair(8, 1));
  EXPECT_EQ(parsed({}), std::pair(20, 2));
  EXPECT_EQ(parsed({"--quality", "normal"}), std::pair(20, 2));
  EXPECT_EQ(parsed({"--quality", "high"}), std::pair(32, 4));
  EXPECT_EQ(parsed({"--quality", "high", "--sources", "5"}), std::pair(5, 4));
  EXPECT_EQ(parsed({"--quality", "draft", "--planes", "64"}).first, 8);
  EXPECT_EQ(parsed({"--planes", "64"}).first, 12) << "without patches";
  EXPECT_EQ(parsed({"--quality", "high", "--planes", "64"}).first, 20);
}

}  // namespace
}  // namespace recon
