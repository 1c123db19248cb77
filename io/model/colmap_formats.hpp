#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "io/file/input_file.hpp"
#include "io/model/colmap_builder.hpp"
#include "io/model/colmap_model.hpp"

namespace recon {

/// Parses one file of a model; `file` is its name in messages. Counts in binary files are checked against the
/// size of the content before allocation.
/// @throws InputError with file and line (text) or byte (binary)
using ColmapParser = void(InputStream& stream, const std::string& file, ColmapBuilder& builder);

struct ColmapParsers {
  ColmapParser *cameras, *rigs, *frames, *images, *points;
};

ColmapParsers colmap_parsers(ColmapFormat format);

/// Receives the next bytes of a file.
using ByteSink = std::function<void(std::string_view)>;

/// Write the content of one file of a scene to `sink` in pieces. Binary files are little-endian.
/// @throws InputError for an image name with blanks at its ends, which the text format cannot represent
void format_colmap_cameras(const Scene& scene, ColmapFormat format, const ByteSink& sink);
void format_colmap_images(const Scene& scene, ColmapFormat format, const ByteSink& sink);
void format_colmap_points(const Scene& scene, ColmapFormat format, const ByteSink& sink);

}  // namespace recon
