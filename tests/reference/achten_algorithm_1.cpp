#include "reference/achten_algorithm_1.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace recon::reference {
namespace {

/// The parameters of a source as the algorithm has them: all in double precision.
struct SourceParameters {
  double fx, fy, cx, cy;
  double rotation[9], translation[3];
};

SourceParameters parameters_of(const PosedImage& source, const PosedImage& reference) {
  const Pose pose = source.cam_from_world * inverse(reference.cam_from_world);
  SourceParameters p{source.camera.fx, source.camera.fy, source.camera.cx, source.camera.cy, {}, {}};
  for (int i = 0; i < 9; ++i) p.rotation[i] = pose.rotation.m[i];
  p.translation[0] = pose.translation.x;
  p.translation[1] = pose.translation.y;
  p.translation[2] = pose.translation.z;
  return p;
}

/// The nearest source pixel of a reference pixel at depth z; false outside the source.
bool nearest_pixel(const SourceParameters& p, const Pinhole& reference, const Pinhole& source, int x, int y,
                   double z, int& u, int& v) {
  const double x3 = z * (x + 0.5 - reference.cx) / reference.fx;
  const double y3 = z * (y + 0.5 - reference.cy) / reference.fy;
  const double xs = p.rotation[0] * x3 + p.rotation[1] * y3 + p.rotation[2] * z + p.translation[0];
  const double ys = p.rotation[3] * x3 + p.rotation[4] * y3 + p.rotation[5] * z + p.translation[1];
  const double zs = p.rotation[6] * x3 + p.rotation[7] * y3 + p.rotation[8] * z + p.translation[2];
  if (zs <= 0) return false;
  u = static_cast<int>(std::floor(p.fx * xs / zs + p.cx));
  v = static_cast<int>(std::floor(p.fy * ys / zs + p.cy));
  return u >= 0 && u < source.width && v >= 0 && v < source.height;
}

float window_cost(ImageView<const std::uint8_t> reference, ImageView<const std::uint8_t> source, int x, int y,
                  int u, int v, int radius) {
  float cost = 0;
  float count = 0;
  for (int k = -radius; k <= radius; ++k) {
    for (int l = -radius; l <= radius; ++l) {
      if (x + l < 0 || x + l >= reference.width || y + k < 0 || y + k >= reference.height) continue;
      if (u + l < 0 || u + l >= source.width || v + k < 0 || v + k >= source.height) continue;
      cost += std::fabs(static_cast<float>(reference.row(y + k)[x + l]) -
                        static_cast<float>(source.row(v + k)[u + l]));
      count += 1;
    }
  }
  return cost / count;
}

}  // namespace

Image<int> sweep_algorithm_1(const SweepProblem& problem) {
  const Pinhole& camera = problem.reference.camera;
  const int planes = problem.planes.count;
  const auto pixels = static_cast<std::size_t>(camera.width) * static_cast<std::size_t>(camera.height);
  std::vector<float> cost_cube(pixels * static_cast<std::size_t>(planes),
                               std::numeric_limits<float>::infinity());
  for (const PosedImage& source : problem.sources) {
    const SourceParameters p = parameters_of(source, problem.reference);
    for (int y = 0; y < camera.height; ++y) {
      for (int x = 0; x < camera.width; ++x) {
        for (int d = 0; d < planes; ++d) {
          const double z = 1.0 / static_cast<double>(inverse_depth(problem.planes, static_cast<float>(d)));
          int u = 0, v = 0;
          if (!nearest_pixel(p, camera, source.camera, x, y, z, u, v)) continue;
          const float cost = window_cost(problem.reference.channel[0], source.channel[0], x, y, u, v,
                                         problem.options.window / 2);
          float& least = cost_cube[static_cast<std::size_t>(d) * pixels +
                                   static_cast<std::size_t>(y) * static_cast<std::size_t>(camera.width) +
                                   static_cast<std::size_t>(x)];
          if (cost < least) least = cost;
        }
      }
    }
  }
  Image<int> winner(camera.width, camera.height, -1);
  for (int y = 0; y < camera.height; ++y) {
    for (int x = 0; x < camera.width; ++x) {
      float least = std::numeric_limits<float>::infinity();
      for (int d = 0; d < planes; ++d) {
        const float cost = cost_cube[static_cast<std::size_t>(d) * pixels +
                                     static_cast<std::size_t>(y) * static_cast<std::size_t>(camera.width) +
                                     static_cast<std::size_t>(x)];
        if (cost < least) least = cost, winner(x, y) = d;
      }
    }
  }
  return winner;
}

}  // namespace recon::reference
