#include "io/map/map_files.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "core/confidence_step.hpp"
#include "core/parallel.hpp"
#include "core/pixels.hpp"
#include "core/quantile.hpp"
#include "io/file/byte_reader.hpp"
#include "io/file/input_file.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_file.hpp"

namespace recon {

namespace {

struct DenseArray {
  int width;
  int height;
  std::string_view values;  ///< the planes

  float operator()(int x, int y, int channel) const {
    const std::int64_t row = std::int64_t{channel} * height + y;
    return load_number<float>(values.data() + sizeof(float) * (row * width + x));
  }
};

/// Parses a number of the header and the '&' after it; advances `at` past both.
std::int64_t parse_count(std::string_view bytes, std::size_t& at, const std::string& file) {
  std::int64_t value = 0;
  const char* end_of_file = bytes.data() + bytes.size();
  const auto [end, error] = std::from_chars(bytes.data() + at, end_of_file, value);
  if (error != std::errc{} || end == end_of_file || *end != '&')
    FilePlace{file, FilePlace::Unit::kByte, at}.fail(
        "the header is " + in_quotes(bytes.substr(0, 32)) +
        "; COLMAP's dense arrays begin with \"width&height&channels&\"; compute the map again");
  at = static_cast<std::size_t>(end - bytes.data()) + 1;
  return value;
}

/// The size of a map, and the bytes before its values.
struct MapHeader {
  ImageSize size;
  std::size_t bytes = 0;
};

/// @throws InputError where the header is none, or the file has not the bytes that it says
MapHeader parse_array_header(std::string_view bytes, std::uint64_t file_bytes, const std::string& file,
                             int channels) {
  std::size_t at = 0;
  const std::int64_t width = parse_count(bytes, at, file);
  const std::int64_t height = parse_count(bytes, at, file);
  const std::int64_t found_channels = parse_count(bytes, at, file);
  const FilePlace header{file, FilePlace::Unit::kByte, 0};
  if (!is_image_size(width, height))
    header.fail("the map has " + size_text(width, height) + " pixels; " + std::string(kImageSizeRule));
  if (found_channels != channels)
    header.fail("the map has " + std::to_string(found_channels) + " channels where " +
                std::to_string(channels) + " are needed (depth has 1, normals have 3)");
  const auto needed = static_cast<std::uint64_t>(width * height * channels) * sizeof(float);
  if (file_bytes - at != needed)
    header.fail("the header says " + size_text(width, height) + "x" + std::to_string(channels) +
                ", which takes " + std::to_string(needed) + " bytes, but " + std::to_string(file_bytes - at) +
                " follow; the file is truncated or corrupt: compute the map again");
  return {{static_cast<int>(width), static_cast<int>(height)}, at};
}

DenseArray parse_array(std::string_view bytes, const std::string& file, int channels) {
  const auto [size, at] = parse_array_header(bytes, bytes.size(), file, channels);
  return {size.width, size.height, bytes.substr(at)};
}

/// Writes the planes `value(pixel, channel)` row by row.
template <class T, class Value>
AtomicFile array_file(const std::filesystem::path& path, ImageView<const T> image, int channels,
                      const Value& value) {
  AtomicFile file(path);
  file.write(std::to_string(image.width) + "&" + std::to_string(image.height) + "&" +
             std::to_string(channels) + "&");
  std::string bytes(sizeof(float) * image.width, '\0');
  for (int channel = 0; channel < channels; ++channel)
    for (int y = 0; y < image.height; ++y) {
      const T* row = image.row(y);
      for (int x = 0; x < image.width; ++x)
        store_number(bytes.data() + sizeof(float) * x, value(row[x], channel));
      file.write(bytes);
    }
  file.flush();
  return file;
}

bool is_known(Vec3f n) {
  return std::isfinite(n.x) && std::isfinite(n.y) && std::isfinite(n.z) && (n.x != 0 || n.y != 0 || n.z != 0);
}

constexpr std::string_view kSpaces = " \t\r\n";

/// Parses the next token of the header and the single white space after it; advances `at` past both.
std::string_view header_word(std::string_view bytes, std::size_t& at, const std::string& file) {
  const std::size_t begin = bytes.find_first_not_of(kSpaces, at);
  const std::size_t end = bytes.find_first_of(kSpaces, begin == std::string_view::npos ? at : begin);
  if (begin == std::string_view::npos || end == std::string_view::npos)
    FilePlace{file, FilePlace::Unit::kByte, at}.fail("the header of the PFM file is truncated");
  at = end + 1;
  return bytes.substr(begin, end - begin);
}

template <class T>
T header_number(std::string_view bytes, std::size_t& at, const std::string& file) {
  const FilePlace place{file, FilePlace::Unit::kByte, at};
  const std::string_view word = header_word(bytes, at, file);
  if (const auto value = to_number<T>(word)) return *value;
  place.fail("the header of the PFM file has " + in_quotes(word) +
             " where width, height or scale should stand");
}

/// Applies the colour map to `nearness(pixel)`, where larger is nearer and NaN is unknown.
template <class Nearness>
Image<Rgb8> preview(ImageView<const float> map, const Nearness& nearness, PreviewEnds* ends = nullptr) {
  Image<Rgb8> out(map.width, map.height, Rgb8{0, 0, 0});
  std::vector<std::vector<float>> known_in_row(map.height);
  parallel_for(map.height, [&](int y) {
    for (int x = 0; x < map.width; ++x)
      if (const float value = nearness(map(x, y)); std::isfinite(value)) known_in_row[y].push_back(value);
  });
  std::vector<float> known;
  for (const std::vector<float>& row : known_in_row) known.insert(known.end(), row.begin(), row.end());
  if (known.empty()) return out;
  const float low = lower_quantile(known, kPreviewOutliers);
  const float high = lower_quantile(known, 1 - kPreviewOutliers);
  if (ends != nullptr) *ends = {low, high};
  const float scale = high > low ? 255 / (high - low) : 0;
  const std::vector<Rgb8>& colours = preview_colours();
  parallel_for(map.height, [&](int y) {
    for (int x = 0; x < map.width; ++x)
      if (const float value = nearness(map(x, y)); std::isfinite(value))
        out(x, y) = colours[static_cast<int>(std::clamp((value - low) * scale, 0.0f, 255.0f))];
  });
  return out;
}

}  // namespace

Image<float> read_depth_map(const std::filesystem::path& path) {
  return parse_depth_map(read_file(path), path.string());
}

Image<float> parse_depth_map(std::string_view bytes, const std::string& file) {
  const DenseArray array = parse_array(bytes, file, 1);
  Image<float> depth(array.width, array.height);
  for (int y = 0; y < array.height; ++y)
    for (int x = 0; x < array.width; ++x) {
      const float value = array(x, y, 0);
      depth(x, y) = value > 0 && std::isfinite(value) ? value : kUnknown;
    }
  return depth;
}

ImageSize depth_map_size(std::string_view beginning, std::uint64_t file_bytes, const std::string& file) {
  return parse_array_header(beginning, file_bytes, file, 1).size;
}

Image<Vec3f> read_normal_map(const std::filesystem::path& path) {
  return parse_normal_map(read_file(path), path.string());
}

Image<Vec3f> parse_normal_map(std::string_view bytes, const std::string& file) {
  const DenseArray array = parse_array(bytes, file, 3);
  Image<Vec3f> normals(array.width, array.height);
  for (int y = 0; y < array.height; ++y)
    for (int x = 0; x < array.width; ++x) {
      const Vec3f value{array(x, y, 0), array(x, y, 1), array(x, y, 2)};
      normals(x, y) = is_known(value) ? value : Vec3f{kUnknown, kUnknown, kUnknown};
    }
  return normals;
}

AtomicFile depth_map_file(const std::filesystem::path& path, ImageView<const float> depth) {
  return array_file(path, depth, 1,
                    [](float value, int) { return value > 0 && std::isfinite(value) ? value : 0.0f; });
}

AtomicFile normal_map_file(const std::filesystem::path& path, ImageView<const Vec3f> normals) {
  return array_file(path, normals, 3, [](Vec3f value, int channel) {
    if (!is_known(value)) return 0.0f;
    return channel == 0 ? value.x : channel == 1 ? value.y : value.z;
  });
}

FileIdentity write_depth_map(const std::filesystem::path& path, ImageView<const float> depth) {
  return depth_map_file(path, depth).commit();
}

FileIdentity write_normal_map(const std::filesystem::path& path, ImageView<const Vec3f> normals) {
  return normal_map_file(path, normals).commit();
}

void round_confidences(ImageView<float> confidence) {
  parallel_for(confidence.height, [&](int y) {
    for (int x = 0; x < confidence.width; ++x) confidence(x, y) = rounded_confidence(confidence(x, y));
  });
}

Image<float> read_confidence_map(const std::filesystem::path& path) {
  return mapped<float>(read_grey_image(path), confidence_of);
}

AtomicFile confidence_map_file(const std::filesystem::path& path, ImageView<const float> confidence) {
  return image_file(path, mapped<std::uint8_t>(confidence, confidence_grey).view());
}

Image<float> read_pfm(const std::filesystem::path& path) {
  return parse_pfm(read_file(path), path.string());
}

namespace {

struct PfmHeader : MapHeader {
  std::endian order = std::endian::little;
};

/// @throws InputError where the header is none, or the file has not the bytes that it says
PfmHeader parse_pfm_header(std::string_view bytes, std::uint64_t file_bytes, const std::string& file) {
  const FilePlace start{file, FilePlace::Unit::kByte, 0};
  std::size_t at = 0;
  const std::string_view kind = header_word(bytes, at, file);
  if (kind != "Pf")
    start.fail("the file begins with " + in_quotes(kind) + "; a PFM file of one channel begins with \"Pf\"");
  const auto width = header_number<std::int64_t>(bytes, at, file);
  const auto height = header_number<std::int64_t>(bytes, at, file);
  const auto scale = header_number<double>(bytes, at, file);
  if (!is_image_size(width, height))
    start.fail("the map has " + size_text(width, height) + " pixels; " + std::string(kImageSizeRule));
  if (scale == 0 || !std::isfinite(scale))
    start.fail("the scale of the PFM file is not a finite number other than 0");
  const auto needed = static_cast<std::uint64_t>(width * height) * sizeof(float);
  if (file_bytes - at != needed)
    start.fail("the header says " + size_text(width, height) + ", which takes " + std::to_string(needed) +
               " bytes, but " + std::to_string(file_bytes - at) +
               " follow; the file is truncated or corrupt");
  return {{{static_cast<int>(width), static_cast<int>(height)}, at},
          scale < 0 ? std::endian::little : std::endian::big};
}

}  // namespace

ImageSize pfm_size(std::string_view beginning, std::uint64_t file_bytes, const std::string& file) {
  return parse_pfm_header(beginning, file_bytes, file).size;
}

Image<float> parse_pfm(std::string_view bytes, const std::string& file) {
  const PfmHeader header = parse_pfm_header(bytes, bytes.size(), file);
  Image<float> image(header.size.width, header.size.height);
  const char* value = bytes.data() + header.bytes;
  for (int y = image.height() - 1; y >= 0; --y)  // the bottom row comes first
    for (int x = 0; x < image.width(); ++x, value += sizeof(float)) {
      const auto number = load_number<float>(value, header.order);
      image(x, y) = std::isfinite(number) ? number : kUnknown;
    }
  return image;
}

FileIdentity write_pfm(const std::filesystem::path& path, ImageView<const float> image) {
  AtomicFile file(path);
  file.write("Pf\n" + std::to_string(image.width) + " " + std::to_string(image.height) + "\n-1\n");
  std::string row;
  for (int y = image.height - 1; y >= 0; --y) {
    row.clear();
    for (int x = 0; x < image.width; ++x) {
      const float value = image(x, y);
      append_number(row, std::isnan(value) ? std::numeric_limits<float>::infinity() : value);
    }
    file.write(row);
  }
  return file.commit();
}

const std::vector<Rgb8>& preview_colours() {
  static const std::vector<Rgb8> colours = [] {
    constexpr int kFirst = 16;  // darker ones look like the black of unknown pixels
    cv::Mat levels(1, 256, CV_8UC1), bgr;
    for (int i = 0; i < 256; ++i)
      levels.at<std::uint8_t>(0, i) = static_cast<std::uint8_t>(kFirst + i * (255 - kFirst) / 255);
    cv::applyColorMap(levels, bgr, cv::COLORMAP_TURBO);
    std::vector<Rgb8> all;
    for (int i = 0; i < 256; ++i) {
      const auto& c = bgr.at<cv::Vec3b>(0, i);
      all.push_back({c[2], c[1], c[0]});
    }
    return all;
  }();
  return colours;
}

Image<Rgb8> depth_preview(ImageView<const float> depth) {
  return preview(depth, [](float value) { return value > 0 ? 1 / value : NAN; });
}

Image<Rgb8> disparity_preview(ImageView<const float> disparity, PreviewEnds* ends) {
  return preview(
      disparity, [](float value) { return value; }, ends);
}

Image<Rgb8> confidence_preview(ImageView<const float> confidence) {
  constexpr int kMaxSide = 640;
  const int step = std::max(1, (std::max(confidence.width, confidence.height) + kMaxSide - 1) / kMaxSide);
  const std::vector<Rgb8>& colours = preview_colours();
  Image<Rgb8> out((confidence.width + step - 1) / step, (confidence.height + step - 1) / step, Rgb8{0, 0, 0});
  for (int y = 0; y < out.height(); ++y)
    for (int x = 0; x < out.width(); ++x)
      if (const float value = confidence(x * step, y * step); std::isfinite(value))
        out(x, y) = colours[static_cast<int>(std::clamp(value * 255, 0.0f, 255.0f))];
  return out;
}

}  // namespace recon
