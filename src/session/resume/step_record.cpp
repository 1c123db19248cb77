#include "session/resume/step_record.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <initializer_list>
#include <system_error>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"
#include "session/resume/changes.hpp"

namespace recon {

namespace {

using nlohmann::json;

/// Whether the results are of the types that reports take them for.
bool is_result(const json& result) {
  if (!result.is_object()) return false;
  const auto all = [&](std::initializer_list<const char*> keys, const auto& has_type) {
    return std::all_of(keys.begin(), keys.end(),
                       [&](const char* key) { return !result.contains(key) || has_type(result.at(key)); });
  };
  const auto are_texts = [](const json& list) {
    return list.is_array() &&
           std::all_of(list.begin(), list.end(), [](const json& text) { return text.is_string(); });
  };
  return all({"known", "seconds", "filled"}, [](const json& value) { return value.is_number(); }) &&
         all({"points"}, [](const json& value) { return value.is_number_unsigned(); }) &&
         all({"device"}, [](const json& value) { return value.is_string(); }) && all({"warnings"}, are_texts);
}

/// Whether the file is in the output folder.
bool is_below(const OutputFile& output) {
  const std::filesystem::path path(output.name);
  return path.is_relative() &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}

}  // namespace

void write_record(const std::filesystem::path& path, const StepRecord& record) {
  json outputs = json::array();
  for (const OutputFile& output : record.outputs)
    outputs.push_back(
        {{"file", output.name}, {"size", output.identity.size}, {"hash", output.identity.hash}});
  json document = {{"inputs", record.inputs}, {"outputs", outputs}, {"result", record.result}};
  if (record.cleaned) document["cleaned"] = true;
  write_file(path, json_text(document));
}

void replace_record(const Workspace& workspace, const std::string& record_file, const StepRecord& record) {
  const std::filesystem::path path = workspace.path(record_file);
  const std::optional<StepRecord> earlier = read_record(path);
  write_record(path, record);
  if (!earlier) return;
  for (const OutputFile& file : earlier->outputs)
    if (std::none_of(record.outputs.begin(), record.outputs.end(),
                     [&](const OutputFile& it) { return it.name == file.name; }))
      remove_result(workspace.path(file.name));
}

std::optional<StepRecord> read_record(const std::filesystem::path& path) {
  try {
    if (!is_file(path)) return std::nullopt;
    const json document = json::parse(read_file(path));
    StepRecord record;
    record.inputs = document.at("inputs");
    record.result = document.at("result");
    if (!is_result(record.result)) return std::nullopt;
    record.cleaned = document.value("cleaned", false);
    for (const json& output : document.at("outputs"))
      record.outputs.push_back(
          {output.at("file").get<std::string>(),
           {output.at("size").get<std::uint64_t>(), output.at("hash").get<std::string>()}});
    if (!std::all_of(record.outputs.begin(), record.outputs.end(), is_below)) return std::nullopt;
    return record;
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::optional<std::string> damaged_output(const StepRecord& record,
                                          const std::filesystem::path& output_folder) {
  for (const OutputFile& output : record.outputs) {
    const std::filesystem::path path = output_folder / output.name;
    std::error_code error;
    // The size reveals most damage without reading the file.
    if (std::filesystem::file_size(path, error) != output.identity.size || error) return output.name;
    if (identify_file(path) != output.identity) return output.name;
  }
  return std::nullopt;
}

FinishedStep find_finished(const Workspace& workspace, bool overwrite, const std::string& record_file,
                           const nlohmann::json& inputs) {
  if (overwrite) return {};
  const std::filesystem::path path = workspace.path(record_file);
  FinishedStep finished{read_record(path), {}, false};
  if (!finished.record) {
    std::error_code error;
    if (std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::not_found)
      finished.reason = kDamagedRecord;
    return finished;
  }
  finished.reason = describe_change(finished.record->inputs, nlohmann::json::parse(json_text(inputs)));
  finished.changed = !finished.reason.empty();
  if (!finished.changed && !finished.record->cleaned)
    if (const auto damaged = damaged_output(*finished.record, workspace.root()))
      finished.reason = *damaged + " is missing or damaged";
  if (!finished.reason.empty()) finished.record.reset();
  return finished;
}

void log_resumed(const std::string& step, std::size_t kept,
                 const std::vector<std::pair<std::string, std::string>>& reasons) {
  std::size_t stale = 0;
  const std::pair<std::string, std::string>* first = nullptr;
  for (const auto& it : reasons) {
    if (it.second.empty()) continue;
    if (stale++ == 0) first = &it;
    spdlog::debug("{}: {} is done again: {}", step, it.first, it.second);
  }
  if (kept > 0) spdlog::info("{}: {} of {} views are finished and kept", step, kept, kept + reasons.size());
  if (stale == 1)
    spdlog::info("{}: the stale view {} is done again: {}", step, first->first, first->second);
  else if (stale > 1)
    spdlog::info("{}: {} stale views are done again, such as {}: {}", step, stale, first->first,
                 first->second);
}

}  // namespace recon
