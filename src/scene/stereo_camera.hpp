#pragma once

#include "scene/pinhole.hpp"

namespace recon {

/// The cameras of a rectified pair: the left one, and the right one on its x axis, with the same focal
/// lengths and cy. A point at x in the left image and at x - d in the right one has disparity d.
struct StereoCamera {
  Pinhole left;
  double baseline = 0;  ///< from the left centre to the right one, scene units, > 0
  double offset = 0;    ///< cx of the right camera less that of the left one, pixels ("doffs")

  /// z = baseline fx / (d + offset), scene units; infinite or negative where d <= -offset. Disparities are
  /// differences of positions and so do not depend on the convention of pixel centres.
  double depth(double disparity) const { return baseline * left.fx / (disparity + offset); }
};

}  // namespace recon
