#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "session/options/options.hpp"
#include "session/plan/plan.hpp"
#include "session/products/findings.hpp"
#include "session/products/scene_products.hpp"
#include "session/resume/output_folder.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

/// @param scene  for messages
/// @throws UsageError for a --tile that is far too small for the sparse points or less than a pixel is wide,
/// before anything is computed
void check_tile_size(const std::string& scene, const ScenePlan& plan, const CloudSettings& cloud);

/// Divides the finished cloud into tiles of --tile scene units; finished tiles of the same cloud are kept,
/// all others are removed.
/// @throws UsageError when there would be too many, OutputError, Interrupted
void tile_cloud(SceneProducts& products, const StepInputs& inputs, double tile);

/// What --export-points and --export-priors write, beside their record.
std::vector<std::string> exported_files(const ScenePlan& plan, const CloudSettings& cloud);

/// Removes the tiles of an earlier run, or what it exported.
/// @param step      kTiles or kExport
/// @param replaced  by that of this run; else a message says that there was something
/// @throws OutputError
void remove_extra(SceneProducts& products, Step step, bool replaced);

/// Writes the model of --export-points and the maps of --export-priors, by the finished cloud and the checked
/// views; finished ones of the same cloud and maps are kept.
/// @param memory  bytes of the whole program
/// @throws OutOfMemory, InputError, OutputError, Interrupted
void export_splat(SceneProducts& products, const StepInputs& inputs, const CloudSettings& cloud,
                  std::size_t memory, Findings& findings);

/// What --export-points writes.
std::vector<std::string> point_files();

/// Writes the model of --export-points with points of the finished cloud.
/// @param memory  bytes of the whole program
/// @returns the number of points
/// @throws OutOfMemory, OutputError, Interrupted
std::size_t export_points(const SceneProducts& products, const CloudSettings& cloud, std::size_t memory,
                          Findings& findings);

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
