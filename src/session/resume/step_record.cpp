#include "session/resume/step_record.hpp"

#include <system_error>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"

namespace recon {

namespace {

using nlohmann::json;

/// Whether the file is in the output folder.
bool is_below(const OutputFile& output) {
  const std::filesystem::path path(output.name);
  return path.is_relative() && std::ranges::none_of(path, [](const auto& part) { return part == ".."; });
}

}  // namespace

bool is_like(const json& value, const json& example) {
  if (example.is_number())
    return example.is_number_unsigned() ? value.is_number_unsigned() : value.is_number();
  if (value.type() != example.type()) return false;
  if (example.is_array()) {
    const bool list = example.size() == 1;
    std::size_t i = 0;
    return (list || value.size() == example.size()) && std::ranges::all_of(value, [&](const json& element) {
             return is_like(element, example[list ? 0 : i++]);
           });
  }
  if (!example.is_object()) return true;
  return std::ranges::all_of(value.items(), [&](const auto& it) {
    const auto known = example.find(example.contains("*") ? "*" : it.key());
    return known == example.end() || is_like(it.value(), *known);
  });
}

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
    // What reports take the results for.
    if (!is_like(record.result, {{"known", 0.0},
                                 {"seconds", 0.0},
                                 {"filled", 0.0},
                                 {"points", 0u},
                                 {"device", ""},
                                 {"found_depths", {0.0, 0.0}},
                                 {"colours", {0.0, 0.0}},
                                 {"warnings", json::array({""})}}))
      return std::nullopt;
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
