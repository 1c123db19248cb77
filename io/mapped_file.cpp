#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "io/output_file.hpp"

namespace recon {

namespace {

/// Closes the file when the scope ends; a mapping stays.
struct OpenFile {
  int fd;
  ~OpenFile() {
    if (fd >= 0) ::close(fd);
  }
};

/// A file without a name in `folder`; some network file systems need one for a moment.
int open_unnamed(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  std::string name = (folder / ".reconstruct-XXXXXX.tmp").string();
  const int named = ::mkostemps(name.data(), 4, O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& folder, std::string_view bytes) : bytes_(bytes.size()) {
  EXPECTS(!bytes.empty());
  fault_point(FaultPoint::kFileCreate);
  const OpenFile file{open_unnamed(folder)};
  if (file.fd < 0) fail_output(folder, "no temporary file can be created in it");
  fault_point(FaultPoint::kFileWrite);
  if (!write_all(file.fd, bytes)) fail_output(folder, "a temporary file in it cannot be written");
  void* const data = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file.fd, 0);
  if (data == MAP_FAILED) fail_output(folder, "a temporary file in it cannot be mapped");
  data_ = data;
}

MappedFile::~MappedFile() {
  ::munmap(data_, bytes_);
}

void MappedFile::drop_pages() const noexcept {
  ::madvise(data_, bytes_, MADV_DONTNEED);
}

}  // namespace recon
