#include "io/file/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/file/text_scanner.hpp"

namespace recon {

namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr std::size_t kEndPiece = 1 << 12;

/// What a file is that is no regular one.
const char* kind_text(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a pipe (FIFO)";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
      return "a character device";
    case S_IFBLK:
      return "a block device";
    default:
      return "of an unknown kind";
  }
}

[[noreturn]] void refuse_kind(const std::filesystem::path& path, mode_t mode) {
  throw InputError(path.string() + ": is " + kind_text(mode) + "; only regular files are read");
}

/// Opens what may be no regular file without waiting: a pipe has no writer yet, and a device may take time.
int open_at_once(const std::filesystem::path& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
  const int fd = ::open(path.c_str(), kFlags | O_NONBLOCK);
  if (fd >= 0 || (errno != EWOULDBLOCK && errno != ENXIO)) return fd;
  const int code = std::exchange(errno, 0);
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) refuse_kind(path, info.st_mode);
  errno = code;
  return code == EWOULDBLOCK ? ::open(path.c_str(), kFlags) : -1;  // another process holds a lease on it
}

/// Reads at most `count` bytes; returns their number, 0 at the end of the file.
std::size_t read_some(int fd, char* bytes, std::size_t count, const std::filesystem::path& path) {
  ssize_t got = -1;
  do got = ::read(fd, bytes, count);
  while (got < 0 && errno == EINTR);
  if (got < 0) fail_to_read(path);
  return static_cast<std::size_t>(got);
}

bool has_drive(std::string_view name) {
  return name.size() >= 2 && name[1] == ':' && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

/// Reason for rejecting `name`; empty if it is accepted.
std::string_view refusal(std::string name) {
  constexpr std::size_t kMaxLength = 4096;  // that of a path on Linux
  if (name.size() >= kMaxLength) return "is too long for a path";
  std::ranges::replace(name, '\\', '/');
  const std::filesystem::path path(name);
  if (name.empty()) return "is empty";
  if (std::ranges::any_of(name, is_control)) return "contains a control character";
  if (path.is_absolute() || has_drive(name)) return "is an absolute path";
  if (std::ranges::find(path, "..") != path.end())
    return "has a \"..\" component and may lead outside its folder";
  if (!path.has_filename() || path.filename() == ".") return "names a folder";
  return {};
}

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

InputDescriptor::InputDescriptor(const std::filesystem::path& path) : number_(open_at_once(path)) {
  struct stat info {};
  if (number_ < 0) fail_to_read(path);
  const bool known = ::fstat(number_, &info) == 0;
  if (known && S_ISREG(info.st_mode)) {
    size_ = static_cast<std::uint64_t>(info.st_size);
    return;
  }
  const int code = errno;
  ::close(number_);
  if (known) refuse_kind(path, info.st_mode);
  errno = code;
  fail_to_read(path);
}

InputDescriptor::~InputDescriptor() {
  if (number_ >= 0) ::close(number_);
}

std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const InputDescriptor file(path);
  const auto check = [&](std::uint64_t bytes) {
    if (bytes > max_bytes)
      throw InputError(
          fmt::format("{}: it has {} bytes; more than {} are not read", path.string(), bytes, max_bytes));
  };
  check(file.size());
  std::string bytes;
  // The size is a hint only: it is 0 in /proc, and the file may grow. One extra byte detects the end of the
  // file in the first read.
  std::size_t piece = static_cast<std::size_t>(file.size()) + 1;
  for (;;) {
    const std::size_t used = bytes.size();
    bytes.resize(used + piece);
    const std::size_t got = read_some(file.number(), bytes.data() + used, piece, path);
    bytes.resize(used + got);
    if (got == 0) return bytes;
    check(bytes.size());
    piece = got < piece ? piece - got : kEndPiece;  // without growing, as long as the capacity suffices
  }
}

std::string read_beginning(const std::filesystem::path& path, std::size_t max_bytes) {
  const InputDescriptor file(path);
  std::string bytes(max_bytes, '\0');
  std::size_t used = 0;
  while (used < max_bytes) {
    const std::size_t got = read_some(file.number(), bytes.data() + used, max_bytes - used, path);
    if (got == 0) break;
    used += got;
  }
  bytes.resize(used);
  return bytes;
}

InputStream::InputStream(const std::filesystem::path& path) : path_(path), file_(std::in_place, path) {
  size_ = unread_ = file_->size();
  if (size_ > 0) return;
  // Files without a known size.
  file_.reset();
  buffer_ = read_file(path);
  window_ = memory_ = buffer_;
  size_ = buffer_.size();
}

bool InputStream::extend() {
  if (unread_ == 0) return false;
  const std::size_t kept = window_.size();
  buffer_.erase(0, buffer_.size() - kept);
  buffer_.resize(kept + static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, unread_)));
  const std::size_t got = read_some(file_->number(), buffer_.data() + kept, buffer_.size() - kept, path_);
  buffer_.resize(kept + got);
  window_ = buffer_;
  unread_ -= got;
  if (got == 0) size_ -= std::exchange(unread_, 0);  // the file was truncated in the meantime
  return got > 0;
}

bool InputStream::read_at(std::uint64_t offset, std::size_t count, std::string& bytes) const {
  if (!file_) {
    if (offset > memory_.size() || count > memory_.size() - offset) return false;
    bytes += memory_.substr(offset, count);
    return true;
  }
  const std::size_t end = bytes.size() + count;
  std::size_t used = bytes.size();
  bytes.resize(end);
  while (used < end) {
    const ssize_t got = ::pread(file_->number(), bytes.data() + used, end - used,
                                static_cast<off_t>(offset + (used + count - end)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(path_);
    if (got == 0) return false;
    used += static_cast<std::size_t>(got);
  }
  return true;
}

void check_relative_name(std::string_view name, const FilePlace& place) {
  const std::string_view reason = refusal(std::string(name));
  if (!reason.empty())
    place.fail("the name {} {}; names have to be relative to the image folder and stay inside it",
               in_quotes(name), reason);
}

std::string normalised_name(std::string_view name) {
  return std::filesystem::path(name).lexically_normal().string();
}

}  // namespace recon
