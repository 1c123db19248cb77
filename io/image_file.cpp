#include "io/image_file.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <limits>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "core/paths.hpp"
#include "io/byte_reader.hpp"
#include "io/input_file.hpp"
#include "io/output_file.hpp"

namespace recon {

namespace {

using namespace std::string_view_literals;

/// Enough for the metadata that precedes the size in camera files.
constexpr std::size_t kHeaderBytes = 256 * 1024;

std::uint8_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

bool is_jpeg(std::string_view bytes) {
  return bytes.starts_with("\xFF\xD8\xFF"sv);
}

std::optional<HeaderSize> png_size(std::string_view bytes) {
  // Signature, then the IHDR chunk: length, name, width, height.
  if (bytes.size() < 24 || bytes.substr(12, 4) != "IHDR") return {};
  return HeaderSize{load_number<std::uint32_t>(&bytes[16], std::endian::big),
                    load_number<std::uint32_t>(&bytes[20], std::endian::big)};
}

/// Calls `visit(marker, payload)` for the JPEG segments before the pixels, until it returns true; returns the
/// offset after the last visited segment.
template <class Visit>
std::size_t visit_jpeg_segments(std::string_view bytes, const Visit& visit) {
  std::size_t at = 2;
  while (at + 4 <= bytes.size() && byte_at(bytes, at) == 0xFF) {
    const std::uint8_t marker = byte_at(bytes, at + 1);
    if (marker == 0xFF) {  // a fill byte
      ++at;
      continue;
    }
    const std::size_t length = load_number<std::uint16_t>(&bytes[at + 2], std::endian::big);
    if (length < 2 || at + 2 + length > bytes.size()) return bytes.size();
    const bool found = visit(marker, bytes.substr(at + 4, length - 2));
    at += 2 + length;
    if (found) break;
  }
  return at;
}

bool is_start_of_frame(std::uint8_t marker) {
  // C0 to CF except the tables C4 (DHT) and CC (DAC) and the extension C8.
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

std::optional<HeaderSize> jpeg_size(std::string_view bytes) {
  std::optional<HeaderSize> size;
  visit_jpeg_segments(bytes, [&](std::uint8_t marker, std::string_view payload) {
    if (!is_start_of_frame(marker) || payload.size() < 5) return false;
    size = HeaderSize{load_number<std::uint16_t>(&payload[3], std::endian::big),
                      load_number<std::uint16_t>(&payload[1], std::endian::big)};
    return true;
  });
  return size;
}

std::optional<HeaderSize> tiff_size(std::string_view bytes, std::endian order) {
  const std::size_t directory = load_number<std::uint32_t>(&bytes[4], order);
  if (directory + 2 > bytes.size()) return {};
  const std::size_t entries = load_number<std::uint16_t>(&bytes[directory], order);
  HeaderSize size;
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (entry + 12 > bytes.size()) return {};
    const auto tag = load_number<std::uint16_t>(&bytes[entry], order);
    const auto type = load_number<std::uint16_t>(&bytes[entry + 2], order);
    const std::uint64_t value = type == 3 ? load_number<std::uint16_t>(&bytes[entry + 8], order)
                                          : load_number<std::uint32_t>(&bytes[entry + 8], order);
    // Decoders use the first of duplicate tags.
    if (tag == 256 && size.width == 0) size.width = value;
    if (tag == 257 && size.height == 0) size.height = value;
  }
  if (size.width == 0 || size.height == 0) return {};
  return size;
}

[[noreturn]] void fail(const std::string& file, const std::string& message) {
  throw InputError(file + ": " + message);
}

void check_size(std::uint64_t width, std::uint64_t height, const std::string& file) {
  constexpr auto kLargest = static_cast<std::uint64_t>(kMaxFileSide);
  if (width > kLargest || height > kLargest ||
      !is_image_size(static_cast<std::int64_t>(width), static_cast<std::int64_t>(height)))
    fail(file, "the image has " + size_text(width, height) + " pixels; " + std::string(kImageSizeRule));
}

bool is_tiff(std::string_view bytes) {
  return bytes.starts_with("II*\0"sv) || bytes.starts_with("MM\0*"sv) || bytes.starts_with("II+\0"sv) ||
         bytes.starts_with("MM\0+"sv);
}

[[noreturn]] void fail_undecoded(std::string_view bytes, const std::string& file) {
  if (is_tiff(bytes))
    fail(file,
         "this TIFF cannot be read: it is damaged, or its samples are no integers of 8 or 16 bits (such as "
         "floats), or it is packed in a way that is not supported; convert the image to PNG or such a TIFF");
  fail(file, "is no image that can be read, or is damaged; PNG, JPEG and TIFF are supported");
}

/// Decodes with OpenCV; its exceptions and empty results become InputError.
cv::Mat decode(std::string_view bytes, int flags, const std::string& file) {
  if (bytes.empty()) fail(file, "the image file is empty");
  EXPECTS(bytes.size() <= kMaxImageFileBytes);
  if (const auto size = header_size(bytes)) check_size(size->width, size->height, file);
  if (is_truncated_jpeg(bytes))
    fail(file, "the JPEG file is truncated (it has no end marker); copy it again");
  cv::Mat decoded;
  try {
    // OpenCV takes a mutable pointer but does not write through it.
    const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<char*>(bytes.data()));
    decoded = cv::imdecode(raw, flags);
  } catch (const cv::Exception& error) {
    if (error.code == cv::Error::StsNoMem)
      throw OutOfMemory(file + ": no memory to decode the image: " + error.err);
    fail(file, "cannot be decoded: " + error.err);
  }
  if (decoded.empty()) fail_undecoded(bytes, file);
  check_size(static_cast<std::uint64_t>(decoded.cols), static_cast<std::uint64_t>(decoded.rows), file);
  return decoded;
}

template <class T>
Image<T> grey_of_bgr(const cv::Mat& bgr) {
  Image<T> image(bgr.cols, bgr.rows);
  for (int y = 0; y < bgr.rows; ++y) {
    const T* in = bgr.ptr<T>(y);
    T* out = image.row(y);
    for (int x = 0; x < bgr.cols; ++x, in += 3)
      out[x] = static_cast<T>((299u * in[2] + 587u * in[1] + 114u * in[0] + 500u) / 1000u);
  }
  return image;
}

[[noreturn]] void fail_samples(const cv::Mat& pixels, const std::string& file) {
  fail(file, "has samples of the type " + cv::typeToString(pixels.type()) +
                 "; only 8 and 16 bit integers are supported: convert the image");
}

cv::Mat decode_colour(std::string_view bytes, const std::string& file) {
  const cv::Mat bgr =
      decode(bytes, cv::IMREAD_COLOR | cv::IMREAD_ANYDEPTH | cv::IMREAD_IGNORE_ORIENTATION, file);
  if (bgr.type() == CV_8UC3 || bgr.type() == CV_16UC3) return bgr;
  fail_samples(bgr, file);
}

template <class T>
Image<Rgb8> rgb_of_bgr(const cv::Mat& bgr, std::uint32_t white) {
  constexpr std::size_t kScale = sizeof(T) == 1 ? 257 : 1;
  std::vector<std::uint8_t> level(std::numeric_limits<T>::max() + 1);
  for (std::size_t i = 0; i < level.size(); ++i)
    level[i] = static_cast<std::uint8_t>(std::min<std::size_t>(255, (255 * kScale * i + white / 2) / white));
  Image<Rgb8> image(bgr.cols, bgr.rows);
  for (int y = 0; y < bgr.rows; ++y) {
    const T* in = bgr.ptr<T>(y);
    Rgb8* out = image.row(y);
    for (int x = 0; x < bgr.cols; ++x, in += 3) out[x] = {level[in[2]], level[in[1]], level[in[0]]};
  }
  return image;
}

/// Of `pixels` with one channel, or blue, green, red and perhaps alpha.
template <class T>
Image<std::uint8_t> mask_of(const cv::Mat& pixels) {
  const int channels = pixels.channels(), colours = std::min(channels, 3);
  Image<std::uint8_t> mask(pixels.cols, pixels.rows);
  for (int y = 0; y < pixels.rows; ++y) {
    const T* in = pixels.ptr<T>(y);
    std::uint8_t* out = mask.row(y);
    for (int x = 0; x < pixels.cols; ++x, in += channels) {
      const bool black = std::all_of(in, in + colours, [](T value) { return value == 0; });
      const bool transparent = channels == 4 && in[3] == 0;
      out[x] = black || transparent ? 0 : 255;
    }
  }
  return mask;
}

/// Max side of a JPEG image, pixels, in libjpeg.
constexpr int kMaxJpegSide = 65500;

/// Encodes in memory, so that the file is written by AtomicFile.
AtomicFile encoded_file(const std::filesystem::path& path, const cv::Mat& pixels) {
  const std::string extension = lower_extension(path);
  const bool jpeg = extension == ".jpg" || extension == ".jpeg";
  if (!jpeg && extension != ".png")
    throw UsageError(fmt::format("{}: images are written as .png, .jpg or .jpeg, not as \"{}\"",
                                 path.string(), extension));
  if (jpeg && std::max(pixels.cols, pixels.rows) > kMaxJpegSide)
    throw OutputError(
        fmt::format("{}: {} x {} pixels are more than a JPEG file holds ({} a side); write it as .png",
                    path.string(), pixels.cols, pixels.rows, kMaxJpegSide));
  std::vector<int> settings;
  if (jpeg) settings = {cv::IMWRITE_JPEG_QUALITY, 95};
  std::vector<std::uint8_t> bytes;
  bool encoded = false;
  try {
    encoded = cv::imencode(extension, pixels, bytes, settings);
  } catch (const cv::Exception&) {
    encoded = false;
  }
  // Of pixels and sides that the format allows, encoding fails for lack of memory only.
  if (!encoded) throw OutOfMemory(path.string() + ": there is not enough memory to encode the image");
  AtomicFile file(path);
  file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  file.flush();
  return file;
}

/// An OpenCV header for our pixels, read-only.
template <class T>
cv::Mat mat_of(ImageView<const T> image, int type) {
  EXPECTS(!image.empty());
  return {image.height, image.width, type, const_cast<T*>(image.data),
          static_cast<std::size_t>(image.pitch) * sizeof(T)};
}

}  // namespace

std::optional<HeaderSize> header_size(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1A\n"sv)) return png_size(bytes);
  if (is_jpeg(bytes)) return jpeg_size(bytes);
  if (bytes.size() < 8) return rare_header_size(bytes);
  if (bytes.starts_with("II*\0"sv)) return tiff_size(bytes, std::endian::little);
  if (bytes.starts_with("MM\0*"sv)) return tiff_size(bytes, std::endian::big);
  return rare_header_size(bytes);
}

bool is_truncated_jpeg(std::string_view bytes) {
  if (!is_jpeg(bytes)) return false;
  // After the first start-of-scan marker (DA), FF D9 can only be the end of the image: FF is escaped in coded
  // data.
  const std::size_t pixels =
      visit_jpeg_segments(bytes, [](std::uint8_t marker, std::string_view) { return marker == 0xDA; });
  return bytes.find("\xFF\xD9"sv, pixels) == std::string_view::npos;
}

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

std::filesystem::path find_image(const std::filesystem::path& folder, const std::string& stem) {
  for (const char* extension : {".png", ".PNG", ".jpg", ".jpeg", ".JPG", ".tif", ".tiff", ".ppm", ".pgm",
                                ".bmp", ".JPEG", ".TIF", ".TIFF", ".PPM", ".PGM", ".BMP"}) {
    const std::filesystem::path file = folder / (stem + extension);
    if (is_there_to_read(file)) return file;
  }
  return {};
}

std::string read_image_file(const std::filesystem::path& path,
                            const std::function<void(const HeaderSize& size)>& check) {
  if (check)
    if (const auto size = header_size(read_beginning(path, kHeaderBytes))) check(*size);
  return read_file(path, kMaxImageFileBytes);
}

Image<Rgb8> read_image(const std::filesystem::path& path, std::uint32_t white) {
  return decode_image(read_image_file(path), path.string(), white);
}

Image<Rgb8> decode_image(std::string_view bytes, const std::string& file, std::uint32_t white) {
  EXPECTS(white > 0);
  const cv::Mat bgr = decode_colour(bytes, file);
  return bgr.depth() == CV_8U ? rgb_of_bgr<std::uint8_t>(bgr, white) : rgb_of_bgr<std::uint16_t>(bgr, white);
}

Image<std::uint8_t> decode_mask(std::string_view bytes, const std::string& file) {
  const cv::Mat pixels = decode(bytes, cv::IMREAD_UNCHANGED, file);
  if (pixels.depth() != CV_8U && pixels.depth() != CV_16U) fail_samples(pixels, file);
  return pixels.depth() == CV_8U ? mask_of<std::uint8_t>(pixels) : mask_of<std::uint16_t>(pixels);
}

StoredGrey read_stored_grey(const std::filesystem::path& path) {
  return decode_stored_grey(read_image_file(path), path.string());
}

StoredGrey decode_stored_grey(std::string_view bytes, const std::string& file) {
  const cv::Mat bgr = decode_colour(bytes, file);
  if (bgr.depth() == CV_8U) return {grey_of_bgr<std::uint8_t>(bgr), {}};
  return {{}, grey_of_bgr<std::uint16_t>(bgr)};
}

Image<std::uint8_t> read_grey_image(const std::filesystem::path& path) {
  const Image<Rgb8> colour = read_image(path);
  Image<std::uint8_t> grey(colour.width(), colour.height());
  for (int y = 0; y < grey.height(); ++y)
    for (int x = 0; x < grey.width(); ++x) {
      const Rgb8 c = colour(x, y);
      grey(x, y) = static_cast<std::uint8_t>((299 * c.r + 587 * c.g + 114 * c.b + 500) / 1000);
    }
  return grey;
}

ImageSize image_size(const std::filesystem::path& path) {
  const std::string head = read_beginning(path, kHeaderBytes);
  if (const auto size = header_size(head)) {
    check_size(size->width, size->height, path.string());
    return {static_cast<int>(size->width), static_cast<int>(size->height)};
  }
  const Image<Rgb8> image = read_image(path);
  return {image.width(), image.height()};
}

Image<std::uint16_t> read_png16(const std::filesystem::path& path) {
  const cv::Mat pixels = decode(read_image_file(path), cv::IMREAD_UNCHANGED, path.string());
  if (pixels.type() != CV_16UC1)
    fail(path.string(),
         "has samples of the type " + cv::typeToString(pixels.type()) + "; a 16-bit grey PNG is needed");
  Image<std::uint16_t> image(pixels.cols, pixels.rows);
  for (int y = 0; y < pixels.rows; ++y) std::copy_n(pixels.ptr<std::uint16_t>(y), pixels.cols, image.row(y));
  return image;
}

FileIdentity write_png16(const std::filesystem::path& path, ImageView<const std::uint16_t> image) {
  if (lower_extension(path) != ".png")
    throw UsageError(path.string() + ": 16-bit images are written as .png");
  return encoded_file(path, mat_of(image, CV_16UC1)).commit();
}

AtomicFile image_file(const std::filesystem::path& path, ImageView<const Rgb8> image) {
  cv::Mat bgr;
  cv::cvtColor(mat_of(image, CV_8UC3), bgr, cv::COLOR_RGB2BGR);
  return encoded_file(path, bgr);
}

AtomicFile image_file(const std::filesystem::path& path, ImageView<const std::uint8_t> image) {
  return encoded_file(path, mat_of(image, CV_8UC1));
}

FileIdentity write_image(const std::filesystem::path& path, ImageView<const Rgb8> image) {
  return image_file(path, image).commit();
}

FileIdentity write_image(const std::filesystem::path& path, ImageView<const std::uint8_t> image) {
  return image_file(path, image).commit();
}

}  // namespace recon
