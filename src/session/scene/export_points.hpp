#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "session/options/scene_settings.hpp"
#include "session/products/findings.hpp"
#include "session/products/scene_products.hpp"
#include "session/resume/output_folder.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

/// What --export-points writes, beside its record.
std::vector<std::string> exported_files();

/// Removes the model of the points of an earlier run.
/// @param replaced  by that of this run; else a message says that there was one
/// @throws OutputError
void remove_exported_points(SceneProducts& products, bool replaced);

/// Writes the model of --export-points with points of the finished cloud; a finished one of the same cloud is
/// kept.
/// @param memory  bytes of the whole program
/// @throws OutOfMemory, OutputError, Interrupted
void export_points(SceneProducts& products, const StepInputs& inputs, const CloudSettings& cloud,
                   std::size_t memory, Findings& findings);

}  // namespace recon
