#include "session/scene/workspace.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/error.hpp"
#include "io/output_file.hpp"
#include "session/options/options.hpp"

namespace recon {

namespace {

std::string map_file(const char* folder, const std::string& view, MapKind kind) {
  return std::string("stereo/") + folder + "/" + view +
         (kind == MapKind::kPhotometric ? ".photometric.bin" : ".geometric.bin");
}

std::uint64_t bytes_below(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (auto it = std::filesystem::recursive_directory_iterator(folder, error);
       it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    const std::uintmax_t size = it->is_regular_file(ignored) ? it->file_size(ignored) : 0;
    if (!ignored) bytes += size;
  }
  return bytes;
}

}  // namespace

std::string Workspace::depth_file(const std::string& view, MapKind kind) {
  return map_file("depth_maps", view, kind);
}

std::string Workspace::normal_file(const std::string& view, MapKind kind) {
  return map_file("normal_maps", view, kind);
}

std::string Workspace::confidence_file(const std::string& view, MapKind kind) {
  return map_file("confidence_maps", view, kind);
}

std::string Workspace::record_file(Step step, const std::string& view) {
  const char* folder = step == Step::kPrepare ? "prepare" : step == Step::kEstimate ? "estimate" : "check";
  return std::string("status/") + folder + "/" + view + ".json";
}

void Workspace::check_writable() const {
  try {
    // Never committed, so it leaves nothing behind but the folder.
    const AtomicFile probe(path("status/probe"));
  } catch (const OutputError& error) {
    throw OutputError(root_.string() + ": the output folder cannot be written (" + error.what() +
                      "); choose another one with --output");
  }
}

void Workspace::remove_leftovers(bool exclusive) const {
  constexpr auto kAge = std::chrono::hours(1);
  const auto now = std::filesystem::file_time_type::clock::now();
  std::error_code error;
  for (auto it = std::filesystem::recursive_directory_iterator(root_, error);
       it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.rfind(".reconstruct-", 0) != 0 || it->path().extension() != ".tmp") continue;
    std::error_code ignored;  // another run may have been faster
    if (exclusive || now - it->last_write_time(ignored) > kAge) std::filesystem::remove(it->path(), ignored);
  }
}

void Workspace::check_free_space(std::uint64_t bytes) const {
  bytes -= std::min(bytes, bytes_below(root_));
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(root_, error);
  if (error || space.available >= bytes) return;
  throw OutputError(
      root_.string() + ": up to " + format_byte_size(bytes) + " are still to be written, and only " +
      format_byte_size(space.available) +
      " are free; free some space, choose another folder with --output, or lower --max-image-size");
}

void remove_result(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) throw OutputError(path.string() + ": cannot be removed: " + error.message());
}

}  // namespace recon
