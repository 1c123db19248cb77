#include "session/products/masks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/parallel.hpp"
#include "core/paths.hpp"
#include "core/pixels.hpp"
#include "core/printable.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_file.hpp"
#include "scene/faces.hpp"
#include "scene/undistort.hpp"
#include "session/products/photo_files.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

/// Sets the file of a view's mask: masks/NAME.png, also by the name that its photo has in the folder of the
/// photos, or else the one that the model names.
void find_mask(const SceneFolder& folder, View& view) {
  if (folder.masks.empty()) return;
  for (const std::string& name : {view.name, view.photo_file()}) {
    const fs::path own = folder.masks / (name + ".png");
    if (name.starts_with("..") || !is_there(own)) continue;
    view.mask_file = own.string();
    view.mask_kind = MaskKind::kBlack;
    return;
  }
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
  return read_image_file(path,
                         [&](const HeaderSize& size, std::string_view) { check_size(path, size, camera); });
}

Image<std::uint8_t> decode(const std::string& content, const View& view, const Camera& camera,
                           std::string& damage) {
  if (const auto size = header_size(content)) check_size(view.mask_file, *size, camera);
  Image<std::uint8_t> mask = decode_mask(content, view.mask_file, view.mask_kind, &damage);
  check_size(view.mask_file, size_of(mask), camera);
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
  if (std::ranges::find(ignored, true) == ignored.end()) return {};
  std::vector<Observation>& observations = view.observations.edit();
  for (std::size_t i = 0; i < ignored.size(); ++i)
    if (ignored[i]) observations[i].point_id = kNoPoint;
  return ignored;
}

/// @param ignored  observations by view; an empty list where none is
void shorten_tracks(Scene& scene, const std::vector<std::vector<bool>>& ignored) {
  if (std::ranges::all_of(ignored, [](const auto& list) { return list.empty(); })) return;
  const auto is_ignored = [&](const TrackElement& element) {
    const std::vector<bool>& list = ignored[element.view];
    return !list.empty() && list[element.observation];
  };
  std::vector<SparsePoint>& points = scene.points.edit();
  std::erase_if(points, [&](const SparsePoint& point) {
    return !point.track.empty() && std::ranges::all_of(point.track, is_ignored);
  });
  for (SparsePoint& point : points) std::erase_if(point.track, is_ignored);
}

/// Warns where hardly a pixel of any photo is used.
/// @param used  shares by view; 1 without a mask
void warn_of_black_masks(const Scene& scene, const std::vector<double>& used, Findings& findings) {
  constexpr double kHardlyAny = 0.01;
  if (used.empty() || std::ranges::max(used) > kHardlyAny) return;
  findings.warn(scene.views.front().mask_file +
                ": the masks ignore 99 % or more of every photo, so that there is next to nothing to "
                "reconstruct: black is ignored, and all else is used; are they inverted?");
}

/// Whether a file in the folder of the masks is the mask of a photo, also of one that the model does not
/// have.
bool is_of_a_photo(const SceneFolder& folder, const std::string& file) {
  const fs::path photo = folder.images / fs::path(file).replace_extension();
  return file.ends_with(".png") && if_readable([&] { return is_there(photo); }, true);
}

/// Of views without a mask, the one that a misnamed mask seems to be of: its photo's name, without its ending
/// and in any case, is a part of the file's. The longest such name; else the first view.
const View& view_meant_by(const std::string& file, const std::vector<const View*>& without) {
  const std::string name = lower_case(file);
  const auto stem = [](const View* view) { return lower_case(fs::path(view->name).stem().string()); };
  const auto length = [&](const View* view) {
    return name.find(stem(view)) == std::string::npos ? 0 : stem(view).size();
  };
  return **std::ranges::max_element(without, {}, length);
}

/// Warns of masks that have the name of no photo, where views have none.
void warn_of_misnamed_masks(const SceneInput& input, Findings& findings) {
  const SceneFolder& folder = input.folder;
  const fs::path root = folder.masks.lexically_normal();
  std::set<std::string> used;
  std::vector<const View*> without;
  for (const View& view : input.scene.views)
    if (view.mask_file.empty())
      without.push_back(&view);
    else
      used.insert(fs::path(view.mask_file).lexically_normal().lexically_relative(root).string());
  if (folder.masks.empty() || without.empty()) return;
  std::set<std::string> misnamed;
  for (const auto& [name, files] : files_by_name(folder.masks))
    for (const std::string& file : files)
      if (!name.starts_with('.') && is_image_name(file) && !used.contains(file) &&
          !is_of_a_photo(folder, file))
        misnamed.insert(file);
  const std::string view = view_meant_by(misnamed.empty() ? "" : *misnamed.begin(), without).name;
  if (used.empty())
    findings.warn(fmt::format("{}: no view has a mask there; that of {} would be {}.png",
                              folder.masks.string(), view, view));
  else if (!misnamed.empty())
    findings.warn(
        fmt::format("{}: {} of the masks there {} the name of no photo, such as {}; that of {} "
                    "would be {}.png",
                    folder.masks.string(), misnamed.size(), misnamed.size() == 1 ? "has" : "have",
                    with_escapes(*misnamed.begin()), view, view));
}

}  // namespace

Image<std::uint8_t> read_mask(const View& view, const Camera& camera) {
  std::string damage;  // said by read_masks
  return decode(read_content(view.mask_file, camera), view, camera, damage);
}

Image<std::uint8_t> undistorted_mask(const ScenePlan& plan, int view, ImageView<const std::uint8_t> mask) {
  const auto& face = plan.scene_view(view).face;
  const Camera& camera = plan.photo_camera(view);
  const Pinhole& target = plan.view(view).camera;
  return face ? undistort_face_mask(mask, camera, target, face->face_from_photo)
              : undistort_mask(mask, camera, target);
}

Image<std::uint8_t> prepared_mask(const SceneProducts& products, int view) {
  const View& it = products.plan.scene_view(view);
  const ViewPlan& plan = products.plan.view(view);
  Image<std::uint8_t> mask;
  if (!it.mask_hash.empty()) {
    const fs::path path = products.workspace.path(Workspace::mask_file(plan.output_name));
    mask = decode_mask(read_image_file(path), path.string());
  }
  if (it.face) {
    if (mask.empty()) mask = Image<std::uint8_t>(plan.camera.width, plan.camera.height, 255);
    ignore_margin(plan.camera, mask);
  }
  return mask;
}

std::vector<LeftOut> read_masks(SceneInput& input, const HostLimits& host, Findings& findings) {
  std::vector<View>& views = input.scene.views;
  std::vector<std::string> errors(views.size()), damages(views.size());
  std::vector<std::vector<bool>> ignored(views.size());
  std::vector<double> used(views.size(), 1);
  const int at_once = photos_at_once(input.scene, host);
  bounded_parallel_for(static_cast<int>(views.size()), at_once, [&](int i) {
    check_interrupted();
    View& view = views[i];
    try {
      find_mask(input.folder, view);
      if (view.mask_file.empty()) return;
      const Camera& camera = input.scene.cameras[view.camera];
      const std::string content = read_content(view.mask_file, camera);
      const Image<std::uint8_t> mask = decode(content, view, camera, damages[i]);
      ignored[i] = ignore_observations(view, mask);
      used[i] = share_of(mask, [](std::uint8_t pixel) { return pixel != 0; });
      view.mask_hash = content_hash(content);
    } catch (const InputError& fault) {
      errors[i] = fault.what();
    }
  });
  shorten_tracks(input.scene, ignored);

  std::vector<LeftOut> unusable, damaged;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!errors[i].empty()) unusable.push_back({views[i].name, errors[i]});
    if (errors[i].empty() && !damages[i].empty()) damaged.push_back({views[i].mask_file, damages[i]});
  }
  findings.warn_of_damage(damaged);
  warn_of_black_masks(input.scene, used, findings);
  const int masked = count_masked(input.scene);
  if (masked > 0) messages().info("masks: {} of {} views have one", masked, views.size());
  warn_of_misnamed_masks(input, findings);
  return unusable;
}

namespace {

/// What the photos say that were inspected.
struct Inspection {
  std::mutex mutex;
  SampleRange range;
  std::vector<std::string> all_transparent;
};

/// Adds what the photo of a view says; a photo that cannot be read, or is not of its camera's size, says
/// nothing, which is reported when it is used. @returns the observations on ignored pixels, as
/// `ignore_observations`
std::vector<bool> inspect(const SceneInput& input, View& view, Inspection& inspection) {
  const fs::path file = input.folder.images / view.photo_file();
  PhotoSamples samples;
  std::string content;
  try {
    if (is_plain_photo(file)) return {};
    content = read_content(file, input.scene.cameras[view.camera]);
    if (has_plain_samples(content)) return {};
    samples = inspect_photo(content, file.string());
  } catch (const InputError&) {
    return {};
  }
  view.levelled = !samples.range.empty();
  {
    const std::lock_guard lock(inspection.mutex);
    inspection.range.include(samples.range);
    if (samples.all_transparent) inspection.all_transparent.push_back(view.name);
  }
  const Camera& camera = input.scene.cameras[view.camera];
  if (!view.mask_file.empty() || samples.mask.width() != camera.width ||
      samples.mask.height() != camera.height)
    return {};
  view.mask_file = file.string();
  view.mask_kind = MaskKind::kTransparent;
  view.mask_hash = content_hash(content);
  return ignore_observations(view, samples.mask);
}

}  // namespace

void inspect_photos(SceneInput& input, const std::vector<LeftOut>& left_out, const HostLimits& host,
                    Findings& findings) {
  std::vector<View>& views = input.scene.views;
  std::vector<std::vector<bool>> ignored(views.size());
  Inspection inspection;
  const int masked_before = count_masked(input.scene);
  const int at_once = photos_at_once(input.scene, host);
  bounded_parallel_for(static_cast<int>(views.size()), at_once, [&](int i) {
    check_interrupted();
    if (!is_left_out(left_out, views[i].name)) ignored[i] = inspect(input, views[i], inspection);
  });
  shorten_tracks(input.scene, ignored);
  input.levels = levels_of(inspection.range);
  if (input.levels == SampleLevels{})
    for (View& view : views) view.levelled = false;
  if (const int masked = count_masked(input.scene) - masked_before; masked > 0)
    messages().info("masks: {} of {} photos have transparent pixels, which are ignored", masked,
                    views.size());
  std::vector<std::string>& names = inspection.all_transparent;
  if (!names.empty())
    findings.warn(fmt::format("{} photo{} transparent everywhere, such as {}; the transparency is ignored",
                              names.size(), names.size() == 1 ? " is" : "s are",
                              *std::ranges::min_element(names)));
}

}  // namespace recon
