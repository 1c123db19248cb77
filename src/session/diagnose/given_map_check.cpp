// What is said of the maps of --depth-maps before they are fused.

#include "session/diagnose/given_map_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.hpp"
#include "core/plain_number.hpp"
#include "scene/sparse_index.hpp"
#include "session/diagnose/given_depths.hpp"

namespace recon {

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
