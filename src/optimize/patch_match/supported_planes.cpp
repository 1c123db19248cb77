#include "optimize/patch_match/supported_planes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "core/connected_runs.hpp"
#include "core/parallel.hpp"

namespace recon {
namespace {

/// Directions in which support is looked for, anticlockwise. Three of a triangle around the pixel are i,
/// i + 3 and i + 5: of eight supports with at most two wrong ones at least two of the eight triangles have
/// none.
constexpr int kDirections = 8;
constexpr std::array<std::array<int, 2>, kDirections> kOffsets = {
    {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}}};
constexpr std::array<int, 3> kTriangle = {0, 3, 5};
constexpr int kMinSupport = 6;
/// Max pixels to a support.
constexpr int kReach = 200;
/// How far a support may be from the plane, pixels of parallax.
constexpr float kMaxDistance = 0.7f;

/// A pixel of at most this cost is reliable if the planes of five of eight neighbours predict it to half a
/// pixel of parallax, and unreliable if fewer than two predict it to a pixel. One of a higher cost is
/// unreliable.
constexpr float kReliableCost = 0.3f;
constexpr int kReliableNeighbours = 5, kUnreliableNeighbours = 2;

/// Sources that count for the parallax of a pixel and for the comparison of photos.
constexpr std::size_t kParallaxSources = 4, kComparedSources = 8;
/// The photos contradict a plane where the mean level of a patch differs by more than this in more than 0.3
/// of the sources.
constexpr float kMaxDifference = 8.0f, kMaxContradicting = 0.3f;
constexpr int kCompareRadius = 2;
/// The max share of an area that photos contradict.
constexpr float kMaxContradictedShare = 0.1f;

enum class Kind : std::uint8_t { kOther, kReliable, kUnreliable };

/// A pixel's plane by its supports: 0 none, else the first direction of the triangle + 1, with kContradicted.
using Choice = std::uint8_t;
constexpr Choice kContradicted = 0x80;

struct Support {
  bool found = false;
  float x = 0, y = 0;  ///< offset from the pixel
  float w = 0;         ///< inverse depth
  float pixel = 0;     ///< inverse depth that a pixel of parallax is worth there
};

/// The plane of a pixel through three supports; `w` is NaN if these are nearly in line.
SlantedPlane plane_through(const Support& a, const Support& b, const Support& c) {
  const float bx = b.x - a.x, by = b.y - a.y, cx = c.x - a.x, cy = c.y - a.y;
  const float area = bx * cy - cx * by;
  if (std::abs(area) < 4.0f) return {std::nanf(""), 0.0f, 0.0f};
  const float bw = b.w - a.w, cw = c.w - a.w;
  const float wx = (bw * cy - cw * by) / area, wy = (bx * cw - cx * bw) / area;
  return {a.w - wx * a.x - wy * a.y, wx, wy};
}

/// The index of the pixel nearest to a position in 1/256 pixel.
int nearest_pixel(std::int32_t position) {
  return (position + kSubpixels / 2) >> kSubpixelBits;
}

/// A run of connected pixels of a row.
struct Run {
  int y, begin, end;
};

class SupportedPlanes {
 public:
  SupportedPlanes(ImageView<PatchState> states, ImageView<const std::uint8_t> reference,
                  const std::vector<WarpedImage>& sources, const InverseRange& range)
      : states_(states),
        reference_(reference),
        sources_(sources),
        range_(range),
        kinds_(states.width, states.height),
        pixels_(states.width, states.height),
        choices_(states.width, states.height) {
    for (Image<std::uint8_t>& distance : distances_)
      distance = Image<std::uint8_t>(states.width, states.height);
  }

  void fill() {
    parallel_for(states_.height, [&](int y) { classify_row(y); });
    parallel_for(kDirections, [&](int direction) { find_supports(direction); });
    gains_.resize(std::min(sources_.size(), kComparedSources));
    parallel_for(static_cast<int>(gains_.size()), [&](int s) { measure_gain(static_cast<std::size_t>(s)); });
    parallel_for(states_.height, [&](int y) {
      for (int x = 0; x < states_.width; ++x) choices_(x, y) = choice_at(x, y);
    });
    apply();
  }

 private:
  /// The inverse depth that a pixel of parallax is worth; 0 where no source sees the pixel.
  float parallax_pixel(int x, int y, float w) const {
    float fastest = 0.0f;
    for (std::size_t s = 0; s < std::min(sources_.size(), kParallaxSources); ++s)
      fastest = std::max(fastest, parallax(sources_[s].warp, x, y, w));
    return fastest > 0.0f ? 1.0f / fastest : 0.0f;
  }

  void classify_row(int y) {
    for (int x = 0; x < states_.width; ++x) {
      const PatchState& state = states_(x, y);
      const float pixel = pixels_(x, y) = parallax_pixel(x, y, state.plane.w);
      int near = 0, close = 0;
      for (const auto& [ox, oy] : kOffsets) {
        const int dx = 2 * ox, dy = 2 * oy;
        if (!states_.contains(x + dx, y + dy)) continue;
        const SlantedPlane& plane = states_(x + dx, y + dy).plane;
        const float predicted = inverse_depth(plane, static_cast<float>(-dx), static_cast<float>(-dy));
        const float difference = std::abs(predicted - state.plane.w);
        near += difference < pixel;
        close += difference < 0.5f * pixel;
      }
      const bool cheap = state.cost <= kReliableCost;
      kinds_(x, y) = cheap && close >= kReliableNeighbours                      ? Kind::kReliable
                     : (!cheap || near < kUnreliableNeighbours) && pixel > 0.0f ? Kind::kUnreliable
                                                                                : Kind::kOther;
    }
  }

  /// The distance of each pixel to the nearest reliable one in a direction, in steps; 0 if there is none.
  void find_supports(int direction) {
    const auto [dx, dy] = kOffsets[static_cast<std::size_t>(direction)];
    Image<std::uint8_t>& distance = distances_[static_cast<std::size_t>(direction)];
    for (int j = 0; j < states_.height; ++j) {
      const int y = dy > 0 ? states_.height - 1 - j : j;
      for (int i = 0; i < states_.width; ++i) {
        const int x = dx > 0 ? states_.width - 1 - i : i;
        int steps = 0;
        if (states_.contains(x + dx, y + dy)) {
          const int further = distance(x + dx, y + dy);
          if (kinds_(x + dx, y + dy) == Kind::kReliable)
            steps = 1;
          else if (further > 0 && further < kReach)
            steps = further + 1;
        }
        distance(x, y) = static_cast<std::uint8_t>(steps);
      }
    }
  }

  Support support(int x, int y, std::size_t direction) const {
    const int steps = distances_[direction](x, y);
    if (steps == 0) return {};
    const int dx = steps * kOffsets[direction][0], dy = steps * kOffsets[direction][1];
    return {true, static_cast<float>(dx), static_cast<float>(dy), states_(x + dx, y + dy).plane.w,
            pixels_(x + dx, y + dy)};
  }

  /// The plane of a choice.
  SlantedPlane plane_of(int x, int y, Choice choice) const {
    const std::size_t first = (choice & ~kContradicted) - 1u;
    const auto at = [&](int k) {
      return support(
          x, y, (first + static_cast<std::size_t>(kTriangle[static_cast<std::size_t>(k)])) % kDirections);
    };
    return plane_through(at(0), at(1), at(2));
  }

  /// The triangle whose plane most supports confirm; of equally many the one that is nearest to them.
  Choice choice_at(int x, int y) const {
    if (kinds_(x, y) != Kind::kUnreliable) return 0;
    std::array<Support, kDirections> supports;
    int found = 0;
    for (std::size_t d = 0; d < kDirections; ++d) found += distances_[d](x, y) > 0;
    if (found < kMinSupport) return 0;
    for (std::size_t d = 0; d < kDirections; ++d) supports[d] = support(x, y, d);
    Choice best = 0;
    int most = kMinSupport - 1;
    float nearest = 0;
    SlantedPlane best_plane{};
    for (std::size_t i = 0; i < kDirections; ++i) {
      const Support &a = supports[i], &b = supports[(i + kTriangle[1]) % kDirections],
                    &c = supports[(i + kTriangle[2]) % kDirections];
      if (!(a.found && b.found && c.found)) continue;
      const SlantedPlane plane = plane_through(a, b, c);
      if (!contains(range_, plane.w)) continue;
      int count = 0;
      float distance = 0;
      for (const Support& s : supports) {
        if (!s.found) continue;
        const float off = std::abs(inverse_depth(plane, s.x, s.y) - s.w) / s.pixel;
        if (off < kMaxDistance) ++count, distance += off;
      }
      if (count < most || (count == most && (best == 0 || !(distance < nearest)))) continue;
      best = static_cast<Choice>(i + 1);
      most = count, nearest = distance, best_plane = plane;
    }
    return best != 0 && contradicted(x, y, best_plane) ? best | kContradicted : best;
  }

  /// The ratio of levels of the reference to those of a source, over reliable pixels.
  void measure_gain(std::size_t s) {
    constexpr int kSpacing = 4, kMaxLevels = 40;
    std::int64_t here = 0, there = 0;
    for (int y = 0; y < states_.height; y += kSpacing)
      for (int x = 0; x < states_.width; x += kSpacing) {
        if (kinds_(x, y) != Kind::kReliable) continue;
        const PatchWarp warp = warped(s, x, y, states_(x, y).plane);
        if (!warp.visible) continue;
        const int u = nearest_pixel(sample_position(warp.u, 0, 0, 0, 0));
        const int v = nearest_pixel(sample_position(warp.v, 0, 0, 0, 0));
        const int level = reference_(x, y), other = sources_[s].image(u, v);
        if (std::abs(level - other) > kMaxLevels) continue;
        here += level, there += other;
      }
    gains_[s] = here > 0 && there > 0 ? static_cast<float>(here) / static_cast<float>(there) : 1.0f;
  }

  PatchWarp warped(std::size_t s, int x, int y, const SlantedPlane& plane) const {
    const WarpedImage& source = sources_[s];
    return patch_warp(source.warp, x, y, plane, kCompareRadius, source.image.width, source.image.height);
  }

  /// Whether the photos contradict a plane, or none shows it.
  bool contradicted(int x, int y, const SlantedPlane& plane) const {
    const int left = std::max(-kCompareRadius, -x), right = std::min(kCompareRadius, states_.width - 1 - x);
    const int top = std::max(-kCompareRadius, -y), bottom = std::min(kCompareRadius, states_.height - 1 - y);
    int here = 0;
    for (int dy = top; dy <= bottom; ++dy)
      for (int dx = left; dx <= right; ++dx) here += reference_(x + dx, y + dy);
    const float max_difference = kMaxDifference * static_cast<float>((right - left + 1) * (bottom - top + 1));
    int visible = 0, contradicting = 0;
    for (std::size_t s = 0; s < gains_.size(); ++s) {
      const PatchWarp warp = warped(s, x, y, plane);
      if (!warp.visible) continue;
      int there = 0;
      for (int dy = top; dy <= bottom; ++dy)
        for (int dx = left; dx <= right; ++dx) {
          const int u = nearest_pixel(sample_position(warp.u, dx, dy, warp.ux, warp.uy));
          const int v = nearest_pixel(sample_position(warp.v, dx, dy, warp.vx, warp.vy));
          there += sources_[s].image(u, v);
        }
      ++visible;
      const float difference = static_cast<float>(here) - gains_[s] * static_cast<float>(there);
      contradicting += std::abs(difference) > max_difference;
    }
    return static_cast<float>(contradicting) > kMaxContradicting * static_cast<float>(visible) ||
           visible == 0;
  }

  /// Whether the plane of a neighbour, (dx, dy) before it, predicts that of pixel (x, y) to a pixel of
  /// parallax.
  bool connected(const SlantedPlane& before, int dx, int dy, const SlantedPlane& here, int x, int y) const {
    const float predicted = inverse_depth(before, static_cast<float>(dx), static_cast<float>(dy));
    return std::abs(predicted - here.w) < pixels_(x, y);
  }

  /// Finds the connected areas, and fills those that the photos do not contradict.
  void apply() {
    const auto width = static_cast<std::size_t>(states_.width);
    constexpr int kNone = -1;
    std::vector<SlantedPlane> planes(width), planes_above(width);
    std::vector<int> here(width), above(width, kNone);
    std::vector<Run> runs;
    ConnectedRuns areas;
    for (int y = 0; y < states_.height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        here[x] = kNone;
        const Choice choice = choices_(static_cast<int>(x), y);
        if (choice != 0) planes[x] = plane_of(static_cast<int>(x), y, choice);
      }
      for (int x = 0; x < states_.width;) {
        const int begin = x;
        if (choices_(x++, y) == 0) continue;
        const auto plane = [&](int i) -> const SlantedPlane& { return planes[static_cast<std::size_t>(i)]; };
        int marked = (choices_(begin, y) & kContradicted) != 0;
        for (; x < states_.width && choices_(x, y) != 0 && connected(plane(x - 1), 1, 0, plane(x), x, y); ++x)
          marked += (choices_(x, y) & kContradicted) != 0;
        runs.push_back({y, begin, x});
        std::fill(here.begin() + begin, here.begin() + x, areas.add(x - begin, marked));
      }
      for (std::size_t x = 0; x < width; ++x)
        if (here[x] != kNone && above[x] != kNone &&
            connected(planes_above[x], 0, 1, planes[x], static_cast<int>(x), y))
          areas.unite(above[x], here[x]);
      here.swap(above);
      planes.swap(planes_above);
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const int run = static_cast<int>(i);
      const float marked = static_cast<float>(areas.marked(run)), size = static_cast<float>(areas.size(run));
      if (marked <= kMaxContradictedShare * size) fill_run(runs[i]);
    }
  }

  void fill_run(const Run& run) {
    for (int x = run.begin; x < run.end; ++x) {
      const Choice choice = choices_(x, run.y);
      if ((choice & kContradicted) == 0) states_(x, run.y) = {plane_of(x, run.y, choice), kSupportedCost};
    }
  }

  ImageView<PatchState> states_;
  ImageView<const std::uint8_t> reference_;
  const std::vector<WarpedImage>& sources_;
  InverseRange range_;
  Image<Kind> kinds_;
  Image<float> pixels_;  ///< inverse depth that a pixel of parallax is worth
  std::array<Image<std::uint8_t>, kDirections> distances_;
  Image<Choice> choices_;
  std::vector<float> gains_;  ///< by source
};

}  // namespace

void fill_supported_planes(ImageView<PatchState> states, ImageView<const std::uint8_t> reference,
                           const std::vector<WarpedImage>& sources, const InverseRange& range) {
  EXPECTS(states.width == reference.width && states.height == reference.height && !sources.empty());
  SupportedPlanes(states, reference, sources, range).fill();
}

std::size_t supported_planes_bytes(int width, int height) {
  return element_count({kDirections + 2, padded_count<std::uint8_t>(width), height}) +
         element_count({padded_count<float>(width), height, sizeof(float)});
}

}  // namespace recon
