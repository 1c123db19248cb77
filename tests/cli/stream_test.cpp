// Standard streams, limits of the shell, and what `--json` prints of a run that fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/scene_fixture.hpp"
#include "core/version.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ReconstructStream : public SceneTest {
 protected:
  /// A command by way of a shell, which first does what `script` says; "$@" is the command in it.
  static std::vector<std::string> by_shell(const std::string& script,
                                           const std::vector<std::string>& command) {
    std::vector<std::string> words = {"/bin/sh", "-c", script, "sh"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  Outcome run_by_shell(const std::string& script, const std::vector<std::string>& command) const {
    return run_program(folder(), by_shell(script, command));
  }

  /// The command of a run that takes some seconds.
  std::vector<std::string> slow(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {scene().string(), "--planes", "2500", "--threads", "1"});
    return command(arguments);
  }
  /// Waits until the first view is finished; whether that came to be.
  bool has_begun(Process& process) const {
    while (!fs::exists(dense() / "status/estimate/view00.png.json")) {
      if (!process.running()) return false;
      usleep(2000);
    }
    return true;
  }

  /// The object that `--json` prints of a failure.
  void expect_failure(int exit_code, const std::string& message, std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    const Outcome outcome = reconstruct(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    const auto object = outcome.json();
    EXPECT_EQ(object.at("exit_code"), exit_code);
    EXPECT_THAT(object.at("scenes"), IsEmpty());
    EXPECT_THAT(object.at("error").get<std::string>(), HasSubstr(message));
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
};

TEST_F(ReconstructStream, ClosedStreamsGetNoFile) {
  Process process(folder(), by_shell("exec \"$@\" <&- >&- 2>&-", slow()));
  ASSERT_TRUE(has_begun(process));
  for (const char* descriptor : {"0", "1", "2"}) {
    const fs::path link = fs::path("/proc") / std::to_string(process.pid()) / "fd" / descriptor;
    std::error_code error;
    EXPECT_EQ(fs::read_symlink(link, error), "/dev/null") << link << " " << error.message();
  }
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
  for (const auto& [name, bytes] : files_below(dense()))
    EXPECT_THAT(bytes, Not(HasSubstr("finished work is kept"))) << name;
}

TEST_F(ReconstructStream, EveryProgramSaysItsVersion) {
  for (const char* program : {RECON_RECONSTRUCT, RECON_RENDER, RECON_EVALUATE}) {
    const Outcome outcome = run_by_shell("exec \"$@\"", {program, "--version"});
    EXPECT_EQ(outcome.exit_code, 0) << program;
    EXPECT_THAT(outcome.out, HasSubstr(std::string(" ") + version() + " (")) << program;
  }
}

/// The image formats load 130 libraries, which takes longer than all else at a start.
TEST_F(ReconstructStream, ImageFormatsAreLoadedForTheFirstPhotoOnly) {
  const auto loaded = [&](const std::vector<std::string>& command) {
    const Outcome outcome = run_by_shell("LD_DEBUG=files exec \"$@\"", command);
    EXPECT_EQ(outcome.exit_code, 0) << command[0];
    EXPECT_THAT(outcome.err, HasSubstr("calling init: ")) << command[0];
    return outcome.err;
  };
  for (const char* program : {RECON_RECONSTRUCT, RECON_RENDER, RECON_EVALUATE})
    EXPECT_THAT(loaded({program, "--version"}), Not(HasSubstr("imgcodecs"))) << program;
  EXPECT_THAT(loaded(command({scene().string(), "--dry-run"})), Not(HasSubstr("imgcodecs")));
  EXPECT_THAT(loaded(command({scene().string(), "--quality", "draft"})), HasSubstr("imgcodecs"));
}

/// The command of a copy of the program in `bin`, without its image formats.
std::vector<std::string> copied_program(const fs::path& bin, std::vector<std::string> words) {
  fs::create_directories(bin);
  fs::copy_file(RECON_RECONSTRUCT, bin / "reconstruct");
  words.front() = (bin / "reconstruct").string();
  return words;
}

TEST_F(ReconstructStream, AProgramWithoutItsImageFormatsSaysWhereTheyBelong) {
  const fs::path bin = folder() / "bin", program = bin / "reconstruct",
                 module = fs::path(RECON_CODECS).filename();
  std::vector<std::string> words = copied_program(bin, command({scene().string(), "--quality", "draft"}));
  const Outcome outcome = run_program(folder(), words);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(module.string()), HasSubstr("it belongs into " + bin.string())));
  // A module in another folder is not loaded, though the system would find it.
  const fs::path elsewhere = folder() / "elsewhere";
  fs::create_directories(elsewhere);
  fs::copy_file(RECON_CODECS, elsewhere / module);
  std::vector<std::string> with_path = words;
  with_path.insert(with_path.begin(), {"/usr/bin/env", "LD_LIBRARY_PATH=" + elsewhere.string()});
  EXPECT_EQ(run_program(folder(), with_path).exit_code, 1);
  // Beside the file that a link leads to.
  fs::copy_file(RECON_CODECS, bin / module);
  fs::create_symlink(program, folder() / "link");
  words.front() = (folder() / "link").string();
  EXPECT_EQ(run_program(folder(), words).exit_code, 0);
}

TEST_F(ReconstructStream, ImageFormatsThatLackAFunctionOfOpenCvAreAnErrorWithAMessage) {
  const fs::path bin = folder() / "bin";
  const auto words = copied_program(bin, command({scene().string(), "--quality", "draft"}));
  std::string module = content(RECON_CODECS);
  const std::string function = "_ZN2cv8imdecode", missing = "_ZN2cv8imdecodX";
  const std::size_t at = module.find(function);
  ASSERT_NE(at, std::string::npos);
  set_content(bin / fs::path(RECON_CODECS).filename(), module.replace(at, function.size(), missing));
  const Outcome outcome = run_program(folder(), words);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("reads and writes images, cannot be loaded: "),
                                 HasSubstr("undefined symbol: " + missing)));
}

TEST_F(ReconstructStream, ImageFormatsThatMayNotRunAreNoLackOfMemory) {
  const fs::path bin = folder() / "bin", disk = folder() / "disk", module = fs::path(RECON_CODECS).filename();
  const auto words = copied_program(bin, command({scene().string(), "--quality", "draft"}));
  fs::create_directories(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", MS_NOEXEC, nullptr) != 0)
    GTEST_SKIP() << "no tmpfs can be mounted: " << std::strerror(errno);
  fs::copy_file(RECON_CODECS, disk / module);
  fs::create_symlink(disk / module, bin / module);
  const Outcome outcome = run_program(folder(), words);
  umount(disk.c_str());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr((bin / module).string()), HasSubstr("(mounted with noexec)")));
}

TEST_F(ReconstructStream, ALostOutputIsOne) {
  const std::string s = scene().string();
  for (const std::vector<std::string>& command : {command({"--help"}),
                                                  command({"--version"}),
                                                  command({s, "--dry-run"}),
                                                  command({s, "--json"}),
                                                  command({s}),
                                                  {RECON_RENDER, "--list"},
                                                  {RECON_RENDER, "--help"},
                                                  {RECON_EVALUATE, "--version"}}) {
    const Outcome outcome = run_by_shell("exec \"$@\" >/dev/full", command);
    EXPECT_EQ(outcome.exit_code, 1) << command[0] << " " << command.back();
    EXPECT_THAT(outcome.err, HasSubstr("standard output cannot be written")) << command.back();
  }
  EXPECT_TRUE(fs::exists(dense() / "fused.ply")) << "the results are there";
}

/// Of what is not help.
TEST_F(ReconstructStream, AClosedPipeIsOneToo) {
  // The pipe's reader has ended before the program begins.
  const Outcome outcome = run_program(
      folder(), {"/bin/bash", "-c", "exec 3> >(true); wait $!; \"$0\" \"$1\" --dry-run >&3; echo $?",
                 RECON_RECONSTRUCT, scene().string()});
  EXPECT_EQ(outcome.out, "1\n");
  EXPECT_THAT(outcome.err, HasSubstr("standard output cannot be written"));
}

TEST_F(ReconstructStream, TheFileSizeLimitIsNamed) {
  const Outcome outcome = run_by_shell("ulimit -f 40; exec \"$@\"", command({scene().string()}));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("cannot be written"), HasSubstr("ulimit -f")));
}

TEST_F(ReconstructStream, LittleAddressSpaceIsFour) {
  const std::vector<std::string> arguments = {scene().string(), "--threads", "2"};
  ASSERT_EQ(reconstruct(arguments).exit_code, 0);
  const auto whole = results(dense());
  int fours = 0, done = 0;
  bool begins = false;
  for (int mib = 120; mib <= 1200 && done < 2; mib += 12) {
    fs::remove_all(dense());
    const std::string limit = "ulimit -c 0; ulimit -v " + std::to_string(mib * 1024) + "; exec \"$@\"";
    // Too little for the libraries: the program has not begun.
    if (!begins && run_by_shell(limit, command({"--version"})).exit_code != 0) continue;
    begins = true;
    const Outcome outcome = run_by_shell(limit, command(arguments));
    ASSERT_THAT(outcome.exit_code, AnyOf(0, 4)) << mib << " MiB: " << outcome.err;
    if (outcome.exit_code == 4) {
      ++fours;
      EXPECT_THAT(outcome.err, AllOf(HasSubstr("error: "), AnyOf(HasSubstr("memory"), HasSubstr("thread"))));
    } else {
      ++done;
      EXPECT_TRUE(same_results(results(dense()), whole)) << mib << " MiB";
    }
  }
  EXPECT_GT(fours, 0);
  EXPECT_GT(done, 0);
}

TEST_F(ReconstructStream, FewProcessesAreFour) {
  for (const char* threads : {"2", "1"}) {
    int fours = 0, done = 0;
    const std::vector<std::string> plain = as_plain_user(command({scene().string(), "--threads", threads}));
    for (int limit = 1; limit <= 12 && done < 2; ++limit) {
      fs::remove_all(dense());
      std::vector<std::string> words = plain;
      const auto program = std::find(words.begin(), words.end(), plain_program().string());
      words.insert(program, {"/usr/bin/prlimit", "--core=0", "--nproc=" + std::to_string(limit)});
      const Outcome outcome = run_program(folder(), words);
      ASSERT_THAT(outcome.exit_code, AnyOf(0, 4)) << threads << ", " << limit << ": " << outcome.err;
      if (outcome.exit_code == 0) {
        ++done;
        continue;
      }
      ++fours;
      EXPECT_THAT(outcome.err, AllOf(HasSubstr("thread"), HasSubstr("--threads"), HasSubstr("ulimit -u")));
    }
    EXPECT_GT(fours, 0);
  }
}

TEST_F(ReconstructStream, OpensAsManyFilesAsItMay) {
  std::vector<std::string> words = command({scene().string()});
  words.insert(words.begin(), {"/usr/bin/prlimit", "--nofile=12:4096"});
  const Outcome outcome = run_program(folder(), words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(ReconstructStream, JsonOfAFailureIsOneObject) {
  const std::string s = scene().string();
  expect_failure(2, "--window is 8", {s, "--window", "8"});
  expect_failure(2, "--window is 17", {s, "--window", "17"});
  expect_failure(2, "--min-confidence has an empty value", {s, "--min-confidence", ""});
  expect_failure(2, "--windw", {s, "--windw", "7"});
  expect_failure(2, "no input given", {});
  expect_failure(5, "--device cuda:63", {s, "--device", "cuda:63"});
}

TEST_F(ReconstructStream, JsonOfAnInputThatFailsIsOneObject) {
  const Outcome outcome = reconstruct({scene().string(), "--json", "--memory-limit", "16M"});
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_EQ(outcome.json().at("exit_code"), 4);
  EXPECT_EQ(outcome.json().at("scenes").size(), 1u);
  const Outcome missing = reconstruct({(folder() / "nowhere").string(), "--json"});
  EXPECT_EQ(missing.exit_code, 3) << missing.err;
  EXPECT_EQ(missing.json().at("exit_code"), 3);
  EXPECT_THAT(missing.json().at("scenes").at(0).at("error").get<std::string>(),
              HasSubstr("there is no such file or folder"));
}

TEST_F(ReconstructStream, JsonOfAnInterruptedRunIsOneObject) {
  Process process(folder(), slow({"--json"}));
  ASSERT_TRUE(has_begun(process));
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(outcome.json().at("exit_code"), 130);
  EXPECT_THAT(outcome.json().at("error").get<std::string>(), HasSubstr("interrupted"));
}

TEST_F(ReconstructStream, ManyThreadsAreLoweredToTheProcessors) {
  const Outcome outcome = reconstruct({scene().string(), "--threads", "4096"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("--threads is 4096; "));
}

TEST_F(ReconstructStream, EmptyValuesAreTwo) {
  // Arguments.EmptyValuesAreRefused has the other options.
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {scene().string(), "--min-confidence", ""}, {scene().string(), "--min-confidence="}}) {
    const Outcome outcome = reconstruct(words);
    EXPECT_EQ(outcome.exit_code, 2) << words[1];
    EXPECT_THAT(outcome.err, HasSubstr("--min-confidence has an empty value"));
  }
  EXPECT_EQ(reconstruct({""}).exit_code, 2);
  EXPECT_EQ(run_program(folder(), {RECON_EVALUATE, "--threads", ""}).exit_code, 2);
  EXPECT_EQ(run_program(folder(), {RECON_RENDER, "--width="}).exit_code, 2);
  EXPECT_FALSE(fs::exists(dense()));
}

TEST_F(ReconstructStream, FaultsOfTheConfigurationHaveFileAndLine) {
  const std::string file = (folder() / "bad.toml").string();
  const auto error_of = [&](const std::string& text) {
    set_content(file, text);
    const Outcome outcome = reconstruct({scene().string(), "--config", file});
    EXPECT_EQ(outcome.exit_code, 2) << text;
    return outcome.err;
  };
  EXPECT_EQ(error_of("sources=3\nwindow=8\n"), "error: " + file + ":2: --window is 8; it must be odd\n");
  EXPECT_THAT(error_of("max-angle=inf\n"),
              HasSubstr(file + ":1: --max-angle is inf; it must lie between 0 and 180"));
  EXPECT_THAT(error_of("min-confidence=\n"), HasSubstr(file + ":1: "));
  EXPECT_THAT(error_of("windwo=5\n"), HasSubstr(file + ":1: there is no option 'windwo'"));
}

TEST_F(ReconstructStream, NumbersOfARunsOwnConfigurationAreTheSame) {
  const std::vector<std::string> arguments = {
      scene().string(),    "--aggregation", "aw",          "--aw-colour", "12.3456789",    "--window",  "5",
      "--max-depth-error", "0.0123456789",  "--depth-min", "1.23456789",  "--min-texture", "1.23456789"};
  ASSERT_EQ(reconstruct(arguments).exit_code, 0);
  const Outcome again = reconstruct({scene().string(), "--config", (dense() / "options.toml").string()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("depth maps: 5 of 5 views are finished and kept"));
  EXPECT_THAT(again.err, HasSubstr("check across views: 5 of 5 views are finished and kept"));
}

}  // namespace
}  // namespace recon
