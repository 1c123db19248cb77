#include "io/file_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace recon {
namespace {

constexpr std::size_t kChunk = 1 << 20;

class ReadDescriptor {
 public:
  explicit ReadDescriptor(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~ReadDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  ReadDescriptor(const ReadDescriptor&) = delete;
  ReadDescriptor& operator=(const ReadDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw InputError(path.string() + ": cannot be read: " + std::strerror(errno));
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  const ReadDescriptor file(path);
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) fail(path);
  std::string bytes;
  // The size is a hint only: it is 0 for pipes, and the file may grow.
  if (S_ISREG(info.st_mode)) bytes.reserve(static_cast<std::size_t>(info.st_size) + kChunk);
  for (;;) {
    const std::size_t used = bytes.size();
    bytes.resize(used + kChunk);
    const ssize_t got = ::read(file.get(), bytes.data() + used, kChunk);
    if (got < 0 && errno != EINTR) fail(path);
    bytes.resize(used + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got == 0) return bytes;
  }
}

}  // namespace recon
