#include "reference/supported_planes_reference.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace recon::reference {
namespace {

struct Point {
  double x, y, w, pixel;
};

class Textbook {
 public:
  Textbook(const std::vector<TextbookState>& states, const PosedImage& reference,
           const std::vector<PosedImage>& sources)
      : states_(states),
        reference_(reference),
        sources_(sources),
        width_(reference.camera.width),
        height_(reference.camera.height) {}

  std::vector<TextbookPlane> planes_at(int x, int y, double min, double max) const {
    if (!unreliable(x, y)) return {};
    std::vector<std::optional<Point>> supports;
    for (const auto& [dx, dy] : kDirections) supports.push_back(nearest(x, y, dx, dy));
    struct Candidate {
      TextbookPlane plane;
      int surely, perhaps;
      bool passes[8];  ///< perhaps, by direction
      bool bounded() const {
        return (passes[0] || passes[4]) && (passes[1] || passes[5]) && (passes[2] || passes[6]) &&
               (passes[3] || passes[7]);
      }
    };
    std::vector<Candidate> candidates;
    int most = 6;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto &a = supports[i], &b = supports[(i + 3) % 8], &c = supports[(i + 5) % 8];
      if (!a || !b || !c) continue;
      const double area = (b->x - a->x) * (c->y - a->y) - (c->x - a->x) * (b->y - a->y);
      if (std::abs(area) < 4) continue;
      Candidate it{};
      it.plane.wx = ((b->w - a->w) * (c->y - a->y) - (c->w - a->w) * (b->y - a->y)) / area;
      it.plane.wy = ((b->x - a->x) * (c->w - a->w) - (c->x - a->x) * (b->w - a->w)) / area;
      it.plane.w = a->w + it.plane.wx * (x - a->x) + it.plane.wy * (y - a->y);
      if (it.plane.w < min || it.plane.w > max) continue;
      for (std::size_t k = 0; k < 8; ++k) {
        const auto& s = supports[k];
        if (!s) continue;
        const double w = it.plane.w + it.plane.wx * (s->x - x) + it.plane.wy * (s->y - y);
        it.surely += std::abs(w - s->w) < (0.7 - kRounding) * s->pixel;
        it.passes[k] = std::abs(w - s->w) < (0.7 + kRounding) * s->pixel;
        it.perhaps += it.passes[k];
      }
      most = std::max(most, it.surely);
      candidates.push_back(it);
    }
    std::vector<TextbookPlane> planes;
    for (const Candidate& it : candidates)
      if (it.perhaps >= most && it.bounded()) planes.push_back(it.plane);
    return planes;
  }

 private:
  static constexpr int kDirections[8][2] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                            {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
  static constexpr double kRounding = 1e-3;

  bool inside(int x, int y) const { return x >= 0 && y >= 0 && x < width_ && y < height_; }
  const TextbookState& state(int x, int y) const { return states_[static_cast<std::size_t>(y * width_ + x)]; }

  Vec2d position(const PosedImage& source, int x, int y, double w) const {
    const Vec3d ray = {(x + 0.5 - reference_.camera.cx) / reference_.camera.fx,
                       (y + 0.5 - reference_.camera.cy) / reference_.camera.fy, 1.0};
    const Vec3d world = inverse(reference_.cam_from_world) * ((1 / w) * ray);
    const Vec3d point = source.cam_from_world * world;
    return {source.camera.fx * point.x / point.z, source.camera.fy * point.y / point.z};
  }

  /// Inverse depth that a pixel of parallax is worth in the fastest of the first four sources.
  double pixel(int x, int y, double w) const {
    double fastest = 0;
    for (std::size_t s = 0; s < std::min<std::size_t>(4, sources_.size()); ++s) {
      const double h = 1e-4 * w;
      const Vec2d a = position(sources_[s], x, y, w - h), b = position(sources_[s], x, y, w + h);
      fastest = std::max(fastest, std::hypot(b.x - a.x, b.y - a.y) / (2 * h));
    }
    return 1 / fastest;
  }

  /// Neighbours two pixels away whose planes predict the pixel to `distance` pixels.
  int agreeing(int x, int y, double distance) const {
    int count = 0;
    for (const auto& [ox, oy] : kDirections) {
      if (!inside(x + 2 * ox, y + 2 * oy)) continue;
      const TextbookPlane& plane = state(x + 2 * ox, y + 2 * oy).plane;
      const double w = plane.w - 2 * ox * plane.wx - 2 * oy * plane.wy;
      count += std::abs(w - state(x, y).plane.w) < distance * pixel(x, y, state(x, y).plane.w);
    }
    return count;
  }

  bool reliable(int x, int y) const { return state(x, y).cost <= 0.3 && agreeing(x, y, 0.5) >= 5; }
  bool unreliable(int x, int y) const { return state(x, y).cost > 0.3 || agreeing(x, y, 1) < 2; }

  std::optional<Point> nearest(int x, int y, int dx, int dy) const {
    for (int k = 1; k <= 200; ++k) {
      const int px = x + k * dx, py = y + k * dy;
      if (!inside(px, py)) return {};
      const double w = state(px, py).plane.w;
      if (reliable(px, py))
        return Point{static_cast<double>(px), static_cast<double>(py), w, pixel(px, py, w)};
    }
    return {};
  }

  const std::vector<TextbookState>& states_;
  const PosedImage& reference_;
  const std::vector<PosedImage>& sources_;
  int width_, height_;
};

}  // namespace

std::vector<std::vector<TextbookPlane>> supported_planes(const std::vector<TextbookState>& states,
                                                         const PosedImage& reference,
                                                         const std::vector<PosedImage>& sources, double min,
                                                         double max) {
  const Textbook textbook(states, reference, sources);
  std::vector<std::vector<TextbookPlane>> planes;
  for (int y = 0; y < reference.camera.height; ++y)
    for (int x = 0; x < reference.camera.width; ++x) planes.push_back(textbook.planes_at(x, y, min, max));
  return planes;
}

}  // namespace recon::reference
