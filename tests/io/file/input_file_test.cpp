#include "io/file/input_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/temporary_folder.hpp"

namespace recon {

namespace {

using testing::HasSubstr;

/// Prevents this process from opening any more files.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

/// Expects an error of the machine, not of the file: it must not exclude views.
template <class Body>
void expect_machine_error(const Body& body) {
  try {
    const NoMoreFiles limit;
    body();
    ADD_FAILURE() << "nothing thrown";
  } catch (const InputError& error) {
    ADD_FAILURE() << "taken for a fault of the input: " << error.what();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 1);
    EXPECT_THAT(error.what(), HasSubstr("a.bin: cannot be read: Too many open files"));
    EXPECT_THAT(error.what(), HasSubstr("ulimit -n"));
  }
}

TEST(ReadFile, DistinguishesTheMachinesFaultsFromTheFiles) {
  const TemporaryFolder folder;
  spill(folder / "a.bin", "bytes");
  expect_machine_error([&] { read_file(folder / "a.bin"); });
  expect_machine_error([&] { InputStream stream(folder / "a.bin"); });
  EXPECT_THAT(message_of<InputError>([&] { read_file(folder / "absent"); }), HasSubstr("No such file"));
}

/// Makes a socket with a name.
void make_socket(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
}

/// All that reads a file.
std::vector<std::function<void(const std::filesystem::path&)>> readers() {
  return {[](const auto& path) { read_file(path); }, [](const auto& path) { read_beginning(path, 10); },
          [](const auto& path) { InputStream stream(path); },
          [](const auto& path) { InputDescriptor file(path); }};
}

TEST(ReadFile, RefusesAtOnceWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0666), 0);
  make_socket(folder / "socket");
  std::filesystem::create_symlink("/dev/zero", folder / "zero");
  std::filesystem::create_directory(folder / "folder");
  const std::pair<const char*, const char*> cases[] = {{"pipe", "is a pipe (FIFO)"},
                                                       {"socket", "is a socket"},
                                                       {"zero", "is a character device"},
                                                       {"folder", "is a folder"}};
  for (const auto& [name, reason] : cases)
    for (const auto& reader : readers())
      EXPECT_THAT(message_of<InputError>([&] { reader(folder / name); }),
                  HasSubstr((folder / name).string() + ": " + reason + "; only regular files are read"));
}

TEST(ReadFile, ReadsNoMoreThanItMay) {
  const TemporaryFolder folder;
  spill(folder / "ten", "0123456789");
  EXPECT_EQ(read_file(folder / "ten", 10), "0123456789");
  EXPECT_THAT(message_of<InputError>([&] { read_file(folder / "ten", 9); }),
              HasSubstr("ten: it has 10 bytes; more than 9 are not read"));
  std::filesystem::resize_file(folder / "ten", std::uintmax_t{1} << 40);  // a hole of a terabyte
  EXPECT_THAT(message_of<InputError>([&] { read_file(folder / "ten", 9); }), HasSubstr("more than 9"));
  EXPECT_EQ(read_beginning(folder / "ten", 4), "0123");
  spill(folder / "ten", "0123456789");
  EXPECT_EQ(read_beginning(folder / "ten", 40), "0123456789");
}

TEST(ReadFile, ReadsWhatSaysNothingOfItsSize) {
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("VmRSS"));
  EXPECT_THAT(message_of<InputError>([] { read_file("/proc/self/status", 10); }),
              HasSubstr("more than 10 are not read"));
  const TemporaryFolder folder;
  spill(folder / "empty", "");
  EXPECT_EQ(read_file(folder / "empty"), "");
  const std::string large(3'000'001, 'x');
  spill(folder / "large", large);
  EXPECT_TRUE(read_file(folder / "large") == large);
}

using namespace std::string_view_literals;

const std::string kFile = "images.bin";
const FilePlace kPlace{kFile, FilePlace::Unit::kByte, 8};

TEST(SafeName, AcceptsNamesInsideTheFolder) {
  for (const auto name : {"a.png"sv, "sub/a b.jpg"sv, "..a/b..png"sv, "a..b"sv, ".hidden"sv,
                          "\xC3\xA4/\xC3\xB6.png"sv, "1:2.png"sv})
    EXPECT_NO_THROW(check_relative_name(name, kPlace)) << name;
}

TEST(SafeName, RefusesNamesThatLeadOutOrAreNone) {
  for (const auto name :
       {""sv, "/a.png"sv, "\\a.png"sv, "C:\\a.png"sv, "c:a.png"sv, "../a.png"sv, "a/../b.png"sv,
        "a\\..\\b.png"sv, ".."sv, "a/.."sv, "a/"sv, "."sv, "a/."sv, "a\0b.png"sv, "a\nb.png"sv, "a\x7F"sv})
    EXPECT_THAT(message_of<InputError>([&] { check_relative_name(name, kPlace); }),
                testing::StartsWith("images.bin: byte 8: the name"))
        << name;
}

TEST(SafeName, RefusesNamesThatAreTooLongForAPath) {
  EXPECT_NO_THROW(check_relative_name(std::string(4095, 'a'), kPlace));
  EXPECT_THAT(message_of<InputError>([&] { check_relative_name(std::string(4096, 'a'), kPlace); }),
              testing::HasSubstr("is too long for a path"));
}

TEST(SafeName, IsNormalisedWithoutLookingAtTheDisk) {
  EXPECT_EQ(normalised_name("a.png"), "a.png");
  EXPECT_EQ(normalised_name("./a.png"), "a.png");
  EXPECT_EQ(normalised_name("a//b/././c.png"), "a/b/c.png");
  EXPECT_EQ(normalised_name(".a/..b/c d.png"), ".a/..b/c d.png");
}

TEST(InputStream, ReadsAnywhere) {
  const TemporaryFolder folder;
  std::string content;
  for (int i = 0; i < 400000; ++i) content += std::to_string(i) + " ";
  spill(folder / "numbers", content);
  InputStream file(folder / "numbers"), memory{std::string_view(content)};
  for (InputStream* stream : {&file, &memory}) {
    stream->extend();
    stream->take(10);
    const std::string window(stream->window());
    std::string bytes = "before ";
    ASSERT_TRUE(stream->read_at(2000000, 1500, bytes));
    EXPECT_EQ(bytes, "before " + content.substr(2000000, 1500));
    EXPECT_EQ(stream->window(), window);
    EXPECT_TRUE(stream->read_at(content.size() - 3, 3, bytes));
    EXPECT_FALSE(stream->read_at(content.size() - 3, 4, bytes));
    EXPECT_FALSE(stream->read_at(content.size() + 1, 1, bytes));
  }
}

}  // namespace

}  // namespace recon
