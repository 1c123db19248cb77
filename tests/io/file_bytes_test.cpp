#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "core/error.hpp"
#include "error_message.hpp"
#include "io/input_file.hpp"
#include "temporary_folder.hpp"

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

TEST(ReadFile, ReadsWhatSaysNothingOfItsSize) {
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("VmRSS"));
  const TemporaryFolder folder;
  spill(folder / "empty", "");
  EXPECT_EQ(read_file(folder / "empty"), "");
  const std::string large(3'000'001, 'x');
  spill(folder / "large", large);
  EXPECT_TRUE(read_file(folder / "large") == large);
}

}  // namespace
}  // namespace recon
