
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/parallel.hpp"
#include "core/pixels.hpp"
#include "core/quantile.hpp"
#include "fuse/planes/area_planes.hpp"
#include "fuse/planes/fill_planes.hpp"
#include "fuse/planes/ground.hpp"
#include "fuse/planes/sky.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "scene/corner_matches.hpp"
#include "session/products/filled_maps.hpp"
#include "session/scene/confirmed_depths.hpp"
#include "session/scene/prior_fits.hpp"
#include "session/scene/scene_graph.hpp"
#include "session/scene/scene_job.hpp"

namespace recon {

namespace {

/// About as many points rank the planes of a scene, at most; more gain nothing.
constexpr double kMaxPoints = 400000;
constexpr int kMinStep = 3;  ///< pixels between two points

Image<Rgb8> averaged(ImageView<const Rgb8> image, int factor) {
  const auto channel = [&](auto member) {
    return averaged(mapped<std::uint8_t>(image, [&](Rgb8 c) { return c.*member; }).view(), factor);
  };
  const auto red = channel(&Rgb8::r), green = channel(&Rgb8::g), blue = channel(&Rgb8::b);
  Image<Rgb8> result(red.width(), red.height());
  for (int y = 0; y < result.height(); ++y)
    for (int x = 0; x < result.width(); ++x) result(x, y) = {red(x, y), green(x, y), blue(x, y)};
  return result;
}

Vec3f narrowed(Vec3d a) {
  return {static_cast<float>(a.x), static_cast<float>(a.y), static_cast<float>(a.z)};
}

}  // namespace

/// The search for the planes of a scene and for the areas that they fill: each view is looked at once it and
/// its sources are estimated, and when all are done, their areas are labelled.
class PlaneSearch {
 public:
  explicit PlaneSearch(SceneGraph& graph) : graph_(graph), views_(plan_.views.size()) {
    double pixels = 0;
    for (const int view : plan_.views_in_scope()) {
      const Pinhole& camera = plan_.view(view).camera;
      views_[view].factor = plane_image_factor(camera);
      views_[view].camera = averaged(camera, views_[view].factor);
      pixels += static_cast<double>(views_[view].camera.width) * views_[view].camera.height;
    }
    step_ = std::max(kMinStep, static_cast<int>(std::ceil(std::sqrt(pixels / kMaxPoints))));
  }

  /// Sets which depths of a view its sources confirm, and its points.
  TaskEnd look(int view) {
    SmallView& it = views_[view];
    std::vector<DepthSource> sources;
    for (const int source : asked_of(view)) sources.push_back(depth_source(source));
    const auto maps = small_maps(view);
    ConfirmedDepths confirmed = confirmed_depths(
        maps->depth.view(), sources.size(), settings_, [&](const ConsistencyOptions& options) {
          return graph_.check_devices.count_agreement(view, depth_source(view), sources, options);
        });
    it.depth = std::move(confirmed.depth);
    it.reliability = std::move(confirmed.reliability);
    const Image<Rgb8> colours = colours_of(view);
    it.grey = mapped<std::uint8_t>(colours, luma);
    it.sky = possible_sky(colours.view());
    add_points(view, maps->normal.view());
    return TaskEnd::kDone;
  }

  /// Finds the planes and labels the areas of these views.
  void finish(const std::vector<int>& views) {
    StepRecord record;
    record.inputs = graph_.job.inputs.planes(views);  // of the files before they are read
    if (settings_.max_planes > 0) search_planes(views);
    const PriorFits priors = fitted_priors(views);
    products_.results.begin({Step::kPlanes});
    std::vector<Filled> filled(views.size());
    bounded_parallel_for(static_cast<int>(views.size()), graph_.job.memory.check_at_once, [&](int i) {
      check_interrupted();
      filled[i] = fill(views[i], priors);
      graph_.progress(Step::kPlanes).advance();
    });
    record.result = {{"planes", nlohmann::json::array()},
                     {"levels", planes_.size() - planes_of_areas_.size()},
                     {"areas", nlohmann::json::object()},
                     {"priors", nlohmann::json::object()},
                     {"prior_kind", priors.kind()}};
    for (const WorldPlane& it : planes_)
      record.result["planes"].push_back({it.normal.x, it.normal.y, it.normal.z, it.offset});
    for (std::size_t i = 0; i < views.size(); ++i) {
      const std::string& name = plan_.view(views[i]).output_name;
      std::ranges::copy(filled[i].files, std::back_inserter(record.outputs));
      if (filled[i].by_planes) record.result["areas"][name] = *filled[i].by_planes;
      if (!filled[i].prior.is_null()) record.result["priors"][name] = filled[i].prior;
    }
    products_.results.put({Step::kPlanes}, std::move(record));
    views_.clear();
  }

 private:
  /// A view in small.
  struct SmallView {
    int factor = 1;
    Pinhole camera;
    Image<float> depth;  ///< that sources confirm
    Image<float> reliability;
    Image<std::uint8_t> grey;
    Image<std::uint8_t> sky;  ///< areas of possible_sky; later of confirmed_sky
    std::vector<SurfacePoint> points;
  };

  /// What fills a view.
  struct Filled {
    std::vector<OutputFile> files;
    std::optional<double> by_planes;  ///< the share of its pixels; nothing: no area has a label
    nlohmann::json prior;             ///< null: it has none
  };

  ConfirmedView confirmed_view(int view) const {
    const SmallView& it = views_[view];
    return {view, it.camera, it.depth.view(), it.reliability.view()};
  }

  PriorFits fitted_priors(const std::vector<int>& views) const {
    std::vector<ConfirmedView> confirmed;
    for (const int view : views) confirmed.push_back(confirmed_view(view));
    const PriorMaps& maps = graph_.job.input.prior;
    const PriorSource source{maps.any(), [this, &maps](int view) { return maps.has(plan_.name(view)); },
                             [this, &maps](int view, const Pinhole& camera, PriorKind kind) {
                               return maps.read(plan_, view, camera, kind);
                             }};
    return {source, graph_.job.settings.prior.kind, confirmed, graph_.job.memory.check_at_once};
  }

  Filled fill(int view, const PriorFits& priors) const {
    Filled filled;
    const Image<std::uint8_t> labels = labels_of(view);
    if (std::optional<WrittenFile> file = label_file(view, labels.view(), filled.by_planes))
      filled.files.push_back(file->commit());
    if (!graph_.job.input.prior.any()) return filled;
    const Image<float> planes =
        depths_of_planes(labels.view(), planes_, views_[view].camera, plan_.scene_view(view).cam_from_world);
    if (const Image<float> depth = priors.filling(confirmed_view(view), planes.view(), filled.prior);
        !depth.empty()) {
      const std::string file = Workspace::prior_file(plan_.view(view).output_name);
      filled.files.push_back({file, write_depth_map(products_.workspace.path(file), depth.view())});
    }
    return filled;
  }

  /// The best sources of a view that have depth maps.
  std::vector<int> asked_of(int view) const {
    std::vector<int> sources = plan_.view(view).sources;
    std::erase_if(sources, [&](int it) { return products_.result(Step::kEstimate, it) == nullptr; });
    sources.resize(std::min(sources.size(), kAskedSources));
    return sources;
  }

  /// The maps before the check.
  std::shared_ptr<const ViewDepth> small_maps(int view) const {
    const ViewPlan& plan = plan_.view(view);
    const auto maps = [&] {
      return products_.maps.get(MapKind::kPhotometric, plan.output_name, plan.camera);
    };
    const SmallView& it = views_[view];
    if (it.factor == 1) return maps();
    return products_.maps.derived("small " + plan.output_name, [&] {
      return std::make_shared<const ViewDepth>(thinned(*maps(), it.camera, it.factor));
    });
  }

  Image<Rgb8> colours_of(int view) const {
    return averaged(products_.photos.colour(plan_, view)->view(), views_[view].factor);
  }

  DepthSource depth_source(int view) const {
    const auto load = [this, view] {
      auto maps = small_maps(view);
      const ViewDepth& loaded = *maps;
      return DepthSource::Maps{loaded.depth.view(), loaded.normal.view(), std::move(maps)};
    };
    const bool small = views_[view].factor > 1;
    return {views_[view].camera, plan_.scene_view(view).cam_from_world,
            small ? graph_.small_map_id(view) : graph_.map_id(view), load,
            products_.maps.normal_noise(plan_.view(view).output_name, plan_.view(view).camera)};
  }

  void add_points(int view, ImageView<const Vec3f> normals) {
    SmallView& it = views_[view];
    const Pose world_from_cam = inverse(plan_.scene_view(view).cam_from_world);
    for (int y = step_ / 2; y < it.camera.height; y += step_)
      for (int x = step_ / 2; x < it.camera.width; x += step_) {
        const double depth = static_cast<double>(it.depth(x, y));
        if (std::isnan(depth) || std::isnan(normals(x, y).x)) continue;
        it.points.push_back({narrowed(world_from_cam * (depth * it.camera.ray(pixel_centre(x, y)))),
                             narrowed(world_from_cam.rotation * widened(normals(x, y))), it.depth(x, y)});
      }
  }

  PlaneView plane_view(int view) const {
    const SmallView& it = views_[view];
    return {it.camera, plan_.scene_view(view).cam_from_world, it.depth.view(), it.grey.view(), it.sky.view()};
  }

  std::vector<PlaneView> asked_views(int view) const {
    std::vector<PlaneView> sources;
    for (const int source : asked_of(view))
      if (!views_[source].depth.empty()) sources.push_back(plane_view(source));
    return sources;
  }

  void search_planes(const std::vector<int>& views) {
    std::vector<SurfacePoint> points;
    for (SmallView& it : views_) {
      points.insert(points.end(), it.points.begin(), it.points.end());
      it.points = {};
    }
    ScenePlaneOptions options;
    options.max_planes = settings_.max_planes;
    const double depth = median_depth(points);
    planes_ = planes_of_areas_ = find_scene_planes(std::move(points), options);
    find_skies(views);
    search_ground(views, depth);
  }

  /// Sets where the views see sky.
  void find_skies(const std::vector<int>& views) {
    std::vector<Image<std::uint8_t>> skies(views.size());
    parallel_for(static_cast<int>(views.size()), [&](int i) {
      const PlaneView view = plane_view(views[i]);
      skies[i] = confirmed_sky(view, view.sky, asked_views(views[i]));
    });
    for (std::size_t i = 0; i < views.size(); ++i) views_[views[i]].sky = std::move(skies[i]);
  }

  static double median_depth(const std::vector<SurfacePoint>& points) {
    std::vector<float> depths;
    for (const SurfacePoint& it : points) depths.push_back(it.depth);
    return depths.empty() ? 0 : static_cast<double>(quantile(depths, 0.5));
  }

  /// Sets the ground, unless the planes have one, and adds its levels to them.
  void search_ground(const std::vector<int>& views, double depth) {
    constexpr double kHorizontal = 0.97;  // cosine of 14 degrees
    std::vector<PlaneView> all;
    for (const int view : views) all.push_back(plane_view(view));
    const std::optional<Vec3d> up = up_direction(all, planes_);
    if (!up || planes_.size() + kGroundLevels > kMaxScenePlanes ||
        std::ranges::any_of(planes_, [&](const WorldPlane& it) { return dot(it.normal, *up) > kHorizontal; }))
      return;
    std::vector<GroundView> ground_views;
    for (const int view : views) ground_views.push_back({plane_view(view), asked_views(view)});
    ground_ = find_ground(ground_views, *up, depth, graph_.job.memory.check_at_once);
    if (ground_) planes_.insert(planes_.end(), ground_->levels.begin(), ground_->levels.end());
  }

  /// The areas of a view that planes fill or that have no surface.
  Image<std::uint8_t> labels_of(int view) const {
    if (settings_.max_planes == 0)
      return {views_[view].camera.width, views_[view].camera.height, kUnlabelled};
    const std::vector<PlaneView> sources = asked_views(view);
    const Image<Rgb8> colours = colours_of(view);
    const auto maps = small_maps(view);
    Image<std::uint8_t> labels =
        label_areas(plane_view(view), maps->normal.view(), colours.view(), sources, planes_of_areas_);
    if (ground_)
      label_ground({plane_view(view), sources}, *ground_,
                   static_cast<std::uint8_t>(planes_of_areas_.size() + 1), labels.view());
    mark_before_sky(plane_view(view), maps->depth.view(), sources, labels.view());
    products_.maps.release_derived("small " + plan_.view(view).output_name);
    return labels;
  }

  /// The file of the areas of a view, if there are any.
  /// @param filled  set to the share of its pixels that planes fill
  std::optional<WrittenFile> label_file(int view, ImageView<const std::uint8_t> labels,
                                        std::optional<double>& filled) const {
    if (share_of(labels, [](std::uint8_t label) { return label != kUnlabelled; }) == 0) return {};
    filled = share_of(labels, [](std::uint8_t label) { return label != kUnlabelled && label != kNoSurface; });
    const std::string file = Workspace::plane_file(plan_.view(view).output_name);
    return WrittenFile{file, image_file(products_.workspace.path(file), labels)};
  }

  SceneGraph& graph_;
  SceneProducts& products_ = graph_.job.products;
  const ScenePlan& plan_ = graph_.job.plan;
  const CheckSettings& settings_ = graph_.job.settings.check;
  std::vector<SmallView> views_;
  int step_ = 1;  ///< pixels between the points of a view
  std::vector<WorldPlane> planes_of_areas_;
  std::vector<WorldPlane> planes_;  ///< those that areas take, then the levels of the ground
  std::optional<Ground> ground_;
};

void add_plane_search(SceneGraph& graph) {
  graph.plane_search = std::make_shared<PlaneSearch>(graph);
  const SceneJob& job = graph.job;
  for (const int view : job.plan.views_in_scope()) {
    const TaskId written = graph.views[view].write;
    if (written < 0 && job.products.result(Step::kEstimate, view) == nullptr) continue;
    Task look{.runs_on = RunsOn::kSpare,
              .run = [search = graph.plane_search, view] { return search->look(view); },
              .shares = {{SceneGraph::kChecks}}};
    if (written >= 0) look.needs = {written};
    for (const int source : job.plan.view(view).sources)
      if (const TaskId write = graph.views[source].write; write >= 0) look.after.push_back(write);
    graph.add(Step::kPlanes, std::move(look));
  }
}

static void report_priors(SceneJob& job) {
  report_priors(job.products.results.get({Step::kPlanes})->result, job.settings.prior.folder.string(),
                job.findings);
}

void find_planes(SceneGraph& graph) {
  SceneJob& job = graph.job;
  std::vector<int> views = job.plan.views_in_scope();
  std::erase_if(views, [&](int view) { return job.products.result(Step::kEstimate, view) == nullptr; });
  const int count = static_cast<int>(views.size());
  // Where views are looked at already, some were estimated now.
  if (graph.plane_search == nullptr &&
      job.products.results.find({Step::kPlanes}, job.inputs.planes(views)) != nullptr) {
    messages().info("scene planes: those of {} views are finished and kept", count);
    return report_priors(job);
  }
  if (const std::string reason = job.products.results.reason({Step::kPlanes}); !reason.empty())
    messages().info("scene planes: those of an earlier run are searched again: {}", reason);
  if (graph.plane_search == nullptr) add_plane_search(graph);
  graph.progress(Step::kPlanes).show(job, Step::kPlanes, count, count);
  graph.scheduler.set_pool(SceneGraph::kChecks, static_cast<std::size_t>(job.memory.check_at_once));
  graph.wait(Step::kPlanes, true);
  graph.plane_search->finish(views);
  graph.plane_search = nullptr;
  report_priors(job);
}

}  // namespace recon
