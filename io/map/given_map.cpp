#include "io/map/given_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/pixels.hpp"
#include "core/plain_number.hpp"
#include "io/file/input_file.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_file.hpp"
#include "io/map/exr.hpp"
#include "io/map/map_files.hpp"
#include "io/map/npy.hpp"

namespace recon {

namespace {

/// The headers of maps lie in so many bytes.
constexpr std::size_t kBeginning = kMaxNpyBeginning;
constexpr std::size_t kExrChannels = 4;

NpyHeader read_npy_header(const std::filesystem::path& path) {
  const std::uint64_t bytes = InputDescriptor(path).size();
  return parse_npy_header(read_beginning(path, kBeginning), bytes, path.string());
}

/// What is done with the values of maps of floats, and of whole numbers.
Image<float> to_depths(const Image<float>& values, double unit) {
  return mapped<float>(values, [unit](float value) {
    const auto depth = static_cast<float>(value * unit);
    return value > 0 && depth > 0 && std::isfinite(depth) ? depth : kUnknown;
  });
}

Image<float> to_confidences(const Image<float>& values, float whole, const std::string& file) {
  Image<float> result = mapped<float>(values, [whole](float value) { return value > 0 ? value / whole : 0; });
  for (int y = 0; y < result.height(); ++y)
    for (int x = 0; x < result.width(); ++x)
      if (result(x, y) > 1)
        throw InputError(file + ": pixel (" + std::to_string(x) + ", " + std::to_string(y) +
                         ") has the confidence " + plain(result(x, y)) +
                         "; a confidence lies between 0 and 1: divide the map by its max");
  return result;
}

template <class T>
Image<float> widened(const Image<T>& values) {
  return mapped<float>(values, [](T value) { return static_cast<float>(value); });
}

/// The numbers of a map.
Image<float> read_numbers(const std::filesystem::path& path) {
  const std::string ending = lower_extension(path);
  if (ending == ".png") return widened(read_png16(path));
  if (ending == ".npy") return parse_npy(read_file(path), path.string());
  if (ending == ".exr") return parse_exr(read_file(path), path.string());
  return ending == ".pfm" ? read_pfm(path) : read_depth_map(path);
}

constexpr float kBytes = 255, kArkitLevels = 2;

/// The numbers of a confidence map, and the one that means 1.
struct ConfidenceNumbers {
  Image<float> values;
  float whole = 1;
};

ConfidenceNumbers read_confidence_numbers(const std::filesystem::path& path) {
  constexpr float kWords = 65535;
  const std::string ending = lower_extension(path);
  if (ending == ".npy") {
    const NpyType type = read_npy_header(path).type;
    return {read_numbers(path), type == NpyType::kUint8 ? kBytes : type == NpyType::kUint16 ? kWords : 1};
  }
  if (ending != ".png") return {read_numbers(path)};
  StoredGrey grey = read_stored_grey(path);
  if (!grey.of_16_bits.empty()) return {widened(grey.of_16_bits), kWords};
  return {widened(grey.of_8_bits), kBytes};
}

float max_of(const Image<float>& values) {
  float max = 0;
  for (int y = 0; y < values.height(); ++y)
    max = std::max(max, *std::max_element(values.row(y), values.row(y) + values.width()));
  return max;
}

}  // namespace

std::vector<std::string> depth_map_endings() {
  return {".geometric.bin", ".photometric.bin", ".bin", ".pfm", ".npy", ".depth.npy", ".png", ".exr"};
}

std::vector<std::string> confidence_map_endings() {
  return {".confidence.pfm", ".confidence.npy", ".confidence.png"};
}

std::vector<std::string> map_endings() {
  return {".pfm", ".npy", ".png", ".bin", ".exr"};
}

std::vector<std::string> prior_confidence_endings() {
  std::vector<std::string> endings;
  for (const char* const word : {".confidence", "_confidence"})
    for (const std::string& ending : map_endings()) endings.push_back(word + ending);
  return endings;
}

bool has_whole_numbers(const std::filesystem::path& path) {
  const std::string ending = lower_extension(path);
  if (ending != ".npy") return ending == ".png";
  InputDescriptor{path};  // one that cannot be read is not damaged
  try {
    return read_npy_header(path).has_integers();
  } catch (const InputError&) {
    return false;
  }
}

ImageSize given_map_size(const std::filesystem::path& path) {
  const std::string ending = lower_extension(path), file = path.string();
  if (ending == ".png") return image_size(path);
  const std::uint64_t bytes = InputDescriptor(path).size();
  const std::string beginning = read_beginning(path, kBeginning);
  if (ending == ".pfm") return pfm_size(beginning, bytes, file);
  if (ending == ".exr") {
    const ExrHeader header = parse_exr_header(beginning, bytes, file);
    return {header.width, header.height};
  }
  if (ending != ".npy") return depth_map_size(beginning, bytes, file);
  const NpyHeader header = parse_npy_header(beginning, bytes, file);
  return {header.width, header.height};
}

ImageSize given_depth_size(const std::filesystem::path& path) {
  if (lower_extension(path) == ".png" && has_plain_samples(read_beginning(path, kBeginning)))
    throw InputError(path.string() + ": has samples of 8 bits; a 16-bit grey PNG is needed");
  return given_map_size(path);
}

std::size_t reading_bytes(const std::filesystem::path& path, std::size_t kept) {
  const auto file = static_cast<std::size_t>(InputDescriptor(path).size());
  try {
    const ImageSize size = given_map_size(path);
    const std::size_t pixels = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height),
                      map = sizeof(float) * pixels;
    // A copy of the content of an OpenEXR file, in up to four channels, is there beside the map.
    if (lower_extension(path) == ".exr")
      return 2 * file + kExrChannels * map + std::max(2 * map, map + kept * pixels);
    // The decoded pixels of a PNG are there beside both maps.
    if (lower_extension(path) == ".png")
      return file + sizeof(std::uint16_t) * pixels + 2 * map + kept * pixels;
    return std::max(file + map, 2 * map) + kept * pixels;
  } catch (const InputError&) {
    return file;
  }
}

Image<float> read_given_depth(const std::filesystem::path& path, std::optional<double> unit) {
  if (!unit && has_whole_numbers(path))
    throw InputError(path.string() +
                     ": the map holds whole numbers; --depth-unit says how many scene units one of them is, "
                     "such as 0.001 for millimetres in a scene of metres");
  return to_depths(read_numbers(path), unit.value_or(1));
}

Image<float> read_given_values(const std::filesystem::path& path) {
  return mapped<float>(read_numbers(path),
                       [](float value) { return value != 0 && std::isfinite(value) ? value : kUnknown; });
}

Image<float> read_given_confidence(const std::filesystem::path& path) {
  const auto [values, whole] = read_confidence_numbers(path);
  return to_confidences(values, whole, path.string());
}

Image<float> read_prior_confidence(const std::filesystem::path& path) {
  const auto [values, whole] = read_confidence_numbers(path);
  const bool levels = whole == kBytes && max_of(values) <= kArkitLevels;
  return to_confidences(values, levels ? kArkitLevels : whole, path.string());
}

bool same_shape_of_image(int width, int height, int image_width, int image_height) {
  constexpr std::int64_t kMaxReduction = 16;
  const auto w = std::int64_t{width}, h = std::int64_t{height}, iw = std::int64_t{image_width},
             ih = std::int64_t{image_height};
  if (w * kMaxReduction < iw || h * kMaxReduction < ih) return false;
  // Sides are rounded, by at most a pixel each.
  return std::abs(w * ih - h * iw) <= std::max(w + h, iw + ih);
}

Image<float> resized_to_nearest(Image<float> map, int width, int height) {
  if (map.width() == width && map.height() == height) return map;
  const auto nearest = [](int at, int size, int of) {
    return static_cast<int>((2 * std::int64_t{at} + 1) * of / (2 * std::int64_t{size}));
  };
  Image<float> result(width, height);
  for (int y = 0; y < height; ++y) {
    const float* const row = map.row(nearest(y, height, map.height()));
    for (int x = 0; x < width; ++x) result(x, y) = row[nearest(x, width, map.width())];
  }
  return result;
}

}  // namespace recon
