#include "io/image/image_file.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "core/log.hpp"
#include "core/paths.hpp"
#include "core/pixels.hpp"
#include "io/file/byte_reader.hpp"
#include "io/file/input_file.hpp"
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

/// The pixels as they are: grey, BGR or BGRA.
/// @param damage  as of `read_image`
cv::Mat decode(std::string_view bytes, const std::string& file, std::string* damage) {
  if (bytes.empty()) fail(file, "the image file is empty");
  EXPECTS(bytes.size() <= kMaxImageFileBytes);
  if (is_exr(bytes)) fail(file, "is an OpenEXR image, whose samples are floats; photos have 8 or 16 bits");
  if (const auto size = header_size(bytes)) check_size(size->width, size->height, file);
  if (const std::uint64_t needed = min_file_size(bytes); needed > bytes.size())
    fail(file, fmt::format("the file is truncated: its header says that it has {} bytes or more, and there "
                           "are {}; copy it again",
                           needed, bytes.size()));
  DecodedImage decoded;
  try {
    decoded = image_codecs().decode(bytes);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(file + ": no memory to decode the image");
  } catch (const cv::Exception& error) {
    if (error.code == cv::Error::StsNoMem)
      throw OutOfMemory(file + ": no memory to decode the image: " + error.err);
    fail(file, "cannot be decoded: " + error.err);
  }
  const cv::Mat& pixels = decoded.pixels;
  if (pixels.empty())
    fail(file, decoded.fault.empty()
                   ? "is no image that can be read, or is damaged; PNG, JPEG and TIFF are supported"
                   : decoded.fault);
  check_size(static_cast<std::uint64_t>(pixels.cols), static_cast<std::uint64_t>(pixels.rows), file);
  if (damage != nullptr)
    *damage = decoded.fault;
  else if (!decoded.fault.empty())
    messages().warn("{}: {}", file, decoded.fault);
  return pixels;
}

/// @param convert  of red, green and blue
template <class T, class Convert>
auto converted(const cv::Mat& pixels, const Convert& convert) {
  const int channels = pixels.channels(), green = channels > 1 ? 1 : 0, red = 2 * green;
  Image<decltype(convert(T{}, T{}, T{}))> image(pixels.cols, pixels.rows);
  for (int y = 0; y < pixels.rows; ++y) {
    const T* in = pixels.ptr<T>(y);
    auto* out = image.row(y);
    for (int x = 0; x < pixels.cols; ++x, in += channels) out[x] = convert(in[red], in[green], in[0]);
  }
  return image;
}

template <class T>
Image<T> grey_of(const cv::Mat& pixels) {
  return converted<T>(pixels, [](T red, T green, T blue) {
    return static_cast<T>((299u * red + 587u * green + 114u * blue + 500u) / 1000u);
  });
}

/// What samples are, for people: "8 bits".
std::string samples_text(const cv::Mat& pixels) {
  const bool is_float = pixels.depth() == CV_32F || pixels.depth() == CV_64F;
  std::string text = std::to_string(8 * pixels.elemSize1()) + (is_float ? " bits, floating-point" : " bits");
  if (pixels.channels() > 1) text += ", in " + std::to_string(pixels.channels()) + " channels";
  return text;
}

/// The same of samples that we use.
cv::Mat decode_integers(std::string_view bytes, const std::string& file, std::string* damage) {
  cv::Mat pixels = decode(bytes, file, damage);
  const bool kind = pixels.channels() == 1 || pixels.channels() == 3 || pixels.channels() == 4;
  if (kind && (pixels.depth() == CV_8U || pixels.depth() == CV_16U)) return pixels;
  fail(file, "has samples of " + samples_text(pixels) +
                 "; only grey and colours in integers of 8 and 16 bits are supported: convert the image");
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

Image<Rgb8> read_image(const std::filesystem::path& path, SampleLevels levels, std::string* damage) {
  return decode_image(read_image_file(path), path.string(), levels, damage);
}

Image<Rgb8> decode_image(std::string_view bytes, const std::string& file, SampleLevels levels,
                         std::string* damage) {
  EXPECTS(levels.white > levels.black);
  const cv::Mat pixels = decode_integers(bytes, file, damage);
  if (pixels.depth() == CV_8U)
    return converted<std::uint8_t>(pixels, [](auto red, auto green, auto blue) {
      return Rgb8{red, green, blue};
    });
  const std::vector<std::uint8_t> table = level_table(levels);
  return converted<std::uint16_t>(pixels, [&](auto red, auto green, auto blue) {
    return Rgb8{table[red], table[green], table[blue]};
  });
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
  std::string damage;  // said when the photo is used
  const cv::Mat pixels = decode_integers(bytes, file, &damage);
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

Image<std::uint8_t> decode_mask(std::string_view bytes, const std::string& file, MaskKind kind,
                                std::string* damage) {
  return mask_of(decode_integers(bytes, file, damage), bytes, kind);
}

StoredGrey read_stored_grey(const std::filesystem::path& path, std::string* damage) {
  return decode_stored_grey(read_image_file(path), path.string(), damage);
}

StoredGrey decode_stored_grey(std::string_view bytes, const std::string& file, std::string* damage) {
  const cv::Mat pixels = decode_integers(bytes, file, damage);
  if (pixels.depth() == CV_8U) return {grey_of<std::uint8_t>(pixels), {}};
  return {{}, grey_of<std::uint16_t>(pixels)};
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
  std::string damage;  // said when the pixels are used
  const Image<Rgb8> image = read_image(path, {}, &damage);
  return {image.width(), image.height()};
}

Image<std::uint16_t> read_png16(const std::filesystem::path& path) {
  const cv::Mat pixels = decode(read_image_file(path), path.string(), nullptr);
  if (pixels.type() != CV_16UC1)
    fail(path.string(), "has samples of " + samples_text(pixels) + "; a 16-bit grey PNG is needed");
  Image<std::uint16_t> image(pixels.cols, pixels.rows);
  for (int y = 0; y < pixels.rows; ++y) std::copy_n(pixels.ptr<std::uint16_t>(y), pixels.cols, image.row(y));
  return image;
}

static FileIdentity write_png16(const std::filesystem::path& path, const cv::Mat& pixels) {
  if (lower_extension(path) != ".png")
    throw UsageError(path.string() + ": 16-bit images are written as .png");
  return encoded_file(path, pixels).commit();
}

FileIdentity write_png16(const std::filesystem::path& path, ImageView<const std::uint16_t> image) {
  return write_png16(path, mat_of(image, CV_16UC1));
}

FileIdentity write_png16(const std::filesystem::path& path, ImageView<const Vec3<std::uint16_t>> image) {
  cv::Mat bgr;
  cv::cvtColor(mat_of(image, CV_16UC3), bgr, cv::COLOR_RGB2BGR);
  return write_png16(path, bgr);
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
