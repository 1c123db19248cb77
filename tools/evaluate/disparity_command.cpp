#include <fmt/format.h>

#include <fstream>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/pixels.hpp"
#include "evaluate/disparity_score.hpp"
#include "io/file/input_file.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "tools/evaluate/commands.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// How integer values stand for disparities.
struct Encoding {
  std::optional<double> scale;  ///< steps per pixel; nothing: 256 of a 16-bit PNG, else 1
  std::optional<long> unknown;  ///< nothing: every pixel is known
};

/// The ground truth of a pair and where its masks are.
struct GroundTruth {
  fs::path map;
  Encoding encoding;
  fs::path mask;
};

std::optional<long> parse_unknown(const std::string& text) {
  if (text == "none") return std::nullopt;
  std::size_t used = 0;
  long value = -1;
  try {
    value = std::stol(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text.size() || value < 0)
    throw UsageError("--unknown is \"" + text + "\"; it has to be an integer >= 0, or none");
  return value;
}

template <class T>
Image<float> decoded(const Image<T>& steps, const Encoding& encoding) {
  return mapped<float>(steps, [&](T value) {
    return encoding.unknown == static_cast<long>(value)
               ? kUnknown
               : static_cast<float>(value / encoding.scale.value_or(1));
  });
}

/// Steps per pixel of 16-bit PNG files where nothing else is said: those of KITTI and of reconstruct.
constexpr double kPng16Steps = 256;

/// Whether a file starts as a PNG with 16 bits per sample: the bit depth is byte 24, behind the sizes in
/// IHDR.
bool is_png16(const fs::path& path) {
  const std::string bytes = read_file(path);
  return bytes.size() > 24 && bytes.starts_with("\x89PNG") && bytes[24] == 16;
}

/// The largest value that the header of a PGM announces, "P5 width height maximum"; 255 for other files.
long largest_value(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string word;
  int number = 0;
  while (number < 4 && file >> word) {
    if (word.starts_with('#')) {
      std::getline(file, word);
      continue;
    }
    if (number == 0 && word != "P5" && word != "P2") return 255;
    ++number;
  }
  return number == 4 ? std::strtol(word.c_str(), nullptr, 10) : 255;
}

Image<float> read_disparity(const fs::path& path, const Encoding& encoding) {
  if (lower_extension(path) == ".pfm") return read_pfm(path);
  if (is_png16(path))
    return decoded(read_png16(path), {encoding.scale.value_or(kPng16Steps), encoding.unknown});
  const long largest = largest_value(path);
  if (largest != 255)
    throw InputError(
        fmt::format("{}: values up to {}; a PGM is read when it has 8 bits (255): convert it to a 16-bit PNG",
                    path.string(), largest));
  return decoded(read_grey_image(path), encoding);
}

/// Ground truth of a folder with an info.json: "disparity", "gt_scale", "unknown" and the masks
/// "<name>_mask".
GroundTruth truth_of_folder(const DisparityCommand& command) {
  const fs::path path = command.ground_truth / "info.json";
  const Json info = Json::parse(read_file(path), nullptr, false);
  if (!info.is_object() || !info.contains("disparity") || !info["disparity"].is_string())
    throw InputError(path.string() + ": no JSON object with the file name \"disparity\"");
  GroundTruth truth{command.ground_truth / info["disparity"].get<std::string>(), {}, command.mask};
  if (info.contains("gt_scale") && info["gt_scale"].is_number())
    truth.encoding.scale = info["gt_scale"].get<double>();
  if (info.contains("unknown") && info["unknown"].is_number_integer())
    truth.encoding.unknown = info["unknown"].get<long>();
  for (const char* key : {"_mask", ""})
    if (const std::string name = command.mask + key; info.contains(name) && info[name].is_string())
      truth.mask = command.ground_truth / info[name].get<std::string>();
  return truth;
}

GroundTruth ground_truth(const DisparityCommand& command) {
  GroundTruth truth =
      is_folder(command.ground_truth)
          ? truth_of_folder(command)
          : GroundTruth{command.ground_truth, {{}, parse_unknown(command.unknown)}, command.mask};
  if (command.scale) truth.encoding.scale = *command.scale;
  return truth;
}

void check_size(const fs::path& path, int width, int height, const Image<float>& truth,
                const fs::path& truth_path) {
  if (width != truth.width() || height != truth.height())
    throw InputError(fmt::format("{}: has {} pixels, but {} has {}; compare maps of the same size",
                                 path.string(), size_text(width, height), truth_path.string(),
                                 size_text(truth.width(), truth.height())));
}

}  // namespace

Json evaluate_disparity(const DisparityCommand& command) {
  check_thresholds(command.thresholds);
  if (command.map_scale) check_positive("--map-scale", *command.map_scale);
  if (command.scale) check_positive("--scale", *command.scale);
  const GroundTruth truth_files = ground_truth(command);
  const Image<float> truth = read_disparity(truth_files.map, truth_files.encoding);
  const Image<float> map = read_disparity(command.map, {command.map_scale, parse_unknown(command.unknown)});
  check_size(command.map, map.width(), map.height(), truth, truth_files.map);
  Image<std::uint8_t> mask;
  if (!truth_files.mask.empty()) {
    mask = read_grey_image(truth_files.mask);
    check_size(truth_files.mask, mask.width(), mask.height(), truth, truth_files.map);
  }
  const DisparityScore score = score_disparity(map.view(), truth.view(), mask.view(), command.thresholds);
  if (score.known == 0)
    throw InputError(truth_files.map.string() + ": no pixel has a known disparity" +
                     (mask.empty() ? "" : " where the mask " + truth_files.mask.string() + " counts") +
                     ": there is nothing to compare with; see --unknown and --scale");
  Json bad = Json::array();
  for (std::size_t i = 0; i < command.thresholds.size(); ++i)
    bad.push_back({{"threshold", command.thresholds[i]},
                   {"of_known", score.bad_of_known[i]},
                   {"of_estimated", score.bad_of_estimated[i]}});
  return {{"mode", "disparity"},
          {"known", score.known},
          {"estimated", score.estimated},
          {"completeness", score.completeness},
          {"bad", bad},
          {"average_error", score.average_error},
          {"rms_error", score.rms_error}};
}

}  // namespace recon
