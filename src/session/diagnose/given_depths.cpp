#include "session/diagnose/given_depths.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/pixels.hpp"
#include "io/map/given_map.hpp"
#include "scene/map_agreement.hpp"

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

}  // namespace recon
