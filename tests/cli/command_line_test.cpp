// What the command line and a configuration mean: every number in its range, and back from the text that is
// written beside the results.

#include "tools/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/temporary_folder.hpp"
#include "session/options/option.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using Words = std::vector<std::string>;

/// A parsed command line.
struct Parsed {
  GivenOptions given;
  SessionOptions options;

  explicit Parsed(const Words& words) {
    std::vector<const char*> arguments = {"reconstruct"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    given = parse_command_line(static_cast<int>(arguments.size()), arguments.data()).given;
    if (given.contains("config")) add_config(given.at("config").text, given);
    try {
      options = parse_options(given);
    } catch (const UsageError& error) {
      throw UsageError(with_place(error.what(), given));
    }
  }
};

TEST(Arguments, ASwitchMayBeGivenAsFalse) {
  const char* words[] = {"reconstruct", "--quiet=false", "--json"};
  const CommandLine line = parse_command_line(3, words);
  EXPECT_FALSE(line.has("quiet"));
  EXPECT_TRUE(line.has("json"));
  EXPECT_FALSE(line.has("verbose"));
}

/// The words that choose work for which an option has a meaning, and the job that they make.
struct Work {
  Words words;
  Job job;
};

const Work kSweep{{}, {Method::kPlaneSweep, false}};
const Work kCut{{"--optimizer", "graphcut"}, {Method::kPlaneSweep, false}};
const Work kWeights{{"--aggregation", "aw"}, {Method::kPlaneSweep, false}};
const Work kCross{{"--aggregation", "cross"}, {Method::kPlaneSweep, false}};
const Work kSgm{{"--method", "sgm"}, {Method::kSemiGlobal, true}};
const Work kBm{{"--method", "bm"}, {Method::kBlockMatching, true}};
const Work kBp{{"--method", "bp"}, {Method::kBeliefPropagation, true}};
const Work kStages{{"--method", "pipeline"}, {Method::kPipeline, true}};

struct FloatOption {
  std::string name;
  Work work;
  std::string good, low, high;  ///< in the range, and beyond its ends
  std::function<double(const SessionOptions&)> value;
};

const BlockMatchingOptions& block(const SessionOptions& options) {
  return options.pair.matching.block;
}
const BeliefOptions& belief(const SessionOptions& options) {
  return options.pair.matching.belief;
}
const AdaptiveWeightOptions& weights(const SessionOptions& options) {
  return options.sweep_stages.aggregation.adaptive_weight;
}

/// Every option that takes a number with a fraction.
const std::vector<FloatOption> kFloats = {
    {"--min-angle", kSweep, "1.23456789", "-1e-9", "180.1",
     [](auto& o) { return o.selection.min_angle_degrees; }},
    {"--max-angle", kSweep, "61.23456789", "-1", "181",
     [](auto& o) { return o.selection.max_angle_degrees; }},
    {"--depth-min", kSweep, "1.23456789", "0", "1e30", [](auto& o) { return o.depth.near.value_or(-1); }},
    {"--depth-max", kSweep, "12.3456789", "-2", "1e31", [](auto& o) { return o.depth.far.value_or(-1); }},
    {"--tile", kSweep, "1.23456789", "-1", "1.1e9", [](auto& o) { return o.tile; }},
    {"--max-cost", kSweep, "0.123456789", "-0.1", "255.1", [](auto& o) { return o.max_cost.value_or(-1); }},
    {"--min-confidence", kSweep, "0.123456789", "-0.1", "1.1",
     [](auto& o) { return o.min_confidence.value_or(-1); }},
    {"--min-texture", kSweep, "1.23456789", "-0.1", "256",
     [](auto& o) { return o.min_texture.value_or(-1); }},
    {"--min-texture", kBm, "1.23456789", "-0.1", "256", [](auto& o) { return block(o).min_texture; }},
    {"--max-depth-error", kSweep, "0.0123456789", "0", "1.1",
     [](auto& o) { return o.consistency.max_relative_depth; }},
    {"--max-normal-angle", kSweep, "12.3456789", "-1", "180.1",
     [](auto& o) { return o.consistency.max_angle_degrees; }},
    {"--aw-colour", kWeights, "12.3456789", "0", "1001", [](auto& o) { return weights(o).gamma_colour; }},
    {"--aw-space", kWeights, "12.3456789", "0", "1001", [](auto& o) { return weights(o).gamma_space; }},
    {"--max-mean-cost", kBm, "12.3456789", "-1", "65026", [](auto& o) { return block(o).max_mean_cost; }},
    {"--data-weight", kBp, "0.123456789", "0", "101", [](auto& o) { return belief(o).data_weight; }},
    {"--data-cap", kBp, "12.3456789", "-1", "256", [](auto& o) { return belief(o).data_cap; }},
    {"--smoothness-cap", kBp, "1.23456789", "-1", "1e9", [](auto& o) { return belief(o).smoothness_cap; }},
    {"--sigma", kBp, "0.123456789", "-1", "10.1", [](auto& o) { return belief(o).smoothing_sigma; }}};

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

class Config : public testing::Test {
 protected:
  std::string file() const { return (folder_.path() / "options.toml").string(); }

  Parsed read(const std::string& text, Words words = {}) const {
    write(text);
    words.insert(words.end(), {"--config", file()});
    return Parsed(words);
  }
  std::string refusal_of(const std::string& text) const {
    return message_of<UsageError>([&] { read(text); });
  }
  void write(const std::string& text) const { std::ofstream(file(), std::ios::binary) << text; }

  TemporaryFolder folder_;
};

TEST_F(Config, GivesBackTheValueOfEveryNumber) {
  for (const FloatOption& option : kFloats) {
    SCOPED_TRACE(option.name);
    Words words = option.work.words;
    words.insert(words.end(), {option.name, option.good});
    const Parsed first(words);
    EXPECT_NEAR(option.value(first.options), std::stod(option.good), 1e-6);
    const std::string text = resolved_options(first.options, option.work.job);
    write(text);
    const Parsed again({"--config", file()});
    EXPECT_EQ(option.value(again.options), option.value(first.options)) << text;
    EXPECT_EQ(resolved_options(again.options, option.work.job), text);
  }
}

TEST_F(Config, GivesBackDefaults) {
  const std::vector<Work> works = {kSweep, kCut, kWeights, kCross, kSgm, kBm, kBp, kStages};
  for (const Work& work : works) {
    const Parsed first(work.words);
    const std::string text = resolved_options(first.options, work.job);
    write(text);
    const Parsed again({"--config", file()});
    again.options.check({work.job});
    EXPECT_EQ(resolved_options(again.options, work.job), text);
    for (const FloatOption& option : kFloats) {
      if (option.work.job.method != work.job.method) continue;
      EXPECT_EQ(option.value(again.options), option.value(first.options)) << option.name;
    }
  }
}

TEST_F(Config, GivesBackThePenaltiesOfEveryPipeline) {
  for (const char* cost : {"census5x5", "census9x7", "symmetric", "rank", "ad", "ad-census"})
    for (const char* optimizer : {"sgm", "scanline", "graphcut"}) {
      SCOPED_TRACE(std::string(cost) + " " + optimizer);
      const Parsed first({"--method", "pipeline", "--cost", cost, "--optimizer", optimizer});
      write(resolved_options(first.options, kStages.job));
      const Parsed again({"--config", file()});
      const PipelineOptions &a = first.options.pair.matching.pipeline,
                            &b = again.options.pair.matching.pipeline;
      EXPECT_EQ(a.semi_global.p1, b.semi_global.p1);
      EXPECT_EQ(a.semi_global.p2, b.semi_global.p2);
      EXPECT_EQ(a.scanline.p1, b.scanline.p1);
      EXPECT_EQ(a.scanline.p2, b.scanline.p2);
      EXPECT_EQ(a.graph_cut.smoothness, b.graph_cut.smoothness);
      EXPECT_EQ(a.graph_cut.smoothness_cap, b.graph_cut.smoothness_cap);
    }
}

TEST_F(Config, GivesBackEveryText) {
  for (const char* text :
       {"*", "a#b", "a b", "a,b", "[ab]*", "\"", "'", "\\*", "a\nb", "5", "true", "=", "#"}) {
    write(resolved_options(Parsed({"--views", text}).options, kSweep.job));
    EXPECT_EQ(Parsed({"--config", file()}).options.views, text);
  }
}

TEST_F(Config, IsReadAsTomlIs) {
  const Parsed parsed = read(
      "\xEF\xBB\xBFwindow = 5 # pixels\r\n\r\n  # a comment\r\nviews='a\\#*'\r\nplanes=\"32\"#\r\nsources=3");
  EXPECT_EQ(parsed.options.sweep.window, 5);
  EXPECT_EQ(parsed.options.views, "a\\#*");
  EXPECT_EQ(parsed.options.planes, 32);
  EXPECT_EQ(parsed.options.selection.max_sources, 3);
  std::vector<std::string> given;
  for (const auto& [name, option] : parsed.given) given.push_back(name);
  EXPECT_THAT(given, ElementsAre("config", "planes", "sources", "views", "window"));
  EXPECT_EQ(read("method=\"bm\"\nfill=true\n").options.pair.fill, true);
}

TEST_F(Config, YieldsToTheCommandLine) {
  const Parsed parsed = read("window=5\nsources=3\n", {"--window", "9"});
  EXPECT_EQ(parsed.options.sweep.window, 9);
  EXPECT_EQ(parsed.options.selection.max_sources, 3);
  EXPECT_EQ(with_place("--window is 9; odd", parsed.given), "--window is 9; odd") << "not from the file";
  EXPECT_EQ(with_place("--sources is 3; odd", parsed.given), file() + ":2: --sources is 3; odd");
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

TEST_F(Config, GivesBackTheQuality) {
  write(resolved_options(Parsed({"--quality", "draft", "--max-image-size", "320"}).options, kSweep.job));
  const SessionOptions again = Parsed({"--config", file()}).options;
  EXPECT_EQ(again.quality, Quality::kDraft);
  EXPECT_EQ(again.max_image_size, 320);
  EXPECT_EQ(again.selection.max_sources, 8);
}

TEST_F(Config, ErrorsNameLineAndText) {
  const auto says = [&](int line, const std::string& what) {
    return AllOf(StartsWith(file() + ":" + std::to_string(line) + ": "), HasSubstr(what));
  };
  EXPECT_THAT(refusal_of("window=5\nwindwo=5\n"), says(2, "no option 'windwo'"));
  EXPECT_THAT(refusal_of("\n\nwindow=\"five\"\n"), says(3, "window is 'five'; it must be a whole number"));
  EXPECT_THAT(refusal_of("window=5.5"), says(1, "window is '5.5'; it must be a whole number"));
  EXPECT_THAT(refusal_of("min-angle=\"x\""), says(1, "min-angle is 'x'; it must be a number"));
  EXPECT_THAT(refusal_of("colour=\"maybe\""), says(1, "colour is 'maybe'; it must be true or false"));
  EXPECT_THAT(refusal_of("threads=2"), says(1, "threads belongs on the command line"));
  EXPECT_THAT(refusal_of("INPUT='a'"), says(1, "no option 'INPUT'"));
  EXPECT_THAT(refusal_of("# x\nwindow 5\n"), says(2, "'='"));
  EXPECT_THAT(refusal_of("=5\n"), says(1, "'='"));
  EXPECT_THAT(refusal_of("method=bm\n"), says(1, "value"));
  EXPECT_THAT(refusal_of("window=\n"), says(1, "value"));
  EXPECT_THAT(refusal_of("min-confidence=\"\" # none\n"), says(1, "'min-confidence' has no value"));
  EXPECT_THAT(refusal_of("[matching]\nwindow=5\n"), says(1, "'matching' has no value that an option takes"));
  EXPECT_THAT(refusal_of("refine=[\"lr\",\"median\"]\n"), says(1, "a list as one text"));
  EXPECT_THAT(refusal_of("views=\"a\n"), says(1, "string"));
  EXPECT_THAT(refusal_of("views=\"a\" b\n"), says(1, "'b'"));
  EXPECT_THAT(refusal_of("window=5\n\nwindow=7\n"), says(3, "window"));
}

TEST_F(Config, AFileThatCannotBeReadIsNamed) {
  const auto refusal_of_file = [](const std::string& name) {
    return message_of<UsageError>([&] { Parsed({"--config", name}); });
  };
  const std::string nowhere = (folder_.path() / "nowhere.toml").string();
  EXPECT_EQ(refusal_of_file(nowhere), "--config " + nowhere + ": cannot be read: No such file or directory");
  EXPECT_THAT(refusal_of_file(folder_.path().string()), HasSubstr("cannot be read: Is a directory"));
  EXPECT_THAT(refusal_of_file("/dev/zero"), HasSubstr("is no configuration"));
}

/// Random sequences of what a document is made of: entries, or a message with a line.
TEST_F(Config, AnyTextIsReadOrRefused) {
  const Words parts = {"window",   "views",    "=", "5", "0.5", "true", "\"a\"", "'b'",  "\"", "'",
                       "#",        "[",        "]", ",", "\\",  " ",    "\n",    "\r\n", "\t", "\xEF\xBB\xBF",
                       "window=5", "views='a'"};
  std::mt19937 random(7);
  int refused = 0, read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t count = random() % 7; count > 0; --count) text += parts[random() % parts.size()];
    try {
      for (const ConfigEntry& entry : parse_config(text, "x.toml")) {
        EXPECT_FALSE(entry.key.empty() || entry.value.empty()) << text;
        ++read;
      }
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), StartsWith("x.toml:"));
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace recon
