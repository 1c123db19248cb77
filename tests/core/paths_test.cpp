// What is at a path, and what a terminal gets of its name.

#include "core/paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Paths : public testing::Test {
 protected:
  Paths() {
    std::string name = (fs::temp_directory_path() / "paths_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ / "file") << "bytes";
    fs::create_directory(folder_ / "folder");
    fs::create_symlink("loop", folder_ / "loop");
    fs::create_symlink("gone", folder_ / "dangling");
    fs::create_symlink("/dev/zero", folder_ / "zero");
    EXPECT_EQ(mkfifo((folder_ / "pipe").c_str(), 0666), 0);
  }
  ~Paths() override { fs::remove_all(folder_); }

  /// Why a path cannot be looked up; empty if it can.
  std::string refusal(const std::string& path) const {
    try {
      kind_of_path(folder_ / path);
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr((folder_ / path).string() + ": cannot be looked up: "));
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(Paths, LeadToWhatTheyLeadTo) {
  EXPECT_EQ(kind_of_path(folder_ / "file"), PathKind::kFile);
  EXPECT_EQ(kind_of_path(folder_ / "folder"), PathKind::kFolder);
  EXPECT_EQ(kind_of_path(folder_ / "pipe"), PathKind::kOther);
  EXPECT_EQ(kind_of_path(folder_ / "zero"), PathKind::kOther);
  for (const char* nothing : {"nothing", "nothing/below", "folder/nothing"})
    EXPECT_EQ(kind_of_path(folder_ / nothing), PathKind::kNothing) << nothing;
  for (const char* nothing : {"", "no-such-thing", "no/such/thing"})
    EXPECT_EQ(kind_of_path(nothing), PathKind::kNothing) << nothing;
  EXPECT_TRUE(is_there_to_read(folder_ / "pipe"));
  EXPECT_FALSE(is_there_to_read(folder_ / "folder"));
}

TEST_F(Paths, AreNothingForOneReasonOnly) {
  const fs::path path = folder_ / "nothing";
  EXPECT_EQ(kind_without_look(path, ENOENT), PathKind::kNothing);
  for (const int code : {EACCES, EPERM, ELOOP, ENAMETOOLONG, ESTALE, ENOMEM, EIO}) {
    try {
      kind_without_look(path, code);
      ADD_FAILURE() << code;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path.string() + ": cannot be looked up: " + std::strerror(code)));
      EXPECT_EQ(error.exit_code(), code == EIO ? 1 : 3) << "a failing disk is no bad input";
    }
  }
}

TEST_F(Paths, ThatCannotBeLookedUpAreNotTakenForNothing) {
  for (const char* path : {"loop", "loop/below"})
    EXPECT_THAT(refusal(path), HasSubstr("Too many levels of symbolic links")) << path;
  for (const char* path : {"dangling", "dangling/below/it"})
    EXPECT_THAT(refusal(path), AllOf(HasSubstr("the link " + (folder_ / "dangling").string()),
                                     HasSubstr("leads to gone, which is not there")));
  EXPECT_THAT(refusal("file/below"), HasSubstr((folder_ / "file").string() + " is no folder"));
  EXPECT_THAT(refusal(std::string(300, 'n')), HasSubstr("File name too long"));
}

TEST_F(Paths, OfAFolderAreAllThatIsInIt) {
  std::vector<std::string> names;
  for_each_in_folder(folder_, [&](const fs::path& path) { names.push_back(path.filename().string()); });
  std::sort(names.begin(), names.end());
  EXPECT_THAT(names, testing::ElementsAre("dangling", "file", "folder", "loop", "pipe", "zero"));
  for (const char* none : {"folder", "nothing", "file"})
    for_each_in_folder(folder_ / none, [&](const fs::path& path) { ADD_FAILURE() << path; });
  EXPECT_THROW(for_each_in_folder(folder_ / "loop", [](const fs::path&) {}), InputError);
}

/// As root, who may read all folders, by another user's rights.
TEST_F(Paths, OfAFolderThatCannotBeListedAreAFault) {
  constexpr uid_t kNobody = 65534;
  const fs::path locked = folder_ / "folder";
  fs::permissions(folder_, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  fs::permissions(locked, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec);
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(kNobody), 0);
  }
  std::string message;
  try {
    for_each_in_folder(locked, [](const fs::path& path) { ADD_FAILURE() << path; });
  } catch (const InputError& error) {
    message = error.what();
  }
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  fs::permissions(locked, fs::perms::owner_all);
  EXPECT_EQ(message, locked.string() + ": the folder cannot be read: Permission denied");
}

TEST_F(Paths, AreComparedAsFarAsTheyCanBeResolved) {
  EXPECT_EQ(resolved_path(folder_ / "folder/../file"), resolved_path(folder_ / "file"));
  for (const std::string& path : {std::string("loop"), std::string(300, 'n')})
    EXPECT_EQ(resolved_path(folder_ / "folder" / ".." / path), folder_ / path);
}

TEST_F(Paths, OfNoFileHaveNoIdentity) {
  EXPECT_TRUE(identify_file(folder_ / "file"));
  for (const char* path : {"pipe", "zero", "folder", "loop", "nothing"})
    EXPECT_FALSE(identify_file(folder_ / path)) << path;
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1B[2J\a\r\n\x7F"), "\\x1B[2J\\x07\\x0D\\x0A\\x7F");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J, \x9B"),
            "\\x9B2J, \\x9B")
      << "CSI in UTF-8, and as a byte";
  EXPECT_EQ(printable("a\nb\tc", "\n"), "a\nb\\x09c");
}

TEST(Printable, KeepsWhatPeopleWrite) {
  for (const char* text : {"", "plain text", "\xC3\xA4\xC3\xB6 \xE2\x82\xAC \xF0\x9F\x98\x80", "\xC2\xA0",
                           "latin \xE4\xF6", "\\x1B"})
    EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("\xE2\x82"), "\xE2\\x82") << "no character, and a control byte elsewhere";
}

}  // namespace
}  // namespace recon
