#pragma once

#include "scene/pinhole.hpp"

namespace recon {

/// The cameras of a rectified pair: the left one, and the right one beside it on its x axis, with the same
/// focal lengths and cy. The point that the left camera sees at x and the right one at x - d has disparity d.
struct StereoCamera {
  Pinhole left;
  double baseline = 0;  ///< from the left centre to the right one, scene units, > 0
  double offset = 0;    ///< cx of the right camera less that of the left one, pixels ("doffs")

  /// z = baseline fx / (d + offset), scene units; infinite or negative where d <= -offset. Disparities are
  /// differences of positions: wherever pixels have their centres, they are the same.
  double depth(double disparity) const { return baseline * left.fx / (disparity + offset); }
};

}  // namespace recon
