#include "reference/achten_algorithm_1.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace recon::reference {
namespace {

/// A camera in the form of the algorithm: calibration, its inverse, and the pose with its inverse, in double
/// precision.
struct CameraParameters {
  int width, height;
  Mat3d k, k_inverse;
  Mat3d r, r_inverse;
  Vec3d t, t_inverse;
};

CameraParameters parameters_of(const PosedImage& image) {
  const Pinhole& c = image.camera;
  const Pose world_from_cam = inverse(image.cam_from_world);
  // The algorithm has pixel centres at integers, so the principal point is shifted by half a pixel.
  const double cx = c.cx - 0.5, cy = c.cy - 0.5;
  return {c.width,
          c.height,
          {{c.fx, 0, cx, 0, c.fy, cy, 0, 0, 1}},
          {{1 / c.fx, 0, -cx / c.fx, 0, 1 / c.fy, -cy / c.fy, 0, 0, 1}},
          image.cam_from_world.rotation,
          world_from_cam.rotation,
          image.cam_from_world.translation,
          world_from_cam.translation};
}

/// Step (i): the nearest pixel of a source to reference pixel (x, y) at depth z; coordinate 0 outside the
/// source.
Vec2d project(const CameraParameters& reference, const CameraParameters& source, int x, int y, double z) {
  const Vec3d in_reference =
      z * (reference.k_inverse * Vec3d{static_cast<double>(x), static_cast<double>(y), 1.0});
  const Vec3d in_world = reference.r_inverse * in_reference + reference.t_inverse;
  const Vec3d in_source = source.r * in_world + source.t;
  const Vec3d image = source.k * in_source;
  const double u = image.x / image.z, v = image.y / image.z;
  return {u < 0 || u >= source.width ? 0 : std::round(u), v < 0 || v >= source.height ? 0 : std::round(v)};
}

/// Step (ii): the mean absolute difference over the part of the window that lies in both images.
float window_cost(ImageView<const std::uint8_t> reference, ImageView<const std::uint8_t> source, int x, int y,
                  Vec2d projected, int window) {
  float cost = 0.0f, count = 0.0f;
  for (int k = -window / 2; k <= window / 2; ++k) {
    for (int l = -window / 2; l <= window / 2; ++l) {
      if (x + l < 0 || x + l >= reference.width) continue;
      if (y + k < 0 || y + k >= reference.height) continue;
      if (projected.x + l < 0 || projected.x + l >= source.width) continue;
      if (projected.y + k < 0 || projected.y + k >= source.height) continue;
      const int difference = reference.row(y + k)[x + l] -
                             source.row(static_cast<int>(projected.y) + k)[static_cast<int>(projected.x) + l];
      cost += std::fabs(static_cast<float>(difference));
      count += 1.0f;
    }
  }
  return cost / count;
}

}  // namespace

Image<int> sweep_algorithm_1(const SweepProblem& problem) {
  const CameraParameters reference = parameters_of(problem.reference);
  const int planes = problem.planes.count, width = reference.width, height = reference.height;
  std::vector<std::vector<float>> cost_cube(
      static_cast<std::size_t>(planes),
      std::vector<float>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 255.0f));
  for (const PosedImage& image : problem.sources) {
    const CameraParameters source = parameters_of(image);
    for (int d = 0; d < planes; ++d) {
      const double z = 1.0 / (static_cast<double>(problem.planes.inverse_far) +
                              d * static_cast<double>(problem.planes.step));
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          const Vec2d projected = project(reference, source, x, y, z);
          const float cost = window_cost(problem.reference.channel[0], image.channel[0], x, y, projected,
                                         problem.cost.window);
          // Step (iii): keep the min cost over the sources.
          float& kept = cost_cube[static_cast<std::size_t>(d)][static_cast<std::size_t>(y * width + x)];
          kept = std::fmin(kept, cost);
        }
      }
    }
  }
  Image<int> winner(width, height, -1);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float min_cost = std::numeric_limits<float>::infinity();
      for (int d = 0; d < planes; ++d) {
        const float cost = cost_cube[static_cast<std::size_t>(d)][static_cast<std::size_t>(y * width + x)];
        if (cost < min_cost) min_cost = cost, winner(x, y) = d;
      }
    }
  }
  return winner;
}

}  // namespace recon::reference
