#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/utf8.hpp"
#include "session/products/photo_files.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

namespace fs = std::filesystem;

std::map<std::string, std::vector<std::string>> files_by_name(const fs::path& folder) {
  std::map<std::string, std::vector<std::string>> files;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    const fs::path& path = it->path();
    std::error_code unknown;
    if (it->is_directory(unknown)) {
      if (path.filename().string().starts_with('.') || is_output(path)) it.disable_recursion_pending();
    } else {
      files[path.filename().string()].push_back(path.lexically_relative(folder).string());
    }
  }
  return files;
}

namespace {

bool is_photo_there(const SceneInput& input, const std::string& file) {
  // One that cannot be read is named when it is used.
  return if_readable([&] { return is_there_to_read(input.folder.images / file); }, false);
}

/// Whether one of two paths is the other without its first folders.
bool is_tail(const std::string& a, const std::string& b) {
  return a.size() <= b.size() ? ("/" + b).ends_with("/" + a) : is_tail(b, a);
}

/// The photos that each of some views may mean.
std::map<int, std::vector<std::string>> candidates_of(const SceneInput& input, const std::vector<int>& views,
                                                      const std::set<std::string>& taken) {
  const auto files = files_by_name(input.folder.images);
  std::map<int, std::vector<std::string>> candidates;
  for (const int view : views) {
    std::string name = input.scene.views[view].photo_file();
    std::ranges::replace(name, '\\', '/');
    const auto same = files.find(fs::path(name).filename().string());
    if (same == files.end()) continue;
    for (const std::string& file : same->second)
      if (is_tail(file, name) && !taken.contains(file) && is_photo_there(input, file))
        candidates[view].push_back(file);
  }
  return candidates;
}

}  // namespace

void find_moved_photos(SceneInput& input, Findings& findings) {
  std::vector<View>& views = input.scene.views;
  std::vector<int> missing;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < views.size(); ++i)
    if (is_photo_there(input, views[i].photo_file()))
      taken.insert(views[i].photo_file());
    else
      missing.push_back(static_cast<int>(i));
  if (missing.empty()) return;
  const auto candidates = candidates_of(input, missing, taken);
  std::map<std::string, int> claims;
  for (const auto& [view, files] : candidates)
    for (const std::string& file : files) ++claims[file];

  int found = 0;
  std::string first, ambiguous;
  for (const auto& [view, files] : candidates) {
    const std::string name = with_escapes(views[view].photo_file());
    if (files.size() > 1 || claims.at(files.front()) > 1) {
      if (ambiguous.empty())
        ambiguous = files.size() > 1 ? fmt::format("{} may be {} or {}", name, files[0], files[1])
                                     : fmt::format("{} may be the photo of {} views, such as {}",
                                                   files.front(), claims.at(files.front()), name);
      continue;
    }
    if (found++ == 0) first = fmt::format("{} for {}", with_escapes(files.front()), name);
    views[view].photo = files.front();
  }
  const std::string folder = input.folder.images.string();
  if (found > 0)
    findings.warn(fmt::format(
        "{}: {} of {} photos are not where the model names them, and are found by the end of their "
        "paths, such as {}; if that is wrong, name their folder with --images",
        folder, found, views.size(), first));
  if (!ambiguous.empty())
    findings.warn(fmt::format(
        "{}: photos are not where the model names them, and the ends of their paths are not unique: {}; "
        "put them into the folders that the model names, or name another folder with --images",
        folder, ambiguous));
}

}  // namespace recon
