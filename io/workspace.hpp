#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace recon {

/// A reference view of patch-match.cfg with the names of its source views, best first.
struct PatchMatchEntry {
  std::string reference;
  std::vector<std::string> sources;
};

/// Writes stereo/patch-match.cfg of a COLMAP dense workspace: per view a line with its name and a line with
/// the names of its source views, separated by commas. Omitted are sources whose names contain a comma or
/// semicolon, which the format cannot represent, views without remaining sources, and views whose names start
/// with # (a comment in COLMAP).
/// @throws OutputError
void write_patch_match_config(const std::filesystem::path& path, const std::vector<PatchMatchEntry>& entries);

/// Reads patch-match.cfg. COLMAP's keywords for automatic selection (__auto__, __all__) are returned as
/// sources, unchanged.
/// @throws InputError with file and line, also for names outside the workspace
std::vector<PatchMatchEntry> read_patch_match_config(const std::filesystem::path& path);
std::vector<PatchMatchEntry> parse_patch_match_config(std::string_view text, const std::string& file);

/// Writes stereo/fusion.cfg: one name per line, in the given order. Names that start with # are omitted.
/// @throws OutputError
void write_fusion_config(const std::filesystem::path& path, const std::vector<std::string>& names);

/// Reads fusion.cfg.
/// @throws InputError with file and line
std::vector<std::string> read_fusion_config(const std::filesystem::path& path);
std::vector<std::string> parse_fusion_config(std::string_view text, const std::string& file);

}  // namespace recon
