// Documents name files by their path, with or without the extension, and folders with a slash at the end.
// NAME stands for a name that the reader chooses. Their links lead to files, and to headings in them; the
// site has all pages. What a warning says is in the page about warnings, and the reverse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = RECON_SOURCE_DIR;

std::string content_of(const fs::path& document) {
  std::ifstream in(document);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The first group of all matches.
std::vector<std::string> all_matches(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it)
    found.push_back((*it)[1]);
  return found;
}

std::vector<std::string> named_paths(const fs::path& document) {
  return all_matches(content_of(document), R"(`((?:src|cuda|io|tests|tools)/[A-Za-z0-9_/.-]*)`)");
}

/// The pages of the site, by their names in tools/docs.
std::vector<std::string> pages() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kRoot / "tools/docs"))
    if (entry.path().extension() == ".md") names.push_back(entry.path().filename());
  return names;
}

/// The pages of measurements.
std::vector<fs::path> measurements() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(kRoot / "tests/bench/results"))
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  return all;
}

std::vector<fs::path> documents() {
  std::vector<fs::path> all = {kRoot / "README.md", kRoot / "CONTRIBUTING.md", kRoot / "CHANGELOG.md"};
  for (const std::string& page : pages()) all.push_back(kRoot / "tools/docs" / page);
  for (const fs::path& page : measurements()) all.push_back(page);
  return all;
}

/// The anchors of the headings of a page, as the sites make them: lower case, blanks as "-", no punctuation.
std::vector<std::string> anchors(const fs::path& page) {
  std::vector<std::string> all;
  for (const std::string& heading : all_matches("\n" + content_of(page), "\n#+ ([^\n]*)")) {
    std::string anchor;
    for (const char c : heading)
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ' ' || c == '-' || c == '_')
        anchor += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    all.push_back(anchor);
  }
  return all;
}

TEST(Documents, NameFilesThatAreThere) {
  std::vector<std::string> paths;
  for (const fs::path& document : documents()) {
    if (document.filename() == "CHANGELOG.md") continue;
    for (std::string& path : named_paths(document)) paths.push_back(std::move(path));
  }
  EXPECT_GT(paths.size(), 30u);
  for (const std::string& path : paths) {
    if (path.find("NAME") != std::string::npos) continue;
    const std::vector<std::string> extensions = {"", ".hpp", ".cpp", ".cu", ".cuh"};
    EXPECT_TRUE(std::any_of(extensions.begin(), extensions.end(), [&](const std::string& extension) {
      return fs::exists(kRoot / (path + extension));
    })) << path;
  }
}

TEST(Documents, LinkToWhatIsThere) {
  std::size_t checked = 0;
  for (const fs::path& document : documents())
    for (const std::string& link : all_matches(content_of(document), R"(\]\(([^)\s]*)\))")) {
      if (link.starts_with("http")) continue;
      ++checked;
      const std::string file = link.substr(0, link.find('#'));
      const fs::path target = file.empty() ? document : document.parent_path() / file;
      EXPECT_TRUE(fs::exists(target)) << document << ": " << link;
      if (file.size() == link.size()) continue;
      const std::vector<std::string> known = anchors(target);
      EXPECT_NE(std::find(known.begin(), known.end(), link.substr(file.size() + 1)), known.end())
          << document << ": " << link;
    }
  EXPECT_GT(checked, 20u);
}

TEST(Documents, AreAllInTheNavigationOfTheSite) {
  std::vector<std::string> shown =
      all_matches(content_of(kRoot / "tools/mkdocs.yml"), R"(: ([a-z0-9-]+\.md))");
  std::vector<std::string> there = pages();
  there.push_back("reference.md");         // which is made from the options
  there.push_back("python-reference.md");  // from the sources of the module
  std::sort(shown.begin(), shown.end());
  std::sort(there.begin(), there.end());
  EXPECT_EQ(shown, there);
}

TEST(Documents, AreAllInTheListOfMeasurements) {
  const std::string list = content_of(kRoot / "tests/bench/results/README.md");
  for (const fs::path& page : measurements())
    if (page.filename() != "README.md") {
      EXPECT_NE(list.find("(" + page.filename().string() + ")"), std::string::npos) << page;
    }
}

TEST(Documents, HaveFewAndSmallPictures) {
  constexpr std::uintmax_t kMostBytes = 400000;
  std::string text;
  for (const fs::path& document : documents()) text += content_of(document);
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "tools/docs/pictures")) {
    bytes += entry.file_size();
    EXPECT_NE(text.find("pictures/" + entry.path().filename().string()), std::string::npos) << entry.path();
  }
  EXPECT_LE(bytes, kMostBytes);
}

TEST(Documents, AreShortWhereTheyAreReadFirst) {
  const std::string readme = content_of(kRoot / "README.md");
  EXPECT_LE(std::count(readme.begin(), readme.end(), '\n'), 130);
}

/// Installation begins with what most readers do.
TEST(Documents, BeginInstallationWithTheCommandsOfTheReadme) {
  const char* commands = "\n\n((?:    tools/[^\n]*\n)+)";
  const std::string page = content_of(kRoot / "tools/docs/installation.md");
  const std::vector<std::string> of_the_readme = all_matches(content_of(kRoot / "README.md"), commands);
  ASSERT_FALSE(of_the_readme.empty());
  EXPECT_EQ(all_matches(page, "\n\n((?:    [^\n]*\n)+)").front(), of_the_readme.front());
}

/// Readers have versions, not commits; but measurements of a state between two versions need its commit.
TEST(Documents, NameNoCommits) {
  for (const fs::path& document : documents()) {
    if (document.filename() == "figures.md") continue;
    EXPECT_THAT(all_matches(content_of(document), R"(\b((?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40})\b)"),
                testing::IsEmpty())
        << document;
  }
}

/// What stands in quotes behind `at`, up to the end of a statement or of the parentheses that are open at
/// `at`; neighbouring quotes are one, "\n" is between others.
std::string quoted_text(const std::string& code, std::size_t at) {
  std::string text;
  int open = 1;
  for (bool quoted = false; at < code.size() && open > 0; ++at) {
    const char c = code[at];
    if (quoted && c == '\\') {
      text += code[++at];
    } else if (c == '"') {
      quoted = !quoted;
      if (!quoted && code[code.find_first_not_of(" \n", at + 1)] != '"') text += '\n';
    } else if (quoted) {
      text += c;
    } else {
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
  }
  return text;
}

/// The parts of a text between marks, {...} and "…", as far as they are long enough to say something.
std::vector<std::string> parts_of(const std::string& text) {
  constexpr std::size_t kMin = 14;
  std::vector<std::string> parts;
  const std::regex between(R"(\{[^}]*\}|\n|…|[;:,(])");
  for (std::sregex_token_iterator it(text.begin(), text.end(), between, -1), end; it != end; ++it) {
    std::string part = std::regex_replace(it->str(), std::regex("^[:;,. ]+|[:;,.( ]+$"), "");
    if (part.size() >= kMin) parts.push_back(std::move(part));
  }
  return parts;
}

TEST(Documents, ExplainWhatWarningsSay) {
  const std::string page = content_of(kRoot / "tools/docs/warnings.md");
  std::string all_code;
  std::size_t checked = 0;
  for (const char* module : {"src", "io"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / module)) {
      if (entry.path().extension() != ".cpp") continue;
      const std::string code = content_of(entry.path());
      all_code += std::regex_replace(code, std::regex("\"\\s*\""), "");
      for (const std::string call : {"warn(", "warnings.push_back("})
        for (std::size_t at = code.find(call); at != std::string::npos; at = code.find(call, at + 1)) {
          const std::vector<std::string> parts = parts_of(quoted_text(code, at + call.size()));
          if (parts.empty()) continue;
          ++checked;
          EXPECT_TRUE(std::ranges::any_of(
              parts, [&](const std::string& part) { return page.find(part) != std::string::npos; }))
              << entry.path() << ": tools/docs/warnings.md has no line for the warning with \""
              << parts.front() << "\"";
        }
    }
  EXPECT_GT(checked, 25u);
  for (const std::string& quote : all_matches(page, "`([^`\n]*)`"))
    for (const std::string& part : parts_of(quote))
      EXPECT_NE(all_code.find(part), std::string::npos) << "no message has this: " << part;
}

}  // namespace
