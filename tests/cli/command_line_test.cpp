// What the command line means: every number in its range.

#include "tools/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "cli/parsed_options.hpp"
#include "core/error.hpp"
#include "io/error_message.hpp"
#include "session/options/option.hpp"

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

TEST(Arguments, RefusesALongOptionWithOneDash) {
  const auto refusal_of = [](const char* word) {
    const char* words[] = {"reconstruct", word, "x"};
    return message_of<UsageError>([&] { parse_command_line(3, words); });
  };
  for (const char* word : {"-output", "-out", "-output=x"})
    EXPECT_THAT(refusal_of(word), HasSubstr("did you mean --output?")) << word;
  EXPECT_THAT(refusal_of("-quiet"), HasSubstr("did you mean --quiet?"));
  const char* folder[] = {"reconstruct", "-outcome", "-qv", "x"};
  EXPECT_EQ(parse_command_line(4, folder).given.at("output").text, "utcome");
  const char* input[] = {"reconstruct", "--", "-output"};
  EXPECT_EQ(parse_command_line(3, input).inputs.size(), 1u);
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
                                      {"--max-hole", kSweep, "-1", "33"},
                                      {"--scene-planes", kSweep, "-1", "255"},
                                      {"--min-fused-views", kSweep, "0", "2147483647"},
                                      {"--point-spacing", kSweep, "0", "9"},
                                      {"--export-points", kSweep, "-1", "2147483647"},
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
  const std::string help = "; reconstruct --help-all lists the options";
  EXPECT_EQ(refused({"--windwo", "5"}),
            "there is no option '--windwo'; did you mean --window? reconstruct --help-all lists the options");
  EXPECT_EQ(refused({"-x"}), "there is no option '-x'" + help);
  EXPECT_EQ(refused({"--window"}), "--window needs a value" + help);
  EXPECT_EQ(refused({"--output"}), "--output needs a value" + help);
  EXPECT_EQ(refused({"--window", "5", "--window=7"}), "--window is given more than once" + help);
  EXPECT_EQ(refused({"--colour=maybe"}), "--colour is 'maybe'; it must be true or false");
  EXPECT_EQ(refused({"--stage", "x"}), "--stage is 'x'; it can be all, estimate or fuse");
  EXPECT_EQ(refused({"--method", "x"}), "--method is 'x'; it can be planesweep, sgm, bp, bm or pipeline");
}

TEST(Arguments, AMistypedOptionGetsTheOneThatWasMeant) {
  const auto suggested = [](const std::string& word) {
    const std::string text = message_of<UsageError>([&] { Parsed{Words{word}}; });
    const std::size_t begin = text.find("did you mean ");
    return begin == std::string::npos ? std::string() : text.substr(begin + 13, text.find('?') - begin - 13);
  };
  EXPECT_EQ(suggested("--qualty=draft"), "--quality");
  EXPECT_EQ(suggested("--memory_limit"), "--memory-limit");
  EXPECT_EQ(suggested("--max-dispairty"), "--max-disparity") << "two letters are exchanged";
  EXPECT_EQ(suggested("--dry"), "--dry-run") << "a beginning";
  EXPECT_EQ(suggested("--threds"), "--threads");
  EXPECT_EQ(suggested("--outptu"), "--output");
  EXPECT_EQ(suggested("--something-else"), "");
  EXPECT_EQ(suggested("--x"), "");
  EXPECT_EQ(suggested("--" + std::string(100000, 'w')), "");
}

TEST(Quality, SetsSourcesAndIterationsThatAreNotGiven) {
  const auto parsed = [](std::vector<std::string> arguments) {
    const SessionOptions options = Parsed(std::move(arguments)).options;
    return std::pair(options.selection.max_sources, options.sweep().patch_match.iterations);
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

TEST(Arguments, EmptyValuesAreRefused) {
  const auto refused = [](const Words& words) { return message_of<UsageError>([&] { Parsed{words}; }); };
  for (const std::string option : {"--min-confidence", "--max-normal-angle", "--window", "--cost", "--views",
                                   "--output", "--config", "--memory-limit", "--planes"})
    for (const Words& words : {Words{option, ""}, Words{option + "="}}) {
      Words after_input = {"scene"};
      after_input.insert(after_input.end(), words.begin(), words.end());
      EXPECT_EQ(refused(after_input), option + " has an empty value");
    }
}

/// What is said to options of a scene, or of a pair of images.
std::string refusal_of_scene(const Words& words) {
  return message_of<UsageError>([&] {
    const SessionOptions options = Parsed(words).options;
    options.check({{options.method_of(false), false}});
  });
}
std::string refusal_of_pair(const Words& words) {
  return message_of<UsageError>([&] {
    const SessionOptions options = Parsed(words).options;
    options.check({{options.method_of(true), true}});
  });
}

TEST(Numbers, OfTilesAreRefused) {
  for (const std::string wrong : {"-1", "nan", "inf", "1e10"})
    EXPECT_THAT(refusal_of_scene({"--tile", wrong}),
                StartsWith("--tile is " + wrong + "; it must lie between 0 and 1"));
}

TEST(Boxes, OfOtherNumbersAreRefused) {
  const auto wrong_axis = [](const std::string& order, const std::string& axis) {
    EXPECT_THAT(refusal_of_scene({"--roi", order}),
                StartsWith("--roi is '" + order + "'; write MINX,MINY,MINZ,MAXX,MAXY,MAXZ: " + axis));
  };
  wrong_axis("1,0,0,1,1,1", "min x 1 is not below max x 1");
  wrong_axis("0,2,0,1,1,1", "min y 2 is not below max y 1");
  wrong_axis("0,0,0,1,1,-1", "min z 0 is not below max z -1");
  for (const char* wrong : {"all", "1,2,3", "0,0,0,1,1,inf", "nan,0,0,1,1,1", "0,0,0,1,1,1,1", "0 0 0 1 1 1"})
    EXPECT_THAT(refusal_of_scene({"--roi", wrong}), HasSubstr("MINX,MINY,MINZ,MAXX,MAXY,MAXZ")) << wrong;
  EXPECT_THAT(refusal_of_scene({"--roi", "0,0,64,48"}),
              StartsWith("--roi is '0,0,64,48'; for a scene write MINX,"));
}

TEST(OfScenes, WrongUsageIsRefused) {
  const auto refused = [](const std::string& message, Words words) {
    const auto planes = [](const std::string& word) { return word == "--planes" || word == "--method"; };
    if (std::none_of(words.begin(), words.end(), planes)) words.push_back("--planes=48");
    EXPECT_THAT(refusal_of_scene(words), HasSubstr(message));
  };
  refused("--window is 17", {"--window", "17"});
  refused("--method is 'magic'; it can be planesweep, sgm, bp, bm or pipeline", {"--method", "magic"});
  refused("--cost is 'ssd'; for --method planesweep it can be sad or zncc", {"--cost", "ssd"});
  refused("--uniqueness does not belong to --method planesweep; it is for sgm, bm", {"--uniqueness", "8"});
  refused("--paths has a meaning with --optimizer sgm only", {"--optimizer", "winner", "--paths", "8"});
  refused("--max-disparity is for rectified pairs", {"--max-disparity", "64"});
  refused("--planes is 'many'", {"--planes", "many"});
  refused("--planes is '1'", {"--planes", "1"});
  refused("--shard is '3/2'", {"--stage", "estimate", "--shard", "3/2"});
  refused("--stage estimate", {"--shard", "1/2"});
  refused("--depth-min is 5", {"--depth-min", "5", "--depth-max", "2"});
  refused("--depth-min is 3", {"--depth-min", "3", "--depth-max", "3"});
  for (const char* value : {"nan", "inf", "-1", "0"})
    refused("--depth-min", {std::string("--depth-min=") + value});
  refused("it must be a size in bytes", {"--memory-limit", "lots"});
  refused("--colour", {"--colour"});
}

TEST(OfPairs, WrongUsageIsRefused) {
  const auto refused = [](const std::string& message, const Words& words) {
    Words all = {"--max-disparity=16"};
    for (const std::string& word : words)
      if (word == "--max-disparity") all.clear();
    if (std::find(words.begin(), words.end(), "--method") == words.end()) all.push_back("--method=bm");
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_THAT(refusal_of_pair(all), HasSubstr(message));
  };
  refused("--min-disparity is 16 and --max-disparity 16", {"--min-disparity", "16"});
  refused("at most 4096", {"--max-disparity", "100000"});
  refused("planesweep needs the poses", {"--method", "planesweep"});
  refused("--views is for scenes", {"--views", "*"});
  refused("--planes does not belong to --method bm", {"--planes", "32"});
  refused("--p1 does not belong to --method bm; it is for", {"--p1", "5"});
  refused("--levels does not belong to --method bm; it is for bp", {"--levels", "5"});
  refused("--cost is 'census'; for --method bm it can be sad or ssd", {"--cost", "census"});
  refused("--window is 33", {"--window", "33"});
  refused("--roi is 'all'", {"--roi", "all"});
  refused("--roi is '0,0,0,1,1,1'; for a pair write X,Y,WIDTH,HEIGHT", {"--roi", "0,0,0,1,1,1"});
}

TEST(OfPairs, WrongUsageOfStagesIsRefused) {
  const auto refused = [](const std::string& message, const Words& words) {
    EXPECT_THAT(refusal_of_pair(words), HasSubstr(message));
  };
  refused("--preset is 'magic'; it can be ad-census", {"--preset", "magic"});
  refused("--preset does not belong to --method sgm; it is for pipeline",
          {"--preset", "ad-census", "--method", "sgm"});
  refused("--aggregation does not belong to --method bm; it is for planesweep, pipeline",
          {"--aggregation", "cw", "--method", "bm"});
  refused("--aggregation is 'box'; it can be aw, cross, cw or none", {"--aggregation", "box"});
  refused("--optimizer is 'magic'; it can be graphcut, sgm, winner or scanline", {"--optimizer", "magic"});
  refused("--cost is 'sad'; for --method pipeline it can be ad, ad-census, census, census5x5",
          {"--method", "pipeline", "--cost", "sad"});
  refused("--refine is 'lr,blur'; it must be none, or a list of graphcut, lr, vote", {"--refine", "lr,blur"});
  refused("--refine is 'lr,'; it must be none", {"--refine", "lr,"});
  refused("vote repairs what the check of both views finds: name lr too", {"--refine", "vote,median"});
  refused("--window has a meaning with --aggregation cw or aw only", {"--cost", "ad", "--window", "5"});
  refused("--window is 257", {"--aggregation", "cw", "--window", "257"});
  refused("--window is 131", {"--aggregation", "aw", "--window", "131"});
  refused("--window is 6; it must be odd", {"--aggregation", "aw", "--window", "6"});
  refused("--aw-colour has a meaning with --aggregation aw only",
          {"--aggregation", "cross", "--aw-colour", "7"});
  refused("--aw-space is 0; it must lie between 0.1 and 1000", {"--aggregation", "aw", "--aw-space", "0"});
  refused("--arm-length has a meaning with --aggregation cross, or --refine vote, only",
          {"--aggregation", "aw", "--arm-length", "9"});
  refused("--data-weight is 0; it must lie between 0.0001 and ", {"--method", "bp", "--data-weight", "0"});
  refused("--arm-length is 256; it must lie between 0 and 255",
          {"--aggregation", "cross", "--arm-length", "256"});
  refused("--arm-colour is -1", {"--preset", "ad-census", "--arm-colour", "-1"});
  refused("--cross-iterations is 65", {"--preset", "ad-census", "--cross-iterations", "65"});
  refused("--cross-iterations does not belong to --method bp", {"--method", "bp", "--cross-iterations", "2"});
  refused("--p1 has a meaning where steps are penalised",
          {"--method", "pipeline", "--optimizer", "winner", "--p1", "5"});
  refused("--paths has a meaning with --optimizer sgm only", {"--optimizer", "scanline", "--paths", "4"});
  refused("--p2 is 3 and --p1 9", {"--optimizer", "scanline", "--p1", "9", "--p2", "3"});
  refused("a large step must not be cheaper", {"--optimizer", "graphcut", "--p1", "9", "--p2", "3"});
  refused("--p1 is -1", {"--optimizer", "graphcut", "--p1", "-1"});
  refused("--p2 is 63 and --p1 90", {"--method", "sgm", "--p1", "90"});
  refused("--left-right is -1", {"--method", "pipeline", "--left-right", "-1"});
  refused("--left-right has a meaning with --refine lr only", {"--refine", "median", "--left-right", "1"});
  refused("--rank-window has a meaning with --cost rank only", {"--cost", "ad", "--rank-window", "5"});
}

}  // namespace
}  // namespace recon
