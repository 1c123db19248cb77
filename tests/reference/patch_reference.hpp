#pragma once

#include "match/posed_image.hpp"

namespace recon::reference {

/// The inverse depth at a pixel and its change from one pixel to the next in a row and in a column.
struct TextbookPlane {
  double w, wx, wy;
};

struct TextbookPatch {
  double cost;    ///< 1 - the weighted ZNCC; 1 where either patch is flat
  double margin;  ///< pixels from the sample nearest to the border to the border, negative outside; -infinity
                  ///< behind the source
  double magnification;  ///< the largest change of a source coordinate from one reference pixel to the next
};

/// How the samples of a patch are mapped.
enum class PatchMap {
  kExact,  ///< each sample's ray intersects the plane
  kAffine  ///< the pixel's ray does; the others follow the map's derivative by central differences
};

/// Compares the patch of pixel (x, y) with a source, implemented from the textbook, in double precision and
/// without any shared code. As in the definition, weights exp(-d^2 / 50 - |difference| / 18) are rounded to
/// 1/31, and samples outside the reference have none. Sources: see match/patch_step.hpp.
TextbookPatch compare_patch(const PosedImage& reference, const PosedImage& source, int x, int y,
                            const TextbookPlane& plane, int radius, PatchMap map);

}  // namespace recon::reference
