// What a run leaves on a terminal: the same words as in a file, in lines that fit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/scene_fixture.hpp"
#include "core/terminal_run.hpp"

namespace recon {
namespace {

using testing::ElementsAreArray;

class OnATerminal : public SceneTest {
 protected:
  void SetUp() override {
    if (!has_pseudo_terminals()) GTEST_SKIP() << "no pseudo-terminals here";
  }

  static TerminalRun run(int columns, int rows, const std::vector<std::string>& command) {
    return run_in_terminal(columns, rows, [&] {
      setenv("TERM", "xterm", 1);
      std::vector<char*> arguments;
      for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      return execv(arguments.front(), arguments.data());
    });
  }

  /// Lines without times, and without the shares of steps, which narrow terminals do not have.
  static std::vector<std::string> without_times(std::vector<std::string> lines) {
    for (std::string& line : lines) {
      line = std::regex_replace(line, std::regex(" \\(100 %\\)"), "");
      line = std::regex_replace(line, std::regex("[0-9.]+ s\\b"), "T s");
    }
    return lines;
  }

  static std::vector<std::string> steps_of(std::vector<std::string> lines) {
    std::erase_if(lines, [](const std::string& line) { return line.find(": 4 of 4") == std::string::npos; });
    return lines;
  }

  /// All words, in the order of the alphabet: the first messages come from several threads.
  static std::vector<std::string> words_of(const std::vector<std::string>& lines) {
    std::vector<std::string> words;
    for (const std::string& line : lines) {
      std::istringstream in(line);
      for (std::string word; in >> word;) words.push_back(word);
    }
    std::ranges::sort(words);
    return words;
  }

  /// Lines are no longer than the terminal is wide, but for single words such as paths.
  static void expect_to_fit(const TerminalRun& run, std::size_t columns) {
    for (const std::string& line : run.screen.lines())
      EXPECT_TRUE(line.size() <= columns || line.find(' ') == std::string::npos) << columns << ": " << line;
  }

  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(OnATerminal, ARunLeavesTheWordsThatAFileHas) {
  fs::remove(scene() / "images/view02.png");  // a warning among the steps
  const std::vector<std::string> words =
      command({scene().string(), "--threads", "1", "--overwrite", "-o", (folder() / "out").string()});
  const Outcome in_files = run_program(folder(), words);
  ASSERT_EQ(in_files.exit_code, 7) << in_files.err;
  // The report has a line of its own.
  const std::vector<std::string> expected = without_times(
      lines_of(std::regex_replace(in_files.err + in_files.out, std::regex("; see (/.*)"), "\nreport: $1")));
  EXPECT_THAT(steps_of(expected), testing::SizeIs(4)) << in_files.err;
  for (const auto& [columns, rows] : {std::pair(40, 24), {80, 24}, {200, 24}, {60, 4}}) {
    const TerminalRun on_terminal = run(columns, rows, words);
    EXPECT_EQ(on_terminal.exit_code, 7);
    const std::vector<std::string> lines = without_times(on_terminal.screen.lines());
    EXPECT_THAT(words_of(lines), ElementsAreArray(words_of(expected))) << columns;
    expect_to_fit(on_terminal, static_cast<std::size_t>(columns));
    const std::string report = (folder() / "out/report.html").string();
    EXPECT_TRUE(lines.back() == report || lines.back() == "report: " + report) << lines.back();
    EXPECT_THAT(steps_of(lines), ElementsAreArray(steps_of(expected))) << columns;
    EXPECT_THAT(on_terminal.bytes, testing::ContainsRegex("depth maps: (\\[ *\\] )?0 of 4")) << columns;
  }
}

TEST_F(OnATerminal, TablesFit) {
  const fs::path session = folder() / "session";
  for (const char* name : {"a", "b"}) copy_scene(session / name);
  const std::vector<std::string> words =
      command({session.string(), "--max-image-size", "48", "--planes", "8", "--overwrite"});
  const std::string cloud = (session / "a/dense/fused.ply").string();
  for (const int columns : {80, 50}) {
    const TerminalRun scenes = run(columns, 24, words);
    EXPECT_EQ(scenes.exit_code, 0);
    expect_to_fit(scenes, static_cast<std::size_t>(columns));
    const std::string heads = columns == 80 ? "scene +views +points +seconds +warnings +status"
                                            : "scene +views +points +seconds +warnings";
    EXPECT_THAT(scenes.screen.lines(), testing::Contains(testing::MatchesRegex(heads)));
    EXPECT_THAT(scenes.screen.lines(), testing::Contains(testing::MatchesRegex("scene .*status")));
    for (const std::string& line : scenes.screen.lines())
      EXPECT_EQ(line.find("depth maps: "), std::string::npos) << "steps of several scenes leave no lines";
    for (const std::string& line : scenes.screen.lines())
      EXPECT_FALSE(std::regex_search(line, std::regex("(points from|report: ).*(\\]|left)"))) << line;
    const TerminalRun figures = run(columns, 24, {RECON_EVALUATE, "cloud", cloud, "--reference", cloud});
    EXPECT_EQ(figures.exit_code, 0);
    expect_to_fit(figures, static_cast<std::size_t>(columns));
    EXPECT_THAT(figures.screen.lines(), testing::Contains(testing::MatchesRegex("threshold +precision.*")));
    EXPECT_THAT(figures.screen.lines(), testing::Contains(testing::MatchesRegex("threshold .*median")));
  }
}

}  // namespace
}  // namespace recon
