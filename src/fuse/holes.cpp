#include "fuse/holes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/parallel.hpp"
#include "fuse/agreement.hpp"
#include "fuse/reliability.hpp"

namespace recon {
namespace {

/// The lines through a pixel, by the step along them, and how many must cross one surface.
constexpr int kLines = 4, kMinLines = 3;
constexpr int kStepX[kLines] = {1, 0, 1, 1}, kStepY[kLines] = {0, 1, 1, -1};

/// Max relative difference of inverse depth on one surface: a pixel along a line, and between the lines.
constexpr float kMaxSlope = 0.005f, kMaxSpread = 0.01f;

/// Sources that have to agree with an interpolated depth.
constexpr int kMinSources = 2;

enum class PixelState : std::uint8_t { kKnown, kHole, kIgnored };

/// A pixel of a hole that was interpolated, and what the sources say of it.
struct Interpolated {
  int x;
  Agreement agreement;
};

/// The interpolated pixels of each row.
class Holes {
 public:
  explicit Holes(int rows) : rows_(static_cast<std::size_t>(rows)) {}

  /// Sets those of row y, in memory of their number.
  void set(int y, const std::vector<Interpolated>& pixels) { rows_[static_cast<std::size_t>(y)] = pixels; }

  /// The number of pixels.
  std::size_t size() const {
    std::size_t pixels = 0;
    for (const auto& row : rows_) pixels += row.size();
    return pixels;
  }

  /// Calls `visit(pixel, y)` for each pixel, about kPixelsPerTask of them in a task.
  template <class Visit>
  void for_each(const Visit& visit) {
    const std::size_t grain = 1 + rows_.size() * kPixelsPerTask / std::max<std::size_t>(size(), 1);
    parallel_for(
        static_cast<int>(rows_.size()),
        [&](int y) {
          for (Interpolated& pixel : rows_[static_cast<std::size_t>(y)]) visit(pixel, y);
        },
        static_cast<int>(std::min(rows_.size(), grain)));
  }

 private:
  static constexpr std::size_t kPixelsPerTask = 2048;
  std::vector<std::vector<Interpolated>> rows_;
};

class Interpolation {
 public:
  Interpolation(const CheckedMaps& maps, int reach)
      : maps_(maps), reach_(reach), states_(maps.depth.width, maps.depth.height) {}

  /// Sets depth and normal of the pixels in holes.
  Holes run() {
    parallel_for(states_.height(), [this](int y) {
      for (int x = 0; x < states_.width(); ++x) states_(x, y) = state_of(x, y);
    });
    Holes holes(states_.height());
    parallel_for(states_.height(), [&](int y) {
      std::vector<Interpolated> row;
      for (int x = 0; x < states_.width(); ++x)
        if (states_(x, y) == PixelState::kHole && interpolate(x, y)) row.push_back({x, {}});
      holes.set(y, row);
    });
    return holes;
  }

 private:
  struct Neighbour {
    int steps = 0;  ///< 0: none
    float inverse_depth = 0;
    Vec3f normal{};
  };

  PixelState state_of(int x, int y) const {
    if (!maps_.mask.empty() && maps_.mask(x, y) == 0) return PixelState::kIgnored;
    return std::isnan(maps_.depth(x, y)) ? PixelState::kHole : PixelState::kKnown;
  }

  Neighbour nearest_known(int x, int y, int dx, int dy) const {
    for (int steps = 1; steps <= reach_; ++steps) {
      const int u = x + steps * dx, v = y + steps * dy;
      if (!maps_.depth.contains(u, v)) break;
      if (states_(u, v) == PixelState::kKnown) return {steps, 1.0f / maps_.depth(u, v), maps_.normal(u, v)};
    }
    return {};
  }

  bool interpolate(int x, int y) const {
    int lines = 0;
    float sum = 0.0f, min = std::numeric_limits<float>::infinity(), max = 0.0f;
    Vec3f normal{0, 0, 0};
    for (int i = 0; i < kLines && lines + kLines - i >= kMinLines; ++i) {
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
    if (lines < kMinLines || !(max - min < kMaxSpread * min)) return false;
    const float length = std::sqrt(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
    maps_.depth(x, y) = static_cast<float>(lines) / sum;
    maps_.normal(x, y) = {normal.x / length, normal.y / length, normal.z / length};
    return true;
  }

  CheckedMaps maps_;
  int reach_;
  Image<PixelState> states_;
};

}  // namespace

void fill_holes(const CheckedMaps& maps, const DepthSource& view, const std::vector<DepthSource>& sources,
                const HoleOptions& options) {
  if (options.reach == 0) return;
  Holes holes = Interpolation(maps, options.reach).run();
  const CountedBytes all_in_holes(element_count({maps.depth.width, maps.depth.height, sizeof(Interpolated)}));
  if (holes.size() == 0 && !memory_is_counted()) return;
  for (const DepthSource& source : sources) {
    const DepthSource::Maps others = source.load();
    const SourcePixels pixels{others.depth.data, others.normal.data, others.depth.pitch, others.normal.pitch};
    const AgreementGeometry geometry = agreement_geometry(view, source, options.agreement);
    holes.for_each([&](Interpolated& pixel, int y) {
      const int x = pixel.x;
      pixel.agreement += agreement_step(geometry, x, y, maps.depth(x, y), maps.normal(x, y), pixels);
    });
  }
  const int min_agreeing =
      std::max(options.agreement.min_views, std::min(kMinSources, static_cast<int>(sources.size())));
  const auto confirmed = [&](const Agreement& agreement) {
    return agreement.agree >= min_agreeing && agreement.through <= agreement.agree;
  };
  // The variation is that of all interpolated depths: none may be dropped before the last is known.
  holes.for_each([&](Interpolated& pixel, int y) {
    if (!confirmed(pixel.agreement)) return;
    const float variation = inverse_depth_variation(maps.depth, pixel.x, y);
    const float confidence = reliability(pixel.agreement, variation);
    if (confidence >= options.min_confidence) maps.confidence(pixel.x, y) = confidence;
  });
  holes.for_each([&](Interpolated& pixel, int y) {
    if (!std::isnan(maps.confidence(pixel.x, y))) return;
    maps.depth(pixel.x, y) = kUnknown;
    maps.normal(pixel.x, y) = {kUnknown, kUnknown, kUnknown};
  });
}

}  // namespace recon
