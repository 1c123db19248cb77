#include "scene/corner_matches.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/hypotenuse.hpp"

namespace recon {
namespace {

constexpr int kSide = 400;        ///< of a small view, at most
constexpr int kCornerCells = 20;  ///< across the longer side
constexpr int kRadius = 4;        ///< of the window
constexpr int kWindow = (2 * kRadius + 1) * (2 * kRadius + 1);
constexpr int kGradientRadius = 2;
constexpr int kCornerMargin = kRadius + kGradientRadius + 1;  ///< without corners
/// Min of the smaller eigenvalue of the squared gradients, squared grey levels a pixel.
constexpr double kMinEigenvalue = 225;
constexpr double kMinDeviation = 5;  ///< of a window, grey levels
/// Min ZNCC at the corner, and where it is greatest nearby.
constexpr double kMinCorrelation = 0.6, kMinBestCorrelation = 0.8;
/// A window may become this much smaller or larger in area.
constexpr double kMaxScale = 5;
constexpr int kMaxSteps = 4;  ///< of the search for the greatest ZNCC, pixels

/// The values of a window less their mean, divided by their norm.
using Window = std::array<double, kWindow>;

/// The linear map from offsets in the reference to offsets in the source.
struct Affine {
  double xx = 1, xy = 0, yx = 0, yy = 1;
};

/// The value at pixel coordinates whose four neighbours lie in the image.
double interpolated(const ImageView<const std::uint8_t>& image, Vec2d pixel) {
  const Vec2d at = index_of(pixel);
  const int x = static_cast<int>(at.x), y = static_cast<int>(at.y);
  const double u = at.x - x, v = at.y - y;
  const std::uint8_t *above = image.row(y) + x, *below = image.row(y + 1) + x;
  return (1 - v) * ((1 - u) * above[0] + u * above[1]) + v * ((1 - u) * below[0] + u * below[1]);
}

/// Nothing where it leaves the image, and for flat windows.
std::optional<Window> window_at(const ImageView<const std::uint8_t>& image, Vec2d centre,
                                const Affine& warp) {
  const double reach_x = kRadius * (std::abs(warp.xx) + std::abs(warp.xy)) + 1;
  const double reach_y = kRadius * (std::abs(warp.yx) + std::abs(warp.yy)) + 1;
  if (!(centre.x > reach_x && centre.y > reach_y && centre.x < image.width - reach_x &&
        centre.y < image.height - reach_y))
    return std::nullopt;
  Window window;
  std::size_t i = 0;
  double sum = 0, squares = 0;
  for (int v = -kRadius; v <= kRadius; ++v)
    for (int u = -kRadius; u <= kRadius; ++u) {
      window[i] =
          interpolated(image, {centre.x + warp.xx * u + warp.xy * v, centre.y + warp.yx * u + warp.yy * v});
      sum += window[i++];
    }
  for (double& value : window) {
    value -= sum / kWindow;
    squares += value * value;
  }
  if (squares < kMinDeviation * kMinDeviation * kWindow) return std::nullopt;
  const double norm = std::sqrt(squares);
  for (double& value : window) value /= norm;
  return window;
}

double correlation(const Window& a, const Window& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kWindow; ++i) sum += a[i] * b[i];
  return sum;
}

/// The images of the points on the ray of a reference pixel, of inverse depth w: at_infinity + w motion, in
/// homogeneous pixel coordinates of the source.
struct EpipolarLine {
  Vec3d at_infinity, motion;
  Vec3d step_x, step_y;  ///< change of at_infinity a pixel of the reference
  Vec2d normal;          ///< of unit length
  double offset = 0;     ///< of the line: normal . p + offset = 0

  double distance(Vec2d p) const { return normal.x * p.x + normal.y * p.y + offset; }

  /// The warp of a window at a point of the line; nothing where the point is not in front of both cameras,
  /// and where it becomes far too small or large.
  std::optional<Affine> warp_at(Vec2d p) const {
    const bool along_x = std::abs(normal.y) > std::abs(normal.x);
    const double w = along_x ? (p.x * at_infinity.z - at_infinity.x) / (motion.x - p.x * motion.z)
                             : (p.y * at_infinity.z - at_infinity.y) / (motion.y - p.y * motion.z);
    const double z = at_infinity.z + w * motion.z;
    if (!(w >= 0 && z > 0)) return std::nullopt;
    const Affine warp{(step_x.x - p.x * step_x.z) / z, (step_y.x - p.x * step_y.z) / z,
                      (step_x.y - p.y * step_x.z) / z, (step_y.y - p.y * step_y.z) / z};
    const double scale = std::abs(warp.xx * warp.yy - warp.xy * warp.yx);
    if (!(scale > 1 / kMaxScale && scale < kMaxScale)) return std::nullopt;
    return warp;
  }
};

/// Where the pixels of a reference lie in a source.
class PairGeometry {
 public:
  PairGeometry(const SmallView& reference, const SmallView& source)
      : reference_(reference.camera), source_(source.camera) {
    const Pose relative = source.cam_from_world * inverse(reference.cam_from_world);
    rotation_ = relative.rotation;
    motion_ = homogeneous(relative.translation);
    step_x_ = homogeneous(rotation_ * Vec3d{1 / reference_.fx, 0, 0});
    step_y_ = homogeneous(rotation_ * Vec3d{0, 1 / reference_.fy, 0});
  }

  /// Nothing for a point of view that is the same.
  std::optional<EpipolarLine> line_of(Vec2d pixel) const {
    EpipolarLine line{homogeneous(rotation_ * reference_.ray(pixel)), motion_, step_x_, step_y_, {0, 0}};
    const Vec3d l = cross(line.at_infinity, motion_);
    const double length = hypotenuse(l.x, l.y);
    if (!(length > 0)) return std::nullopt;
    line.normal = {l.x / length, l.y / length};
    line.offset = l.z / length;
    return line;
  }

 private:
  Vec3d homogeneous(Vec3d x) const {
    return {source_.fx * x.x + source_.cx * x.z, source_.fy * x.y + source_.cy * x.z, x.z};
  }

  const Pinhole reference_, source_;
  Mat3d rotation_;
  Vec3d motion_, step_x_, step_y_;
};

/// The best counterpart of a corner.
struct Counterpart {
  double correlation = kMinCorrelation;
  int corner = -1;
  Affine warp;
};

/// The best counterparts of the corners of both views within the band.
struct Counterparts {
  std::vector<Counterpart> of_reference, of_source;
};

Counterparts find_counterparts(const SmallView& reference, const std::vector<Vec2d>& corners,
                               const SmallView& source, const std::vector<Vec2d>& source_corners) {
  const PairGeometry geometry(reference, source);
  const double band = kEpipolarBand * std::max(source.pixels.width, source.pixels.height);
  Counterparts found{std::vector<Counterpart>(corners.size()),
                     std::vector<Counterpart>(source_corners.size())};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto line = geometry.line_of(corners[i]);
    const auto window = window_at(reference.pixels, corners[i], {});
    if (!line || !window) continue;
    for (std::size_t j = 0; j < source_corners.size(); ++j) {
      const Vec2d at = source_corners[j];
      const double distance = line->distance(at);
      if (std::abs(distance) > band) continue;
      const auto warp = line->warp_at({at.x - distance * line->normal.x, at.y - distance * line->normal.y});
      if (!warp) continue;
      const auto other = window_at(source.pixels, at, *warp);
      if (!other) continue;
      const double zncc = correlation(*window, *other);
      if (zncc > found.of_reference[i].correlation)
        found.of_reference[i] = {zncc, static_cast<int>(j), *warp};
      if (zncc > found.of_source[j].correlation) found.of_source[j] = {zncc, static_cast<int>(i), *warp};
    }
  }
  return found;
}

/// The position of the greatest value of a parabola through values at -1, 0 and 1, of which the second is the
/// greatest.
double vertex(double before, double at, double after) {
  const double curvature = before - 2 * at + after;
  return curvature < 0 ? 0.5 * (before - after) / curvature : 0;
}

/// The place near `start` where a window has the greatest ZNCC, to a fraction of a pixel.
std::optional<Vec2d> best_nearby(const ImageView<const std::uint8_t>& image, const Window& window,
                                 const Affine& warp, Vec2d start) {
  const auto value = [&](Vec2d p) {
    const auto other = window_at(image, p, warp);
    return other ? correlation(window, *other) : -2;
  };
  Vec2d at = start;
  double greatest = value(at);
  for (int step = 0; step < kMaxSteps; ++step) {
    const Vec2d from = at;
    for (const Vec2d next : {Vec2d{from.x - 1, from.y}, Vec2d{from.x + 1, from.y}, Vec2d{from.x, from.y - 1},
                             Vec2d{from.x, from.y + 1}})
      if (const double zncc = value(next); zncc > greatest) {
        greatest = zncc;
        at = next;
      }
    if (at.x == from.x && at.y == from.y) break;
  }
  if (greatest < kMinBestCorrelation) return std::nullopt;
  const double left = value({at.x - 1, at.y}), right = value({at.x + 1, at.y});
  const double above = value({at.x, at.y - 1}), below = value({at.x, at.y + 1});
  if (std::min({left, right, above, below}) < -1 || std::max({left, right, above, below}) > greatest)
    return std::nullopt;
  return Vec2d{at.x + vertex(left, greatest, right), at.y + vertex(above, greatest, below)};
}

/// The smaller eigenvalue of the mean of squared gradients around a pixel.
double eigenvalue_at(const ImageView<const std::uint8_t>& image, int x, int y) {
  double xx = 0, xy = 0, yy = 0;
  for (int v = y - kGradientRadius; v <= y + kGradientRadius; ++v) {
    const std::uint8_t *above = image.row(v - 1), *row = image.row(v), *below = image.row(v + 1);
    for (int u = x - kGradientRadius; u <= x + kGradientRadius; ++u) {
      const double dx = row[u + 1] - row[u - 1], dy = below[u] - above[u];
      xx += dx * dx;
      xy += dx * dy;
      yy += dy * dy;
    }
  }
  return (xx + yy - hypotenuse(xx - yy, 2 * xy)) / 8;
}

/// The clearest corner of a cell.
std::optional<Vec2d> corner_of_cell(const SmallView& view, int left, int top, int cell) {
  std::optional<Vec2d> corner;
  double best = kMinEigenvalue;
  const int right = std::min(left + cell, view.pixels.width - kCornerMargin);
  const int bottom = std::min(top + cell, view.pixels.height - kCornerMargin);
  for (int y = std::max(top, kCornerMargin); y < bottom; ++y)
    for (int x = std::max(left, kCornerMargin); x < right; ++x) {
      if (!view.mask.empty() && view.mask(x, y) != 255) continue;
      const double value = eigenvalue_at(view.pixels, x, y);
      if (value <= best) continue;
      best = value;
      corner = pixel_centre(x, y);
    }
  return corner;
}

}  // namespace

int small_view_factor(int width, int height) {
  return (std::max(width, height) + kSide - 1) / kSide;
}

Image<std::uint8_t> averaged(ImageView<const std::uint8_t> image, int factor) {
  Image<std::uint8_t> result(image.width / factor, image.height / factor);
  for (int y = 0; y < result.height(); ++y)
    for (int x = 0; x < result.width(); ++x) {
      int sum = 0;
      for (int dy = 0; dy < factor; ++dy)
        for (int dx = 0; dx < factor; ++dx) sum += image(x * factor + dx, y * factor + dy);
      result(x, y) = static_cast<std::uint8_t>(sum / (factor * factor));
    }
  return result;
}

Pinhole averaged(const Pinhole& camera, int factor) {
  return {camera.width / factor, camera.height / factor, camera.fx / factor,
          camera.fy / factor,    camera.cx / factor,     camera.cy / factor};
}

std::vector<Vec2d> find_corners(const SmallView& view) {
  const int width = view.pixels.width, height = view.pixels.height;
  const int cell = std::max(1, (std::max(width, height) + kCornerCells - 1) / kCornerCells);
  std::vector<Vec2d> corners;
  for (int top = 0; top < height; top += cell)
    for (int left = 0; left < width; left += cell)
      if (const auto corner = corner_of_cell(view, left, top, cell)) corners.push_back(*corner);
  return corners;
}

std::vector<CornerMatch> match_corners(const SmallView& reference, const std::vector<Vec2d>& corners,
                                       const SmallView& source, const std::vector<Vec2d>& source_corners) {
  const Counterparts found = find_counterparts(reference, corners, source, source_corners);
  std::vector<CornerMatch> matches;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Counterpart& best = found.of_reference[i];
    if (best.corner < 0 || found.of_source[best.corner].corner != static_cast<int>(i)) continue;
    const auto window = window_at(reference.pixels, corners[i], {});
    const auto at = best_nearby(source.pixels, *window, best.warp, source_corners[best.corner]);
    if (at) matches.push_back({corners[i], *at});
  }
  return matches;
}

}  // namespace recon
