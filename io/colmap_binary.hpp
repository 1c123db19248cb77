#pragma once

#include <string>
#include <string_view>

#include "io/colmap_builder.hpp"
#include "io/colmap_model.hpp"

namespace recon {

/// The parts of COLMAP's binary format (little-endian); `file` names the content in messages. Counts are
/// checked against the size of the content before anything is allocated. All throw InputError with file and
/// byte.
void parse_cameras_binary(std::string_view content, const std::string& file, ColmapBuilder& builder);
void parse_images_binary(std::string_view content, const std::string& file, ColmapBuilder& builder);
void parse_points_binary(std::string_view content, const std::string& file, ColmapBuilder& builder);

/// The binary files cameras.bin, images.bin and points3D.bin of a scene.
ColmapFiles format_colmap_binary(const Scene& scene);

}  // namespace recon
