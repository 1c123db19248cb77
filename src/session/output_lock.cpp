#include "session/output_lock.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
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

namespace recon {

namespace {

constexpr auto kPause = std::chrono::milliseconds(50);
/// A process that takes the shared lock first holds it alone for a moment: others do not take that for a
/// refusal.
constexpr auto kGrace = std::chrono::seconds(2);

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// @returns false when another process holds the lock in the way; true when it is taken, or when the file
/// system has no locks
bool lock(int fd, int operation, const std::filesystem::path& folder) {
  while (::flock(fd, operation | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return false;
    spdlog::warn("{}: the file system has no locks ({}); no other run may write there at the same time",
                 folder.string(), std::strerror(errno));
    return true;
  }
  return true;
}

}  // namespace

OutputLock::OutputLock(std::filesystem::path folder, std::string shared_key, bool wait)
    : folder_(std::move(folder)), shared_key_(std::move(shared_key)) {
  const std::filesystem::path file = folder_ / "status/lock";
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0)
    throw OutputError(folder_.string() + ": the output folder cannot be written: " +
                      (error ? error.message() : std::strerror(errno)) +
                      "; choose another one with --output");
  const auto patience = std::chrono::steady_clock::now() + kGrace;
  bool announced = false;
  while (!(shared_key_.empty() ? try_exclusive() : try_shared())) {
    const bool grace = !shared_key_.empty() && std::chrono::steady_clock::now() < patience;
    if (!wait && !grace) refuse();
    if (wait && !std::exchange(announced, true))
      spdlog::info("{}: waiting for another reconstruct ({})", folder_.string(), read_holder());
    check_interrupted();
    std::this_thread::sleep_for(kPause);
  }
}

OutputLock::~OutputLock() {
  ::close(fd_);
}

bool OutputLock::try_exclusive() {
  if (!lock(fd_, LOCK_EX, folder_)) return false;
  exclusive_ = true;
  write_holder();
  return true;
}

bool OutputLock::try_shared() {
  // The first one says what all have to agree on, and may be overtaken between its two locks.
  if (lock(fd_, LOCK_EX, folder_)) write_holder();
  if (!lock(fd_, LOCK_SH, folder_)) return false;
  const std::string holder = read_holder();
  if (holder.substr(holder.find('\n') + 1) == shared_key_) return true;
  ::flock(fd_, LOCK_UN);
  return false;
}

void OutputLock::write_holder() const {
  const std::string text =
      "process " + std::to_string(::getpid()) + " on " + host_name() + "\n" + shared_key_;
  // A name that cannot be written (full disk) is missing in a message, no more; a key is, to others, another.
  [[maybe_unused]] const bool done =
      ::ftruncate(fd_, 0) == 0 && ::pwrite(fd_, text.data(), text.size(), 0) >= 0;
}

std::string OutputLock::read_holder() const {
  std::array<char, 1024> text{};
  const ssize_t size = ::pread(fd_, text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(size < 0 ? 0 : size)};
}

void OutputLock::refuse() const {
  const std::string holder = read_holder();
  const std::size_t end = holder.find('\n');
  const bool shards = end != std::string::npos && end + 1 < holder.size() && !shared_key_.empty();
  throw UsageError(folder_.string() + ": another reconstruct (" + holder.substr(0, end) +
                   ") writes into this folder" + (shards ? " with other options" : "") +
                   "; wait for it with --wait, or choose another folder with --output");
}

}  // namespace recon
