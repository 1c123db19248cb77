#include "io/file/output_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

int entries(const fs::path& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  spill(folder / "out", "old");
  {
    AtomicFile file(folder / "out");
    file.write("new");
    EXPECT_EQ(slurp(folder / "out"), "old");
    file.commit();
  }
  EXPECT_EQ(slurp(folder / "out"), "new");
  EXPECT_EQ(entries(folder.path()), 1);
}

TEST(WriteFileIfChanged, LeavesTheFileThatHasTheBytes) {
  const TemporaryFolder folder;
  const fs::path path = folder / "out";
  const fs::file_time_type past = fs::file_time_type::clock::now() - std::chrono::hours(1);
  write_file_if_changed(path, "one");
  fs::last_write_time(path, past);
  write_file_if_changed(path, "one");
  EXPECT_EQ(fs::last_write_time(path), past);
  write_file_if_changed(path, "two");
  EXPECT_EQ(slurp(path), "two");
  EXPECT_NE(fs::last_write_time(path), past);
}

TEST(AtomicFile, StaysAsItIsWithTheSameContent) {
  const TemporaryFolder folder;
  const std::string one(100000, 'a'), same_size(100000, 'b');
  const auto put = [&](const std::string& bytes) {
    AtomicFile file(folder / "out");
    file.write(bytes);
    return file.commit_if_changed();
  };
  // Another name of the file that was there: a file that is replaced has no such.
  const auto names = [&] { return fs::hard_link_count(folder / "out"); };
  const FileIdentity first = put(one);
  EXPECT_EQ(first.hash, content_hash(one));
  fs::create_hard_link(folder / "out", folder / "first");
  EXPECT_EQ(put(one), first);
  EXPECT_EQ(names(), 2u);
  EXPECT_EQ(put(same_size).hash, content_hash(same_size));
  EXPECT_EQ(names(), 1u);
  EXPECT_EQ(slurp(folder / "out"), same_size);
  EXPECT_EQ(slurp(folder / "first"), one);
  EXPECT_EQ(entries(folder.path()), 2);
}

TEST(AtomicFile, HasPiecesOfAnySizeInTheirOrder) {
  const TemporaryFolder folder;
  std::mt19937 random(23);
  std::vector<std::string> pieces;
  std::string all;
  for (int i = 0; i < 400; ++i) {
    const std::size_t size = i % 3 == 0 ? random() % 100000 : random() % 100;
    pieces.emplace_back(size, static_cast<char>('a' + i % 26));
    all += pieces.back();
  }
  AtomicFile file(folder / "out"), halves(folder / "halves");
  for (const std::string& piece : pieces) file.write(piece);
  std::jthread hashing([&] {
    for (const std::string& piece : pieces) halves.hash(piece);
  });
  for (const std::string& piece : pieces) halves.append(piece);
  hashing.join();
  EXPECT_EQ(file.commit(), (FileIdentity{all.size(), content_hash(all)}));
  EXPECT_EQ(halves.commit(), (FileIdentity{all.size(), content_hash(all)}));
  EXPECT_EQ(slurp(folder / "out"), all);
  EXPECT_EQ(slurp(folder / "halves"), all);
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "out");
    file.write(std::string(3 << 20, 'x'));
    EXPECT_EQ(entries(folder.path()), 1);
  }
  EXPECT_EQ(entries(folder.path()), 0);
}

TEST(AtomicFile, WritesMoreThanItsBufferAndPatches) {
  const TemporaryFolder folder;
  std::string expected;
  AtomicFile file(folder / "deep/er/out");
  for (int i = 0; i < 3000; ++i) {
    const std::string part(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
    file.write(part);
    expected += part;
  }
  file.replace_beginning("PATCH");
  expected.replace(0, 5, "PATCH");
  file.write("end");
  const FileIdentity identity = file.commit();
  EXPECT_EQ(slurp(folder / "deep/er/out"), expected + "end");
  EXPECT_EQ(identity, identify_file(folder / "deep/er/out"));
}

/// Of this process, in bytes.
std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(AtomicFile, ManyMayWaitForCommitWithoutMemory) {
  constexpr std::size_t kFiles = 64;
  const TemporaryFolder folder;
  const std::string bytes((std::size_t{1} << 20) - 1, 'x');
  std::vector<AtomicFile> files;
  const std::size_t before = resident_bytes();
  for (std::size_t i = 0; i < kFiles; ++i) {
    AtomicFile file(folder / std::to_string(i));
    file.write(bytes);
    file.flush();
    files.push_back(std::move(file));
  }
#if !defined(__SANITIZE_ADDRESS__)  // the sanitizer keeps what is freed for a while
  EXPECT_LT(resident_bytes(), before + (16 << 20));
#endif
  EXPECT_FALSE(fs::exists(folder / "0"));
  for (AtomicFile& file : files) EXPECT_EQ(file.commit().size, bytes.size());
  files.clear();
  EXPECT_EQ(slurp(folder / "63"), bytes);
  EXPECT_EQ(entries(folder.path()), static_cast<int>(kFiles));
}

TEST(AtomicFile, TakesTheLongestNames) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  write_file(folder / name, "x");
  EXPECT_EQ(slurp(folder / name), "x");
}

TEST(AtomicFile, NamesPathAndReason) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "taken");
  EXPECT_THAT(message_of<OutputError>([&] { write_file(folder / "taken", "x"); }),
              HasSubstr("a folder has this name"));
  spill(folder / "file", "");
  EXPECT_THAT(message_of<OutputError>([&] { write_file(folder / "file/out", "x"); }),
              HasSubstr("file/out: "));
  EXPECT_THAT(message_of<OutputError>([&] { write_file(folder / std::string(256, 'n'), "x"); }),
              HasSubstr("too long"));
}

TEST(AtomicFile, ReportsAFailingWriteAndCleansUp) {
  // A file size limit simulates a full disk.
  const TemporaryFolder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      message_of<OutputError>([&] { write_file(folder / "out", std::string(4 << 20, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, previous);
  EXPECT_THAT(message, HasSubstr("out: cannot be written: the file size limit (ulimit -f) is reached"));
  EXPECT_EQ(entries(folder.path()), 0);
}

}  // namespace
}  // namespace recon
