#pragma once

#include <optional>
#include <string>

#include "io/model/colmap_formats.hpp"

namespace recon {

/// A file of a model in memory; `name` is its name in messages.
struct ColmapFile {
  std::string name;
  std::string bytes;
};

/// The files of a model: cameras, images, and points3D, rigs and frames if it has them.
struct ColmapFiles {
  ColmapFile cameras;
  ColmapFile images;
  std::optional<ColmapFile> points;
  std::optional<ColmapFile> rigs = {}, frames = {};
};

/// As `read_colmap_model` reads it from files.
inline Scene parse_colmap_model(const ColmapFiles& files, ColmapFormat format) {
  const ColmapParsers parsers = colmap_parsers(format);
  ColmapBuilder builder;
  const auto parse = [&](const ColmapFile& file, ColmapParser* parser) {
    InputStream stream{std::string_view(file.bytes)};
    parser(stream, file.name, builder);
  };
  parse(files.cameras, parsers.cameras);
  if (files.rigs) parse(*files.rigs, parsers.rigs);
  if (files.frames) parse(*files.frames, parsers.frames);
  parse(files.images, parsers.images);
  if (files.points) parse(*files.points, parsers.points);
  return builder.finish(files.images.name);
}

/// As `write_colmap_model` writes it to files.
inline ColmapFiles format_colmap_model(const Scene& scene, ColmapFormat format) {
  const auto file = [&](const std::string& name, const auto& formatter) {
    ColmapFile result{name + (format == ColmapFormat::kText ? ".txt" : ".bin"), {}};
    formatter(scene, format, [&result](std::string_view bytes) { result.bytes += bytes; });
    return result;
  };
  return {file("cameras", format_colmap_cameras), file("images", format_colmap_images),
          file("points3D", format_colmap_points)};
}

}  // namespace recon
