#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "session/options/options.hpp"
#include "session/products/findings.hpp"
#include "session/products/scene_products.hpp"
#include "session/resume/output_folder.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

/// What --export-points and --export-priors write, beside their record.
std::vector<std::string> exported_files(const ScenePlan& plan, const CloudSettings& cloud);

/// Removes what an earlier run exported.
/// @param replaced  by that of this run; else a message says that there was something
/// @throws OutputError
void remove_export(SceneProducts& products, bool replaced);

/// Writes the model of --export-points and the maps of --export-priors, by the finished cloud and the checked
/// views; finished ones of the same cloud and maps are kept.
/// @param memory  bytes of the whole program
/// @throws OutOfMemory, InputError, OutputError, Interrupted
void export_splat(SceneProducts& products, const StepInputs& inputs, const CloudSettings& cloud,
                  std::size_t memory, Findings& findings);

}  // namespace recon
