#include "fuse/planes/area_planes.hpp"

#include <algorithm>
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
constexpr double kMaxRival = 0.5;    ///< votes of the next one
constexpr double kSamePlane = 0.01;  ///< max relative difference of two that are one

// When the photos confirm it.
constexpr float kMatches = 0.6f, kMismatches = 0.3f;          ///< ZNCC
constexpr double kMinMatching = 0.85;                         ///< share of the pixels with texture
constexpr float kMuchBetter = 0.1f;                           ///< of the mean along another plane
constexpr double kMinTexture = 25;                            ///< pixels; with fewer the known depths decide:
constexpr double kMinOwnOfArea = 0.2, kMinOwnMajority = 0.7;  ///< of all pixels, and of the known ones

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
  explicit Division(Areas of_image)
      : areas(std::move(of_image)), inside(pixels_inside(areas)), around(pixels_around(areas, kBorder)) {}

  Areas areas;
  AreaPixels inside, around;
};

/// The planes of the areas of a view.
class AreaPlanes {
 public:
  AreaPlanes(const PlaneView& reference, ImageView<const Vec3f> normals,
             const std::vector<PlaneView>& sources, const std::vector<WorldPlane>& planes)
      : view_(reference),
        match_(reference, sources),
        labels_(reference.camera.width, reference.camera.height, kUnlabelled) {
    for (std::size_t i = 0; i < planes.size(); ++i)
      if (const AskedPlane plane(planes[i], static_cast<std::uint8_t>(i + 1), view_, sources);
          plane.seen().faces())
        planes_.push_back(plane);
    find_support(normals);
  }

  /// Fills the areas of a division.
  void fill(const Division& division) {
    for (int area = 0; area < division.areas.count; ++area) {
      const Pixels unknown = unknown_of(division.inside.of(area));
      if (unknown.size() < kMinUnknown) continue;
      if (const auto plane = plane_of(division, area, unknown)) {
        label(planes_[*plane], unknown);
        remove_mismatches(planes_[*plane], unknown);
      }
    }
  }

  Image<std::uint8_t> take_labels() { return std::move(labels_); }

 private:
  /// A plane by its index, with what speaks for it.
  struct Vote {
    int plane;
    double sum;
  };
  /// The known depths of an area.
  struct Known {
    std::vector<int> on;  ///< each plane
    int count = 0;
  };

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

  /// The only plane of an area, if it has one that the photos do not contradict.
  std::optional<int> plane_of(const Division& division, int area, const Pixels& unknown) {
    const std::span<const AreaPixel> pixels = division.inside.of(area);
    const Known inside = known_of(pixels), around = known_of(division.around.of(area));
    const Pixels asked = thinned(unknown, kAskedPixels);
    const std::vector<Vote> votes = votes_of(inside, around, asked, unknown.size());
    if (votes.empty()) return {};
    const int best = votes.front().plane;
    int own_inside = 0, own_around = 0;
    std::vector<Vote> rivals;
    for (const Vote& vote : votes) {
      if (!coincide(best, vote.plane, asked)) {
        rivals.push_back(vote);
        continue;
      }
      own_inside += inside.on[vote.plane];
      own_around += around.on[vote.plane];
    }
    if (own_inside < std::max(kMinOwn, kMinInside * inside.count) &&
        own_around < std::max(kMinOwn, kMinAround * around.count))
      return {};
    if (!rivals.empty() && rivals.front().sum > kMaxRival * votes.front().sum) return {};
    Pixels textured = thinned(pixels, kMatchedPixels);
    const double step = static_cast<double>(pixels.size()) / static_cast<double>(textured.size());
    std::erase_if(textured, [&](AreaPixel it) { return !match_.has_texture(it.x, it.y); });
    if (step * static_cast<double>(textured.size()) >= kMinTexture)
      return photos_confirm(best, rivals, textured) ? std::optional(best) : std::nullopt;
    const int own = own_inside + own_around;
    const bool sure = own > kMinOwnOfArea * static_cast<double>(pixels.size()) &&
                      own > kMinOwnMajority * (inside.count + around.count);
    return sure ? std::optional(best) : std::nullopt;
  }

  /// The planes with votes, most first. Those that no known depth of the area lies on have none.
  std::vector<Vote> votes_of(const Known& inside, const Known& around, const Pixels& asked,
                             std::size_t unknown) const {
    const double each = static_cast<double>(unknown) / static_cast<double>(asked.size());
    std::vector<Vote> votes;
    for (int plane = 0; plane < std::ssize(planes_); ++plane) {
      const int own = inside.on[plane] + around.on[plane];
      if (own == 0) continue;
      PlaneAnswers answers;
      for (const AreaPixel it : asked) planes_[plane].ask(it, answers);
      const double sum =
          own + each * (kOtherVote * (answers.on - answers.other) + kThroughVote * answers.through);
      if (sum > 0) votes.push_back({plane, sum});
    }
    std::ranges::stable_sort(votes, std::greater{}, &Vote::sum);
    return votes;
  }

  /// Whether two planes have the same depths at some pixels.
  bool coincide(int a, int b, const Pixels& pixels) const {
    return std::ranges::all_of(pixels, [&](AreaPixel it) {
      const Vec2d pixel = pixel_centre(it.x, it.y);
      const double inverse_depth = planes_[a].seen().inverse_depth(pixel);
      return std::abs(planes_[b].seen().inverse_depth(pixel) - inverse_depth) <= kSamePlane * inverse_depth;
    });
  }

  /// How windows match along a plane.
  struct Matching {
    double share = 0;  ///< of those that match, of those that two sources see
    float mean = -1;   ///< ZNCC
  };
  Matching matching(int plane, const Pixels& pixels) {
    match_.set_plane(planes_[plane].seen());
    int seen = 0, matching = 0;
    float sum = 0;
    for (const AreaPixel it : pixels) {
      const float zncc = match_.zncc(it.x, it.y);
      if (std::isnan(zncc)) continue;
      ++seen;
      matching += zncc > kMatches ? 1 : 0;
      sum += zncc;
    }
    if (seen == 0) return {};
    return {static_cast<double>(matching) / seen, sum / static_cast<float>(seen)};
  }

  bool photos_confirm(int plane, const std::vector<Vote>& rivals, const Pixels& pixels) {
    constexpr std::size_t kMaxRivals = 2;
    const Matching best = matching(plane, pixels);
    if (best.share < kMinMatching) return false;
    for (std::size_t i = 0; i < std::min(kMaxRivals, rivals.size()); ++i)
      if (matching(rivals[i].plane, pixels).mean > best.mean + kMuchBetter) return false;
    return true;
  }

  /// Labels the pixels that not two or more of the other views contradict, and more than confirm them.
  void label(const AskedPlane& plane, const Pixels& pixels) {
    for (const AreaPixel it : pixels) {
      if (!(plane.seen().inverse_depth(pixel_centre(it.x, it.y)) > 0)) continue;
      PlaneAnswers answers;
      plane.ask(it, answers);
      const int against = answers.through + answers.other;
      if (against < 2 || against <= answers.on) labels_(it.x, it.y) = plane.label();
    }
  }

  /// Takes the label from pixels whose texture does not match, and those next to them. Every second pixel of
  /// a row and a column is looked at.
  void remove_mismatches(const AskedPlane& plane, const Pixels& pixels) {
    match_.set_plane(plane.seen());
    Pixels mismatches;
    for (const AreaPixel it : pixels)
      if (it.x % 2 == 0 && it.y % 2 == 0 && labels_(it.x, it.y) != kUnlabelled &&
          match_.has_texture(it.x, it.y) && match_.zncc(it.x, it.y) < kMismatches)
        mismatches.push_back(it);
    for (const AreaPixel it : mismatches)
      for (int v = it.y - 1; v <= it.y + 1; ++v)
        for (int u = it.x - 1; u <= it.x + 1; ++u)
          if (labels_(u, v) == plane.label()) labels_(u, v) = kUnlabelled;
  }

  const PlaneView& view_;
  PlaneMatch match_;
  std::vector<AskedPlane> planes_;  ///< those that face the view
  Image<std::int16_t> support_;     ///< index of the plane of a known depth; -1: none
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
