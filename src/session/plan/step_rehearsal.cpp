#include "session/plan/step_rehearsal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <system_error>

#include "core/large_memory.hpp"
#include "io/image_file.hpp"
#include "scene/undistort.hpp"
#include "session/plan/plan_pairs.hpp"
#include "session/plan/step_clock.hpp"
#include "session/scene/dense_model.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

constexpr double kWall = 2.0;      ///< its distance from the cameras
constexpr double kBaseline = 0.1;  ///< from one camera to the next

/// By which the cameras look to one side and the other, radians: so little that all depths agree, but real
/// cameras never stand exactly side by side either, and what is turned by nothing takes a quarter of the
/// time; see turning_samples.
constexpr double kYaw = 0.003;

std::uint32_t hashed(int x, int y) {
  std::uint32_t h = static_cast<std::uint32_t>(x) * 0x85EBCA6Bu ^ static_cast<std::uint32_t>(y) * 0xC2B2AE35u;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  return (h ^ h >> 12) >> 24;
}

/// What every camera sees: patches, and where `rough` noise on them.
Image<Rgb8> photo(int width, int height, bool rough) {
  Image<Rgb8> image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const std::uint32_t patch = hashed(x / 6, y / 6), noise = rough ? hashed(x, y) / 8 : 0;
      const auto level = [&](std::uint32_t value) {
        return static_cast<std::uint8_t>(value * 7 / 8 + noise);
      };
      image(x, y) = {level(patch), level(patch / 2 + 60), level(255 - patch)};
    }
  return image;
}

/// A backend that knows the answer: the wall, with gaps and errors by patches.
class KnownBackend : public Backend {
 public:
  KnownBackend(int width, int height, int lanes)
      : lanes_(lanes), depth_(width, height), sure_(width, height, 0.3f) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const std::uint32_t patch = hashed(x / 8, y / 8);
        const double factor = patch < 80 ? std::numeric_limits<double>::quiet_NaN() : patch < 112 ? 1.1 : 1.0;
        depth_(x, y) = static_cast<float>(kWall * factor);
      }
  }

  std::string name() const override { return "rehearsal"; }
  int lanes() const override { return lanes_; }
  WorkMemory memory(const SweepShape&) const override { return {}; }
  DepthEstimate sweep(const SweepProblem&) override { return {depth_.clone(), sure_.clone(), sure_.clone()}; }
  WorkMemory pair_memory(int, int, const PairOptions&) const override { return {}; }
  DisparityMap match(const PairProblem& problem) override {
    Image<float> disparity(problem.images.left.width, problem.images.left.height);
    const DisparityRange range = problem.options.range;
    // By patches, as this takes time that no real matching takes.
    constexpr int kPatch = 16;
    for (int y = 0; y < disparity.height(); ++y)
      for (int x = 0; x < disparity.width(); x += kPatch) {
        const std::uint32_t patch = hashed(x, y / kPatch);
        const float value =
            patch < 80 ? std::numeric_limits<float>::quiet_NaN()
                       : static_cast<float>(range.min + range.count / 2) + static_cast<float>(patch % 4);
        std::fill_n(disparity.row(y) + x, std::min(kPatch, disparity.width() - x), value);
      }
    return {std::move(disparity)};
  }

 private:
  int lanes_;
  Image<float> depth_, sure_;
};

/// A folder that is gone at the end.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& parent)
      : path_(parent / ("rehearsal-" + std::to_string(::getpid()))) {
    std::error_code error;
    fs::create_directories(path_ / "images", error);
    if (error) throw OutputError(path_.string() + ": cannot be created: " + error.message());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// One scene to rehearse with.
struct RehearsalScene {
  int views, width, height, sources;
  bool rough;
};

std::string view_name(int view, const std::string& extension) {
  return "view" + std::to_string(100 + view) + extension;
}

/// Points on the wall, each seen by three cameras in a row.
void add_points(Scene& scene, int count) {
  const Camera& camera = scene.cameras.front();
  const int views = static_cast<int>(scene.views.size());
  for (int i = 0; i < count; ++i) {
    SparsePoint point;
    point.id = static_cast<std::uint64_t>(i + 1);
    const int first = i % (views - 2);
    point.position = {kBaseline * (first + 1) + 0.8 * (hashed(i, 1) / 256.0 - 0.5),
                      0.8 * (hashed(i, 2) / 256.0 - 0.5), kWall};
    for (int v = first; v < first + 3; ++v) {
      View& view = scene.views[static_cast<std::size_t>(v)];
      const std::optional<Vec2d> pixel = project(camera, view.cam_from_world * point.position);
      if (!pixel) continue;
      point.track.push_back({v, static_cast<std::uint32_t>(view.observations.size())});
      view.observations.push_back({*pixel, point.id});
    }
    scene.points.push_back(std::move(point));
  }
}

/// The pose of a camera that looks along z, turned about its y axis.
Pose looking_aside(Vec3d centre, double yaw) {
  Pose pose;
  const double c = std::cos(yaw), s = std::sin(yaw);
  pose.rotation = {{c, 0, -s, 0, 1, 0, s, 0, c}};
  pose.translation = -1.0 * (pose.rotation * centre);
  return pose;
}

Scene make_scene(const RehearsalScene& size, const PhotoKind& kind) {
  Camera camera;
  const double focal = size.width;
  camera.width = size.width;
  camera.height = size.height;
  camera.model = kind.turned ? CameraModel::kSimpleRadial : CameraModel::kPinhole;
  camera.params = kind.turned ? std::vector<double>{focal, 0.5 * size.width, 0.5 * size.height, -0.03}
                              : std::vector<double>{focal, focal, 0.5 * size.width, 0.5 * size.height};
  Scene scene;
  scene.camera_ids = {1};
  scene.cameras = {camera};
  for (int i = 0; i < size.views; ++i) {
    View view;
    view.id = static_cast<std::uint32_t>(i + 1);
    view.name = view_name(i, kind.extension);
    view.cam_from_world = looking_aside({kBaseline * i, 0, 0}, i % 2 == 0 ? kYaw : -kYaw);
    scene.views.push_back(std::move(view));
  }
  constexpr int kFewPoints = 100, kManyPoints = 1500;  // a view
  add_points(scene, size.views * (size.rough ? kManyPoints : kFewPoints));
  return scene;
}

/// The plan that the scene would get: the nearest cameras are the sources.
ScenePlan make_scene_plan(const RehearsalScene& size, const Rehearsal& rehearsal) {
  ScenePlan plan;
  plan.scene = make_scene(size, rehearsal.photos);
  for (int i = 0; i < size.views; ++i) {
    ViewPlan view;
    view.camera = undistorted_camera(plan.scene.cameras.front());
    view.unchanged = !rehearsal.photos.turned;
    view.output_name = plan.scene.views[static_cast<std::size_t>(i)].name;
    const int first = std::clamp(i - size.sources / 2, 0, size.views - 1 - size.sources);
    for (int source = first; source <= first + size.sources; ++source)
      if (source != i) view.sources.push_back(source);
    view.range = {0.7 * kWall, 2 * kWall};
    view.planes = 64;
    view.in_scope = view.active = view.needed = true;
    plan.views.push_back(std::move(view));
  }
  const Method method = rehearsal.options.method_of(false);
  std::string refusal;
  if (method != Method::kPlaneSweep)
    for (int i = 0; i < size.views; ++i)
      plan.views[static_cast<std::size_t>(i)].pairs = plan_pairs(plan, i, pair_method(method), refusal);
  return plan;
}

MemoryPlan ample_memory(std::size_t limit, int threads, int views) {
  MemoryPlan memory;
  memory.limit = limit;
  memory.photo_cache = memory.map_cache = limit / 4;
  memory.spare_streams = threads > 1;
  memory.check_at_once = threads;
  memory.writes_waiting = 4;
  memory.fusion_views = views;
  return memory;
}

StepSize size_of(const ScenePlan& plan, double others) {
  StepSize size;
  for (const ViewPlan& view : plan.views) {
    const double pixels = static_cast<double>(view.camera.width) * view.camera.height;
    size.views += 1;
    size.pixels += pixels;
    size.against += pixels * others;
  }
  return size;
}

double mean_overlaps(const ScenePlan& plan) {
  double sum = 0;
  for (const std::vector<int>& others : plan.overlaps()) sum += static_cast<double>(others.size());
  return sum / static_cast<double>(plan.views.size());
}

/// Options under which the known depths pass the filters.
SessionOptions lenient_options(SessionOptions options) {
  const PhotometricFilterOptions given = options.filter;
  options.filter = {};
  options.filter.speckle_size = given.speckle_size;
  options.filter.median = given.median;
  options.max_cost.reset();
  options.consistency = {};
  options.min_fused_views = 2;
  options.quiet = options.overwrite = true;
  options.views = "*";
  options.shard = {};
  options.stage = Stage::kAll;
  return options;
}

/// Runs the steps on one scene; what they count as, and their times.
std::vector<MeasuredTask> rehearse(const RehearsalScene& size, const Rehearsal& rehearsal,
                                   const SessionOptions& options, const fs::path& parent) {
  const TemporaryFolder folder(parent);
  const Image<Rgb8> image = photo(size.width, size.height, size.rough);
  double bytes = 0;
  for (int i = 0; i < size.views; ++i) {
    const fs::path file = folder.path() / "images" / view_name(i, rehearsal.photos.extension);
    write_image(file, image.view());
    bytes += static_cast<double>(fs::file_size(file));
  }
  SceneRun run(options, {folder.path(), folder.path() / "images", folder.path()},
               Workspace(folder.path() / "dense"), rehearsal.threads);
  run.plan = make_scene_plan(size, rehearsal);
  run.scene = keep_views(run.plan.scene, std::vector<bool>(run.plan.views.size(), true));
  run.memory = ample_memory(rehearsal.memory_limit, rehearsal.threads, size.views);
  run.photos.set_budget(run.memory.photo_cache);
  run.photometric = std::make_unique<MapStore>(run.workspace, MapKind::kPhotometric, run.memory.map_cache);
  run.geometric = std::make_unique<MapStore>(run.workspace, MapKind::kGeometric, run.memory.map_cache);
  const Pinhole& camera = run.plan.view(0).camera;
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(std::make_unique<KnownBackend>(camera.width, camera.height, rehearsal.lanes));

  StepClock clock;
  prepare_views(run);
  clock.end("rehearsal: undistorting");
  write_dense_model(run);
  clock.end("rehearsal: model");
  estimate_views(run, backends);
  clock.end("rehearsal: depth maps");
  check_views(run);
  clock.end("rehearsal: check across views");
  run.photometric->forget();
  fuse_views(run);
  clock.end("rehearsal: fusion");
  release_kept_memory();  // the next scene is another
  const StepSize seen = size_of(run.plan, size.sources),
                 overlaps = size_of(run.plan, mean_overlaps(run.plan));
  const StepTimes& times = clock.times();
  const StepSize photos = in_rounds(seen, rehearsal.threads);
  StepSize matched = seen;
  if (run.job.method != Method::kPlaneSweep) {
    matched.against = 0;
    const int channels = run.options.in_colour(run.job) ? 3 : 1;
    for (int i = 0; i < size.views; ++i) matched.against += pair_samples(run.plan, i, channels);
  }
  return {{photos_task(rehearsal.photos, photos, bytes * photos.views / seen.views), times[0].second},
          {model_task(size.views, observations_of(run.plan.scene)), times[1].second},
          {maps_task(run.job.method, matched, rehearsal.lanes), times[2].second},
          {check_task(seen, rehearsal.threads), times[3].second},
          {fusion_task(overlaps, options.point_spacing), times[4].second}};
}

StageTask step_task(std::string name, const StepSize& size) {
  StageTask task;
  task.stage = std::move(name);
  task.work.calls = size.views;
  task.work.pixels = size.pixels;
  task.work.operations = size.against;
  task.pixels = std::max(1.0, size.pixels / std::max(1.0, size.views));
  task.planes = std::max(1.0, size.views);
  task.sources = std::max(1.0, size.against / std::max(1.0, size.pixels));
  return task;
}

}  // namespace

double observations_of(const Scene& scene) {
  double count = 0;
  for (const View& view : scene.views) count += static_cast<double>(view.observations.size());
  return count;
}

StepSize in_rounds(const StepSize& size, int at_once) {
  if (size.views <= 0) return size;
  const double factor = std::ceil(size.views / at_once) * at_once / size.views;
  return {size.views * factor, size.pixels * factor, size.against * factor};
}

StepSize with_waiting(const StepSize& size, int at_once) {
  if (size.views <= 0) return size;
  const double factor = (size.views + 0.5 * (at_once - 1)) / size.views;
  return {size.views * factor, size.pixels * factor, size.against * factor};
}

double pair_samples(const ScenePlan& plan, int view, int channels) {
  const ViewPlan& reference = plan.view(view);
  double samples = 0;
  for (const ViewPair& it : reference.pairs) {
    const RectifiedPair& pair = it.pair;
    const double pixels = static_cast<double>(pair.left.width) * pair.left.height;
    const int left = turning_samples(reference.camera, pair.left),
              right = turning_samples(plan.view(it.source).camera, pair.right);
    // One map is carried back.
    samples += channels * pixels * (left + right) +
               static_cast<double>(reference.camera.width) * reference.camera.height;
  }
  return samples;
}

StageTask photos_task(const PhotoKind& kind, const StepSize& size, double bytes) {
  StageTask task = step_task("step photos " + kind.extension + (kind.turned ? " turned" : ""), size);
  task.work.operations = 0;
  task.work.bytes = bytes;
  task.sources = 1;
  return task;
}

StageTask maps_task(Method method, const StepSize& size, int lanes) {
  return step_task("step maps " + std::string(method_keyword(method)) + " lanes" + std::to_string(lanes),
                   size);
}

StageTask check_task(const StepSize& size, int at_once) {
  StepSize waiting = with_waiting(size, at_once);
  waiting.against = size.against;  // which all threads share
  return step_task("step check", waiting);
}

StageTask model_task(double views, double observations) {
  return step_task("step model", {views, observations, 0});
}

StageTask fusion_task(const StepSize& size, int spacing) {
  return step_task("step fusion spacing" + std::to_string(spacing), size);
}

void rehearse_steps(const Rehearsal& rehearsal, const fs::path& folder, PerformanceModel& model) {
  const SessionOptions options = lenient_options(rehearsal.options);
  const Method method = options.method_of(false);
  for (const StageTask& task : {photos_task(rehearsal.photos, {}, 0), maps_task(method, {}, rehearsal.lanes),
                                check_task({}, 1), model_task(0, 0), fusion_task({}, options.point_spacing)})
    model.forget(task.stage, 0);
  const int views = std::clamp(rehearsal.threads, 6, 24);
  // Of the larger scenes each view takes about 40 MB.
  constexpr std::size_t kAmple = std::size_t{1} << 30;
  const int scale = rehearsal.memory_limit < kAmple ? 1 : 2;
  rehearse({4, 160, 120, 2, true}, rehearsal, options, folder);  // warms up
  const RehearsalScene scenes[] = {{views, 160, 120, 2, true},
                                   {views, 320 * scale, 240 * scale, 2, true},
                                   {views, 160 * scale, 120 * scale, 5, false},
                                   {views, 320 * scale, 240 * scale, 5, false}};
  // By turns, as calls of stages are measured.
  constexpr int kRounds = 3;
  std::vector<std::vector<MeasuredTask>> rounds[std::size(scenes)];
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < std::size(scenes); ++i)
      rounds[i].push_back(rehearse(scenes[i], rehearsal, options, folder));
  for (const auto& of_scene : rounds)
    for (std::size_t step = 0; step < of_scene.front().size(); ++step) {
      std::vector<double> seconds;
      for (const std::vector<MeasuredTask>& steps : of_scene) seconds.push_back(steps[step].seconds);
      std::sort(seconds.begin(), seconds.end());
      model.add(of_scene.front()[step].task, seconds[seconds.size() / 2]);
    }
}

}  // namespace recon
