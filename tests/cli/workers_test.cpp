// Sessions whose scenes are done at once, each in a process of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/held_lock.hpp"
#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReconstructJobs : public SceneTest {
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
};

/// The processes that `parent` has started.
std::set<pid_t> children_of(pid_t parent) {
  const std::string id = std::to_string(parent);
  std::istringstream text(content("/proc/" + id + "/task/" + id + "/children"));
  std::set<pid_t> children;
  for (pid_t child; text >> child;) children.insert(child);
  return children;
}

/// Waits until `condition` holds, but not forever.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (condition()) return true;
    usleep(10000);
  }
  return false;
}

TEST_F(ReconstructJobs, GiveTheResultsOfOneAfterTheOther) {
  copy_scenes({"a", "b", "c", "d"});
  set_content(session() / "b/sparse/cameras.txt", "broken\n");
  ASSERT_EQ(reconstruct({session().string()}).exit_code, 7);
  const auto expected = lines();
  ASSERT_EQ(expected.size(), 4u);
  std::vector<std::vector<std::pair<std::string, std::string>>> before;
  for (const char* name : {"a", "c", "d"}) {
    before.push_back(results(session() / name / "dense"));
    fs::remove_all(session() / name / "dense");
  }
  const Outcome outcome = reconstruct({session().string(), "--jobs", "3"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  for (const char* name : {"a", "c", "d"}) {
    EXPECT_TRUE(same_results(before.front(), results(session() / name / "dense"))) << name;
    before.erase(before.begin());
    EXPECT_THAT(outcome.out, HasSubstr((session() / name / "dense/fused.ply").string() + ": "));
  }
  EXPECT_THAT(outcome.err, HasSubstr("error: " + (session() / "b/sparse/cameras.txt").string() + ":1: "));
  EXPECT_THAT(outcome.err, HasSubstr("3 of 4 scenes, about "));
  const auto found = lines();
  ASSERT_EQ(found.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    for (const char* key : {"scene", "status", "exit_code"})
      EXPECT_EQ(found[i].at(key), expected[i].at(key)) << "in the order of the inputs";
  const nlohmann::json object = reconstruct({session().string(), "--jobs", "2", "--json"}).json();
  ASSERT_EQ(object.at("scenes").size(), 4u);
  EXPECT_EQ(object.at("exit_code"), 7);
  EXPECT_GT(object.at("scenes").at(3).at("points"), 100);
}

TEST_F(ReconstructJobs, ContinueWithoutAProcessThatIsKilled) {
  copy_scenes({"a", "b", "c"});
  const auto a = lock("a"), b = lock("b");
  Process process(folder(), command({session().string(), "--jobs", "2", "--wait"}));
  const auto messages = [&] { return content(folder() / "stderr.txt"); };
  ASSERT_TRUE(comes_true([&] {
    return messages().find("/a/dense: waiting for") != std::string::npos &&
           messages().find("/b/dense: waiting for") != std::string::npos;
  })) << messages();
  const std::set<pid_t> first = children_of(process.pid());
  ASSERT_EQ(first.size(), 2u);
  kill(*first.begin(), SIGKILL);
  ASSERT_TRUE(comes_true([&] { return fs::exists(session() / "c/dense/fused.ply"); }))
      << "another takes its place";
  kill(*first.rbegin(), SIGKILL);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  const auto found = lines();
  ASSERT_EQ(found.size(), 3u);
  for (const std::size_t lost : {0, 1})
    EXPECT_THAT(found[lost].at("error").get<std::string>(), HasSubstr("ended by signal 9"));
  EXPECT_EQ(found[2].at("status"), "done");
}

TEST_F(ReconstructJobs, EndTogetherWhenInterrupted) {
  copy_scenes({"a", "b", "c"});
  const auto b = lock("b");
  Process process(folder(), command({session().string(), "--jobs", "2", "--wait", "--json"}));
  ASSERT_TRUE(comes_true([&] {
    return content(folder() / "stderr.txt").find("waiting for another") != std::string::npos &&
           lines().size() == 2;
  }));
  const std::set<pid_t> workers = children_of(process.pid());
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("interrupted; what was finished is kept"));
  const std::size_t announced = outcome.err.find("stopping, finished work is kept");
  ASSERT_NE(announced, std::string::npos);
  EXPECT_EQ(outcome.err.find("stopping", announced + 1), std::string::npos) << "by each process";
  const nlohmann::json object = outcome.json();
  EXPECT_THAT(object.at("error").get<std::string>(), HasSubstr("interrupted"));
  EXPECT_EQ(object.at("scenes").size(), 2u) << "a and c are finished";
  for (const pid_t worker : workers) EXPECT_NE(kill(worker, 0), 0) << "a process is left";
}

TEST_F(ReconstructJobs, EndWithTheirParent) {
  copy_scenes({"a", "b"});
  const auto a = lock("a"), b = lock("b");
  Process process(folder(), command({session().string(), "--jobs", "2", "--wait"}));
  ASSERT_TRUE(comes_true(
      [&] { return content(folder() / "stderr.txt").find("/b/dense: waiting for") != std::string::npos; }));
  const std::set<pid_t> workers = children_of(process.pid());
  ASSERT_EQ(workers.size(), 2u);
  process.send(SIGKILL);
  process.wait();
  const auto is_running = [](pid_t worker) {
    const std::string status = content("/proc/" + std::to_string(worker) + "/stat");
    return !status.empty() && status.find(") Z ") == std::string::npos;
  };
  for (const pid_t worker : workers) EXPECT_TRUE(comes_true([&] { return !is_running(worker); }));
}

TEST_F(ReconstructJobs, EndWithTheReasonOfOneThatCannotWork) {
  copy_scenes({"a", "b", "c"});
  const Outcome outcome = reconstruct({session().string(), "--jobs", "2", "--device", "cuda:99"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("error: --device cuda:99: "));
  EXPECT_THAT(outcome.err, Not(HasSubstr("stopping, finished work is kept")));
}

TEST_F(ReconstructJobs, AreNotBegunForADeviceThatIsNone) {
  copy_scenes({"a", "b", "c"});
  const Outcome outcome = reconstruct({session().string(), "--jobs", "3", "--device", "cuda:99999999999"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, testing::StartsWith("error: --device is 'cuda:99999999999'"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("stopping")));
  EXPECT_FALSE(fs::exists(session() / "session.jsonl"));
}

TEST_F(ReconstructJobs, MustBeAtLeastOne) {
  const Outcome outcome = reconstruct({scene().string(), "--jobs", "0"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--jobs"));
}

}  // namespace
}  // namespace recon
