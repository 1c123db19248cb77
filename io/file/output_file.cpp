#include "io/file/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "io/file/input_file.hpp"

namespace recon {

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
constexpr std::size_t kUnbufferedBytes = 32 << 10;  // to copy so many takes longer than a call of the system
constexpr const char* kCannotBeWritten = "cannot be written";
constexpr std::int64_t kWriteBackBytes = 32 << 20;

/// Short for any final name, so that names of the max length work too.
std::filesystem::path temporary_name() {
  static std::atomic<unsigned> counter{0};
  return ".reconstruct-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  fault_point(FaultPoint::kFileCreate);
  const std::filesystem::path folder = folder_of(path_);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw OutputError(path_.string() + ": the folder " + folder.string() +
                      " cannot be created: " + error.message());
  if (std::filesystem::is_directory(path_, error))
    throw OutputError(path_.string() + ": cannot be written: a folder has this name; remove it");
  // A name may be left over from a killed run, or be in use by another machine: try the next one.
  do {
    temporary_ = folder / temporary_name();
    fd_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) fail_output(path_, "cannot be created");
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      buffer_(std::move(other.buffer_)),
      hasher_(std::move(other.hasher_)),
      written_(other.written_),
      begun_(other.begun_),
      fd_(std::exchange(other.fd_, -1)) {}

void AtomicFile::write(std::string_view bytes) {
  hash(bytes);
  append(bytes);
}

void AtomicFile::append(std::string_view bytes) {
  const bool whole = bytes.size() >= kUnbufferedBytes;
  if (whole || buffer_.size() + bytes.size() > kBufferBytes) write_buffer();
  if (whole)
    write_out(bytes);
  else
    buffer_.append(bytes);
}

void AtomicFile::flush() {
  write_buffer();
  write_back();
  std::string().swap(buffer_);  // assignment would keep the memory
}

void AtomicFile::replace_beginning(std::string_view bytes) {
  write_buffer();
  hasher_.replace_beginning(bytes);
  if (::lseek(fd_, 0, SEEK_SET) < 0 || !write_all(fd_, bytes) || ::lseek(fd_, 0, SEEK_END) < 0)
    fail_output(path_, kCannotBeWritten);
}

FileIdentity AtomicFile::commit() {
  write_buffer();
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP) fail_output(path_, kCannotBeWritten);
  if (::close(std::exchange(fd_, -1)) != 0) fail_output(path_, kCannotBeWritten);
  fault_point(FaultPoint::kFileCommit);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_output(path_, "cannot be put in its place");
  temporary_.clear();
  return hasher_.identity();
}

FileIdentity AtomicFile::commit_if_changed() {
  write_buffer();
  FileIdentity identity = hasher_.identity();
  std::error_code error;
  const bool same =
      std::filesystem::file_size(path_, error) == identity.size && !error && identify_file(path_) == identity;
  return same ? identity : commit();
}

void AtomicFile::write_buffer() {
  write_out(buffer_);
  buffer_.clear();
}

void AtomicFile::write_out(std::string_view bytes) {
  fault_point(FaultPoint::kFileWrite);
  if (!write_all(fd_, bytes)) fail_output(path_, kCannotBeWritten);
  written_ += static_cast<std::int64_t>(bytes.size());
  if (written_ - begun_ >= kWriteBackBytes) write_back();
}

/// The disk works while more is computed, and on several files at once, and not only when they are committed.
void AtomicFile::write_back() {
  ::sync_file_range(fd_, begun_, written_ - begun_, SYNC_FILE_RANGE_WRITE);
  begun_ = written_;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void fail_output(const std::filesystem::path& path, const char* action) {
  const int code = errno;
  std::string message = path.string() + ": " + action + ": ";
  if (code == ENOSPC || code == EDQUOT)
    message += "the disk is full; free some space or choose another output folder";
  else if (code == EFBIG)
    message += "the file size limit (ulimit -f) is reached; raise it";
  else
    message += std::strerror(code);
  if (code == EMFILE || code == ENFILE)
    message += "; raise the limit of open files (ulimit -n), or lower --threads";
  throw OutputError(message);
}

void sync_folder_of(const std::filesystem::path& path) noexcept {
  const int fd = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

FileIdentity write_file(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  return file.commit();
}

void write_file_if_changed(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit_if_changed();
}

std::string json_text(const nlohmann::json& document) {
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace recon
