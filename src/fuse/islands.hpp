#pragma once

#include <cstddef>

#include "fuse/holes.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// Removes islands from checked maps: regions that are small and mostly not reliable, as specks in the air
/// are. Pixels of a row or column belong to one region if no known pixel lies between them, they are at most
/// 10 pixels apart and their depths differ by at most 2 %, so that fragments of one surface count together.
/// An island has an area below 2e-4 f^2 (f: the focal length, so that the limit does not depend on the
/// resolution), and less than half of its pixels have a confidence of at least 0.93. Deterministic.
///
/// @param[in,out] maps  of the view; `confidence` is the reliability
/// @param min_size  regions of fewer pixels are removed, whatever their confidence; 0: none
void remove_islands(const CheckedMaps& maps, const Pinhole& camera, int min_size);

/// Max bytes that remove_islands takes beside the maps, of so many pixels.
constexpr std::size_t islands_bytes(std::size_t pixels) {
  // Runs of one pixel each, in three lists that grow by doubling: one is copied at a time. Rows are few.
  return 28 * pixels;
}

}  // namespace recon
