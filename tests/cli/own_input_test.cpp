// What a run reads is not written over, by whatever way the output folder leads to it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/foreign_file_fixture.hpp"
#include "cli/pair_fixture.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

/// A scene whose photos, masks or model are reached by other ways too.
class OwnInputs : public ForeignFiles {
 protected:
  fs::path dense() const { return small() / "dense"; }

  /// @param path  one of those that the message names
  void expect_refused(const Words& words, const fs::path& path) {
    const auto before = tree(folder());
    const InProcessResult result = reconstruct_in_process(words);
    EXPECT_EQ(result.exit_code, 2) << result.message;
    EXPECT_THAT(result.message, HasSubstr(path.string()));
    EXPECT_TRUE(tree(folder()) == before);
  }

  Words words(const Words& more) const {
    Words all = {small().string(), "--planes", "48", "--device", "cpu", "--quiet", "--overwrite"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  void run_before() { ASSERT_EQ(reconstruct_in_process(words({})).exit_code, 0); }

  /// Puts a link to `target` in the place of a folder.
  static void replace_by_link(const fs::path& folder, const fs::path& target) {
    fs::remove_all(folder);
    fs::create_directory_symlink(target, folder);
  }
};

TEST_F(OwnInputs, InTheOutputFolderAreNotWrittenOver) {
  const fs::path project = folder() / "project";
  fs::create_directories(project);
  fs::rename(small() / "images", project / "images");
  const std::string photos = (project / "images").string();
  for (const char* command : {"--quiet", "--dry-run"})
    expect_refused(words({"--images", photos, "-o", project.string(), command}),
                   project / "images/view00.png");
  ASSERT_EQ(reconstruct_in_process(words({"--images", photos})).exit_code, 0);
}

TEST_F(OwnInputs, ByALinkIntoTheOutputFolderAreNotWrittenOver) {
  run_before();
  replace_by_link(small() / "images", "dense/images");
  expect_refused(words({}), dense() / "images/view00.png");
}

TEST_F(OwnInputs, ByALinkOutOfTheOutputFolderAreNotWrittenOver) {
  run_before();
  replace_by_link(dense() / "images", "../images");
  expect_refused(words({}), dense() / "images");
}

TEST_F(OwnInputs, ThatAreResultsAreNotWrittenOver) {
  run_before();
  for (const char* quality : {"draft", "normal"})
    expect_refused(words({"--images", "dense/images", "--quality", quality}), dense() / "images/view00.png");
}

TEST_F(OwnInputs, SuchAsTheModelAndMasksAreNotWrittenOver) {
  run_before();
  replace_by_link(small() / "sparse", "dense/sparse");
  expect_refused(words({}), dense() / "sparse/cameras.bin");
}

TEST_F(OwnInputs, OfAPairAreNotWrittenOver) {
  const TexturePair pair = texture_pair(64, 48, 6);
  fs::create_directories(folder() / "pair");
  write_image(folder() / "pair/left.png", pair.left.view());
  write_image(folder() / "pair/right.png", pair.right.view());
  fs::create_hard_link(folder() / "pair/left.png", folder() / "pair/disparity.png");
  expect_refused({(folder() / "pair/left.png").string(), (folder() / "pair/right.png").string(),
                  "--max-disparity", "16", "--quiet", "--overwrite", "-o", (folder() / "pair").string()},
                 folder() / "pair/left.png");
}

TEST_F(OwnInputs, AreNotRemovedWithViewsThatLeftTheModel) {
  run_before();
  fs::create_directories(dense() / "images/cam0");
  Scene model = read_colmap_model(small() / "sparse");
  for (View& view : model.views) view.name = "cam0/" + view.name;
  write_colmap_model(small() / "sparse", model, ColmapFormat::kText);
  const auto photos = tree(dense() / "images");
  const InProcessResult result = reconstruct_in_process(
      {small().string(), "--planes", "48", "--device", "cpu", "--quiet", "--images", "dense/images"});
  EXPECT_EQ(result.exit_code, 0) << result.message;
  for (const auto& photo : photos) EXPECT_TRUE(fs::exists(dense() / "images" / photo.first)) << photo.first;
}

}  // namespace
}  // namespace recon
