#include "session/products/map_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/paths.hpp"
#include "io/map/given_map.hpp"
#include "session/options/option_text.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

/// The name of a view without the ending of its photo.
std::string stem_of(const std::string& view) {
  return (fs::path(view).parent_path() / fs::path(view).stem()).string();
}

/// A path and what is left of it without its first folders, longest first.
std::vector<std::string> tails_of(const std::string& path) {
  std::vector<std::string> tails;
  fs::path rest;
  const fs::path whole = fs::path(path).lexically_normal().relative_path();
  for (auto part = whole.end(); part != whole.begin();) {
    --part;
    if (*part == "..") break;
    rest = rest.empty() ? *part : *part / rest;
    tails.insert(tails.begin(), rest.string());
  }
  return tails;
}

/// The names by which maps of views are looked for.
class MapNames {
 public:
  /// @param of_priors  parts of a photo may share a map of it
  MapNames(const std::vector<View>& views, bool of_priors) : of_priors_(of_priors) {
    std::set<std::string> counted;
    for (const View& view : views) {
      for (const std::string& name : names_of(view)) {
        if (!counted.insert(name).second) continue;
        ++stems_[stem_of(name)];
        for (const std::string& tail : tails_of(name)) ++tails_[stem_of(tail)];
      }
      for (const std::string& tail : tails_of(depth_file(view))) ++depth_tails_[tail];
    }
  }

  /// Of files that the model names, as it does or without their first folders, where no other view has such a
  /// file.
  std::vector<std::string> files(const View& view) const {
    std::vector<std::string> files = tails_of(depth_file(view));
    std::erase_if(files, [&](const std::string& file) { return depth_tails_.at(file) > 1; });
    return files;
  }

  /// To be followed by an ending: those of its photo, and without its first folders where no other view has
  /// such a name.
  std::vector<std::string> names(const View& view) const {
    std::vector<std::string> names;
    for (const std::string& name : names_of(view)) add_names(name, names);
    return names;
  }

 private:
  std::vector<std::string> names_of(const View& view) const {
    if (of_priors_ && view.face) return {view.name, view.photo_name()};
    return {view.name};
  }

  void add_names(const std::string& name, std::vector<std::string>& names) const {
    bool whole = true;
    for (const std::string& tail : tails_of(name)) {
      const std::string stem = stem_of(tail);
      const bool first = std::exchange(whole, false);
      if (!first && tails_.at(stem) > 1) continue;
      // An undistorted image is written as .png where its photo is of another format.
      names.insert(names.end(), {tail, tail + ".png"});
      if (!first || stems_.at(stem) == 1) names.push_back(stem);
    }
  }

  static std::string depth_file(const View& view) {
    std::string file = view.depth_file;
    std::ranges::replace(file, '\\', '/');
    return file;
  }

  const bool of_priors_;
  std::map<std::string, int> stems_, tails_, depth_tails_;
};

/// Whether a map is there, which may be one that cannot be read: a link that leads nowhere is.
bool is_given(const fs::path& file) {
  try {
    return is_there_to_read(file);
  } catch (const InputError&) {
    std::error_code error;
    if (fs::is_symlink(file, error)) return true;
    throw;
  }
}

/// The first of the files NAME + ending that is there; empty: none is.
fs::path first_with_ending(const fs::path& folder, const std::string& name,
                           const std::vector<std::string>& endings) {
  for (const std::string& ending : endings)
    if (fs::path file = folder / (name + ending); is_given(file)) return file;
  return {};
}

/// The name that leads to a map, without its ending, and the map; no path: there is none.
std::pair<std::string, fs::path> find_map(const fs::path& folder, const std::vector<std::string>& files,
                                          const std::vector<std::string>& names) {
  for (const std::string& file : files)
    if (is_given(folder / file)) return {stem_of(file), folder / file};
  for (const std::string& name : names)
    if (fs::path file = first_with_ending(folder, name, depth_map_endings()); !file.empty())
      return {name, file};
  return {};
}

/// A folder without slashes and dots at the end.
fs::path named_folder(const fs::path& folder) {
  fs::path named = fs::absolute(folder);
  while (named.has_relative_path() && (named.filename().empty() || named.filename() == "."))
    named = named.parent_path();
  return named;
}

/// The confidences beside a depth map of `name`: NAME.confidence.*, or where workspaces of this program have
/// them, and sensors those of priors.
fs::path confidence_beside(const fs::path& folder, const std::string& name, const fs::path& depth,
                           bool of_prior) {
  if (fs::path file =
          first_with_ending(folder, name, of_prior ? prior_confidence_endings() : confidence_map_endings());
      !file.empty())
    return file;
  if (of_prior) {
    const fs::path beside = named_folder(folder).parent_path() / "confidence";
    if (fs::path file = first_with_ending(beside, name, map_endings()); !file.empty()) return file;
  }
  if (depth.extension() != ".bin") return {};
  const fs::path in_folder = depth.lexically_relative(folder);
  // A link may lead to the folder, or from it elsewhere.
  for (const fs::path& maps : {named_folder(folder), resolved_path(folder)}) {
    if (maps.filename() != "depth_maps") continue;
    const fs::path own = maps.parent_path() / "confidence_maps" / in_folder;
    if (fs::path file = first_with_ending(own.parent_path(), own.stem().string(), {".png"}); !file.empty())
      return file;
  }
  return {};
}

/// Bytes that reading a depth map and then its confidences takes; those of a file that cannot be read, which
/// fails its view, do not count.
std::size_t bytes_of_maps(const fs::path& depth, const fs::path& confidence) {
  const auto bytes_of = [](const fs::path& file, std::size_t kept) {
    return if_readable([&] { return reading_bytes(file, kept); }, 0);
  };
  const std::size_t bytes = bytes_of(depth, 0);
  // The depths are in the size of the view. Where it is larger, the maps of its results take more than these.
  return confidence.empty() ? bytes : std::max(bytes, bytes_of(confidence, sizeof(float)));
}

std::string too_large(const std::string& option, const fs::path& depth, std::size_t bytes,
                      std::size_t max_bytes) {
  return fmt::format(
      "{}: reading the map takes up to {} of memory, and one of {} may take {}, half of what --memory-limit "
      "leaves; raise it, or give a smaller map: maps may have fewer pixels than the images",
      depth.string(), format_byte_size(bytes), option, format_byte_size(max_bytes));
}

nlohmann::json hash_of(const fs::path& file) {
  const auto identity = identify_file(file);
  return identity ? nlohmann::json(identity->hash) : nlohmann::json();
}

}  // namespace

void MapFolder::find(const Search& search, const fs::path& folder, const std::vector<View>& views,
                     std::size_t max_bytes) {
  if (!is_folder(folder))
    throw InputError(folder.string() + ": " + search.option + " has to be a folder of depth maps");
  folder_ = is_folder(folder / "stereo" / "depth_maps") ? folder / "stereo" / "depth_maps" : folder;
  const MapNames all(views, search.of_priors);
  for (const View& view : views) {
    const auto [name, depth] = find_map(folder_, all.files(view), all.names(view));
    if (depth.empty()) continue;
    if (search.check) search.check(depth);
    const fs::path confidence = confidence_beside(folder_, name, depth, search.of_priors);
    const std::size_t bytes = bytes_of_maps(depth, confidence);
    files_[view.name] = {depth, confidence,
                         bytes > max_bytes ? too_large(search.option, depth, bytes, max_bytes) : ""};
    if (bytes <= max_bytes) reading_bytes_ = std::max(reading_bytes_, bytes);
  }
  if (!files_.empty() || views.empty()) return;
  const std::vector<std::string> endings = depth_map_endings();
  throw InputError(fmt::format(
      "{}: there is no depth map of any of the {} views; that of {} would be {}{}, or end with {}",
      folder_.string(), views.size(), views.front().name, views.front().name, endings.front(),
      fmt::join(endings.begin() + 1, endings.end(), ", ")));
}

std::vector<fs::path> MapFolder::files() const {
  std::vector<fs::path> files;
  for (const auto& [view, maps] : files_) {
    files.push_back(maps.depth);
    if (!maps.confidence.empty()) files.push_back(maps.confidence);
  }
  return files;
}

nlohmann::json MapFolder::identity(const std::string& view) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = identities_.find(view); known != identities_.end()) return known->second;
  }
  const Files& files = files_.at(view);
  nlohmann::json identity = {{"depth", hash_of(files.depth)}};
  if (!files.confidence.empty()) identity["confidence"] = hash_of(files.confidence);
  const std::lock_guard lock(mutex_);
  return identities_.emplace(view, std::move(identity)).first->second;
}

const MapFolder::Files& MapFolder::readable(const std::string& view) const {
  const Files& files = files_.at(view);
  if (!files.fault.empty()) throw InputError(files.fault);
  return files;
}

}  // namespace recon
