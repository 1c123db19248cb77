#include "tools/manual/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "core/printable.hpp"
#include "session/options/option.hpp"

namespace recon {

namespace {

constexpr const char* kSummary = "depth maps and a fused, coloured point cloud from calibrated photos";
constexpr const char* kInputs =
    "SCENE is a folder with images/ and sparse/ as COLMAP has them, with transforms.json as nerfstudio has "
    "it, with images/ and cams/ as MVSNet has them, a folder with a rectified pair as Middlebury has it "
    "(im0.png, im1.png, calib.txt; or im2 and im6, or view1 and view5; see --calibration), or a folder of "
    "such folders. LEFT "
    "and RIGHT are the two images of a "
    "rectified pair. The results are a COLMAP dense workspace, or the disparity of a pair.";
constexpr const char* kNerfFormat =
    "nerfstudio, instant-ngp and NeRF: transforms.json or transforms_train.json. These fields are read: "
    "file_path, which is also the name of the view in the results, transform_matrix, whose last row may be "
    "absent, and depth_file_path (by which --depth-maps finds maps) of each frame; and, "
    "of each or of all, camera_model (OPENCV, PINHOLE, OPENCV_FISHEYE or EQUIRECTANGULAR) or is_fisheye, "
    "fl_x or "
    "camera_angle_x, fl_y or camera_angle_y, cx, cy, w, h, the distortion k1 to k4, p1, p2, and mask_path "
    "(black is ignored), in place of which dynamic_mask_NAME.png may lie beside the photo (what is not black "
    "is ignored). Absolute paths are found by their last components, and paths may begin with one ../. Other "
    "fields are ignored, such as ply_file_path.";
constexpr const char* kMvsnetFormat =
    "MVSNet: cams/NAME_cam.txt and images/NAME.jpg, or another kind of image, in blended_images/ where there "
    "is no images/. The depths in these files and pair.txt are ignored.";
constexpr const char* kExitCodes =
    "0 all done, 1 unexpected failure, 2 wrong usage, 3 bad input, 4 not enough memory, 5 no such device, 7 "
    "some views or scenes failed and the rest is written, 130 interrupted and what was finished is kept.";

constexpr const char* kMasks =
    "masks/NAME.png beside images/ says which pixels of the photo NAME to ignore: those that are black or "
    "transparent (COLMAP's naming, so masks/a/b.jpg.png). Where it is not there, the masks that "
    "transforms.json names count, or else transparent pixels of the photo. Ignored pixels get no depth and "
    "no "
    "points.";

/// A line of a list of the manual page: what it is about, and the text.
struct ManualEntry {
  const char *term, *text;
};
/// The options of the short help, as it describes them.
constexpr ManualEntry kFirstOptions[] = {
    {"output", "The output folder [dense/ in the scene]"},
    {"quality", "Of a scene: draft, normal or high [normal]"},
    {"dry-run", "Print the plan and its time, and do nothing"},
    {"max-disparity", "Of a pair: where the search ends, pixels"},
    {"method", "planesweep (scenes), sgm (pairs), bp, bm or pipeline"},
    {"device", "auto, cpu, cuda or cuda:0,2 [auto: GPUs, else CPU]"},
    {"images", "Of a scene: the folder of photos that lie elsewhere"},
    {"depth-maps", "Of a scene: check and fuse maps of another program"},
    {"export-points", "Of a scene: write a COLMAP model for splats too"},
    {"max-image-size", "Of a scene: longest side of the images, pixels"},
    {"memory-limit", "Max host memory, such as 4GiB [what is available]"},
    {"overwrite", "Do finished work again; else it is kept"},
    {"config", "Read options from a file, such as dense/options.toml"},
    {"quiet", "Only warnings and errors"},
    {"json", "Print one JSON object on standard output"},
    {"help-all", "Every option, with its default and range"},
    {"version", "Print the version"}};

/// The first five are in help.
constexpr ManualEntry kExamples[] = {
    {"reconstruct scene", "To scene/dense, by the GPU or the CPU."},
    {"reconstruct scene --quality draft -o draft", "A first look, in less time."},
    {"reconstruct scene --dry-run", "The plan, and how long it would take."},
    {"reconstruct session -o out", "All scenes and pairs below a folder."},
    {"reconstruct left.png right.png --max-disparity 64", "A rectified pair, to dense."},
    {"reconstruct scene --depth-maps maps -o out", "Depth maps of another program, checked and fused."},
    {"reconstruct scene --export-points 200000", "And a COLMAP model from which splats begin."}};
constexpr std::size_t kExamplesOfHelp = 5;
constexpr ManualEntry kFiles[] = {
    {"dense/fused.ply, dense/fused.ply.vis", "The cloud, and the views that see each point."},
    {"dense/stereo/depth_maps/NAME.geometric.bin",
     "Depth after the check across views, the mean of what agrees closely; normals beside it."},
    {"dense/images, dense/sparse", "The undistorted photos and their cameras."},
    {"dense/previews/NAME.png", "Depth as people look at it."},
    {"dense/report.html, dense/report.json, dense/report.log", "What was done, for people and programs."},
    {"dense/options.toml", "The options, for --config."},
    {"dense/fused.offset.txt", "What --offset subtracted from the coordinates of the cloud."},
    {"dense/splat", "What --export-points and --export-priors write."},
    {"dense/disparity.pfm, dense/disparity.png", "The disparity of a pair."},
    {"session.jsonl, index.html", "Of a session: one line a scene, and links."},
    {"~/.cache/reconstruct", "Times of earlier runs, for predictions; or below $XDG_CACHE_HOME."}};

/// Where the descriptions of options begin in help, on narrow terminals farther left.
constexpr std::size_t kIndent = 30, kNarrowIndent = 8, kMinText = 45;
constexpr std::size_t kShortIndent = 27;
/// Where those of examples begin, which are shorter.
constexpr std::size_t kExampleIndent = 40, kMinExampleText = 40;
/// Narrower terminals break lines themselves.
constexpr int kMinColumns = 40;

/// "-o, --output DIR".
std::string usage(const Option& option) {
  return (option.letter != 0 ? std::string("-") + option.letter + ", " : "") + "--" + option.name +
         (option.value.empty() ? "" : " " + option.value);
}

std::string description(const Option& option) {
  const std::string defaults = option.defaults();
  return option.marked_help() + (defaults.empty() ? "" : " [" + defaults + "]");
}

/// Text without what the formatter of manual pages would take for a command.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '-' ? "\\-" : c == '\\' ? "\\e" : std::string(1, c);
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

template <std::size_t kCount>
std::string manual_list(const char* title, const ManualEntry (&entries)[kCount]) {
  std::string text = std::string(".SH ") + title + "\n";
  for (const ManualEntry& entry : entries)
    text += ".TP\n.B " + escaped(entry.term) + "\n" + escaped(entry.text) + "\n";
  return text;
}

/// An entry of help: what it is about, and from `indent` on the text, if there are `min_text` columns for it.
std::string help_entry(const std::string& term, const std::string& text, std::size_t indent,
                       std::size_t min_text, std::size_t width) {
  if (width < indent + min_text) indent = kNarrowIndent;
  std::string start = "  " + term;
  start +=
      start.size() + 2 > indent ? "\n" + std::string(indent, ' ') : std::string(indent - start.size(), ' ');
  return start + wrapped(text, indent, indent, width);
}

std::size_t width_of_help(int columns) {
  return static_cast<std::size_t>(std::max(columns, kMinColumns));
}

std::string beginning_of_help(std::size_t width) {
  return wrapped(std::string("reconstruct: ") + kSummary, 0, 0, width) +
         "\nUsage: reconstruct SCENE... [options]\n       reconstruct LEFT RIGHT [options]\n";
}

std::string examples_of_help(std::size_t width) {
  std::string text = "Examples:\n";
  for (std::size_t i = 0; i < kExamplesOfHelp; ++i)
    text += help_entry(kExamples[i].term, kExamples[i].text, kExampleIndent, kMinExampleText, width);
  return text;
}

}  // namespace

std::string help_text(int columns) {
  const std::size_t width = width_of_help(columns);
  std::string text = beginning_of_help(width) + "\n" +
                     wrapped(
                         "SCENE is a folder as COLMAP, nerfstudio, MVSNet or Middlebury has it, or of such "
                         "folders; LEFT and RIGHT are the images of a rectified pair.",
                         0, 0, width) +
                     "\nOptions that are used first:\n";
  for (const ManualEntry& option : kFirstOptions)
    text += help_entry(usage(*find_option(option.term)), option.text, kShortIndent, kMinText, width);
  return text + "\n" + examples_of_help(width) + "\n" +
         wrapped(std::string("Exit codes: ") + kExitCodes, 0, 0, width);
}

std::string full_help_text(int columns) {
  const std::size_t width = width_of_help(columns);
  std::string text = beginning_of_help(width) + "\n" + examples_of_help(width);
  for (const OptionGroup& group : option_groups()) {
    text += "\n" + group.title + ":\n";
    for (const Option& option : group.options)
      text += help_entry(usage(option), description(option), kIndent, kMinText, width);
  }
  return text + "\n" + wrapped(std::string("Inputs: ") + kInputs, 0, 0, width) + "\n" +
         wrapped(std::string("Exit codes: ") + kExitCodes, 0, 0, width);
}

std::string man_page(const std::string& version) {
  std::string page =
      ".TH RECONSTRUCT 1 \"\" \"reconstruct " + version + "\" \"User Commands\"\n" +
      ".SH NAME\nreconstruct \\- " + kSummary + "\n.SH SYNOPSIS\n" +
      ".B reconstruct\n.IR SCENE ...\n[options]\n.br\n.B reconstruct\n.I LEFT RIGHT\n[options]\n" +
      ".SH DESCRIPTION\n" + escaped(kInputs) + "\n.SH INPUT FORMATS\n" + escaped(kNerfFormat) + "\n.PP\n" +
      escaped(kMvsnetFormat) + "\n.SH MASKS\n" + escaped(kMasks) + "\n.SH OPTIONS\n" +
      "Defaults and ranges are in brackets.\n";
  for (const OptionGroup& group : option_groups()) {
    page += ".SS " + group.title + "\n";
    for (const Option& option : group.options)
      page += ".TP\n.B " + escaped(usage(option)) + "\n" + escaped(description(option)) + "\n";
  }
  return page + ".SH EXIT STATUS\n" + escaped(kExitCodes) + "\n" + manual_list("EXAMPLES", kExamples) +
         manual_list("FILES", kFiles) + ".SH SEE ALSO\n" +
         escaped(
             "reconstruct-evaluate --help, reconstruct-render --help, reconstruct-bench --help, colmap(1), "
             "meshlab(1)") +
         "\n";
}

CompletedCommand completed_reconstruct() {
  CompletedCommand command{"reconstruct", {}, {}, {}};
  for (const Option* option : all_options()) {
    CompletedOption& it = command.options.emplace_back();
    if (option->letter != 0) it.names.push_back(std::string("-") + option->letter);
    it.names.push_back("--" + option->name);
    it.help = option->help;
    it.value = option->value;
    it.words = option->examples.empty() ? option->keywords() : option->examples;
  }
  return command;
}

namespace {

/// Text without what Markdown would take for a mark; options as code.
std::string marked(const std::string& text) {
  static const std::regex kMarks(R"([\\`*_<|])"), kOptions(R"(--[a-z][a-z0-9-]*)");
  return std::regex_replace(std::regex_replace(text, kMarks, R"(\$&)"), kOptions, "`$&`");
}

std::string heading(const Option& option) {
  return fmt::format("### --{}{}{}\n\n", option.name, option.value.empty() ? "" : " " + option.value,
                     option.letter == 0 ? "" : fmt::format(", -{}", option.letter));
}

}  // namespace

std::string option_reference() {
  std::string page =
      "# Options one by one\n\nEvery option of `reconstruct`, as `reconstruct --help-all` and `man "
      "reconstruct` "
      "have it; [Choosing options](options.md) is by aim. `reconstruct-evaluate`, `reconstruct-render` and "
      "`reconstruct-bench` describe theirs with `--help`.\n";
  for (const OptionGroup& group : option_groups()) {
    page += "\n## " + group.title + "\n";
    for (const Option& option : group.options) {
      page += "\n" + heading(option) + marked(option.marked_help()) + ".\n";
      if (const std::string defaults = option.defaults(); !defaults.empty())
        page += "\nDefault and range: " + marked(defaults) + ".\n";
    }
  }
  return page;
}

}  // namespace recon
