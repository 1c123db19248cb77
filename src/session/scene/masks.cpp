#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/paths.hpp"
#include "io/image_file.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

fs::path mask_path(const SceneRun& run, const View& view) {
  return run.folder.masks / (view.name + ".png");
}

void check_size(const fs::path& path, const HeaderSize& size, const Camera& camera) {
  if (!has_size(size, camera.width, camera.height))
    throw InputError(path.string() + ": the mask has " + text_of(size) + " pixels, its photo " +
                     size_text(camera.width, camera.height) +
                     "; make a mask of the photo's size, or remove this one to use the whole photo");
}

/// The content of a mask file; a mask of another size than its photo is not read to the end, nor decoded: the
/// memory is planned for those of the same size.
std::string read_content(const fs::path& path, const Camera& camera) {
  return read_image_file(path, [&](const HeaderSize& size) { check_size(path, size, camera); });
}

Image<std::uint8_t> decode(const std::string& content, const fs::path& path, const Camera& camera) {
  if (const auto size = header_size(content)) check_size(path, *size, camera);
  Image<std::uint8_t> mask = decode_mask(content, path.string());
  check_size(path, size_of(mask), camera);
  return mask;
}

bool is_on_ignored_pixel(const Observation& observation, const Image<std::uint8_t>& mask) {
  const Vec2d p = observation.pixel;
  return p.x >= 0 && p.y >= 0 && p.x < mask.width() && p.y < mask.height() &&
         mask(static_cast<int>(p.x), static_cast<int>(p.y)) == 0;
}

/// Takes the point from the observations on ignored pixels; returns which had one, an empty list if none.
std::vector<bool> ignore_observations(View& view, const Image<std::uint8_t>& mask) {
  std::vector<bool> ignored(view.observations.size());
  for (std::size_t i = 0; i < ignored.size(); ++i)
    ignored[i] = view.observations[i].point_id != kNoPoint && is_on_ignored_pixel(view.observations[i], mask);
  if (std::find(ignored.begin(), ignored.end(), true) == ignored.end()) return {};
  std::vector<Observation>& observations = view.observations.edit();
  for (std::size_t i = 0; i < ignored.size(); ++i)
    if (ignored[i]) observations[i].point_id = kNoPoint;
  return ignored;
}

/// @param ignored  observations by view; an empty list where none is
void shorten_tracks(Scene& scene, const std::vector<std::vector<bool>>& ignored) {
  if (std::all_of(ignored.begin(), ignored.end(), [](const auto& list) { return list.empty(); })) return;
  const auto is_ignored = [&](const TrackElement& element) {
    const std::vector<bool>& list = ignored[element.view];
    return !list.empty() && list[element.observation];
  };
  std::vector<SparsePoint>& points = scene.points.edit();
  std::erase_if(points, [&](const SparsePoint& point) {
    return !point.track.empty() && std::all_of(point.track.begin(), point.track.end(), is_ignored);
  });
  for (SparsePoint& point : points) std::erase_if(point.track, is_ignored);
}

}  // namespace

Image<std::uint8_t> read_mask(const SceneRun& run, const View& view, const Camera& camera) {
  const fs::path path = mask_path(run, view);
  return decode(read_content(path, camera), path, camera);
}

Image<std::uint8_t> prepared_mask(const SceneRun& run, int view) {
  if (run.plan.scene_view(view).mask_hash.empty()) return {};
  const fs::path path = run.workspace.path(Workspace::mask_file(run.plan.view(view).output_name));
  return decode_mask(read_image_file(path), path.string());
}

std::vector<LeftOut> read_masks(SceneRun& run) {
  if (run.folder.masks.empty()) return {};
  std::vector<View>& views = run.scene.views;
  std::vector<std::string> errors(views.size());
  std::vector<std::vector<bool>> ignored(views.size());
  const int at_once = photos_at_once(run.scene, run.memory.limit, run.threads);
  bounded_parallel_for(static_cast<int>(views.size()), at_once, [&](int i) {
    check_interrupted();
    View& view = views[i];
    const fs::path path = mask_path(run, view);
    try {
      if (!is_there(path)) return;
      const Camera& camera = run.scene.cameras[view.camera];
      const std::string content = read_content(path, camera);
      ignored[i] = ignore_observations(view, decode(content, path, camera));
      view.mask_hash = content_hash(content);
    } catch (const InputError& fault) {
      errors[i] = fault.what();
    }
  });
  shorten_tracks(run.scene, ignored);

  std::vector<LeftOut> unusable;
  for (std::size_t i = 0; i < views.size(); ++i)
    if (!errors[i].empty()) unusable.push_back({views[i].name, errors[i]});
  const int masked = count_masked(run.scene);
  if (masked > 0) spdlog::info("masks: {} of {} views have one", masked, views.size());
  if (masked == 0 && unusable.empty() && !views.empty())
    run.warn(run.folder.masks.string() + ": no view has a mask there; that of " + views.front().name +
             " would be " + views.front().name + ".png");
  return unusable;
}

}  // namespace recon
