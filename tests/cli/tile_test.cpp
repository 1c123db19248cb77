// The tiles of a cloud, and what makes them stale.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cli/scene_fixture.hpp"
#include "io/cloud/naive_tiles.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ReconstructTiles : public SceneTest {
 protected:
  Outcome run(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = {scene().string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return reconstruct(arguments);
  }
  fs::path tiles() const { return dense() / "tiles"; }
  void expect_tiles(double size) const { expect_divided(dense() / "fused.ply", tiles(), size); }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, bytes] : files_below(tiles())) all.push_back(name);
    return all;
  }

  std::map<std::string, fs::file_time_type> times() const {
    std::map<std::string, fs::file_time_type> all;
    for (const std::string& name : names()) all[name] = fs::last_write_time(tiles() / name);
    return all;
  }
};

TEST_F(ReconstructTiles, AreNamedAsOneWhereThereIsOne) {
  EXPECT_THAT(run({"--tile", "1"}).err, HasSubstr(" tiles of 1 scene unit in "));
  move_model({500, 500, 0});
  const std::string err = run({"--tile", "1000"}).err;
  EXPECT_EQ(names().size(), 1u);
  EXPECT_THAT(err, HasSubstr("tiles: the cloud is in 1 tile of 1000 scene units in "));
  EXPECT_THAT(run({}).err, HasSubstr("tiles: the 1 tile of an earlier run in "));
}

TEST_F(ReconstructTiles, HaveThePointsOfTheCloudAndChangeNothingElse) {
  const Outcome outcome = run({"--tile", "0.5"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  expect_tiles(0.5);
  EXPECT_GT(names().size(), 4u);
  EXPECT_THAT(outcome.err, HasSubstr("tiles: the cloud is in " + std::to_string(names().size()) +
                                     " tiles of 0.5 scene units"));
  EXPECT_THAT(names(), AllOf(Contains(StartsWith("m")), Contains(Not(HasSubstr("m")))))
      << "on both sides of 0";
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  EXPECT_EQ(report.at("tiles").at("size"), 0.5);
  std::vector<std::string> files = report.at("tiles").at("files");
  EXPECT_EQ(files.size(), names().size());
  for (const std::string& file : files) EXPECT_TRUE(fs::exists(dense() / file)) << file;
  EXPECT_TRUE(report.at("seconds").contains("tiles"));

  const fs::path again = folder() / "again", without = folder() / "without";
  ASSERT_EQ(run({"--tile", "0.5", "--threads", "1", "-o", again.string()}).exit_code, 0);
  EXPECT_TRUE(same_results(results(dense()), results(again)));
  ASSERT_EQ(run({"--tile", "0", "-o", without.string()}).exit_code, 0);
  auto others = results(dense());
  std::erase_if(others, [](const auto& file) { return file.first.starts_with("tiles/"); });
  EXPECT_TRUE(same_results(others, results(without)));
  EXPECT_FALSE(fs::exists(without / "tiles"));
  EXPECT_FALSE(nlohmann::json::parse(content(without / "report.json")).contains("tiles"));
}

TEST_F(ReconstructTiles, KeepGeographicCoordinates) {
  move_model({412345.5, 5651234.25, 120});
  const Outcome outcome = run({"--tile", "1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(NaiveCloud(dense() / "fused.ply").is_double);
  EXPECT_THAT(names(), AllOf(Contains("412345_5651234.ply"), Each(StartsWith("41234"))));
  expect_tiles(1);
}

TEST_F(ReconstructTiles, AreKeptUntilTheyAreStale) {
  ASSERT_EQ(run({"--tile", "0.5"}).exit_code, 0);
  const auto before = times();
  const Outcome same = run({"--tile", "0.5"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.err, HasSubstr("tiles: " + std::to_string(before.size()) + " in " + tiles().string() +
                                  " are finished and kept"));
  EXPECT_EQ(times(), before);
  EXPECT_EQ(nlohmann::json::parse(content(dense() / "report.json")).at("tiles").at("files").size(),
            before.size());

  set_content(tiles() / before.begin()->first, "damaged");
  EXPECT_THAT(run({"--tile", "0.5"}).err, HasSubstr("tiles: the stale ones are made again: tiles/" +
                                                    before.begin()->first + " is not as it was written"));
  const fs::path kept = (tiles() / before.begin()->first).replace_extension(".changed.ply");
  EXPECT_EQ(content(kept), "damaged");
  fs::remove(kept);
  expect_tiles(0.5);

  set_content(tiles() / "notes.txt", "of the user");
  const Outcome other = run({"--tile", "0.75", "--stage", "fuse"});
  EXPECT_THAT(other.err, AllOf(HasSubstr("the cloud is finished and kept"), HasSubstr("--tile 0.5 -> 0.75")));
  EXPECT_EQ(content(tiles() / "notes.txt"), "of the user");
  fs::remove(tiles() / "notes.txt");
  expect_tiles(0.75);

  const Outcome smaller = run({"--tile", "0.75", "--min-fused-views", "4"});
  EXPECT_EQ(smaller.exit_code, 0) << smaller.err;
  EXPECT_THAT(smaller.err, HasSubstr("the stale cloud is made again"));
  expect_tiles(0.75);

  const std::vector<std::string> plan = {"--min-fused-views", "4", "--dry-run"};
  const std::string removed =
      "the " + std::to_string(names().size()) + " tiles in " + tiles().string() + ", as --tile is not given";
  EXPECT_THAT(run(plan).out, AllOf(HasSubstr("  to do: nothing"), HasSubstr("  removed: " + removed + "\n")));
  EXPECT_THAT(reconstruct({scene().string(), "--min-fused-views", "4", "--dry-run", "--json"})
                  .json()
                  .at("scenes")
                  .at(0)
                  .at("removed"),
              testing::ElementsAre(removed));
  EXPECT_THAT(run({"--tile", "0.75", "--min-fused-views", "4", "--dry-run"}).out, Not(HasSubstr("removed")));
  const Outcome without = run({"--min-fused-views", "4"});
  EXPECT_EQ(without.exit_code, 0);
  EXPECT_THAT(run(plan).out, Not(HasSubstr("removed")));
  EXPECT_THAT(without.err, HasSubstr(" tiles of an earlier run in " + tiles().string() +
                                     " are removed, as --tile is not given"));
  EXPECT_FALSE(fs::exists(tiles())) << "as a run in one go with these options has none";
  EXPECT_THAT(run({"--min-fused-views", "4"}).err, Not(HasSubstr("tiles of an earlier run")));
}

TEST_F(ReconstructTiles, StayWithTheirCloudWhereThereIsNoOther) {
  ASSERT_EQ(run({"--tile", "0.5"}).exit_code, 0);
  EXPECT_EQ(run({"--tile", "0.5", "--roi", "90,90,90,91,91,91"}).exit_code, 3);
  EXPECT_TRUE(fs::exists(dense() / "fused.ply"));
  EXPECT_TRUE(fs::exists(tiles()));
  EXPECT_EQ(run({"--depth-min", "200", "--depth-max", "300", "--min-fused-views", "5"}).exit_code, 3);
  EXPECT_TRUE(fs::exists(dense() / "fused.ply"));
  EXPECT_TRUE(fs::exists(tiles()));
}

TEST_F(ReconstructTiles, AreAllThatIsRemoved) {
  ASSERT_EQ(run({}).exit_code, 0);
  set_content(tiles(), "a file of the user");
  ASSERT_EQ(run({"--min-fused-views", "4"}).exit_code, 0);
  EXPECT_EQ(content(tiles()), "a file of the user");
  fs::remove(tiles());
  fs::create_directories(folder() / "disk");
  fs::create_directory_symlink(folder() / "disk", tiles());
  const Outcome linked = run({"--tile", "0.5"});
  EXPECT_EQ(linked.exit_code, 2) << "nothing is written outside the output folder";
  EXPECT_THAT(linked.err, HasSubstr(tiles().string() + ": is a link to " + (folder() / "disk").string()));
  ASSERT_EQ(run({}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(tiles()));
  EXPECT_TRUE(fs::is_empty(folder() / "disk"));
}

TEST_F(ReconstructTiles, AreKnownWithoutListingTheirFolder) {
  ASSERT_EQ(run({"--tile", "0.5"}).exit_code, 0);
  const std::vector<std::string> words = as_plain_user(command({scene().string()}));
  run_program(folder(), {"/bin/chmod", "a-r", tiles().string()});
  const Outcome outcome = run_program(folder(), words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(tiles()));
}

TEST_F(ReconstructTiles, OfAnAbsurdSizeAreRefusedAndTheCloudIsKept) {
  render(scene(), {"--width", "240", "--height", "180", "--overwrite"});
  const Outcome refused = run({"--tile", "0.01"});
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("fused.ply: --tile 0.01 would divide the cloud of "),
                                 HasSubstr(" units, a grid of "),
                                 HasSubstr(" tiles, into more than 10000 tiles; give at least 0.0")));
  EXPECT_TRUE(fs::exists(dense() / "fused.ply"));
  EXPECT_FALSE(fs::exists(tiles()));
  ASSERT_EQ(run({"--tile", "1"}).exit_code, 0);
  const auto count = [&] { return std::distance(fs::directory_iterator(tiles()), {}); };
  const auto before = count();
  EXPECT_GT(before, 0);
  EXPECT_EQ(run({"--tile", "0.01"}).exit_code, 2);
  EXPECT_EQ(count(), before) << "those of an earlier run stay until there are others";
  // Numbers.OfTilesAreRefused has more of them.
  const Outcome outcome = run({"--tile", "-1"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--tile is -1; it must lie between 0 and 1"));
}

TEST_F(ReconstructTiles, OfLessThanAPixelAreRefusedBeforeTheWork) {
  for (const char* size : {"1e-9", "1e-3"}) {
    const Outcome outcome = run({"--tile", size});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(scene().string() + ": --tile "),
                                   HasSubstr("a pixel is at least 0.0"), HasSubstr("10000")));
  }
  EXPECT_FALSE(fs::exists(dense()));
  EXPECT_EQ(run({"--tile", "1e-9", "--dry-run", "--stage", "estimate"}).exit_code, 0);
}

TEST_F(ReconstructTiles, FarTooSmallForTheSparsePointsAreRefusedBeforeTheWork) {
  Scene crowded = model();
  const SparsePoint point = crowded.points[0];
  for (int i = 0; i < 20001; ++i) {
    SparsePoint& it = crowded.points.edit().emplace_back(point);
    it.id = 100000 + static_cast<std::uint64_t>(i);
    it.position = {(i + 0.5) * 0.1, 0, 0};
    it.track = {{0, static_cast<std::uint32_t>(crowded.views[0].observations.size())}};
    crowded.views[0].observations.push_back({{1, 1}, it.id});
  }
  set_model(crowded);
  for (const char* way : {"--quiet", "--dry-run"}) {
    const Outcome outcome = run({"--tile", "0.1", way});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("--tile 0.1 is too small: the sparse points of the model alone lie in "
                                       "more than 20000 tiles"));
  }
  EXPECT_FALSE(fs::exists(dense()));
  EXPECT_EQ(run({"--tile", "0.1", "--dry-run", "--roi", "0,-9,-9,5,9,9"}).exit_code, 0);
  EXPECT_EQ(run({"--tile", "0.1", "--dry-run", "--stage", "estimate"}).exit_code, 0);
  EXPECT_EQ(run({"--tile", "1", "--dry-run"}).exit_code, 0);
}

TEST_F(ReconstructTiles, CountInThePlan) {
  const auto bytes = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"--dry-run", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments).json().at("scenes")[0].at("memory").at("output").get<std::size_t>();
  };
  EXPECT_EQ(bytes({"--tile", "1"}), bytes({}) + std::size_t{5} * 96 * 72 * 22)
      << "five views, of which a pixel in four is 44 bytes of a tile and of a temporary file";
}

}  // namespace
}  // namespace recon
