#include "io/dense_array.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "io/atomic_file.hpp"
#include "io/byte_reader.hpp"
#include "io/file_bytes.hpp"
#include "io/image_limits.hpp"
#include "io/text_scanner.hpp"

namespace recon {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

struct DenseArray {
  int width;
  int height;
  std::string_view values;  ///< the planes

  float operator()(int x, int y, int channel) const {
    const std::size_t index =
        (static_cast<std::size_t>(channel) * static_cast<std::size_t>(height) + static_cast<std::size_t>(y)) *
            static_cast<std::size_t>(width) +
        static_cast<std::size_t>(x);
    return load_number<float>(values.data() + sizeof(float) * index);
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

DenseArray parse_array(std::string_view bytes, const std::string& file, int channels) {
  std::size_t at = 0;
  const std::int64_t width = parse_count(bytes, at, file);
  const std::int64_t height = parse_count(bytes, at, file);
  const std::int64_t found_channels = parse_count(bytes, at, file);
  const FilePlace header{file, FilePlace::Unit::kByte, 0};
  if (!is_image_size(width, height))
    header.fail("the map has " + std::to_string(width) + "x" + std::to_string(height) + " pixels; " +
                std::string(kImageSizeRule));
  if (found_channels != channels)
    header.fail("the map has " + std::to_string(found_channels) + " channels where " +
                std::to_string(channels) + " are needed (depth has 1, normals have 3)");
  const auto needed = static_cast<std::uint64_t>(width * height * channels) * sizeof(float);
  if (bytes.size() - at != needed)
    header.fail("the header says " + std::to_string(width) + "x" + std::to_string(height) + "x" +
                std::to_string(channels) + ", which takes " + std::to_string(needed) + " bytes, but " +
                std::to_string(bytes.size() - at) +
                " follow; the file is truncated or corrupt: compute the map again");
  return {static_cast<int>(width), static_cast<int>(height), bytes.substr(at)};
}

/// Writes the planes `value(pixel, channel)` row by row.
template <class T, class Value>
FileIdentity write_array(const std::filesystem::path& path, ImageView<const T> image, int channels,
                         const Value& value) {
  AtomicFile file(path);
  file.write(std::to_string(image.width) + "&" + std::to_string(image.height) + "&" +
             std::to_string(channels) + "&");
  std::string row;
  for (int channel = 0; channel < channels; ++channel)
    for (int y = 0; y < image.height; ++y) {
      row.clear();
      for (int x = 0; x < image.width; ++x) append_number(row, value(image(x, y), channel));
      file.write(row);
    }
  return file.commit();
}

bool is_known(Vec3f n) {
  return std::isfinite(n.x) && std::isfinite(n.y) && std::isfinite(n.z) && (n.x != 0 || n.y != 0 || n.z != 0);
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

FileIdentity write_depth_map(const std::filesystem::path& path, ImageView<const float> depth) {
  return write_array(path, depth, 1,
                     [](float value, int) { return value > 0 && std::isfinite(value) ? value : 0.0f; });
}

FileIdentity write_normal_map(const std::filesystem::path& path, ImageView<const Vec3f> normals) {
  return write_array(path, normals, 3, [](Vec3f value, int channel) {
    if (!is_known(value)) return 0.0f;
    return channel == 0 ? value.x : channel == 1 ? value.y : value.z;
  });
}

}  // namespace recon
