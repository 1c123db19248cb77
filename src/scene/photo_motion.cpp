#include <algorithm>
#include <cstddef>

#include "core/eigen.hpp"
#include "core/quantile.hpp"
#include "scene/calibration_check.hpp"

namespace recon {
namespace {

/// With fewer displacements the parameters explain much by chance.
constexpr std::size_t kMinDisplacements = 20;
constexpr int kSteps = 10;
/// Scale of the weights, of the median of the lengths.
constexpr double kScale = 2;

constexpr int kParameters = 7;
using Rows = Eigen::Matrix<double, 2, kParameters>;

/// What each parameter moves at a place: a shift and a linear map of x, the same of y, and a bend.
Rows rows_at(Eigen::Vector2d place) {
  const Eigen::Vector2d bend = place * place.squaredNorm();
  Rows rows;
  rows << 1, place.x(), place.y(), 0, 0, 0, bend.x(),  //
      0, 0, 0, 1, place.x(), place.y(), bend.y();
  return rows;
}

/// The squared error of a length under which it keeps its weight, divided by the same and the length's.
double weight_of(double length, double scale) {
  const double root = scale > 0 ? 1 / (1 + length * length / (scale * scale)) : 1;
  return root * root;
}

}  // namespace

std::vector<double> remaining_errors(std::span<const Displacement> displacements, Vec2d centre) {
  std::vector<double> lengths;
  double radius = 0;
  for (const Displacement& it : displacements) {
    lengths.push_back(it.length());
    radius = std::max(radius, hypotenuse(it.observed.x - centre.x, it.observed.y - centre.y));
  }
  if (displacements.size() < kMinDisplacements || !(radius > 0)) return lengths;

  std::vector<Rows> rows;
  std::vector<Eigen::Vector2d> vectors;
  for (const Displacement& it : displacements) {
    rows.push_back(rows_at(Eigen::Vector2d(it.observed.x - centre.x, it.observed.y - centre.y) / radius));
    vectors.emplace_back(it.projected.x - it.observed.x, it.projected.y - it.observed.y);
  }
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> ordered = lengths;
    const double scale = kScale * quantile(ordered, 0.5);
    // Displacements along a line leave parameters free.
    Eigen::Matrix<double, kParameters, kParameters> matrix = 1e-9 * decltype(matrix)::Identity();
    Eigen::Matrix<double, kParameters, 1> gradient = decltype(gradient)::Zero();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double weight = weight_of(lengths[i], scale);
      matrix += weight * rows[i].transpose() * rows[i];
      gradient += weight * rows[i].transpose() * vectors[i];
    }
    const Eigen::Matrix<double, kParameters, 1> motion = matrix.ldlt().solve(gradient);
    for (std::size_t i = 0; i < rows.size(); ++i) lengths[i] = (vectors[i] - rows[i] * motion).norm();
  }
  return lengths;
}

}  // namespace recon
