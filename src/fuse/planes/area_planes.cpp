#include "fuse/planes/area_planes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "core/parallel.hpp"
#include "fuse/planes/area_pixels.hpp"
#include "fuse/planes/areas.hpp"
#include "fuse/planes/asked_plane.hpp"
#include "fuse/planes/plane_match.hpp"

namespace recon {
namespace {

/// By how much the colours of areas may differ within, grey levels: those of fine areas come first.
const std::vector<float> kIgnoredDifferences = {0, 0.5f, 2};
constexpr int kBorder = 4;               ///< pixels around an area that count as its own
constexpr double kMinCosine = 0.866;     ///< between the normal of a known depth and that of its plane
constexpr std::size_t kMinUnknown = 25;  ///< pixels of an area; fewer are not worth it
constexpr int kAskedPixels = 100;        ///< of an area, that other views are asked about
constexpr int kMatchedPixels = 200;      ///< of an area, that are matched

// Votes for each unknown pixel of an area.
constexpr double kOtherVote = 0.25, kThroughVote = -0.5;

// When a plane is the only one of an area: known depths on it, and their share inside the area or around it.
constexpr double kMinOwn = 20, kMinInside = 0.1, kMinAround = 0.5;

constexpr double kMinContained = 0.9;  ///< share of an area in the extent of its plane

// When the photos confirm it.
constexpr float kMatches = 0.6f, kMismatches = 0.3f;  ///< ZNCC
constexpr double kMinMatching = 0.85;                 ///< share of the pixels with texture
constexpr double kMinTexture = 25;                    ///< pixels; with fewer the known depths decide:
constexpr double kMinMajority = 0.7;                  ///< of the known depths, on the plane

using Pixels = std::vector<AreaPixel>;

/// About `count` of them, evenly.
Pixels thinned(std::span<const AreaPixel> pixels, std::size_t count) {
  const std::size_t step = std::max<std::size_t>(1, pixels.size() / count);
  Pixels some;
  for (std::size_t i = step / 2; i < pixels.size(); i += step) some.push_back(pixels[i]);
  return some;
}

/// The areas of an image at one level, and their pixels.
struct Division {
  explicit Division(Areas of_image) : areas(std::move(of_image)), inside(pixels_inside(areas)) {}

  Areas areas;
  AreaPixels inside;
};

/// The planes of the areas of a view.
class AreaPlanes {
 public:
  AreaPlanes(const PlaneView& reference, ImageView<const Vec3f> normals,
             const std::vector<PlaneView>& sources, const std::vector<WorldPlane>& planes)
      : view_(reference), labels_(reference.camera.width, reference.camera.height, kUnlabelled) {
    for (std::size_t i = 0; i < planes.size(); ++i)
      if (const AskedPlane plane(planes[i], static_cast<std::uint8_t>(i + 1), view_, sources);
          plane.seen().faces())
        planes_.push_back(plane);
    for (const AskedPlane& plane : planes_) matches_.emplace_back(reference, sources).set_plane(plane.seen());
    find_support(normals);
    for (int y = 0; y < view_.sky.height; ++y)
      for (int x = 0; x < view_.sky.width; ++x)
        if (view_.sky(x, y) != 0) labels_(x, y) = kNoSurface;
  }

  /// Fills the areas of a division, each by itself.
  void fill(const Division& division) {
    if (planes_.empty()) return;
    constexpr int kAtOnce = 16;
    parallel_for(
        division.areas.count, [&](int area) { fill_area(division, area); }, kAtOnce);
  }

  Image<std::uint8_t> take_labels() { return std::move(labels_); }

 private:
  /// The known depths of an area.
  struct Known {
    std::vector<int> on;  ///< each plane
    int count = 0;
  };

  void fill_area(const Division& division, int area) {
    const Pixels unknown = unknown_of(division.inside.of(area));
    if (unknown.size() < kMinUnknown) return;
    const auto best = plane_of(division, area, unknown);
    if (!best) return;
    const std::vector<int> planes = planes_inside(division.inside.of(area), *best);
    for (const int plane : planes) {
      label(plane, meetings(division.inside.of(area), plane, planes), unknown);
      remove_mismatches(plane, division.areas.label.view(), area, unknown);
    }
  }

  bool is_known(AreaPixel at) const { return !std::isnan(view_.depth(at.x, at.y)); }

  /// Sets the plane that each known depth lies on, as others around it do.
  void find_support(ImageView<const Vec3f> normals) {
    constexpr int kAround = 2, kMinOfThese = 10;  // of 5 x 5 pixels
    const int width = view_.camera.width, height = view_.camera.height;
    Image<std::int16_t> nearest(width, height);
    support_ = Image<std::int16_t>(width, height, std::int16_t{-1});
    parallel_for(height, [&](int y) {
      for (int x = 0; x < width; ++x) nearest(x, y) = nearest_plane({x, y}, normals(x, y));
    });
    parallel_for(std::max(0, height - 2 * kAround), [&](int row) {
      const int y = row + kAround;
      for (int x = kAround; x < width - kAround; ++x) {
        if (nearest(x, y) < 0) continue;
        int around = 0;
        for (int v = y - kAround; v <= y + kAround; ++v)
          for (int u = x - kAround; u <= x + kAround; ++u) around += nearest(u, v) == nearest(x, y) ? 1 : 0;
        if (around >= kMinOfThese) support_(x, y) = nearest(x, y);
      }
    });
  }

  std::int16_t nearest_plane(AreaPixel at, Vec3f normal) const {
    std::int16_t nearest = -1;
    if (!is_known(at)) return nearest;
    double least = kOnPlane;
    const double depth = static_cast<double>(view_.depth(at.x, at.y));
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      const SeenPlane& plane = planes_[i].seen();
      const double distance = std::abs(depth * plane.inverse_depth(pixel_centre(at.x, at.y)) - 1);
      if (!(distance <= least) || dot(plane.normal, widened(normal)) < kMinCosine) continue;
      least = distance;
      nearest = static_cast<std::int16_t>(i);
    }
    return nearest;
  }

  /// The pixels that have neither a depth nor a plane.
  Pixels unknown_of(std::span<const AreaPixel> area) const {
    Pixels unknown;
    for (const AreaPixel it : area)
      if (!is_known(it) && labels_(it.x, it.y) == kUnlabelled) unknown.push_back(it);
    return unknown;
  }

  Known known_of(std::span<const AreaPixel> pixels) const {
    Known known{std::vector<int>(planes_.size()), 0};
    for (const AreaPixel it : pixels) {
      known.count += is_known(it) ? 1 : 0;
      if (const int plane = support_(it.x, it.y); plane >= 0) ++known.on[plane];
    }
    return known;
  }

  /// The plane of an area with most votes, if its known depths and the photos confirm it.
  std::optional<int> plane_of(const Division& division, int area, const Pixels& unknown) {
    const std::span<const AreaPixel> pixels = division.inside.of(area);
    const Known inside = known_of(pixels), around = known_of(pixels_around(division.areas, pixels, kBorder));
    const std::optional<int> best = most_voted(inside, around, unknown);
    if (!best) return {};
    const int own_inside = inside.on[*best], own_around = around.on[*best];
    if (own_inside < std::max(kMinOwn, kMinInside * inside.count) &&
        own_around < std::max(kMinOwn, kMinAround * around.count))
      return {};
    Pixels textured = thinned(pixels, kMatchedPixels);
    const double step = static_cast<double>(pixels.size()) / static_cast<double>(textured.size());
    std::erase_if(textured, [&](AreaPixel it) { return !matches_.front().has_texture(it.x, it.y); });
    const bool confirmed = step * static_cast<double>(textured.size()) >= kMinTexture
                               ? photos_confirm(*best, textured)
                               : own_inside + own_around > kMinMajority * (inside.count + around.count);
    return confirmed ? best : std::nullopt;
  }

  /// The plane with most votes, the first of equal ones. Those that no known depth of the area lies on have
  /// none.
  std::optional<int> most_voted(const Known& inside, const Known& around, const Pixels& unknown) const {
    const Pixels asked = thinned(unknown, kAskedPixels);
    const double each = static_cast<double>(unknown.size()) / static_cast<double>(asked.size());
    std::optional<int> best;
    double most = 0;
    for (int plane = 0; plane < std::ssize(planes_); ++plane) {
      const int own = inside.on[plane] + around.on[plane];
      if (own == 0 || !contains(planes_[plane], asked)) continue;
      PlaneAnswers answers;
      for (const AreaPixel it : asked) planes_[plane].ask(it, answers);
      const double votes = own + each * (kOtherVote * (answers.on - answers.other) +
                                         kThroughVote * (answers.through + answers.sky));
      if (votes <= most) continue;
      most = votes;
      best = plane;
    }
    return best;
  }

  /// Whether the extent of a plane has most of some pixels: of an area that reaches far beyond it, such as a
  /// sky above a roof, nothing lies on it.
  static bool contains(const AskedPlane& plane, const Pixels& pixels) {
    const auto inside = std::ranges::count_if(pixels, [&](AreaPixel it) { return plane.contains(it); });
    return static_cast<double>(inside) >= kMinContained * static_cast<double>(pixels.size());
  }

  /// Whether the windows at most of some pixels match along a plane, as far as two sources see them.
  bool photos_confirm(int plane, const Pixels& pixels) const {
    const double most = (1 - kMinMatching) * static_cast<double>(pixels.size());
    int seen = 0, matching = 0;
    for (const AreaPixel it : pixels) {
      const float zncc = matches_[plane].zncc(it.x, it.y, kMatches);
      seen += std::isnan(zncc) ? 0 : 1;
      matching += zncc > kMatches ? 1 : 0;
      if (seen - matching > most) return false;
    }
    return seen > 0 && matching >= kMinMatching * seen;
  }

  /// The plane of an area, and the others on which known depths in it lie.
  std::vector<int> planes_inside(std::span<const AreaPixel> area, int best) const {
    const Known known = known_of(area);
    std::vector<int> planes = {best};
    for (int plane = 0; plane < std::ssize(planes_); ++plane)
      if (plane != best && known.on[plane] >= kMinOwn) planes.push_back(plane);
    std::ranges::stable_sort(planes.begin() + 1, planes.end(), std::greater{},
                             [&](int plane) { return known.on[plane]; });
    return planes;
  }

  /// Two planes of an area: the known depths on each, on either side of where they meet.
  struct Meeting {
    int other;
    std::array<int, 2> on = {}, on_other = {};
  };

  /// Whether a plane lies behind another one.
  bool is_behind(int plane, int other, AreaPixel at) const {
    const Vec2d pixel = pixel_centre(at.x, at.y);
    return planes_[other].seen().inverse_depth(pixel) > planes_[plane].seen().inverse_depth(pixel);
  }

  std::vector<Meeting> meetings(std::span<const AreaPixel> area, int plane,
                                const std::vector<int>& planes) const {
    std::vector<Meeting> all;
    for (const int other : planes)
      if (other != plane) all.push_back({other});
    for (const AreaPixel it : area)
      for (Meeting& meeting : all) {
        const int on = support_(it.x, it.y);
        if (on == plane) ++meeting.on[is_behind(plane, meeting.other, it)];
        if (on == meeting.other) ++meeting.on_other[is_behind(plane, meeting.other, it)];
      }
    return all;
  }

  /// Labels the pixels on the plane's side of those that it meets, where the other views allow it.
  void label(int index, const std::vector<Meeting>& meetings, const Pixels& pixels) {
    const AskedPlane& plane = planes_[index];
    const auto is_of_other = [&](AreaPixel at) {
      return std::ranges::any_of(meetings, [&](const Meeting& it) {
        const bool side = is_behind(index, it.other, at);
        return it.on_other[side] > it.on[side];
      });
    };
    for (const AreaPixel it : pixels) {
      if (labels_(it.x, it.y) != kUnlabelled || is_of_other(it)) continue;
      if (!plane.contains(it)) continue;
      PlaneAnswers answers;
      plane.ask(it, answers);
      if (answers.allow()) labels_(it.x, it.y) = plane.label();
    }
  }

  /// Takes the label from pixels whose texture does not match, and those of the area next to them. Every
  /// second pixel of a row and a column is looked at.
  void remove_mismatches(int plane, ImageView<const std::int32_t> areas, int area, const Pixels& pixels) {
    const std::uint8_t label = planes_[plane].label();
    const PlaneMatch& match = matches_[plane];
    Pixels mismatches;
    for (const AreaPixel it : pixels)
      if (it.x % 2 == 0 && it.y % 2 == 0 && labels_(it.x, it.y) == label && match.has_texture(it.x, it.y) &&
          match.zncc(it.x, it.y, kMismatches) < kMismatches)
        mismatches.push_back(it);
    for (const AreaPixel it : mismatches)
      for (int v = it.y - 1; v <= it.y + 1; ++v)
        for (int u = it.x - 1; u <= it.x + 1; ++u)
          if (areas(u, v) == area && labels_(u, v) == label) labels_(u, v) = kUnlabelled;
  }

  const PlaneView& view_;
  std::vector<AskedPlane> planes_;   ///< those that face the view
  std::vector<PlaneMatch> matches_;  ///< along them
  Image<std::int16_t> support_;      ///< index of the plane of a known depth; -1: none
  Image<std::uint8_t> labels_;
};

}  // namespace

Image<std::uint8_t> label_areas(const PlaneView& reference, ImageView<const Vec3f> normals,
                                ImageView<const Rgb8> colours, const std::vector<PlaneView>& sources,
                                const std::vector<WorldPlane>& planes) {
  AreaPlanes areas(reference, normals, sources, planes);
  for (Areas& level : divide_by_colour(colours, kIgnoredDifferences)) areas.fill(Division(std::move(level)));
  return areas.take_labels();
}

}  // namespace recon
