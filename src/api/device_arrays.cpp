#include "api/device_arrays.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "match/posed_image.hpp"

namespace reconstruct::detail {

namespace {

/// @param name  what messages call it
void check_type(PixelType type, const std::string& name, const char* owner, const char* host) {
  if (type != PixelType::kGrey16) return;
  throw UsageError(name + " of 16 bits: " + owner + " takes 8, as what is black and white in 16 depends on " +
                   "all pixels of all images; " + host + " of images in host memory takes them");
}

}  // namespace

void check_device_images(int width, int height, PixelType type, const char* owner, const char* host) {
  if (std::min(width, height) < 1 || std::max(width, height) > recon::kMaxImageSide)
    throw UsageError(std::string(owner) + " for " + std::to_string(width) + "x" + std::to_string(height) +
                     " pixels; each side must be 1 to " + std::to_string(recon::kMaxImageSide));
  check_type(type, "images", owner, host);
}

recon::DevicePixels pixels_of(const DeviceImage& image, const std::string& name, const char* owner,
                              const char* host) {
  check_type(image.type, name + " is", owner, host);
  return {static_cast<const std::uint8_t*>(image.data),
          image.width,
          image.height,
          image.pitch,
          channels_of(image.type),
          image.stream};
}

}  // namespace reconstruct::detail
