#include "fuse/holes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/parallel.hpp"
#include "fuse/reliability.hpp"
#include "fuse/reprojection.hpp"

namespace recon {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

/// The lines through a pixel, by the step along them, and how many must cross one surface.
constexpr int kLines = 4, kMinLines = 3;
constexpr int kStepX[kLines] = {1, 0, 1, 1}, kStepY[kLines] = {0, 1, 1, -1};

/// Max relative difference of inverse depth on one surface: a pixel along a line, and between the lines.
constexpr float kMaxSlope = 0.005f, kMaxSpread = 0.01f;

/// Sources that have to agree with an interpolated depth.
constexpr int kMinSources = 2;

/// The cost that the reliability takes for an interpolated depth, which no photo was compared for.
constexpr float kInterpolatedCost = 0.7f;

/// The maps with what was known before holes are filled.
class Holes {
 public:
  Holes(const CheckedMaps& maps, int reach)
      : maps_(maps), reach_(reach), known_(maps.depth.width, maps.depth.height) {
    for_pixels([this](int x, int y) { known_(x, y) = std::isnan(maps_.depth(x, y)) ? 0 : 1; });
  }

  /// Sets depth and normal of the pixels in holes.
  void interpolate() {
    for_pixels([this](int x, int y) {
      if (known_(x, y) == 0) interpolate_at(x, y);
    });
  }

  /// Calls `visit(x, y)` for each pixel that was interpolated.
  template <class Visit>
  void for_interpolated(const Visit& visit) const {
    for_pixels([&](int x, int y) {
      if (known_(x, y) == 0 && !std::isnan(maps_.depth(x, y))) visit(x, y);
    });
  }

 private:
  struct Neighbour {
    int steps = 0;  ///< 0: none
    float inverse_depth = 0;
    Vec3f normal{};
  };

  template <class Visit>
  void for_pixels(const Visit& visit) const {
    parallel_for(maps_.depth.height, [&](int y) {
      for (int x = 0; x < maps_.depth.width; ++x) visit(x, y);
    });
  }

  Neighbour nearest_known(int x, int y, int dx, int dy) const {
    for (int steps = 1; steps <= reach_; ++steps) {
      const int u = x + steps * dx, v = y + steps * dy;
      if (!maps_.depth.contains(u, v)) break;
      if (known_(u, v) != 0) return {steps, 1.0f / maps_.depth(u, v), maps_.normal(u, v)};
    }
    return {};
  }

  void interpolate_at(int x, int y) {
    int lines = 0;
    float sum = 0.0f, min = std::numeric_limits<float>::infinity(), max = 0.0f;
    Vec3f normal{0, 0, 0};
    for (int i = 0; i < kLines; ++i) {
      const Neighbour a = nearest_known(x, y, kStepX[i], kStepY[i]);
      if (a.steps == 0) continue;
      const Neighbour b = nearest_known(x, y, -kStepX[i], -kStepY[i]);
      if (b.steps == 0) continue;
      const auto to_a = static_cast<float>(a.steps), to_b = static_cast<float>(b.steps);
      const float w = (a.inverse_depth * to_b + b.inverse_depth * to_a) / (to_a + to_b);
      if (!(std::abs(a.inverse_depth - b.inverse_depth) < kMaxSlope * (to_a + to_b) * w)) continue;
      ++lines;
      sum += w;
      min = std::min(min, w), max = std::max(max, w);
      for (const Vec3f& n : {a.normal, b.normal})
        if (!std::isnan(n.x)) normal = {normal.x + n.x, normal.y + n.y, normal.z + n.z};
    }
    if (lines < kMinLines || !(max - min < kMaxSpread * min)) return;
    const float length = std::sqrt(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
    maps_.depth(x, y) = static_cast<float>(lines) / sum;
    maps_.normal(x, y) = {normal.x / length, normal.y / length, normal.z / length};
  }

  CheckedMaps maps_;
  int reach_;
  Image<std::uint8_t> known_;
};

/// What the sources say of the interpolated depths; zero elsewhere.
Image<Agreement> count_interpolated(const CheckedMaps& maps, const Holes& holes, const DepthSource& view,
                                    const std::vector<DepthSource>& sources,
                                    const ConsistencyOptions& options) {
  Image<Agreement> counts(maps.depth.width, maps.depth.height, {});
  for (const DepthSource& source : sources) {
    const DepthSource::Maps others = source.load();
    const SourcePixels pixels{others.depth.data, others.normal.data, others.depth.pitch, others.normal.pitch};
    const AgreementGeometry geometry =
        agreement_geometry(view.camera, view.cam_from_world, source.camera, source.cam_from_world, options);
    holes.for_interpolated([&](int x, int y) {
      counts(x, y) += agreement_step(geometry, x, y, maps.depth(x, y), maps.normal(x, y), pixels);
    });
  }
  return counts;
}

}  // namespace

void fill_holes(const CheckedMaps& maps, const DepthSource& view, const std::vector<DepthSource>& sources,
                const HoleOptions& options) {
  if (options.reach == 0) return;
  Holes holes(maps, options.reach);
  holes.interpolate();
  const Image<Agreement> counts = count_interpolated(maps, holes, view, sources, options.agreement);
  const Image<float> variation = inverse_depth_variation(maps.depth);
  const int wanted =
      std::max(options.agreement.min_views, std::min(kMinSources, static_cast<int>(sources.size())));
  holes.for_interpolated([&](int x, int y) {
    const Agreement& said = counts(x, y);
    const float confidence = reliability(said, kInterpolatedCost, variation(x, y));
    if (said.agree >= wanted && said.through <= said.agree && confidence >= options.min_confidence) {
      maps.confidence(x, y) = confidence;
    } else {
      maps.depth(x, y) = maps.confidence(x, y) = kUnknown;
      maps.normal(x, y) = {kUnknown, kUnknown, kUnknown};
    }
  });
}

}  // namespace recon
