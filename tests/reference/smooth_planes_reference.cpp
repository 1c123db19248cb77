#include "reference/smooth_planes_reference.hpp"

#include <algorithm>
#include <cmath>

#include "core/eigen.hpp"

namespace recon::reference {
namespace {

struct Cell {
  double dx, dy;  // pixels
  double w, count;
};

double share(const Cell& cell, const Eigen::Vector3d& plane, double reach) {
  const double distance = cell.w - (plane[0] + plane[1] * cell.dx + plane[2] * cell.dy);
  return std::max(0.0, 1 - std::pow(distance / reach, 2));
}

}  // namespace

std::optional<SmoothFit> smooth_plane(const std::vector<SmoothPixel>& pixels, int width, int height, int x,
                                      int y, double unit, double min, double max) {
  const auto inside = [&](int i, int j) { return i >= 0 && j >= 0 && i < width && j < height; };
  const auto at = [&](int i, int j) { return pixels[static_cast<std::size_t>(j * width + i)]; };
  const double reach = 0.3 * unit;
  std::vector<Cell> cells;
  for (int dy = -12; dy <= 12; dy += 4)
    for (int dx = -12; dx <= 12; dx += 4)
      if (inside(x + dx, y + dy)) {
        const SmoothPixel pixel = at(x + dx, y + dy);
        const double difference = (pixel.grey - at(x, y).grey) / 8.0;
        cells.push_back(
            {1.0 * dx, 1.0 * dy, pixel.w, std::max(0.05, 1 - pixel.cost) / (1 + difference * difference)});
      }
  std::vector<std::pair<double, Eigen::Vector3d>> candidates;
  for (const auto& [dx, dy] :
       {std::pair{0, 0}, {-4, -4}, {4, -4}, {-4, 4}, {4, 4}, {-8, 0}, {8, 0}, {0, -8}, {0, 8}})
    if (inside(x + dx, y + dy)) {
      const SmoothPixel pixel = at(x + dx, y + dy);
      const Eigen::Vector3d plane(pixel.w - pixel.wx * dx - pixel.wy * dy, pixel.wx, pixel.wy);
      if (plane[0] < min || plane[0] > max) continue;
      double support = 0;
      for (const Cell& cell : cells) support += cell.count * share(cell, plane, reach);
      candidates.emplace_back(support, plane);
    }
  std::ranges::stable_sort(candidates, [](const auto& a, const auto& b) { return a.first > b.first; });
  if (candidates.empty() || candidates[0].first == 0) return std::nullopt;
  const Eigen::Vector3d best = candidates[0].second;
  Eigen::MatrixXd rows(cells.size(), 3);
  Eigen::VectorXd differences(cells.size());
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const Cell& cell = cells[k];
    const double root = std::sqrt(cell.count) * share(cell, best, reach);
    const auto row = static_cast<Eigen::Index>(k);
    rows.row(row) << root, root * cell.dx / 4, root * cell.dy / 4;
    differences[row] = root * (cell.w - (best[0] + best[1] * cell.dx + best[2] * cell.dy));
  }
  // The spread of the cells around their mean, per count.
  const Eigen::Matrix3d normal = rows.transpose() * rows;
  const Eigen::Vector2d mean = normal.block<2, 1>(1, 0) / normal(0, 0);
  const Eigen::Matrix2d spread = normal.block<2, 2>(1, 1) / normal(0, 0) - mean * mean.transpose();
  Eigen::Vector3d correction(rows.col(0).dot(differences) / normal(0, 0), 0, 0);
  if (spread.determinant() > 0.05) correction = rows.colPivHouseholderQr().solve(differences);
  const Eigen::Vector3d fit = best + Eigen::Vector3d(correction[0], correction[1] / 4, correction[2] / 4);
  if (fit[0] < min || fit[0] > max) return std::nullopt;
  const double second = candidates.size() > 1 ? candidates[1].first : 0;
  return SmoothFit{fit[0], fit[1], fit[2], 1 - second / candidates[0].first};
}

}  // namespace recon::reference
