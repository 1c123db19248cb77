// What a configuration means, and that the options come back from the text that is written beside the
// results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "cli/parsed_options.hpp"
#include "io/error_message.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

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
    const std::string text = first.options.resolved(option.work.job);
    write(text);
    const Parsed again({"--config", file()});
    EXPECT_EQ(option.value(again.options), option.value(first.options)) << text;
    EXPECT_EQ(again.options.resolved(option.work.job), text);
  }
}

TEST_F(Config, LeavesWhatTheCommandLineSetsByAnotherOption) {
  const Parsed draft({"--quality", "draft"});
  const std::string text = draft.options.resolved(kSweep.job);
  EXPECT_THAT(text, HasSubstr("sources=8"));
  const int normal = Parsed({"--quality", "normal"}).options.selection.max_sources;
  EXPECT_EQ(read(text, {"--quality", "normal"}).options.selection.max_sources, normal);
  EXPECT_EQ(read(text, {"--quality", "normal", "--sources", "5"}).options.selection.max_sources, 5);
  EXPECT_EQ(read(text).options.selection.max_sources, 8);
  const Parsed preset = read("aggregation = \"cw\"\n", {"--preset", "ad-census"});
  EXPECT_EQ(preset.options.spec(Method::kPipeline).aggregation.kind, Aggregation::kCrossBased);
}

TEST_F(Config, GivesBackDefaults) {
  const std::vector<Work> works = {kSweep, kCut, kWeights, kCross, kSgm, kBm, kBp, kStages};
  for (const Work& work : works) {
    const Parsed first(work.words);
    const std::string text = first.options.resolved(work.job);
    write(text);
    const Parsed again({"--config", file()});
    again.options.check({work.job});
    EXPECT_EQ(again.options.resolved(work.job), text);
    for (const FloatOption& option : kFloats) {
      if (option.work.job.method != work.job.method) continue;
      EXPECT_EQ(option.value(again.options), option.value(first.options)) << option.name;
    }
  }
}

TEST_F(Config, GivesBackThePenaltiesOfEveryPipeline) {
  for (const char* cost : {"census", "census5x5", "census9x7", "symmetric", "rank", "ad", "ad-census"})
    for (const char* optimizer : {"sgm", "scanline", "graphcut"}) {
      SCOPED_TRACE(std::string(cost) + " " + optimizer);
      const Parsed first({"--method", "pipeline", "--cost", cost, "--optimizer", optimizer});
      write(first.options.resolved(kStages.job));
      const Parsed again({"--config", file()});
      const MethodSpec &a = first.options.spec(Method::kPipeline), &b = again.options.spec(Method::kPipeline);
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
    write(Parsed({"--views", text}).options.resolved(kSweep.job));
    EXPECT_EQ(Parsed({"--config", file()}).options.views, text);
  }
}

TEST_F(Config, IsReadAsTomlIs) {
  const Parsed parsed = read(
      "\xEF\xBB\xBFwindow = 5 # pixels\r\n\r\n  # a comment\r\nviews='a\\#*'\r\nplanes=\"32\"#\r\nsources=3");
  EXPECT_EQ(parsed.options.sweep().cost.window, 5);
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
  EXPECT_EQ(parsed.options.sweep().cost.window, 9);
  EXPECT_EQ(parsed.options.selection.max_sources, 3);
  EXPECT_EQ(with_place("--window is 9; odd", parsed.given), "--window is 9; odd") << "not from the file";
  EXPECT_EQ(with_place("--sources is 3; odd", parsed.given), file() + ":2: --sources is 3; odd");
}

TEST_F(Config, GivesBackTheQuality) {
  write(Parsed({"--quality", "draft", "--max-image-size", "320"}).options.resolved(kSweep.job));
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
  EXPECT_THAT(refusal_of_file(folder_.path().string()), HasSubstr("is a folder; only regular files"));
  EXPECT_THAT(refusal_of_file("/dev/zero"), HasSubstr("--config /dev/zero: is a character device"));
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0666), 0);
  EXPECT_THAT(refusal_of_file(pipe), HasSubstr("is a pipe"));
  std::ofstream(pipe + ".toml") << std::string(1 << 21, '#');
  EXPECT_THAT(refusal_of_file(pipe + ".toml"), HasSubstr("it has 2097152 bytes; more than 1048576"));
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
