#include "io/map/npy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <vector>

#include "core/half.hpp"
#include "io/file/byte_reader.hpp"
#include "io/file/input_file.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_size.hpp"

namespace recon {

namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

std::size_t npy_bytes(NpyType type) {
  switch (type) {
    case NpyType::kFloat16:
    case NpyType::kUint16:
      return 2;
    case NpyType::kFloat32:
      return 4;
    case NpyType::kFloat64:
      return 8;
    default:
      return 1;
  }
}

/// The text of the header, the dictionary that Python would read, and the bytes before the numbers.
struct NpyText {
  std::string_view text;
  std::size_t bytes = 0;
};

NpyText npy_text(std::string_view bytes, const FilePlace& place) {
  if (!bytes.starts_with(kNpyMagic))
    place.fail(
        "the file begins with {}; an array of NumPy begins with \"\\x93NUMPY\": write it with numpy.save",
        in_quotes(bytes.substr(0, kNpyMagic.size())));
  ByteReader reader(bytes, place.file);
  reader.skip(kNpyMagic.size(), "the header");
  const auto version = reader.read<std::uint8_t>("the header");
  reader.skip(1, "the header");
  if (version < 1 || version > 3)
    place.fail("the version of the array is {}; 1 to 3 are known", int{version});
  const std::size_t size =
      version == 1 ? reader.read<std::uint16_t>("the header") : reader.read<std::uint32_t>("the header");
  if (size > kMaxNpyHeader)
    place.fail("the header has {} bytes; that of a map has fewer than {}", size, kMaxNpyHeader);
  const char* text = reader.skip(size, "the header");
  return {{text, size}, static_cast<std::size_t>(reader.offset())};
}

/// What Python takes for space between words.
constexpr std::string_view kSpace = " \t\n\r\f\v";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

/// What follows a key of the dictionary.
std::string_view npy_value(std::string_view text, std::string_view key, const FilePlace& place) {
  for (const char quote : {'\'', '"'}) {
    const std::size_t at = text.find(quote + std::string(key) + quote);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = trimmed(text.substr(at + key.size() + 2));
    if (const std::string_view value = trimmed(rest.substr(rest.starts_with(':') ? 1 : 0));
        value.size() < rest.size() && !value.empty())
      return value;
  }
  place.fail("the header {} has no value of '{}'; write the array with numpy.save", in_quotes(text), key);
}

void set_npy_type(std::string_view text, const FilePlace& place, NpyHeader& header) {
  static const std::map<std::string_view, NpyType> kTypes = {{"f2", NpyType::kFloat16},
                                                             {"f4", NpyType::kFloat32},
                                                             {"f8", NpyType::kFloat64},
                                                             {"u1", NpyType::kUint8},
                                                             {"u2", NpyType::kUint16}};
  std::string_view value = npy_value(text, "descr", place);
  const char quote = value.front();
  const std::size_t end = value.find(quote, 1);
  value = value.substr(0, end == std::string_view::npos ? end : end + 1);
  const bool is_word = value.size() == 5 && (quote == '\'' || quote == '"') && value.back() == quote;
  const auto type = is_word ? kTypes.find(value.substr(2, 2)) : kTypes.end();
  if (type == kTypes.end() || std::string_view("<>|=").find(value[1]) == std::string_view::npos)
    place.fail(
        "the array has numbers of the type {}; maps have '<f4' or '<f8', whole numbers '<u2': convert "
        "it with astype(numpy.float32)",
        in_quotes(value));
  header.type = type->second;
  header.big_endian = value[1] == '>';
}

/// @returns the value of 'fortran_order'
bool npy_order(std::string_view text, const FilePlace& place) {
  const std::string_view value = npy_value(text, "fortran_order", place);
  const bool by_columns = value.starts_with("True");
  if (!by_columns && !value.starts_with("False"))
    place.fail("'fortran_order' of the array is {}; it is True or False", in_quotes(value));
  return by_columns;
}

/// The dimensions in "(480, 640)", which Python 2 wrote as "(480L, 640L)".
std::vector<std::int64_t> npy_shape(std::string_view text, const FilePlace& place) {
  const std::string_view value = npy_value(text, "shape", place);
  const std::size_t end = value.find(')');
  std::vector<std::int64_t> shape;
  bool valid = value.front() == '(' && end != std::string_view::npos;
  for (std::size_t at = 1; valid && at < end;) {
    const std::size_t comma = std::min(value.find(',', at), end);
    std::string_view word = trimmed(value.substr(at, comma - at));
    at = comma + 1;
    if (word.empty() && comma == end) break;  // after the last comma
    if (word.ends_with('L')) word.remove_suffix(1);
    const auto number = to_number<std::int64_t>(word);
    valid = number && *number > 0;
    if (valid) shape.push_back(*number);
  }
  if (!valid) place.fail("the shape of the array is {}", in_quotes(value));
  return shape;
}

void set_npy_size(std::string_view text, const FilePlace& place, NpyHeader& header) {
  std::vector<std::int64_t> shape = npy_shape(text, place);
  while (shape.size() > 2 && shape.back() == 1) shape.pop_back();
  while (shape.size() > 2 && shape.front() == 1) shape.erase(shape.begin());
  if (shape.size() != 2)
    place.fail("the array has the shape {}; a map has rows and columns, such as (480, 640)",
               in_quotes(npy_value(text, "shape", place)));
  if (!is_image_size(shape[1], shape[0]))
    place.fail("the map has {} pixels; {}", size_text(shape[1], shape[0]), kImageSizeRule);
  header.height = static_cast<int>(shape[0]);
  header.width = static_cast<int>(shape[1]);
}

float npy_number(const char* bytes, NpyType type, std::endian order) {
  switch (type) {
    case NpyType::kFloat16:
      return to_float(Half{load_number<std::uint16_t>(bytes, order)});
    case NpyType::kFloat32:
      return load_number<float>(bytes, order);
    case NpyType::kFloat64:
      return static_cast<float>(load_number<double>(bytes, order));
    case NpyType::kUint16:
      return load_number<std::uint16_t>(bytes, order);
    default:
      return load_number<std::uint8_t>(bytes, order);
  }
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, std::uint64_t file_bytes, const std::string& file) {
  const FilePlace place{file, FilePlace::Unit::kByte, 0};
  const NpyText header_text = npy_text(bytes, place);
  NpyHeader header;
  header.bytes = header_text.bytes;
  set_npy_type(header_text.text, place, header);
  header.by_columns = npy_order(header_text.text, place);
  set_npy_size(header_text.text, place, header);
  const std::uint64_t needed = std::uint64_t{npy_bytes(header.type)} *
                               static_cast<std::uint64_t>(header.width) *
                               static_cast<std::uint64_t>(header.height);
  if (file_bytes - header.bytes != needed)
    FilePlace{file, FilePlace::Unit::kByte, header.bytes}.fail(
        "the header says {}, which takes {} bytes, but {} follow; the file is truncated or corrupt: write it "
        "again",
        size_text(header.width, header.height), needed, file_bytes - header.bytes);
  return header;
}

Image<float> parse_npy(std::string_view bytes, const std::string& file) {
  const NpyHeader header = parse_npy_header(bytes, bytes.size(), file);
  const std::size_t each = npy_bytes(header.type);
  const auto width = static_cast<std::size_t>(header.width), height = static_cast<std::size_t>(header.height);
  const std::endian order = header.big_endian ? std::endian::big : std::endian::little;
  const char* const numbers = bytes.data() + header.bytes;
  const std::size_t row = header.by_columns ? 1 : width, column = header.by_columns ? height : 1;
  Image<float> image(header.width, header.height);
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      image.row(static_cast<int>(y))[x] =
          npy_number(numbers + (y * row + x * column) * each, header.type, order);
  return image;
}

/// Writes `parts` numbers a pixel, `value(pixel, part)`, of which those that are not finite become 0.
template <class T, class Value>
static FileIdentity write_array(const std::filesystem::path& path, ImageView<const T> image,
                                const std::string& shape, int parts, const Value& value) {
  constexpr std::size_t kBefore = 10, kAlignment = 64;  // bytes before the dictionary, and of all
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  text.append(kAlignment - 1 - (kBefore + text.size()) % kAlignment, ' ').push_back('\n');
  AtomicFile file(path);
  file.write(std::string(kNpyMagic) + '\x01' + '\0');
  std::string bytes;
  append_number(bytes, static_cast<std::uint16_t>(text.size()));
  file.write(bytes + text);
  bytes.resize(sizeof(float) * static_cast<std::size_t>(parts) * static_cast<std::size_t>(image.width));
  for (int y = 0; y < image.height; ++y) {
    char* at = bytes.data();
    for (int x = 0; x < image.width; ++x)
      for (int part = 0; part < parts; ++part, at += sizeof(float)) {
        const float number = value(image(x, y), part);
        store_number(at, std::isfinite(number) ? number : 0.0f);
      }
    file.write(bytes);
  }
  return file.commit();
}

FileIdentity write_npy(const std::filesystem::path& path, ImageView<const float> image) {
  const std::string shape = std::to_string(image.height) + ", " + std::to_string(image.width);
  return write_array(path, image, shape, 1, [](float number, int) { return number; });
}

FileIdentity write_npy(const std::filesystem::path& path, ImageView<const Vec3f> image) {
  const std::string shape = std::to_string(image.height) + ", " + std::to_string(image.width) + ", 3";
  return write_array(path, image, shape, 3, [](Vec3f v, int part) {
    return part == 0 ? v.x : part == 1 ? v.y : v.z;
  });
}

}  // namespace recon
