// Documents name files by their path, with or without the extension, and folders with a slash at the end.
// NAME stands for a name that the reader chooses.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<std::string> named_paths(const fs::path& document) {
  const std::regex path(R"(`((?:src|cuda|io|tests|tools)/[A-Za-z0-9_/.-]*)`)");
  std::ifstream in(document);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::vector<std::string> paths;
  for (std::sregex_iterator it(text.begin(), text.end(), path), end; it != end; ++it)
    paths.push_back((*it)[1]);
  return paths;
}

TEST(Documents, NameFilesThatAreThere) {
  const fs::path root = RECON_SOURCE_DIR;
  std::vector<std::string> paths;
  for (const char* document : {"README.md", "CONTRIBUTING.md", "tools/docs/architecture.md",
                               "tools/docs/cpp.md", "tools/docs/python.md"})
    for (std::string& path : named_paths(root / document)) paths.push_back(std::move(path));
  EXPECT_GT(paths.size(), 30u);
  for (const std::string& path : paths) {
    if (path.find("NAME") != std::string::npos) continue;
    const std::vector<std::string> extensions = {"", ".hpp", ".cpp", ".cu", ".cuh"};
    EXPECT_TRUE(std::any_of(extensions.begin(), extensions.end(), [&](const std::string& extension) {
      return fs::exists(root / (path + extension));
    })) << path;
  }
}

}  // namespace
