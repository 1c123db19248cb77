#pragma once

#include <filesystem>
#include <vector>

#include "session/options/options.hpp"
#include "session/scene/scene_input.hpp"

namespace recon {

/// How messages and reports call an input: its folder, or the left image.
std::filesystem::path input_name(const Input& input);

/// The output folder of an input.
/// @param several_inputs  each gets a folder of its own name inside --output
std::filesystem::path output_path(const SessionOptions& options, const Input& input, bool several_inputs);

/// @throws UsageError when results would be written over an input, or those of two inputs into one folder
void check_output_paths(const SessionOptions& options, const std::vector<Input>& inputs);

}  // namespace recon
