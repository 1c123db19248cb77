#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/hypotenuse.hpp"
#include "render/hash.hpp"
#include "render/render.hpp"
#include "render/tracer.hpp"
#include "render/view_tree.hpp"
#include "scene/camera.hpp"

namespace recon {
namespace {

/// Candidates tried per requested point.
constexpr int kTries = 20;
/// Min cosine between normal and ray for an observation.
constexpr double kMinObservedCosine = 0.15;
/// Min distance of observations from the image border, pixels.
constexpr double kBorder = 1.0;
/// Separates the hashes of this file from those of the image noise.
constexpr std::uint64_t kPointStream = 0x5350;

class SparseSampler {
 public:
  explicit SparseSampler(const SceneDescription& description)
      : description_(description), tracer_(description), tree_(description) {
    scene_.cameras = description.cameras;
    for (const Camera& camera : description.cameras) {
      lenses_.emplace_back(camera);
      scene_.camera_ids.push_back(static_cast<std::uint32_t>(lenses_.size()));
    }
    for (const RenderView& view : description.views)
      scene_.views.push_back({static_cast<std::uint32_t>(scene_.views.size() + 1),
                              view.name,
                              view.camera,
                              view.cam_from_world,
                              {}});
  }

  Scene sample() {
    const auto wanted = static_cast<std::size_t>(description_.sparse.points);
    if (description_.views.empty()) return std::move(scene_);
    for (std::uint64_t i = 0; i < wanted * kTries && scene_.points.size() < wanted; ++i) {
      const auto hit = candidate(i);
      if (hit) add_point(*hit, i);
    }
    return std::move(scene_);
  }

 private:
  struct Reprojection {
    int view;
    Vec2d exact, observed;
  };

  std::uint64_t random(std::uint64_t candidate, std::uint64_t what) const {
    return hash_of(kPointStream, description_.seed, candidate, what);
  }

  /// The surface at a random pixel of a random view.
  std::optional<SurfaceHit> candidate(std::uint64_t i) const {
    const auto views = static_cast<double>(description_.views.size());
    const RenderView& view = description_.views[static_cast<std::size_t>(uniform_of(random(i, 0)) * views)];
    const Camera& camera = description_.cameras[view.camera];
    const auto ray = lenses_[view.camera].unproject(
        {uniform_of(random(i, 1)) * camera.width, uniform_of(random(i, 2)) * camera.height});
    if (!ray) return std::nullopt;
    const auto hit =
        tracer_.cast(camera_centre(view.cam_from_world), transpose(view.cam_from_world.rotation) * *ray);
    if (!hit || !has_detail(description_.objects[hit->object].texture)) return std::nullopt;
    return hit;
  }

  std::optional<Reprojection> reprojection(const SurfaceHit& hit, int index, std::uint64_t candidate) const {
    const RenderView& view = description_.views[index];
    const Camera& camera = description_.cameras[view.camera];
    const auto inside = [&](Vec2d p) {
      return p.x >= kBorder && p.x <= camera.width - kBorder && p.y >= kBorder &&
             p.y <= camera.height - kBorder;
    };
    const auto exact = lenses_[view.camera].project(view.cam_from_world * hit.position);
    if (!exact || !inside(*exact)) return std::nullopt;
    const Vec3d eye = camera_centre(view.cam_from_world);
    if (std::abs(dot(hit.normal, normalized(eye - hit.position))) < kMinObservedCosine) return std::nullopt;
    const double sigma = description_.sparse.noise;
    const Vec2d observed{exact->x + sigma * gaussian_of(random(candidate, 3 + 2 * index)),
                         exact->y + sigma * gaussian_of(random(candidate, 4 + 2 * index))};
    if (!inside(observed) || !tracer_.sees(eye, hit.position)) return std::nullopt;
    return Reprojection{index, *exact, observed};
  }

  void add_point(const SurfaceHit& hit, std::uint64_t candidate) {
    std::vector<Reprojection> reprojections;
    tree_.visit(hit.position, [&](int view) {
      if (const auto s = reprojection(hit, view, candidate)) reprojections.push_back(*s);
    });
    if (static_cast<int>(reprojections.size()) < description_.sparse.min_views) return;

    SparsePoint point;
    point.id = scene_.points.size() + 1;
    point.position = hit.position;
    const double footprint = hit.t / lenses_[description_.views[reprojections.front().view].camera].focal().x;
    const Vec3d colour = 255.0 * tracer_.radiance(hit, footprint);
    const auto level = [](double v) {
      return static_cast<std::uint8_t>(std::clamp(std::round(v), 0.0, 255.0));
    };
    point.colour = {level(colour.x), level(colour.y), level(colour.z)};
    for (const Reprojection& s : reprojections) {
      auto& observations = scene_.views[s.view].observations;
      point.track.push_back({s.view, static_cast<std::uint32_t>(observations.size())});
      observations.push_back({s.observed, point.id});
      const Vec2d error = s.observed - s.exact;
      point.error += hypotenuse(error.x, error.y) / static_cast<double>(reprojections.size());
    }
    scene_.points.push_back(std::move(point));
  }

  const SceneDescription& description_;
  Tracer tracer_;
  ViewTree tree_;
  std::vector<Lens> lenses_;
  Scene scene_;
};

}  // namespace

Scene sparse_scene(const SceneDescription& description) {
  validate(description);
  return SparseSampler(description).sample();
}

}  // namespace recon
