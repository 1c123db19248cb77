#pragma once

#include <string>
#include <string_view>

#include "io/colmap_builder.hpp"
#include "io/colmap_model.hpp"
#include "io/input_file.hpp"

namespace recon {

/// Parsers of COLMAP's text format; `file` is the file name in messages. All throw InputError with file and
/// line.
void parse_cameras_text(InputStream& stream, const std::string& file, ColmapBuilder& builder);
void parse_images_text(InputStream& stream, const std::string& file, ColmapBuilder& builder);
void parse_points_text(InputStream& stream, const std::string& file, ColmapBuilder& builder);

/// Write the content of the text files of a scene to `sink` in pieces.
void format_cameras_text(const Scene& scene, const ByteSink& sink);
/// @throws InputError for a name with blanks at its ends, which the format cannot represent
void format_images_text(const Scene& scene, const ByteSink& sink);
void format_points_text(const Scene& scene, const ByteSink& sink);

/// Parsers of COLMAP's binary format (little-endian); `file` is the file name in messages. Counts are checked
/// against the size of the content before allocation. All throw InputError with file and byte.
void parse_cameras_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder);
void parse_images_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder);
void parse_points_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder);

/// Write the content of the binary files of a scene to `sink` in pieces.
void format_cameras_binary(const Scene& scene, const ByteSink& sink);
void format_images_binary(const Scene& scene, const ByteSink& sink);
void format_points_binary(const Scene& scene, const ByteSink& sink);

}  // namespace recon
