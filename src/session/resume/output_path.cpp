#include "session/resume/output_path.hpp"

#include <map>
#include <optional>
#include <string>

#include "core/error.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

/// The folder that an input lies in; nothing for two image files.
std::optional<fs::path> folder_of(const Input& input) {
  const auto* pair = std::get_if<PairFiles>(&input);
  if (pair && pair->root.empty()) return std::nullopt;
  return input_name(input);
}

}  // namespace

fs::path input_name(const Input& input) {
  if (const auto* scene = std::get_if<SceneFolder>(&input)) return scene->root;
  if (const auto* unusable = std::get_if<UnusableInput>(&input)) return unusable->path;
  const auto& pair = std::get<PairFiles>(input);
  return pair.root.empty() ? pair.left : pair.root;
}

fs::path output_path(const SessionOptions& options, const Input& input, bool several_inputs) {
  const auto folder = folder_of(input);
  if (options.output.empty()) return folder ? *folder / "dense" : fs::path("dense");
  if (!several_inputs) return options.output;
  return options.output / fs::weakly_canonical(input_name(input)).filename();
}

void check_output_paths(const SessionOptions& options, const std::vector<Input>& inputs) {
  std::map<fs::path, const Input*> input_in_folder;
  for (const Input& input : inputs)
    if (const auto folder = folder_of(input)) input_in_folder.emplace(fs::weakly_canonical(*folder), &input);
  std::map<fs::path, fs::path> input_of_output;
  for (const Input& input : inputs) {
    if (!is_usable(input)) continue;
    const fs::path output = fs::weakly_canonical(output_path(options, input, inputs.size() > 1));
    if (const auto found = input_in_folder.find(output); found != input_in_folder.end())
      throw UsageError("--output " + output.string() + " is the " +
                       (std::holds_alternative<PairFiles>(*found->second) ? "pair's folder" : "scene") +
                       " itself; its images would be overwritten");
    const auto [place, added] = input_of_output.emplace(output, input_name(input));
    if (!added)
      throw UsageError(input_name(input).string() + " and " + place->second.string() +
                       " would both be written to " + output.string() +
                       "; run them one by one with different --output");
  }
}

}  // namespace recon
