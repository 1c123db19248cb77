#include "session/diagnose/given_depths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/pixels.hpp"
#include "core/plain_number.hpp"
#include "io/map/given_map.hpp"
#include "scene/sparse_index.hpp"

namespace recon {

namespace {

/// So many sources of each view are compared with it.
constexpr std::size_t kComparedSources = 2;
/// Longest side of the maps that views are compared by, where these are up to kViewsOfSide, and with many
/// more.
constexpr double kComparedSide = 320, kLeastSide = 128, kViewsOfSide = 32;
/// Views whose points are looked up at a time.
constexpr std::size_t kViewsAtATime = 64;

/// Adds the values of a map at points that its view sees.
void add_samples(const ComparedView& view, const std::vector<Vec3d>& points, const Image<float>& map,
                 std::vector<DepthSample>& samples) {
  constexpr std::size_t kEnough = 1000;  // of a view
  const std::size_t step = 1 + points.size() / kEnough;
  for (std::size_t i = 0; i < points.size(); i += step) {
    const Vec3d x = view.cam_from_world * points[i];
    if (!(x.z > 0)) continue;
    const Vec2d pixel = view.camera.project(x);
    if (!view.camera.contains(pixel)) continue;
    const double value = depth_at(map, view.camera, pixel);
    if (value > 0) samples.push_back({value, x.z, norm(x) / x.z});
  }
}

/// The views that have a map, then their sources, and pairs by their places.
MapEvidence compared_maps(const GivenDepths& depths) {
  MapEvidence maps;
  std::map<int, int> places;
  const auto place_of = [&](int view) {
    const auto [it, added] = places.emplace(view, static_cast<int>(maps.views.size()));
    if (added) maps.views.push_back(view);
    return it->second;
  };
  for (const int view : depths.views)
    if (depths.has(view)) place_of(view);
  const std::size_t judged = maps.views.size();
  for (std::size_t i = 0; i < judged; ++i) {
    std::size_t sources = 0;
    for (const int source : depths.plan.view(maps.views[i]).sources)
      if (depths.has(source) && sources++ < kComparedSources)
        maps.pairs.emplace_back(static_cast<int>(i), place_of(source));
  }
  return maps;
}

/// Reads a map, and keeps a small one and its samples.
void read_map(const GivenDepths& depths, const std::vector<Vec3d>& points, double side, int place,
              MapEvidence& maps) {
  check_interrupted();
  const int view = maps.views[place];
  ComparedView& compared = maps.maps.emplace_back(ComparedView{depths.plan.view(view).camera,
                                                               depths.plan.scene_view(view).cam_from_world,
                                                               Image<float>(1, 1, kUnknown)});
  std::vector<DepthSample>& samples = maps.samples.emplace_back();
  try {
    Image<float> map = depths.read(view);
    add_samples(compared, points, map, samples);
    const double scale = std::min(1.0, side / std::max<double>(map.width(), map.height()));
    const int width = std::max(1, static_cast<int>(map.width() * scale)),
              height = std::max(1, static_cast<int>(map.height() * scale));
    compared.map = resized_to_nearest(std::move(map), width, height);
  } catch (const InputError& error) {
    messages().debug("{}", error.what());  // its view fails when it is read for it
  }
}

MapEvidence read_compared(const GivenDepths& depths) {
  MapEvidence maps = compared_maps(depths);
  const auto count = static_cast<double>(maps.views.size());
  const double side = std::max(kLeastSide, kComparedSide * std::min(1.0, std::sqrt(kViewsOfSide / count)));
  for (std::size_t begin = 0; begin < maps.views.size(); begin += kViewsAtATime) {
    const std::size_t end = std::min(begin + kViewsAtATime, maps.views.size());
    const auto first = maps.views.begin();
    const auto points =
        depths.points({first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end)});
    for (std::size_t i = begin; i < end; ++i)
      read_map(depths, points[i - begin], side, static_cast<int>(i), maps);
  }
  for (const int view : maps.views) maps.names.push_back(depths.plan.name(view));
  return maps;
}

}  // namespace

MapDoubts doubts_of(const GivenDepths& depths) {
  return judge(read_compared(depths), depths.points_name, depths.advice);
}

namespace {

/// Maps of less than this part of the side of their image repeat pixels.
constexpr double kFewerPixels = 0.9;

/// Text about a map with fewer pixels than the image of its view.
std::string smaller_map_text(const ScenePlan& plan, const ImageSizes& images, int view, ImageSize map) {
  const Pinhole& camera = plan.view(view).camera;
  if (map.width >= kFewerPixels * camera.width) return {};
  const Camera& photo = plan.photo_camera(view);
  int side = std::max(map.width, map.height);
  if (plan.scene_view(view).face) {  // the size is that of the photo
    int photo_side = std::max(photo.width, photo.height);
    if (const int max = images.max_side(photo.width, photo.height); max > 0)
      photo_side = std::min(photo_side, max);
    side = static_cast<int>(std::lround(static_cast<double>(photo_side) * map.width / camera.width));
  }
  return fmt::format(
      "such as {} for {}, whose image has {}: a value that is taken for several pixels is no "
      "surface, so that edges and slopes have steps; where all maps are so small, give --max-image-size {}",
      size_text(map.width, map.height), plan.name(view), size_text(camera.width, camera.height), side);
}

/// The places of the points that each of some views sees.
std::vector<std::vector<Vec3d>> points_seen(const Scene& scene, const std::vector<int>& views) {
  const IndexLists points = points_of_views(scene, views);
  std::vector<std::vector<Vec3d>> seen(views.size());
  for (std::size_t i = 0; i < views.size(); ++i)
    for (const int point : points[static_cast<int>(i)]) seen[i].push_back(scene.points[point].position);
  return seen;
}

/// @param smaller  text of smaller_map_text, which may be empty
void warn_of_smaller(const GivenMapsOptions& options, const std::string& smaller, Findings& findings) {
  if (!smaller.empty())
    findings.warn(fmt::format("--depth-maps {}: the maps have fewer pixels than the images, {}",
                              options.folder.string(), smaller));
}

}  // namespace

void check_given_maps(const SceneInput& input, const ScenePlan& plan, const SceneSettings& settings,
                      Findings& findings) {
  if (!input.given.any() || !settings.plan.estimates) return;
  std::string smaller;
  const auto read = [&](int view) {
    Image<float> map = input.given.read_depth(plan, view);
    if (smaller.empty())
      smaller = smaller_map_text(plan, settings.plan.images, view, {map.width(), map.height()});
    return map;
  };
  const MapDoubts doubts =
      doubts_of({plan, plan.active_views(), [&](int view) { return input.given.has(plan.name(view)); }, read,
                 [&](const std::vector<int>& views) { return points_seen(plan.scene, views); },
                 "the sparse points of " + input.folder.model.string(),
                 [&](double scale) {
                   return "give --depth-unit " + plain(settings.given.unit.value_or(1) / scale, 4);
                 }});
  warn_of_smaller(settings.given, smaller, findings);
  const std::string prefix = "--depth-maps " + settings.given.folder.string() + ": ";
  if (doubts.useless) throw InputError(prefix + fmt::format("{}", fmt::join(doubts.texts, "; ")));
  for (const std::string& text : doubts.texts) {
    if (doubts.of_all.empty())
      findings.warn(prefix + text);
    else
      findings.warn_of_result(prefix + text, doubts.of_all);
  }
}

void check_given_headers(const SceneInput& input, const ScenePlan& plan, const SceneSettings& settings,
                         const std::string& output, Findings& findings) {
  if (!input.given.any() || !settings.plan.estimates) return;
  const std::vector<int> views = plan.active_views();
  std::string smaller;
  for (const int view : views) {
    const std::string& name = plan.name(view);
    const std::string fault = input.given.fault(plan, view);
    if (!fault.empty()) {
      findings.fail(name, "will fail", fault);
    } else if (smaller.empty()) {
      smaller = smaller_map_text(plan, settings.plan.images, view, input.given.depth_size(name));
    }
  }
  if (!views.empty() && findings.failed.size() == views.size())
    throw InputError(no_usable_maps(output, findings));
  warn_of_smaller(settings.given, smaller, findings);
}

void check_prior_headers(const SceneInput& input, const ScenePlan& plan, Findings& findings) {
  for (const int view : plan.active_views()) {
    const std::string& name = plan.name(view);
    if (!input.prior.has(name)) continue;
    if (const std::string fault = input.prior.fault(plan, view); !fault.empty())
      findings.warn(unused_prior_text(name, fault));
  }
}

std::string no_usable_maps(const std::string& output, const Findings& findings) {
  return fmt::format("{}: none of the given depth maps can be used: {} failed: {}", output,
                     findings.failed.front().name, findings.failed.front().reason);
}

}  // namespace recon
