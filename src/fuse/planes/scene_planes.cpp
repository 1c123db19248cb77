#include "fuse/planes/scene_planes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <utility>

#include "core/eigen.hpp"
#include "core/parallel.hpp"

namespace recon {
namespace {

constexpr std::size_t kCandidates = 300;  ///< points whose planes are ranked
constexpr std::size_t kSample = 15000;    ///< points that rank them
constexpr std::size_t kFitted = 8;        ///< the best candidates, which are fitted
constexpr int kFits = 5;                  ///< of each
constexpr double kFineShare = 0.5;        ///< of max_distance, in the last fit, to all points

/// The distance of a point to a plane relative to its depth, signed.
double distance(const WorldPlane& plane, const SurfacePoint& point) {
  return (dot(plane.normal, widened(point.position)) - plane.offset) / static_cast<double>(point.depth);
}

bool lies_on(const WorldPlane& plane, const SurfacePoint& point, double max_distance, double min_cosine) {
  return std::abs(distance(plane, point)) <= max_distance &&
         dot(plane.normal, widened(point.normal)) >= min_cosine;
}

std::size_t count_on(const WorldPlane& plane, std::span<const SurfacePoint> points,
                     const ScenePlaneOptions& options) {
  return static_cast<std::size_t>(std::ranges::count_if(points, [&](const SurfacePoint& point) {
    return lies_on(plane, point, options.max_distance, options.min_cosine);
  }));
}

/// Sums of a least-squares plane.
struct PlaneSums {
  double weight = 0;
  Vec3d first{};                      ///< of positions
  std::array<double, 6> second = {};  ///< xx xy xz yy yz zz

  void add(Vec3d p, double w) {
    weight += w;
    first = first + w * p;
    const std::array products = {p.x * p.x, p.x * p.y, p.x * p.z, p.y * p.y, p.y * p.z, p.z * p.z};
    for (std::size_t i = 0; i < products.size(); ++i) second[i] += w * products[i];
  }
  void add(const PlaneSums& other) {
    weight += other.weight;
    first = first + other.first;
    for (std::size_t i = 0; i < second.size(); ++i) second[i] += other.second[i];
  }
};

/// The plane of least squares, on the side of `before`. @param origin  of the positions that were added
WorldPlane plane_of(const PlaneSums& sums, Vec3d origin, const WorldPlane& before) {
  const Vec3d mean = (1 / sums.weight) * sums.first;
  const auto moment = [&](int i, double a, double b) { return sums.second[i] / sums.weight - a * b; };
  Eigen::Matrix3d covariance;
  covariance << moment(0, mean.x, mean.x), moment(1, mean.x, mean.y), moment(2, mean.x, mean.z),
      moment(1, mean.x, mean.y), moment(3, mean.y, mean.y), moment(4, mean.y, mean.z),
      moment(2, mean.x, mean.z), moment(4, mean.y, mean.z), moment(5, mean.z, mean.z);
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(covariance);
  const Eigen::Vector3d least = solver.eigenvectors().col(0);
  Vec3d normal = normalized(Vec3d{least.x(), least.y(), least.z()});
  if (dot(normal, before.normal) < 0) normal = -normal;
  return {normal, dot(normal, mean + origin)};
}

/// Fits a plane to the points near it. Positions are weighted by the inverse squares of their depths, as
/// distances are relative to these.
WorldPlane fitted(const WorldPlane& plane, std::span<const SurfacePoint> points, double max_distance,
                  double min_cosine) {
  constexpr int kBlock = 4096;
  const int blocks = static_cast<int>((points.size() + kBlock - 1) / kBlock);
  const Vec3d origin = plane.offset * plane.normal;
  std::vector<PlaneSums> sums(static_cast<std::size_t>(blocks));
  parallel_for(blocks, [&](int block) {
    const std::size_t begin = static_cast<std::size_t>(block) * kBlock;
    for (const SurfacePoint& point :
         points.subspan(begin, std::min<std::size_t>(kBlock, points.size() - begin))) {
      if (!lies_on(plane, point, max_distance, min_cosine)) continue;
      const double z = static_cast<double>(point.depth), t = distance(plane, point) / max_distance;
      const double tukey = (1 - t * t) * (1 - t * t);
      sums[block].add(widened(point.position) - origin, tukey / (z * z));
    }
  });
  PlaneSums all;
  for (const PlaneSums& block : sums) all.add(block);
  return all.weight > 0 ? plane_of(all, origin, plane) : plane;
}

/// The plane that most points of a shuffled list lie on.
WorldPlane best_plane(std::span<const SurfacePoint> points, const ScenePlaneOptions& options) {
  struct Candidate {
    WorldPlane plane;
    std::size_t count = 0;
  };
  const std::span<const SurfacePoint> sample = points.first(std::min(kSample, points.size()));
  std::vector<Candidate> candidates(std::min(kCandidates, points.size()));
  parallel_for(static_cast<int>(candidates.size()), [&](int i) {
    const Vec3d normal = widened(points[i].normal);
    const WorldPlane plane{normal, dot(normal, widened(points[i].position))};
    candidates[i] = {plane, count_on(plane, sample, options)};
  });
  std::ranges::stable_sort(candidates, std::greater{}, &Candidate::count);
  candidates.resize(std::min(candidates.size(), kFitted));
  parallel_for(static_cast<int>(candidates.size()), [&](int i) {
    auto& [plane, count] = candidates[i];
    for (int fit = 0; fit < kFits; ++fit)
      plane = fitted(plane, sample, options.max_distance, options.min_cosine);
    count = count_on(plane, sample, options);
  });
  WorldPlane plane = std::ranges::max_element(candidates, {}, &Candidate::count)->plane;
  for (int fit = 0; fit < kFits; ++fit)
    plane = fitted(plane, points, kFineShare * options.max_distance, options.min_cosine);
  return plane;
}

/// A shuffle that every standard library makes alike.
void shuffle(std::vector<SurfacePoint>& points) {
  std::minstd_rand random(1);
  for (std::size_t i = points.size(); i > 1; --i) std::swap(points[i - 1], points[random() % i]);
}

/// Some of the points that lie on a plane, which are removed from the list.
std::vector<Vec3d> take_points(const WorldPlane& plane, const ScenePlaneOptions& options,
                               std::vector<SurfacePoint>& points) {
  constexpr std::size_t kStep = 16, kMost = 8192;
  std::vector<Vec3d> some;
  std::size_t count = 0;
  std::erase_if(points, [&](const SurfacePoint& point) {
    if (!lies_on(plane, point, options.max_distance, options.min_cosine)) return false;
    if (count++ % kStep == 0 && some.size() < kMost) some.push_back(widened(point.position));
    return true;
  });
  return some;
}

}  // namespace

PlaneExtent::PlaneExtent(Vec3d normal, const std::vector<Vec3d>& points) {
  constexpr std::array<std::pair<double, double>, kDirections> kTurns = {
      {{1, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 1}, {-1, 2}, {-1, 1}, {-2, 1}}};
  constexpr double kRim = 0.005, kMargin = 0.2;  // shares of the points, and of the extent
  if (points.empty()) return;
  const Vec3d axis = std::abs(normal.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d u = normalized(cross(normal, axis)), v = cross(normal, u);
  std::vector<double> places(points.size());
  const auto rim = static_cast<std::size_t>(kRim * static_cast<double>(places.size()));
  for (std::size_t i = 0; i < kDirections; ++i) {
    directions_[i] = kTurns[i].first * u + kTurns[i].second * v;
    std::ranges::transform(points, places.begin(), [&](Vec3d point) { return dot(directions_[i], point); });
    std::ranges::sort(places);
    const double min = places[rim], max = places[places.size() - 1 - rim];
    limits_[i] = {min - kMargin * (max - min), max + kMargin * (max - min)};
  }
}

bool PlaneExtent::contains(Vec3d point) const {
  for (std::size_t i = 0; i < kDirections; ++i)
    if (const double place = dot(directions_[i], point); place < limits_[i].min || place > limits_[i].max)
      return false;
  return true;
}

std::vector<WorldPlane> find_scene_planes(std::vector<SurfacePoint> points,
                                          const ScenePlaneOptions& options) {
  const double least = options.min_share * static_cast<double>(points.size());
  shuffle(points);
  std::vector<WorldPlane> planes;
  while (std::ssize(planes) < options.max_planes && !points.empty()) {
    WorldPlane plane = best_plane(points, options);
    const std::size_t before = points.size();
    plane.extent = PlaneExtent(plane.normal, take_points(plane, options, points));
    const auto count = static_cast<double>(before - points.size());
    if (count < least || count == 0) break;
    planes.push_back(plane);
  }
  return planes;
}

}  // namespace recon
