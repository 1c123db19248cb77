#include "io/input_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/file_bytes.hpp"

namespace recon {

InputStream::InputStream(const std::filesystem::path& path) : path_(path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) fail_to_read(path);
    size_ = unread_ = static_cast<std::uint64_t>(info.st_size);
    return;
  }
  // Pipes, and files without a known size.
  buffer_ = read_file(path);
  window_ = buffer_;
  size_ = buffer_.size();
}

InputStream::~InputStream() {
  if (fd_ >= 0) ::close(fd_);
}

bool InputStream::extend() {
  constexpr std::size_t kPiece = 1 << 20;
  if (unread_ == 0) return false;
  const std::size_t kept = window_.size();
  buffer_.erase(0, buffer_.size() - kept);
  buffer_.resize(kept + static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, unread_)));
  ssize_t got = -1;
  do got = ::read(fd_, buffer_.data() + kept, buffer_.size() - kept);
  while (got < 0 && errno == EINTR);
  if (got < 0) fail_to_read(path_);
  buffer_.resize(kept + static_cast<std::size_t>(got));
  window_ = buffer_;
  unread_ -= static_cast<std::uint64_t>(got);
  if (got == 0) size_ -= std::exchange(unread_, 0);  // the file was truncated in the meantime
  return got > 0;
}

}  // namespace recon
