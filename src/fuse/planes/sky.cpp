#include "fuse/planes/sky.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "fuse/planes/area_pixels.hpp"

namespace recon {
namespace {

constexpr int kMinBlue = 100, kMinBluer = 10;  ///< grey levels of blue, and more of it than of red
constexpr int kMinWhite = 235;                 ///< of each colour
constexpr int kMaxRange = 20;                  ///< of a colour within 3 x 3 pixels of a smooth area
constexpr double kMinShare = 0.005;            ///< of the image; smaller areas are no sky

constexpr int kHitReach = 4;      ///< pixels from the rim of an area, where depths are blurred
constexpr double kMaxHits = 0.2;  ///< share of the pixels of a sky on which known depths lie by error; a view
                                  ///< with less than half of the resolution hits no more of a wall

bool has_sky_colour(Rgb8 c) {
  return (c.b >= kMinBlue && c.b >= c.r + kMinBluer && c.b >= c.g) || std::min({c.r, c.g, c.b}) >= kMinWhite;
}

bool is_smooth(ImageView<const Rgb8> image, int x, int y) {
  std::array<int, 3> least = {255, 255, 255}, most = {};
  for (int v = std::max(0, y - 1); v <= std::min(image.height - 1, y + 1); ++v)
    for (int u = std::max(0, x - 1); u <= std::min(image.width - 1, x + 1); ++u) {
      const Rgb8 colour = image(u, v);
      const std::array<int, 3> channels = {colour.r, colour.g, colour.b};
      for (std::size_t i = 0; i < channels.size(); ++i) {
        least[i] = std::min(least[i], channels[i]);
        most[i] = std::max(most[i], channels[i]);
      }
    }
  for (std::size_t i = 0; i < least.size(); ++i)
    if (most[i] - least[i] > kMaxRange) return false;
  return true;
}

/// Sets the 4-connected pixels of `from` around a first one to `to`; returns them.
std::vector<AreaPixel> flood(ImageView<std::uint8_t> image, AreaPixel first, std::uint8_t from,
                             std::uint8_t to) {
  std::vector<AreaPixel> pixels = {first};
  image(first.x, first.y) = to;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const auto [x, y] = pixels[i];
    for (const AreaPixel next : {AreaPixel{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}}) {
      if (!image.contains(next.x, next.y) || image(next.x, next.y) != from) continue;
      image(next.x, next.y) = to;
      pixels.push_back(next);
    }
  }
  return pixels;
}

/// Adds the pixels next to each area that have its colour.
void grow(ImageView<const Rgb8> image, Image<std::uint8_t>& areas) {
  const Image<std::uint8_t> before = areas.clone();
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      if (before(x, y) != 0 || !has_sky_colour(image(x, y))) continue;
      for (const AreaPixel next : {AreaPixel{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}})
        if (image.contains(next.x, next.y)) areas(x, y) = std::max(areas(x, y), before(next.x, next.y));
    }
}

/// Calls body(x, y, pixel) for the pixels of a view with a known depth that lies on a pixel of another view.
template <class Body>
void project_depths(const PlaneView& view, ImageView<const float> depths, const PlaneView& to,
                    const Body& body) {
  const Pose to_from_view = to.cam_from_world * inverse(view.cam_from_world);
  for (int y = 0; y < depths.height; ++y)
    for (int x = 0; x < depths.width; ++x) {
      const double depth = static_cast<double>(depths(x, y));
      if (std::isnan(depth)) continue;
      const Vec3d point = to_from_view * (depth * view.camera.ray(pixel_centre(x, y)));
      const Vec2d pixel = to.camera.project(point);
      if (point.z > 0 && to.camera.contains(pixel))
        body(x, y, AreaPixel{static_cast<int>(pixel.x), static_cast<int>(pixel.y)});
    }
}

bool has_any(ImageView<const std::uint8_t> image) {
  for (int y = 0; y < image.height; ++y)
    if (std::any_of(image.row(y), image.row(y) + image.width, [](std::uint8_t it) { return it != 0; }))
      return true;
  return false;
}

/// Whether the pixels at a distance along the row and the column are of the same area.
bool is_inside(ImageView<const std::uint8_t> areas, int x, int y, int reach) {
  const std::uint8_t area = areas(x, y);
  const auto is_same = [&](int u, int v) { return !areas.contains(u, v) || areas(u, v) == area; };
  return is_same(x - reach, y) && is_same(x + reach, y) && is_same(x, y - reach) && is_same(x, y + reach);
}

}  // namespace

Image<std::uint8_t> possible_sky(ImageView<const Rgb8> image) {
  constexpr std::uint8_t kMay = 255, kTooSmall = 254;
  Image<std::uint8_t> areas(image.width, image.height);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      areas(x, y) = has_sky_colour(image(x, y)) && is_smooth(image, x, y) ? kMay : 0;
  const double min_size = kMinShare * image.width * image.height;
  std::uint8_t count = 0;
  for (int x = 0; x < image.width; ++x) {
    if (areas(x, 0) != kMay) continue;
    const std::uint8_t area = count + 1;
    const std::vector<AreaPixel> pixels = flood(areas.view(), {x, 0}, kMay, area);
    if (static_cast<double>(pixels.size()) >= min_size)
      count = area;
    else
      for (const AreaPixel it : pixels) areas(it.x, it.y) = kTooSmall;
  }
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      if (areas(x, y) > count) areas(x, y) = 0;
  grow(image, areas);
  return areas;
}

Image<std::uint8_t> confirmed_sky(const PlaneView& view, ImageView<const std::uint8_t> areas,
                                  const std::vector<PlaneView>& others) {
  if (!has_any(areas)) return {};
  Image<std::uint8_t> sky(areas.width, areas.height), hits(areas.width, areas.height, std::uint8_t{0});
  std::array<int, 256> inside{}, hit{};
  const auto mark_hits = [&](const PlaneView& of) {
    project_depths(of, of.depth, view, [&](int, int, AreaPixel at) { hits(at.x, at.y) = 1; });
  };
  mark_hits(view);
  for (const PlaneView& other : others) mark_hits(other);
  for (int y = 0; y < areas.height; ++y)
    for (int x = 0; x < areas.width; ++x) {
      if (areas(x, y) == 0 || !is_inside(areas, x, y, kHitReach)) continue;
      ++inside[areas(x, y)];
      hit[areas(x, y)] += hits(x, y);
    }
  for (int y = 0; y < areas.height; ++y)
    for (int x = 0; x < areas.width; ++x) {
      const int area = areas(x, y);
      sky(x, y) = area != 0 && inside[area] > 0 && hit[area] <= kMaxHits * inside[area] ? 1 : 0;
    }
  return has_any(sky.view()) ? std::move(sky) : Image<std::uint8_t>();
}

void mark_before_sky(const PlaneView& view, ImageView<const float> depths,
                     const std::vector<PlaneView>& others, ImageView<std::uint8_t> labels) {
  for (const PlaneView& other : others) {
    if (other.sky.empty()) continue;
    project_depths(view, depths, other, [&](int x, int y, AreaPixel at) {
      if (labels(x, y) == kUnlabelled && is_inside_sky(other.sky, at.x, at.y)) labels(x, y) = kNoSurface;
    });
  }
}

bool is_inside_sky(ImageView<const std::uint8_t> sky, int x, int y) {
  for (int v = std::max(0, y - 1); v <= std::min(sky.height - 1, y + 1); ++v)
    for (int u = std::max(0, x - 1); u <= std::min(sky.width - 1, x + 1); ++u)
      if (sky(u, v) == 0) return false;
  return true;
}

}  // namespace recon
