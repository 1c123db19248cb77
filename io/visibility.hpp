#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace recon {

/// Reads COLMAP's visibility file of a cloud (`fused.ply.vis`): for each of `view_count` views, the ascending
/// indices of the points that it sees.
/// @throws InputError with file and byte if it is damaged, or does not belong to a cloud of `point_count`
/// points
std::vector<std::vector<std::uint32_t>> read_visibility(const std::filesystem::path& path,
                                                        std::size_t point_count, std::size_t view_count);
std::vector<std::vector<std::uint32_t>> parse_visibility(std::string_view bytes, const std::string& file,
                                                         std::size_t point_count, std::size_t view_count);

}  // namespace recon
