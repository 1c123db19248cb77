// Whether depth maps of other programs are what they have to be: z along the viewing axis in scene units.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/pixels.hpp"
#include "io/map/given_map.hpp"
#include "scene/depth_check.hpp"
#include "scene/sparse_index.hpp"
#include "session/scene/given_maps.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

namespace {

/// So many views, spread over all, and so many sources of each are compared.
constexpr std::size_t kComparedViews = 6, kComparedSources = 2;
/// Longest side of the maps that views are compared by.
constexpr int kComparedSide = 320;
/// Points that are enough; with fewer, views are compared with each other.
constexpr std::size_t kEnoughPoints = 50;
/// Maps of less than this part of the side of their image repeat pixels.
constexpr double kFewerPixels = 0.9;

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

ComparedMaps compared_maps(const SceneRun& run) {
  const auto has_map = [&](int view) { return run.given.has(run.plan.name(view)); };
  std::vector<int> all = run.plan.views_in_scope();
  std::erase_if(all, [&](int view) { return !has_map(view); });
  const std::size_t count = std::min(kComparedViews, all.size());
  ComparedMaps compared;
  for (std::size_t i = 0; i < count; ++i) {
    const int view = all[i * all.size() / count];
    const int reference = compared.place_of(view);
    std::size_t sources = 0;
    for (const int source : run.plan.view(view).sources)
      if (has_map(source) && sources++ < kComparedSources)
        compared.pairs.emplace_back(reference, compared.place_of(source));
  }
  return compared;
}

/// What is known of the maps of the compared views.
struct MapsAsGiven {
  std::vector<ComparedView> views;   ///< with small maps; without a depth where a map cannot be read
  std::vector<DepthSample> samples;  ///< at sparse points
  std::string smaller;               ///< of the first map that has fewer pixels than its image; else empty
};

/// The depths of a map at the points that its view sees.
void add_samples(const SceneRun& run, int view, std::span<const int> points, const Image<float>& map,
                 std::vector<DepthSample>& samples) {
  const Pinhole& camera = run.plan.view(view).camera;
  for (const int point : points) {
    const Vec3d x = run.plan.scene_view(view).cam_from_world * run.plan.scene.points[point].position;
    if (!(x.z > 0)) continue;
    const Vec2d pixel = camera.project(x);
    if (!camera.contains(pixel)) continue;
    const double depth = depth_at(map, camera, pixel);
    if (depth > 0) samples.push_back({depth / x.z, norm(x) / x.z});
  }
}

/// Text about a map with fewer pixels than the image of its view.
std::string smaller_map_text(const SceneRun& run, int view, ImageSize map) {
  const Pinhole& camera = run.plan.view(view).camera;
  if (map.width >= kFewerPixels * camera.width) return {};
  const Camera& photo = run.plan.photo_camera(view);
  int side = std::max(map.width, map.height);
  if (run.plan.scene_view(view).face) {  // the size is that of the photo
    int photo_side = std::max(photo.width, photo.height);
    if (const int max = run.options.max_side(photo.width, photo.height); max > 0)
      photo_side = std::min(photo_side, max);
    side = static_cast<int>(std::lround(static_cast<double>(photo_side) * map.width / camera.width));
  }
  return fmt::format(
      "such as {} for {}, whose image has {}: a value that is taken for several pixels is no "
      "surface, and most points are wrong; give --max-image-size {}",
      size_text(map.width, map.height), run.plan.name(view), size_text(camera.width, camera.height), side);
}

MapsAsGiven read_compared(const SceneRun& run, const std::vector<int>& views) {
  const IndexLists points = points_of_views(run.plan.scene, views);
  MapsAsGiven maps;
  for (std::size_t i = 0; i < views.size(); ++i) {
    check_interrupted();
    const int view = views[i];
    const Pinhole& camera = run.plan.view(view).camera;
    maps.views.push_back({camera, run.plan.scene_view(view).cam_from_world, Image<float>(1, 1, kUnknown)});
    try {
      Image<float> map = run.given.read_depth(run.plan, view);
      add_samples(run, view, points[static_cast<int>(i)], map, maps.samples);
      if (maps.smaller.empty()) maps.smaller = smaller_map_text(run, view, {map.width(), map.height()});
      const double scale = std::min(1.0, kComparedSide / std::max<double>(map.width(), map.height()));
      const int width = std::max(1, static_cast<int>(map.width() * scale)),
                height = std::max(1, static_cast<int>(map.height() * scale));
      maps.views.back().depth = resized_to_nearest(std::move(map), width, height);
    } catch (const InputError& error) {
      messages().debug("{}", error.what());  // its view fails when it is read for it
    }
  }
  return maps;
}

/// @param smaller  text of smaller_map_text, which may be empty
void warn_of_smaller(SceneRun& run, const std::string& smaller) {
  if (!smaller.empty())
    run.warn(fmt::format("--depth-maps {}: the maps have fewer pixels than the images, {}",
                         run.options.depth_maps.string(), smaller));
}

/// A scale for people: powers of ten where it is nearly one.
double rounded_scale(double scale) {
  constexpr double kNearly = 0.03;
  const double ten = std::pow(10.0, std::round(std::log10(scale)));
  return std::abs(scale / ten - 1) < kNearly ? ten : scale;
}

/// @param with  what the depths were compared with
void warn_of_depths(SceneRun& run, const DepthVerdict& verdict, const std::string& with) {
  if (verdict.right()) return;
  const std::string maps = "--depth-maps " + run.options.depth_maps.string();
  const std::string evidence =
      fmt::format("{:.0f} % of {} places, and {:.0f} % as they are", 100 * verdict.agreeing, verdict.samples,
                  100 * verdict.agreeing_as_given);
  if (verdict.unrelated)
    run.warn(
        fmt::format("{}: the depths do not fit {}: most of {} places have another ratio; are they "
                    "disparities, inverse or relative depths, or maps of other images?",
                    maps, with, verdict.samples));
  if (verdict.scale != 1) {
    const double scale = rounded_scale(verdict.scale);
    run.warn(
        fmt::format("{}: the depths are {:.4g} times those of {} ({}): are they in another unit? give "
                    "--depth-unit {:.4g}",
                    maps, scale, with, evidence, run.options.depth_unit.value_or(1) / scale));
  }
  if (verdict.distances)
    run.warn(fmt::format(
        "{}: the depths grow towards the borders of the images against those of {} ({}): they seem to be "
        "distances to the camera, and have to be z along the viewing axis; divide each by "
        "sqrt(1 + ((x + 0.5 - cx) / fx)^2 + ((y + 0.5 - cy) / fy)^2)",
        maps, with, evidence));
}

}  // namespace

void check_given_maps(SceneRun& run) {
  if (!run.given.any()) return;
  const ComparedMaps compared = compared_maps(run);
  const MapsAsGiven maps = read_compared(run, compared.views);
  warn_of_smaller(run, maps.smaller);
  const bool by_points = maps.samples.size() >= kEnoughPoints;
  const DepthVerdict verdict =
      by_points ? judge_depths(maps.samples) : judge_depth_views(maps.views, compared.pairs);
  messages().debug("--depth-maps: {:.3f} of {} depths agree with {}", verdict.agreeing_as_given,
                   verdict.samples, by_points ? "sparse points" : "other views");
  warn_of_depths(run, verdict,
                 by_points ? "the sparse points of " + run.folder.model.string() : "other views");
}

void check_given_headers(SceneRun& run) {
  if (!run.given.any()) return;
  const std::vector<int> views = run.views_of(Step::kEstimate);
  std::string smaller;
  for (const int view : views) {
    const std::string& name = run.plan.name(view);
    const std::string fault = run.given.fault(run.plan, view);
    if (!fault.empty()) {
      run.failed.push_back({name, fault});
      run.warn(name + " will fail: " + fault);
    } else if (smaller.empty()) {
      smaller = smaller_map_text(run, view, run.given.depth_size(name));
    }
  }
  if (!views.empty() && run.failed.size() == views.size()) throw InputError(no_usable_maps(run));
  warn_of_smaller(run, smaller);
}

std::string no_usable_maps(const SceneRun& run) {
  return fmt::format("{}: none of the given depth maps can be used: {} failed: {}",
                     run.workspace.root().string(), run.failed.front().name, run.failed.front().reason);
}

}  // namespace recon
