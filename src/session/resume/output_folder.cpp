#include "session/resume/output_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"
#include "session/options/option_text.hpp"
#include "session/resume/step_record.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string map_file(const char* folder, const std::string& view, MapKind kind, const char* extension) {
  return std::string("stereo/") + folder + "/" + view +
         (kind == MapKind::kPhotometric ? ".photometric" : ".geometric") + extension;
}

constexpr const char* kChanged = ".changed";

/// The name at which a file that somebody has changed is kept: its I-th copy, from 1.
fs::path kept_path(const fs::path& file, int i) {
  const std::string copy = i == 1 ? "" : "-" + std::to_string(i);
  return fs::path(file).replace_extension().string() + kChanged + copy + file.extension().string();
}

/// Whether a file has a name of kept_path.
bool is_kept(const fs::path& file) {
  const std::string kind = file.stem().extension().string();
  return kind == kChanged || kind.starts_with(std::string(kChanged) + "-");
}

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, error); it != fs::recursive_directory_iterator();
       it.increment(error)) {
    std::error_code ignored;
    const std::uintmax_t size =
        it->is_regular_file(ignored) && !is_kept(it->path()) ? it->file_size(ignored) : 0;
    if (!ignored) bytes += size;
  }
  return bytes;
}

std::string noun(OutputKind kind) {
  return kind == OutputKind::kScene ? "scene" : "pair";
}

/// The content of the file that marks a folder; null where there is none.
json read_mark(const fs::path& folder) {
  if (!is_folder(folder / "status") || !is_file(folder / kOutputMark)) return {};
  return json::parse(read_file(folder / kOutputMark), nullptr, false);
}

std::optional<OutputKind> marked_kind(const fs::path& folder) {
  const json mark = read_mark(folder);
  if (!mark.is_object() || !mark.contains("kind")) return std::nullopt;
  for (const OutputKind kind : {OutputKind::kScene, OutputKind::kPair})
    if (mark["kind"] == noun(kind)) return kind;
  return std::nullopt;
}

/// What an earlier run made of a folder; nothing for one that no run of ours has written to.
std::optional<OutputKind> output_kind(const fs::path& folder) {
  if (const auto kind = marked_kind(folder)) return kind;
  // The mark may have been removed.
  if (read_record(folder / Workspace::record_file(Step::kPair))) return OutputKind::kPair;
  std::error_code error;
  const fs::path prepared = (folder / Workspace::record_file(Step::kPrepare, "x")).parent_path();
  for (fs::recursive_directory_iterator it(prepared, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file(error) && read_record(it->path())) return OutputKind::kScene;
  return std::nullopt;
}

/// A file that a run left when it was killed.
bool is_temporary(const fs::path& file) {
  return file.filename().string().starts_with(".reconstruct-") && file.extension() == ".tmp";
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
    const bool of_a_start =  // there before the mark
        file.parent_path() == "status" &&
        (file.filename() == "lock" || file.filename() == "files" || is_temporary(file));
    if (of_the_system) it.disable_recursion_pending();
    if (!of_the_system && !of_a_start && !it->is_directory(ignored)) return file;
    latest = file;
  }
  if (error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system)
    errno = error.value(), fail_to_read(folder);
  const bool nothing = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (error && !nothing) return latest;
  return std::nullopt;
}

/// One of the files that a run would write over in a folder that none has written to.
std::optional<std::string> file_in_the_way(const fs::path& folder, const std::vector<std::string>& files) {
  const auto is_in_the_way = [&](const std::string& file) {
    std::error_code ignored;
    const fs::file_type type = fs::symlink_status(folder / file, ignored).type();
    return type != fs::file_type::none && type != fs::file_type::not_found &&
           type != fs::file_type::directory;
  };
  const auto found = std::ranges::find_if(files, is_in_the_way);
  return found == files.end() ? std::nullopt : std::optional(*found);
}

[[noreturn]] void fail_to_write(const fs::path& folder, const std::string& reason) {
  throw OutputError(folder.string() + ": the output folder cannot be written (" + reason +
                    "); choose another one with --output");
}

/// @throws UsageError when a run may not write there unasked
void check_content(const fs::path& folder, const OutputAccess& access) {
  const std::optional<OutputKind> found = output_kind(folder);
  if (access.overwrite || found == access.kind) return;
  const std::string choice =
      "; choose another folder with --output, or give --overwrite to write beside them";
  if (found)
    throw UsageError(folder.string() + " holds the results of a " + noun(*found) + ", and this input is a " +
                     noun(access.kind) + choice);
  const auto file = foreign_file(folder);
  // Another process may have marked the folder between the two looks.
  if (!file || output_kind(folder) == access.kind) return;
  const auto over = file_in_the_way(folder, access.files);
  throw UsageError(folder.string() + " holds files that reconstruct did not write, such as " +
                   (over ? *over + ", which has the name of a result; move it, or choose another folder with "
                                   "--output"
                         : file->string() + choice));
}

}  // namespace

const char* step_name(Step step) {
  constexpr std::array<const char*, 9> kNames = {
      "undistorting", "depth maps", "scene planes", "check across views", "fusion",
      "tiles",        "export",     "matching",     "files of the run"};
  return kNames[static_cast<std::size_t>(step)];
}

std::string Workspace::depth_file(const std::string& view, MapKind kind) {
  return map_file("depth_maps", view, kind, ".bin");
}

std::string Workspace::normal_file(const std::string& view, MapKind kind) {
  return map_file("normal_maps", view, kind, ".bin");
}

std::string Workspace::confidence_file(const std::string& view, MapKind kind) {
  return map_file("confidence_maps", view, kind, ".png");
}

std::string Workspace::record_file(Step step, const std::string& view) {
  constexpr std::array<const char*, 9> kNames = {"prepare", "estimate", "planes", "check", "fusion",
                                                 "tiles",   "export",   "pair",   "run"};
  return std::string("status/") + kNames[static_cast<std::size_t>(step)] + (view.empty() ? "" : "/") + view +
         ".json";
}

std::string Workspace::report_name(const Shard& shard) {
  return shard.count == 1 ? "report"
                          : "report-" + std::to_string(shard.index) + "-of-" + std::to_string(shard.count);
}

void Workspace::check_writable() const {
  try {
    // Never committed, so it leaves nothing behind but the folder.
    const AtomicFile probe(path("status/probe"));
  } catch (const OutputError& error) {
    fail_to_write(root_, error.what());
  }
}

void Workspace::remove_leftovers(bool exclusive) const {
  constexpr auto kAge = std::chrono::hours(1);
  const auto now = std::filesystem::file_time_type::clock::now();
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(root_, error); it != fs::recursive_directory_iterator();
       it.increment(error)) {
    if (!is_temporary(it->path())) continue;
    std::error_code ignored;  // another run may have been faster
    if (exclusive || now - it->last_write_time(ignored) > kAge) std::filesystem::remove(it->path(), ignored);
  }
}

std::string Workspace::keep_changed(const fs::path& file, const char* why) {
  std::error_code error;
  fs::path kept;
  for (int i = 1; i == 1 || fs::exists(fs::symlink_status(kept, error)); ++i) kept = kept_path(file, i);
  fs::rename(file, kept, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  if (error) throw OutputError(file.string() + ": cannot be renamed: " + error.message());
  return file.string() + " " + why + ": it is kept as " + kept.filename().string();
}

std::string Workspace::keep_changed(const fs::path& file) {
  return keep_changed(file, "has been changed since it was written");
}

std::uint64_t Workspace::bytes_left(std::uint64_t bytes) const {
  return bytes - std::min(bytes, bytes_below(root_));
}

void Workspace::check_free_space(std::uint64_t bytes) const {
  recon::check_free_space(root_, bytes_left(bytes));
}

fs::path existing_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::path way = fs::absolute(folder, ignored);
  while (!fs::exists(way, ignored) && way.has_relative_path()) way = way.parent_path();
  return way;
}

void check_free_space(const fs::path& folder, std::uint64_t bytes, std::size_t inputs) {
  std::error_code error;
  const fs::space_info space = fs::space(existing_folder(folder), error);
  if (error || space.available >= bytes) return;
  const std::string of_several = " by " + std::to_string(inputs) + " inputs";
  throw OutputError(folder.string() + ": up to " + format_byte_size(bytes) + " are still to be written" +
                    (inputs > 1 ? of_several : "") + ", and only " + format_byte_size(space.available) +
                    " are free; free some space, choose another folder with --output, " +
                    (inputs > 1 ? "give fewer inputs at a time, " : "") + "or lower --max-image-size");
}

void remove_result(const fs::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) throw OutputError(path.string() + ": cannot be removed: " + error.message());
}

RunFiles options_files() {
  return {"options", {Workspace::options_file()}};
}

RunFiles model_files() {
  return {"model",
          {"sparse/cameras.bin", "sparse/images.bin", "sparse/points3D.bin", "stereo/patch-match.cfg",
           "stereo/fusion.cfg"}};
}

RunFiles report_files(const Shard& shard) {
  const std::string name = Workspace::report_name(shard);
  return {name, {name + ".json", name + ".html"}};
}

fs::path report_file(const Workspace& workspace, const Shard& shard, const char* extension) {
  return workspace.path(Workspace::report_name(shard) + extension);
}

fs::path set_aside(const fs::path& report) {
  return report.parent_path() / "status" / report.filename();
}

void set_reports_aside(const Workspace& workspace, const Shard& shard) {
  for (const char* extension : {".json", ".html"}) {
    const fs::path file = report_file(workspace, shard, extension);
    std::error_code error;
    fs::rename(file, set_aside(file), error);
    if (error) remove_result(file);
  }
}

bool bring_page_back(const Workspace& workspace, const Shard& shard) noexcept try {
  const fs::path page = report_file(workspace, shard, ".html"), aside = set_aside(page);
  if (fs::last_write_time(aside) < fs::last_write_time(workspace.path(Workspace::cloud_file()))) return false;
  fs::rename(aside, page);
  return true;
} catch (...) {  // one of the files is not there
  return false;
}

void TakenOutput::finish() const {
  if (lock->exclusive()) workspace.owned().forget_missing();
}

TakenOutput::~TakenOutput() {
  if (!lock) return;
  try {
    finish();
  } catch (...) {  // the run has failed already, or its list names too much
  }
  std::error_code ignored;
  if (workspace.owned().end() || made.empty() || fs::exists(workspace.path(kOutputMark), ignored)) return;
  workspace.owned().remove_list();
  lock->remove_file();
  for (const fs::path& folder : made) ::rmdir(folder.c_str());  // unless others use them
}

/// An output folder that cannot be read is one that cannot be used.
[[noreturn]] static void fail_to_use(const Workspace& workspace, const InputError& error) {
  throw OutputError(workspace.root().string() + ": the output folder cannot be used (" + error.what() +
                    "); choose another one with --output");
}

TakenOutput take_output(const Workspace& workspace, const OutputAccess& access) try {
  check_content(workspace.root(), access);  // before anything is created there
  TakenOutput output(workspace);
  for (const fs::path& folder : {workspace.root() / "status", workspace.root()})
    if (std::error_code ignored; !std::filesystem::exists(folder, ignored)) output.made.push_back(folder);
  for (fs::path folder = workspace.root().parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (std::error_code ignored; fs::exists(folder, ignored)) break;
    output.made.push_back(folder);
  }
  workspace.owned().check_way("status/lock");
  output.lock = std::make_unique<OutputLock>(workspace.root(), access.shared_key, access.wait);
  check_content(workspace.root(), access);  // another process may have been faster
  workspace.check_writable();
  const std::optional<OutputKind> kind = output_kind(workspace.root());
  output.has_results = kind == access.kind;
  workspace.owned().load(kind.has_value());
  workspace.remove_leftovers(output.lock->exclusive());
  return output;
} catch (const InputError& error) {
  fail_to_use(workspace, error);
}

void check_output(const Workspace& workspace, const OutputAccess& access) try {
  check_content(workspace.root(), access);
  workspace.owned().load(output_kind(workspace.root()).has_value());
  std::vector<std::string> files = access.files;
  files.emplace_back(kOutputMark);
  workspace.owned().check_all(files);
  if (const fs::path folder = existing_folder(workspace.root()); ::access(folder.c_str(), W_OK | X_OK) != 0)
    fail_to_write(workspace.root(), folder.string() + ": " + std::strerror(errno));
} catch (const InputError& error) {
  fail_to_use(workspace, error);
}

std::vector<std::string> marked_inputs(const Workspace& workspace) {
  const json mark = read_mark(workspace.root());
  if (!mark.is_object() || !mark.contains("inputs") || !mark["inputs"].is_array()) return {};
  std::vector<std::string> inputs;
  for (const json& input : mark["inputs"])
    if (input.is_string()) inputs.push_back(input);
  return inputs;
}

bool is_of_others(const Workspace& workspace, const OutputAccess& access) {
  const std::vector<std::string> marked = marked_inputs(workspace);
  return !access.overwrite && !marked.empty() &&
         std::ranges::find_first_of(marked, access.inputs) == marked.end();
}

bool is_output(const fs::path& folder) {
  return marked_kind(folder).has_value();
}

void mark_output(const Workspace& workspace, OutputKind kind, std::vector<std::string> files,
                 const std::vector<std::string>& inputs) {
  files.emplace_back(kOutputMark);
  workspace.owned().claim(files);
  workspace.owned().mark(json_text({{"program", "reconstruct"}, {"kind", noun(kind)}, {"inputs", inputs}}));
}

}  // namespace recon
