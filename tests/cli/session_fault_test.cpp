// Sessions beside files of others, other sessions and full disks, and inputs that cannot be read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "cli/held_lock.hpp"
#include "cli/scene_fixture.hpp"
#include "cli/small_disk.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ReconstructSessionFault : public SceneTest {
 protected:
  fs::path session() const { return folder() / "session"; }
  void copy_scenes(const std::vector<std::string>& names) const {
    for (const std::string& name : names) copy_scene(session() / name);
  }
  /// Little work.
  Outcome run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--max-image-size", "48", "--planes", "8"});
    return reconstruct(arguments);
  }
  static std::size_t lines_of(const fs::path& file) {
    const std::string text = content(file);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
};

TEST_F(ReconstructSessionFault, FilesOfTheUserAreNotOverwritten) {
  copy_scenes({"a", "b"});
  for (const char* name : {"index.html", "session.jsonl"}) {
    set_content(session() / name, "my own page");
    const Outcome refused = run({session().string(), "--json"});
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
    EXPECT_THAT(refused.err,
                HasSubstr((session() / name).string() + ": reconstruct did not write this file"));
    for (const char* option : {"--overwrite", "--dry-run"}) {
      const Outcome same = run({session().string(), option});
      EXPECT_EQ(same.exit_code, 2) << option;
      EXPECT_EQ(same.err, refused.err) << option;
    }
    EXPECT_EQ(refused.json().at("exit_code"), 2);
    EXPECT_EQ(content(session() / name), "my own page");
    EXPECT_FALSE(fs::exists(session() / "a/dense")) << "nothing was begun";
    fs::remove(session() / name);
  }
  fs::create_symlink(folder() / "page.html", session() / "index.html");
  EXPECT_EQ(run({session().string()}).exit_code, 2) << "a link of the user";
  EXPECT_FALSE(fs::exists(folder() / "page.html"));
  fs::remove(session() / "index.html");
  EXPECT_EQ(run({session().string()}).exit_code, 0);
  EXPECT_THAT(content(session() / "index.html"), HasSubstr("a/dense/report.html"));
  const Outcome again = run({session().string()});
  EXPECT_EQ(again.exit_code, 0) << "its own files are replaced: " << again.err;
  EXPECT_EQ(lines_of(session() / "session.jsonl"), 2u);
}

TEST_F(ReconstructSessionFault, FilesThatSomebodyHasChangedAreKept) {
  copy_scenes({"a", "b"});
  ASSERT_EQ(run({session().string()}).exit_code, 0);
  const fs::path page = session() / "index.html", lines = session() / "session.jsonl";
  const std::string noted_page = "<!-- my note -->" + content(page) + "<!-- and another -->\n";
  const std::string noted_lines = "{\"note\": \"mine\"}\n" + content(lines);
  set_content(page, noted_page);
  EXPECT_THAT(run({session().string()}).err,
              HasSubstr(page.string() + " has been changed since it was written: it is kept as "
                                        "index.changed.html\n"));
  set_content(lines, content(lines) + noted_lines);
  EXPECT_THAT(run({session().string()}).err, HasSubstr("it is kept as session.changed.jsonl\n"));
  EXPECT_EQ(content(session() / "index.changed.html"), noted_page);
  EXPECT_THAT(content(session() / "session.changed.jsonl"), testing::EndsWith(noted_lines));
  EXPECT_EQ(lines_of(lines), 2u);
  EXPECT_THAT(run({session().string()}).err, testing::Not(HasSubstr("is kept as")));
  EXPECT_FALSE(fs::exists(session() / "index.changed-2.html"));
  set_content(page, content(page) + "a note");
  EXPECT_THAT(run({session().string(), "--stage", "estimate"}).err,
              HasSubstr("it is kept as index.changed-2.html\n"));
  fs::remove(page);
  EXPECT_THAT(run({session().string()}).err,
              HasSubstr(lines.string() + " may have been changed, as there is no record of how it was "
                                         "written: it is kept as session.changed-2.jsonl\n"));
  EXPECT_FALSE(fs::exists(session() / "index.changed-3.html"));
}

TEST_F(ReconstructSessionFault, ItsOwnFilesAreNoInputs) {
  copy_scenes({"a", "b"});
  ASSERT_EQ(run({session().string()}).exit_code, 0);
  const Outcome all = run({(session() / "*").string()});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr((session() / "a/dense").string()),
                             HasSubstr((session() / "b/dense").string())));
}

TEST_F(ReconstructSessionFault, TwoAtOnceTakeTurns) {
  copy_scenes({"a", "b"});
  const fs::path lock = session() / ".reconstruct-session";
  set_content(lock, "process 7 on host");
  const int held = open(lock.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
  const Outcome refused = run({session().string()});
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("another reconstruct (process 7 on host)"), HasSubstr("--wait")));
  EXPECT_FALSE(fs::exists(session() / "session.jsonl"));
  EXPECT_EQ(run({session().string(), "--dry-run"}).exit_code, 0) << "writes nothing";
  Process waiting(folder(), command({session().string(), "--wait", "--max-image-size", "48"}));
  while (waiting.running() && content(folder() / "stderr.txt").find("waiting for") == std::string::npos)
    usleep(5000);
  close(held);
  const Outcome outcome = waiting.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines_of(session() / "session.jsonl"), 2u);
  EXPECT_FALSE(fs::exists(lock)) << "is left behind";
}

TEST_F(ReconstructSessionFault, PartsOfTheEstimationWorkAtOnce) {
  copy_scenes({"a", "b"});
  const fs::path lock = session() / ".reconstruct-session";
  set_content(lock, "process 7 on host\nestimate");
  const int held = open(lock.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_SH | LOCK_NB), 0);
  const Outcome part = run({session().string(), "--stage", "estimate", "--views", "view0[0-2]*"});
  EXPECT_EQ(part.exit_code, 0) << part.err;
  EXPECT_EQ(run({session().string()}).exit_code, 2) << "all of the work is for one process";
  EXPECT_TRUE(fs::exists(lock)) << "another process holds it";
  close(held);
  EXPECT_EQ(run({session().string(), "--stage", "estimate"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(lock)) << "is left behind";
}

TEST_F(ReconstructSessionFault, ThatIsInterruptedKeepsTheLinesOfScenesThatItHasNotReached) {
  copy_scenes({"a", "b", "c"});
  ASSERT_EQ(run({session().string()}).exit_code, 0);
  const fs::path file = session() / "session.jsonl";
  std::string first = content(file);
  set_content(file, first + "{\"scene\": 5, \"status\": [], \"exit_code\": \"no\"}\nno line\n[]\n");
  {
    const HeldLock lock(session() / "b/dense", LOCK_EX);
    Process process(folder(), command({session().string(), "--wait", "--max-image-size", "64", "--planes",
                                       "8", "--threads", "1", "--overwrite"}));
    while (process.running() && content(folder() / "stderr.txt").find("waiting for") == std::string::npos)
      usleep(5000);
    process.send(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 130);
    EXPECT_THAT(outcome.err, HasSubstr("goes on from there; 1 of 3 scenes are done\n"));
    EXPECT_TRUE(fs::exists(session() / "c/dense/status/overwrite")) << "it is made again by the next run";
  }
  const std::string second = content(file);
  EXPECT_EQ(lines_of(file), 3u) << second;
  EXPECT_EQ(second.substr(second.find('\n')), first.substr(first.find('\n'))) << "b and c";
  EXPECT_NE(second, first) << "a is of this run";
  for (const char* scene : {"a", "b", "c"})
    EXPECT_THAT(content(session() / "index.html"), HasSubstr(std::string(scene) + "/dense/report.html"));
  fs::remove_all(session() / "c");
  ASSERT_EQ(run({session().string()}).exit_code, 0);
  EXPECT_EQ(lines_of(file), 2u) << "c is no scene of the session";
}

TEST_F(ReconstructSessionFault, OverwriteDoesTheOthersWhereOneOutputFolderIsBad) {
  copy_scenes({"a", "b"});
  ASSERT_EQ(run({session().string()}).exit_code, 0);
  const fs::path mark = session() / "b/dense/status/output.json";
  fs::remove(mark);
  fs::create_symlink("nowhere", mark);
  const Outcome outcome = run({session().string(), "--overwrite"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_TRUE(fs::exists(session() / "a/dense/report.json"));
  EXPECT_FALSE(fs::exists(session() / "a/dense/status/overwrite"));
}

TEST_F(ReconstructSessionFault, OneSceneIsASessionAsTwoAre) {
  copy_scenes({"a"});
  const fs::path out = folder() / "out";
  ASSERT_EQ(run({session().string(), "-o", out.string()}).exit_code, 0);
  EXPECT_TRUE(fs::exists(out / "a/fused.ply"));
  EXPECT_EQ(lines_of(out / "session.jsonl"), 1u);
  EXPECT_THAT(content(out / "index.html"), HasSubstr("a/report.html"));
  const auto first = results(out / "a");
  copy_scenes({"b"});
  ASSERT_EQ(run({session().string(), "-o", out.string()}).exit_code, 0);
  EXPECT_TRUE(same_results(first, results(out / "a")));
  EXPECT_EQ(lines_of(out / "session.jsonl"), 2u);
  const fs::path alone = folder() / "alone";
  ASSERT_EQ(run({(session() / "a").string(), "-o", alone.string()}).exit_code, 0);
  EXPECT_TRUE(fs::exists(alone / "fused.ply")) << "a scene that is named itself is none";
  EXPECT_FALSE(fs::exists(alone / "session.jsonl"));
}

TEST_F(ReconstructSessionFault, ThatCannotWriteItsFilesFails) {
  const fs::path disk = folder() / "disk";
  fs::create_directories(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0)
    GTEST_SKIP() << "no tmpfs can be mounted: " << std::strerror(errno);
  copy_scenes({"a", "b"});
  for (const char* scene : {"a", "b"}) fs::create_directory_symlink(session() / scene, disk / scene);
  // Space for the lock and nothing else.
  set_content(disk / "filler", std::string(std::size_t{1} << 20, 'x'));
  fs::resize_file(disk / "filler", fs::file_size(disk / "filler") / 4096 * 4096 - 4096);
  const Outcome outcome = run({disk.string(), "--json"});
  umount(disk.c_str());
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("the session's files are not written"), HasSubstr("disk is full")));
  EXPECT_EQ(outcome.json().at("exit_code"), 1);
  EXPECT_THAT(outcome.json().at("error").get<std::string>(), HasSubstr("disk is full"));
  EXPECT_EQ(outcome.json().at("scenes").size(), 2u);
  EXPECT_TRUE(fs::exists(session() / "b/dense/fused.ply")) << "the scenes are done nevertheless";
}

TEST_F(ReconstructSessionFault, TwoImagesThatAreNoPairAreNamed) {
  copy_scenes({"a"});
  fs::create_directories(session() / "b");
  for (const char* name : {"left.png", "right.png", "notes.txt"}) set_content(session() / "b" / name, "");
  const Outcome outcome = run({session().string(), "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr((session() / "b").string() + " holds photos and no cameras"),
                                 HasSubstr("of a rectified pair give both images")));
  set_content(session() / "b/third.png", "");
  EXPECT_THAT(run({session().string(), "--dry-run"}).err, Not(HasSubstr("rectified pair")));
}

TEST_F(ReconstructSessionFault, ADiskTooSmallForAllScenesIsFoundBeforeTheFirst) {
  copy_scenes({"a", "b", "c"});
  const nlohmann::json plan =
      run({(session() / "a").string(), "--dry-run", "--json"}).json().at("scenes").at(0);
  const auto bytes = plan.at("memory").at("output").get<std::size_t>();
  const SmallDisk disk(folder() / "disk", "size=" + std::to_string(bytes * 5 / 2));  // for two, not for three
  if (!disk.mounted()) GTEST_SKIP() << "no tmpfs can be mounted: " << std::strerror(errno);
  const fs::path out = folder() / "disk/out";
  const std::vector<std::string> all = {session().string(), "-o", out.string()},
                                 dry = {session().string(), "-o", out.string(), "--dry-run"};
  for (const std::vector<std::string>& words : {all, dry}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr((out / "a").string() + ": up to "),
                      HasSubstr(" are still to be written by 3 inputs, and only "), HasSubstr(" are free")));
    EXPECT_FALSE(fs::exists(out / "a"));
  }
  // Each disk is asked for its own.
  fs::create_directories(folder() / "elsewhere");
  fs::create_directories(out);
  fs::create_directory_symlink(folder() / "elsewhere", out / "a");
  const Outcome rest = run(all);
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(fs::exists(out / name / "fused.ply")) << name;
  // What is finished is not counted, but what is still to be made.
  std::ofstream(folder() / "disk/filler") << std::string(bytes, 'x');
  EXPECT_THAT(run(dry).err, Not(HasSubstr(" inputs, and only ")));
  std::ofstream(folder() / "disk/filler") << std::string(bytes * 5 / 2, 'x');
  std::vector<std::string> exporting = dry;
  exporting.insert(exporting.end(), {"--export-priors", "npy"});
  EXPECT_THAT(run(exporting).err, HasSubstr(" inputs, and only "));
}

TEST_F(ReconstructSessionFault, WhoseFolderCannotBeTakenDoesItsScenes) {
  copy_scenes({"a", "b"});
  fs::create_directories(session() / ".reconstruct-session");  // no file can be opened there
  const Outcome outcome = run({session().string()});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the session's files are not written"));
  EXPECT_TRUE(fs::exists(session() / "a/dense/fused.ply"));
  EXPECT_TRUE(fs::exists(session() / "b/dense/fused.ply"));
  EXPECT_FALSE(fs::exists(session() / "session.jsonl"));
}

TEST_F(ReconstructSessionFault, SaysWhatCannotBeUsedFirstAndEachSceneAsItBegins) {
  copy_scenes({"a", "c", "d"});
  fs::create_symlink("z-loop", session() / "z-loop");
  set_content(session() / "d/sparse/cameras.txt", "1 PINHOLE 96 72 broken\n");
  for (const char* threads : {"1", "2"}) {
    const Outcome outcome = run({session().string(), "--threads", threads});
    EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
    const std::size_t fault = outcome.err.find("error: " + (session() / "z-loop").string() + ": ");
    const std::size_t a = outcome.err.find((session() / "a").string() + ": scene 1 of 4");
    const std::size_t c = outcome.err.find((session() / "c").string() + ": scene 2 of 4");
    const std::size_t broken =
        outcome.err.find("error: " + (session() / "d/sparse/cameras.txt").string() + ":1");
    for (const std::size_t early : {fault, broken})
      for (const std::size_t begins : {a, c}) EXPECT_LT(early, begins) << outcome.err;
    EXPECT_NE(a, std::string::npos);
    EXPECT_NE(c, std::string::npos);
    EXPECT_EQ(outcome.err.find("z-loop", fault + 200), std::string::npos) << "once";
    const std::string lines = content(session() / "session.jsonl");
    EXPECT_LT(lines.find("/a\""), lines.find("/z-loop\"")) << "in the order of the inputs";
  }
}

TEST_F(ReconstructSessionFault, AFolderThatCannotBeEnteredIsNamedAndTheOthersAreDone) {
  copy_scenes({"a", "b"});
  fs::create_directories(session() / "notes");
  std::vector<std::string> words = as_plain_user(command({session().string(), "--max-image-size", "48"}));
  for (const char* locked : {"b", "notes"}) ASSERT_EQ(chmod((session() / locked).c_str(), 0000), 0);
  const Outcome outcome = run_program(folder(), words);
  for (const char* locked : {"b", "notes"}) chmod((session() / locked).c_str(), 0777);
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  for (const char* locked : {"b", "notes"})
    EXPECT_THAT(outcome.err, HasSubstr("error: " + (session() / locked).string() + "/"));
  EXPECT_THAT(outcome.err, HasSubstr("cannot be looked up: Permission denied"));
  EXPECT_TRUE(fs::exists(session() / "a/dense/fused.ply"));
}

TEST_F(ReconstructSessionFault, MasksThatCannotBeEnteredAreNotTakenForNone) {
  fs::create_directories(scene() / "masks");
  const std::vector<std::string> words = as_plain_user(command({scene().string(), "--max-image-size", "48"}));
  ASSERT_EQ(chmod((scene() / "masks").c_str(), 0000), 0);
  const Outcome outcome = run_program(folder(), words);
  chmod((scene() / "masks").c_str(), 0777);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("masks/view00.png.png: cannot be looked up: Permission denied"));
  EXPECT_FALSE(fs::exists(dense() / "fused.ply"));
}

TEST_F(ReconstructSessionFault, InputsThatCannotBeLookedUpAreThreeAndTheOthersAreDone) {
  fs::create_symlink("loop", folder() / "loop");
  const std::string loop = (folder() / "loop").string(),
                    longest = (folder() / std::string(300, 'n')).string();
  for (const std::string& path : {loop, longest, (folder() / "loop/below").string()}) {
    const Outcome outcome = run({path});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("error: " + path + ": cannot be looked up: "));
  }
  const Outcome some = run({loop, scene().string(), longest, "-o", (folder() / "out").string()});
  EXPECT_EQ(some.exit_code, 7) << some.err;
  EXPECT_TRUE(fs::exists(folder() / "out/scene/fused.ply"));
  const Outcome output = run({scene().string(), "-o", (folder() / "loop/out").string()});
  EXPECT_EQ(output.exit_code, 1) << output.err;
  EXPECT_THAT(output.err, AllOf(HasSubstr("Too many levels of symbolic links"), HasSubstr("--output")));
}

TEST_F(ReconstructSessionFault, PipesAndDevicesAreNotWaitedFor) {
  fs::remove(scene() / "images/view03.png");
  ASSERT_EQ(mkfifo((scene() / "images/view03.png").c_str(), 0666), 0);
  fs::remove(scene() / "images/view01.png");
  fs::create_symlink("/dev/zero", scene() / "images/view01.png");
  const Outcome photos = run({scene().string(), "--min-fused-views", "2"});
  EXPECT_EQ(photos.exit_code, 7) << photos.err;
  EXPECT_THAT(photos.err, AllOf(HasSubstr("view03.png: is a pipe (FIFO); only regular files are read"),
                                HasSubstr("view01.png: is a character device")));
  EXPECT_LT(photos.peak_bytes, std::size_t{1} << 30);
  fs::remove(scene() / "sparse/points3D.txt");
  ASSERT_EQ(mkfifo((scene() / "sparse/points3D.txt").c_str(), 0666), 0);
  const Outcome points = run({scene().string()});
  EXPECT_EQ(points.exit_code, 3) << points.err;
  EXPECT_THAT(points.err, HasSubstr("points3D.txt: is a pipe"));
  const Outcome configuration = run({scene().string(), "--config", (scene() / "images/view03.png").string()});
  EXPECT_EQ(configuration.exit_code, 2) << configuration.err;
  EXPECT_THAT(configuration.err, HasSubstr("view03.png: is a pipe"));
}

TEST_F(ReconstructSessionFault, PhotosAndMasksOfAnotherSizeTakeNoMemory) {
  for (const char* file : {"images/view01.png", "masks/view03.png.png"}) {
    fs::create_directories((scene() / file).parent_path());
    set_content(scene() / file, "P6\n20000 12000\n255\n");
    fs::resize_file(scene() / file, 720000018);  // black pixels, which take no space on the disk
  }
  const Outcome outcome = run({scene().string(), "--memory-limit", "120M"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the photo has 20000x12000 pixels, its camera 96x72"),
                                 HasSubstr("the mask has 20000x12000 pixels, its photo 96x72")));
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(outcome.peak_bytes, std::size_t{120} << 20);
#endif
}

TEST_F(ReconstructSessionFault, NamesAreShownAndNotObeyed) {
  const fs::path evil = folder() / "ev\x1B[2Jil\nerror: x";
  fs::rename(scene(), evil);
  fs::remove(evil / "images/view02.png");
  for (const fs::path& path : {evil, fs::path(evil) += "-gone"}) {
    const Outcome outcome = run({path.string()});
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("ev\\x1B[2Jil\\x0Aerror: x"), Not(HasSubstr("\x1B"))));
    EXPECT_THAT(outcome.out, Not(HasSubstr("\x1B")));
  }
  EXPECT_THAT(content(evil / "dense/report.log"), Not(HasSubstr("\x1B")));
}

TEST_F(ReconstructSessionFault, MessagesNameTheScene) {
  Scene one = model();
  one.views.resize(1);
  one.points.clear();
  for (View& view : one.views) view.observations.clear();
  set_model(one);
  const Outcome outcome = run({scene().string()});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("error: " + scene().string() + ": too few views: 1 of 1"));
}

}  // namespace
}  // namespace recon
