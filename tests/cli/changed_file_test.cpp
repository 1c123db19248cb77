// Any file of an output that somebody has changed since it was written is kept under another name.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using ChangedFile = SceneTest;

/// All files of an output that people may edit: those in status/ are records.
std::vector<std::string> editable_files(const fs::path& output) {
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator it(output), end; it != end; ++it) {
    const std::string name = it->path().lexically_relative(output).string();
    if (it->is_regular_file() && !it->is_symlink() && !name.starts_with("status/")) files.push_back(name);
  }
  std::ranges::sort(files);
  return files;
}

bool is_kept_copy(const std::string& name) {
  return name.find(".changed") != std::string::npos;
}

/// Where a file that somebody has changed is found after a run: the log only grows.
fs::path kept_as(const fs::path& file, const std::string& number) {
  if (file.extension() == ".log") return file;
  return fs::path(file).replace_extension(".changed" + number + file.extension().string());
}

/// Appends a text to each file; returns their contents then.
std::map<std::string, std::string> edit(const fs::path& output, const std::vector<std::string>& files) {
  std::map<std::string, std::string> edited;
  for (const std::string& name : files)
    set_content(output / name, edited[name] = content(output / name) + "an edit\n");
  return edited;
}

/// Expects the edits of `edited` under the names that they are kept as, and nowhere else.
void expect_edits_kept(const fs::path& output, const std::map<std::string, std::string>& edited,
                       const std::string& number) {
  for (const auto& [name, bytes] : edited) {
    const fs::path kept = kept_as(output / name, number);
    ASSERT_TRUE(fs::exists(kept)) << kept;
    EXPECT_TRUE(content(kept).starts_with(bytes)) << kept;
  }
  for (const std::string& name : editable_files(output))
    EXPECT_TRUE(is_kept_copy(name) || !content(output / name).ends_with("an edit\n")) << name;
}

TEST_F(ChangedFile, OfAnOutputIsKept) {
  const std::vector<std::string> all = {scene().string(),  "--tile", "9", "--export-points", "50",
                                        "--export-priors", "3dgs"};
  ASSERT_EQ(reconstruct(all).exit_code, 0);
  const std::vector<std::string> files = editable_files(dense());
  ASSERT_GT(files.size(), 5u * 8 + 5);
  for (const char* name :
       {"options.toml", "report.json", "report.html", "report.log", "sparse/cameras.bin", "sparse/images.bin",
        "sparse/points3D.bin", "stereo/patch-match.cfg", "stereo/fusion.cfg", "splat/sparse/0/points3D.bin"})
    EXPECT_TRUE(std::ranges::binary_search(files, name)) << name;
  // What nobody has changed is written again without a copy.
  ASSERT_EQ(reconstruct(all).exit_code, 0);
  EXPECT_EQ(editable_files(dense()), files);
  auto edited = edit(dense(), files);
  const Outcome again = reconstruct(all);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err,
              AllOf(HasSubstr("has been changed since it was written: it is kept as fused.changed.ply"),
                    HasSubstr(std::to_string(files.size() - 1 - 5) + " more files in ")));
  expect_edits_kept(dense(), edited, "");
  // Other options and views, without tiles and model.
  Scene fewer = model();
  fewer.views.resize(4);
  fewer.points.clear();
  for (View& view : fewer.views) view.observations.clear();
  set_model(fewer);
  edited = edit(dense(), files);
  ASSERT_EQ(reconstruct({scene().string(), "--window", "7", "--min-views", "2", "--max-image-size", "90"})
                .exit_code,
            0);
  expect_edits_kept(dense(), edited, "-2");
}

TEST_F(ChangedFile, IsKeptAfterARunThatFailed) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const std::vector<std::string> none = {scene().string(), "--min-fused-views", "5", "--max-normal-angle",
                                         "0.001"};
  ASSERT_EQ(reconstruct(none).exit_code, 3);
  ASSERT_TRUE(fs::exists(dense() / "report.html")) << "it is that of the run before";
  const auto edited =
      edit(dense(), {"options.toml", "report.html", "sparse/images.bin", "stereo/fusion.cfg"});
  ASSERT_EQ(reconstruct(none).exit_code, 3);
  expect_edits_kept(dense(), edited, "");
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  for (const auto& [name, bytes] : edited) EXPECT_FALSE(fs::exists(kept_as(dense() / name, "-2"))) << name;
}

}  // namespace
}  // namespace recon
