#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "io/image/decoders.hpp"

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

/// Whether OpenCV decodes such pixels, or gives them to us as floats to refuse.
bool is_known_kind(TIFF* tiff) {
  std::uint16_t photometric = 0, bits = 1, samples = 1, format = SAMPLEFORMAT_UINT;
  if (TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric) == 0) return false;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &format);
  constexpr std::uint16_t kBits[] = {1, 4, 8, 10, 12, 14, 16, 32, 64};
  if (std::ranges::find(kBits, bits) == std::end(kBits) || samples < 1 || samples > 4) return false;
  if (bits == 4 && photometric != PHOTOMETRIC_PALETTE) return false;
  if (bits <= 16 && format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_INT) return false;
  if (bits <= 8 && TIFFIsTiled(tiff) != 0) return false;
  char text[1024];
  return bits > 8 || TIFFRGBAImageOK(tiff, text) != 0;
}

/// Decodes all strips or tiles, of which OpenCV takes those of less than 1 GiB.
bool has_all_pixels(TIFF* tiff) {
  constexpr tmsize_t kMaxBytes = tmsize_t{1} << 30;
  const bool tiled = TIFFIsTiled(tiff) != 0;
  const tmsize_t bytes = tiled ? TIFFTileSize(tiff) : TIFFStripSize(tiff);
  if (bytes <= 0 || bytes >= kMaxBytes) return false;
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(bytes));
  const std::uint32_t parts = tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
  for (std::uint32_t i = 0; i < parts; ++i)
    if ((tiled ? TIFFReadEncodedTile(tiff, i, pixels.data(), bytes)
               : TIFFReadEncodedStrip(tiff, i, pixels.data(), bytes)) < 0)
      return false;
  return true;
}

}  // namespace

std::string fault_of_tiff(std::string_view bytes) {
  TiffFile file{bytes, 0, {}};
  const TiffHandle tiff = open(file);
  if (tiff && is_known_kind(tiff.get()) && has_all_pixels(tiff.get())) return {};
  return "this TIFF cannot be read" + (file.fault.empty() ? "" : " (" + file.fault + ")") +
         ": it is damaged, or its samples are no integers of 8 or 16 bits, or it is packed in a way that is "
         "not "
         "supported; convert the image to PNG or such a TIFF";
}

}  // namespace recon
