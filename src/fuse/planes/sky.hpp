#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "fuse/planes/area_planes.hpp"

namespace recon {

/// What may be sky in an image: areas that reach its first row, smooth, and blue or almost white. An
/// overexposed or blue wall looks the same, see confirmed_sky.
/// @return the areas of at least 0.5 % of the image from 1, rising from left to right; 0: not taken for sky
Image<std::uint8_t> possible_sky(ImageView<const Rgb8> image);

/// The pixels of the areas on which almost no known depth of the view or of others lies: behind a sky there
/// is no surface.
/// @param areas  of `view`, see possible_sky
/// @return 1: sky; empty where there is none
Image<std::uint8_t> confirmed_sky(const PlaneView& view, ImageView<const std::uint8_t> areas,
                                  const std::vector<PlaneView>& others);

/// Labels the pixels of a view that have no label and whose depths lie before the sky of another one: there
/// is no surface.
/// @param depths  of its pixels, confirmed or not
/// @param labels  see label_areas
void mark_before_sky(const PlaneView& view, ImageView<const float> depths,
                     const std::vector<PlaneView>& others, ImageView<std::uint8_t> labels);

/// Whether a pixel and those around it are sky.
bool is_inside_sky(ImageView<const std::uint8_t> sky, int x, int y);

}  // namespace recon
