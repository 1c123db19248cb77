#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "session/options/options.hpp"
#include "session/products/findings.hpp"
#include "session/products/scene_products.hpp"

namespace recon {

/// What --export-points writes.
std::vector<std::string> point_files();

/// Writes the model of --export-points with points of the finished cloud.
/// @param memory  bytes of the whole program
/// @returns the number of points
/// @throws OutOfMemory, OutputError, Interrupted
std::size_t export_points(const SceneProducts& products, const CloudSettings& cloud, std::size_t memory,
                          Findings& findings);

}  // namespace recon
