#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/content_hash.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

/// A file that a step wrote, relative to the output folder.
struct OutputFile {
  std::string name;
  FileIdentity identity;
};

/// What is known of a finished step of one view: everything its result depends on, the files it wrote, and
/// what there is to say about the result. It is written last, so that its presence means that the step was
/// finished.
struct StepRecord {
  nlohmann::json inputs;
  std::vector<OutputFile> outputs;
  nlohmann::json result;
  bool cleaned = false;  ///< the files were removed, since nothing but other options would need them again
};

/// Writes a record.
/// @throws OutputError
void write_record(const std::filesystem::path& path, const StepRecord& record);

/// Writes the record of a step in the place of that of an earlier run, whose files are removed unless they
/// are files of the new one too.
/// @throws OutputError
void replace_record(const Workspace& workspace, const std::string& record_file, const StepRecord& record);

/// Reads a record; nothing when there is none, it is damaged, names a file outside the output folder, or a
/// value has another type than was written.
std::optional<StepRecord> read_record(const std::filesystem::path& path);

/// Whether all files of a record are there with the content that was written; otherwise the first that is
/// not.
std::optional<std::string> damaged_output(const StepRecord& record,
                                          const std::filesystem::path& output_folder);

/// A finished step whose record still holds, or why the step has to be done (again). `reason` is empty when
/// it was never done.
struct FinishedStep {
  std::optional<StepRecord> record;
  std::string reason;
  bool changed = false;  ///< the reason is that it depends on something else now
};

/// @param overwrite  nothing is finished
/// @param inputs     what the result has to depend on
FinishedStep find_finished(const Workspace& workspace, bool overwrite, const std::string& record_file,
                           const nlohmann::json& inputs);

/// Says how much is kept and how much is done again, and why.
/// @param reasons  for the views to be done; empty strings where they were never done
void log_resumed(const std::string& step, std::size_t kept,
                 const std::vector<std::pair<std::string, std::string>>& reasons);

}  // namespace recon
