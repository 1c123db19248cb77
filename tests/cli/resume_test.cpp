// Runs that stop, and what the next one makes of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>

#include "cli/held_lock.hpp"
#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// So many planes that a run takes long enough to be stopped in its midst.
const std::vector<std::string> kSlow = {"--planes", "2500", "--threads", "1"};

class ReconstructResume : public SceneTest {
 protected:
  std::vector<std::string> slow(const fs::path& output) const {
    std::vector<std::string> arguments = {scene().string(), "-o", output.string()};
    arguments.insert(arguments.end(), kSlow.begin(), kSlow.end());
    return arguments;
  }

  /// Starts a slow run, sends a signal when its first depth map is finished, and waits for its end.
  Outcome stop_with(int signal, const fs::path& output) const {
    Process process(folder(), command(slow(output)));
    while (!fs::exists(output / "status/estimate/view00.png.json")) {
      if (!process.running()) return process.wait();
      usleep(2000);
    }
    process.send(signal);
    return process.wait();
  }

  /// The run goes on from where the last one ended, and comes to the bytes of one that was never stopped.
  void expect_same_after(const fs::path& stopped) const {
    EXPECT_FALSE(fs::exists(stopped / "fused.ply"));
    const Outcome resumed = reconstruct(slow(stopped));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_THAT(resumed.err, HasSubstr("are finished and kept"));
    const fs::path whole = folder() / "whole";
    ASSERT_EQ(reconstruct(slow(whole)).exit_code, 0);
    EXPECT_TRUE(same_results(results(whole), results(stopped)));
  }
};

TEST_F(ReconstructResume, AfterInterruptGivesTheSameBytes) {
  const fs::path output = folder() / "stopped";
  const Outcome stopped = stop_with(SIGINT, output);
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("interrupted"));
  expect_same_after(output);
}

TEST_F(ReconstructResume, AfterKillGivesTheSameBytes) {
  const fs::path output = folder() / "stopped";
  EXPECT_EQ(stop_with(SIGKILL, output).exit_code, -1);
  // What a killed run was writing is left under a temporary name, which the next run takes for no result.
  set_content(output / "images/.reconstruct-1-0.tmp", "half an image");
  expect_same_after(output);
}

TEST_F(ReconstructResume, CleanedScenesAreFinished) {
  const auto whole = folder() / "whole", cleaned = folder() / "cleaned";
  ASSERT_EQ(reconstruct({scene().string(), "-o", whole.string()}).exit_code, 0);
  ASSERT_EQ(reconstruct({scene().string(), "-o", cleaned.string(), "--clean"}).exit_code, 0);
  auto expected = results(whole);
  EXPECT_GT(
      std::erase_if(expected,
                    [](const auto& file) { return file.first.find(".photometric.") != std::string::npos; }),
      3u);
  EXPECT_TRUE(same_results(expected, results(cleaned)));

  const Outcome again = reconstruct({scene().string(), "-o", cleaned.string()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("the cloud is finished and kept"));
  EXPECT_TRUE(same_results(expected, results(cleaned)));
}

TEST_F(ReconstructResume, CleanedMapsAreMadeAgainWhereTheCheckNeedsThem) {
  const std::vector<std::string> other = {"--max-depth-error", "0.03"};
  const auto run = [&](const fs::path& output, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {scene().string(), "-o", output.string()});
    return reconstruct(arguments);
  };
  const fs::path cleaned = folder() / "cleaned", whole = folder() / "whole";
  ASSERT_EQ(run(cleaned, {"--clean"}).exit_code, 0);
  const Outcome fused = run(cleaned, {"--stage", "fuse", other[0], other[1]});
  EXPECT_EQ(fused.exit_code, 3);
  EXPECT_THAT(fused.err, HasSubstr("were removed by --clean"));
  const Outcome planned = run(cleaned, {"--dry-run", "--json", other[0], other[1]});
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  const Outcome again = run(cleaned, other);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("its maps were removed by --clean"));
  ASSERT_EQ(run(whole, other).exit_code, 0);
  EXPECT_TRUE(same_results(results(whole), results(cleaned)));
  // The same in two parts.
  ASSERT_EQ(run(cleaned, {"--clean"}).exit_code, 0);
  EXPECT_EQ(run(cleaned, {"--stage", "estimate"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(cleaned / "stereo/depth_maps/view00.png.photometric.bin"));
  EXPECT_EQ(run(cleaned, {"--stage", "fuse", other[0], other[1]}).exit_code, 0);
  EXPECT_TRUE(same_results(results(whole), results(cleaned)));
}

TEST_F(ReconstructResume, KeepsFinishedWork) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto records = [this] {
    auto files = files_below(dense() / "status");
    std::erase_if(files, [](const auto& file) {  // reports hold the time of the run
      return file.first == "lock" || file.first == "run/report.json";
    });
    return files;
  };
  const auto before = records();
  const Outcome again = reconstruct({scene().string()});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("depth maps: 5 of 5 views are finished and kept"));
  EXPECT_THAT(again.err, HasSubstr("the cloud is finished and kept"));
  EXPECT_TRUE(same_results(before, records())) << "records hold times: nothing was done again";
  const Outcome plan = reconstruct({scene().string(), "--dry-run"});
  EXPECT_THAT(plan.out, HasSubstr("  to do: nothing, all is finished and kept\n"));
  EXPECT_THAT(plan.out, Not(HasSubstr("memory:"))) << "nothing takes any";
  EXPECT_THAT(plan.err, Not(HasSubstr("kept"))) << "the plan says it";
}

/// Times in the page show which run wrote it.
TEST_F(ReconstructResume, KeepsThePageOfTheRunThatDidTheWork) {
  const fs::path page = dense() / "report.html", aside = dense() / "status" / "report.html";
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const std::string first = content(page);
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  EXPECT_TRUE(content(page) == first);
  EXPECT_FALSE(fs::exists(aside));

  ASSERT_EQ(reconstruct({scene().string(), "--min-views", "2"}).exit_code, 0);
  const std::string other = content(page);
  EXPECT_FALSE(other == first);
  EXPECT_TRUE(other.find("min-views") != std::string::npos);
  EXPECT_FALSE(fs::exists(aside));

  // As a run that was killed leaves it; and with another page than that of these results.
  fs::rename(page, aside);
  ASSERT_EQ(reconstruct({scene().string(), "--min-views", "2"}).exit_code, 0);
  EXPECT_TRUE(content(page) == other);
  std::ofstream(page) << first;
  ASSERT_EQ(reconstruct({scene().string(), "--min-views", "2"}).exit_code, 0);
  EXPECT_FALSE(content(page) == first);
  EXPECT_FALSE(fs::exists(aside));
  fs::remove(page);
  ASSERT_EQ(reconstruct({scene().string(), "--min-views", "2"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(page));
}

/// The steps of a report by name.
std::map<std::string, nlohmann::json> steps_of(const nlohmann::json& report) {
  std::map<std::string, nlohmann::json> steps;
  for (const auto& step : report.at("steps")) steps[step.at("name")] = step;
  return steps;
}

TEST_F(ReconstructResume, ReportsTheTimesOfTheRunThatDidTheWork) {
  const auto report = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words = {scene().string()};
    words.insert(words.end(), options.begin(), options.end());
    EXPECT_EQ(reconstruct(words).exit_code, 0);
    return nlohmann::json::parse(content(dense() / "report.json"));
  };
  const auto first = report({});
  EXPECT_NEAR(first.at("elapsed"), first.at("seconds").at("total"), 1e-9);
  for (const auto& [name, step] : steps_of(first)) EXPECT_EQ(step.at("kept"), false) << name;
  sleep(1);  // the date has seconds
  const auto nothing = report({});
  EXPECT_EQ(nothing.at("seconds"), first.at("seconds"));
  EXPECT_EQ(nothing.at("date"), first.at("date"));
  EXPECT_NE(nothing.at("elapsed"), first.at("elapsed")) << "it is that of the last run";
  for (const auto& [name, step] : steps_of(nothing)) EXPECT_EQ(step.at("kept"), true) << name;

  const auto fused = report({"--min-fused-views", "4"});
  auto before = steps_of(nothing), now = steps_of(fused);
  EXPECT_EQ(now["depth maps"], before["depth maps"]);
  EXPECT_EQ(now["check across views"], before["check across views"]);
  EXPECT_EQ(now["fusion"].at("kept"), false);
  EXPECT_NE(fused.at("date"), first.at("date"));

  // Of five depth maps, four are of the earlier run.
  fs::remove(dense() / "status/estimate/view02.png.json");
  auto again = steps_of(report({"--min-fused-views", "4"}));
  EXPECT_EQ(again["depth maps"].at("kept"), false);
  EXPECT_EQ(again["depth maps"].at("views"), 5);
  EXPECT_GT(again["depth maps"].at("seconds"), now["depth maps"].at("seconds").get<double>() * 4 / 5);
  set_content(dense() / "report.json", R"({"steps": [{"name": 3}]})");
  for (const auto& [name, step] : steps_of(report({"--min-fused-views", "4"})))
    EXPECT_EQ(step.at("kept"), true) << name;
}

TEST_F(ReconstructResume, ReportsTheTimesOfARunThatFailed) {
  EXPECT_EQ(reconstruct({scene().string(), "--roi", "100,100,100,101,101,101"}).exit_code, 3);
  EXPECT_FALSE(fs::exists(dense() / "report.json"));
  const auto failed = steps_of(nlohmann::json::parse(content(dense() / "status/report.json")));
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  auto steps = steps_of(nlohmann::json::parse(content(dense() / "report.json")));
  EXPECT_EQ(steps["depth maps"].at("seconds"), failed.at("depth maps").at("seconds"));
  EXPECT_EQ(steps["depth maps"].at("kept"), true);
  EXPECT_EQ(steps["fusion"].at("kept"), false);
  EXPECT_FALSE(fs::exists(dense() / "status/report.json"));
}

TEST_F(ReconstructResume, AStoppedRunLeavesThePageOfTheCloudThatIsThere) {
  const fs::path output = folder() / "stopped", page = output / "report.html";
  ASSERT_EQ(reconstruct({scene().string(), "-o", output.string()}).exit_code, 0);
  const std::string cloud = content(output / "fused.ply"), first = content(page);
  const auto stop = [&] {
    fs::remove(output / "status/estimate/view00.png.json");
    return stop_with(SIGINT, output);
  };
  const Outcome stopped = stop();
  ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("/fused.ply and report.html are those of the run before; maps may be "));
  EXPECT_TRUE(content(output / "fused.ply") == cloud && content(page) == first);
  EXPECT_FALSE(fs::exists(output / "report.json")) << "programs must not take it for that of this run";

  // The page of a run whose cloud was replaced since stays aside.
  fs::last_write_time(page, fs::last_write_time(output / "fused.ply") - std::chrono::seconds(9));
  EXPECT_THAT(stop().err, Not(HasSubstr("of the run before")));
  EXPECT_FALSE(fs::exists(page));
  EXPECT_TRUE(content(output / "status/report.html") == first);
}

TEST_F(ReconstructResume, DoesStaleWorkAgainAndSaysWhy) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const Outcome changed = reconstruct({scene().string(), "--window", "7"});
  ASSERT_EQ(changed.exit_code, 0) << changed.err;
  EXPECT_THAT(changed.err, HasSubstr("view00.png: --window 5 -> 7"));
  EXPECT_THAT(changed.err, HasSubstr("undistorting: 5 of 5 views are finished and kept"));
  ASSERT_EQ(reconstruct({scene().string(), "--window", "7", "-o", (folder() / "fresh").string()}).exit_code,
            0);
  EXPECT_TRUE(same_results(results(folder() / "fresh"), results(dense())));
}

/// A record of a version that wrote numbers by their places in its code says so, and none of these places.
TEST_F(ReconstructResume, DoesWorkOfAnotherVersionAgain) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto before = results(dense());
  const fs::path file = dense() / "status/estimate/view02.png.json";
  nlohmann::json record = nlohmann::json::parse(content(file));
  EXPECT_EQ(record.at("inputs").at("options").at("window"), "5");
  EXPECT_EQ(record.at("inputs").at("options").at("cost"), "zncc");
  record["inputs"].erase("options");
  record["inputs"].update({{"version", 6}, {"window", 5}, {"stages", {{"patch", {{"radius", 2}}}}}});
  set_content(file, record.dump());
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("depth maps: the stale view view02.png is done again: another version of "
                        "the program made it\n"));
  EXPECT_TRUE(same_results(before, results(dense())));
}

TEST_F(ReconstructResume, SeesAChangedMethodAndItsChangedOptions) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto run = [&](const std::vector<std::string>& arguments, const std::string& reason) {
    std::vector<std::string> words = {scene().string(), "-v"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Outcome outcome = reconstruct(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(reason));
    EXPECT_THAT(outcome.err, HasSubstr("undistorting: 5 of 5 views are finished and kept"));
  };
  run({"--method", "bm"},
      "depth maps: 5 stale views are done again, such as view00.png: --method planesweep -> bm");
  run({"--method", "sgm"}, "depth maps: 5 stale views");
  run({"--method", "sgm"}, "depth maps: 5 of 5 views are finished and kept");
  run({"--method", "sgm", "--paths", "4"}, "--paths 8 -> 4");
  ASSERT_EQ(
      reconstruct({scene().string(), "--method", "sgm", "--paths", "4", "-o", (folder() / "fresh").string()})
          .exit_code,
      0);
  EXPECT_TRUE(same_results(results(folder() / "fresh"), results(dense())));
}

TEST_F(ReconstructResume, DoesOnlyFusionAgainWhenOnlyItsOptionsChange) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const Outcome changed = reconstruct({scene().string(), "--min-fused-views", "4"});
  ASSERT_EQ(changed.exit_code, 0) << changed.err;
  EXPECT_THAT(changed.err, HasSubstr("check across views: 5 of 5 views are finished and kept"));
  EXPECT_THAT(changed.err, HasSubstr("--min-fused-views 2 -> 4"));
}

TEST_F(ReconstructResume, SeesAChangedPhoto) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  fs::copy_file(scene() / "images/view00.png", scene() / "images/view04.png",
                fs::copy_options::overwrite_existing);
  const Outcome changed = reconstruct({scene().string()});
  EXPECT_THAT(changed.err,
              HasSubstr("undistorting: stale views are done again, such as view04.png: another photo"));
  EXPECT_THAT(changed.err, HasSubstr("depth maps: 5 stale views are done again, such as view00.png: another "
                                     "photo of view04.png\n"));
}

TEST_F(ReconstructResume, NamesEachCauseWithTheNumberOfItsViews) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  fs::copy_file(scene() / "images/view00.png", scene() / "images/view04.png",
                fs::copy_options::overwrite_existing);
  set_content(dense() / "status/estimate/view02.png.json", "{");
  std::vector<std::string> arguments = {scene().string(), "--window", "7", "--dry-run"};
  EXPECT_THAT(reconstruct(arguments).out,
              HasSubstr("  in the place of earlier results:\n"
                        "    undistorting of view04.png: another photo\n"
                        "    depth maps of 4, such as view00.png: --window 5 -> 7\n"
                        "    depth maps of 4, such as view00.png: another photo of view04.png\n"
                        "    depth maps of view02.png: its record is damaged\n"
                        "    and what follows from them: check across views, fusion\n  memory"));
  arguments.pop_back();
  EXPECT_THAT(
      reconstruct(arguments).err,
      AllOf(HasSubstr("depth maps: 4 stale views are done again, such as view00.png: --window 5 -> 7\n"),
            HasSubstr("depth maps: the stale view view02.png is done again: its record is damaged\n")));
}

TEST_F(ReconstructResume, APlanSaysWhatCleanRemovesAndWhyItsMapsAreMadeAgain) {
  const auto plan = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {scene().string(), "--dry-run"});
    return reconstruct(arguments).out;
  };
  const std::string removed = "  removed: the depth maps of 5 views before the check, ";
  EXPECT_THAT(plan({"--clean"}),
              AllOf(HasSubstr(removed), HasSubstr("*.photometric.*, as --clean is given")));
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  EXPECT_THAT(plan({}), Not(HasSubstr("removed")));
  EXPECT_THAT(plan({"--clean"}), AllOf(HasSubstr("to do: nothing"), HasSubstr(removed)));
  ASSERT_EQ(reconstruct({scene().string(), "--clean"}).exit_code, 0);
  EXPECT_THAT(plan({"--clean"}), Not(HasSubstr("removed"))) << "they are gone";
  EXPECT_THAT(plan({"--max-depth-error", "0.03"}),
              HasSubstr("    depth maps of 5, such as view00.png: its maps were removed by --clean\n"
                        "    check across views of 5, such as view00.png: --max-depth-error 0.01 -> 0.03\n"));
}

TEST_F(ReconstructResume, DoesDamagedFilesAgain) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto before = results(dense());
  const fs::path truncated = dense() / "stereo/depth_maps/view01.png.photometric.bin";
  fs::resize_file(truncated, fs::file_size(truncated) / 2);
  const fs::path flipped = dense() / "stereo/normal_maps/view03.png.geometric.bin";
  std::string bytes = content(flipped);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  set_content(flipped, bytes);
  set_content(dense() / "status/estimate/view02.png.json", "{");
  fs::remove(dense() / "fused.ply.vis");
  EXPECT_THAT(reconstruct({scene().string(), "--dry-run"}).out,
              AllOf(HasSubstr("  to do, by views: depth maps of 2, check across views of 5, fusion of 5\n"),
                    HasSubstr("view01.png.photometric.bin is not as it was written")));
  const Outcome outcome = reconstruct({scene().string(), "-v"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("view01.png.photometric.bin is not as it was written"));
  EXPECT_THAT(outcome.err, HasSubstr("view03.png.geometric.bin is not as it was written"));
  EXPECT_THAT(outcome.err, HasSubstr("fused.ply.vis is missing"));
  EXPECT_THAT(outcome.err, HasSubstr("depth maps: 3 of 5 views are finished and kept"));
  // Nobody knows whether it is damage or work.
  EXPECT_EQ(content(dense() / "stereo/normal_maps/view03.png.geometric.changed.bin"), bytes);
  fs::remove(dense() / "stereo/normal_maps/view03.png.geometric.changed.bin");
  fs::remove(dense() / "stereo/depth_maps/view01.png.photometric.changed.bin");
  EXPECT_TRUE(same_results(before, results(dense())));
}

TEST_F(ReconstructResume, KeepsACloudThatSomebodyHasChanged) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const std::string made = content(dense() / "fused.ply");
  for (const char* name : {"fused.changed.ply", "fused.changed-2.ply"}) {
    set_content(dense() / "fused.ply", name);
    const Outcome outcome = reconstruct({scene().string()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("the stale cloud is made again: fused.ply is not as it was written"));
    EXPECT_THAT(
        outcome.err,
        HasSubstr(std::string("fused.ply has been changed since it was written: it is kept as ") + name));
    EXPECT_EQ(content(dense() / name), name);
    EXPECT_EQ(content(dense() / "fused.ply"), made);
  }
  set_content(dense() / "fused.ply", "changed, and other options");
  ASSERT_EQ(reconstruct({scene().string(), "--point-spacing", "2"}).exit_code, 0);
  EXPECT_EQ(content(dense() / "fused.changed-3.ply"), "changed, and other options");
  set_content(dense() / "fused.ply", "changed, and options that leave no point");
  const Outcome empty =
      reconstruct({scene().string(), "--min-fused-views", "5", "--max-normal-angle", "0.001"});
  EXPECT_EQ(empty.exit_code, 3);
  EXPECT_THAT(empty.err,
              HasSubstr("try first without --max-normal-angle 0.001 and --min-fused-views 5; the cloud "));
  EXPECT_EQ(content(dense() / "fused.ply"), "changed, and options that leave no point");
}

TEST_F(ReconstructResume, PlansAndStagesNameEarlierResults) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const Outcome plan = reconstruct({scene().string(), "--window", "7", "--dry-run"});
  EXPECT_THAT(
      plan.out,
      HasSubstr("  in the place of earlier results:\n    depth maps of 5, such as view00.png: "
                "--window 5 -> 7\n    and what follows from them: check across views, fusion\n  memory"));
  EXPECT_THAT(reconstruct({scene().string(), "--overwrite", "--dry-run"}).out,
              HasSubstr("  in the place of earlier results, as --overwrite is given:\n"
                        "    undistorting of 5, such as view00.png\n"
                        "    depth maps of 5, such as view00.png\n"
                        "    check across views of 5, such as view00.png\n    fusion\n  memory"));
  const Outcome fewer = reconstruct({scene().string(), "--views", "view0[01]*", "--dry-run"});
  EXPECT_THAT(fewer.out, HasSubstr("  the cloud of 5 views is replaced by one of 2\n"));
  const Outcome same = reconstruct({scene().string(), "--stage", "estimate"});
  EXPECT_THAT(same.err, Not(HasSubstr("of earlier depth maps")));
  const Outcome maps = reconstruct({scene().string(), "--window", "7", "--stage", "estimate"});
  EXPECT_THAT(maps.err,
              HasSubstr("fused.ply: it is of earlier depth maps; the same command without --stage"));
}

/// Records that other programs or people have changed are those of no finished step.
TEST_F(ReconstructResume, DoesStepsWithDamagedRecordsAgain) {
  ASSERT_EQ(reconstruct({scene().string(), "--tile", "5"}).exit_code, 0);
  const auto before = results(dense());
  using nlohmann::json;
  const auto changed = [](const char* pointer, const json& value) {
    return [pointer, value](json record) {
      record[json::json_pointer(pointer)] = value;
      return record;
    };
  };
  const auto without_result = [](json record) {
    record["result"] = json::object();
    return record;
  };
  const std::vector<std::pair<std::string, std::function<json(json)>>> damages = {
      {"estimate/view02.png", changed("/inputs", 5)},
      {"estimate/view02.png", changed("/inputs/sources", "x")},
      {"estimate/view02.png", changed("/inputs/sources/0/name", 5)},
      {"estimate/view02.png", changed("/inputs/reference", json::array({1}))},
      {"estimate/view02.png", changed("/inputs/options", true)},
      {"estimate/view02.png", changed("/outputs", "none")},
      {"prepare/view02.png", changed("/inputs/camera", json::object())},
      {"check/view02.png", changed("/inputs/sources", 7)},
      {"check/view02.png", changed("/result/known", "all")},
      {"check/view02.png", [](const json&) { return json::array(); }},
      {"fusion", changed("/inputs/views", json::array())},
      {"fusion", without_result},
      {"tiles", changed("/inputs/cloud", "x")}};
  for (const auto& [name, damaged] : damages) {
    const fs::path file = dense() / "status" / (name + ".json");
    const json record = damaged(json::parse(content(file)));
    set_content(file, record.dump());
    const Outcome outcome = reconstruct({scene().string(), "--tile", "5", "-v"});
    EXPECT_EQ(outcome.exit_code, 0) << name << record.dump().substr(0, 300) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("its record is damaged")) << name << record.dump().substr(0, 300);
    EXPECT_TRUE(same_results(before, results(dense()))) << name;
  }
}

TEST_F(ReconstructResume, OverwriteDoesAllAgain) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto before = results(dense());
  const Outcome outcome = reconstruct({scene().string(), "--overwrite"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, Not(HasSubstr("kept")));
  EXPECT_TRUE(same_results(before, results(dense())));
}

/// Leaves the note of a run that is killed while it waits for the folder.
TEST_F(ReconstructResume, OverwriteThatDidNotBeginIsContinuedWithoutIt) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto before = results(dense());
  const fs::path note = dense() / "status/overwrite";
  {
    const HeldLock lock(dense(), LOCK_EX);
    Process process(folder(), command({scene().string(), "--overwrite", "--wait"}));
    while (process.running() && content(folder() / "stderr.txt").find("waiting for") == std::string::npos)
      usleep(5000);
    process.send(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 130);
  }
  ASSERT_TRUE(fs::exists(note));
  const auto plan = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {scene().string(), "--dry-run"});
    return reconstruct(more).out;
  };
  EXPECT_THAT(plan({}), HasSubstr("undistorting of 5, depth maps of 5"));
  EXPECT_THAT(plan({"--stage", "estimate"}), HasSubstr("nothing, all is finished")) << "another command";
  EXPECT_EQ(reconstruct({scene().string(), "--memory-limit", "1MiB"}).exit_code, 4);
  EXPECT_EQ(reconstruct({scene().string(), "--stage", "fuse"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(note)) << "neither is what was asked for";
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, Not(HasSubstr("kept")));
  EXPECT_FALSE(fs::exists(note));
  EXPECT_TRUE(same_results(before, results(dense())));
}

TEST_F(ReconstructResume, OverwriteThatIsRefusedAsksForNothing) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto refused = [&](std::vector<std::string> more, int exit_code) {
    more.insert(more.begin(), {scene().string(), "--overwrite"});
    EXPECT_EQ(reconstruct(more).exit_code, exit_code) << more.back();
    EXPECT_FALSE(fs::exists(dense() / "status/overwrite")) << more.back();
    EXPECT_THAT(reconstruct({scene().string(), "--dry-run"}).out, HasSubstr("nothing, all is finished"));
  };
  refused({"--memory-limit", "1MiB"}, 4);
  refused({"--views", "nothing*"}, 3);
  refused({"--device", "cuda:99"}, 5);
  const fs::path own = folder() / "own/status/overwrite";
  fs::create_directories(own.parent_path());
  set_content(own, "dear");
  EXPECT_EQ(reconstruct({scene().string(), "-o", (folder() / "own").string()}).exit_code, 2);
  EXPECT_EQ(content(own), "dear");
}

/// The rest is what the interrupted run was to make again, not what an earlier one has finished.
TEST_F(ReconstructResume, OverwriteThatIsStoppedIsContinuedWithoutIt) {
  const fs::path output = folder() / "stopped";
  ASSERT_EQ(reconstruct(slow(output)).exit_code, 0);
  const auto before = results(output);
  std::vector<std::string> overwrite = slow(output);
  overwrite.emplace_back("--overwrite");
  const auto is_superseded = [&](const char* view) {
    const std::string record = content(output / "status/estimate" / (std::string(view) + ".png.json"));
    return record.find("superseded") != std::string::npos;
  };
  Process process(folder(), command(overwrite));
  while (process.running() && !is_superseded("view00")) usleep(1000);
  while (process.running() && is_superseded("view00")) usleep(1000);
  process.send(SIGINT);
  ASSERT_EQ(process.wait().exit_code, 130);
  EXPECT_TRUE(same_results(before, results(output))) << "files stay until they are replaced";
  ASSERT_TRUE(is_superseded("view03"));

  std::vector<std::string> plan = slow(output);
  plan.emplace_back("--dry-run");
  EXPECT_THAT(reconstruct(plan).out,
              AllOf(HasSubstr("fusion of 5"), HasSubstr("an earlier run with --overwrite ended")));
  ASSERT_EQ(reconstruct(slow(output)).exit_code, 0);
  const auto report = nlohmann::json::parse(content(output / "report.json"));
  std::map<std::string, std::vector<std::string>> made;
  for (const auto& tasks : report.at("tasks")) tasks.at("views").get_to(made[tasks.at("step")]);
  EXPECT_THAT(made["depth maps"],
              AllOf(Not(testing::Contains("view00.png")), testing::Contains("view03.png")));
  EXPECT_EQ(made["fusion"].size(), 5u);
  EXPECT_FALSE(is_superseded("view03"));
  EXPECT_TRUE(same_results(before, results(output)));
}

}  // namespace
}  // namespace recon
