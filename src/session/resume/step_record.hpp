#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/content_hash.hpp"

namespace recon {

/// A file that a step wrote, relative to the output folder.
struct OutputFile {
  std::string name;
  FileIdentity identity;

  friend bool operator==(const OutputFile&, const OutputFile&) = default;
};

/// What is known of a finished step of one view: everything its result depends on, the files it wrote, and
/// what there is to say about the result. It is written last, so that its presence means that the step was
/// finished.
struct StepRecord {
  nlohmann::json inputs;
  std::vector<OutputFile> outputs;
  nlohmann::json result;
  bool cleaned = false;     ///< the files were removed, since nothing but other options would need them again
  bool superseded = false;  ///< a run with --overwrite has begun that is to make the result again
  bool replaced = false;    ///< other files are being written in the place of these
};

/// Whether a value has the types of an example, as files may have been changed by hand: a list of one stands
/// for any number of such elements; of the members of an object those count that the value has too, and the
/// name "*" stands for all.
bool is_like(const nlohmann::json& value, const nlohmann::json& example);

/// Writes a record.
/// @throws OutputError
void write_record(const std::filesystem::path& path, const StepRecord& record);

/// Reads a record; nothing when there is none, it is damaged, names a file outside the output folder, or a
/// value has another type than was written.
std::optional<StepRecord> read_record(const std::filesystem::path& path);

/// Whether a file is there with the content that was written.
bool is_as_written(const OutputFile& output, const std::filesystem::path& output_folder);

/// Whether all files of a record are there with the content that was written; otherwise the first that is
/// not.
std::optional<std::string> damaged_output(const StepRecord& record,
                                          const std::filesystem::path& output_folder);

}  // namespace recon
