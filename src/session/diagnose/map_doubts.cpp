#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/log.hpp"
#include "core/plain_number.hpp"
#include "scene/map_agreement.hpp"
#include "session/diagnose/given_depths.hpp"

namespace recon {

namespace {

/// Smallest logarithm of another scale of all maps and of one, against sparse points.
constexpr double kMinScale = 0.025, kMinOwnScale = 0.05;
/// Points of all views that are enough for a scale of all.
constexpr std::size_t kEnoughPoints = 50;
/// Share of the views that a scale of all has to make right, or that are in doubt where most are, and of
/// those that something else has to be wrong with for all maps to be useless.
constexpr double kMostViews = 0.6, kNearlyAll = 0.8;
/// A view agrees with others by chance where less agrees, and little more than at other places.
constexpr double kPoor = 0.3, kOfChance = 1.75, kOfPointsByChance = 1.5, kMargin = 0.02;

/// Share of a view's points that agree where it is surely right.
constexpr double kSure = 0.5;

enum class Doubt { kNotJudged, kNone, kOwnScale, kShiftedDepth, kShiftedInverse, kUnrelated, kConstant };

struct JudgedView {
  Doubt doubt = Doubt::kNotJudged;
  double ratio = 1;        ///< of its depths to those that they are compared with
  bool disparity = false;  ///< it fits as inverse depths
  double agreeing = 0;     ///< the share of its sparse points that agrees
};

using Samples = std::vector<std::vector<DepthSample>>;

/// Of a map whose values are depths, or with a shift.
Doubt doubt_of(const DepthVerdict& verdict) {
  if (verdict.unrelated || verdict.meaning == DepthMeaning::kDisparity) return Doubt::kUnrelated;
  if (verdict.meaning == DepthMeaning::kShiftedDepth) return Doubt::kShiftedDepth;
  if (verdict.meaning == DepthMeaning::kShiftedInverse) return Doubt::kShiftedInverse;
  return verdict.scale == 1 ? Doubt::kNone : Doubt::kOwnScale;
}

/// What sparse points say of all views together and of each.
struct ByPoints {
  DepthVerdict all;               ///< with its scale, or as distances, most views are right
  std::vector<JudgedView> views;  ///< with that

  std::size_t count(Doubt doubt) const {
    return static_cast<std::size_t>(std::ranges::count(views, doubt, &JudgedView::doubt));
  }
  double judged() const { return static_cast<double>(views.size() - count(Doubt::kNotJudged)); }
};

std::vector<JudgedView> judge_each(const Samples& samples) {
  std::vector<JudgedView> views;
  for (const std::vector<DepthSample>& of_view : samples) {
    const DepthVerdict verdict = judge_depths(of_view, kMinOwnScale);
    JudgedView& view = views.emplace_back();
    if (!verdict.judged) continue;
    view = {doubt_of(verdict), verdict.ratio, verdict.meaning == DepthMeaning::kDisparity, verdict.agreeing};
  }
  return views;
}

ByPoints judge_by_points(Samples samples) {
  std::vector<DepthSample> all;
  for (const std::vector<DepthSample>& of_view : samples)
    all.insert(all.end(), of_view.begin(), of_view.end());
  ByPoints as_given{judge_depths(all, kMinScale), judge_each(samples)};
  DepthVerdict& verdict = as_given.all;
  const bool distances = verdict.meaning == DepthMeaning::kDistance;
  const bool explained = verdict.samples >= kEnoughPoints && !verdict.unrelated &&
                         (distances || (verdict.meaning == DepthMeaning::kDepth && verdict.scale != 1));
  if (explained) {
    for (std::vector<DepthSample>& of_view : samples)
      for (DepthSample& sample : of_view) sample.value /= verdict.scale * (distances ? sample.ray : 1);
    ByPoints corrected{verdict, judge_each(samples)};
    const std::size_t right = corrected.count(Doubt::kNone);
    if (right >= as_given.count(Doubt::kNone) &&
        static_cast<double>(right) >= kMostViews * corrected.judged())
      return corrected;
  }
  verdict.scale = 1;
  verdict.meaning = DepthMeaning::kDepth;
  return as_given;
}

bool is_constant(const Image<float>& map) {
  constexpr int kFewPixels = 50;
  constexpr float kNearly = 1e-5F;
  int known = 0;
  float first = kUnknown;
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x) {
      const float value = map(x, y);
      if (!(value > 0)) continue;
      if (known++ == 0) first = value;
      if (std::abs(value - first) > kNearly * first) return false;
    }
  return known >= kFewPixels;
}

/// What other maps say of a view.
JudgedView judged_by_others(const MapAgreement& agreement, const Image<float>& map) {
  if (is_constant(map)) return {Doubt::kConstant};
  if (!agreement.judged) return {};
  if (agreement.own_scale != 1) return {Doubt::kOwnScale, agreement.own_scale};
  const bool poor =
      !agreement.fits && agreement.agreeing < std::min(kPoor, kOfChance * agreement.by_chance + kMargin);
  return {poor ? Doubt::kUnrelated : Doubt::kNone};
}

class Judgement {
 public:
  Judgement(const MapEvidence& maps, const std::string& points_name)
      : maps_(maps),
        points_name_(points_name),
        points_(judge_by_points(maps.samples)),
        others_(judge_maps(maps.maps, maps.pairs)) {
    with_points_ = points_.all.samples >= kEnoughPoints &&
                   (points_.judged() == 0 || 2 * points_.judged() >= static_cast<double>(maps.views.size()));
    views_ = points_.views;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      const JudgedView by_others = judged_by_others(others_.views[i], maps.maps[i].map);
      // Points may leave it open what other maps show.
      const bool open = views_[i].doubt == Doubt::kNone && views_[i].agreeing < kSure &&
                        by_others.doubt == Doubt::kUnrelated;
      const bool by_points = views_[i].doubt != Doubt::kNotJudged && !open;
      if (!by_points) views_[i] = by_others;
      if (views_[i].doubt > Doubt::kNone) (by_points ? by_points_ : by_others_) = true;
    }
    if (other_images()) {
      for (JudgedView& view : views_) view.doubt = Doubt::kUnrelated;
    } else {
      exchanged_ = find_exchanged_maps(maps.maps, maps.pairs, others_);
      for (const auto& it : exchanged_) views_[it.first].doubt = views_[it.second].doubt = Doubt::kNone;
    }
    messages().debug("given depth maps: {:.3f} of {} depths agree with {}, {:.3f} of {} across views",
                     points_.all.as_given, points_.all.samples, points_name, others_.as_given,
                     others_.samples);
  }

  std::vector<std::string> texts(const std::function<std::string(double scale)>& advice) const {
    std::vector<std::string> texts;
    if (other_images()) {
      texts.push_back(text_of_images());
      return texts;
    }
    add_texts_of_all(advice, texts);
    for (const ExchangedMaps& it : exchanged_)
      texts.push_back(
          fmt::format("the maps of {} and {} seem to be exchanged: {:.0f} % of their places would agree with "
                      "other views, and {:.0f} % do as they are; give each the name of its image",
                      maps_.names[it.first], maps_.names[it.second], 100 * it.agreeing, 100 * it.as_given));
    add_texts_of_views(texts);
    return texts;
  }

  /// What is wrong with all maps or most, in few words; empty: nothing is.
  std::string doubt_of_all() const {
    if (others_.reading.next != 0) return "the given depth maps seem to be of other images";
    if (other_images()) return "the given depth maps seem to be " + layout_word();
    const DepthMeaning meaning = with_points_ ? points_.all.meaning : others_.reading.meaning;
    const double scale = with_points_ ? points_.all.scale : others_.reading.scale;
    if (meaning == DepthMeaning::kDisparity) return "the given depths seem to be inverse depths";
    if (scale != 1)
      return "the given depths are " + plain(rounded_scale(scale), 4) + " times those of the scene";
    if (meaning == DepthMeaning::kDistance) return "the given depths seem to be distances to the camera";
    const double judged = static_cast<double>(views_.size()) - count(Doubt::kNotJudged);
    if (judged == 0 || judged - count(Doubt::kNone) < kMostViews * judged) return {};
    return "most given depth maps are not in the scale of the scene, or not of their images";
  }

  /// Whether next to nothing agrees, and maps do not differ from right ones by scales, shifts or the ray.
  bool useless() const {
    const double judged = static_cast<double>(views_.size()) - count(Doubt::kNotJudged);
    if (!with_points_ && others_.reading.meaning == DepthMeaning::kDisparity) return true;
    if (judged == 0 || count(Doubt::kUnrelated) + count(Doubt::kConstant) < kNearlyAll * judged) return false;
    if (others_.samples > 0 && others_.as_given >= kPoor) return false;
    return !with_points_ ? !other_images()
                         : points_.all.as_given <= kOfPointsByChance * points_.all.by_chance + kMargin;
  }

 private:
  double count(Doubt doubt) const {
    return static_cast<double>(std::ranges::count(views_, doubt, &JudgedView::doubt));
  }

  /// Whether maps of other views, or mirrored ones, agree.
  bool other_images() const {
    return others_.reading.layout != MapLayout::kUpright || others_.reading.next != 0;
  }

  /// What the views in doubt are compared with.
  std::string with() const {
    if (!by_points_) return kOthers;
    return by_others_ ? points_name_ + " and " + kOthers : points_name_;
  }

  std::string text_of_images() const {
    const std::string evidence =
        fmt::format("{:.0f} % of {} places would agree across views, and {:.0f} % do as they are",
                    100 * others_.agreeing, others_.samples, 100 * others_.as_given);
    if (const int next = others_.reading.next; next != 0)
      return fmt::format(
          "the maps seem to be of other images: that of {} would be right for {}, and so on ({})",
          maps_.names[next % maps_.names.size()], maps_.names[0], evidence);
    return fmt::format("the maps seem to be {} ({})", layout_word(), evidence);
  }

  std::string layout_word() const {
    constexpr std::array<const char*, 4> kWords = {"", "mirrored", "upside down", "turned by 180 degrees"};
    return kWords[static_cast<std::size_t>(others_.reading.layout)];
  }

  /// A unit, distances or inverse depths, which all maps have.
  void add_texts_of_all(const std::function<std::string(double scale)>& advice,
                        std::vector<std::string>& texts) const {
    const DepthMeaning meaning = with_points_ ? points_.all.meaning : others_.reading.meaning;
    double scale = with_points_ ? points_.all.scale : others_.reading.scale;
    const std::string& with = with_points_ ? points_name_ : kOthers;
    const std::string evidence =
        with_points_ ? evidence_of(points_.all.agreeing, points_.all.samples, points_.all.as_given)
                     : evidence_of(others_.agreeing, others_.samples, others_.as_given);
    if (meaning == DepthMeaning::kDisparity) {
      texts.push_back(
          fmt::format("the depths do not fit {}, but their inverse does ({}): are they disparities or "
                      "inverse depths? A depth is {} divided by the value",
                      with, evidence, plain(scale, 4)));
      return;
    }
    if (scale != 1) {
      scale = rounded_scale(scale);
      texts.push_back(fmt::format("the depths are {} times those of {} ({}): are they in another unit? {}",
                                  plain(scale, 4), with, evidence, advice(scale)));
    }
    if (meaning == DepthMeaning::kDistance)
      texts.push_back(fmt::format(
          "the depths grow towards the borders of the images against those of {} ({}): they seem to be "
          "distances to the camera, and have to be z along the viewing axis; divide each by "
          "sqrt(1 + ((x + 0.5 - cx) / fx)^2 + ((y + 0.5 - cy) / fy)^2)",
          with, evidence));
  }

  void add_texts_of_views(std::vector<std::string>& texts) const {
    const auto add = [&](Doubt doubt, const auto& text) {
      const std::string listed = listed_views(doubt);
      if (!listed.empty()) texts.push_back(text(listed));
    };
    add(Doubt::kOwnScale, [&](const std::string& views) {
      return fmt::format(
          "maps have scales of their own: their depths are so many times those of {}: {}; maps that networks "
          "make of single images have such scales: divide each by its own",
          with(), views);
    });
    add(Doubt::kShiftedDepth, [&](const std::string& views) {
      return fmt::format(
          "maps have a scale and a shift of their own against {}: their depths are about so many times "
          "these: {}; maps that networks make of single images have both: fit depth = a * value + b for each",
          with(), views);
    });
    add(Doubt::kShiftedInverse, [&](const std::string& views) {
      return fmt::format(
          "maps have a scale and a shift of their own in the inverse of the depths against {}: their depths "
          "are about so many times these: {}; maps that networks make of single images have both: fit 1 / "
          "depth = a / value + b for each",
          with(), views);
    });
    add(Doubt::kUnrelated, [&](const std::string& views) {
      const bool disparities = 2 * std::ranges::count(views_, true, &JudgedView::disparity) >
                               std::ranges::count(views_, Doubt::kUnrelated, &JudgedView::doubt);
      return fmt::format(
          "the depths do not fit {}: most places have another ratio in {}; are they disparities, inverse or "
          "relative depths, or maps of other images?{}",
          with(), views, disparities ? " As a / (value + b) they fit" : "");
    });
    add(Doubt::kConstant, [&](const std::string& views) {
      return fmt::format("maps have the same depth everywhere: {}", views);
    });
  }

  static std::string evidence_of(double agreeing, std::size_t samples, double as_given) {
    return fmt::format("{:.0f} % of {} places, and {:.0f} % as they are", 100 * agreeing, samples,
                       100 * as_given);
  }

  /// A scale for people: powers of ten where it is nearly one.
  static double rounded_scale(double scale) {
    constexpr double kNearly = 0.03;
    const double ten = std::pow(10.0, std::round(std::log10(scale)));
    return ten != 1 && std::abs(scale / ten - 1) < kNearly ? ten : scale;
  }

  /// "3 of 9 views (a.jpg 1.21, b.jpg 0.87, c.jpg 1.4)"; empty: none.
  std::string listed_views(Doubt doubt) const {
    constexpr int kListed = 8;
    std::string list;
    int count = 0;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      if (views_[i].doubt != doubt || ++count > kListed) continue;
      list += (list.empty() ? "" : ", ") + maps_.names[i];
      if (doubt != Doubt::kUnrelated && doubt != Doubt::kConstant) list += " " + plain(views_[i].ratio, 3);
    }
    if (count == 0) return {};
    return fmt::format("{} of {} views ({}{})", count, views_.size(), list,
                       count > kListed ? fmt::format(" and {} more", count - kListed) : "");
  }

  static inline const std::string kOthers = "other views";

  const MapEvidence& maps_;
  const std::string& points_name_;
  const ByPoints points_;
  const MapsVerdict others_;
  std::vector<JudgedView> views_;
  std::vector<ExchangedMaps> exchanged_;
  bool with_points_ = false;                    ///< all views together are judged by them
  bool by_points_ = false, by_others_ = false;  ///< what views are in doubt by
};

}  // namespace

MapDoubts judge(const MapEvidence& maps, const std::string& points_name,
                const std::function<std::string(double scale)>& advice) {
  if (maps.views.empty()) return {};
  const Judgement judgement(maps, points_name);
  return {judgement.texts(advice), judgement.doubt_of_all(), judgement.useless()};
}

}  // namespace recon
