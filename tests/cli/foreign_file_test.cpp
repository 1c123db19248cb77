// Files and links of others at every place that a run writes to: none is written over, moved or removed, and
// nothing is written outside the output folder.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "cli/foreign_file_fixture.hpp"
#include "cli/pair_fixture.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"
#include "session/plan/plan.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

TEST_F(ForeignFiles, AtAnyPlaceOfASceneAreKept) {
  const Words words =
      scene_words({"--overwrite", "--quality", "draft", "--export-points", "50", "--export-priors", "3dgs"});
  EXPECT_GE(intrude(words, [&] { make_empty(); }), 150);
}

TEST_F(ForeignFiles, AmongTheResultsOfAnEarlierRunAreKept) {
  const auto after_estimation = [&] { make_results_of(scene_words({"--stage", "estimate"})); };
  const Words words = scene_words({"--tile", "2", "--export-points", "50", "--export-priors", "lichtfeld"});
  EXPECT_GE(intrude(words, after_estimation), 100);
}

TEST_F(ForeignFiles, AtAnyPlaceOfAPairAreKept) {
  const TexturePair pair = texture_pair(64, 48, 6);
  fs::create_directories(folder() / "pair");
  write_image(folder() / "pair/im0.png", pair.left.view());
  write_image(folder() / "pair/im1.png", pair.right.view());
  set_content(folder() / "pair/calib.txt",
              "cam0=[100 0 31.5; 0 100 23.5; 0 0 1]\ncam1=[100 0 35.5; 0 100 23.5; 0 0 1]\ndoffs=4\n"
              "baseline=2\nwidth=64\nheight=48\nndisp=16\n");
  const Words words = {(folder() / "pair").string(), "--overwrite", "--fill"};
  EXPECT_GE(intrude(words, [&] { make_empty(); }), 25);
}

TEST_F(ForeignFiles, WithNamesOfTilesAndExportedModelsAreKept) {
  ASSERT_EQ(run(scene_words({"--tile", "0.5", "--export-points", "50"})).exit_code, 0);
  const fs::path tile = output() / "tiles/900_m900.ply", points = output() / "splat/sparse/0/points3D.ply";
  set_content(tile, "a tile of the user");
  set_content(points, "points of another program");
  ASSERT_EQ(run(scene_words({})).exit_code, 0);
  EXPECT_EQ(tree(output() / "tiles"),
            (std::vector<std::pair<std::string, std::string>>{{"900_m900.ply", "a tile of the user"}}));
  EXPECT_EQ(tree(output() / "splat"), (std::vector<std::pair<std::string, std::string>>{
                                          {"sparse/0/points3D.ply", "points of another program"}}));
}

/// Removes a folder before a file gets its name.
class Removal {
 public:
  Removal(fs::path folder, int commit) {
    folder_ = std::move(folder);
    left_ = commit;
    set_fault_handler([](FaultPoint point) {
      if (point == FaultPoint::kFileCommit && left_-- == 0) fs::remove_all(folder_);
    });
  }
  ~Removal() { set_fault_handler(nullptr); }
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;

  /// The number of files after the removal; negative where it was not reached.
  static int later_files() { return -left_ - 1; }

 private:
  static inline fs::path folder_;
  static inline std::atomic<int> left_;
};

TEST_F(ForeignFiles, OfARunWhoseFolderIsRemovedMeanwhileAreMissed) {
  make_empty();
  ASSERT_EQ(run(scene_words({})).exit_code, 0);
  const auto undisturbed = results(output());
  constexpr int kFilesOfReport = 3;  // what is removed while the report is written is not looked for any more
  for (const char* below : {".", "images", "stereo/depth_maps", "status"})
    for (int commit = 3;; commit += 13) {
      fs::remove_all(output());
      InProcessResult result{};
      int later = 0;
      {
        const Removal removal(output() / below, commit);
        result = run(scene_words({}));
        later = removal.later_files();
      }
      if (later < kFilesOfReport) break;
      SCOPED_TRACE(below + std::string(" before file ") + std::to_string(commit) + ": " + result.message);
      EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 1 || result.exit_code == 3)
          << result.exit_code;
      if (result.exit_code == 0) {
        EXPECT_TRUE(same_results(undisturbed, results(output())));
      }
      const InProcessResult again = run(scene_words({}));
      EXPECT_EQ(again.exit_code, 0) << again.message;
      EXPECT_TRUE(same_results(undisturbed, results(output())));
    }
}

TEST_F(ForeignFiles, AreNotThoseOfAnExportThatWasInterrupted) {
  static fs::path points;
  make_empty();
  points = output() / "splat/sparse/0/points3D.bin";
  const auto interrupt = [&] {
    set_fault_handler([](FaultPoint) {
      if (fs::exists(points)) throw OutputError("the disk is full");
    });
    const InProcessResult result = run(scene_words({"--export-points", "50"}));
    set_fault_handler(nullptr);
    EXPECT_EQ(result.exit_code, 1) << result.message;
    EXPECT_TRUE(fs::exists(points));
  };
  interrupt();
  ASSERT_EQ(run(scene_words({})).exit_code, 0);
  EXPECT_FALSE(fs::exists(output() / "splat"));
  interrupt();
  ASSERT_EQ(run(scene_words({"--export-points", "50"})).exit_code, 0);
  EXPECT_EQ(read_colmap_model(points.parent_path()).points.size(), 50u);
}

TEST_F(ForeignFiles, OfViewsThatLeftTheModelAreRemoved) {
  ASSERT_EQ(run(scene_words({})).exit_code, 0);
  set_content(output() / "images/view01.txt", "a file of the user");
  Scene model = read_colmap_model(small() / "sparse");
  ASSERT_EQ(model.views[1].name, "view01.png");
  model = keep_views(model, {0, 2, 3});
  write_colmap_model(small() / "sparse", model, ColmapFormat::kText);
  ASSERT_EQ(run(scene_words({})).exit_code, 0);
  for (const auto& [name, bytes] : tree(output()))
    EXPECT_TRUE(name.find("view01") == std::string::npos || bytes == "a file of the user") << name;
  fs::remove(small() / "images/view02.png");
  ASSERT_EQ(run(scene_words({})).exit_code, 7);
  EXPECT_TRUE(fs::exists(output() / "images/view02.png")) << "its photo may come back";
}

TEST_F(ForeignFiles, ThatTakeThePlaceOfMissingResultsAreKept) {
  ASSERT_EQ(run(scene_words({"--stage", "estimate"})).exit_code, 0);
  set_content(output() / "fused.ply", "a cloud of another program");
  const InProcessResult result = run(scene_words({"--stage", "fuse"}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.message, HasSubstr("fused.ply"));
  EXPECT_EQ(content(output() / "fused.ply"), "a cloud of another program");
}

TEST_F(ForeignFiles, WithNamesOfResultsThatWereRemovedAreKept) {
  ASSERT_EQ(run(scene_words({"--tile", "2", "--export-points", "50"})).exit_code, 0);
  const std::vector<std::pair<std::string, std::string>> tiles = tree(output() / "tiles");
  ASSERT_FALSE(tiles.empty());
  ASSERT_EQ(run(scene_words({})).exit_code, 0);
  for (const std::string& file :
       {"tiles/" + tiles.front().first, std::string("splat/sparse/0/points3D.bin")}) {
    place(output() / file);
    EXPECT_EQ(run(scene_words({"--tile", "2", "--export-points", "50"})).exit_code, 2) << file;
    ASSERT_EQ(run(scene_words({})).exit_code, 0) << file;
    EXPECT_EQ(content(output() / file), "a file of the user");
    fs::remove(output() / file);
  }
}

TEST_F(ForeignFiles, BesideTheModelThatWouldChangeItAreRefused) {
  ASSERT_EQ(run(scene_words({})).exit_code, 0);
  place(output() / "sparse/frames.bin");
  const InProcessResult result = run(scene_words({}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.message, HasSubstr("frames.bin: beside the model of this run"));
}

TEST_F(ForeignFiles, InThePlaceOfALinkOfOursAreKept) {
  const Words words = scene_words({"--export-points", "50"});
  ASSERT_EQ(run(words).exit_code, 0);
  fs::remove(output() / "splat/images");
  place(output() / "splat/images/copy.png");
  for (const Words& again : {words, scene_words({})}) EXPECT_EQ(run(again).exit_code, 0);
  EXPECT_EQ(content(output() / "splat/images/copy.png"), "a file of the user");
}

TEST_F(ForeignFiles, WithNamesThatAPartOfTheWorkOnlyClaimedAreKept) {
  for (const char* stage : {"estimate", "fuse"}) ASSERT_EQ(run(scene_words({"--stage", stage})).exit_code, 0);
  place(output() / "masks/view01.png.png");
  write_colmap_model(small() / "sparse", keep_views(read_colmap_model(small() / "sparse"), {0, 2, 3}),
                     ColmapFormat::kText);
  ASSERT_EQ(run(scene_words({})).exit_code, 0);
  EXPECT_EQ(content(output() / "masks/view01.png.png"), "a file of the user");
}

TEST_F(ForeignFiles, OfTheCallingFolderAreNotThoseOfASession) {
  ASSERT_EQ(run(scene_words({})).exit_code, 0);
  fs::rename(output(), folder() / "maps");
  const fs::path session = folder() / "session";
  for (const char* name : {"a", "b"}) {
    fs::create_directories(session);
    fs::copy(small(), session / name, fs::copy_options::recursive);
  }
  const auto fuse = [&](const fs::path& maps) {
    return reconstruct_in_process(
        {session.string(), "--device", "cpu", "--quiet", "--depth-maps", maps.string()});
  };
  const fs::path here = fs::current_path();
  fs::current_path(folder());
  const InProcessResult from_here = fuse("maps"),
                        alone = reconstruct_in_process(
                            {(session / "a").string(), "--device", "cpu", "--quiet", "--depth-maps", "maps"});
  fs::current_path(here);
  EXPECT_EQ(from_here.exit_code, 3);
  EXPECT_THAT(from_here.message,
              HasSubstr((session / "a/maps").string() + ": there is no folder of --depth-maps"));
  EXPECT_EQ(alone.exit_code, 0) << alone.message;
  EXPECT_EQ(fuse(folder() / "maps").exit_code, 0);
}

TEST_F(ForeignFiles, AreKnownWithoutTheListToo) {
  const Words words = scene_words({"--export-points", "50", "--tile", "0.5"});
  ASSERT_EQ(run(words).exit_code, 0);
  const auto before = results(output());
  for (const char* damage : {"", "half of a list"}) {
    if (*damage == '\0')
      fs::remove(output() / "status/files");
    else
      set_content(output() / "status/files", damage);
    set_content(output() / "masks/view00.png.png", "a mask of the user");
    const InProcessResult again = run(scene_words({"--export-points", "50", "--tile", "0.5", "--overwrite"}));
    EXPECT_EQ(again.exit_code, 0) << again.message;
    fs::remove_all(output() / "masks");
    EXPECT_TRUE(same_results(before, results(output())));
  }
}

}  // namespace
}  // namespace recon
