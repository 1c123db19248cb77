#include "reference/sweep_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace recon::reference {
namespace {

struct Projection {
  double u, v;
  bool inside;
};

Projection project(const PosedImage& reference, const PosedImage& source, int x, int y, double z) {
  const Pinhole &r = reference.camera, &s = source.camera;
  const Vec3d point{(x + 0.5 - r.cx) / r.fx * z, (y + 0.5 - r.cy) / r.fy * z, z};
  const Mat3d& rr = reference.cam_from_world.rotation;
  const Vec3d moved = point - reference.cam_from_world.translation;
  Vec3d world{0, 0, 0};
  world.x = rr(0, 0) * moved.x + rr(1, 0) * moved.y + rr(2, 0) * moved.z;
  world.y = rr(0, 1) * moved.x + rr(1, 1) * moved.y + rr(2, 1) * moved.z;
  world.z = rr(0, 2) * moved.x + rr(1, 2) * moved.y + rr(2, 2) * moved.z;
  const Mat3d& sr = source.cam_from_world.rotation;
  const Vec3d& st = source.cam_from_world.translation;
  const double sx = sr(0, 0) * world.x + sr(0, 1) * world.y + sr(0, 2) * world.z + st.x;
  const double sy = sr(1, 0) * world.x + sr(1, 1) * world.y + sr(1, 2) * world.z + st.y;
  const double sz = sr(2, 0) * world.x + sr(2, 1) * world.y + sr(2, 2) * world.z + st.z;
  if (sz <= 1e-3 * z) return {0, 0, false};
  const double u = s.fx * sx / sz + s.cx - 0.5, v = s.fy * sy / sz + s.cy - 0.5;
  return {u, v, u >= 0 && v >= 0 && u <= s.width - 1 && v <= s.height - 1};
}

double bilinear_sample(ImageView<const std::uint8_t> image, double u, double v) {
  u = std::nearbyint(std::clamp(u, 0.0, image.width - 1.0) * 256) / 256;
  v = std::nearbyint(std::clamp(v, 0.0, image.height - 1.0) * 256) / 256;
  const int x0 = static_cast<int>(u), y0 = static_cast<int>(v);
  const int x1 = std::min(x0 + 1, image.width - 1), y1 = std::min(y0 + 1, image.height - 1);
  const double fx = u - x0, fy = v - y0;
  const double value = (1 - fy) * ((1 - fx) * image(x0, y0) + fx * image(x1, y0)) +
                       fy * ((1 - fx) * image(x0, y1) + fx * image(x1, y1));
  return std::floor(value + 0.5);
}

double window_cost(const SweepProblem& problem, const PosedImage& source, int x, int y, double z) {
  const PosedImage& reference = problem.reference;
  const int radius = problem.cost.window / 2;
  std::vector<double> a, b;
  for (int c = 0; c < reference.channels; ++c) {
    for (int j = y - radius; j <= y + radius; ++j) {
      for (int i = x - radius; i <= x + radius; ++i) {
        const int rx = std::clamp(i, 0, reference.camera.width - 1),
                  ry = std::clamp(j, 0, reference.camera.height - 1);
        const Projection p = project(reference, source, rx, ry, z);
        a.push_back(reference.channel[static_cast<std::size_t>(c)](rx, ry));
        b.push_back(bilinear_sample(source.channel[static_cast<std::size_t>(c)], p.u, p.v));
      }
    }
  }
  const double n = static_cast<double>(a.size());
  if (problem.cost.kind == CostKind::kSad) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += std::abs(a[k] - b[k]);
    return sum / n;
  }
  double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t k = 0; k < a.size(); ++k) mean_a += a[k] / n, mean_b += b[k] / n;
  for (std::size_t k = 0; k < a.size(); ++k) {
    aa += (a[k] - mean_a) * (a[k] - mean_a);
    bb += (b[k] - mean_b) * (b[k] - mean_b);
    ab += (a[k] - mean_a) * (b[k] - mean_b);
  }
  return aa < 1e-9 || bb < 1e-9 ? 1.0 : 1.0 - ab / std::sqrt(aa * bb);
}

}  // namespace

double sample_cost(const SweepProblem& problem, int x, int y, double z) {
  std::vector<double> costs;
  for (const PosedImage& source : problem.sources)
    if (project(problem.reference, source, x, y, z).inside)
      costs.push_back(window_cost(problem, source, x, y, z));
  if (costs.empty()) return std::numeric_limits<double>::infinity();
  std::sort(costs.begin(), costs.end());
  std::size_t count = costs.size();
  if (problem.cost.combination == Combination::kMinimum) count = 1;
  if (problem.cost.combination == Combination::kBestK)
    count = std::min(count, static_cast<std::size_t>(problem.cost.best_k));
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) sum += costs[k];
  return sum / static_cast<double>(count);
}

double plane_inverse_depth(double near, double far, int planes, double d) {
  return 1 / far + d * (1 / near - 1 / far) / (planes - 1);
}

TextbookWinner textbook_winner(const std::vector<double>& costs, double near, double far) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const int planes = static_cast<int>(costs.size());
  const auto cost_of = [&](int d) {
    return d < 0 || d >= planes ? kNone : costs[static_cast<std::size_t>(d)];
  };
  TextbookWinner winner;
  for (int d = 0; d < planes; ++d)
    if (cost_of(d) < (winner.plane < 0 ? kNone : cost_of(winner.plane))) winner.plane = d;
  if (winner.plane < 0) return winner;
  winner.cost = cost_of(winner.plane);
  winner.second = kNone;
  for (int d = 0; d < planes; ++d)
    if (std::abs(d - winner.plane) >= 2) winner.second = std::min(winner.second, cost_of(d));
  // The vertex of the parabola through (-1, a), (0, b), (1, c).
  const double a = cost_of(winner.plane - 1), b = winner.cost, c = cost_of(winner.plane + 1);
  double offset = 0;
  if (std::isfinite(a) && std::isfinite(c) && a - 2 * b + c > 0)
    offset = std::clamp((a - c) / (2 * (a - 2 * b + c)), -0.5, 0.5);
  winner.fractional_plane = winner.plane + offset;
  winner.depth = 1 / plane_inverse_depth(near, far, planes, winner.fractional_plane);
  winner.confidence =
      std::isinf(winner.second) ? 1 : std::sqrt(std::max(0.0, 1 - winner.cost / winner.second));
  if (winner.second == 0) winner.confidence = 0;
  return winner;
}

}  // namespace recon::reference
