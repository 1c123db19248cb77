#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/image/image_file.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

/// Scales the cameras whose photos are the model's in another size: all photos of the camera that can be read
/// have one size of the camera's shape. Their observations are scaled too, and a warning says so.
/// @param left_out  views whose photos do not count
void fit_cameras(SceneRun& run, const std::vector<LeftOut>& left_out);

/// Why a photo may have another size than its camera, and what to do.
/// @param content  of the photo's file
std::string advice_on_size(std::string_view content, ImageSize photo, const Camera& camera);

/// " (there is NAME)" of a photo that is not there, where its folder has one of nearly the same name, or the
/// scene has it at the name's place; else empty.
std::string similar_photo(const SceneFolder& folder, const std::filesystem::path& file,
                          const std::string& name);

}  // namespace recon
