#include "match/seen_part.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace recon {

namespace {

struct TilePoint {
  double x, y;
};

/// a x + b y + c, and how far single precision may be off from it anywhere in a tile.
struct AffineValue {
  double a, b, c, error;
  double at(const TilePoint& p) const { return a * p.x + b * p.y + c; }
};

/// A convex polygon. Each cut adds one corner; where corners nearly coincide, roundings may make it some
/// more.
struct TilePolygon {
  static constexpr std::size_t kMaxCorners = 32;
  std::array<TilePoint, kMaxCorners> corners;
  std::size_t count = 0;
  void add(const TilePoint& p) { corners[count++] = p; }
};

/// Row `i` of the warp to the plane of inverse depth w.
AffineValue affine_value(const SourceWarp& warp, double w, int i, const Tile& tile) {
  // Some roundings of 2^-24 of the terms.
  constexpr double kRounding = 1e-6;
  const double a = warp.a[3 * i], b = warp.a[3 * i + 1], c = warp.a[3 * i + 2], d = warp.b[i] * w;
  return {a, b, c + d,
          kRounding * (std::abs(a) * (tile.x + tile.width) + std::abs(b) * (tile.y + tile.height) +
                       std::abs(c) + std::abs(d))};
}

/// The part of a polygon where `value` is not negative (Sutherland and Hodgman 1974).
TilePolygon cut(const TilePolygon& polygon, const AffineValue& value) {
  TilePolygon part;
  for (std::size_t i = 0; i < polygon.count; ++i) {
    const TilePoint p = polygon.corners[i], q = polygon.corners[(i + 1) % polygon.count];
    const double at_p = value.at(p), at_q = value.at(q);
    if (at_p >= 0) part.add(p);
    if ((at_p >= 0) == (at_q >= 0)) continue;
    const double t = at_p / (at_p - at_q);
    part.add({p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)});
  }
  return part;
}

/// 0 <= numerator / depth_ratio <= max, with a pixel to spare.
TilePolygon cut_to_side(const TilePolygon& polygon, const AffineValue& numerator,
                        const AffineValue& depth_ratio, double max) {
  const double scale = max + kSubpixels;
  const TilePolygon part = cut(polygon, {numerator.a, numerator.b, numerator.c + numerator.error, 0});
  return cut(part, {scale * depth_ratio.a - numerator.a, scale * depth_ratio.b - numerator.b,
                    scale * (depth_ratio.c + depth_ratio.error) - numerator.c + numerator.error, 0});
}

/// The whole pixels around a polygon, within the tile.
Tile bounds_of(const TilePolygon& polygon, const Tile& tile) {
  if (polygon.count == 0) return {tile.x, tile.y, 0, 0};
  TilePoint low = polygon.corners[0], high = low;
  for (std::size_t i = 1; i < polygon.count; ++i) {
    const TilePoint& p = polygon.corners[i];
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  const int x = std::max(tile.x, static_cast<int>(std::floor(low.x)) - 1);
  const int y = std::max(tile.y, static_cast<int>(std::floor(low.y)) - 1);
  const int right = std::min(tile.x + tile.width, static_cast<int>(std::ceil(high.x)) + 2);
  const int bottom = std::min(tile.y + tile.height, static_cast<int>(std::ceil(high.y)) + 2);
  return {x, y, right - x, bottom - y};
}

}  // namespace

Tile seen_part(const SourceWarp& warp, float w, const Tile& tile, int width, int height) {
  const AffineValue u = affine_value(warp, w, 0, tile), v = affine_value(warp, w, 1, tile);
  const AffineValue ratio = affine_value(warp, w, 2, tile);
  const double left = tile.x, top = tile.y, right = tile.x + tile.width - 1,
               bottom = tile.y + tile.height - 1;
  TilePolygon polygon;
  for (const TilePoint& corner : {TilePoint{left, top}, {right, top}, {right, bottom}, {left, bottom}})
    polygon.add(corner);
  polygon = cut(polygon, {ratio.a, ratio.b, ratio.c + ratio.error - double{kMinDepthRatio}, 0});
  polygon = cut_to_side(polygon, u, ratio, static_cast<double>(width - 1) * kSubpixels);
  polygon = cut_to_side(polygon, v, ratio, static_cast<double>(height - 1) * kSubpixels);
  return bounds_of(polygon, tile);
}

}  // namespace recon
