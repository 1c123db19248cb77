#include "io/file/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "io/file/output_file.hpp"

namespace recon {

namespace {

constexpr const char* kNoTemporaryFile = "a temporary file in it cannot be written";

/// Closes the file when the scope ends; a mapping stays.
struct OpenFile {
  int fd;
  ~OpenFile() { ::close(fd); }
};

/// A file without a name in `folder`; some network file systems need one for a moment.
int open_unnamed(const std::filesystem::path& folder) {
  fault_point(FaultPoint::kFileCreate);
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  std::string name = (folder / ".reconstruct-XXXXXX.tmp").string();
  const int named = ::mkostemps(name.data(), 4, O_CLOEXEC);
  if (named < 0) fail_output(folder, "no temporary file can be created in it");
  ::unlink(name.c_str());
  return named;
}

void* map(const std::filesystem::path& folder, int fd, std::size_t bytes, int protection) {
  void* const data = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) fail_output(folder, "a temporary file in it cannot be mapped");
  return data;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& folder, std::string_view bytes)
    : bytes_(bytes.size()), writable_(false) {
  EXPECTS(!bytes.empty());
  const OpenFile file{open_unnamed(folder)};
  fault_point(FaultPoint::kFileWrite);
  if (!write_all(file.fd, bytes)) fail_output(folder, kNoTemporaryFile);
  data_ = map(folder, file.fd, bytes_, PROT_READ);
}

MappedFile::MappedFile(const std::filesystem::path& folder, std::size_t bytes)
    : bytes_(bytes), writable_(true) {
  EXPECTS(bytes > 0);
  const OpenFile file{open_unnamed(folder)};
  fault_point(FaultPoint::kFileWrite);
  // A disk that is full when a page is written would end the process.
  do errno = ::posix_fallocate(file.fd, 0, static_cast<off_t>(bytes));
  while (errno == EINTR);
  if (errno != 0) fail_output(folder, kNoTemporaryFile);
  data_ = map(folder, file.fd, bytes_, PROT_READ | PROT_WRITE);
}

MappedFile::~MappedFile() {
  ::munmap(data_, bytes_);
}

void MappedFile::write(std::size_t offset, std::string_view bytes) {
  EXPECTS(writable_ && offset <= bytes_ && bytes.size() <= bytes_ - offset);
  std::memcpy(static_cast<char*>(data_) + offset, bytes.data(), bytes.size());
}

void MappedFile::drop_pages() const noexcept {
  ::madvise(data_, bytes_, MADV_DONTNEED);
}

}  // namespace recon
