#include "io/image/image_codecs.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"

namespace recon {

namespace {

/// The folder of the program or library that has this code, links resolved; empty if the system does not say.
std::filesystem::path folder_of_this_code() {
  static const char here = 0;
  Dl_info info;
  link_map* object = nullptr;
  if (dladdr1(&here, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0) return {};
  const bool is_program = object->l_name[0] == '\0';
  std::error_code error;
  return std::filesystem::canonical(is_program ? "/proc/self/exe" : object->l_name, error).parent_path();
}

/// Whether dlopen failed for lack of memory or, mostly, of address space: of errno it says nothing then.
bool is_lack_of_memory(std::string_view reason) {
  return reason.find("failed to map segment") != std::string_view::npos ||
         reason.find(std::generic_category().message(ENOMEM)) != std::string_view::npos;
}

/// The module, which stays loaded to the end of the process.
void* loaded_module() {
  namespace fs = std::filesystem;
  const fs::path folder = folder_of_this_code();
  fs::path file = RECON_CODECS_FILE;
  std::error_code error;
  for (const char* place : {".", RECON_CODECS_FROM_PROGRAM, RECON_CODECS_FROM_LIBRARY})
    if (const fs::path found = folder / place / RECON_CODECS_FILE; fs::exists(found, error)) {
      file = found;
      break;
    }
  if (void* module = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL)) return module;
  const std::string reason = dlerror();
  if (is_lack_of_memory(reason))
    throw OutOfMemory("there is not enough memory to load the image formats (" + reason +
                      "); raise the limit on memory (ulimit -v)");
  throw Error(1, fmt::format("the module {}, which reads and writes images, cannot be loaded: {}; it belongs "
                             "into {} or, installed, into {}",
                             RECON_CODECS_FILE, reason, folder.string(),
                             (folder / RECON_CODECS_FROM_PROGRAM).lexically_normal().string()));
}

}  // namespace

const ImageCodecs& image_codecs() {
  static const ImageCodecs* const codecs = [] {
    const void* symbol = dlsym(loaded_module(), "reconstruct_image_codecs");
    if (!symbol) throw Error(1, fmt::format("{} is of another version of reconstruct", RECON_CODECS_FILE));
    return static_cast<const ImageCodecs*>(symbol);
  }();
  return *codecs;
}

}  // namespace recon
