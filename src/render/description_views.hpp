#pragma once

#include <optional>
#include <vector>

#include "render/json_reader.hpp"
#include "render/scene_description.hpp"

namespace recon {

/// The views of a description file ("views", "exposure_spread", "image_format") in order.
/// @param count  overrides the number of views in the file, see parse_description
std::vector<RenderView> read_views(JsonReader& root, std::uint32_t seed, std::optional<int> count);

}  // namespace recon
