#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/image/image_size.hpp"
#include "scene/scene.hpp"
#include "session/options/inputs.hpp"
#include "session/products/findings.hpp"
#include "session/products/scene_input.hpp"

namespace recon {

/// Finds photos that are not where the model names them, but have its name without its first folders, or lie
/// deeper under its name, where only one photo and one view go together; a warning says so.
void find_moved_photos(SceneInput& input, Findings& findings);

/// Scales the cameras whose photos are the model's in another size: all photos of the camera that can be read
/// have one size of the camera's shape. Their observations are scaled too, and a warning says so.
/// @param left_out  views whose photos do not count
void fit_cameras(SceneInput& input, const std::vector<LeftOut>& left_out, Findings& findings);

/// Why a photo may have another size than its camera, and what to do.
/// @param content  of the photo's file
std::string advice_on_size(std::string_view content, ImageSize photo, const Camera& camera);

/// " (there is NAME)" of a photo that is not there, where its folder has one of nearly the same name, also in
/// another encoding, or the scene has it at the name's place; else empty.
std::string similar_photo(const SceneFolder& folder, const std::filesystem::path& file,
                          const std::string& name);

/// The files in a folder and below it, relative to it and by their last components; not those of hidden
/// folders, links and results of this program. What cannot be read is not among them.
std::map<std::string, std::vector<std::string>> files_by_name(const std::filesystem::path& folder);

/// Whether the ending of a file is that of an image, and how many such files a folder has.
bool is_image_name(const std::filesystem::path& file);
int images_in(const std::filesystem::path& folder);

}  // namespace recon
