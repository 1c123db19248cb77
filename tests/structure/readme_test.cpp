// README.md and `reconstruct --help` list the same options.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <string>

namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::set<std::string> long_options(const std::string& text) {
  static const std::regex kOption(R"(--[a-z][a-z0-9-]*)");
  return {std::sregex_token_iterator(text.begin(), text.end(), kOption), std::sregex_token_iterator()};
}

std::string help() {
  const std::string command = "'" RECON_PROGRAM "' --help";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  for (int c; pipe && (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
  return text;
}

/// The README's table of options: the lines from its heading to the next one.
std::string options_of_readme() {
  std::ifstream file(RECON_SOURCE_DIR "/README.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto begin = text.find("\n## Options\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

std::set<std::string> without(std::set<std::string> options, const std::set<std::string>& others) {
  for (const auto& option : others) options.erase(option);
  return options;
}

TEST(Readme, ListsTheOptionsOfTheProgram) {
  const std::set<std::string> of_program = long_options(help());
  const std::set<std::string> of_readme = long_options(options_of_readme());
  ASSERT_THAT(of_program, SizeIs(testing::Gt(10u)));
  EXPECT_THAT(without(of_program, of_readme), IsEmpty()) << "in --help, not in README.md";
  EXPECT_THAT(without(of_readme, of_program), IsEmpty()) << "in README.md, not in --help";
}

}  // namespace
