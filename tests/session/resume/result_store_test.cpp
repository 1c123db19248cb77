// The records of finished steps, and the store that keeps what still holds.

#include "session/resume/result_store.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/content_hash.hpp"
#include "session/folder_fixture.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

using ResultStoreTest = Folder;

TEST_F(ResultStoreTest, ANewRecordRemovesTheFilesOfTheEarlierOne) {
  const Workspace workspace(folder_);
  const auto record_of = [&](const std::vector<std::string>& files) {
    StepRecord record{{}, {}, nlohmann::json::object()};
    for (const std::string& file : files) record.outputs.push_back({file, {1, "hash"}});
    return record;
  };
  workspace.owned().claim({"a.bin", "b.bin", "c.png"});
  for (const char* file : {"a.bin", "b.bin", "c.png"}) write(file, "x");
  ResultStore(workspace, false).put({Step::kEstimate, "a"}, record_of({"a.bin", "b.bin"}));
  ResultStore(workspace, false).put({Step::kEstimate, "a"}, record_of({"b.bin", "c.png"}));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.bin"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "b.bin"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "c.png"));
}

/// Files that a new result does not have would be taken for results by others, if its record held.
TEST_F(ResultStoreTest, AStoreRemovesEarlierFilesBeforeItsRecordHolds) {
  const Workspace workspace(folder_);
  const ResultKey key{Step::kPrepare, "a.png"};
  const nlohmann::json masked = {{"mask", "1"}}, plain = {{"mask", nullptr}};
  workspace.owned().claim({"mask.png"});
  write("mask.png", "content");
  ResultStore store(workspace, false);
  store.put(key, {masked, {{"mask.png", *identify_file(folder_ / "mask.png")}}, nlohmann::json::object()});
  fs::remove(folder_ / "mask.png");
  write("mask.png/cannot be removed", "");
  store.put(key, {plain, {}, nlohmann::json::object()});
  EXPECT_TRUE(fs::exists(folder_ / "mask.png/cannot be removed")) << "a folder is nobody's result";
  fs::remove_all(folder_ / "mask.png");
  store.put(key, {masked, {{"mask.png", {7, "hash"}}}, nlohmann::json::object()});
  write("mask.png", "content");
  store.put(key, {plain, {}, nlohmann::json::object()});
  EXPECT_FALSE(fs::exists(folder_ / "mask.png"));
}

/// A run that ends between its files and their record leaves files that nobody has changed.
TEST_F(ResultStoreTest, AStoreKeepsWhatSomebodyHasChangedAndNotWhatARunHasWritten) {
  const Workspace workspace(folder_);
  const ResultKey key{Step::kEstimate, "a.png"};
  workspace.owned().claim({"maps/a.bin"});
  write("maps/a.bin", "content");
  const StepRecord record{
      {}, {{"maps/a.bin", *identify_file(folder_ / "maps/a.bin")}}, nlohmann::json::object()};
  ResultStore(workspace, false).put(key, record);
  ResultStore ended(workspace, false);
  ended.begin(key);
  EXPECT_TRUE(ended.take_changed().empty());
  write("maps/a.bin", "of other options");
  ResultStore next(workspace, false);
  next.begin(key);
  EXPECT_TRUE(next.take_changed().empty());
  write("maps/a.bin", "content");
  EXPECT_EQ(next.find(key, {}), nullptr);
  EXPECT_EQ(next.reason(key), "an earlier run ended while it was made again");
  next.put(key, record);
  write("maps/a.bin", "of the user");
  write("maps/a.changed.bin", "an earlier one");
  next.begin(key);
  EXPECT_EQ(next.take_changed().size(), 1u);
  EXPECT_TRUE(next.take_changed().empty());
  EXPECT_TRUE(fs::exists(folder_ / "maps/a.changed-2.bin"));
  EXPECT_FALSE(fs::exists(folder_ / "maps/a.bin"));
}

/// A store gives what a run has put, and to the next one what still holds.
TEST_F(ResultStoreTest, AStoreKeepsWhatHoldsAndSaysWhyElse) {
  const Workspace workspace(folder_);
  const ResultKey key{Step::kEstimate, "a/b.png"}, cloud{Step::kFusion};
  workspace.owned().claim({"a.bin"});
  write("a.bin", "content");
  const nlohmann::json inputs = {{"version", 1}, {"options", {{"window", "5"}}}};
  const StepRecord record{inputs, {{"a.bin", *identify_file(folder_ / "a.bin")}}, nlohmann::json::object()};
  ResultStore first(workspace, false);
  EXPECT_EQ(first.get(key), nullptr);
  EXPECT_EQ(first.find(key, inputs), nullptr);
  EXPECT_EQ(first.reason(key), "") << "it was never made";
  first.put(key, record);
  ASSERT_NE(first.get(key), nullptr);
  EXPECT_EQ(first.get(key)->inputs, inputs);
  EXPECT_FALSE(first.kept(key));
  EXPECT_EQ(first.count(Step::kEstimate).done, 1);

  ResultStore next(workspace, false);
  nlohmann::json other = inputs;
  other["options"]["window"] = "7";
  EXPECT_EQ(next.find(key, other), nullptr);
  EXPECT_EQ(next.reason(key), "--window 5 -> 7");
  EXPECT_TRUE(next.changed(key));
  EXPECT_NE(next.find(key, inputs), nullptr);
  EXPECT_TRUE(next.kept(key));
  EXPECT_EQ(next.reason(key), "");
  EXPECT_EQ(next.count(Step::kEstimate).kept, 1);
  EXPECT_EQ(ResultStore(workspace, true).find(key, inputs), nullptr) << "all is overwritten";
  EXPECT_NE(ResultStore(workspace, true).find(key, inputs, false), nullptr);

  next.clean(key);
  EXPECT_FALSE(fs::exists(folder_ / "a.bin"));
  ASSERT_NE(ResultStore(workspace, false).find(key, inputs), nullptr) << "nothing needs its files";
  EXPECT_TRUE(next.get(key)->cleaned);
  next.forget(key, {cause("they are needed")});
  EXPECT_EQ(next.get(key), nullptr);
  EXPECT_EQ(next.reason(key), "they are needed");

  next.put(key, record);
  EXPECT_EQ(first.find(key, inputs), nullptr);
  EXPECT_EQ(first.reason(key), "a.bin is missing");
  EXPECT_FALSE(first.changed(key));
  next.put(cloud, {inputs, {}, nlohmann::json::object()});
  EXPECT_EQ(first.find(cloud, inputs), nullptr);
  EXPECT_EQ(first.reason(cloud), kDamagedRecord) << "a cloud has points";
}

TEST_F(ResultStoreTest, ASupersededResultIsMadeAgainAndItsFilesStay) {
  const Workspace workspace(folder_);
  const ResultKey key{Step::kEstimate, "a.png"};
  workspace.owned().claim({"a.bin"});
  write("a.bin", "content");
  const nlohmann::json inputs = {{"version", 1}};
  const StepRecord record{inputs, {{"a.bin", *identify_file(folder_ / "a.bin")}}, nlohmann::json::object()};
  ResultStore store(workspace, false);
  store.supersede(key);
  EXPECT_EQ(store.find(key, inputs), nullptr) << "there is none";
  store.put(key, record);
  store.supersede(key);
  EXPECT_TRUE(fs::exists(folder_ / "a.bin"));
  ResultStore next(workspace, false);
  EXPECT_EQ(next.find(key, inputs), nullptr);
  EXPECT_THAT(next.reason(key), testing::HasSubstr("--overwrite"));
  EXPECT_FALSE(next.changed(key));
  EXPECT_NE(next.find(key, inputs, false), nullptr) << "what is there is asked for";
  next.put(key, record);
  EXPECT_NE(ResultStore(workspace, false).find(key, inputs), nullptr);
}

TEST_F(ResultStoreTest, ARecordThatNamesFilesElsewhereIsNone) {
  for (const std::string file : {"../a.bin", "stereo/../../a.bin", "/a.bin"}) {
    StepRecord record{{}, {{file, {1, "hash"}}}, nlohmann::json::object()};
    write_record(folder_ / "status/a.json", record);
    EXPECT_FALSE(read_record(folder_ / "status/a.json")) << file;
  }
}

TEST_F(ResultStoreTest, RecordsComeBackAndRevealDamage) {
  write("a.bin", "content");
  StepRecord record;
  record.inputs = {{"planes", 128}, {"depth_min", 0.1}};
  record.outputs = {{"a.bin", *identify_file(folder_ / "a.bin")}};
  record.result = {{"known", 0.5}};
  write_record(folder_ / "status/a.json", record);
  const auto found = read_record(folder_ / "status/a.json");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->inputs, record.inputs) << "numbers come back bit for bit";
  EXPECT_EQ(found->result, record.result);
  EXPECT_EQ(damaged_output(*found, folder_), std::nullopt);
  write("a.bin", "Content");
  EXPECT_EQ(damaged_output(*found, folder_), "a.bin") << "same size";
  write("a.bin", "conten");
  EXPECT_EQ(damaged_output(*found, folder_), "a.bin");
  fs::remove(folder_ / "a.bin");
  EXPECT_EQ(damaged_output(*found, folder_), "a.bin");
}

TEST_F(ResultStoreTest, DamagedRecordsAreNone) {
  EXPECT_FALSE(read_record(folder_ / "none.json"));
  for (const char* text : {"", "{", "[]", "{\"inputs\": {}, \"result\": {}}",
                           R"({"inputs": {}, "result": {}, "outputs": [{"file": 3}]})",
                           R"({"inputs": {}, "result": [], "outputs": []})",
                           R"({"inputs": {}, "result": {"known": "much"}, "outputs": []})",
                           R"({"inputs": {}, "result": {"points": -1}, "outputs": []})",
                           R"({"inputs": {}, "result": {"device": 3}, "outputs": []})",
                           R"({"inputs": {}, "result": {"found_depths": [1]}, "outputs": []})",
                           R"({"inputs": {}, "result": {"found_depths": [1, "2"]}, "outputs": []})",
                           R"({"inputs": {}, "result": {"warnings": [1]}, "outputs": []})"}) {
    write("bad.json", text);
    EXPECT_FALSE(read_record(folder_ / "bad.json")) << text;
  }
}

}  // namespace
}  // namespace recon
