#include "session/resume/owned_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/paths.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"
#include "session/resume/output_folder.hpp"
#include "session/resume/step_record.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

constexpr const char* kList = "status/files";

bool is_report(const fs::path& file) {
  return !file.has_parent_path() && file.filename().string().starts_with("report") &&
         (file.extension() == ".json" || file.extension() == ".html" || file.extension() == ".log");
}

fs::file_type type_of(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type();
}

constexpr const char* kAdvice = "; remove it, or choose another folder with --output";

}  // namespace

bool lies_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

void OwnedFiles::load(bool of_a_run) {
  const std::lock_guard lock(mutex_);
  names_.clear();
  checked_folders_.clear();
  const bool has_list = read_list();
  if (of_a_run && !has_list) {
    for (const RunFiles& of_every_run : {options_files(), model_files()})  // earlier versions: no record
      names_.insert(of_every_run.files.begin(), of_every_run.files.end());
    names_.insert(Workspace::export_link());
    for_each_in_folder(root_, [&](const fs::path& path) {
      if (const fs::path name = path.filename(); is_report(name)) names_.insert(name.string());
    });
    for_each_in_folder(root_ / "status",
                       [&](const fs::path& path) { names_.insert(path.lexically_relative(root_).string()); });
    add_recorded();
  }
  // Of a run that was killed before its mark: it wrote nothing else.
  if (!of_a_run && has_list) names_ = {kList};
}

/// Adds the names of the list; false where it is missing or damaged. Each name ends with a zero byte, as
/// names may have all others; the first is the hash of the rest.
bool OwnedFiles::read_list() {
  const fs::path file = root_ / kList;
  if (type_of(file) != fs::file_type::regular) return false;
  const std::string text = read_file(file);
  const std::size_t begin = text.find('\0');
  if (begin == std::string::npos) return false;
  const std::string_view names = std::string_view(text).substr(begin + 1);
  if (content_hash(names) != text.substr(0, begin)) return false;
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = names.find('\0', at);
    names_.emplace(names.substr(at, end - at));
    at = end + 1;
  }
  return true;
}

/// Adds what the records name, and themselves.
void OwnedFiles::add_recorded() {
  std::error_code error;
  for (fs::recursive_directory_iterator it(root_ / "status", error), end; it != end; it.increment(error)) {
    if (type_of(it->path()) != fs::file_type::regular || it->path().extension() != ".json") continue;
    const auto record = read_record(it->path());
    if (!record) continue;
    names_.insert(it->path().lexically_relative(root_).string());
    for (const OutputFile& output : record->outputs) names_.insert(output.name);
  }
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw OutputError((root_ / "status").string() + ": the folder cannot be read: " + error.message());
}

void OwnedFiles::write_list() const {
  std::string names;
  for (const std::string& name : names_) names.append(name).push_back('\0');
  write_file(root_ / kList, content_hash(names) + '\0' + names);
}

bool OwnedFiles::is_link_of_ours(const std::string& file) const {
  std::error_code error;
  return file == Workspace::export_link() && names_.contains(file) &&
         fs::read_symlink(root_ / file, error) == Workspace::kExportedImages;
}

/// Whether there is something at a name that no run wrote. A folder is not written over.
bool OwnedFiles::is_foreign(const std::string& file) const {
  switch (type_of(root_ / file)) {
    case fs::file_type::not_found:
    case fs::file_type::none:
    case fs::file_type::directory:
      return false;
    case fs::file_type::symlink:
      return !is_link_of_ours(file);
    default:
      return !names_.contains(file);
  }
}

/// @throws UsageError where a folder below the root is a link that leads out
void OwnedFiles::check_folder(const fs::path& folder) {
  if (folder.empty() || checked_folders_.contains(folder)) return;
  check_folder(folder.parent_path());
  const fs::path path = root_ / folder;
  std::error_code ignored;
  if (type_of(path) == fs::file_type::symlink &&
      (!fs::exists(path, ignored) || !lies_below(resolved_path(path), resolved_path(root_))))
    throw UsageError(path.string() + ": is a link to " + fs::read_symlink(path, ignored).string() +
                     ", and nothing is written outside the output folder" + kAdvice);
  if (fs::exists(path, ignored) && !fs::is_directory(path, ignored))
    throw UsageError(path.string() + ": is no folder, and one of that name would be made" + kAdvice);
  checked_folders_.insert(folder);
}

void OwnedFiles::check_way(const std::string& file) {
  const std::lock_guard lock(mutex_);
  check_folder(fs::path(file).parent_path());
}

void OwnedFiles::check(const std::string& file) {
  check_folder(fs::path(file).parent_path());
  if (!is_foreign(file)) return;
  // Another process that shares the folder may have made it since the list was read, or somebody has put it
  // back.
  read_list();
  if (is_foreign(file) && !std::exchange(has_recorded_, true)) add_recorded();
  if (is_foreign(file))
    throw UsageError(
        (root_ / file).string() + ": reconstruct did not write this " +
        (type_of(root_ / file) == fs::file_type::symlink ? "link" : "file") +
        ", and would write a file of that name; move it, or choose another folder with --output");
}

void OwnedFiles::check_all(const std::vector<std::string>& files) {
  const std::lock_guard lock(mutex_);
  check(kList);
  for (const std::string& file : files) check(file);
}

void OwnedFiles::claim(const std::vector<std::string>& files) {
  const std::lock_guard lock(mutex_);
  check(kList);
  for (const std::string& file : files) check(file);
  const std::size_t before = names_.size();
  names_.insert(kList);
  names_.insert(files.begin(), files.end());
  if (std::exchange(written_, true) && names_.size() == before) return;
  write_list();
}

std::vector<std::string> OwnedFiles::below(const std::string& folder) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> files;
  const std::string prefix = folder + "/";
  for (auto it = names_.lower_bound(prefix); it != names_.end() && it->starts_with(prefix); ++it)
    files.push_back(*it);
  return files;
}

bool OwnedFiles::is_removable(const std::string& file) {
  try {
    check(file);
  } catch (const UsageError&) {  // somebody else's
    return false;
  }
  const fs::file_type type = type_of(root_ / file);
  return type != fs::file_type::not_found && type != fs::file_type::directory;
}

int OwnedFiles::count_removable(const std::vector<std::string>& files) {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(
      std::ranges::count_if(files, [this](const std::string& file) { return is_removable(file); }));
}

bool OwnedFiles::remove(const std::string& file) {
  const std::lock_guard lock(mutex_);
  if (!is_removable(file)) return false;
  remove_result(root_ / file);
  return true;
}

void OwnedFiles::mark(const std::string& content) {
  const std::lock_guard lock(mutex_);
  mark_ = content;
  write_file_if_changed(root_ / kOutputMark, content);
  sync_folder_of(root_ / kOutputMark);  // results without it would be those of another program
}

bool OwnedFiles::is_in_place() const {
  return type_of(root_ / kList) == fs::file_type::regular &&
         type_of(root_ / kOutputMark) == fs::file_type::regular;
}

void OwnedFiles::remove_list() noexcept {
  const std::lock_guard lock(mutex_);
  if (written_) ::unlink((root_ / kList).c_str());
}

void OwnedFiles::forget_missing() {
  const std::lock_guard lock(mutex_);
  const auto is_missing = [&](const std::string& file) {
    return !file.starts_with("status/") && type_of(root_ / file) == fs::file_type::not_found;
  };
  if (is_in_place() && std::erase_if(names_, is_missing) > 0) write_list();
}

void OwnedFiles::check_in_place() {
  const std::lock_guard lock(mutex_);
  if (mark_.empty() || is_in_place()) return;
  restore();
  throw OutputError(
      root_.string() +
      ": the folder was removed while reconstruct wrote into it; run again: what is there now is kept");
}

void OwnedFiles::restore() const {
  write_list();
  write_file(root_ / kOutputMark, mark_);
}

bool OwnedFiles::end() noexcept {
  const std::lock_guard lock(mutex_);
  if (mark_.empty()) return false;
  try {
    if (!is_in_place() && type_of(root_) == fs::file_type::directory) restore();
  } catch (...) {  // the next run refuses what it finds
  }
  return true;
}

namespace {

/// What all ways to a file have in common.
std::optional<std::pair<dev_t, ino_t>> identity_of(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return std::pair(info.st_dev, info.st_ino);
}

}  // namespace

std::map<std::string, fs::path> inputs_among(const fs::path& root, const std::vector<std::string>& files,
                                             const std::vector<fs::path>& inputs) {
  std::map<std::pair<dev_t, ino_t>, const fs::path*> input_of;
  for (const fs::path& input : inputs)
    if (const auto identity = identity_of(input)) input_of.emplace(*identity, &input);
  std::map<std::string, fs::path> among;
  for (const std::string& file : files)
    if (const auto identity = identity_of(root / file))
      if (const auto found = input_of.find(*identity); found != input_of.end())
        among.emplace(file, *found->second);
  return among;
}

void check_inputs_stay(const fs::path& root, const std::vector<std::string>& files,
                       const std::vector<fs::path>& inputs) {
  const auto among = inputs_among(root, files, inputs);
  if (among.empty()) return;
  const auto& [file, input] = *among.begin();
  throw UsageError((root / file).string() + " would be written over " + input.string() +
                   ", which is read; choose another folder with --output");
}

}  // namespace recon
