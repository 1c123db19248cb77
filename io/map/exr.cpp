#include "io/map/exr.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <opencv2/core.hpp>

#include "core/error.hpp"
#include "io/file/byte_reader.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_codecs.hpp"
#include "io/image/image_size.hpp"

namespace recon {

namespace {

constexpr std::string_view kExrMagic = "\x76\x2f\x31\x01";
constexpr std::uint32_t kTiles = 0x200, kLongNames = 0x400;
/// No compression gets more pixels into a byte.
constexpr std::uint64_t kMaxPixelsPerByte = 4096;
constexpr const char* kWhat = "the header of the OpenEXR file";

void check_version(ByteReader& reader) {
  const auto version = reader.read<std::uint32_t>(kWhat);
  if ((version & 0xff) != 2)
    reader.place().fail("the version of the OpenEXR file is {}; 2 is known", version & 0xff);
  if ((version & ~(0xffU | kTiles | kLongNames)) != 0)
    reader.place().fail(
        "the OpenEXR file has several images, or deep ones; a map has one, with one number a pixel");
}

void read_channels(ByteReader& reader, ExrHeader& header) {
  enum Type : std::int32_t { kHalf = 1, kFloat = 2 };
  constexpr std::size_t kLinearAndReserved = 4;
  header.first_channel = static_cast<std::size_t>(reader.offset());
  while (true) {
    const FilePlace place = reader.place();
    std::string name(reader.read_c_string(kWhat));
    if (name.empty()) return;
    const auto type = reader.read<std::int32_t>(kWhat);
    reader.skip(kLinearAndReserved, kWhat);
    const auto across = reader.read<std::int32_t>(kWhat), down = reader.read<std::int32_t>(kWhat);
    if (type != kHalf && type != kFloat)
      place.fail("the channel {} has whole numbers; a map has floats", in_quotes(name));
    if (across != 1 || down != 1)
      place.fail("the channel {} has another size than the image", in_quotes(name));
    header.channels.push_back(std::move(name));
  }
}

void read_window(ByteReader& reader, ExrHeader& header) {
  const FilePlace place = reader.place();
  std::int64_t corners[4];
  for (std::int64_t& it : corners) it = reader.read<std::int32_t>(kWhat);
  const std::int64_t width = corners[2] - corners[0] + 1, height = corners[3] - corners[1] + 1;
  if (!is_image_size(width, height))
    place.fail("the map has {} pixels; {}", size_text(width, height), kImageSizeRule);
  header.width = static_cast<int>(width), header.height = static_cast<int>(height);
}

void check_file_bytes(const ExrHeader& header, std::uint64_t file_bytes, const FilePlace& place) {
  const auto pixels = static_cast<std::uint64_t>(header.width) * static_cast<std::uint64_t>(header.height);
  if (pixels / kMaxPixelsPerByte > file_bytes)
    place.fail("the header says {}, but the file has {} bytes; it is truncated or corrupt: write it again",
               size_text(header.width, header.height), file_bytes);
}

/// The values of a channel, of which there are `channels`.
Image<float> channel_of(const cv::Mat& pixels, int channels, int channel) {
  Image<float> map(pixels.cols, pixels.rows);
  for (int y = 0; y < map.height(); ++y) {
    const float* const row = pixels.ptr<float>(y);
    for (int x = 0; x < map.width(); ++x)
      map(x, y) = row[static_cast<std::ptrdiff_t>(x) * channels + channel];
  }
  return map;
}

/// The values of blue, green and red, which have to be the same.
Image<float> equal_channels(const cv::Mat& pixels, const std::string& file) {
  const int channels = pixels.channels();
  Image<float> map = channel_of(pixels, channels, 0);
  for (const int other : {1, 2}) {
    const Image<float> values = channel_of(pixels, channels, other);
    for (int y = 0; y < map.height(); ++y)
      if (std::memcmp(map.row(y), values.row(y), sizeof(float) * static_cast<std::size_t>(map.width())) != 0)
        throw InputError(file +
                         ": the channels R, G and B have different numbers; a map has one number a pixel");
  }
  return map;
}

/// The pixels as OpenCV reads them: floats.
cv::Mat decoded(std::string_view bytes, const std::string& file) {
  DecodedImage image;
  try {
    image = image_codecs().decode(bytes);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(file + ": no memory to decode the map");
  } catch (const cv::Exception& error) {
    if (error.code == cv::Error::StsNoMem) throw OutOfMemory(file + ": no memory to decode the map");
    throw InputError(file + ": cannot be decoded: " + error.err);
  }
  if (image.pixels.empty() || image.pixels.depth() != CV_32F)
    throw InputError(file + ": " +
                     (image.fault.empty() ? "the OpenEXR file is damaged: write it again" : image.fault));
  return image.pixels;
}

}  // namespace

ExrHeader parse_exr_header(std::string_view bytes, std::uint64_t file_bytes, const std::string& file) {
  ByteReader reader(bytes, file);
  if (!bytes.starts_with(kExrMagic))
    reader.place().fail("the file begins with {}; an OpenEXR file begins with \"v/1\\x01\"",
                        in_quotes(bytes.substr(0, kExrMagic.size())));
  reader.skip(kExrMagic.size(), kWhat);
  check_version(reader);
  ExrHeader header;
  for (std::string name; !(name = reader.read_c_string(kWhat)).empty();) {
    const std::string type(reader.read_c_string(kWhat));
    const FilePlace place = reader.place();
    const auto size = reader.read<std::int32_t>(kWhat);
    if (size < 0) place.fail("the attribute {} has {} bytes", in_quotes(name), size);
    const std::uint64_t end = reader.offset() + static_cast<std::uint64_t>(size);
    if ((name == "channels" && !header.channels.empty()) || (name == "dataWindow" && header.width > 0))
      place.fail("the attribute {} is there twice", in_quotes(name));
    if (name == "channels" && type == "chlist") read_channels(reader, header);
    if (name == "dataWindow" && type == "box2i") read_window(reader, header);
    if (reader.offset() > end)
      place.fail("the attribute {} is longer than its {} bytes", in_quotes(name), size);
    reader.skip(static_cast<std::size_t>(end - reader.offset()), kWhat);
  }
  if (header.channels.empty() || header.width == 0)
    reader.place().fail("the header has no {}; the file is corrupt: write it again",
                        header.width == 0 ? "dataWindow" : "channels");
  check_file_bytes(header, file_bytes, reader.place());
  return header;
}

Image<float> parse_exr(std::string_view bytes, const std::string& file) {
  const ExrHeader header = parse_exr_header(bytes, bytes.size(), file);
  if (bytes.size() > kMaxImageFileBytes)
    throw InputError(file + ": the OpenEXR file has more than 2 GiB; give a smaller map");
  std::vector<std::string> named = header.channels;
  std::erase(named, "A");
  const bool is_grey_as_colours = named == std::vector<std::string>{"B", "G", "R"},
             is_one = header.channels.size() == 1 && header.channels.front().size() == 1;
  if (!is_grey_as_colours && !is_one)
    throw InputError(
        fmt::format("{}: the OpenEXR file has the channels {}; a map has one, such as Y or Z, or the "
                    "same numbers in R, G and B",
                    file, fmt::join(header.channels, ", ")));
  std::string copy;
  if (is_one && header.channels.front() != "Y") {
    copy = bytes;
    copy[header.first_channel] = 'Y';  // the only one that OpenCV reads for certain
    bytes = copy;
  }
  const cv::Mat pixels = decoded(bytes, file);
  const int channels = is_one ? 1 : 3;
  if (pixels.cols != header.width || pixels.rows != header.height || pixels.channels() < channels ||
      (is_one && pixels.channels() != 1))
    throw InputError(file + ": the OpenEXR file is not what its header says: write it again");
  return is_one ? channel_of(pixels, 1, 0) : equal_channels(pixels, file);
}

}  // namespace recon
