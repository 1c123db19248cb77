#include "session/resume/step_record.hpp"

#include <system_error>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"

namespace recon {

namespace {

using nlohmann::json;

/// Whether the results are of the types that reports take them for.
bool is_result(const json& result) {
  const auto are_texts = [](const json& list) {
    return list.is_array() && std::ranges::all_of(list, [](const json& text) { return text.is_string(); });
  };
  const auto are_two_numbers = [](const json& list) {
    return list.is_array() && list.size() == 2 && list[0].is_number() && list[1].is_number();
  };
  return result.is_object() &&
         members_are(result, {"known", "seconds", "filled"},
                     [](const json& value) { return value.is_number(); }) &&
         members_are(result, {"points"}, [](const json& value) { return value.is_number_unsigned(); }) &&
         members_are(result, {"device"}, [](const json& value) { return value.is_string(); }) &&
         members_are(result, {"found_depths", "colours"}, are_two_numbers) &&
         members_are(result, {"warnings"}, are_texts);
}

/// Whether the file is in the output folder.
bool is_below(const OutputFile& output) {
  const std::filesystem::path path(output.name);
  return path.is_relative() && std::ranges::none_of(path, [](const auto& part) { return part == ".."; });
}

}  // namespace

void write_record(const std::filesystem::path& path, const StepRecord& record) {
  json outputs = json::array();
  for (const OutputFile& output : record.outputs)
    outputs.push_back(
        {{"file", output.name}, {"size", output.identity.size}, {"hash", output.identity.hash}});
  json document = {{"inputs", record.inputs}, {"outputs", outputs}, {"result", record.result}};
  if (record.cleaned) document["cleaned"] = true;
  if (record.superseded) document["superseded"] = true;
  if (record.replaced) document["replaced"] = true;
  write_file(path, json_text(document));
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
    record.superseded = document.value("superseded", false);
    record.replaced = document.value("replaced", false);
    for (const json& output : document.at("outputs"))
      record.outputs.push_back(
          {output.at("file").get<std::string>(),
           {output.at("size").get<std::uint64_t>(), output.at("hash").get<std::string>()}});
    if (!std::ranges::all_of(record.outputs, is_below)) return std::nullopt;
    return record;
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool is_as_written(const OutputFile& output, const std::filesystem::path& output_folder) {
  const std::filesystem::path path = output_folder / output.name;
  std::error_code error;
  // The size reveals most damage without reading the file.
  return std::filesystem::file_size(path, error) == output.identity.size && !error &&
         identify_file(path) == output.identity;
}

std::optional<std::string> damaged_output(const StepRecord& record,
                                          const std::filesystem::path& output_folder) {
  for (const OutputFile& output : record.outputs)
    if (!is_as_written(output, output_folder)) return output.name;
  return std::nullopt;
}

}  // namespace recon
