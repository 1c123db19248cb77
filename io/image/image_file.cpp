#include "io/image/image_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "core/paths.hpp"
#include "core/pixels.hpp"
#include "io/file/byte_reader.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_codecs.hpp"

namespace recon {

namespace {

/// Enough for the metadata that precedes the size in camera files.
constexpr std::size_t kHeaderBytes = 256 * 1024;

[[noreturn]] void fail(const std::string& file, const std::string& message) {
  throw InputError(file + ": " + message);
}

void check_size(std::uint64_t width, std::uint64_t height, const std::string& file) {
  constexpr auto kLargest = static_cast<std::uint64_t>(kMaxFileSide);
  if (width > kLargest || height > kLargest ||
      !is_image_size(static_cast<std::int64_t>(width), static_cast<std::int64_t>(height)))
    fail(file, "the image has " + size_text(width, height) + " pixels; " + std::string(kImageSizeRule));
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
    decoded = image_codecs().decode(raw, flags);
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

/// What samples are, for people: "8 bits".
std::string samples_text(const cv::Mat& pixels) {
  const bool is_float = pixels.depth() == CV_32F || pixels.depth() == CV_64F;
  std::string text = std::to_string(8 * pixels.elemSize1()) + (is_float ? " bits, floating-point" : " bits");
  if (pixels.channels() > 1) text += ", in " + std::to_string(pixels.channels()) + " channels";
  return text;
}

[[noreturn]] void fail_samples(const cv::Mat& pixels, const std::string& file) {
  fail(file, "has samples of " + samples_text(pixels) +
                 "; only 8 and 16 bit integers are supported: convert the image");
}

cv::Mat decode_colour(std::string_view bytes, const std::string& file) {
  const cv::Mat bgr =
      decode(bytes, cv::IMREAD_COLOR | cv::IMREAD_ANYDEPTH | cv::IMREAD_IGNORE_ORIENTATION, file);
  if (bgr.type() == CV_8UC3 || bgr.type() == CV_16UC3) return bgr;
  fail_samples(bgr, file);
}

/// The 8-bit value of each 16-bit value.
std::vector<std::uint8_t> level_table(SampleLevels levels) {
  const std::uint64_t span = levels.white - levels.black;
  std::vector<std::uint8_t> table(1 << 16);
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    const std::uint64_t above = i - std::min<std::uint64_t>(i, levels.black);
    table[i] = static_cast<std::uint8_t>(std::min<std::uint64_t>(255, (255 * above + span / 2) / span));
  }
  return table;
}

/// @param convert  of a sample
template <class T, class Convert>
Image<Rgb8> rgb_of_bgr(const cv::Mat& bgr, const Convert& convert) {
  Image<Rgb8> image(bgr.cols, bgr.rows);
  for (int y = 0; y < bgr.rows; ++y) {
    const T* in = bgr.ptr<T>(y);
    Rgb8* out = image.row(y);
    for (int x = 0; x < bgr.cols; ++x, in += 3) out[x] = {convert(in[2]), convert(in[1]), convert(in[0])};
  }
  return image;
}

/// Of `pixels` with one channel, or blue, green, red and perhaps alpha.
template <class T>
Image<std::uint8_t> mask_of(const cv::Mat& pixels, MaskKind kind) {
  const int channels = pixels.channels(), colours = std::min(channels, 3);
  Image<std::uint8_t> mask(pixels.cols, pixels.rows);
  for (int y = 0; y < pixels.rows; ++y) {
    const T* in = pixels.ptr<T>(y);
    std::uint8_t* out = mask.row(y);
    for (int x = 0; x < pixels.cols; ++x, in += channels) {
      const bool black = std::all_of(in, in + colours, [](T value) { return value == 0; });
      const bool transparent = channels == 4 && in[3] == 0;
      const bool ignored = kind == MaskKind::kBlack      ? black || transparent
                           : kind == MaskKind::kNotBlack ? !black
                                                         : transparent;
      out[x] = ignored ? 0 : 255;
    }
  }
  return mask;
}

/// The pixels of a file as they are, alpha included.
cv::Mat decode_unchanged(std::string_view bytes, const std::string& file) {
  const cv::Mat pixels = decode(bytes, cv::IMREAD_UNCHANGED, file);
  if (pixels.depth() != CV_8U && pixels.depth() != CV_16U) fail_samples(pixels, file);
  return pixels;
}

/// Of one channel: what is not the transparent grey.
template <class T>
Image<std::uint8_t> mask_of_grey(const cv::Mat& pixels, std::uint16_t transparent) {
  Image<std::uint8_t> mask(pixels.cols, pixels.rows);
  for (int y = 0; y < pixels.rows; ++y)
    std::transform(pixels.ptr<T>(y), pixels.ptr<T>(y) + pixels.cols, mask.row(y),
                   [&](T value) { return static_cast<std::uint8_t>(value == transparent ? 0 : 255); });
  return mask;
}

/// @param bytes  that `pixels` are from
Image<std::uint8_t> mask_of(const cv::Mat& pixels, std::string_view bytes, MaskKind kind) {
  const bool wide = pixels.depth() == CV_16U;
  const auto grey =
      kind == MaskKind::kTransparent && pixels.channels() == 1 ? transparent_grey(bytes) : std::nullopt;
  if (grey)
    return wide ? mask_of_grey<std::uint16_t>(pixels, *grey) : mask_of_grey<std::uint8_t>(pixels, *grey);
  return wide ? mask_of<std::uint16_t>(pixels, kind) : mask_of<std::uint8_t>(pixels, kind);
}

/// Of the colours of 16-bit pixels.
SampleRange range_of(const cv::Mat& pixels) {
  const int channels = pixels.channels(), colours = std::min(channels, 3);
  SampleRange range;
  for (int y = 0; y < pixels.rows; ++y) {
    const auto* in = pixels.ptr<std::uint16_t>(y);
    for (int x = 0; x < pixels.cols; ++x, in += channels) {
      const auto [min, max] = std::minmax_element(in, in + colours);
      range.min = std::min<std::uint32_t>(range.min, *min);
      range.max = std::max<std::uint32_t>(range.max, *max);
      range.grey &= *min == *max;
    }
  }
  return range;
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
    encoded = image_codecs().encode(extension, pixels, bytes, settings);
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

std::string lower_extension(const std::filesystem::path& path) {
  return lower_case(path.extension().string());
}

std::filesystem::path find_image(const std::filesystem::path& folder, const std::string& stem) {
  for (const char* extension : {".png", ".PNG", ".jpg", ".jpeg", ".JPG", ".tif", ".tiff", ".ppm", ".pgm",
                                ".bmp", ".JPEG", ".TIF", ".TIFF", ".PPM", ".PGM", ".BMP"}) {
    const std::filesystem::path file = folder / (stem + extension);
    if (is_there_to_read(file)) return file;
  }
  return {};
}

std::string read_image_file(const std::filesystem::path& path, const HeaderCheck& check) {
  if (check) {
    const std::string beginning = read_beginning(path, kHeaderBytes);
    if (const auto size = header_size(beginning)) check(*size, beginning);
  }
  return read_file(path, kMaxImageFileBytes);
}

Image<Rgb8> read_image(const std::filesystem::path& path, SampleLevels levels) {
  return decode_image(read_image_file(path), path.string(), levels);
}

Image<Rgb8> decode_image(std::string_view bytes, const std::string& file, SampleLevels levels) {
  EXPECTS(levels.white > levels.black);
  const cv::Mat bgr = decode_colour(bytes, file);
  if (bgr.depth() == CV_8U) return rgb_of_bgr<std::uint8_t>(bgr, [](std::uint8_t value) { return value; });
  const std::vector<std::uint8_t> table = level_table(levels);
  return rgb_of_bgr<std::uint16_t>(bgr, [&](std::uint16_t value) { return table[value]; });
}

void SampleRange::include(const SampleRange& other) {
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  grey &= other.grey;
}

SampleLevels levels_of(const SampleRange& range) {
  if (range.empty() || range.max == 0) return {};
  const std::uint32_t white = std::max(255u, (1u << std::bit_width(range.max)) - 1);
  if (range.grey && range.min < range.max && range.min > white / 4) return {range.max, range.min};
  return {white, 0};
}

bool is_plain_photo(const std::filesystem::path& path) {
  constexpr std::size_t kSignature = 3;
  return has_plain_samples(read_beginning(path, kSignature));
}

PhotoSamples inspect_photo(std::string_view bytes, const std::string& file) {
  const cv::Mat pixels = decode_unchanged(bytes, file);
  PhotoSamples samples;
  if (pixels.depth() == CV_16U) samples.range = range_of(pixels);
  if (pixels.channels() != 4 && !transparent_grey(bytes)) return samples;
  samples.mask = mask_of(pixels, bytes, MaskKind::kTransparent);
  std::size_t kept = 0;
  for (int y = 0; y < pixels.rows; ++y) {
    const std::uint8_t* row = samples.mask.row(y);
    kept += static_cast<std::size_t>(std::count(row, row + pixels.cols, 255));
  }
  samples.all_transparent = kept == 0;
  if (kept == 0 || kept == pixels.total()) samples.mask = {};
  return samples;
}

Image<std::uint8_t> decode_mask(std::string_view bytes, const std::string& file, MaskKind kind) {
  return mask_of(decode_unchanged(bytes, file), bytes, kind);
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
  return mapped<std::uint8_t>(read_image(path), luma);
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
    fail(path.string(), "has samples of " + samples_text(pixels) + "; a 16-bit grey PNG is needed");
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
