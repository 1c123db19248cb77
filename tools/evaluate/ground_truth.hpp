#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace recon {

/// The file with the ground-truth depth of a view: NAME.png or NAME.bin in `folder`, where NAME is the name
/// of the view with or without its ending; nothing when there is none.
std::optional<std::filesystem::path> find_truth(const std::filesystem::path& folder,
                                                const std::string& view_name);

/// Depth in scene units: a COLMAP array (.bin), or a 16-bit PNG in steps of `unit` with 0 for unknown.
/// Unknown is NaN.
/// @throws InputError
Image<float> read_truth(const std::filesystem::path& path, double unit);

/// Reads COLMAP's visibility file of a cloud: for each of `view_count` views, the ascending indices of its
/// points.
/// @throws InputError with file and byte when it is damaged, or is not of a cloud of `point_count` points
std::vector<std::vector<std::uint32_t>> read_visibility(const std::filesystem::path& path,
                                                        std::size_t point_count, std::size_t view_count);

/// @throws UsageError when there is no threshold or one is not a positive number
void check_thresholds(const std::vector<double>& thresholds);

/// @throws UsageError when the option's value is not a positive number
void check_positive(const char* option, double value);

}  // namespace recon
