// What bash, zsh and fish complete of each program is what its help describes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "session/options/option.hpp"
#include "structure/program_output.hpp"

namespace recon {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::UnorderedElementsAreArray;

/// A program or one of its commands, as it is called behind "reconstruct".
const std::vector<std::string> kCommands = {"",
                                            "-render",
                                            "-evaluate",
                                            "-evaluate depth",
                                            "-evaluate cloud",
                                            "-evaluate disparity",
                                            "-bench",
                                            "-bench sweep-1080p",
                                            "-bench predict"};

std::string help_of(const std::string& command) {
  return output_of(RECON_PROGRAM + command + (command.empty() ? " --help-all" : " --help"));
}

/// The long names of the options that help describes.
std::vector<std::string> options_in_help(const std::string& command) {
  std::vector<std::string> names = matches(help_of(command), "\n  (?:-[a-z], ?)?(--[a-z0-9-]+)");
  if (command.starts_with("-evaluate "))  // options of the program count behind its commands too
    names.insert(names.end(), {"--json", "--threads", "--version"});
  return names;
}

std::string program_of(const std::string& command) {
  return "reconstruct" + command.substr(0, command.find(' '));
}

std::string arguments_of(const std::string& command) {
  const std::size_t space = command.find(' ');
  return space == std::string::npos ? "" : command.substr(space + 1) + " ";
}

/// What bash offers for the last of some words.
std::vector<std::string> in_bash(const std::string& program, const std::string& words) {
  std::string function = "_" + program;
  std::ranges::replace(function, '-', '_');
  std::istringstream out(output_of("bash -c '. \"" RECON_MANUAL "/bash/" + program + "\"; COMP_WORDS=(" +
                                   program + " " + words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); " +
                                   function + "; echo \"${COMPREPLY[@]}\"'"));
  return {std::istream_iterator<std::string>(out), {}};
}

std::vector<std::string> completions(const std::string& words) {
  return in_bash("reconstruct", words);
}

TEST(Completion, OfferedByBashIsInHelp) {
  for (const std::string& command : kCommands)
    EXPECT_THAT(in_bash(program_of(command), arguments_of(command) + "--"),
                UnorderedElementsAreArray(options_in_help(command)))
        << command;
  EXPECT_THAT(in_bash("reconstruct-evaluate", "\"\""), ElementsAre("depth", "cloud", "disparity"));
  EXPECT_THAT(in_bash("reconstruct-evaluate", "--threads 4 cl"), ElementsAre("cloud"));
  EXPECT_THAT(in_bash("reconstruct-evaluate", "depth dense --kind \"\""),
              ElementsAre("geometric", "photometric"));
  EXPECT_THAT(in_bash("reconstruct-render", "demo out --ground-truth \"\""),
              ElementsAre("all", "png", "none"));
  EXPECT_THAT(in_bash("reconstruct-evaluate", "cloud --scene " RECON_SOURCE_DIR "/sr"),
              ElementsAre(RECON_SOURCE_DIR "/src"));
  EXPECT_THAT(in_bash("reconstruct-bench", "swe"), ElementsAre("sweep-1080p"));
}

TEST(Completion, OffersKeywordsAndFolders) {
  EXPECT_THAT(completions("x --quiet --min-f"), ElementsAre("--min-fused-views"));
  EXPECT_THAT(completions("x --min-d"), ElementsAre("--min-disparity"));
  for (const Option* option : all_options()) {
    if (option->keywords().empty()) continue;
    EXPECT_EQ(completions("x --" + option->name + " \"\""), option->keywords()) << option->name;
  }
  EXPECT_THAT(completions("x --window \"\""), IsEmpty());
  EXPECT_THAT(completions("x --device \"\""), ElementsAre("auto", "cpu", "cuda", "cuda:0"));
  EXPECT_THAT(completions("x --device cu"), ElementsAre("cuda", "cuda:0"));
  EXPECT_THAT(completions("x --device cpu"), ElementsAre("cpu"));
  EXPECT_THAT(completions("x --output " RECON_SOURCE_DIR "/sr"), ElementsAre(RECON_SOURCE_DIR "/src"));
  EXPECT_THAT(completions("x -o " RECON_SOURCE_DIR "/READM"), IsEmpty()) << "a folder is wanted";
  EXPECT_THAT(completions(RECON_SOURCE_DIR "/READM"), ElementsAre(RECON_SOURCE_DIR "/README.md"));
}

/// Bash takes : and = for words of their own, and replaces what stands behind the last of them.
TEST(Completion, GoesOnBehindColonsAndEqualSigns) {
  for (const char* words :
       {"x --device cuda :", "x --device cuda : 0", "--device = cuda :", "--device = cuda : 0"})
    EXPECT_THAT(completions(words), ElementsAre("0")) << words;
  EXPECT_THAT(completions("x --device ="), ElementsAre("auto", "cpu", "cuda", "cuda:0"));
  EXPECT_THAT(completions("x --device = cp"), ElementsAre("cpu"));
  EXPECT_THAT(completions("x --device cuda : 1"), IsEmpty());
  EXPECT_THAT(completions("x --stage = f"), ElementsAre("fuse"));
}

#ifdef RECON_FISH
/// What fish offers for the end of a line, without the descriptions.
std::vector<std::string> in_fish(const std::string& program, const std::string& line) {
  const std::string text = output_of(RECON_FISH " --no-config -c 'source " RECON_MANUAL "/fish/" + program +
                                     ".fish; complete -C \"" + program + " " + line + "\"' 2>&1");
  std::vector<std::string> words = lines_of(text);
  for (std::string& word : words) word = word.substr(0, word.find('\t'));
  return words;
}

TEST(Completion, OfferedByFishIsInHelp) {
  for (const std::string& command : kCommands)
    EXPECT_THAT(in_fish(program_of(command), arguments_of(command) + "--"),
                UnorderedElementsAreArray(options_in_help(command)))
        << command;
  for (const Option* option : all_options()) {
    if (option->keywords().empty()) continue;
    EXPECT_THAT(in_fish("reconstruct", "x --" + option->name + " "),
                UnorderedElementsAreArray(option->keywords()));
  }
  EXPECT_THAT(in_fish("reconstruct", "x --device=cu"),
              UnorderedElementsAreArray({"--device=cuda", "--device=cuda:0"}));
  EXPECT_THAT(in_fish("reconstruct", "x --window "), IsEmpty());
  EXPECT_THAT(in_fish("reconstruct", "-o " RECON_SOURCE_DIR "/sr"), ElementsAre(RECON_SOURCE_DIR "/src/"));
  EXPECT_THAT(in_fish("reconstruct", "-o " RECON_SOURCE_DIR "/READM"), IsEmpty()) << "a folder is wanted";
  EXPECT_THAT(in_fish("reconstruct", "--config " RECON_SOURCE_DIR "/READM"),
              ElementsAre(RECON_SOURCE_DIR "/README.md"));
  EXPECT_THAT(in_fish("reconstruct-evaluate", ""), IsSupersetOf({"depth", "cloud", "disparity"}));
  EXPECT_THAT(in_fish("reconstruct-evaluate", "depth --kind "),
              UnorderedElementsAreArray({"geometric", "photometric"}));
}

TEST(Completion, OfValuesInFishHasTheirOwnDescriptionsOrNone) {
  const auto offered = [](const std::string& option) {
    return lines_of(output_of(RECON_FISH " --no-config -c 'source " RECON_MANUAL
                                         "/fish/reconstruct.fish; complete -C \"reconstruct x --" +
                              option + " \"' 2>&1"));
  };
  EXPECT_THAT(offered("stage"),
              testing::UnorderedElementsAre("all\tboth", "estimate\tup to the depth maps of single views",
                                            "fuse\tfrom these to the cloud"));
  EXPECT_THAT(offered("optimizer"), IsSupersetOf({"sgm\tsemi-global matching", "graphcut\talpha-expansion"}));
  EXPECT_THAT(offered("quality"), testing::UnorderedElementsAre("draft", "normal", "high"));
  EXPECT_THAT(offered("progress"), testing::UnorderedElementsAre("json", "text"));
}
#endif

#ifdef RECON_ZSH
/// What zsh is to offer: the specifications that the script has for _arguments, by its manual (zshcompsys).
/// The stand-in for _arguments, which works in the line editor only, prints them.
std::vector<std::string> in_zsh(const std::string& command) {
  const std::string words = arguments_of(command);
  return lines_of(output_of(RECON_ZSH " -f -c '_arguments() { shown=(\"$@\"); line=(" + words +
                            "); state=argument; return 1 }; . \"" RECON_MANUAL "/zsh/_" +
                            program_of(command) + "\"; print -rl -- $shown' 2>&1"));
}

TEST(Completion, OfferedByZshIsInHelp) {
  for (const std::string& command : kCommands) {
    std::vector<std::string> names;
    for (const std::string& line : in_zsh(command))
      for (const std::string& name : matches(line, "^\\([^)]*\\)(--[a-z0-9-]+)")) names.push_back(name);
    EXPECT_THAT(names, UnorderedElementsAreArray(options_in_help(command))) << command;
    EXPECT_THAT(matches(output_of("head -1 " RECON_MANUAL "/zsh/_" + program_of(command)), "(.*)\n"),
                ElementsAre("#compdef " + program_of(command)));
  }
  const std::vector<std::string> lines = in_zsh("");
  EXPECT_THAT(lines, Contains("(-o --output)-o+[The output folder]:DIR:_files -/"));
  EXPECT_THAT(lines, Contains("(-o --output)--output=[The output folder]:DIR:_files -/"));
  EXPECT_THAT(lines, Contains("(-q --quiet)-q[Only warnings and errors]"));
  EXPECT_THAT(lines, Contains("(--method)--method=[The method]:NAME:(planesweep sgm bp bm pipeline)"));
  EXPECT_THAT(lines, Contains(testing::EndsWith(":DEVICE:(auto cpu cuda cuda\\:0)")));
  EXPECT_THAT(lines, Contains("*:path:_files"));
}
#endif

}  // namespace
}  // namespace recon
