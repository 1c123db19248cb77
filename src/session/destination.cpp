#include "session/destination.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <variant>

#include "core/error.hpp"
#include "core/paths.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

/// The folder that an input lies in; nothing for two image files.
std::optional<fs::path> folder_of(const Input& input) {
  const auto* pair = std::get_if<PairFiles>(&input);
  if (pair && pair->root.empty()) return std::nullopt;
  return input_name(input);
}

/// @throws UsageError where a file is in the way of an output folder
void check_no_file(const fs::path& folder) {
  std::error_code ignored;
  for (fs::path way = folder; !way.empty(); way = way.parent_path()) {
    const fs::file_type type = fs::status(way, ignored).type();
    if (type == fs::file_type::regular)
      throw UsageError(folder.string() + ": the output folder " +
                       (way == folder ? "is a file" : "cannot be made: " + way.string() + " is a file") +
                       "; choose another one with --output");
    if (type == fs::file_type::directory || way == way.parent_path()) return;
  }
}

}  // namespace

bool Destination::is_session(const std::vector<Input>& inputs) const {
  if (inputs.size() != 1) return true;
  if (!folder_of(inputs.front())) return false;
  return std::ranges::find(given, input_name(inputs.front())) == given.end();
}

fs::path Destination::of(const Input& input, bool in_session) const {
  const auto folder = folder_of(input);
  if (output.empty()) return folder ? *folder / "dense" : fs::path("dense");
  if (!in_session) return output;
  const fs::path name = std::visit([](const auto& it) { return it.name; }, input);
  return output / (name.empty() ? resolved_path(input_name(input)).filename() : name);
}

fs::path Destination::session_folder() const {
  if (!output.empty()) return output;
  std::error_code ignored;
  const bool one = given.size() == 1 && fs::is_directory(given.front(), ignored);
  return one ? given.front() : fs::path();
}

void Destination::check(const std::vector<Input>& inputs) const {
  // Of a scene of several the work finds it out: the others are done.
  if (!output.empty() || (inputs.size() == 1 && is_usable(inputs.front())))
    check_no_file(output.empty() ? of(inputs.front(), is_session(inputs)) : output);
  std::map<fs::path, std::string> inputs_there;  // by folder, for people
  for (const Input& input : inputs) {
    if (const auto folder = folder_of(input))
      inputs_there.emplace(
          resolved_path(*folder),
          std::string(std::holds_alternative<PairFiles>(input) ? "the pair's folder" : "the scene") +
              " itself; its images would be overwritten");
    if (const auto* scene = std::get_if<SceneFolder>(&input))
      for (const fs::path& part : {scene->images, scene->root / "sparse", scene->model, scene->masks})
        if (!part.empty())
          inputs_there.emplace(resolved_path(part), "a part of the scene " + scene->root.string() +
                                                        "; results go into a folder of their own");
  }
  std::map<fs::path, fs::path> input_of_output;
  for (const Input& input : inputs) {
    if (!is_usable(input)) continue;
    const fs::path folder = resolved_path(of(input, is_session(inputs)));
    if (const auto found = inputs_there.find(folder); found != inputs_there.end())
      throw UsageError("--output " + folder.string() + " is " + found->second);
    const auto [place, added] = input_of_output.emplace(folder, input_name(input));
    if (!added)
      throw UsageError(input_name(input).string() + " and " + place->second.string() +
                       " would both be written to " + folder.string() +
                       "; run them one by one with different --output");
  }
}

}  // namespace recon
