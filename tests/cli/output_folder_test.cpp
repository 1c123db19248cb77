// Whose the output folder is: files of others, several processes, parts of the work.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <memory>

#include "cli/held_lock.hpp"
#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Files = std::vector<std::pair<std::string, std::string>>;

class ReconstructOutputFolder : public SceneTest {
 protected:
  /// Runs and, with `planned`, plans, and expects an exit code and a message; all files of `untouched` stay
  /// as they are.
  void expect_refusal(int exit_code, const std::string& message, const fs::path& untouched,
                      const std::vector<std::string>& arguments, bool planned = true) const {
    const Files before = without_lock(files_below(untouched));
    std::vector<std::vector<std::string>> commands = {arguments};
    if (planned) commands.emplace_back(arguments).push_back("--dry-run");
    for (const auto& words : commands) {
      const Outcome outcome = reconstruct(words);
      EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err << words.back();
      EXPECT_THAT(outcome.err, HasSubstr(message)) << words.back();
      EXPECT_TRUE(same_results(before, without_lock(files_below(untouched))));
    }
  }

  /// The lock's file names the process that held it last.
  static Files without_lock(Files files) {
    std::erase_if(files, [](const auto& file) { return file.first.ends_with("status/lock"); });
    return files;
  }
};

TEST_F(ReconstructOutputFolder, OfAnotherProgramIsRefused) {
  fs::create_directories(dense() / "images");
  set_content(dense() / "fused.ply", "a cloud of the user");
  set_content(dense() / "images/view00.png", "an image of the user");
  expect_refusal(2, "did not write, such as images/view00.png, which has the name of a result; move it",
                 scene(), {scene().string()});
  set_content(dense() / "notes.txt", "notes of the user");
  for (const char* file : {"fused.ply", "images/view00.png"}) fs::remove(dense() / file);
  expect_refusal(2, "did not write, such as notes.txt; choose another folder with --output, or give --over",
                 scene(), {scene().string()});
}

TEST_F(ReconstructOutputFolder, OfAnotherProgramIsWrittenToIfAskedAndNothingIsReplaced) {
  fs::create_directories(dense() / "sparse");
  set_content(dense() / "fused.ply", "a cloud of the user");
  expect_refusal(2, "fused.ply: reconstruct did not write this file", dense(),
                 {scene().string(), "--overwrite"});
  fs::rename(dense() / "fused.ply", dense() / "mine.ply");
  set_content(dense() / "notes.txt", "notes of the user");
  set_content(dense() / "sparse/cameras.txt", "a model of the user");
  ASSERT_EQ(reconstruct({scene().string(), "--overwrite"}).exit_code, 0);
  EXPECT_EQ(content(dense() / "mine.ply"), "a cloud of the user");
  EXPECT_EQ(content(dense() / "notes.txt"), "notes of the user");
  EXPECT_EQ(content(dense() / "sparse/cameras.txt"), "a model of the user");
  const Outcome again = reconstruct({scene().string()});
  EXPECT_EQ(again.exit_code, 0) << "now it is one of ours: " << again.err;
}

TEST_F(ReconstructOutputFolder, OfAnotherProgramStaysItsOwnWhenARunThatWasAskedToWriteThereFails) {
  fs::create_directories(dense());
  set_content(dense() / "fused.ply", "a cloud of the user");
  EXPECT_EQ(reconstruct({scene().string(), "--stage", "fuse", "--overwrite"}).exit_code, 3);
  EXPECT_EQ(reconstruct({scene().string(), "--memory-limit", "16M", "--overwrite"}).exit_code, 4);
  expect_refusal(2, "holds files that reconstruct did not write", dense(), {scene().string()});
}

TEST_F(ReconstructOutputFolder, ThatIsAnotherSceneOrHoldsScenesIsRefused) {
  const fs::path other = folder() / "captures/other";
  copy_scene(other);
  expect_refusal(2, "holds files that reconstruct did not write", other,
                 {scene().string(), "-o", other.string()});
  expect_refusal(2, "holds files that reconstruct did not write", other,
                 {scene().string(), "-o", other.parent_path().string()});
  expect_refusal(2, "is the scene itself", other,
                 {scene().string(), other.string(), "--overwrite", "-o", other.parent_path().string()});
}

TEST_F(ReconstructOutputFolder, OfASceneIsRefusedToAPairAndTheOtherWayRound) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const std::string left = (scene() / "images/view00.png").string(),
                    right = (scene() / "images/view01.png").string();
  const auto pair = [&](const fs::path& output) {
    return std::vector<std::string>{left, right,      "-o", output.string(), "--max-disparity",
                                    "16", "--method", "bm", "--speckle",     "0"};
  };
  expect_refusal(2, "holds the results of a scene", dense(), pair(dense()));
  ASSERT_EQ(reconstruct(pair(folder() / "pair")).exit_code, 0);
  expect_refusal(2, "holds the results of a pair", folder() / "pair",
                 {scene().string(), "-o", (folder() / "pair").string()});
}

TEST_F(ReconstructOutputFolder, OfOtherPhotosIsRefused) {
  const fs::path other = folder() / "other";
  copy_scene(other);
  std::string images = content(other / "sparse/images.txt");
  for (int view = 0; view < 5; ++view) {
    const std::string name = "view0" + std::to_string(view) + ".png",
                      renamed = "photo" + std::to_string(view) + ".png";
    images.replace(images.find(name), name.size(), renamed);
    fs::rename(other / "images" / name, other / "images" / renamed);
  }
  set_content(other / "sparse/images.txt", images);
  const std::string output = (folder() / "out").string();
  ASSERT_EQ(reconstruct({scene().string(), "-o", output}).exit_code, 0);
  expect_refusal(2, "holds the results of other photos, such as view00.png", output,
                 {other.string(), "-o", output});
  EXPECT_EQ(reconstruct({other.string(), "-o", output, "--overwrite"}).exit_code, 0);
  const auto pair = [&](int left, int right) {
    const auto image = [&](int view) {
      return (scene() / "images/view0").string() + std::to_string(view) + ".png";
    };
    return std::vector<std::string>{image(left),       image(right), "-o",       (folder() / "pair").string(),
                                    "--max-disparity", "16",         "--method", "bm",
                                    "--speckle",       "0"};
  };
  ASSERT_EQ(reconstruct(pair(0, 1)).exit_code, 0);
  const auto refuse = [&](int left, int right) {
    const auto words = pair(left, right);
    expect_refusal(2,
                   "pair holds the results of " + pair(0, 1)[0] + " and " + pair(0, 1)[1] +
                       ", and the images of this run are " + words[0] + " and " + words[1] + "; choose",
                   folder() / "pair", words);
  };
  refuse(2, 3);
  refuse(1, 0);
  refuse(0, 2);
  // The same images at other places, and another content at the same place.
  fs::copy(scene(), folder() / "copy", fs::copy_options::recursive);
  std::vector<std::string> words = pair(0, 1);
  for (const std::size_t i : {0, 1}) words[i].replace(words[i].rfind("scene"), 5, "copy");
  EXPECT_EQ(reconstruct(words).exit_code, 0);
  fs::copy_file(words[0], words[1], fs::copy_options::overwrite_existing);
  EXPECT_NE(reconstruct(words).exit_code, 2);
  words = pair(2, 3);
  words.emplace_back("--overwrite");
  EXPECT_EQ(reconstruct(words).exit_code, 0);
}

TEST_F(ReconstructOutputFolder, OfFoldersThatCannotBeReadIsRefused) {
  fs::create_directories(dense() / "private");
  set_content(dense() / "private/notes.txt", "notes of the user");
  const std::vector<std::string> command_of_user = as_plain_user(command({scene().string()}));
  fs::permissions(dense() / "private", fs::perms::none);
  const Outcome outcome = run_program(folder(), command_of_user);
  fs::permissions(dense() / "private", fs::perms::owner_all);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("such as private"));
}

TEST_F(ReconstructOutputFolder, IsNotBlamedForALackOfOpenFiles) {
  std::string all;
  for (int limit = 4; limit <= 9; ++limit) {
    std::vector<std::string> words = command({scene().string(), "--threads", "1"});
    const std::string script = "ulimit -n " + std::to_string(limit) + " && exec \"$0\" \"$@\"";
    words.insert(words.begin(), {"/bin/sh", "-c", script});
    const Outcome outcome = run_program(folder(), words);
    if (outcome.exit_code == 127) continue;  // the program could not be loaded
    EXPECT_EQ(outcome.exit_code, 1) << limit << outcome.err;
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("Too many open files; raise the limit of open files (ulimit -n)"),
                      Not(HasSubstr("did not write"))))
        << limit;
    all += outcome.err;
  }
  EXPECT_THAT(all, HasSubstr("scene/dense: cannot be read: Too many open files"));
}

TEST_F(ReconstructOutputFolder, OfEmptyFoldersIsTaken) {
  fs::create_directories(dense() / "previews/old");
  EXPECT_EQ(reconstruct({scene().string()}).exit_code, 0);
}

TEST_F(ReconstructOutputFolder, OfARunThatWasKilledAtItsStartIsTaken) {
  fs::create_directories(dense() / "status");
  set_content(dense() / "status/lock", "process 1 on nowhere\n");
  set_content(dense() / "status/.reconstruct-1-0.tmp", "half a mark");
  EXPECT_EQ(reconstruct({scene().string()}).exit_code, 0);
  EXPECT_FALSE(fs::exists(dense() / "status/.reconstruct-1-0.tmp"));
}

TEST_F(ReconstructOutputFolder, KeepsNoTemporaryFileOfAKilledRun) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const fs::path leftover = dense() / "stereo/depth_maps/.reconstruct-4194303-7.tmp";
  set_content(leftover, "half a map");
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  EXPECT_FALSE(fs::exists(leftover));
}

TEST_F(ReconstructOutputFolder, ThatCannotBeMadeNamesTheOption) {
  const Outcome outcome = reconstruct({scene().string(), "-o", "/proc/no such folder/dense"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("choose another one with --output"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("status/")));
}

TEST_F(ReconstructOutputFolder, ThatCannotBeWrittenIsNamedByThePlan) {
  fs::create_directories(folder() / "locked");
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{}, {"--dry-run"}}) {
    std::vector<std::string> words = {scene().string(), "-o", (folder() / "locked/deep/dense").string()};
    words.insert(words.end(), more.begin(), more.end());
    const std::vector<std::string> command_of_user = as_plain_user(command(words));
    fs::permissions(folder() / "locked", fs::perms(0555));
    const Outcome outcome = run_program(folder(), command_of_user);
    fs::permissions(folder() / "locked", fs::perms::all);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("locked/deep/dense: the output folder cannot be written"),
                                   HasSubstr("Permission denied"), HasSubstr("--output")));
  }
}

TEST_F(ReconstructOutputFolder, WhoseMarkCannotBeWrittenIsOne) {
  fs::create_directories(dense() / "status/output.json");
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("a folder has this name; remove it"));
}

TEST_F(ReconstructOutputFolder, OfARunningProcessIsRefusedByNameOrWaitedFor) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto before = results(dense());
  auto other = std::make_unique<HeldLock>(dense(), LOCK_EX);
  expect_refusal(2, "another reconstruct (process ", dense(), {scene().string(), "--window", "7"}, false);
  Process waiting(folder(), command({scene().string(), "--window", "7", "--wait"}));
  while (content(folder() / "stderr.txt").find("waiting for another") == std::string::npos) {
    ASSERT_TRUE(waiting.running());
    usleep(2000);
  }
  EXPECT_TRUE(same_results(before, results(dense())));
  other.reset();
  const Outcome done = waiting.wait();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("--window 5 -> 7"));
}

TEST_F(ReconstructOutputFolder, WaitedForCanBeInterrupted) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const HeldLock other(dense(), LOCK_EX);
  Process waiting(folder(), command({scene().string(), "--wait"}));
  while (content(folder() / "stderr.txt").find("waiting for another") == std::string::npos) {
    ASSERT_TRUE(waiting.running());
    usleep(2000);
  }
  waiting.send(SIGINT);
  EXPECT_EQ(waiting.wait().exit_code, 130);
}

TEST_F(ReconstructOutputFolder, OfAnInterruptedSessionIsReportedAsFarAsItIsFinished) {
  const fs::path next = folder() / "next";
  copy_scene(next);
  ASSERT_EQ(reconstruct({next.string()}).exit_code, 0);
  const HeldLock other(next / "dense", LOCK_EX);
  Process session(folder(), command({scene().string(), next.string(), "--wait", "--json", "--threads", "1"}));
  while (content(folder() / "stderr.txt").find("waiting for another") == std::string::npos) {
    ASSERT_TRUE(session.running());
    usleep(2000);
  }
  session.send(SIGINT);
  const Outcome outcome = session.wait();
  EXPECT_EQ(outcome.exit_code, 130);
  const auto object = outcome.json();
  EXPECT_EQ(object.at("exit_code"), 130);
  EXPECT_THAT(object.at("error").get<std::string>(), HasSubstr("interrupted"));
  ASSERT_EQ(object.at("scenes").size(), 1u);
  EXPECT_GT(object.at("scenes").at(0).at("points"), 0);
}

TEST_F(ReconstructOutputFolder, IsSharedByShardsOfTheSameOptionsOnly) {
  const auto shard = [&](const char* part, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {scene().string(), "--stage", "estimate", "--shard", part};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return reconstruct(arguments);
  };
  ASSERT_EQ(shard("1/2", {}).exit_code, 0);
  const HeldLock other(dense(), LOCK_SH);  // under the options that are in the file
  const Outcome second = shard("2/2", {"--threads", "1", "-o", dense().string()});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("depth maps of 2 views")) << "of its own, not of all five";
  const Outcome changed = shard("2/2", {"--window", "7"});
  EXPECT_EQ(changed.exit_code, 2) << changed.err;
  EXPECT_THAT(changed.err, HasSubstr("with other options"));
  EXPECT_EQ(reconstruct({scene().string(), "--stage", "fuse"}).exit_code, 2) << "shards are at work";
}

}  // namespace
}  // namespace recon
