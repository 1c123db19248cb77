#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace recon {

/// What came of one input of a session, from its report or its failure: scene, status, exit_code, and where
/// they are known output, views, points, seconds, the number of warnings, and the error.
/// @param report  as `--json` prints it
nlohmann::json session_line(const nlohmann::json& report, int exit_code);

/// The lines as a table for people.
/// @param width  of the terminal, see text_table
std::string session_table(const std::vector<nlohmann::json>& lines,
                          std::optional<std::size_t> width = std::nullopt);

/// What a session takes by the plans of its inputs, as `--dry-run --json` prints them: the number of these
/// ("planned"), the sum of the predicted seconds and how many plans have them ("timed"), the memory at most
/// and the bytes of all results. Inputs
/// that have no plan are counted ("without_plan").
/// @param at_once  inputs that are worked on side by side
nlohmann::json session_estimate(const nlohmann::json& plans, int at_once);

/// The estimate as a line for people.
std::string estimate_text(const nlohmann::json& estimate);

/// The names of what `write_session_files` writes.
inline constexpr const char *kSessionLines = "session.jsonl", *kSessionPage = "index.html";
inline constexpr std::array kSessionFiles = {kSessionLines, kSessionPage};

/// Whether a file has one of these names and was written by it.
bool is_session_file(const std::filesystem::path& path);

/// The lines of session.jsonl; none where there is no such file, and without those that are damaged.
std::vector<nlohmann::json> read_session_lines(const std::filesystem::path& folder);

/// Writes session.jsonl, one line an input, and index.html, which links to their results; a reader finds
/// either the files of the last call or these.
/// @param skipped  what the page says of folders that are no inputs; empty: nothing
/// @throws OutputError
void write_session_files(const std::filesystem::path& folder, const std::vector<nlohmann::json>& lines,
                         const std::string& skipped = {});

/// Gives those of these files that somebody has changed since they were written other names, such as
/// index.changed.html, and those of which no page says how they were written. Call it before they are
/// written.
/// @param alone  no other process writes them; else session.jsonl may be that of another one, and is not
/// looked at
/// @returns texts that name them
/// @throws OutputError
std::vector<std::string> keep_changed_session_files(const std::filesystem::path& folder, bool alone);

}  // namespace recon
