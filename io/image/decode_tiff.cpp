#include <tiffio.h>

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "io/image/decoders.hpp"
#include "io/image/image_size.hpp"

namespace recon {

namespace {

/// A file in memory, and what libtiff says of it.
struct TiffFile {
  std::string_view bytes;
  std::size_t at = 0;
  std::string fault;  ///< the first one
};

TiffFile& file_of(thandle_t handle) {
  return *static_cast<TiffFile*>(handle);
}

tmsize_t read(thandle_t handle, void* out, tmsize_t count) {
  TiffFile& file = file_of(handle);
  const std::size_t got =
      std::min(static_cast<std::size_t>(count), file.bytes.size() - std::min(file.at, file.bytes.size()));
  std::memcpy(out, file.bytes.data() + file.at, got);
  file.at += got;
  return static_cast<tmsize_t>(got);
}

tmsize_t write_nothing(thandle_t, void*, tmsize_t) {
  return -1;
}

toff_t seek(thandle_t handle, toff_t offset, int whence) {
  TiffFile& file = file_of(handle);
  file.at = static_cast<std::size_t>(offset) + (whence == SEEK_CUR   ? file.at
                                                : whence == SEEK_END ? file.bytes.size()
                                                                     : 0);
  return file.at;
}

int close_nothing(thandle_t) {
  return 0;
}

toff_t size(thandle_t handle) {
  return file_of(handle).bytes.size();
}

int note_error(TIFF*, void* file, const char*, const char* format, std::va_list values) {
  std::string& fault = static_cast<TiffFile*>(file)->fault;
  char text[200];
  if (fault.empty() && std::vsnprintf(text, sizeof text, format, values) > 0) fault = text;
  return 1;
}

int ignore_warning(TIFF*, void*, const char*, const char*, std::va_list) {
  return 1;
}

using TiffHandle = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

TiffHandle open(TiffFile& file) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), note_error, &file);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore_warning, nullptr);
  return {TIFFClientOpenExt("the file", "rm", &file, read, write_nothing, seek, close_nothing, size, nullptr,
                            nullptr, options.get()),
          TIFFClose};
}

/// What the directory says of the pixels.
struct TiffKind {
  std::uint32_t width = 0, height = 0;
  std::uint16_t photometric = 0, bits = 1, samples = 1, format = SAMPLEFORMAT_UINT,
                planes = PLANARCONFIG_CONTIG;

  bool is_grey() const {
    return photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
  }
  /// Whether the samples are taken as they are, in the upper bits of 16.
  bool is_16_bits() const {
    const bool colours = photometric == PHOTOMETRIC_RGB && (samples == 3 || samples == 4);
    return bits > 8 && bits <= 16 && bits % 2 == 0 && planes == PLANARCONFIG_CONTIG &&
           (colours || (is_grey() && samples == 1));
  }
  /// Of the pixels that are read: grey, or colours with alpha where the file has a fourth sample.
  int channels() const { return is_grey() ? 1 : photometric == PHOTOMETRIC_RGB && samples == 4 ? 4 : 3; }
};

/// Nothing of pixels without a size, or whose samples are no integers.
std::optional<TiffKind> kind_of(TIFF* tiff) {
  TiffKind kind;
  if (TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &kind.width) == 0 ||
      TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &kind.height) == 0 ||
      TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &kind.photometric) == 0)
    return {};
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &kind.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &kind.samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &kind.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &kind.planes);
  if (kind.format != SAMPLEFORMAT_UINT || !is_image_size(kind.width, kind.height)) return {};
  return kind;
}

/// Copies RGB or RGBA as BGR or BGRA, or grey from the first channel.
void copy_pixels(const cv::Mat& from, cv::Mat to) {
  constexpr int kOfGrey[] = {0, 0}, kOfColours[] = {0, 2, 1, 1, 2, 0, 3, 3};
  const int channels = to.channels();
  cv::mixChannels(&from, 1, &to, 1, channels == 1 ? kOfGrey : kOfColours, static_cast<std::size_t>(channels));
}

/// Samples of fewer than 16 bits, packed from the highest bit on, become the upper bits of 16.
void unpack(const std::uint8_t* packed, int bits, std::span<std::uint16_t> samples) {
  std::uint32_t window = 0;
  int held = 0;
  for (std::uint16_t& sample : samples) {
    for (; held < bits; held += 8) window = window << 8 | *packed++;
    held -= bits;
    sample = static_cast<std::uint16_t>(window >> held << (16 - bits));
  }
}

/// The strips or tiles of a TIFF, of `width` x `height` pixels as far as these lie in the image.
struct TiffParts {
  bool tiled = false;
  std::uint32_t width = 0, height = 0;
  tmsize_t row = 0, bytes = 0;  ///< of a row, and of all
};

/// Nothing of parts that do not have the bytes of their pixels.
std::optional<TiffParts> parts_of(TIFF* tiff, const TiffKind& kind) {
  TiffParts parts{TIFFIsTiled(tiff) != 0, kind.width, 0, 0, 0};
  TIFFGetFieldDefaulted(tiff, parts.tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &parts.height);
  if (parts.tiled) TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &parts.width);
  if (!parts.tiled) parts.height = std::min(parts.height, kind.height);
  parts.row = parts.tiled ? TIFFTileRowSize(tiff) : TIFFScanlineSize(tiff);
  parts.bytes = parts.tiled ? TIFFTileSize(tiff) : TIFFStripSize(tiff);
  const std::uint64_t row_bits = std::uint64_t{parts.width} * kind.samples * kind.bits;
  if (parts.width == 0 || parts.height == 0 || parts.row <= 0 ||
      static_cast<std::uint64_t>(parts.row) != (row_bits + 7) / 8 ||
      static_cast<std::uint64_t>(parts.bytes) != static_cast<std::uint64_t>(parts.row) * parts.height)
    return {};
  return parts;
}

bool read_16_bits(TIFF* tiff, const TiffKind& kind, cv::Mat& pixels) {
  const auto parts = parts_of(tiff, kind);
  if (!parts) return false;
  std::vector<std::uint8_t> part(static_cast<std::size_t>(parts->bytes));
  cv::Mat row(1, static_cast<int>(parts->width), pixels.type());
  const std::span<std::uint16_t> samples(row.ptr<std::uint16_t>(), std::size_t{parts->width} * kind.samples);
  for (std::uint32_t y = 0; y < kind.height; y += parts->height)
    for (std::uint32_t x = 0; x < kind.width; x += parts->width) {
      const std::uint32_t rows = std::min(parts->height, kind.height - y);
      const int columns = static_cast<int>(std::min(parts->width, kind.width - x));
      const tmsize_t got =
          parts->tiled
              ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, 0), part.data(), parts->bytes)
              : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, y, 0), part.data(), parts->bytes);
      if (got < (parts->tiled ? parts->bytes : parts->row * static_cast<tmsize_t>(rows))) return false;
      for (std::uint32_t i = 0; i < rows; ++i) {
        const std::uint8_t* const in = part.data() + static_cast<std::size_t>(parts->row) * i;
        if (kind.bits == 16)
          std::memcpy(samples.data(), in, samples.size_bytes());
        else
          unpack(in, kind.bits, samples);
        copy_pixels(row.colRange(0, columns),
                    pixels(cv::Rect(static_cast<int>(x), static_cast<int>(y + i), columns, 1)));
      }
    }
  return true;
}

/// Pixels of any other kind that libtiff knows, in 8 bits, where they are stored.
bool read_8_bits(TIFF* tiff, cv::Mat& pixels, std::string& fault) {
  static_assert(std::endian::native == std::endian::little);  // red is the lowest byte of a number
  cv::Mat rgba(pixels.size(), CV_8UC4);
  char reason[1024] = "";
  TIFFRGBAImage image{};
  bool read = TIFFRGBAImageOK(tiff, reason) != 0 && TIFFRGBAImageBegin(&image, tiff, 1, reason) != 0;
  if (read) {
    image.req_orientation = image.orientation;
    read = TIFFRGBAImageGet(&image, rgba.ptr<std::uint32_t>(), image.width, image.height) != 0;
    TIFFRGBAImageEnd(&image);
  }
  if (read) copy_pixels(rgba, pixels);
  if (fault.empty()) fault = reason;
  return read;
}

}  // namespace

DecodedImage decode_tiff(std::string_view bytes) {
  TiffFile file{bytes, 0, {}};
  const TiffHandle tiff = open(file);
  if (const auto kind = tiff ? kind_of(tiff.get()) : std::nullopt) {
    const bool wide = kind->is_16_bits();
    cv::Mat pixels(static_cast<int>(kind->height), static_cast<int>(kind->width),
                   CV_MAKETYPE(wide ? CV_16U : CV_8U, kind->channels()));
    if (wide ? read_16_bits(tiff.get(), *kind, pixels) : read_8_bits(tiff.get(), pixels, file.fault))
      return {pixels, {}};
  }
  return {{},
          "this TIFF cannot be read" + (file.fault.empty() ? "" : " (" + file.fault + ")") +
              ": it is damaged, or its samples are no integers of 8 or 16 bits (such as floats), or it is "
              "packed in a way that is not supported; convert the image to PNG or such a TIFF"};
}

}  // namespace recon
