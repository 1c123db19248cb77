#include "io/cloud/ply_thinning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/error.hpp"
#include "io/cloud/ply_vertices.hpp"

namespace recon {

namespace {

using Position = std::array<double, 3>;

/// Bits of the index of a cube along each axis: a near scene has cubes also before a sky at 1e10.
constexpr int kAxisBits = 50;

/// Of the indices along the axes, one after the other: a number that no other cube has but by the rarest
/// chance. The step is that of SplitMix64 (Steele, Lea, Flood, 2014), which maps numbers one to one.
std::uint64_t mixed_cube_key(std::uint64_t key, std::uint64_t index) {
  key = key + index + 0x9E3779B97F4A7C15u;
  key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9u;
  key = (key ^ key >> 27) * 0x94D049BB133111EBu;
  return key ^ key >> 31;
}

/// The contracted positions of a cloud in cubes of any size.
class CubeGrid {
 public:
  CubeGrid(const PlyVertices& vertices, const NearBall& near)
      : vertices_(vertices),
        near_(near),
        axes_{
            PlyCoordinate{vertices, "x", &Vec3d::x}, {vertices, "y", &Vec3d::y}, {vertices, "z", &Vec3d::z}} {
    Position max;
    max.fill(-std::numeric_limits<double>::infinity());
    min_.fill(std::numeric_limits<double>::infinity());
    for_each_vertex(vertices, [&](std::string_view vertex) {
      const Position p = position(vertex);
      for (std::size_t i = 0; i < p.size(); ++i) {
        if (!std::isfinite(p[i])) vertices_.fail("a vertex is not finite");
        min_[i] = std::min(min_[i], p[i]);
        max[i] = std::max(max[i], p[i]);
      }
    });
    for (std::size_t i = 0; i < max.size(); ++i) extent_ = std::max(extent_, max[i] - min_[i]);
  }

  /// The longest side of the box of the contracted cloud.
  double extent() const { return extent_; }
  /// The smallest cubes that have indices.
  double min_size() const { return extent_ / static_cast<double>(std::uint64_t{1} << kAxisBits); }

  /// The occupied cubes; nothing where they are more than `max`.
  std::optional<std::uint64_t> count(double size, std::uint64_t max) const {
    std::unordered_set<std::uint64_t> cubes;
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();  // neighbours in the cloud share cubes
    bool within = true;
    for_each_vertex(vertices_, [&](std::string_view vertex) {
      if (!within) return;
      const std::uint64_t key = cube_of(position(vertex), size).key;
      if (key == last) return;
      last = key;
      cubes.insert(key);
      within = cubes.size() <= max;
    });
    if (!within) return std::nullopt;
    return cubes.size();
  }

  /// The points nearest to the centres of the occupied cubes.
  std::vector<std::uint64_t> nearest(double size) const {
    struct Nearest {
      double distance = std::numeric_limits<double>::infinity();
      std::uint64_t index = 0;
    };
    std::unordered_map<std::uint64_t, Nearest> cubes;
    std::uint64_t index = 0;
    for_each_vertex(vertices_, [&](std::string_view vertex) {
      const Cube cube = cube_of(position(vertex), size);
      Nearest& best = cubes[cube.key];
      if (cube.from_centre < best.distance) best = {cube.from_centre, index};
      ++index;
    });
    std::vector<std::uint64_t> indices;
    indices.reserve(cubes.size());
    for (const auto& [key, best] : cubes) indices.push_back(best.index);
    std::ranges::sort(indices);
    return indices;
  }

 private:
  struct Cube {
    std::uint64_t key = 0;
    double from_centre = 0;  ///< squared distance
  };

  Position position(std::string_view vertex) const {
    const Vec3d p = contracted({axes_[0].of(vertex), axes_[1].of(vertex), axes_[2].of(vertex)}, near_);
    return {p.x, p.y, p.z};
  }

  Cube cube_of(const Position& p, double size) const {
    Cube cube;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double at = (p[i] - min_[i]) / size, index = std::floor(at), offset = at - index - 0.5;
      cube.key = mixed_cube_key(cube.key, static_cast<std::uint64_t>(index));
      cube.from_centre += offset * offset;
    }
    return cube;
  }

  const PlyVertices& vertices_;
  const NearBall near_;
  const std::array<PlyCoordinate, 3> axes_;
  Position min_{};
  double extent_ = 0;
};

/// The size of the smallest cubes, within a few percent, of which at most `max` are occupied. Both bounds are
/// looked for in steps that double each time, as few points far away may need far smaller cubes than a
/// surface; then they are bisected.
double size_of_cubes(const CubeGrid& grid, std::uint64_t max) {
  constexpr int kSteps = 12;  // of the bisection
  constexpr double kEnough = 0.99;
  const double one_cube = 2 * grid.extent();
  double fitting = 0, crowded = 0;                                    // 0: none is known
  double size = grid.extent() / std::sqrt(static_cast<double>(max));  // cubes on a plane
  double factor = 2;
  for (int step = 0; step < kSteps;) {
    const auto count = grid.count(size, max);
    (count ? fitting : crowded) = size;
    const bool enough = count && static_cast<double>(*count) >= kEnough * static_cast<double>(max);
    if (enough || (count && size == grid.min_size())) break;
    if (fitting > 0 && crowded > 0) {
      size = std::sqrt(fitting * crowded);
      ++step;
      continue;
    }
    size = count ? std::max(size / factor, grid.min_size()) : std::min(size * factor, one_cube);
    factor *= factor;
  }
  return fitting;
}

}  // namespace

Vec3d contracted(Vec3d point, const NearBall& near) {
  if (std::isinf(near.radius)) return point;
  const Vec3d from_centre = point - near.centre;
  const double distance = norm(from_centre);
  if (!(distance > near.radius)) return 1 / near.radius * from_centre;
  return (2 - near.radius / distance) / distance * from_centre;
}

std::vector<std::uint64_t> thin_ply(const std::filesystem::path& cloud, std::uint64_t max_points,
                                    const NearBall& near) {
  EXPECTS(max_points >= 1 && near.radius > 0);
  const PlyVertices vertices(cloud);
  if (vertices.format() != PlyFormat::kBinaryLittleEndian || !vertices.alone())
    vertices.fail("a cloud that is thinned has to be little-endian and to have vertices alone");
  std::vector<std::uint64_t> all(std::min(vertices.count(), max_points));
  std::iota(all.begin(), all.end(), 0);
  if (all.size() == vertices.count()) return all;
  const CubeGrid grid(vertices, near);
  if (grid.extent() == 0) return {0};
  return grid.nearest(size_of_cubes(grid, max_points));
}

}  // namespace recon
