#pragma once

#include <string>
#include <string_view>

#include "io/colmap_builder.hpp"
#include "io/colmap_model.hpp"

namespace recon {

/// The parts of COLMAP's text format; `file` names the content in messages. All throw InputError with file
/// and line.
void parse_cameras_text(std::string_view content, const std::string& file, ColmapBuilder& builder);
void parse_images_text(std::string_view content, const std::string& file, ColmapBuilder& builder);
void parse_points_text(std::string_view content, const std::string& file, ColmapBuilder& builder);

/// The text files cameras.txt, images.txt and points3D.txt of a scene.
ColmapFiles format_colmap_text(const Scene& scene);

}  // namespace recon
