// Documents name files by their path, with or without the extension, and folders with a slash at the end.
// NAME stands for a name that the reader chooses. Their links lead to files, and to headings in them; the
// site has all pages.

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

std::vector<fs::path> documents() {
  std::vector<fs::path> all = {kRoot / "README.md", kRoot / "CONTRIBUTING.md", kRoot / "CHANGELOG.md"};
  for (const std::string& page : pages()) all.push_back(kRoot / "tools/docs" / page);
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
  std::sort(shown.begin(), shown.end());
  std::sort(there.begin(), there.end());
  EXPECT_EQ(shown, there);
}

TEST(Documents, HaveFewAndSmallPictures) {
  constexpr std::uintmax_t kMostBytes = 300000;
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

}  // namespace
