#include "session/scene/given_depths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/pixels.hpp"
#include "io/map/given_map.hpp"
#include "scene/depth_check.hpp"

namespace recon {

namespace {

/// So many views, spread over all, and so many sources of each are compared.
constexpr std::size_t kComparedViews = 6, kComparedSources = 2;
/// Longest side of the maps that views are compared by.
constexpr int kComparedSide = 320;
/// Points that are enough; with fewer, views are compared with each other.
constexpr std::size_t kEnoughPoints = 50;

/// Views with a map, and pairs of them by their places in `views`.
struct ComparedMaps {
  std::vector<int> views;
  std::vector<std::pair<int, int>> pairs;

  int place_of(int view) {
    const auto it = std::ranges::find(views, view);
    if (it != views.end()) return static_cast<int>(it - views.begin());
    views.push_back(view);
    return static_cast<int>(views.size()) - 1;
  }
};

ComparedMaps compared_maps(const GivenDepths& depths) {
  std::vector<int> all = depths.views;
  std::erase_if(all, [&](int view) { return !depths.has(view); });
  const std::size_t count = std::min(kComparedViews, all.size());
  ComparedMaps compared;
  for (std::size_t i = 0; i < count; ++i) {
    const int view = all[i * all.size() / count];
    const int reference = compared.place_of(view);
    std::size_t sources = 0;
    for (const int source : depths.plan.view(view).sources)
      if (depths.has(source) && sources++ < kComparedSources)
        compared.pairs.emplace_back(reference, compared.place_of(source));
  }
  return compared;
}

/// What is known of the maps of the compared views.
struct MapsAsGiven {
  std::vector<ComparedView> views;   ///< with small maps; without a depth where a map cannot be read
  std::vector<DepthSample> samples;  ///< at sparse points
};

/// The depths of a map at points that its view sees.
void add_samples(const ComparedView& view, const std::vector<Vec3d>& points, const Image<float>& map,
                 std::vector<DepthSample>& samples) {
  for (const Vec3d& point : points) {
    const Vec3d x = view.cam_from_world * point;
    if (!(x.z > 0)) continue;
    const Vec2d pixel = view.camera.project(x);
    if (!view.camera.contains(pixel)) continue;
    const double depth = depth_at(map, view.camera, pixel);
    if (depth > 0) samples.push_back({depth / x.z, norm(x) / x.z});
  }
}

MapsAsGiven read_compared(const GivenDepths& depths, const std::vector<int>& views) {
  const std::vector<std::vector<Vec3d>> points = depths.points(views);
  MapsAsGiven maps;
  for (std::size_t i = 0; i < views.size(); ++i) {
    check_interrupted();
    const int view = views[i];
    ComparedView& compared = maps.views.emplace_back(ComparedView{depths.plan.view(view).camera,
                                                                  depths.plan.scene_view(view).cam_from_world,
                                                                  Image<float>(1, 1, kUnknown)});
    try {
      Image<float> map = depths.read(view);
      add_samples(compared, points[i], map, maps.samples);
      const double scale = std::min(1.0, kComparedSide / std::max<double>(map.width(), map.height()));
      const int width = std::max(1, static_cast<int>(map.width() * scale)),
                height = std::max(1, static_cast<int>(map.height() * scale));
      compared.depth = resized_to_nearest(std::move(map), width, height);
    } catch (const InputError& error) {
      messages().debug("{}", error.what());  // its view fails when it is read for it
    }
  }
  return maps;
}

/// A scale for people: powers of ten where it is nearly one.
double rounded_scale(double scale) {
  constexpr double kNearly = 0.03;
  const double ten = std::pow(10.0, std::round(std::log10(scale)));
  return std::abs(scale / ten - 1) < kNearly ? ten : scale;
}

/// @param with  what the depths were compared with
std::vector<std::string> texts_of(const DepthVerdict& verdict, const std::string& with,
                                  const GivenDepths& depths) {
  std::vector<std::string> texts;
  const std::string evidence =
      fmt::format("{:.0f} % of {} places, and {:.0f} % as they are", 100 * verdict.agreeing, verdict.samples,
                  100 * verdict.agreeing_as_given);
  if (verdict.unrelated)
    texts.push_back(
        fmt::format("the depths do not fit {}: most of {} places have another ratio; are they disparities, "
                    "inverse or relative depths, or maps of other images?",
                    with, verdict.samples));
  if (verdict.scale != 1) {
    const double scale = rounded_scale(verdict.scale);
    texts.push_back(fmt::format("the depths are {:.4g} times those of {} ({}): are they in another unit? {}",
                                scale, with, evidence, depths.advice(scale)));
  }
  if (verdict.distances)
    texts.push_back(fmt::format(
        "the depths grow towards the borders of the images against those of {} ({}): they seem to be "
        "distances to the camera, and have to be z along the viewing axis; divide each by "
        "sqrt(1 + ((x + 0.5 - cx) / fx)^2 + ((y + 0.5 - cy) / fy)^2)",
        with, evidence));
  return texts;
}

}  // namespace

std::vector<std::string> doubts_of(const GivenDepths& depths) {
  const ComparedMaps compared = compared_maps(depths);
  const MapsAsGiven maps = read_compared(depths, compared.views);
  const bool by_points = maps.samples.size() >= kEnoughPoints;
  const DepthVerdict verdict =
      by_points ? judge_depths(maps.samples) : judge_depth_views(maps.views, compared.pairs);
  messages().debug("given depth maps: {:.3f} of {} depths agree with {}", verdict.agreeing_as_given,
                   verdict.samples, by_points ? "sparse points" : "other views");
  return texts_of(verdict, by_points ? depths.points_name : "other views", depths);
}

}  // namespace recon
