// Sessions of small scenes, several of which are worked on at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/held_lock.hpp"
#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::Not;

class SideBySide : public SceneTest {
 protected:
  fs::path session() const { return folder() / "session"; }
  void copy_scenes(const std::vector<std::string>& names) const {
    for (const std::string& name : names) copy_scene(session() / name);
  }
  /// The lock of a scene's output as another process holds it.
  std::unique_ptr<HeldLock> lock(const std::string& name) const {
    fs::create_directories(session() / name / "dense/status");
    set_content(session() / name / "dense/status/lock", "");
    return std::make_unique<HeldLock>(session() / name / "dense", LOCK_EX);
  }
  std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> lines;
    std::istringstream text(content(session() / "session.jsonl"));
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
  std::string messages() const { return content(folder() / "stderr.txt"); }
};

/// Waits until `condition` holds, but not forever.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (condition()) return true;
    usleep(10000);
  }
  return false;
}

TEST_F(SideBySide, ScenesHaveTheResultsOfOneAfterTheOther) {
  copy_scenes({"a", "b", "c", "d"});
  set_content(session() / "b/sparse/cameras.txt", "broken\n");
  fs::remove(session() / "c/images/view02.png");
  ASSERT_EQ(reconstruct({session().string(), "--threads", "1"}).exit_code, 7);
  const auto expected = lines();
  ASSERT_EQ(expected.size(), 4u);
  std::vector<std::vector<std::pair<std::string, std::string>>> before;
  for (const char* name : {"a", "c", "d"}) {
    before.push_back(results(session() / name / "dense"));
    fs::remove_all(session() / name / "dense");
  }
  const Outcome outcome = reconstruct({session().string(), "--threads", "3"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  for (const char* name : {"a", "c", "d"}) {
    EXPECT_TRUE(same_results(before.front(), results(session() / name / "dense"))) << name;
    before.erase(before.begin());
    EXPECT_THAT(outcome.out, HasSubstr((session() / name / "dense/fused.ply").string() + ": "));
  }
  EXPECT_THAT(outcome.err, HasSubstr("error: " + (session() / "b/sparse/cameras.txt").string() + ":1: "));
  EXPECT_THAT(outcome.err, HasSubstr("2 of 4 scenes are done, 1 failed\n"));
  const auto found = lines();
  ASSERT_EQ(found.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    for (const char* key : {"scene", "status", "exit_code"})
      EXPECT_EQ(found[i].at(key), expected[i].at(key)) << "in the order of the inputs";
}

TEST_F(SideBySide, ScenesHaveTheirOwnMessages) {
  copy_scenes({"a", "b"});
  fs::remove(session() / "b/images/view02.png");
  const auto a = lock("a"), b = lock("b");
  Process process(folder(), command({session().string(), "--threads", "2", "--wait"}));
  ASSERT_TRUE(comes_true([&] {
    return messages().find("/a/dense: waiting for") != std::string::npos &&
           messages().find("/b/dense: waiting for") != std::string::npos;
  })) << "both are worked on at once: "
      << messages();
  const std::string in_b = (session() / "b").string();
  EXPECT_THAT(messages(), HasSubstr("warning: " + in_b + ": view02.png is left out"));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
}

TEST_F(SideBySide, LogsAreThoseOfTheirScenes) {
  copy_scenes({"a", "b", "c"});
  fs::remove(session() / "b/images/view02.png");
  ASSERT_EQ(reconstruct({session().string(), "--threads", "3", "--verbose"}).exit_code, 7);
  for (const char* name : {"a", "b", "c"}) {
    const std::string log = content(session() / name / "dense/report.log");
    EXPECT_EQ(log.find("view02.png is left out") != std::string::npos, name == std::string("b")) << log;
    EXPECT_THAT(log, HasSubstr("view03.png: depths from ")) << "of the threads that work on it";
    std::istringstream text(log);
    int views = 0;
    for (std::string line; std::getline(text, line);)
      views += line.find("view03.png: depths from ") != std::string::npos ? 1 : 0;
    EXPECT_EQ(views, 1) << "and of no others";
  }
}

TEST_F(SideBySide, ScenesThatNeedMoreThanTheirShareAreDoneAlone) {
  copy_scenes({"a", "b"});
  const Outcome small = reconstruct({session().string(), "--threads", "2", "--memory-limit", "150MiB"});
  EXPECT_EQ(small.exit_code, 0) << small.err;
  EXPECT_THAT(small.err, Not(HasSubstr("memory")));
  EXPECT_EQ(lines().size(), 2u);
  const Outcome none = reconstruct({session().string(), "--threads", "2", "--memory-limit", "90MiB"});
  EXPECT_EQ(none.exit_code, 4);
  EXPECT_THAT(none.err, HasSubstr("the limit on memory is 90.0 MiB")) << "that of all";
}

TEST_F(SideBySide, ScenesEndTogetherWhenInterrupted) {
  copy_scenes({"a", "b", "c"});
  const auto b = lock("b");
  Process process(folder(), command({session().string(), "--threads", "2", "--wait", "--json"}));
  ASSERT_TRUE(comes_true(
      [&] { return messages().find("waiting for another") != std::string::npos && lines().size() == 2; }));
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("interrupted; what was finished is kept"));
  EXPECT_THAT(outcome.err, HasSubstr("; 2 of 3 scenes are done\n"));
  const nlohmann::json object = outcome.json();
  EXPECT_THAT(object.at("error").get<std::string>(), HasSubstr("interrupted"));
  EXPECT_EQ(object.at("scenes").size(), 2u) << "a and c are finished";
}

TEST_F(SideBySide, ScenesEndWithTheReasonOfOneThatCannotWork) {
  copy_scenes({"a", "b", "c"});
  const Outcome outcome = reconstruct({session().string(), "--threads", "2", "--device", "cuda:99"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("error: --device cuda:99: "));
  EXPECT_THAT(outcome.err, Not(HasSubstr("stopping, finished work is kept")));
}

TEST_F(SideBySide, ScenesAreNotBegunForADeviceThatIsNone) {
  copy_scenes({"a", "b", "c"});
  const Outcome outcome = reconstruct({session().string(), "--threads", "3", "--device", "cuda:99999999999"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, testing::StartsWith("error: --device is 'cuda:99999999999'"));
  EXPECT_FALSE(fs::exists(session() / "session.jsonl"));
}

}  // namespace
}  // namespace recon
