// Whether the photos fit cameras and poses: their pixels are looked for along epipolar lines.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "scene/calibration_check.hpp"
#include "scene/epipolar_check.hpp"
#include "scene/sparse_index.hpp"
#include "scene/view_geometry.hpp"
#include "scene/view_selection.hpp"
#include "session/scene/calibration.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

namespace {

/// Views that are compared with others before the work, and the number of others.
constexpr int kComparedViews = 12;
constexpr std::size_t kOthers = 2;
/// The same of one view whose depths the others do not confirm.
constexpr std::size_t kOthersOfOne = 6;
/// Shares that epipolar lines win: right calibrations reach 0.47 to 0.95, by chance it is 0.22. Up to the
/// last one a mistake is looked for.
constexpr double kPhotosContradict = 0.4, kPhotosFit = 0.45, kDoubted = 0.5;
/// The same of neighbours, instead of the sources: short baselines win more by chance.
constexpr double kBesideFit = 0.58;
/// A mistake is named when the share without it is at least this, and this factor larger.
constexpr double kExplained = 0.45, kBetter = 1.4;
/// Min pixels tried; fewer may win or lose by chance.
constexpr std::size_t kMinTried = 60;

using Pairs = std::vector<std::pair<int, int>>;

/// Small images of views, made when they are first wanted.
class SmallViews {
 public:
  explicit SmallViews(SceneRun& run) : run_(run) {}

  /// Makes those of all views of `pairs`.
  void add(const Pairs& pairs) {
    std::vector<int> views;
    for (const auto& [reference, source] : pairs)
      for (const int view : {reference, source})
        if (images_.emplace(view, Images()).second) views.push_back(view);
    bounded_parallel_for(static_cast<int>(views.size()),
                         photos_at_once(run_.plan, run_.memory.limit, run_.threads), [&](int i) {
                           check_interrupted();
                           images_.at(views[i]) = read(views[i]);
                         });
  }

  SmallView operator()(int view) const {
    const Images& images = images_.at(view);
    return {averaged(run_.plan.view(view).camera, images.factor), run_.plan.scene_view(view).cam_from_world,
            images.pixels.view(), images.mask.view()};
  }

 private:
  struct Images {
    int factor = 1;
    Image<std::uint8_t> pixels, mask;
  };

  Images read(int view) const {
    const Pinhole& camera = run_.plan.view(view).camera;
    const int factor = small_view_factor(camera.width, camera.height);
    const auto channels = run_.photos.channels(run_.plan, view);
    Images images{factor, averaged(channels->front().view(), factor), {}};
    if (const Image<std::uint8_t> mask = prepared_mask(run_, view); !mask.empty())
      images.mask = averaged(mask.view(), factor);
    return images;
  }

  SceneRun& run_;
  std::map<int, Images> images_;
};

/// Some of `views`, evenly spread.
std::vector<int> spread(const std::vector<int>& views) {
  std::vector<int> some;
  const std::size_t step = (views.size() + kComparedViews - 1) / kComparedViews;
  for (std::size_t i = 0; i < views.size(); i += step) some.push_back(views[i]);
  return some;
}

/// Pairs of each view and its first sources, of those whose photos are there.
Pairs pairs_of(const SceneRun& run, const std::vector<int>& views,
               const std::vector<std::vector<int>>& sources, std::size_t others) {
  Pairs pairs;
  for (const int view : views) {
    std::size_t count = 0;
    for (const int source : sources[view])
      if (run.plan.view(source).needed && count++ < others) pairs.emplace_back(view, source);
  }
  return pairs;
}

/// The nearest view and the next one by name of each view.
std::vector<std::vector<int>> neighbours(const SceneRun& run) {
  const SceneGeometry geometry(run.plan.scene);
  std::vector<std::vector<int>> result(run.plan.views.size());
  for (int view = 0; view < geometry.size(); ++view) {
    result[view] = nearest_views(geometry, view, 1);
    const int next = view + 1 < geometry.size() ? view + 1 : view - 1;
    if (result[view].front() != next) result[view].push_back(next);
  }
  return result;
}

std::vector<std::vector<int>> planned_sources(const SceneRun& run) {
  std::vector<std::vector<int>> sources;
  for (const ViewPlan& view : run.plan.views) sources.push_back(view.sources);
  return sources;
}

/// The score of all pairs together. @param view_of  makes or finds the small image of a view
template <class ViewOf>
EpipolarScore score(const Pairs& pairs, const ViewOf& view_of) {
  std::vector<EpipolarScore> scores(pairs.size());
  parallel_for(static_cast<int>(pairs.size()),
               [&](int i) { scores[i] = epipolar_score(view_of(pairs[i].first), view_of(pairs[i].second)); });
  EpipolarScore sum;
  for (const EpipolarScore& it : scores) sum += it;
  return sum;
}

/// The camera of images of another size, scaled to its own.
Pinhole centred(Pinhole camera) {
  const auto [x, y] = size_factors({camera.cx, camera.cy}, camera.width, camera.height);
  return {camera.width, camera.height, camera.fx * x, camera.fy * y, camera.cx * x, camera.cy * y};
}

/// The score of the same photos without a mistake of cameras and poses.
EpipolarScore score_without(CalibrationMistake mistake, const SceneRun& run, const std::vector<int>& views,
                            SmallViews& small) {
  const Scene scene = without_mistake(run.plan.scene, mistake);
  const Pairs pairs = pairs_of(run, views, select_sources(SceneIndex(scene), run.options.selection), kOthers);
  small.add(pairs);
  return score(pairs, [&](int view) {
    SmallView result = small(view);
    result.cam_from_world = scene.views[view].cam_from_world;
    if (mistake == CalibrationMistake::kImageSize) result.camera = centred(result.camera);
    return result;
  });
}

/// The mistake without which the photos fit; nothing if they never do.
std::optional<CalibrationMistake> explain(const SceneRun& run, const std::vector<int>& views, double share,
                                          SmallViews& small) {
  std::optional<CalibrationMistake> best;
  double most = std::max(kExplained, kBetter * share);
  for (const CalibrationMistake mistake : kCalibrationMistakes) {
    const EpipolarScore it = score_without(mistake, run, views, small);
    spdlog::debug("epipolar lines with mistake {}: {:.3f} of {}", static_cast<int>(mistake), it.share(),
                  it.tried);
    if (it.tried < kMinTried || it.share() < most) continue;
    best = mistake;
    most = it.share();
  }
  return best;
}

}  // namespace

void check_photos_fit(SceneRun& run) {
  const std::vector<int> views = spread(run.plan.views_in_scope());
  SmallViews small(run);
  const auto score_of = [&](const std::vector<std::vector<int>>& sources) {
    const Pairs pairs = pairs_of(run, views, sources, kOthers);
    small.add(pairs);
    return score(pairs, small);
  };
  EpipolarScore given = score_of(planned_sources(run));
  if (given.share() < kPhotosFit)  // sources may be chosen badly, without points to tell
    if (const EpipolarScore beside = score_of(neighbours(run)); beside.share() > kBesideFit) given = beside;
  spdlog::debug("epipolar lines win {:.3f} of {} pixels", given.share(), given.tried);
  if (given.tried < kMinTried) return;
  std::optional<CalibrationMistake> mistake;
  if (given.share() < kDoubted) mistake = explain(run, views, given.share(), small);
  if (given.share() >= kPhotosContradict && !mistake) {
    if (given.share() > kPhotosFit) run.photos_fit = true;
    return;
  }
  run.photos_fit = false;
  run.warn(fmt::format(
      "{}: the photos contradict cameras and poses: the epipolar line has the best match of {:.0f} % of {} "
      "pixels, by chance {:.0f} %, with right poses more than half; expect few and wrong points; {}",
      run.folder.root.string(), 100 * given.share(), given.tried, 100 * kEpipolarChance,
      causes(run, mistake)));
}

bool photo_contradicts(SceneRun& run, int view) {
  const Pairs pairs = pairs_of(run, {view}, planned_sources(run), kOthersOfOne);
  SmallViews small(run);
  small.add(pairs);
  const EpipolarScore given = score(pairs, small);
  spdlog::debug("{}: epipolar lines win {:.3f} of {} pixels", run.plan.name(view), given.share(),
                given.tried);
  return given.tried >= kMinTried && given.share() < kPhotosContradict;
}

}  // namespace recon
