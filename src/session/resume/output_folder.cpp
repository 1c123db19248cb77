#include "session/resume/output_folder.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "core/error.hpp"
#include "core/version.hpp"
#include "io/input_file.hpp"
#include "io/output_file.hpp"
#include "session/resume/step_record.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kMark = "status/output.json";

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string noun(OutputKind kind) {
  return kind == OutputKind::kScene ? "scene" : "pair";
}

std::optional<OutputKind> marked_kind(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_regular_file(folder / kMark, error)) return std::nullopt;
  const json mark = json::parse(read_file(folder / kMark), nullptr, false);
  if (!mark.is_object() || !mark.contains("kind")) return std::nullopt;
  for (const OutputKind kind : {OutputKind::kScene, OutputKind::kPair})
    if (mark["kind"] == noun(kind)) return kind;
  return std::nullopt;
}

/// What an earlier run made of a folder; nothing for one that no run of ours has written to.
std::optional<OutputKind> output_kind(const fs::path& folder) {
  if (const auto kind = marked_kind(folder)) return kind;
  // Results of before the mark was introduced.
  if (is_there(folder / "status/pair.json")) return OutputKind::kPair;
  if (is_there(folder / "status/prepare")) return OutputKind::kScene;
  return std::nullopt;
}

/// A file that is there before the mark, or that a run left when it was killed.
bool is_of_a_start(const fs::path& file) {
  const std::string name = file.filename().string();
  return name == "lock" || (name.starts_with(".reconstruct-") && file.extension() == ".tmp");
}

/// A file in the folder that no run of ours leaves before its mark, or a folder that cannot be read; nothing
/// when there is neither. Empty folders hold nothing that could be lost.
std::optional<fs::path> foreign_file(const fs::path& folder) {
  std::error_code error;
  fs::path latest = ".";
  for (auto it = fs::recursive_directory_iterator(folder, error); it != fs::recursive_directory_iterator();
       it.increment(error)) {
    const fs::path file = it->path().lexically_relative(folder);
    const std::string top = file.begin()->string();
    std::error_code ignored;
    const bool of_the_system = top.starts_with('.') || top == "lost+found";
    const bool of_a_start = file.parent_path() == "status" && is_of_a_start(file);
    if (of_the_system) it.disable_recursion_pending();
    if (!of_the_system && !of_a_start && !it->is_directory(ignored)) return file;
    latest = file;
  }
  if (error == std::errc::permission_denied) return latest;
  return std::nullopt;
}

/// @throws UsageError when a run may not write there unasked
void check_content(const fs::path& folder, const OutputAccess& access) {
  const std::optional<OutputKind> found = output_kind(folder);
  if (access.overwrite || found == access.kind) return;
  const std::string choice =
      "; choose another folder with --output, or give --overwrite to replace the files of the same names";
  if (found)
    throw UsageError(folder.string() + " holds the results of a " + noun(*found) + ", and this input is a " +
                     noun(access.kind) + choice);
  const auto file = foreign_file(folder);
  // Another process may have marked the folder between the two looks.
  if (file && output_kind(folder) != access.kind)
    throw UsageError(folder.string() + " holds files that reconstruct did not write, such as " +
                     file->string() + choice);
}

}  // namespace

TakenOutput take_output(const Workspace& workspace, const OutputAccess& access) {
  check_content(workspace.root(), access);  // before anything is created there
  TakenOutput output;
  output.lock = std::make_unique<OutputLock>(workspace.root(), access.shared_key, access.wait);
  check_content(workspace.root(), access);  // another process may have been faster
  workspace.check_writable();
  output.has_results = output_kind(workspace.root()) == access.kind;
  workspace.remove_leftovers(output.lock->exclusive());
  return output;
}

void mark_output(const Workspace& workspace, OutputKind kind) {
  if (marked_kind(workspace.root()) == kind) return;
  write_file(workspace.path(kMark), json_text({{"program", "reconstruct"}, {"kind", noun(kind)}}));
}

}  // namespace recon
