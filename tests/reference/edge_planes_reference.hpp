#pragma once

#include <vector>

namespace recon::reference {

/// A pixel as edges are judged by: its plane, cost and grey level.
struct EdgePixel {
  double w, wx, wy, cost;
  int grey;
};

/// For each pixel, by (y, x), the pixel whose plane it gets, or itself. From the description, in double
/// precision: a pixel with a surface at most 1 / 1.02 as near (by inverse depth) within 4 pixels on an axis
/// or diagonal gets the plane of the pixel within 8 pixels of which the grey level differs least (then of the
/// nearest, then of the first), if that surface is farther by this ratio, has an inverse depth of min to max
/// here, and the difference is lower by 3 than that to pixels of the own surface or a nearer one, and at
/// most 12. Only pixels of costs up to 0.6 without an edge within 2 pixels on an axis or diagonal are
/// compared.
std::vector<int> edge_planes(const std::vector<EdgePixel>& pixels, int width, int height, double min,
                             double max);

}  // namespace recon::reference
