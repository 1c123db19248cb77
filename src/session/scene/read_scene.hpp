#pragma once

#include <filesystem>
#include <vector>

#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/products/findings.hpp"
#include "session/products/host_memory.hpp"
#include "session/products/scene_input.hpp"
#include "session/products/scene_products.hpp"

namespace recon {

/// Reads the model and the masks of a scene, and looks for photos and given maps.
/// @param output  the folder of the results
/// @returns views whose photo is not there, or whose mask cannot be used
/// @throws InputError, UsageError, OutOfMemory
std::vector<LeftOut> read_scene(SceneInput& input, const SceneSettings& settings,
                                const std::filesystem::path& output, const HostLimits& host,
                                Findings& findings);

/// The views of a model, as it was read, whose photo is not there or cannot be used, and why.
std::vector<LeftOut> without_photo(const SceneFolder& folder, const Scene& scene);

/// The plan of the views that are not left out, nor have too long a name, by the points of photos where there
/// are no others.
/// @throws InputError with the file of the model
ScenePlan make_plan(const SceneInput& input, std::vector<LeftOut> left_out, const SceneSettings& settings,
                    Findings& findings);

/// Points by which a scene without sparse points chooses its sources: corners of the photos of all views,
/// also of those that the run leaves to others, matched and triangulated. Few are wrong, and they are no
/// result.
/// @param scene  as it was read
/// @throws Interrupted
std::vector<SparsePoint> points_of_photos(const Scene& scene, SceneProducts& products,
                                          const HostLimits& host);

}  // namespace recon
