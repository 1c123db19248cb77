#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/image.hpp"
#include "io/image/image_file.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "reconstruct/image.hpp"
#include "reconstruct/view.hpp"

/// Between the images of the public headers and those of the modules.

namespace reconstruct::detail {

/// @param name  what messages call it
/// @throws UsageError for no data, sides that are out of range, or a pitch that is too short or odd for its
/// type
void check_image(const ImageView& image, const std::string& name);

/// The grey values of an image in its own depth.
recon::StoredGrey stored_grey(const ImageView& image);

/// The same in colour; grey becomes r = g = b.
/// @param levels  of 16-bit values
recon::Image<recon::Rgb8> colour_of(const ImageView& image, recon::SampleLevels levels);

/// What is black and white in those of 16 bits, all together; images without pixels say nothing.
recon::SampleLevels levels_of_images(const std::vector<ImageView>& images);

template <class T>
const T* row_of(const MapView<T>& map, int y) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(map.data) + y * map.pitch);
}

/// An image as a map that owns it.
template <class To, class From>
Map<To> map_of(recon::Image<From> image) {
  static_assert(sizeof(To) == sizeof(From));
  if (image.empty()) return {};
  Map<To> map;
  map.width = image.width();
  map.height = image.height();
  map.pitch = image.pitch() * static_cast<std::ptrdiff_t>(sizeof(From));
  const auto owner = std::make_shared<recon::Image<From>>(std::move(image));
  map.data = std::shared_ptr<To>(owner, reinterpret_cast<To*>(owner->row(0)));
  return map;
}

DepthMaps maps_of(recon::ViewDepth maps);

}  // namespace reconstruct::detail
