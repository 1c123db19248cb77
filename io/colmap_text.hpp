#pragma once

#include <string>
#include <string_view>

#include "io/colmap_builder.hpp"
#include "io/colmap_model.hpp"
#include "io/input_stream.hpp"

namespace recon {

/// The parts of COLMAP's text format; `file` names the content in messages. All throw InputError with file
/// and line.
void parse_cameras_text(InputStream& stream, const std::string& file, ColmapBuilder& builder);
void parse_images_text(InputStream& stream, const std::string& file, ColmapBuilder& builder);
void parse_points_text(InputStream& stream, const std::string& file, ColmapBuilder& builder);

/// Hand the content of the text files of a scene to `sink`, piece by piece.
void format_cameras_text(const Scene& scene, const ByteSink& sink);
/// @throws InputError for a name with blanks at its ends, which text cannot hold
void format_images_text(const Scene& scene, const ByteSink& sink);
void format_points_text(const Scene& scene, const ByteSink& sink);

}  // namespace recon
