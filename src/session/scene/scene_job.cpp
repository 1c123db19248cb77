#include "session/scene/scene_job.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/content_hash.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/parallel.hpp"
#include "core/progress.hpp"
#include "io/file/output_file.hpp"
#include "io/image/image_file.hpp"
#include "session/products/masks.hpp"
#include "session/scene/exports.hpp"
#include "session/scene/read_scene.hpp"

namespace recon {

SceneJob::SceneJob(const SessionOptions& session_options, SceneFolder folder, Workspace output,
                   HostLimits limits)
    : options(session_options),
      settings(session_options),
      targets(settings),
      host(limits),
      input{std::move(folder), {}, {}, {}, {}, {}},
      overwrite_note(session_options, output.root(), {input.folder.root}),
      products(plan, std::move(output), input.folder.images, settings.matching,
               session_options.overwrite || overwrite_note.is_there()),
      inputs(options.recorded({settings.matching.method, false}), settings, input, products) {}

void SceneJob::read() {
  const std::vector<LeftOut> left_out =
      read_scene(input, settings, products.workspace.root(), host, findings);
  products.photos.set_levels(input.levels);
  replan(left_out);
  if (input.scene.points.empty() && !input.given.any()) {
    input.photo_points = points_of_photos(input.scene, products, host);
    if (!input.photo_points.empty()) replan(plan.left_out);
  }
  if (targets.does(Step::kExport)) check_prior_names(plan, settings.cloud.export_priors);
  if (targets.does(Step::kTiles)) check_tile_size(input.folder.root.string(), plan, settings.cloud);
  for (const std::string& warning : plan.warnings) messages().warn("{}", warning);
  if (const std::string note = plane_limit_note(plan); !note.empty()) messages().info("{}", note);
}

void SceneJob::replan(std::vector<LeftOut> left_out) {
  plan = make_plan(input, std::move(left_out), settings, findings);
}

double SceneJob::predicted(std::string_view step, int views, int of_all) const {
  for (const auto& [name, seconds] : predicted_steps)
    if (name == step) return std::max(0.0, seconds * views / std::max(1, of_all));
  return 0;
}

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

/// The photos of views: read, and with `write` undistorted into dense/images and dense/masks.
class Preparation {
 public:
  Preparation(SceneJob& job, bool write) : job_(job), write_(write), stale_(products_, Step::kPrepare) {}

  /// @returns those that cannot be used
  std::vector<LeftOut> prepare(const std::vector<int>& views) {
    std::vector<std::vector<int>> photos;
    for (const auto& [name, of_photo] : plan_.by_photo(views)) photos.push_back(of_photo);
    std::vector<PhotoState> states(photos.size());
    Progress progress(write_ ? step_name(Step::kPrepare) : "reading photos", static_cast<int>(views.size()),
                      progress_style(job_.quiet));
    bounded_parallel_for(static_cast<int>(photos.size()), photos_at_once(plan_, job_.host), [&](int i) {
      check_interrupted();
      try {
        states[i] = prepare_photo(photos[i]);
      } catch (const InputError& error) {
        states[i].error = error.what();
      }
      if (states[i].kept > 0) progress.keep(states[i].kept);
      if (const int done = static_cast<int>(photos[i].size()) - states[i].kept; done > 0)
        progress.advance(done);
    });

    std::vector<LeftOut> unusable, damaged;
    for (std::size_t i = 0; i < photos.size(); ++i) {
      const auto& [hash, damage, error, kept] = states[i];
      const std::string& photo = plan_.scene_view(photos[i].front()).photo_name();
      if (!error.empty()) {
        unusable.push_back({photo, error});
        continue;
      }
      if (!damage.empty() && !products_.photo_hashes.contains(plan_.name(photos[i].front())))
        damaged.push_back({products_.photos.photo_file(plan_, photos[i].front()).string(), damage});
      for (const int view : photos[i]) products_.photo_hashes[plan_.name(view)] = hash;
    }
    job_.findings.warn_of_left_out(unusable);
    job_.findings.warn_of_damage(damaged);
    return unusable;
  }

 private:
  /// Reads a photo and writes the images of its views that an earlier run did not.
  /// @throws InputError when the photo cannot be used
  PhotoState prepare_photo(const std::vector<int>& views) {
    const std::string content = products_.photos.read(plan_, views.front()), hash = content_hash(content);
    DecodedPhoto photo;
    int kept_views = 0;
    for (const int view : views) {
      StepRecord record;
      record.inputs = job_.inputs.prepare(view, hash);
      if (const StepRecord* kept =
              products_.results.find(products_.key(Step::kPrepare, view), record.inputs)) {
        if (const auto it = kept->result.find("damage"); it != kept->result.end() && it->is_string())
          photo.damage = it->get<std::string>();
        ++kept_views;
        continue;
      }
      if (write_) stale_.add(view);
      if (!photo.pixels) photo.pixels = products_.photos.decode(plan_, view, content, photo.damage);
      const auto image = products_.photos.add(plan_, view, *photo.pixels);
      if (write_) write_view(view, content, *image, photo, std::move(record));
    }
    return {hash, photo.damage, {}, kept_views};
  }

  /// Writes the undistorted image of a view, and its mask.
  void write_view(int view, const std::string& content, const Image<Rgb8>& image, DecodedPhoto& photo,
                  StepRecord record) {
    const ViewPlan& plan = plan_.view(view);
    const ResultKey key = products_.key(Step::kPrepare, view);
    products_.results.begin(key);
    const std::string file = Workspace::image_file(plan.output_name);
    const std::filesystem::path path = products_.workspace.path(file);
    record.outputs.push_back(
        {file, plan.unchanged ? write_file(path, content) : write_image(path, image.view())});
    write_mask(view, photo, record);
    record.result = {{"width", image.width()}, {"height", image.height()}};
    if (!photo.damage.empty()) record.result["damage"] = photo.damage;
    products_.results.put(key, std::move(record));
  }

  void write_mask(int view, DecodedPhoto& photo, StepRecord& record) const {
    const View& it = plan_.scene_view(view);
    if (it.mask_hash.empty()) return;
    if (!photo.mask)
      photo.mask = it.mask_file.empty() ? Image<std::uint8_t>() : read_mask(it, plan_.photo_camera(view));
    const std::string file = Workspace::mask_file(plan_.view(view).output_name);
    const Image<std::uint8_t> mask = undistorted_mask(plan_, view, photo.mask->view());
    record.outputs.push_back({file, write_image(products_.workspace.path(file), mask.view())});
  }

  SceneJob& job_;
  const bool write_;
  SceneProducts& products_ = job_.products;
  const ScenePlan& plan_ = job_.plan;
  StaleNotice stale_;
};

}  // namespace

/// A photo that cannot be used is left out, which changes the sources of others, and so which are needed.
void SceneJob::prepare(bool write) {
  Preparation preparation(*this, write);
  for (;;) {
    std::vector<int> views;
    for (const int view : plan.needed_views())
      if (!products.photo_hashes.contains(plan.name(view)) ||
          (write && !products.result(Step::kPrepare, view)))
        views.push_back(view);
    if (views.empty()) break;
    const std::vector<LeftOut> unusable = preparation.prepare(views);
    if (unusable.empty()) continue;
    std::vector<LeftOut> left_out = plan.left_out;
    left_out.insert(left_out.end(), unusable.begin(), unusable.end());
    replan(std::move(left_out));
    // Other photos may be needed now.
    if (write) products.workspace.owned().claim(files_to_write(output()));
  }
  if (write) log_kept(products, Step::kPrepare, plan.needed_views(), true);
}

}  // namespace recon
