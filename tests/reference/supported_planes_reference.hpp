#pragma once

#include <vector>

#include "match/posed_image.hpp"
#include "reference/patch_reference.hpp"

namespace recon::reference {

/// A pixel's plane and its cost.
struct TextbookState {
  TextbookPlane plane;
  double cost;
};

/// The planes that a pixel may get from the reliable pixels around it: those through three of the nearest in
/// eight directions that pass most of them, at least six, if they pass one of each two opposite ones; several
/// if the counts differ by rounding only. Empty for pixels that are not unreliable. Implemented from the
/// description, pixel by pixel, in double precision and without any shared code; photos are not compared.
/// Source: see optimize/patch_match/supported_planes.hpp.
/// @param states  by (y, x)
/// @param min, max  of the inverse depths
std::vector<std::vector<TextbookPlane>> supported_planes(const std::vector<TextbookState>& states,
                                                         const PosedImage& reference,
                                                         const std::vector<PosedImage>& sources, double min,
                                                         double max);

}  // namespace recon::reference
