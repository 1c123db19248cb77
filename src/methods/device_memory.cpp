#include "methods/device_memory.hpp"

#include "core/error.hpp"

namespace recon {
namespace {

std::string pixels(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height) + " pixels";
}

/// @param pixel      bytes
/// @param alignment  of addresses, bytes
template <class Image>
void check_rows(const std::string& name, const Image& image, const DeviceArrays& arrays, std::size_t pixel,
                std::size_t alignment) {
  if (image.data == nullptr) throw UsageError(name + " has no memory");
  if (image.width != arrays.width || image.height != arrays.height)
    throw UsageError(name + " has " + pixels(image.width, image.height) + "; " + arrays.owner + " is for " +
                     pixels(arrays.width, arrays.height));
  const auto row = image.width * static_cast<std::ptrdiff_t>(pixel);
  if (image.pitch < row)
    throw UsageError(name + " has a pitch of " + std::to_string(image.pitch) + " bytes; a row takes " +
                     std::to_string(row));
  if (reinterpret_cast<std::uintptr_t>(image.data) % alignment != 0 ||
      static_cast<std::size_t>(image.pitch) % alignment != 0)
    throw UsageError(name + " has values at addresses that are no multiples of " + std::to_string(alignment));
}

}  // namespace

void check_pixels(const std::string& name, const DevicePixels& image, int channels,
                  const DeviceArrays& arrays) {
  if (image.channels != channels)
    throw UsageError(name + " has " + std::to_string(image.channels) + " channels; " + arrays.owner +
                     " is for images of " + std::to_string(channels));
  check_rows(name, image, arrays, static_cast<std::size_t>(channels), 1);
}

void check_floats(const std::string& name, const DeviceFloats& map, const DeviceArrays& arrays) {
  check_rows(name, map, arrays, sizeof(float) * static_cast<std::size_t>(map.channels), alignof(float));
}

}  // namespace recon
