#include "optimize/patch_match/supported_planes.hpp"

#include <algorithm>
#include <array>

#include "core/connected_runs.hpp"
#include "core/parallel.hpp"

namespace recon {
namespace {

using Choice = std::uint8_t;  ///< see choice_of

/// A run of connected pixels of a row.
struct Run {
  int y, begin, end;
};

/// The photos as planes are compared with them.
struct Photos {
  ImageView<const std::uint8_t> image;
  const std::vector<WarpedImage>& sources;
  std::vector<float> gains;  ///< by source

  int reference(int x, int y) const { return image(x, y); }
  int source(int s, int u, int v) const { return sources[s].image(u, v); }
  float gain(int s) const { return gains[s]; }
  PatchWarp warp(int s, int x, int y, const SlantedPlane& plane) const {
    const auto& [warp, photo] = sources[s];
    return patch_warp(warp, x, y, plane, kCompareRadius, photo.width, photo.height);
  }
};

class SupportedPlanes {
 public:
  SupportedPlanes(ImageView<PatchState> states, ImageView<const std::uint8_t> reference,
                  const std::vector<WarpedImage>& sources, const InverseRange& range)
      : states_{states.data, states.width, states.height, states.pitch},
        photos_{reference, sources, {}},
        range_(range),
        kinds_(states.width, states.height),
        units_(states.width, states.height),
        choices_(states.width, states.height) {
    for (Image<std::uint8_t>& steps : steps_) steps = Image<std::uint8_t>(states.width, states.height);
  }

  void fill() {
    parallel_for(states_.height, [&](int y) { classify_row(y); });
    parallel_for(kSupportDirections, [&](int direction) { find_supports(direction); });
    photos_.gains.resize(std::min(photos_.sources.size(), static_cast<std::size_t>(kComparedSources)));
    parallel_for(compared_sources(), [&](int s) { photos_.gains[s] = measured_gain(s); });
    parallel_for(states_.height, [&](int y) {
      for (int x = 0; x < states_.width; ++x) choices_(x, y) = choice_at(x, y);
    });
    apply();
  }

 private:
  int compared_sources() const { return static_cast<int>(photos_.gains.size()); }

  void classify_row(int y) {
    const auto& sources = photos_.sources;
    for (int x = 0; x < states_.width; ++x) {
      units_(x, y) = parallax_unit(static_cast<int>(sources.size()), [&](int s) {
        return parallax(sources[s].warp, x, y, states_.at(x, y).plane.w);
      });
      kinds_(x, y) = pixel_kind(states_, x, y, units_(x, y));
    }
  }

  /// The steps from each pixel to the nearest reliable one in a direction; 0 if there is none.
  void find_supports(int direction) {
    const int dx = step_x(direction), dy = step_y(direction);
    Image<std::uint8_t>& steps = steps_[direction];
    for (int j = 0; j < states_.height; ++j) {
      const int y = dy > 0 ? states_.height - 1 - j : j;
      for (int i = 0; i < states_.width; ++i) {
        const int x = dx > 0 ? states_.width - 1 - i : i;
        int here = 0;
        if (states_.contains(x + dx, y + dy)) {
          const int further = steps(x + dx, y + dy);
          if (kinds_(x + dx, y + dy) == PixelKind::kReliable)
            here = 1;
          else if (further > 0 && further < kMaxSupportSteps)
            here = further + 1;
        }
        steps(x, y) = static_cast<std::uint8_t>(here);
      }
    }
  }

  Support support(int x, int y, int direction) const {
    return support_at(states_, x, y, direction, steps_[direction](x, y),
                      [&](int i, int j) { return units_(i, j); });
  }

  /// The plane of a choice.
  SlantedPlane plane_of(int x, int y, Choice choice) const {
    const int first = first_direction(choice);
    SlantedPlane plane{};
    plane_through(support(x, y, first), support(x, y, triangle_direction(first, 1)),
                  support(x, y, triangle_direction(first, 2)), plane);
    return plane;
  }

  Choice choice_at(int x, int y) const {
    if (kinds_(x, y) != PixelKind::kUnreliable) return 0;
    int found = 0;
    for (const Image<std::uint8_t>& steps : steps_) found += steps(x, y) > 0;
    if (found < kMinSupport) return 0;
    Support supports[kSupportDirections];
    for (int direction = 0; direction < kSupportDirections; ++direction)
      supports[direction] = support(x, y, direction);
    const SupportedTriangle best = best_triangle(supports, range_);
    if (best.first < 0) return 0;
    const bool wrong =
        contradicted(photos_, states_.width, states_.height, compared_sources(), x, y, best.plane);
    return static_cast<Choice>(choice_of(best, wrong));
  }

  float measured_gain(int s) const {
    Levels sums{0, 0};
    for (int y = 0; y < states_.height; y += kGainSpacing)
      for (int x = 0; x < states_.width; x += kGainSpacing) {
        if (kinds_(x, y) != PixelKind::kReliable) continue;
        const Levels levels = levels_at(photos_, s, x, y, states_.at(x, y).plane);
        sums.reference += levels.reference, sums.source += levels.source;
      }
    return gain_of(sums);
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
        const auto plane = [&](int i) -> const SlantedPlane& { return planes[i]; };
        int marked = (choices_(begin, y) & kContradicted) != 0;
        for (; x < states_.width && choices_(x, y) != 0 &&
               connected(plane(x - 1), 1, 0, plane(x), units_(x, y));
             ++x)
          marked += (choices_(x, y) & kContradicted) != 0;
        runs.push_back({y, begin, x});
        std::fill(here.begin() + begin, here.begin() + x, areas.add(x - begin, marked));
      }
      for (std::size_t x = 0; x < width; ++x)
        if (here[x] != kNone && above[x] != kNone &&
            connected(planes_above[x], 0, 1, planes[x], units_(static_cast<int>(x), y)))
          areas.unite(above[x], here[x]);
      here.swap(above);
      planes.swap(planes_above);
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const int run = static_cast<int>(i);
      const int marked = areas.marked(run), others = areas.size(run) - marked;
      if (marked * balance(true) + others * balance(false) <= 0) fill_run(runs[i]);
    }
  }

  void fill_run(const Run& run) {
    for (int x = run.begin; x < run.end; ++x) {
      const Choice choice = choices_(x, run.y);
      if (is_fillable(choice)) states_.at(x, run.y) = {plane_of(x, run.y, choice), kSupportedCost};
    }
  }

  PatchStates states_;
  Photos photos_;
  InverseRange range_;
  Image<PixelKind> kinds_;
  Image<float> units_;  ///< see parallax_unit
  std::array<Image<std::uint8_t>, kSupportDirections> steps_;
  Image<Choice> choices_;
};

}  // namespace

void fill_supported_planes(ImageView<PatchState> states, ImageView<const std::uint8_t> reference,
                           const std::vector<WarpedImage>& sources, const InverseRange& range) {
  EXPECTS(states.width == reference.width && states.height == reference.height && !sources.empty());
  const auto bytes = [&](int) {
    return element_count({kSupportDirections + 2, padded_count<std::uint8_t>(states.width), states.height}) +
           element_count({padded_count<float>(states.width), states.height, sizeof(float)});
  };
  compute(bytes, [&] { SupportedPlanes(states, reference, sources, range).fill(); });
}

}  // namespace recon
