#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "render/scene_description.hpp"

namespace recon {

/// What a description file holds: the scene, and a sentence about it.
struct DescriptionFile {
  std::string title;
  SceneDescription scene;
};

/// Reads the text of a description file: JSON as scenes/README.md explains it, comments allowed.
/// @param file   what messages call the file
/// @param views  number of views instead of the one in the file: an only arc is spread over that many views,
///               of anything else the first ones are taken
/// @throws InputError naming the file and the field (or the byte where it is no JSON), the value found and
///         what to do
DescriptionFile parse_description(std::string_view text, const std::string& file,
                                  std::optional<int> views = std::nullopt);

}  // namespace recon
