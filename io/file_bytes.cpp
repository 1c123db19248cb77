#include "io/file_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace recon {
namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr std::size_t kEndPiece = 1 << 12;

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

}  // namespace

void fail_to_read(const std::filesystem::path& path) {
  const int code = errno;
  const std::string message = path.string() + ": cannot be read: " + std::strerror(code);
  switch (code) {
    case EMFILE:
    case ENFILE:
      throw Error(1, message + "; raise the limit of open files (ulimit -n), or lower --threads");
    case EIO:
      throw Error(1, message +
                         "; check the disk or the network, or remove the file, then run again: "
                         "finished work is kept");
    default:
      throw InputError(message);
  }
}

std::string read_file(const std::filesystem::path& path) {
  const ReadDescriptor file(path);
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) fail_to_read(path);
  std::string bytes;
  // The size is a hint only: it is 0 for pipes, and the file may grow. One extra byte detects the end of the
  // file in the first read.
  std::size_t piece = S_ISREG(info.st_mode) ? static_cast<std::size_t>(info.st_size) + 1 : kChunk;
  for (;;) {
    const std::size_t used = bytes.size();
    bytes.resize(used + piece);
    const ssize_t got = ::read(file.get(), bytes.data() + used, piece);
    if (got < 0 && errno != EINTR) fail_to_read(path);
    bytes.resize(used + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got == 0) return bytes;
    if (got > 0) piece = std::max(piece - static_cast<std::size_t>(got), kEndPiece);
  }
}

}  // namespace recon
