#include "io/image/image_codecs.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

/// The folder of the program or library that has this code, links resolved; empty if the system does not say.
fs::path folder_of_this_code() {
  static const char here = 0;
  Dl_info info;
  link_map* object = nullptr;
  if (dladdr1(&here, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0) return {};
  const bool is_program = object->l_name[0] == '\0';
  std::error_code error;
  return fs::canonical(is_program ? "/proc/self/exe" : object->l_name, error).parent_path();
}

/// Found when the code is loaded: later the process may be in another folder, and its file be replaced.
const fs::path kFolder = folder_of_this_code();

/// Whether dlopen failed for lack of memory or, mostly, of address space; it sets no errno.
bool is_lack_of_memory(std::string_view reason) {
  return reason.find("failed to map segment") != std::string_view::npos ||
         reason.find(std::generic_category().message(ENOMEM)) != std::string_view::npos;
}

[[noreturn]] void fail(const std::string& reason) {
  throw Error(1, fmt::format("the module {}, which reads and writes images, cannot be loaded: {}; it belongs "
                             "into {} or, installed, into {}",
                             RECON_CODECS_FILE, reason, kFolder.string(),
                             (kFolder / RECON_CODECS_FROM_PROGRAM).lexically_normal().string()));
}

/// The module's file: only where this code was installed, as a module from elsewhere would run as this
/// program.
fs::path module_file() {
  if (!kFolder.is_absolute()) fail("the system does not say where this program is");
  std::error_code error;
  for (const char* place : {".", RECON_CODECS_FROM_PROGRAM, RECON_CODECS_FROM_LIBRARY})
    if (const fs::path file = (kFolder / place / RECON_CODECS_FILE).lexically_normal();
        fs::exists(file, error))
      return file;
  fail("there is no such file");
}

bool may_run(const fs::path& file) {
  struct statvfs system {};
  return statvfs(file.c_str(), &system) != 0 || (system.f_flag & ST_NOEXEC) == 0;
}

/// GDAL, which OpenCV loads, ends the process where it gets no memory: that there is some is looked at
/// before.
/// @throws OutOfMemory
void check_address_space() {
  constexpr std::size_t kNeeded = std::size_t{224} << 20;  // 192 MiB were measured
  void* const probe = ::mmap(nullptr, kNeeded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED)
    throw OutOfMemory(
        "there is not enough memory to load the image formats, which takes up to 224 MiB of address space; "
        "raise the limit on memory (ulimit -v)");
  ::munmap(probe, kNeeded);
}

/// The module, which stays loaded to the end of the process. It is linked so that what it lacks of OpenCV is
/// an error here, not the end of the process later; that OpenCV's own libraries are complete is not checked.
void* loaded_module() {
  const fs::path file = module_file();
  check_address_space();
  if (void* module = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL)) return module;
  const std::string reason = dlerror();
  if (!may_run(file))
    fail(file.string() + " lies on a file system from which nothing may run (mounted with noexec)");
  if (!is_lack_of_memory(reason)) fail(reason);
  throw OutOfMemory("there is not enough memory to load the image formats (" + reason +
                    "); raise the limit on memory (ulimit -v)");
}

}  // namespace

const ImageCodecs& image_codecs() {
  static const ImageCodecs* const codecs = [] {
    const auto* found = static_cast<const ImageCodecs*>(dlsym(loaded_module(), "reconstruct_image_codecs"));
    if (!found || std::string_view(found->version) != kImageCodecsVersion)
      throw Error(1, fmt::format("{} is of another version of reconstruct or of OpenCV; install both again",
                                 RECON_CODECS_FILE));
    return found;
  }();
  return *codecs;
}

}  // namespace recon
