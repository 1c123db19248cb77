#include "session/input.hpp"

#include <algorithm>
#include <map>
#include <system_error>

#include "core/error.hpp"
#include "io/colmap_model.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// The image called im0 or im1; empty when there is none.
fs::path find_image(const fs::path& root, const std::string& stem) {
  for (const char* extension :
       {".png", ".PNG", ".jpg", ".jpeg", ".JPG", ".tif", ".tiff", ".ppm", ".pgm", ".bmp"})
    if (is_file(root / (stem + extension))) return root / (stem + extension);
  return {};
}

/// Whether a folder has a part of a scene or a pair, so that somebody will miss it among the results.
bool looks_like_input(const fs::path& root) {
  return is_folder(root / "images") || is_folder(root / "sparse") || is_file(root / "calib.txt") ||
         !find_image(root, "im0").empty() || !find_image(root, "im1").empty();
}

/// What a folder lacks to be a scene or a pair.
std::string what_is_missing(const fs::path& root) {
  const bool left = !find_image(root, "im0").empty(), right = !find_image(root, "im1").empty();
  if (is_file(root / "calib.txt") || left || right)
    return std::string("this is no rectified pair: it has no image ") + (left ? "im1.png" : "im0.png");
  if (!is_folder(root / "images")) return "this is no scene: it has no folder images/";
  if (!is_folder(root / "sparse")) return "this is no scene: it has no folder sparse/";
  return "this is no scene: sparse/ (and sparse/0/, sparse/1/ and so on) has no cameras and images as .txt "
         "or .bin";
}

std::optional<Input> find_input(const fs::path& root) {
  if (const auto scene = find_scene(root)) return *scene;
  if (const auto pair = find_pair(root)) return *pair;
  return std::nullopt;
}

std::vector<Input> inputs_below(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); it != fs::directory_iterator(); it.increment(error))
    paths.push_back(it->path());
  if (error) return {UnusableInput{folder, "the folder cannot be read: " + error.message()}};
  std::sort(paths.begin(), paths.end());
  std::vector<Input> found;
  for (const fs::path& path : paths)
    if (const auto input = find_input(path))
      found.push_back(*input);
    else if (looks_like_input(path))
      found.push_back(UnusableInput{path, what_is_missing(path)});
  return found;
}

constexpr const char* kNotThere = "there is no such file or folder";

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// A folder that is an input, or those below it; never none.
std::vector<Input> inputs_at(const fs::path& path) {
  if (const auto input = find_input(path)) return {*input};
  if (!is_there(path)) return {UnusableInput{path, kNotThere}};
  const std::vector<Input> below = inputs_below(path);
  if (below.empty()) return {UnusableInput{path, what_is_missing(path) + "; nor does a sub-folder hold one"}};
  return below;
}

/// Image files have to be two, and nothing else beside them.
Input pair_of(const std::vector<fs::path>& inputs) {
  for (const fs::path& input : inputs)
    if (!is_there(input)) throw InputError(input.string() + ": " + kNotThere);
  const auto folder = std::find_if(inputs.begin(), inputs.end(), is_folder);
  if (folder != inputs.end())
    throw UsageError(folder->string() +
                     " is a folder and other inputs are files; give the two images of a pair, or folders");
  if (inputs.size() != 2)
    throw UsageError(std::to_string(inputs.size()) + (inputs.size() == 1 ? " file is" : " files are") +
                     " given; a rectified pair is two image files, left and right");
  return PairFiles{{}, inputs[0], inputs[1], {}};
}

/// The folder that an input lies in; nothing for two image files.
std::optional<fs::path> folder_of(const Input& input) {
  const auto* pair = std::get_if<PairFiles>(&input);
  if (pair && pair->root.empty()) return std::nullopt;
  return input_name(input);
}

}  // namespace

std::optional<SceneFolder> find_scene(const fs::path& root) {
  if (!is_folder(root / "images")) return std::nullopt;
  const auto model = find_model_folder(root);
  if (!model) return std::nullopt;
  const fs::path masks = root / "masks";
  return SceneFolder{root, root / "images", *model, is_folder(masks) ? masks : fs::path()};
}

std::optional<PairFiles> find_pair(const fs::path& root) {
  const fs::path left = find_image(root, "im0"), right = find_image(root, "im1");
  if (left.empty() || right.empty()) return std::nullopt;
  const fs::path calibration = root / "calib.txt";
  return PairFiles{root, left, right, is_file(calibration) ? calibration : fs::path()};
}

std::vector<Input> expand_inputs(const std::vector<fs::path>& inputs) {
  if (std::any_of(inputs.begin(), inputs.end(), is_file)) return {pair_of(inputs)};
  std::vector<Input> found;
  for (const fs::path& input : inputs) {
    const std::vector<Input> here = inputs_at(input);
    found.insert(found.end(), here.begin(), here.end());
  }
  return found;
}

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
