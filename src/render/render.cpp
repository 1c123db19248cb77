#include "render/render.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/parallel.hpp"
#include "render/hash.hpp"
#include "render/tracer.hpp"
#include "scene/camera.hpp"

namespace recon {
namespace {

/// Min cosine for the footprint of a pixel at grazing angles, so that detail is preserved.
constexpr double kMinFacing = 0.2;

/// Data shared by the pixels of one view.
struct ViewRays {
  const SceneDescription& description;
  const RenderView& view;
  const Camera& camera = description.cameras[view.camera];
  Tracer tracer{description};
  std::optional<Pinhole> pinhole = as_pinhole(camera);  ///< without a distortion: much faster than the lens
  Lens lens{camera};
  Pose cam_from_world = view.cam_from_world;
  Mat3d world_from_cam = transpose(cam_from_world.rotation);
  Vec3d eye = camera_centre(cam_from_world);
  /// Between neighbouring rays of a pixel on the axis, radians.
  double sample_angle = 1 / (lens.focal().x * description.samples);

  ViewRays(const SceneDescription& d, const RenderView& v) : description(d), view(v) {}

  /// The unit ray direction of `pixel` in camera coordinates.
  std::optional<Vec3d> ray(Vec2d pixel) const {
    return pinhole ? normalized(pinhole->ray(pixel)) : lens.unproject(pixel);
  }

  Vec3d colour(Vec3d direction) const {
    const auto hit = tracer.cast(eye, direction);
    if (!hit) return description.background;
    const double facing = std::max(std::abs(dot(hit->normal, direction)), kMinFacing);
    return tracer.radiance(*hit, hit->t * sample_angle / facing);
  }

  /// Mean over the rays of a pixel.
  Vec3d pixel_colour(int x, int y) const {
    const int n = description.samples;
    const Vec2d centre = pixel_centre(x, y);
    Vec3d sum{0, 0, 0};
    int rays = 0;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        const Vec2d pixel{centre.x + (i + 0.5) / n - 0.5, centre.y + (j + 0.5) / n - 0.5};
        const auto direction = ray(pixel);
        if (!direction) continue;
        sum = sum + colour(world_from_cam * *direction);
        ++rays;
      }
    }
    return rays > 0 ? 1.0 / rays * sum : sum;
  }
};

std::uint8_t grey_level(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::round(value), 0.0, 255.0));
}

void render_row(const ViewRays& rays, const RenderView& view, std::uint64_t noise_seed, int y,
                RenderedView& out) {
  const double sigma = rays.description.noise;
  const bool panorama = is_panorama(rays.description.cameras[view.camera].model);
  for (int x = 0; x < out.image.width(); ++x) {
    out.depth(x, y) = kUnknown;
    out.normal(x, y) = {kUnknown, kUnknown, kUnknown};
    const auto ray = rays.ray(pixel_centre(x, y));
    if (ray) {
      const auto hit = rays.tracer.cast(rays.eye, rays.world_from_cam * *ray);
      if (hit && (panorama || ray->z > 0)) {
        const Vec3d normal = rays.cam_from_world.rotation * hit->normal;
        out.depth(x, y) = static_cast<float>(panorama ? hit->t : hit->t * ray->z);
        out.normal(x, y) = {static_cast<float>(normal.x), static_cast<float>(normal.y),
                            static_cast<float>(normal.z)};
      }
    }
    const Vec3d colour = 255 * view.gain * rays.pixel_colour(x, y);
    const auto noisy = [&](double value, int channel) {
      return grey_level(sigma > 0 ? value + sigma * gaussian_of(hash_of(noise_seed, x, y, channel)) : value);
    };
    out.image(x, y) = {noisy(colour.x, 0), noisy(colour.y, 1), noisy(colour.z, 2)};
  }
}

}  // namespace

RenderedView render_view(const SceneDescription& description, int view) {
  EXPECTS(view >= 0 && view < static_cast<int>(description.views.size()));
  validate(description);
  const RenderView& what = description.views[view];
  const Camera& camera = description.cameras[what.camera];
  RenderedView out{Image<Rgb8>(camera.width, camera.height), Image<float>(camera.width, camera.height),
                   Image<Vec3f>(camera.width, camera.height)};
  const ViewRays rays(description, what);
  const std::uint64_t noise_seed = hash_of(description.seed, view);
  parallel_for(camera.height, [&](int y) { render_row(rays, what, noise_seed, y, out); });
  return out;
}

}  // namespace recon
