#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "render/scene_description.hpp"

namespace recon {

/// Content of a description file: the scene, and a sentence about it.
struct DescriptionFile {
  std::string title;
  SceneDescription scene;
};

/// Reads the text of a description file: JSON as specified in scenes/README.md, comments allowed.
/// @param file   name of the file in messages
/// @param views  overrides the number of views in the file: a single arc is sampled with that many views,
///               otherwise the first views are used
/// @throws InputError with the file and the field (or the byte if it is not JSON), the value found and what
///         to do
DescriptionFile parse_description(std::string_view text, const std::string& file,
                                  std::optional<int> views = std::nullopt);

}  // namespace recon
