// The lock of an output folder, and who may take it.

#include "session/resume/output_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "io/temporary_folder.hpp"
#include "session/resume/step_record.hpp"

namespace recon {
namespace {

OutputAccess access(bool wait, const std::string& shared_key) {
  return {OutputKind::kScene, false, wait, shared_key, {}, {}};
}

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class OutputFolder : public testing::Test {
 private:
  TemporaryFolder temporary_;

 protected:
  const fs::path folder_ = temporary_.path();
};

TEST_F(OutputFolder, IsLockedForOneProcess) {
  const OutputLock first(folder_, "", false);
  EXPECT_TRUE(first.exclusive());
  try {
    const OutputLock second(folder_, "", false);
    ADD_FAILURE() << "two processes have it";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(getpid())));
  }
  EXPECT_THROW(OutputLock(folder_, "key", false), UsageError);
}

TEST_F(OutputFolder, IsSharedByThoseWhoAgree) {
  {
    const OutputLock first(folder_, "key", false), second(folder_, "key", false);
    EXPECT_FALSE(first.exclusive());
    EXPECT_FALSE(second.exclusive());
    EXPECT_THROW(OutputLock(folder_, "another key", false), UsageError);
    EXPECT_THROW(OutputLock(folder_, "", false), UsageError);
  }
  EXPECT_TRUE(OutputLock(folder_, "", false).exclusive()) << "they are gone";
}

TEST_F(OutputFolder, ThatARunMadeAndDidNotUseIsGone) {
  const Workspace workspace(folder_ / "new/deep/dense");
  const auto take = [&] { return take_output(workspace, access(false, "")); };
  {
    const TakenOutput output = take();
    EXPECT_TRUE(fs::exists(workspace.path("status/lock")));
  }
  EXPECT_FALSE(fs::exists(folder_ / "new"));
  fs::create_directories(workspace.root());
  take();
  EXPECT_TRUE(fs::is_empty(workspace.root())) << "it was there before";
  {
    const TakenOutput output = take();
    mark_output(workspace, OutputKind::kScene);
  }
  EXPECT_TRUE(is_output(workspace.root()));
  take();
  EXPECT_TRUE(is_output(workspace.root()));
}

TEST_F(OutputFolder, ThatARunMadeAndAnotherWaitsForIsTheOthers) {
  const Workspace workspace(folder_ / "dense");
  auto first = std::make_unique<TakenOutput>(take_output(workspace, access(false, "")));
  std::thread other([&] {
    const TakenOutput second = take_output(workspace, access(true, ""));
    mark_output(workspace, OutputKind::kScene);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  first.reset();
  other.join();
  EXPECT_TRUE(is_output(workspace.root()));
}

TEST_F(OutputFolder, LosesItsLockFileWithTheLastThatSharesIt) {
  const fs::path file = folder_ / "status/lock";
  for (const char* key : {"", "key"}) {
    OutputLock(folder_, key, false).remove_file();
    EXPECT_FALSE(fs::exists(file)) << key;
  }
  auto first = std::make_unique<OutputLock>(folder_, "key", false);
  auto second = std::make_unique<OutputLock>(folder_, "key", false);
  first->remove_file();
  first.reset();
  EXPECT_TRUE(fs::exists(file)) << "the second one holds it";
  EXPECT_THROW(OutputLock(folder_, "", false), UsageError);
  second->remove_file();
  EXPECT_FALSE(fs::exists(file));
  EXPECT_TRUE(OutputLock(folder_, "", false).exclusive()) << "there is a new one";
}

std::size_t open_files() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), {}));
}

TEST_F(OutputFolder, LeavesNoFileOpenWhenItIsRefused) {
  const OutputLock lock(folder_, "", false);
  const std::size_t before = open_files();
  for (int i = 0; i < 5; ++i) EXPECT_THROW(OutputLock(folder_, "", false), UsageError);
  EXPECT_EQ(open_files(), before);
}

TEST_F(OutputFolder, IsLockedAgainAfterItWasRemoved) {
  const fs::path output = folder_ / "out";
  auto first = std::make_unique<OutputLock>(output, "", false);
  std::unique_ptr<OutputLock> second;
  std::jthread waiting([&] { second = std::make_unique<OutputLock>(output, "", true); });
  usleep(200000);
  fs::remove_all(output);
  first.reset();
  waiting.join();
  EXPECT_TRUE(second->waited());
  EXPECT_THROW(OutputLock(output, "", false), UsageError)
      << "the second one holds the lock that is there now";
}

TEST_F(OutputFolder, IsTakenByManyAtOnceWhenItIsNew) {
  for (int round = 0; round < 20; ++round) {
    const Workspace workspace(folder_ / std::to_string(round));
    std::atomic<int> taken = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        try {
          const TakenOutput output = take_output(workspace, access(false, "key"));
          mark_output(workspace, OutputKind::kScene);
          write_record(workspace.path("status/prepare/a.json"), {{}, {}, json::object()});
          ++taken;
        } catch (const UsageError& error) {
          ADD_FAILURE() << error.what();
        }
      });
    threads.clear();
    EXPECT_EQ(taken, 8);
  }
}

TEST_F(OutputFolder, IsSharedByManyAtOnce) {
  std::atomic<int> taken = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] {
      const OutputLock lock(folder_, "key", false);
      ++taken;
      usleep(1000);
    });
  threads.clear();
  EXPECT_EQ(taken, 16);
}

}  // namespace
}  // namespace recon
