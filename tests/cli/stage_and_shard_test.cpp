// Parts of the work: stages, shards, subsets of views, and what their runs leave.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class PartOfTheWork : public SceneTest {
 protected:
  Outcome estimate(const std::vector<std::string>& more = {}) const { return stage("estimate", more); }
  Outcome fuse(const std::vector<std::string>& more = {}) const { return stage("fuse", more); }

  /// Fusing is refused with a message that names a view, and the files stay as they are.
  void expect_refused(const std::vector<std::string>& more, const std::string& message) const {
    const auto before = results(dense());
    const std::string options = content(dense() / "options.toml");
    const Outcome outcome = fuse(more);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(outcome.err, HasSubstr("view0"));
    EXPECT_TRUE(same_results(before, results(dense())));
    EXPECT_EQ(content(dense() / "options.toml"), options);
  }

  /// Fusing gives the bytes of a run in one go.
  void expect_fused_as_whole(const std::vector<std::string>& more = {}) const {
    const Outcome outcome = fuse(more);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<std::string> whole = {scene().string(), "-o", (folder() / "whole").string()};
    whole.insert(whole.end(), more.begin(), more.end());
    ASSERT_EQ(reconstruct(whole).exit_code, 0);
    EXPECT_TRUE(same_results(results(folder() / "whole"), results(dense())));
    EXPECT_EQ(content(dense() / "options.toml"), content(folder() / "whole/options.toml"));
  }

 private:
  Outcome stage(const char* name, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {scene().string(), "--stage", name};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return reconstruct(arguments);
  }
};

TEST_F(PartOfTheWork, FusingBeforeAnyEstimateLeavesNothingBehind) {
  const Outcome outcome = fuse();
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("there are no depth maps to fuse; run --stage estimate first"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("warning"))) << "the error says it of all views";
  EXPECT_FALSE(fs::exists(dense()));
}

TEST_F(PartOfTheWork, FusingWithOtherOptionsThanTheEstimatesIsRefused) {
  ASSERT_EQ(estimate().exit_code, 0);
  expect_refused({"--window", "7"},
                 "view00.png, view01.png, view02.png, view03.png, view04.png (--window 5 -> 7)");
  expect_refused({"--max-image-size", "64"}, "5 of 5 views");
  expect_refused({"--method", "bm"}, "of other photos, poses or options");
  EXPECT_EQ(fuse({"--window", "7", "--dry-run"}).exit_code, 3) << "as the run";
  EXPECT_EQ(fuse({"--dry-run"}).exit_code, 0);
  expect_fused_as_whole();
  expect_refused({"--max-image-size", "64"}, "5 of 5 views");
  const Outcome again = fuse();
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(same_results(results(folder() / "whole"), results(dense())));
}

TEST_F(PartOfTheWork, FusingAfterAPhotoOrAPoseChangedIsRefused) {
  ASSERT_EQ(estimate().exit_code, 0);
  const std::string photo = content(scene() / "images/view04.png");
  fs::copy_file(scene() / "images/view00.png", scene() / "images/view04.png",
                fs::copy_options::overwrite_existing);
  expect_refused({}, "photo");
  set_content(scene() / "images/view04.png", photo);
  Scene moved = model();
  moved.views[2].cam_from_world.translation.x += 0.01;
  set_model(moved);
  expect_refused({}, "pose");
}

TEST_F(PartOfTheWork, FusingShardsOfDifferentOptionsIsRefused) {
  ASSERT_EQ(estimate({"--shard", "1/2"}).exit_code, 0);
  ASSERT_EQ(estimate({"--shard", "2/2", "--best-k", "1"}).exit_code, 0);
  expect_refused({}, "2 of 5 views");
  ASSERT_EQ(estimate({"--shard", "2/2"}).exit_code, 0);
  expect_fused_as_whole();
}

TEST_F(PartOfTheWork, FusingDoesNotLookAtOverwriteToTakeTheEstimates) {
  ASSERT_EQ(estimate().exit_code, 0);
  expect_fused_as_whole({"--overwrite"});
}

TEST_F(PartOfTheWork, ViewsWithoutEstimateAreOneWarning) {
  ASSERT_EQ(estimate({"--views", "view0[0-2].png"}).exit_code, 0);
  const auto warnings = [&] {
    const Outcome outcome = fuse({"--dry-run", "--json"});
    EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
    EXPECT_EQ(outcome.json().at("scenes").at(0).at("left_out").size(), 2u) << "each is in the report";
    return outcome.json().at("scenes").at(0).at("warnings").get<std::vector<std::string>>();
  };
  EXPECT_THAT(
      warnings(),
      testing::ElementsAre("2 of 5 views are left out, which have no depth map yet: view03.png, view04.png; "
                           "run --stage estimate first"));
  ASSERT_EQ(estimate().exit_code, 0);
  const std::string maps = "stereo/depth_maps/";
  for (const char* name : {"view03.png", "view04.png"})
    fs::remove(dense() / (maps + name + ".photometric.bin"));
  EXPECT_THAT(warnings(),
              testing::ElementsAre("2 of 5 views are left out: view03.png (" + maps +
                                   "view03.png.photometric.bin is missing), view04.png (" + maps +
                                   "view04.png.photometric.bin is missing); run --stage estimate again"));
}

/// The view is a source of no other one, so that all other checks are finished.
TEST_F(PartOfTheWork, APlanOfTheFusionLeavesOutAViewWithoutEstimate) {
  ASSERT_EQ(reconstruct({scene().string(), "-o", dense().string(), "--sources", "1"}).exit_code, 0);
  for (const auto& record : fs::directory_iterator(dense() / "status/estimate")) {
    const std::string bytes = content(record.path());
    fs::remove(record.path());
    const Outcome outcome = fuse({"--sources", "1", "--dry-run"});
    EXPECT_EQ(outcome.exit_code, 7) << record.path() << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("is left out: it has no depth map yet"));
    set_content(record.path(), bytes);
  }
}

/// Without points, corners of all photos choose sources and depths.
TEST_F(PartOfTheWork, APartOfASceneWithoutPointsHasThePlanOfTheWhole) {
  Scene bare = model();
  bare.points = {};
  for (View& view : bare.views) view.observations = {};
  set_model(bare);
  const auto planned = [&](const std::string& views) {
    const Outcome outcome = reconstruct(
        {scene().string(), "--dry-run", "--json", "--sources", "2", "--stage", "estimate", "--views", views});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::map<std::string, json> plans;
    const json report = outcome.json();
    for (const json& view : report.at("scenes").at(0).at("views"))
      plans[view.at("name")] = {view.at("sources"), view.at("depth_min"), view.at("depth_max")};
    return plans;
  };
  const auto whole = planned("*");
  ASSERT_EQ(whole.size(), 5u);
  for (const auto& [name, plan] : whole) EXPECT_EQ(planned(name).at(name), plan) << name;
}

/// Sources without a depth map take no part in a check, neither when it is done nor when it is looked for.
TEST_F(PartOfTheWork, ARepeatedFusionOfAPartIsKept) {
  ASSERT_EQ(estimate({"--shard", "1/2"}).exit_code, 0);
  const Outcome first = fuse({"--clean"});
  ASSERT_EQ(first.exit_code, 7) << first.err;
  const auto parts = results(dense());
  const Outcome again = fuse();
  EXPECT_EQ(again.exit_code, 7) << again.err;
  EXPECT_TRUE(same_results(parts, results(dense())));
}

TEST_F(PartOfTheWork, TheSummaryCountsAViewOnce) {
  ASSERT_EQ(estimate({"--shard", "1/2"}).exit_code, 0);
  const Outcome outcome = fuse();
  std::smatch counts;
  const std::string said = outcome.out + outcome.err;
  ASSERT_TRUE(std::regex_search(said, counts,
                                std::regex("from ([0-9]+) views in .*; ([0-9]+) are left out, such as view")))
      << said;
  EXPECT_EQ(std::stoul(counts[1]) + std::stoul(counts[2]), model().views.size()) << said;
}

TEST_F(PartOfTheWork, AViewWithoutItsSourcesIsNoCloudAndSaysSo) {
  const Outcome outcome = reconstruct({scene().string(), "--views", "view02*"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(scene().string() +
                                     ": --views 'view02*' matches view02.png alone, without any of its"));
  EXPECT_THAT(outcome.err, HasSubstr("--stage estimate"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("poses")));
  EXPECT_FALSE(fs::exists(dense())) << "it is known before the work";
  const Outcome maps = estimate({"--views", "view02*"});
  EXPECT_EQ(maps.exit_code, 0);
  EXPECT_THAT(maps.out + maps.err, HasSubstr("depth maps of 1 view in "));
}

TEST_F(PartOfTheWork, NamesTooLongForTheFilesMadeFromThemLeaveTheirViewOut) {
  const std::string name = std::string(236, 'n') + ".png";
  Scene renamed = model();
  renamed.views[3].name = name;
  fs::rename(scene() / "images/view03.png", scene() / "images" / name);
  set_model(renamed);
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("its name has 240 bytes"));
  EXPECT_TRUE(fs::exists(dense() / "fused.ply"));
}

TEST_F(PartOfTheWork, TheLongestNamesWork) {
  const std::string name = std::string(230, 'n') + ".png";
  Scene renamed = model();
  renamed.views[3].name = name;
  fs::rename(scene() / "images/view03.png", scene() / "images" / name);
  set_model(renamed);
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(PartOfTheWork, AFailedRunLeavesNoReportOfSuccess) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  ASSERT_TRUE(fs::exists(dense() / "report.json"));
  EXPECT_EQ(
      reconstruct({scene().string(), "--depth-min", "200", "--depth-max", "300", "--min-fused-views", "5"})
          .exit_code,
      3);
  EXPECT_FALSE(fs::exists(dense() / "report.json"));
  EXPECT_TRUE(fs::exists(dense() / "report.html")) << "the page of the cloud that is still there";
}

TEST_F(PartOfTheWork, AnInterruptedRunLeavesNoReportOfSuccess) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  Process process(folder(), command({scene().string(), "--planes", "2500", "--threads", "1"}));
  while (process.running() && fs::exists(dense() / "report.json")) usleep(1000);
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_FALSE(fs::exists(dense() / "report.json"));
}

/// A record with a node of another type, and the same record as it was.
struct ChangedRecord {
  std::string file, place, text, before;
};

/// The record in `file` once for every node below its root but for the inputs, which are compared as a whole:
/// the node has another type, all nodes taking the types in turn, and the document is as it was otherwise.
std::vector<ChangedRecord> changed_records(const fs::path& folder, const std::string& file) {
  const std::vector<json> others = {nullptr, true, -1, "text", json::array({1}), json::object({{"a", 1}})};
  const std::string before = content(folder / file);
  const json document = json::parse(before), flat = document.flatten();
  std::set<std::string> places;
  for (const auto& item : flat.items())
    for (json::json_pointer place(item.key()); !place.empty(); place = place.parent_pointer())
      if (!place.to_string().starts_with("/inputs/")) places.insert(place.to_string());
  std::vector<ChangedRecord> changed;
  for (const std::string& place : places) {
    json other = document;
    other[json::json_pointer(place)] = others[changed.size() % others.size()];
    changed.push_back({file, place, other.dump(), before});
  }
  return changed;
}

TEST_F(PartOfTheWork, RecordsWithValuesOfWrongTypesAreStale) {
  const std::vector<std::string> arguments = {scene().string(), "--max-image-size", "64", "--json"};
  ASSERT_EQ(reconstruct(arguments).exit_code, 0);
  const auto whole = results(dense());
  for (const char* step : {"estimate", "check", "prepare", "fusion", "output"}) {
    std::vector<std::string> files;
    if (fs::is_directory(dense() / "status" / step))
      for (const auto& [name, bytes] : files_below(dense() / "status" / step))
        files.push_back("status/" + std::string(step) + "/" + name);
    else
      files.push_back("status/" + std::string(step) + ".json");
    ASSERT_TRUE(files.size() == 1 || files.size() == 5);
    // The records of a step are read one by one, so that a run meets a change in each of them: every place is
    // changed in one view that has it.
    std::map<std::string, std::vector<std::pair<std::size_t, ChangedRecord>>> views_of_place;
    for (std::size_t view = 0; view < files.size(); ++view)
      for (ChangedRecord& record : changed_records(dense(), files[view]))
        views_of_place[record.place].emplace_back(view, std::move(record));
    std::vector<std::vector<ChangedRecord>> shares(files.size());
    for (const auto& [place, views] : views_of_place) {
      const auto& [view, record] = *std::min_element(
          views.begin(), views.end(),
          [&](const auto& a, const auto& b) { return shares[a.first].size() < shares[b.first].size(); });
      shares[view].push_back(record);
    }
    for (std::size_t run = 0;; ++run) {
      std::vector<ChangedRecord> met;
      for (const auto& share : shares)
        if (run < share.size()) met.push_back(share[run]);
      if (met.empty()) break;
      for (const ChangedRecord& it : met) set_content(dense() / it.file, it.text);
      const Outcome outcome = reconstruct(arguments);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      if (outcome.exit_code != 0)
        for (const ChangedRecord& it : met) ADD_FAILURE() << it.file << ": " << it.place << ": " << it.text;
      for (const ChangedRecord& it : met) set_content(dense() / it.file, it.before);
    }
    EXPECT_TRUE(same_results(whole, results(dense()))) << step;
  }
}

}  // namespace
}  // namespace recon
