#include "io/model/colmap_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/paths.hpp"
#include "io/file/byte_reader.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"
#include "io/file/text_scanner.hpp"
#include "io/model/colmap_formats.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

fs::path file_of(const fs::path& folder, std::string_view name, ColmapFormat format) {
  return folder / (std::string(name) + (format == ColmapFormat::kText ? ".txt" : ".bin"));
}

bool has_file(const fs::path& folder, std::string_view name, ColmapFormat format) {
  return is_there(file_of(folder, name, format));
}

/// Whether the required files of a model exist.
bool is_complete(const fs::path& folder, ColmapFormat format) {
  return has_file(folder, "cameras", format) && has_file(folder, "images", format);
}

/// The complete format, binary first; if none is complete, that of the cameras file, so that the message
/// names the missing files.
ColmapFormat format_of(const fs::path& folder) {
  for (const ColmapFormat format : {ColmapFormat::kBinary, ColmapFormat::kText})
    if (is_complete(folder, format)) return format;
  return has_file(folder, "cameras", ColmapFormat::kBinary) ? ColmapFormat::kBinary : ColmapFormat::kText;
}

void parse_file(const fs::path& path, ColmapParser* parse, ColmapBuilder& builder) {
  InputStream stream(path);
  parse(stream, path.string(), builder);
}

/// The number of images of a model, as its images file announces it or has lines; 0 where it cannot be read.
std::uint64_t count_images(const fs::path& folder) {
  const ColmapFormat format = format_of(folder);
  const fs::path path = file_of(folder, "images", format);
  try {
    InputStream stream(path);
    const std::string file = path.string();
    if (format == ColmapFormat::kBinary) return ByteReader(stream, file).read<std::uint64_t>("a count");
    LineScanner lines(stream, file);
    std::uint64_t images = 0;
    for (std::string_view line; lines.next_content(line); ++images) lines.next(line);  // its observations
    return images;
  } catch (const InputError&) {
    return 0;
  }
}

/// Whether COLMAP takes a line that begins with this name for a comment.
bool is_comment(std::string_view name) {
  return name.starts_with('#');
}

/// Cameras and poses, without points, of the files of a format.
Scene read_cameras_and_poses(const fs::path& folder, ColmapFormat format, std::size_t memory_limit) {
  const ColmapParsers parsers = colmap_parsers(format);
  const fs::path images = file_of(folder, "images", format);
  ColmapBuilder builder(memory_limit);
  parse_file(file_of(folder, "cameras", format), parsers.cameras, builder);
  parse_file(images, parsers.images, builder);
  Scene scene = builder.finish(images.string());
  for (View& view : scene.views) view.observations.clear();
  return scene;
}

/// Whether numbers are the same but for the digits that programs write.
bool nearly_same(std::span<const double> a, std::span<const double> b) {
  constexpr double kDigits = 1e-5;
  return std::ranges::equal(a, b, [](double x, double y) {
    return std::abs(x - y) <= kDigits * std::max({1.0, std::abs(x), std::abs(y)});
  });
}

bool have_same_cameras_and_poses(const Scene& a, const Scene& b) {
  const auto same_camera = [](const Camera& x, const Camera& y) {
    return x.model == y.model && x.width == y.width && x.height == y.height &&
           nearly_same(x.params, y.params);
  };
  const auto same_view = [](const View& x, const View& y) {
    const Vec3d p = x.cam_from_world.translation, q = y.cam_from_world.translation;
    return x.name == y.name && x.camera == y.camera &&
           nearly_same(x.cam_from_world.rotation.m, y.cam_from_world.rotation.m) &&
           nearly_same(std::array{p.x, p.y, p.z}, std::array{q.x, q.y, q.z});
  };
  return a.camera_ids == b.camera_ids && std::ranges::equal(a.cameras, b.cameras, same_camera) &&
         std::ranges::equal(a.views, b.views, same_view);
}

/// Whether the files of both formats have the same cameras and poses, as after a conversion.
bool formats_agree(const fs::path& folder, std::size_t memory_limit) {
  if (!is_complete(folder, ColmapFormat::kText) || !is_complete(folder, ColmapFormat::kBinary)) return false;
  try {
    return have_same_cameras_and_poses(read_cameras_and_poses(folder, ColmapFormat::kText, memory_limit),
                                       read_cameras_and_poses(folder, ColmapFormat::kBinary, memory_limit));
  } catch (const InputError&) {
    return false;
  } catch (const OutOfMemory&) {
    return false;
  }
}

/// Warns where a file of the format that is not read is newer and has others: somebody has corrected it.
void warn_of_newer_files(const fs::path& folder, ColmapFormat format, std::size_t memory_limit,
                         ColmapBuilder& builder) {
  const ColmapFormat other = format == ColmapFormat::kText ? ColmapFormat::kBinary : ColmapFormat::kText;
  for (const char* name : {"cameras", "images"}) {
    const fs::path read = file_of(folder, name, format), unread = file_of(folder, name, other);
    std::error_code error, other_error;
    const auto time = fs::last_write_time(read, error), other_time = fs::last_write_time(unread, other_error);
    if (error || other_error || other_time <= time) continue;
    if (!formats_agree(folder, memory_limit))
      builder.warn(unread.string() + " is newer than " + read.filename().string() +
                   ", which is read in its place: where it is the right one, move the files of the "
                   "model that end in " +
                   read.extension().string() + " elsewhere; cameras and images are then read as " +
                   unread.extension().string());
    return;
  }
}

}  // namespace

Scene read_colmap_model(const fs::path& folder, std::size_t memory_limit) {
  const ColmapFormat format = format_of(folder);
  const ColmapParsers parsers = colmap_parsers(format);
  ColmapBuilder builder(memory_limit);
  warn_of_newer_files(folder, format, memory_limit, builder);
  parse_file(file_of(folder, "cameras", format), parsers.cameras, builder);
  const fs::path rigs = file_of(folder, "rigs", format), frames = file_of(folder, "frames", format);
  if (is_there(rigs) && is_there(frames)) {
    parse_file(rigs, parsers.rigs, builder);
    parse_file(frames, parsers.frames, builder);
  } else if (is_there(frames)) {
    builder.warn(frames.string() + ": there is no " + rigs.filename().string() +
                 " beside it: the poses of the images file are used; export the whole model again");
  }
  const fs::path images = file_of(folder, "images", format);
  parse_file(images, parsers.images, builder);
  if (has_file(folder, "points3D", format))
    parse_file(file_of(folder, "points3D", format), parsers.points, builder);
  return builder.finish(images.string());
}

void check_colmap_model(const fs::path& folder, std::size_t memory_limit) {
  const ColmapFormat format = format_of(folder);
  ColmapBuilder builder(memory_limit);
  parse_file(file_of(folder, "cameras", format), colmap_parsers(format).cameras, builder);
  for (const char* name : {"rigs", "frames", "images", "points3D"})
    if (const fs::path file = file_of(folder, name, format); is_there(file))
      const InputDescriptor opened(file);
}

void write_colmap_model(const fs::path& folder, const Scene& scene, ColmapFormat format) {
  EXPECTS(scene.camera_ids.size() == scene.cameras.size());
  const auto write = [&](std::string_view name, const auto& formatter) {
    AtomicFile file(file_of(folder, name, format));
    formatter(scene, format, [&file](std::string_view bytes) { file.write(bytes); });
    file.commit_if_changed();
  };
  write("images", format_colmap_images);
  write("points3D", format_colmap_points);
  // Written last: a folder with a cameras file is a complete model.
  write("cameras", format_colmap_cameras);
}

bool has_colmap_model(const fs::path& folder) {
  if (!is_folder(folder)) return false;
  return is_complete(folder, ColmapFormat::kBinary) || is_complete(folder, ColmapFormat::kText);
}

std::vector<ModelFolder> largest_first(const std::vector<fs::path>& models) {
  std::vector<ModelFolder> folders;
  for (const fs::path& model : models)
    folders.push_back({model, models.size() > 1 ? count_images(model) : 0});
  std::ranges::stable_sort(folders, std::greater(), &ModelFolder::images);
  return folders;
}

std::vector<ModelFolder> find_model_folders(const fs::path& scene_folder) {
  const fs::path sparse = scene_folder / "sparse";
  if (has_colmap_model(sparse)) return largest_first({sparse});
  std::vector<std::pair<std::uint64_t, fs::path>> numbered;
  for_each_in_folder(sparse, [&](const fs::path& path) {
    if (const auto number = to_number<std::uint64_t>(path.filename().string());
        number && has_colmap_model(path))
      numbered.emplace_back(*number, path);
  });
  std::ranges::sort(numbered);
  std::vector<fs::path> models;
  for (const auto& [number, path] : numbered) models.push_back(path);
  return largest_first(models);
}

std::optional<fs::path> find_model_folder(const fs::path& scene_folder) {
  const std::vector<ModelFolder> folders = find_model_folders(scene_folder);
  if (folders.empty()) return std::nullopt;
  return folders.front().path;
}

fs::path find_model(const fs::path& scene_folder) {
  if (!is_folder(scene_folder))
    throw InputError(scene_folder.string() + ": there is no such folder; give the folder of a scene");
  if (auto folder = find_model_folder(scene_folder)) return *std::move(folder);
  throw InputError(scene_folder.string() +
                   ": there is no COLMAP model here; looked for cameras and images, as .bin or .txt, in "
                   "sparse/ and sparse/0/, sparse/1/ and so on");
}

void write_patch_match_config(const std::filesystem::path& path,
                              const std::vector<PatchMatchEntry>& entries) {
  std::string text;
  for (const PatchMatchEntry& entry : entries) {
    std::string sources;
    for (const std::string& name : entry.sources) {
      if (name.find_first_of(",;") != std::string::npos || (sources.empty() && is_comment(name))) continue;
      sources += (sources.empty() ? "" : ", ") + name;
    }
    if (!sources.empty() && !is_comment(entry.reference)) text += entry.reference + "\n" + sources + "\n";
  }
  write_file_if_changed(path, text);
}

void write_fusion_config(const std::filesystem::path& path, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    if (!is_comment(name)) text += name + "\n";
  write_file_if_changed(path, text);
}

namespace {

/// Writes a file in pieces: words of a line, separated by blanks, or bytes.
class RecordWriter {
 public:
  /// @param heading  comment lines of a text
  RecordWriter(ColmapFormat format, const ByteSink& sink, const std::string& heading,
               std::string_view records, std::uint64_t count)
      : text_(format == ColmapFormat::kText), sink_(sink) {
    if (text_)
      out_ = heading + "# Number of " + std::string(records) + ": " + std::to_string(count) + "\n";
    else
      put(count);
    flush();
  }

  bool is_text() const { return text_; }

  template <class... T>
  void put(T... values) {
    if (text_)
      (put_word(decimal(values)), ...);
    else
      (append_number(out_, values), ...);
  }

  /// A word; in bytes up to a NUL.
  void put_word(std::string_view word) {
    if (text_ && !out_.empty()) out_ += ' ';
    out_ += word;
    if (!text_) out_ += '\0';
  }

  void end_line() {
    if (text_) out_ += '\n';
    flush();
  }

 private:
  void flush() {
    sink_(out_);
    out_.clear();
  }

  const bool text_;
  const ByteSink& sink_;
  std::string out_;
};

void write_view(const Scene& scene, const View& view, RecordWriter& out) {
  if (out.is_text() && trim(view.name) != view.name)
    throw InputError(
        "the image name " + in_quotes(view.name) +
        " begins or ends with a blank, which COLMAP's text format cannot hold; rename the image");
  const Quaternion q = quaternion_of(view.cam_from_world.rotation);
  const auto [x, y, z] = view.cam_from_world.translation;
  out.put(view.id, q.w, q.x, q.y, q.z, x, y, z, scene.camera_ids[view.camera]);
  out.put_word(view.name);
  out.end_line();
  if (!out.is_text()) out.put(std::uint64_t{view.observations.size()});
  for (const Observation& observation : view.observations) {
    out.put(observation.pixel.x, observation.pixel.y);
    if (out.is_text() && observation.point_id == kNoPoint)
      out.put_word("-1");
    else
      out.put(observation.point_id);
  }
  out.end_line();
}

}  // namespace

void format_colmap_cameras(const Scene& scene, ColmapFormat format, const ByteSink& sink) {
  RecordWriter out(
      format, sink,
      "# Camera list with one line of data per camera:\n#   CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]\n",
      "cameras", scene.cameras.size());
  for (std::size_t i = 0; i < scene.cameras.size(); ++i) {
    const Camera& camera = scene.cameras[i];
    out.put(scene.camera_ids[i]);
    if (out.is_text())
      out.put_word(model_name(camera.model));
    else
      out.put(static_cast<std::int32_t>(camera.model));
    out.put(static_cast<std::uint64_t>(camera.width), static_cast<std::uint64_t>(camera.height));
    for (const double param : camera.params) out.put(param);
    out.end_line();
  }
}

void format_colmap_images(const Scene& scene, ColmapFormat format, const ByteSink& sink) {
  RecordWriter out(format, sink,
                   "# Image list with two lines of data per image:\n"
                   "#   IMAGE_ID, QW, QX, QY, QZ, TX, TY, TZ, CAMERA_ID, NAME\n"
                   "#   POINTS2D[] as (X, Y, POINT3D_ID)\n",
                   "images", scene.views.size());
  for (const View& view : scene.views) write_view(scene, view, out);
}

void format_colmap_points(const Scene& scene, ColmapFormat format, const ByteSink& sink) {
  RecordWriter out(format, sink,
                   "# 3D point list with one line of data per point:\n"
                   "#   POINT3D_ID, X, Y, Z, R, G, B, ERROR, TRACK[] as (IMAGE_ID, POINT2D_IDX)\n",
                   "points", scene.points.size());
  for (const SparsePoint& point : scene.points) {
    const auto [x, y, z] = point.position;
    const auto [r, g, b] = point.colour;
    out.put(point.id, x, y, z, r, g, b, point.error);
    if (!out.is_text()) out.put(std::uint64_t{point.track.size()});
    for (const TrackElement& element : point.track)
      out.put(scene.views[element.view].id, element.observation);
    out.end_line();
  }
}

}  // namespace recon
