#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace recon {

/// The file with the ground-truth depth of a view: NAME.bin or, without one, NAME.png in `folder`, where NAME
/// is the name of the view with or without its ending; nothing when there is none.
std::optional<std::filesystem::path> find_truth(const std::filesystem::path& folder,
                                                const std::string& view_name);

/// Scene units per step of the PNG files in a folder of ground truth: what the user says, else what a
/// rendered scene says in the scene.json above the folder ("depth_png_levels_per_scene_unit"), else 0.001.
/// @throws UsageError when what the user says is not a positive number; InputError
double truth_unit(const std::filesystem::path& folder, std::optional<double> by_user);

/// Depth in scene units: a COLMAP array (.bin), or a 16-bit PNG in steps of `unit` with 0 for unknown.
/// Unknown is NaN.
/// @throws InputError
Image<float> read_truth(const std::filesystem::path& path, double unit);

/// @throws UsageError when there is no threshold or one is not a positive number
void check_thresholds(const std::vector<double>& thresholds);

/// @throws UsageError when the option's value is not a positive number
void check_positive(const char* option, double value);

}  // namespace recon
