#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "session/options/options.hpp"
#include "session/products/scene_products.hpp"

namespace recon {

/// The most that --export-priors writes.
std::vector<std::string> prior_files(const ScenePlan& plan, PriorFormat format);

/// A map that --export-priors writes of a view.
struct PriorMap {
  std::string file;
  std::uint64_t pixel_bytes;  ///< at most
};
std::vector<PriorMap> prior_maps(const std::string& view, PriorFormat format);

/// Trainers look for maps by the name of the image without its ending.
/// @throws UsageError where two views would share a map
void check_prior_names(const ScenePlan& plan, PriorFormat format);

/// Writes the maps of the checked views.
/// @param memory  bytes of the whole program
/// @throws InputError, OutputError, Interrupted
std::vector<OutputFile> export_priors(const SceneProducts& products, const CloudSettings& cloud,
                                      std::size_t memory);

}  // namespace recon
