#include "session/resume/output_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

constexpr auto kPause = std::chrono::milliseconds(50);
/// A process that takes the shared lock first holds it alone for a moment: others do not take that for a
/// refusal.
constexpr auto kGrace = std::chrono::seconds(2);

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

void OutputLock::Descriptor::close() noexcept {
  if (number >= 0) ::close(number);
  number = -1;
}

OutputLock::OutputLock(std::filesystem::path folder, std::string shared_key, bool wait, const char* file)
    : folder_(std::move(folder)), file_(folder_ / file), shared_key_(std::move(shared_key)) {
  open_file();
  const auto patience = std::chrono::steady_clock::now() + kGrace;
  for (;;) {
    if (shared_key_.empty() ? try_exclusive() : try_shared()) {
      if (is_in_place()) return;
      open_file();  // the folder was removed meanwhile: what is locked is nobody's
      continue;
    }
    const bool grace = !shared_key_.empty() && std::chrono::steady_clock::now() < patience;
    if (!wait && !grace) refuse();
    if (wait && !std::exchange(waited_, true))
      messages().info("{}: waiting for another reconstruct ({})", folder_.string(), first_line(read_owner()));
    check_interrupted();
    std::this_thread::sleep_for(kPause);
  }
}

void OutputLock::open_file() {
  constexpr int kAttempts = 3;  // another process may remove the folder that it made
  descriptor_.close();
  std::error_code error;
  for (int i = 0; i < kAttempts && (i == 0 || errno == ENOENT) && descriptor_.number < 0; ++i) {
    std::filesystem::create_directories(file_.parent_path(), error);
    descriptor_.number = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  }
  if (descriptor_.number < 0 && errno == ELOOP)
    throw UsageError(file_.string() +
                     ": reconstruct did not make this link, and writes a file of that name; remove "
                     "it, or choose another folder with --output");
  if (descriptor_.number < 0 && error == std::errc::no_such_file_or_directory)  // such as in /proc
    throw UsageError(folder_.string() +
                     ": the output folder cannot be made: " + existing_folder(folder_).string() +
                     " takes no folders; choose another one with --output");
  if (descriptor_.number < 0)
    throw OutputError(folder_.string() + ": the output folder cannot be written: " +
                      (error ? error.message() : std::strerror(errno)) +
                      "; choose another one with --output");
}

/// Whether the open file is the one that another process would open.
bool OutputLock::is_in_place() const {
  struct stat open {
  }, named{};
  return ::fstat(descriptor_.number, &open) == 0 && ::stat(file_.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

void OutputLock::remove_file() noexcept {
  // Of processes that share the lock, the last one can have it alone; the others lose it here.
  if (!exclusive_ && !unsupported_) exclusive_ = ::flock(descriptor_.number, LOCK_EX | LOCK_NB) == 0;
  if (exclusive_ && is_in_place()) ::unlink(file_.c_str());
}

/// @returns false when another process is in the way; true when the lock is taken, or the file system has
/// none
bool OutputLock::lock(int operation) {
  while (::flock(descriptor_.number, operation | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return false;
    if (!std::exchange(unsupported_, true))
      messages().warn("{}: the file system has no locks ({}); no other run may write there at the same time",
                      folder_.string(), std::strerror(errno));
    return true;
  }
  return true;
}

bool OutputLock::try_exclusive() {
  if (!lock(LOCK_EX)) return false;
  exclusive_ = !unsupported_;
  write_owner();
  return true;
}

bool OutputLock::try_shared() {
  // The first one says what all have to agree on, and may be overtaken between its two locks.
  if (lock(LOCK_EX)) write_owner();
  if (!lock(LOCK_SH)) return false;
  const std::string owner = read_owner();
  if (unsupported_ || owner.substr(owner.find('\n') + 1) == shared_key_) return true;
  ::flock(descriptor_.number, LOCK_UN);
  return false;
}

void OutputLock::write_owner() const {
  constexpr const char* kBeginning = "process ";
  if (const std::string there = read_owner(); !there.empty() && !there.starts_with(kBeginning))
    throw UsageError(file_.string() +
                     ": reconstruct did not write this file, and writes one of that name; move it, or choose "
                     "another folder with --output");
  const std::string text =
      kBeginning + std::to_string(::getpid()) + " on " + host_name() + "\n" + shared_key_;
  if (::ftruncate(descriptor_.number, 0) != 0 ||
      ::pwrite(descriptor_.number, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    throw OutputError(file_.string() + ": cannot be written: " + std::strerror(errno) +
                      "; free some space, or choose another folder with --output");
}

std::string OutputLock::read_owner() const {
  std::array<char, 1024> text{};
  const ssize_t size = ::pread(descriptor_.number, text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(size < 0 ? 0 : size)};
}

void OutputLock::refuse() const {
  const std::string owner = read_owner();
  const std::size_t end = owner.find('\n');
  const bool shards = end != std::string::npos && end + 1 < owner.size() && !shared_key_.empty();
  throw UsageError(folder_.string() + ": another reconstruct (" + first_line(owner) +
                   ") writes into this folder" + (shards ? " with other options" : "") +
                   "; wait for it with --wait, or choose another folder with --output");
}

}  // namespace recon
