#pragma once

#include <optional>
#include <vector>

namespace recon::reference {

/// A pixel as planes are judged by: its plane over pixels, cost and grey level.
struct SmoothPixel {
  double w, wx, wy, cost;
  int grey;
};

struct SmoothFit {
  double w, wx, wy;
  double lead;  ///< how much more support the best candidate has than the second, of its own
};

/// The plane that the pixels around (x, y) agree on. From the description, in double precision: 7 x 7 pixels
/// 4 apart count by 1 - cost, at least 0.05, divided by 1 + (difference of grey levels / 8)^2. Of the
/// planes of the pixel, of the four diagonal cells and of the four cells two away on the axes, that of the
/// largest sum of counts times 1 - (distance / (0.3 unit))^2, where positive, is corrected by the plane of
/// weighted least squares through what is left, by the counts times the squares of these shares. Without
/// slopes where the supporting cells have no extent. None outside min to max.
std::optional<SmoothFit> smooth_plane(const std::vector<SmoothPixel>& pixels, int width, int height, int x,
                                      int y, double unit, double min, double max);

}  // namespace recon::reference
