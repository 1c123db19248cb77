// `reconstruct --help`, the manual page and the documents describe the options of the program.

#include "tools/manual/manual.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "session/options/option.hpp"
#include "structure/program_output.hpp"

namespace recon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string content(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string kPrograms = RECON_PROGRAM;  ///< how the names of all programs begin

/// The names of all options, each once: none is described twice.
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Option* option : all_options()) all.push_back(option->name);
  return all;
}

TEST(Options, HaveNamesDescriptionsAndDefaultsInRange) {
  const std::vector<std::string> all = names();
  EXPECT_THAT(std::set<std::string>(all.begin(), all.end()), SizeIs(all.size()));
  EXPECT_THAT(all, SizeIs(testing::Gt(60u)));
  for (const Option* option : all_options()) {
    EXPECT_FALSE(option->help.empty()) << option->name;
    EXPECT_EQ(option->value.empty(),
              option->settings.empty() ? option->name != "config" : option->kind == ValueKind::kSwitch)
        << option->name;
    for (const Method method : kMethods)
      for (const bool pair : {false, true})
        EXPECT_NO_THROW(option->check(SessionOptions(), {method, pair})) << option->name;
  }
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(Help, DescribesEveryOptionInLinesThatFit) {
  const std::string help = output_of("'" RECON_PROGRAM "' --help-all");
  EXPECT_EQ(matches(help, "\n  (?:-[a-z], )?--([a-z0-9-]+)"), names());
  EXPECT_LE(longest_line(help), 80u) << "the width of a terminal that says none";
  EXPECT_THAT(help, HasSubstr("--best-k K                  Of scenes: number of source views of best-k"));
  EXPECT_EQ(help, full_help_text(80));
}

TEST(Help, FitsATerminalOfAnyWidth) {
  for (const int columns : {52, 60, 74, 75, 80, 100, 132, 240}) {
    EXPECT_LE(longest_line(help_text(columns)), static_cast<std::size_t>(columns));
    const std::string help = full_help_text(columns);
    EXPECT_LE(longest_line(help), static_cast<std::size_t>(columns));
    EXPECT_GT(longest_line(help), static_cast<std::size_t>(columns) - 12) << "the width is used";
    EXPECT_EQ(matches(help, "\n  (?:-[a-z], )?--([a-z0-9-]+)"), names()) << columns;
  }
  EXPECT_EQ(full_help_text(1), full_help_text(40)) << "words are not broken";
}

/// The examples are among the last lines, which a terminal of 24 rows shows above the next prompt.
TEST(Help, IsShortAndEndsWithExamples) {
  const std::string help = output_of("'" RECON_PROGRAM "' --help"),
                    end = help.substr(help.find("\nExamples:\n"));
  EXPECT_EQ(help, help_text(80));
  EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 45);
  EXPECT_THAT(matches(end, "\n  (reconstruct) "), SizeIs(5));
  EXPECT_LE(std::count(end.begin(), end.end(), '\n'), 23);
  const std::vector<std::string> named = matches(help, "\n  (?:-[a-z], )?--([a-z0-9-]+)");
  EXPECT_THAT(named, testing::IsSupersetOf({"output", "quality", "dry-run", "max-disparity", "help-all"}));
  for (const std::string& name : named) EXPECT_NE(find_option(name), nullptr) << name;
}

/// Where the entry of an option in help begins with a text.
bool begins_with(const std::string& help, const std::string& option, const std::string& text) {
  const std::regex entry("\n  (?:-[a-z], )?--" + option + "(?: [^ \n]+)?\\s+" + text);
  return std::regex_search(help, entry);
}

TEST(Help, SaysWhichOptionsAreOfScenesOrPairsOnly) {
  const std::string first = help_text(80), full = full_help_text(80);
  for (const OptionGroup& group : option_groups())
    for (const Option& option : group.options) {
      const bool scenes = option.belongs_only_to(jobs::kScenes), pairs = option.belongs_only_to(jobs::kPairs);
      EXPECT_EQ(begins_with(full, option.name, "Of scenes: "), scenes) << option.name;
      EXPECT_EQ(begins_with(first, option.name, "Of a scene: "),
                scenes && first.find("--" + option.name + " ") != std::string::npos)
          << option.name;
      EXPECT_EQ(group.title == "Rectified pairs", pairs) << option.name;
    }
  for (const char* of_scenes : {"quality", "max-image-size", "sources", "images"})
    EXPECT_TRUE(find_option(of_scenes)->belongs_only_to(jobs::kScenes)) << of_scenes;
  for (const char* of_both : {"method", "device", "dry-run", "speckle", "roi"})
    EXPECT_FALSE(find_option(of_both)->belongs_only_to(jobs::kScenes)) << of_both;
}

TEST(Help, InFullBeginsWithExamplesAndTheQuality) {
  const std::string help = full_help_text(80), beginning = help.substr(0, help.find("--quality WORD"));
  EXPECT_THAT(matches(beginning, "\n  (reconstruct) "), SizeIs(5));
  EXPECT_THAT(matches(beginning, "\n  (?:-[a-z], )?(--[a-z-]+)"), IsEmpty())
      << "--quality is the first option";
  EXPECT_LE(std::count(beginning.begin(), beginning.end(), '\n'), 15) << "they are on the first screen";
  for (const std::string& name : matches(beginning, "--([a-z][a-z0-9-]*)"))
    EXPECT_NE(find_option(name), nullptr) << name;
}

/// Programs and their commands as they are called behind "reconstruct".
constexpr const char* kOthers[] = {"-evaluate",           "-evaluate cloud", "-evaluate depth",
                                   "-evaluate disparity", "-render",         "-bench",
                                   "-bench sweep-1080p",  "-bench sgm",      "-bench predict"};

TEST(Help, OfOtherProgramsFitsToo) {
  for (const std::string command : kOthers) {
    const std::string help = output_of(kPrograms + command + " --help");
    EXPECT_THAT(help, HasSubstr("Usage: reconstruct-")) << command;
    EXPECT_THAT(help, testing::Not(HasSubstr("->")))
        << "what words are in the program is no help: " << command;
    EXPECT_LE(longest_line(help), 80u) << command;
  }
  const std::string refusal = output_of(kPrograms + "-render demo out --ground-truth some 2>&1");
  EXPECT_THAT(refusal, HasSubstr("--ground-truth: some not in {all,png,none}"));
}

/// As `head` reads it. A pipe without a reader, and a full disk.
TEST(Help, MayBeReadInPart) {
  std::vector<std::string> commands = {" --help",         " --help-all",       " --version",
                                       "-render --list",  "-render --version", "-evaluate --version",
                                       "-bench --version"};
  for (const std::string command : kOthers) commands.push_back(command + " --help");
  for (const std::string& command : commands) {
    const std::string of_the_pipe =
        output_of("pipe=$(mktemp -u); mkfifo $pipe; exec 3<>$pipe 4>$pipe 3<&-; rm $pipe; " + kPrograms +
                  command + " 2>&1 >&4; echo $?");
    EXPECT_EQ(of_the_pipe, "0\n") << command;
    const std::string of_the_disk = output_of(kPrograms + command + " 2>&1 >/dev/full; echo $?");
    EXPECT_THAT(of_the_disk, testing::EndsWith("its text is lost\n1\n")) << command;
  }
}

TEST(Help, TakesTheWidthOfTheTerminal) {
  if (output_of("script -qec 'echo made' /dev/null </dev/null 2>/dev/null").empty())
    GTEST_SKIP() << "no pseudo-terminal can be made, or script is not installed";
  const std::string help = output_of("script -qec \"stty columns 61; '" RECON_PROGRAM
                                     "' --help\" /dev/null </dev/null | tr -d '\\r'");
  EXPECT_EQ(help, help_text(61));
}

TEST(ManualPage, DescribesEveryOption) {
  std::string page = content(RECON_MANUAL "/reconstruct.1");
  page.erase(std::remove(page.begin(), page.end(), '\\'), page.end());
  EXPECT_EQ(matches(page, "\n\\.TP\n\\.B (?:-[a-z], )?--([a-z0-9-]+)"), names());
  EXPECT_THAT(page,
              HasSubstr("\n.B --best-k K\nOf scenes: number of source views of best-k [planesweep: 2, 1 "
                        "to 8]\n"));
  for (const std::string& line : matches(page, "\n(.*)"))
    EXPECT_FALSE(line.starts_with("'")) << "taken for a command: " << line;
}

TEST(ReferencePage, DescribesEveryOption) {
  const std::string page = content(RECON_MANUAL "/reference.md");
  EXPECT_EQ(matches(page, "\n### --([a-z0-9-]+)"), names());
  EXPECT_THAT(
      page,
      HasSubstr("\n### --best-k K\n\nOf scenes: number of source views of best-k.\n\nDefault and range: "
                "planesweep: 2, 1 to 8.\n"));
  EXPECT_THAT(page, HasSubstr("Default and range: \\*.")) << "the default of --views is no mark of Markdown";
}

TEST(ManualPage, ShowsExamplesFilesAndMasks) {
  const std::string page = man_page("1");
  std::size_t at = 0;
  for (const char* section :
       {"DESCRIPTION", "MASKS", "OPTIONS", "EXIT STATUS", "EXAMPLES", "FILES", "SEE ALSO"}) {
    const std::size_t next = page.find(std::string(".SH ") + section + "\n");
    ASSERT_NE(next, std::string::npos) << section;
    EXPECT_GT(next, at) << section;
    at = next;
  }
  const std::string plain =
      std::regex_replace(page.substr(page.find(".SH EXAMPLES")), std::regex(R"(\\-)"), "-");
  for (const std::string& name : matches(plain.substr(0, plain.find(".SH SEE")), "--([a-z][a-z0-9-]*)"))
    EXPECT_NE(find_option(name), nullptr) << name;
}

/// README.md and the pages for users without what they say of other programs.
std::string documents() {
  std::string text;
  for (const char* document :
       {"README", "tools/docs/automation", "tools/docs/confidence", "tools/docs/first-use",
        "tools/docs/formats", "tools/docs/index", "tools/docs/options", "tools/docs/recipes",
        "tools/docs/report", "tools/docs/troubleshooting", "tools/docs/warnings"}) {
    const std::string page = content(RECON_SOURCE_DIR "/" + std::string(document) + ".md");
    std::istringstream lines(std::regex_replace(page, std::regex(R"(\\\n)"), ""));  // whole commands
    for (std::string line; std::getline(lines, line) && line != "## Build";)
      if (std::ranges::none_of(
              std::vector{"reconstruct-", "colmap ", "snakemake", "splatting", "ns-train",
                          "LichtFeld-Studio ", "pdal", "import-tanks", "ETH3DMulti", "toolbox"},
              [&](const char* other) { return line.find(other) != std::string::npos; }))
        text += line + "\n";
  }
  return text;
}

TEST(Documents, NameOptionsAndKeywordsOfTheProgram) {
  const std::string text = documents();
  const std::vector<std::string> named = matches(text, "--([a-z][a-z0-9-]*)");
  EXPECT_THAT(named, SizeIs(testing::Gt(80u)));
  for (const std::string& name : named) EXPECT_NE(find_option(name), nullptr) << name;
  for (const Option* option : all_options()) {
    if (option->keywords().empty()) continue;
    for (const std::string& word : matches(text, ("--" + option->name + "[ =]([a-z0-9-]+)").c_str()))
      EXPECT_THAT(option->keywords(), testing::Contains(word)) << "--" << option->name;
  }
}

TEST(TypedOptions, OfTheSourcesAreThoseOfTheTable) {
  const std::vector<GeneratedFile> files = typed_options();
  ASSERT_THAT(files, SizeIs(6u));
  const std::string sources = "sources/";
  for (const GeneratedFile& file : files) {
    if (!file.path.starts_with(sources)) continue;
    EXPECT_EQ(content(std::string(RECON_SOURCE_DIR) + "/" + file.path.substr(sources.size())), file.text)
        << "copy " << RECON_MANUAL << "/sources into the source tree";
  }
  // An option of both, one of scenes, one of pairs, and one of the terminal.
  EXPECT_THAT(files[0].text, HasSubstr("  std::optional<int> window = {};\n"));
  EXPECT_THAT(files[3].text, HasSubstr("  std::optional<int> window = {};\n"));
  EXPECT_THAT(files[2].text, HasSubstr("    min_views: Optional[int] = None\n"));
  EXPECT_THAT(files[2].text, Not(HasSubstr("    max_disparity: ")));
  EXPECT_THAT(files[5].text, HasSubstr("    max_disparity: Optional[int] = None\n"));
  for (const GeneratedFile& file : files) EXPECT_THAT(file.text, Not(HasSubstr("verbose")));
}

}  // namespace
}  // namespace recon
