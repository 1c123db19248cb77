#include "scene/epipolar_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace recon {
namespace {

constexpr int kSide = 200;   ///< of a small view, at most
constexpr int kColumns = 8;  ///< cells across the longer side
constexpr int kRadius = 3;   ///< of the window
constexpr int kWindow = (2 * kRadius + 1) * (2 * kRadius + 1);
constexpr double kMinVariance = 25;  ///< of a window, squared grey levels
/// Distance of the lines beside, in pixels: their windows do not overlap.
constexpr double kBeside = 8;
constexpr std::array<double, 5> kLines = {0, -2 * kBeside, -kBeside, kBeside, 2 * kBeside};
/// A pixel is tried where its line has at least this many samples, and at least two of the others have half
/// as many.
constexpr int kMinSamples = 5;
constexpr int kMinOthers = 2;
/// A window may become this much smaller or larger in area.
constexpr double kMaxScale = 10;

/// The values of a window less their mean, and the norm of these.
struct Patch {
  std::array<double, kWindow> value;
  double norm = 0;
};

void normalise(Patch& patch) {
  double sum = 0, squares = 0;
  for (const double v : patch.value) sum += v;
  for (double& v : patch.value) {
    v -= sum / kWindow;
    squares += v * v;
  }
  patch.norm = std::sqrt(squares);
}

Patch patch_at(const ImageView<const std::uint8_t>& image, int x, int y) {
  Patch patch;
  std::size_t i = 0;
  for (int dy = -kRadius; dy <= kRadius; ++dy)
    for (int dx = -kRadius; dx <= kRadius; ++dx) patch.value[i++] = image(x + dx, y + dy);
  normalise(patch);
  return patch;
}

/// The linear map from offsets in the reference to offsets in the source.
struct Affine {
  double xx, xy, yx, yy;
};

/// The value at pixel coordinates whose four neighbours lie in the image.
double interpolated(const ImageView<const std::uint8_t>& image, Vec2d pixel) {
  const Vec2d at = index_of(pixel);
  const int x = static_cast<int>(at.x), y = static_cast<int>(at.y);
  const double u = at.x - x, v = at.y - y;
  const std::uint8_t *above = image.row(y) + x, *below = image.row(y + 1) + x;
  return (1 - v) * ((1 - u) * above[0] + u * above[1]) + v * ((1 - u) * below[0] + u * below[1]);
}

std::optional<Patch> warped_patch(const ImageView<const std::uint8_t>& image, Vec2d centre,
                                  const Affine& warp) {
  const double reach_x = kRadius * (std::abs(warp.xx) + std::abs(warp.xy)) + 1;
  const double reach_y = kRadius * (std::abs(warp.yx) + std::abs(warp.yy)) + 1;
  if (!(centre.x > reach_x && centre.y > reach_y && centre.x < image.width - reach_x &&
        centre.y < image.height - reach_y))
    return std::nullopt;
  Patch patch;
  std::size_t i = 0;
  for (int v = -kRadius; v <= kRadius; ++v)
    for (int u = -kRadius; u <= kRadius; ++u)
      patch.value[i++] =
          interpolated(image, {centre.x + warp.xx * u + warp.xy * v, centre.y + warp.yx * u + warp.yy * v});
  normalise(patch);
  return patch;
}

double correlation(const Patch& a, const Patch& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kWindow; ++i) sum += a.value[i] * b.value[i];
  return sum / (a.norm * b.norm + 1e-6);
}

/// The images of the points on the ray of a reference pixel, of inverse depth w: at_infinity + w motion, in
/// homogeneous pixel coordinates of the source.
struct EpipolarLine {
  Vec3d at_infinity, motion;
  Vec3d step_x, step_y;  ///< change of at_infinity a pixel of the reference
  Vec2d foot, normal;    ///< the point of the line next to the middle of the source, and its unit normal

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
    EpipolarLine line{homogeneous(rotation_ * reference_.ray(pixel)), motion_, step_x_, step_y_, {}, {}};
    const Vec3d l = cross(line.at_infinity, motion_);
    const double length = std::hypot(l.x, l.y);
    if (!(length > 0)) return std::nullopt;
    line.normal = {l.x / length, l.y / length};
    const Vec2d middle{0.5 * source_.width, 0.5 * source_.height};
    const double distance = line.normal.x * middle.x + line.normal.y * middle.y + l.z / length;
    line.foot = {middle.x - distance * line.normal.x, middle.y - distance * line.normal.y};
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

/// The best correlation along each of kLines, and the number of samples.
struct Search {
  std::array<double, kLines.size()> best;
  std::array<int, kLines.size()> samples{};
};

Search search(const EpipolarLine& line, const Patch& patch, const ImageView<const std::uint8_t>& source) {
  Search result;
  result.best.fill(-2);
  const int reach = static_cast<int>(std::hypot(source.width, source.height) / 2) + 1;
  for (int t = -reach; t <= reach; ++t) {
    const Vec2d p{line.foot.x - t * line.normal.y, line.foot.y + t * line.normal.x};
    const std::optional<Affine> warp = line.warp_at(p);
    if (!warp) continue;
    for (std::size_t k = 0; k < kLines.size(); ++k) {
      const Vec2d beside{p.x + kLines[k] * line.normal.x, p.y + kLines[k] * line.normal.y};
      const auto other = warped_patch(source, beside, *warp);
      if (!other) continue;
      ++result.samples[k];
      result.best[k] = std::max(result.best[k], correlation(patch, *other));
    }
  }
  return result;
}

/// Whether the first line is the best; nothing where too little was searched.
std::optional<bool> first_wins(const Search& search) {
  if (search.samples[0] < kMinSamples) return std::nullopt;
  int others = 0;
  bool won = true;
  for (std::size_t k = 1; k < kLines.size(); ++k) {
    if (2 * search.samples[k] < search.samples[0]) continue;
    ++others;
    won &= search.best[k] < search.best[0];
  }
  if (others < kMinOthers) return std::nullopt;
  return won;
}

bool is_ignored(const SmallView& view, int x, int y) {
  return !view.mask.empty() && view.mask(x, y) != 255;
}

/// The pixels of most contrast, one a cell.
std::vector<std::pair<int, int>> contrast_pixels(const SmallView& view) {
  const int width = view.pixels.width, height = view.pixels.height;
  const int cell = std::max(1, std::max(width, height) / kColumns);
  std::vector<std::pair<int, int>> pixels;
  for (int top = 0; top < height; top += cell)
    for (int left = 0; left < width; left += cell) {
      double best = kMinVariance * kWindow;
      std::optional<std::pair<int, int>> at;
      for (int y = std::max(top, kRadius); y < std::min(top + cell, height - kRadius); ++y)
        for (int x = std::max(left, kRadius); x < std::min(left + cell, width - kRadius); ++x) {
          if (is_ignored(view, x, y)) continue;
          const double norm = patch_at(view.pixels, x, y).norm;
          if (norm * norm <= best) continue;
          best = norm * norm;
          at = {x, y};
        }
      if (at) pixels.push_back(*at);
    }
  return pixels;
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

EpipolarScore epipolar_score(const SmallView& reference, const SmallView& source) {
  const PairGeometry geometry(reference, source);
  EpipolarScore score;
  for (const auto& [x, y] : contrast_pixels(reference)) {
    const auto line = geometry.line_of(pixel_centre(x, y));
    if (!line) continue;
    const auto won = first_wins(search(*line, patch_at(reference.pixels, x, y), source.pixels));
    if (!won) continue;
    ++score.tried;
    score.won += *won ? 1 : 0;
  }
  return score;
}

}  // namespace recon
