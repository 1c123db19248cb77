#include "io/pfm.hpp"

#include <bit>
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
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size())
    place.fail("the header of the PFM file has " + in_quotes(word) +
               " where width, height or scale should stand");
  return value;
}

}  // namespace

Image<float> read_pfm(const std::filesystem::path& path) {
  return parse_pfm(read_file(path), path.string());
}

Image<float> parse_pfm(std::string_view bytes, const std::string& file) {
  const FilePlace start{file, FilePlace::Unit::kByte, 0};
  std::size_t at = 0;
  const std::string_view kind = header_word(bytes, at, file);
  if (kind != "Pf")
    start.fail("the file begins with " + in_quotes(kind) + "; a PFM file of one channel begins with \"Pf\"");
  const auto width = header_number<std::int64_t>(bytes, at, file);
  const auto height = header_number<std::int64_t>(bytes, at, file);
  const auto scale = header_number<double>(bytes, at, file);
  if (!is_image_size(width, height))
    start.fail("the map has " + std::to_string(width) + "x" + std::to_string(height) + " pixels; " +
               std::string(kImageSizeRule));
  if (scale == 0 || !std::isfinite(scale))
    start.fail("the scale of the PFM file is not a finite number other than 0");
  const auto needed = static_cast<std::uint64_t>(width * height) * sizeof(float);
  if (bytes.size() - at != needed)
    start.fail("the header says " + std::to_string(width) + "x" + std::to_string(height) + ", which takes " +
               std::to_string(needed) + " bytes, but " + std::to_string(bytes.size() - at) +
               " follow; the file is truncated or corrupt");
  const std::endian order = scale < 0 ? std::endian::little : std::endian::big;
  Image<float> image(static_cast<int>(width), static_cast<int>(height));
  const char* value = bytes.data() + at;
  for (int y = image.height() - 1; y >= 0; --y)  // the bottom row comes first
    for (int x = 0; x < image.width(); ++x, value += sizeof(float)) {
      const auto number = load_number<float>(value, order);
      image(x, y) = std::isfinite(number) ? number : std::numeric_limits<float>::quiet_NaN();
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

}  // namespace recon
