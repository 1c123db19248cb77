#include "io/colmap_model.hpp"

#include <system_error>

#include "io/atomic_file.hpp"
#include "io/colmap_binary.hpp"
#include "io/colmap_text.hpp"
#include "io/file_bytes.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

/// The three readers of a format.
struct Parsers {
  using Parser = void (*)(std::string_view, const std::string&, ColmapBuilder&);
  Parser cameras, images, points;
};

Parsers parsers_of(ColmapFormat format) {
  if (format == ColmapFormat::kText) return {parse_cameras_text, parse_images_text, parse_points_text};
  return {parse_cameras_binary, parse_images_binary, parse_points_binary};
}

std::string_view extension_of(ColmapFormat format) {
  return format == ColmapFormat::kText ? ".txt" : ".bin";
}

fs::path file_of(const fs::path& folder, std::string_view name, ColmapFormat format) {
  return folder / (std::string(name) + std::string(extension_of(format)));
}

bool has_cameras(const fs::path& folder, ColmapFormat format) {
  std::error_code error;
  return fs::exists(file_of(folder, "cameras", format), error);
}

void parse_file(const fs::path& path, Parsers::Parser parse, ColmapBuilder& builder) {
  parse(read_file(path), path.string(), builder);
}

}  // namespace

Scene read_colmap_model(const fs::path& folder) {
  const ColmapFormat format =
      has_cameras(folder, ColmapFormat::kBinary) ? ColmapFormat::kBinary : ColmapFormat::kText;
  const Parsers parsers = parsers_of(format);
  ColmapBuilder builder;
  // One file at a time, so that never more than one is in memory beside the scene.
  parse_file(file_of(folder, "cameras", format), parsers.cameras, builder);
  const fs::path images = file_of(folder, "images", format);
  parse_file(images, parsers.images, builder);
  const fs::path points = file_of(folder, "points3D", format);
  std::error_code error;
  if (fs::exists(points, error)) parse_file(points, parsers.points, builder);
  return builder.finish(images.string());
}

Scene parse_colmap_model(const ColmapFiles& files, ColmapFormat format) {
  const Parsers parsers = parsers_of(format);
  ColmapBuilder builder;
  parsers.cameras(files.cameras.bytes, files.cameras.name, builder);
  parsers.images(files.images.bytes, files.images.name, builder);
  if (files.points) parsers.points(files.points->bytes, files.points->name, builder);
  return builder.finish(files.images.name);
}

void write_colmap_model(const fs::path& folder, const Scene& scene, ColmapFormat format) {
  const ColmapFiles files = format_colmap_model(scene, format);
  write_file(folder / files.images.name, files.images.bytes);
  write_file(folder / files.points->name, files.points->bytes);
  // Last: a folder with a cameras file is a whole model.
  write_file(folder / files.cameras.name, files.cameras.bytes);
  const ColmapFormat other = format == ColmapFormat::kText ? ColmapFormat::kBinary : ColmapFormat::kText;
  for (const std::string_view name : {"cameras", "images", "points3D"}) {
    std::error_code error;
    fs::remove(file_of(folder, name, other), error);
    if (error)
      throw OutputError(file_of(folder, name, other).string() + ": cannot be removed: " + error.message());
  }
}

ColmapFiles format_colmap_model(const Scene& scene, ColmapFormat format) {
  EXPECTS(scene.camera_ids.size() == scene.cameras.size());
  return format == ColmapFormat::kText ? format_colmap_text(scene) : format_colmap_binary(scene);
}

fs::path find_model(const fs::path& scene_folder) {
  std::error_code error;
  if (!fs::is_directory(scene_folder, error))
    throw InputError(scene_folder.string() + ": there is no such folder; give the folder of a scene");
  for (const char* candidate : {"sparse", "sparse/0"})
    for (const ColmapFormat format : {ColmapFormat::kBinary, ColmapFormat::kText})
      if (has_cameras(scene_folder / candidate, format)) return scene_folder / candidate;
  throw InputError(
      scene_folder.string() +
      ": there is no COLMAP model here; looked for cameras.bin and cameras.txt in sparse/ and sparse/0/");
}

fs::path find_images(const fs::path& scene_folder) {
  std::error_code error;
  if (fs::is_directory(scene_folder / "images", error)) return scene_folder / "images";
  throw InputError(scene_folder.string() + ": there are no photos here; looked for the folder images/");
}

}  // namespace recon
