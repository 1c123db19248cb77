#include "session/input.hpp"

#include <glob.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/paths.hpp"
#include "io/file/input_file.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_file.hpp"
#include "io/model/mvsnet_model.hpp"
#include "session/products/photo_files.hpp"
#include "session/report/session_report.hpp"
#include "session/resume/output_folder.hpp"
#include "session/scene/scene_formats.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

/// The names of the images of a pair, left and right: of the sets of Middlebury from 2014 on, of 2001 and
/// 2003, and of 2005 and 2006.
constexpr std::pair<const char*, const char*> kPairNames[] = {
    {"im0", "im1"}, {"im2", "im6"}, {"view1", "view5"}};

/// The names of the calibration of a pair, of any format.
constexpr const char* kCalibrationNames[] = {
    "calib.txt",       "calib.yml",       "calib.yaml",       "calib.json",      "calib_cam_to_cam.txt",
    "calibration.txt", "calibration.yml", "calibration.yaml", "calibration.json"};

/// The calibration in the folder of a pair, the first of these names; empty: there is none.
fs::path find_calibration(const fs::path& root) {
  for (const char* name : kCalibrationNames)
    if (is_there_to_read(root / name)) return root / name;
  return {};
}

/// Whether a folder has a part of a scene or a pair, so that somebody will miss it among the results.
bool looks_like_input(const fs::path& root) {
  return is_folder(root / "images") || is_folder(root / "sparse") || is_there_to_read(root / "calib.txt") ||
         !mvsnet_camera_files(root / "cams").empty() || !find_image(root, "im0").empty() ||
         !find_image(root, "im1").empty();
}

/// What a folder lacks to be a scene or a pair.
std::string what_is_missing(const fs::path& root, const fs::path& images) {
  const bool left = !find_image(root, "im0").empty(), right = !find_image(root, "im1").empty();
  if (is_there_to_read(root / "calib.txt") || left || right)
    return std::string("this is not a rectified pair: it has no image ") + (left ? "im1.png" : "im0.png");
  std::string missing = "this is not a scene: " + what_is_missing_of_a_scene(root, !images.empty());
  if (images_in(root) == 2)
    missing += "; if its two images are a rectified pair: give both, or name them im0 and im1";
  return missing;
}

/// The folder of the masks of a scene; empty where there is none.
/// @throws InputError for what is there and no folder: without its masks a scene would become another one
fs::path find_masks(const fs::path& root) {
  const fs::path masks = root / "masks";
  const PathKind kind = kind_of_path(masks);
  if (kind == PathKind::kNothing) return {};
  if (kind == PathKind::kFolder) return masks;
  throw InputError(masks.string() +
                   ": is no folder; make it a folder with the masks, or remove it to use the whole photos");
}

/// The folder of the photos of a scene: the one that was given, inside the scene or else anywhere.
fs::path images_of(const fs::path& root, const fs::path& given) {
  if (given.empty()) return root / "images";
  return is_folder(root / given) ? root / given : given;
}

/// The parts of a scene, of the first format that is found; what has a folder sparse/ is of COLMAP. Nothing
/// when `root` has no model or, except with transforms.json, no folder of photos.
std::optional<SceneFolder> find_scene(const fs::path& root, const fs::path& name, const fs::path& images) {
  const SceneFolder known{root, images_of(root, images), {}, {}, name, SceneFormat::kColmap, !images.empty()};
  const bool has_sparse = is_folder(root / "sparse");
  for (const SceneImporter& importer : scene_importers()) {
    SceneFolder scene = known;
    scene.format = importer.format;
    if (importer.find(scene)) return scene;
    if (has_sparse) return std::nullopt;
  }
  return std::nullopt;
}

/// The parts of a folder of a rectified pair, as Middlebury has them: its images, as .png or another kind of
/// image, and the calibration, which may be absent. Nothing when `root` lacks an image.
std::optional<PairFiles> find_pair(const fs::path& root, const fs::path& name) {
  for (const auto& [left_name, right_name] : kPairNames) {
    const fs::path left = find_image(root, left_name), right = find_image(root, right_name);
    if (left.empty() || right.empty()) continue;
    return PairFiles{root, left, right, find_calibration(root), name};
  }
  return std::nullopt;
}

/// @param name    of the input
/// @param images  that were given
/// @throws InputError where that cannot be found out
std::optional<Input> find_input(const fs::path& root, const fs::path& name, const fs::path& images) {
  if (auto scene = find_scene(root, name, images)) {
    scene->masks = find_masks(root);
    return *std::move(scene);
  }
  if (auto pair = find_pair(root, name)) return *std::move(pair);
  return std::nullopt;
}

/// Without the path, which the beginning of a message names already.
UnusableInput unusable(const fs::path& path, const Error& error) {
  const std::string text = error.what(), beginning = path.string() + ": ";
  return {path, text.starts_with(beginning) ? text.substr(beginning.size()) : text};
}

/// What is found below a folder.
struct Below {
  std::vector<Input> inputs;
  std::vector<fs::path> photos;  ///< folders that hold several and are no inputs
};

void add_inputs_below(const fs::path& folder, const fs::path& name, const fs::path& images, Below& found);

/// Adds a folder in a folder that was given, or the inputs below it. What cannot be looked up may be an
/// input: somebody will miss it.
void add_inputs_at(const fs::path& path, const fs::path& name, const fs::path& images, Below& found) {
  try {
    std::error_code ignored;
    if (!is_folder(path) || is_output(path)) return;
    if (auto input = find_input(path, name, images)) {
      found.inputs.push_back(*std::move(input));
    } else if (looks_like_input(path)) {
      found.inputs.push_back(UnusableInput{path, what_is_missing(path, images)});
    } else if (!fs::is_symlink(path, ignored)) {
      if (images_in(path) > 1) found.photos.push_back(path);
      add_inputs_below(path, name, images, found);
    }
  } catch (const Error& error) {
    found.inputs.push_back(unusable(path, error));
  }
}

/// Whether a folder holds no input by its name: it is hidden, or the system's.
bool is_passed_over(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "lost+found";
}

/// Adds the inputs below a folder, which `name` leads to from the folder that was given. Hidden folders and
/// results are left out; links are followed once only, so that they cannot lead in circles.
/// @throws InputError when the folder cannot be read
void add_inputs_below(const fs::path& folder, const fs::path& name, const fs::path& images, Below& found) {
  std::vector<fs::path> paths;
  for_each_in_folder(folder, [&](const fs::path& path) {
    if (!is_passed_over(path)) paths.push_back(path);
  });
  std::ranges::sort(paths);
  for (const fs::path& path : paths) add_inputs_at(path, name / path.filename(), images, found);
}

/// What is said of folders with photos that are no inputs; empty where there are none.
std::string text_of_photos(const std::vector<fs::path>& folders) {
  constexpr std::size_t kNamed = 3;
  if (folders.empty()) return {};
  std::string names = folders.front().string();
  for (std::size_t i = 1; i < std::min(kNamed, folders.size()); ++i) names += ", " + folders[i].string();
  if (folders.size() > kNamed) names += fmt::format(" and {} more", folders.size() - kNamed);
  const bool pair = std::ranges::any_of(folders, [](const fs::path& it) { return images_in(it) == 2; });
  return fmt::format("{} {} photos and no cameras: run COLMAP first, which makes them (First use, 1){}",
                     names, folders.size() == 1 ? "holds" : "hold",
                     pair ? "; of a rectified pair give both images, or name them im0 and im1" : "");
}

constexpr const char* kNotThere = "there is no such file or folder";

/// The paths that match a pattern of the shell, by name.
std::vector<fs::path> paths_like(const std::string& pattern) {
  glob_t matches{};
  std::vector<fs::path> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0)
    for (std::size_t i = 0; i < matches.gl_pathc; ++i) paths.emplace_back(matches.gl_pathv[i]);
  ::globfree(&matches);
  return paths;
}

/// Inputs by their paths and, where lists name them relative to their folders, these lists.
using ListsOfInputs = std::map<fs::path, fs::path>;

/// Adds the inputs that a list names.
/// @throws InputError when it cannot be read or names none
void add_listed_inputs(const fs::path& list, std::vector<fs::path>& inputs, ListsOfInputs& lists) {
  const std::string text = read_file(list), name = list.string();
  const std::size_t before = inputs.size();
  LineScanner lines(text, name);
  for (std::string_view line; lines.next_content(line);) {
    inputs.push_back(list.parent_path() / line);
    if (fs::path(line).is_relative()) lists.emplace(inputs.back(), list);
  }
  if (inputs.size() == before) throw InputError(name + ": the list names no scene");
}

/// That an input is not there, and where it was looked for if a list names it.
std::string text_of_missing(const fs::path& input, const ListsOfInputs& lists) {
  const auto found = lists.find(input);
  if (found == lists.end()) return kNotThere;
  return kNotThere + ("; the paths in " + found->second.string() + " are relative to the folder of the list");
}

/// The scene that a path leads into, such as to its images/, sparse/0/ or transforms.json; empty: there is
/// none.
fs::path scene_around(const fs::path& path) {
  constexpr int kMaxDepth = 3;
  fs::path folder = path;
  for (int i = 0; i < kMaxDepth; ++i) {
    folder = (folder / "..").lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();  // without the slash at its end
    if (folder.empty() || folder == folder.root_path()) return {};
    if (find_scene(folder, {}, {})) return folder;
  }
  return {};
}

std::string suggestion(const fs::path& path) try {
  const fs::path scene = scene_around(path);
  if (scene.empty()) return {};
  if (is_output(scene))
    return "; " + path.string() + " is a part of the results in " + scene.string() +
           ": give the scene or the pair that they are of";
  return "; " + path.string() + " is a part of the scene " + scene.string() + ": give that folder";
} catch (const InputError&) {  // what is around cannot be looked up
  return {};
}

/// A folder that is an input, or those below it; never none.
/// @param photos  gets folders below that hold photos and are no inputs
std::vector<Input> inputs_at(const fs::path& path, const fs::path& images, const ListsOfInputs& lists,
                             std::vector<fs::path>& photos) {
  try {
    const PathKind kind = kind_of_path(path);
    if (kind == PathKind::kNothing) return {UnusableInput{path, text_of_missing(path, lists)}};
    if (kind != PathKind::kFolder) return {UnusableInput{path, "is a pipe or a device, no file or folder"}};
    if (const auto input = find_input(path, {}, images)) return {*input};
    Below found;
    add_inputs_below(path, {}, images, found);
    const std::vector<Input>& below = found.inputs;
    SceneFolder scene{path, images_of(path, images), {}, {}, {}, SceneFormat::kColmap, !images.empty()};
    if (std::ranges::none_of(below, is_usable) && find_model_below(scene)) {
      scene.masks = find_masks(path);
      return {scene};
    }
    if (std::ranges::any_of(below, is_usable) && is_folder(path / "images"))
      messages().info("{}: {}; the inputs below it are taken", path.string(), what_is_missing(path, images));
    if (!below.empty()) {
      photos.insert(photos.end(), found.photos.begin(), found.photos.end());
      return below;
    }
    if (!images.empty() && !is_folder(images_of(path, images)))
      return {
          UnusableInput{path, "--images " + images.string() + " is no folder, in the scene or from here"}};
    const std::string part = suggestion(path);
    if (!part.empty()) return {UnusableInput{path, "this is not a scene" + part}};
    if (images.empty() && !looks_like_input(path) && images_in(path) == 0 && !found.photos.empty())
      return {UnusableInput{path, "this is not a scene; " + text_of_photos(found.photos)}};
    return {UnusableInput{path, what_is_missing(path, images) + "; no folder below it is one either"}};
  } catch (const Error& error) {
    return {unusable(path, error)};
  }
}

/// In a session, what a relative path names in the calling folder would be taken for every scene without it.
void keep_to_own_folders(const fs::path& images, std::vector<Input>& session) {
  for (Input& input : session) {
    auto* const scene = std::get_if<SceneFolder>(&input);
    if (scene == nullptr) continue;
    scene->alone = false;
    if (images.empty() || images.is_absolute() || scene->images != images) continue;
    input = UnusableInput{scene->root, "--images " + images.string() +
                                           " is no folder in this scene; of a session each scene has its "
                                           "own, and an absolute path names one for all"};
  }
}

/// The kind of an input that was given; of one that cannot be looked up, what is done with it finds out why.
PathKind kind_of_given(const fs::path& path) {
  return if_readable([&] { return kind_of_path(path); }, PathKind::kOther);
}

/// Where a file may be meant for a list of scenes: how lists are named.
std::string advice_on_lists(const std::vector<fs::path>& inputs) {
  const auto list = std::ranges::find_if(inputs, [](const fs::path& input) {
    return !is_folder(input) && !is_image_name(input) && lower_extension(input) != ".txt";
  });
  return list == inputs.end()
             ? ""
             : "; if " + list->string() + " is a list of scenes: the name of a list has to end in .txt";
}

/// Image files have to be two, and nothing else beside them.
Input pair_of(const std::vector<fs::path>& inputs, const ListsOfInputs& lists) {
  for (const fs::path& input : inputs)
    if (!is_there(input)) throw InputError(input.string() + ": " + text_of_missing(input, lists));
  const auto folder = std::ranges::find_if(inputs, is_folder);
  if (folder != inputs.end())
    throw UsageError(folder->string() +
                     " is a folder and other inputs are files; give the two images of a pair, or folders" +
                     advice_on_lists(inputs));
  if (inputs.size() != 2)
    throw UsageError((inputs.size() == 1 ? "one file is given, " + inputs.front().string()
                                         : std::to_string(inputs.size()) + " files are given") +
                     "; a rectified pair is two image files, left and right" + suggestion(inputs.front()) +
                     advice_on_lists(inputs));
  const std::string part = suggestion(inputs.front());
  return PairFiles{{},
                   inputs[0],
                   inputs[1],
                   {},
                   {},
                   part.empty() ? "; photos that are not rectified are no pair: run COLMAP, and give the "
                                  "folder of its scene"
                                : part};
}

}  // namespace

std::vector<Input> expand_inputs(const std::vector<fs::path>& given, const fs::path& images,
                                 std::string* skipped) {
  std::vector<fs::path> named, inputs;
  ListsOfInputs lists;
  for (const fs::path& input : given)
    if (lower_extension(input) == ".txt" && kind_of_given(input) == PathKind::kFile)
      add_listed_inputs(input, named, lists);
    else
      named.push_back(input);
  for (const fs::path& input : named) {
    const std::vector<fs::path> found =
        kind_of_given(input) == PathKind::kNothing ? paths_like(input.string()) : std::vector<fs::path>();
    if (found.empty()) inputs.push_back(input);
    inputs.insert(inputs.end(), found.begin(), found.end());
  }
  const auto own = std::stable_partition(inputs.begin(), inputs.end(), [](const fs::path& path) {
    return kind_of_given(path) != PathKind::kFile || !is_session_file(path);
  });
  if (own != inputs.begin()) inputs.erase(own, inputs.end());
  const auto is_given_file = [](const fs::path& path) { return kind_of_given(path) == PathKind::kFile; };
  if (std::ranges::any_of(inputs, is_given_file)) return {pair_of(inputs, lists)};
  std::vector<Input> found;
  std::vector<fs::path> photos;
  for (const fs::path& input : inputs) {
    const std::vector<Input> here = inputs_at(input, images, lists, photos);
    found.insert(found.end(), here.begin(), here.end());
  }
  if (skipped != nullptr && !photos.empty()) *skipped = "skipped: " + text_of_photos(photos);
  if (found.size() != 1 || std::ranges::find(given, input_name(found.front())) == given.end())
    keep_to_own_folders(images, found);
  return found;
}

}  // namespace recon
