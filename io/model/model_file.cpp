#include "io/model/model_file.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

#include "core/paths.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_file.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

bool has_drive(const std::string& path) {
  return path.size() >= 2 && path[1] == ':' && std::isalpha(static_cast<unsigned char>(path[0])) != 0;
}

/// False also where that cannot be found out: the view of such a photo is left out, as of one that is not
/// there.
bool is_there_with_or_without_ending(const fs::path& folder, const fs::path& path) {
  return if_readable(
      [&] { return is_there_to_read(folder / path) || !find_image(folder, path.string()).empty(); }, false);
}

/// Of the last components of a path those that lead to a file in `folder`, as many as possible.
ModelFile find_by_last_components(const fs::path& folder, const fs::path& path) {
  std::vector<fs::path> tails = {{}};
  for (auto part = path.end(); part != path.begin();) {
    --part;
    tails.push_back(tails.back().empty() ? *part : *part / tails.back());
  }
  for (auto longest = tails.rbegin(); longest != std::prev(tails.rend()); ++longest)
    if (is_there_with_or_without_ending(folder, *longest)) return {longest->string(), longest->string()};
  const std::string last = path.filename().string();
  return {last, last, false};
}

}  // namespace

ModelFile find_model_file(const fs::path& folder, const std::string& stated, bool moved,
                          const FilePlace& place) {
  std::string text = stated;
  const bool from_root = text.starts_with('/') || text.starts_with('\\') || has_drive(text);
  if (has_drive(text)) text.erase(0, 2);
  if (from_root || !is_there_with_or_without_ending(folder, text)) std::ranges::replace(text, '\\', '/');
  const fs::path path = fs::path(text).lexically_normal().relative_path();
  fs::path below;
  int above = 0;
  for (const fs::path& part : path)
    if (part == "..")
      ++above;
    else
      below /= part;
  if (above > 1 && !moved)
    place.fail(
        "the path {} leads out of the folder of the model and its parent; move the photos, or name their "
        "folder with --images",
        in_quotes(stated));
  check_relative_name(below.string(), place);
  if (from_root || moved) return find_by_last_components(folder, below);
  return {below.string(), path.string()};
}

}  // namespace recon
