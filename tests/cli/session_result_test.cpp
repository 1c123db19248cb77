// What a session of several scenes leaves behind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ReconstructSessionResult : public SceneTest {};

TEST_F(ReconstructSessionResult, OfABatchIsOneFolderPerScene) {
  copy_scene(folder() / "session/b");
  copy_scene(folder() / "session/a");
  fs::remove(folder() / "session/a/sparse/cameras.txt");
  set_content(folder() / "session/a/sparse/cameras.txt", "1 PINHOLE 96 72 broken\n");
  const Outcome outcome =
      reconstruct({(folder() / "session").string(), "-o", (folder() / "out").string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 7) << "one scene failed";
  EXPECT_THAT(outcome.err, HasSubstr("cameras.txt:1"));
  const auto scenes = outcome.json().at("scenes");
  ASSERT_EQ(scenes.size(), 2u);
  EXPECT_THAT(scenes.at(0).at("error").get<std::string>(), HasSubstr("cameras.txt:1"));
  EXPECT_GT(scenes.at(1).at("points").get<int>(), 100);
  EXPECT_TRUE(fs::exists(folder() / "out/b/fused.ply"));
}

/// The lines of a session's file.
std::vector<nlohmann::json> session_lines(const fs::path& folder) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(content(folder / "session.jsonl"));
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST_F(ReconstructSessionResult, OfASessionIsSummedUp) {
  const fs::path session = folder() / "session";
  for (const char* name : {"a", "b", "deep/c", "deep/d"}) copy_scene(session / name);
  set_content(session / "a/sparse/images.txt", "1 broken\n");
  fs::remove_all(session / "b/sparse");
  fs::remove_all(session / "deep/d/images");
  fs::create_directories(session / "deep/d/images");
  const Outcome outcome = reconstruct({session.string()});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  const auto lines = session_lines(session);
  ASSERT_EQ(lines.size(), 4u);
  for (const std::size_t broken : {0, 1, 3}) {
    EXPECT_EQ(lines[broken].at("status"), "failed");
    EXPECT_EQ(lines[broken].at("exit_code"), 3);
    EXPECT_FALSE(lines[broken].at("error").get<std::string>().empty());
  }
  EXPECT_EQ(lines[2].at("status"), "done");
  EXPECT_EQ(lines[2].at("output"), (session / "deep/c/dense").string());
  EXPECT_GT(lines[2].at("points").get<int>(), 100);
  EXPECT_GT(lines[2].at("views").get<int>(), 2);
  EXPECT_GT(lines[2].at("seconds").get<double>(), 0);
  EXPECT_THAT(outcome.out, HasSubstr("failed (exit code 3)"));
  EXPECT_THAT(outcome.out, HasSubstr((session / "deep/c").string() + " "));
  for (const char* file : {"index.html", "session.jsonl"})
    EXPECT_THAT(outcome.out, HasSubstr((session / file).string()));
  EXPECT_THAT(outcome.err,
              testing::ContainsRegex("(0 of 4 scenes are done, 3|1 of 4 scenes are done, 2) failed\n"));
  const nlohmann::json scenes = page_data(session / "index.html", "session").at("scenes");
  EXPECT_EQ(scenes.at(2).at("page"), "deep/c/dense/report.html");
  EXPECT_EQ(scenes.at(2).at("picture"), "deep/c/dense/" + lines[2].at("preview").get<std::string>());
  EXPECT_EQ(scenes.at(0).at("page"), "") << "it failed";
  EXPECT_EQ(scenes.at(0).at("error"), lines[0].at("error"));
  EXPECT_TRUE(fs::is_regular_file(session / "deep/c/dense" / lines[2].at("preview").get<std::string>()));

  const auto cloud = content(session / "deep/c/dense/fused.ply");
  const Outcome again = reconstruct({session.string(), "--json"});
  EXPECT_EQ(again.exit_code, 7);
  EXPECT_EQ(again.json().at("scenes").size(), 4u) << "the table is not in the object";
  EXPECT_EQ(content(session / "deep/c/dense/fused.ply"), cloud);
  EXPECT_EQ(session_lines(session).size(), 4u) << "the file is of the last run";
}

TEST_F(ReconstructSessionResult, NamesFoldersOfPhotosThatAreSkippedAtItsEndToo) {
  const fs::path session = folder() / "session";
  copy_scene(session / "a");
  fs::create_directories(session / "p2");
  for (const char* photo : {"view00.png", "view01.png"})
    fs::copy_file(session / "a/images" / photo, session / "p2" / photo);
  const Outcome outcome = reconstruct({session.string(), "--max-image-size", "48", "--planes", "8"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string text =
      "skipped: " + (session / "p2").string() + " holds photos and no cameras: run COLMAP first";
  EXPECT_THAT(outcome.err, HasSubstr(text));
  EXPECT_THAT(outcome.out.substr(outcome.out.find("session.jsonl")), HasSubstr("\n" + text));
  EXPECT_THAT(page_data(session / "index.html", "session").at("skipped").get<std::string>(), HasSubstr(text));
}

/// Those that are left may take far longer.
TEST_F(ReconstructSessionResult, SaysHowManyScenesAreDoneAndNoTime) {
  const fs::path session = folder() / "session";
  for (const char* name : {"a", "b", "c"}) copy_scene(session / name);
  const std::vector<std::string> words = {session.string(), "--max-image-size", "48", "--planes", "8"};
  const Outcome first = reconstruct(words);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Outcome kept = reconstruct(words);
  for (const Outcome& outcome : {first, kept})
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("1 of 3 scenes are done\n"), HasSubstr("2 of 3 scenes are done\n")));
  for (const nlohmann::json& line : session_lines(session)) EXPECT_LT(line.at("elapsed"), line.at("seconds"));
}

TEST_F(ReconstructSessionResult, OfADryRunSumsUpTheSession) {
  const fs::path session = folder() / "session";
  for (const char* name : {"a", "b", "c"}) copy_scene(session / name);
  set_content(session / "b/sparse/cameras.txt", "broken\n");
  const Outcome text = reconstruct({session.string(), "--dry-run", "--threads", "2"});
  EXPECT_EQ(text.exit_code, 7) << text.err;
  EXPECT_THAT(text.out, HasSubstr("2 inputs: about "));
  const nlohmann::json object =
      reconstruct({session.string(), "--dry-run", "--json", "--threads", "2"}).json();
  const auto& plans = object.at("scenes");
  const auto& estimate = object.at("estimate");
  double seconds = 0, once = 0;
  std::uint64_t memory = 0, output = 0;
  for (const std::size_t scene : {0, 2}) {
    const auto& steps = plans.at(scene).at("seconds").at("steps");
    for (const auto& [step, time] : steps.items())
      if (step != "start" && step != "opening the device") seconds += time.get<double>();
    once = std::max(once, steps.at("start").get<double>() + steps.at("opening the device").get<double>());
    memory += plans.at(scene).at("memory").at("peak").get<std::uint64_t>();  // side by side
    output += plans.at(scene).at("memory").at("output").get<std::uint64_t>();
  }
  EXPECT_EQ(estimate.at("planned"), 2);
  EXPECT_EQ(estimate.at("timed"), 2);
  EXPECT_NEAR(estimate.at("seconds").get<double>(), seconds + once, 1e-6);
  EXPECT_EQ(estimate.at("memory"), memory);
  EXPECT_EQ(estimate.at("output"), output);
  for (const char* name : {"a", "c"}) set_content(session / name / "sparse/cameras.txt", "broken\n");
  const Outcome none = reconstruct({session.string(), "--dry-run"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.out, Not(HasSubstr("inputs"))) << "there is nothing to sum up";
}

TEST_F(ReconstructSessionResult, OfASessionWithoutResultsIsItsFirstFailure) {
  const fs::path session = folder() / "session";
  for (const char* name : {"a", "b"}) {
    copy_scene(session / name);
    set_content(session / name / "sparse/cameras.txt", "broken\n");
  }
  EXPECT_EQ(reconstruct({session.string()}).exit_code, 3);
  EXPECT_EQ(session_lines(session).size(), 2u);
}

}  // namespace
}  // namespace recon
