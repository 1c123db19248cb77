#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/progress.hpp"
#include "io/file/output_file.hpp"
#include "io/image/image_file.hpp"
#include "session/scene/output_files.hpp"
#include "session/scene/scene_run.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

namespace {

/// A photo and its mask, decoded for the first view that needs them.
struct DecodedPhoto {
  std::optional<Image<Rgb8>> pixels;
  std::optional<Image<std::uint8_t>> mask;
  std::string damage;  ///< what is wrong with its file all the same
};

/// What a look at a photo says.
struct PhotoState {
  std::string hash;
  std::string damage;  ///< as of DecodedPhoto
  std::string error;   ///< why it cannot be used; empty: it can
  int kept = 0;        ///< views whose images an earlier run wrote
};

/// Writes the undistorted mask of a view that has one.
void write_mask(const SceneRun& run, int view, DecodedPhoto& photo, StepRecord& record) {
  const View& it = run.plan.scene_view(view);
  if (it.mask_hash.empty()) return;
  if (!photo.mask)
    photo.mask = it.mask_file.empty() ? Image<std::uint8_t>() : read_mask(it, run.plan.photo_camera(view));
  const std::string file = Workspace::mask_file(run.plan.view(view).output_name);
  const Image<std::uint8_t> mask = undistorted_mask(run, view, photo.mask->view());
  record.outputs.push_back({file, write_image(run.workspace.path(file), mask.view())});
}

/// Writes the undistorted image of a view, and its mask.
void write_view(SceneRun& run, int view, const std::string& content, const Image<Rgb8>& image,
                DecodedPhoto& photo, StepRecord record) {
  const ViewPlan& plan = run.plan.view(view);
  const std::string file = Workspace::image_file(plan.output_name);
  const std::filesystem::path path = run.workspace.path(file);
  record.outputs.push_back(
      {file, plan.unchanged ? write_file(path, content) : write_image(path, image.view())});
  write_mask(run, view, photo, record);
  record.result = {{"width", image.width()}, {"height", image.height()}};
  if (!photo.damage.empty()) record.result["damage"] = photo.damage;
  run.results.put(run.key(Step::kPrepare, view), std::move(record));
}

/// Reads a photo and, with `write`, writes the undistorted images of its views, unless an earlier run did;
/// returns the state of the photo.
/// @throws InputError when the photo cannot be used
PhotoState prepare_photo(SceneRun& run, const std::vector<int>& views, bool write) {
  const std::string content = run.photos.read(run.plan, views.front()), hash = content_hash(content);
  DecodedPhoto photo;
  int kept_views = 0;
  for (const int view : views) {
    StepRecord record;
    record.inputs = prepare_inputs(run, view, hash);
    if (const StepRecord* kept = run.results.find(run.key(Step::kPrepare, view), record.inputs)) {
      if (const auto it = kept->result.find("damage"); it != kept->result.end() && it->is_string())
        photo.damage = it->get<std::string>();
      ++kept_views;
      continue;
    }
    if (!photo.pixels) photo.pixels = run.photos.decode(run.plan, view, content, photo.damage);
    const auto image = run.photos.add(run.plan, view, *photo.pixels);
    if (write) write_view(run, view, content, *image, photo, std::move(record));
  }
  return {hash, photo.damage, {}, kept_views};
}

/// Views by their photos.
std::vector<std::vector<int>> by_photo(const ScenePlan& plan, const std::vector<int>& views) {
  std::map<std::string, std::vector<int>> photos;
  for (const int view : views) photos[plan.scene_view(view).photo_name()].push_back(view);
  std::vector<std::vector<int>> lists;
  for (auto& [name, list] : photos) lists.push_back(std::move(list));
  return lists;
}

/// Prepares `views`, or with `write` false only reads their photos; returns those that cannot be used.
std::vector<LeftOut> prepare(SceneRun& run, const std::vector<int>& views, bool write) {
  const std::vector<std::vector<int>> photos = by_photo(run.plan, views);
  const bool first_look = !run.photo_hashes.contains(run.plan.name(views.front()));
  std::vector<PhotoState> states(photos.size());
  Progress progress(write ? step_name(Step::kPrepare) : "reading photos", static_cast<int>(views.size()),
                    progress_style(run.options.quiet));
  bounded_parallel_for(static_cast<int>(photos.size()),
                       photos_at_once(run.plan, run.memory.limit, run.threads), [&](int i) {
                         check_interrupted();
                         try {
                           states[i] = prepare_photo(run, photos[i], write);
                         } catch (const InputError& error) {
                           states[i].error = error.what();
                         }
                         if (states[i].kept > 0) progress.keep(states[i].kept);
                         if (const int done = static_cast<int>(photos[i].size()) - states[i].kept; done > 0)
                           progress.advance(done);
                       });

  std::vector<LeftOut> unusable, damaged;
  std::vector<int> usable;
  for (std::size_t i = 0; i < photos.size(); ++i) {
    const auto& [hash, damage, error, kept] = states[i];
    const std::string& photo = run.plan.scene_view(photos[i].front()).photo_name();
    if (!error.empty()) {
      run.warn(photo + " is left out: " + error);
      unusable.push_back({photo, error});
      continue;
    }
    if (!damage.empty() && !run.photo_hashes.contains(run.plan.name(photos[i].front())))
      damaged.push_back({run.photos.photo_file(run.plan, photos[i].front()).string(), damage});
    for (const int view : photos[i]) run.photo_hashes[run.plan.name(view)] = hash;
    usable.insert(usable.end(), photos[i].begin(), photos[i].end());
  }
  warn_of_damage(run, damaged);
  if (first_look) log_kept(run, Step::kPrepare, usable);
  return unusable;
}

/// A photo found unusable changes the sources of others, and so which photos are needed: until no more are
/// found.
void prepare_needed(SceneRun& run, bool write) {
  for (;;) {
    std::vector<int> views;
    for (const int view : run.plan.needed_views())
      if (!run.photo_hashes.contains(run.plan.name(view)) || (write && !run.result(Step::kPrepare, view)))
        views.push_back(view);
    if (views.empty()) return;
    const std::vector<LeftOut> unusable = prepare(run, views, write);
    if (unusable.empty()) continue;
    std::vector<LeftOut> left_out = run.plan.left_out;
    left_out.insert(left_out.end(), unusable.begin(), unusable.end());
    make_plan(run, left_out);
    if (write) run.workspace.owned().claim(files_to_write(run));  // other photos may be needed now
  }
}

}  // namespace

void warn_of_damage(SceneRun& run, const std::vector<LeftOut>& files) {
  constexpr std::size_t kNamed = 10;
  for (std::size_t i = 0; i < std::min(kNamed, files.size()); ++i)
    run.warn(files[i].name + ": " + files[i].reason);
  if (files.size() > kNamed)
    run.warn(fmt::format("{} more files are damaged and used as they are, such as {}: {}",
                         files.size() - kNamed, files[kNamed].name, files[kNamed].reason));
}

void check_photos(SceneRun& run) {
  prepare_needed(run, false);
}

void prepare_views(SceneRun& run) {
  prepare_needed(run, true);
}

}  // namespace recon
