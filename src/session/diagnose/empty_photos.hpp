#pragma once

#include <string>
#include <vector>

#include "session/products/findings.hpp"
#include "session/products/scene_products.hpp"

namespace recon {

/// What a photo is that shows nothing, such as "black"; empty where it shows something, or masks leave
/// nothing of it.
/// @param views  of the photo
/// @throws InputError when it or its mask cannot be read
std::string what_is_empty(SceneProducts& products, const std::vector<int>& views);

/// Warns of views without depths whose photos are black, white, of one colour or without any detail.
/// @throws InputError when a photo or mask cannot be read
void name_empty_photos(SceneProducts& products, const std::string& scene, Findings& findings);

}  // namespace recon
