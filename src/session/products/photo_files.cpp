#include "session/products/photo_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/printable.hpp"
#include "io/file/text_scanner.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

std::string text_of(ImageSize size) {
  return size_text(size.width, size.height);
}

ImageSize size_of(const Camera& camera) {
  return {camera.width, camera.height};
}

/// Whether both sizes are one shape in two scales, each side rounded up or down. Where rounding alone may
/// explain the difference, the photo may as well have been cut.
bool is_scaled(ImageSize photo, ImageSize camera) {
  constexpr int kRounding = 1, kMaxCut = 2;
  if (std::abs(photo.width - camera.width) <= kMaxCut && std::abs(photo.height - camera.height) <= kMaxCut)
    return false;
  const auto min = [](int of, int by) { return (of - kRounding) / static_cast<double>(by); };
  const auto max = [](int of, int by) { return (of + kRounding) / static_cast<double>(by); };
  return min(photo.width, camera.width) <= max(photo.height, camera.height) &&
         min(photo.height, camera.height) <= max(photo.width, camera.width);
}

/// The size that all photos of these views have, if it is another one than the camera's and of its shape.
std::optional<ImageSize> scaled_size(const SceneInput& input, const Camera& camera,
                                     const std::vector<int>& views) {
  std::optional<ImageSize> common;
  for (const int view : views) {
    const fs::path file = input.folder.images / input.scene.views[view].photo_file();
    const auto size = if_readable([&] { return std::optional(image_size(file)); }, std::nullopt);
    if (!size) continue;  // said when the photo is used
    if (!common && !is_scaled(*size, size_of(camera))) return std::nullopt;
    if (common && !(*common == *size)) return std::nullopt;
    common = size;
  }
  return common;
}

void scale_observations(View& view, Vec2d scale) {
  for (Observation& observation : view.observations.edit())
    observation.pixel = {observation.pixel.x * scale.x, observation.pixel.y * scale.y};
}

}  // namespace

void fit_cameras(SceneInput& input, const std::vector<LeftOut>& left_out, Findings& findings) {
  std::vector<std::vector<int>> views_of(input.scene.cameras.size());
  for (std::size_t i = 0; i < input.scene.views.size(); ++i)
    if (!is_left_out(left_out, input.scene.views[i].name))
      views_of[input.scene.views[i].camera].push_back(static_cast<int>(i));

  struct Scaled {
    std::size_t photos = 0;
    std::string first;
  };
  std::map<std::tuple<int, int, int, int>, Scaled> scaled_sizes;  // of cameras and photos
  for (std::size_t c = 0; c < views_of.size(); ++c) {
    Camera& camera = input.scene.cameras[c];
    const auto size = scaled_size(input, camera, views_of[c]);
    if (!size) continue;
    Scaled& scaled = scaled_sizes[{camera.width, camera.height, size->width, size->height}];
    if (scaled.photos == 0) scaled.first = input.scene.views[views_of[c].front()].name;
    scaled.photos += views_of[c].size();
    const Vec2d scale{static_cast<double>(size->width) / camera.width,
                      static_cast<double>(size->height) / camera.height};
    for (const int view : views_of[c]) scale_observations(input.scene.views[view], scale);
    camera = scaled_camera(camera, size->width, size->height);
  }
  for (const auto& [sizes, scaled] : scaled_sizes) {
    const auto [width, height, photo_width, photo_height] = sizes;
    findings.warn(fmt::format(
        "{}: the cameras of {} photo{}, such as {}, are for {} pixels and the photos have {}: the cameras "
        "are scaled; this is right where the photos are those of the model in another size, not cut",
        input.folder.model.string(), scaled.photos, scaled.photos == 1 ? "" : "s", scaled.first,
        size_text(width, height), size_text(photo_width, photo_height)));
  }
}

std::string advice_on_size(std::string_view content, ImageSize photo, const Camera& camera) {
  const int orientation = exif_orientation(content);
  const ImageSize turned{photo.height, photo.width}, wanted = size_of(camera);
  if (orientation >= 5 && (turned == wanted || is_scaled(turned, wanted)))
    return fmt::format(
        "its EXIF orientation {} turns it to {}: the model is of turned photos, and EXIF rotation is not "
        "applied here; turn the pixels of the files (jpegtran, mogrify -auto-orient), or make the model of "
        "the photos as they are stored",
        orientation, text_of(turned));
  if (turned == wanted) return "width and height are exchanged: use the photos as the model has them, turned";
  return "use the photos that the model was made from";
}

std::string similar_photo(const SceneFolder& folder, const fs::path& file, const std::string& name) {
  if (folder.images != folder.root && is_file(folder.root / name))
    return " (there is " + (folder.root / name).string() + ": try --images " + folder.root.string() + ")";
  const std::string stem = file.stem().string();
  const bool is_ascii = std::ranges::all_of(stem, [](unsigned char c) { return c < 0x80; });
  std::error_code error;
  std::vector<std::string> similar;
  for (fs::directory_iterator it(file.parent_path(), error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const std::string other = it->path().stem().string();
    if (lower_case(other) == lower_case(stem) || (!is_ascii && ascii_skeleton(other) == ascii_skeleton(stem)))
      similar.push_back(with_escapes(it->path().filename().string()));
  }
  if (similar.empty()) return {};
  return " (there is " + *std::ranges::min_element(similar) + ": rename it, or change the model)";
}

bool is_image_name(const fs::path& file) {
  static const std::set<std::string> kEndings = {".png", ".jpg",  ".jpeg", ".ppm", ".pgm",
                                                 ".tif", ".tiff", ".bmp",  ".webp"};
  return kEndings.contains(lower_extension(file));
}

int images_in(const fs::path& folder) {
  int count = 0;
  for_each_in_folder(folder, [&](const fs::path& path) { count += is_image_name(path) ? 1 : 0; });
  return count;
}

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
