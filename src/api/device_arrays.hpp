#pragma once

#include <string>

#include "methods/device_memory.hpp"
#include "reconstruct/device_image.hpp"

/// Between images and maps of the public headers in device memory and those of the modules.

namespace reconstruct::detail {

inline int channels_of(PixelType type) {
  return type == PixelType::kRgb8 ? 3 : 1;
}

/// What an object for images in device memory is made for.
/// @param owner  "a matcher"
/// @param host   its call for images in host memory, "match()"
/// @throws UsageError for sides that are out of range, and 16 bits
void check_device_images(int width, int height, PixelType type, const char* owner, const char* host);

/// @param name, owner, host  for messages, as above. @throws UsageError for 16 bits
recon::DevicePixels pixels_of(const DeviceImage& image, const std::string& name, const char* owner,
                              const char* host);

inline recon::DeviceFloats floats_of(const DeviceMapView& map) {
  return {map.data, map.width, map.height, map.pitch, map.stream};
}
inline recon::DeviceFloats floats_of(const DeviceVectorMapView& map) {
  return {map.data == nullptr ? nullptr : &map.data->x, map.width, map.height, map.pitch, map.stream, 3};
}

/// The rows of a map of the library, without padding. @param values  its memory
template <class T>
DeviceMapOf<T> device_map(std::shared_ptr<float> values, int width, int height) {
  static_assert(sizeof(T) % sizeof(float) == 0);
  T* const data = reinterpret_cast<T*>(values.get());
  return {std::shared_ptr<T>(std::move(values), data), width, height,
          width * static_cast<std::ptrdiff_t>(sizeof(T))};
}

}  // namespace reconstruct::detail
