#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/in_process.hpp"
#include "cli/scene_fixture.hpp"

namespace recon {

using Words = std::vector<std::string>;

/// What lies below a folder, links not followed: names with contents, or where links lead.
inline std::vector<std::pair<std::string, std::string>> tree(const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (fs::recursive_directory_iterator it(folder), end; it != end; ++it) {
    const std::string name = it->path().lexically_relative(folder).string();
    if (it->is_symlink())
      entries.emplace_back(name, "-> " + fs::read_symlink(it->path()).string());
    else if (it->is_regular_file())
      entries.emplace_back(name, content(it->path()));
  }
  std::ranges::sort(entries);
  return entries;
}

class ForeignFiles : public SceneTest {
 protected:
  ForeignFiles() { render(small(), {"--width", "56", "--views", "4"}); }

  fs::path small() const { return folder() / "small"; }
  fs::path output() const { return folder() / "out"; }
  fs::path others() const { return folder() / "others"; }

  InProcessResult run(const Words& words) const {
    Words all = words;
    all.insert(all.end(), {"--device", "cpu", "--quiet", "-o", output().string()});
    return reconstruct_in_process(all);
  }

  Words scene_words(const Words& more) const {
    Words words = {small().string(), "--planes", "48"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Places what is not ours at each place that `words` write to, one after the other, where `prepare` made
  /// the output folder, and runs.
  /// @returns the number of places
  int intrude(const Words& words, const std::function<void()>& prepare) {
    prepare();
    const auto before = tree(output());
    const InProcessResult undisturbed = run(words);
    EXPECT_EQ(undisturbed.exit_code, 0) << undisturbed.message;
    std::set<fs::path> files, folders;
    for (const auto& [name, bytes] : tree(output())) {
      const auto same_name = [&name = name](const auto& entry) { return entry.first == name; };
      if (std::ranges::any_of(before, same_name)) continue;
      files.insert(name);
      for (fs::path above = fs::path(name).parent_path(); !above.empty(); above = above.parent_path())
        folders.insert(above);
    }
    int places = 0;
    for (const fs::path& file : files) {
      prepare();
      place(output() / file);
      expect_kept(words, file), ++places;
      prepare();
      place(others() / "file");
      fs::create_directories((output() / file).parent_path());
      fs::create_symlink(others() / "file", output() / file);
      expect_kept(words, file), ++places;
    }
    for (const fs::path& folder : folders) {
      prepare();
      if (fs::exists(output() / folder)) continue;
      place(output() / folder);
      expect_kept(words, folder), ++places;
      prepare();
      for (const fs::path& file : files) place(others() / file);
      fs::create_directories((output() / folder).parent_path());
      fs::create_symlink(others() / folder, output() / folder);
      expect_kept(words, folder), ++places;
    }
    return places;
  }

  static void place(const fs::path& file) {
    fs::create_directories(file.parent_path());
    set_content(file, "a file of the user");
  }

  /// Runs where something at `place` is not ours.
  void expect_kept(const Words& words, const fs::path& place) {
    const auto in_others = tree(others());
    const auto kept = [&] {
      return fs::is_symlink(output() / place) ? "-> " + fs::read_symlink(output() / place).string()
                                              : content(output() / place);
    };
    const std::string before = kept();
    const InProcessResult result = run(words);
    EXPECT_EQ(result.exit_code, 2) << place << ": " << result.message;
    EXPECT_THAT(result.message, testing::HasSubstr((output() / place).string()));
    EXPECT_TRUE(kept() == before) << place;
    EXPECT_TRUE(tree(others()) == in_others) << place;
  }

  void make_empty() const {
    fs::remove_all(output());
    fs::remove_all(others());
    fs::create_directories(output());
    fs::create_directories(others());
  }

  /// The results of a run, from then on by copying.
  void make_results_of(const Words& words) {
    const fs::path kept = folder() / "kept";
    if (!fs::exists(kept)) {
      make_empty();
      ASSERT_EQ(run(words).exit_code, 0);
      fs::rename(output(), kept);
    }
    make_empty();
    fs::copy(kept, output(), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
};

}  // namespace recon
