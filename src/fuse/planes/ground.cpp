#include "fuse/planes/ground.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/quantile.hpp"
#include "fuse/planes/area_pixels.hpp"
#include "fuse/planes/asked_plane.hpp"
#include "fuse/planes/plane_match.hpp"

namespace recon {
namespace {

// Heights of the cameras above the ground that are tried, of the depth of the scene.
constexpr double kMinHeight = 0.01, kMaxHeight = 0.5, kHeightRatio = 1.06;
constexpr double kMaxDepth = 3;  ///< at which the ground is looked for, of that of the scene

// Levels around the height that is found.
constexpr int kLevels = 31;          ///< that are voted for
constexpr double kLevelStep = 0.01;  ///< of the height
constexpr int kParts = 4;            ///< into which the steps are divided in the end
static_assert((kLevels - 1) * kParts + 1 == kGroundLevels);
constexpr double kCell = 0.3;  ///< of a relief, of the height

constexpr float kMinZncc = 0.5f;  ///< of a match that votes
constexpr double kMinClear = 3;   ///< of the votes for a height, those for heights kBeside steps away
constexpr int kBeside = 5;        ///< steps, a third
constexpr std::size_t kMinVotes = 200;
constexpr double kCoarsePixels = 60000;  ///< of all views, known ones too, when the height is searched
constexpr int kFineStep = 2;             ///< pixels between those that vote for a level
constexpr int kMargin = 4;               ///< of the windows, pixels

/// A pixel's vote for one of several heights or levels.
struct Vote {
  AreaPixel pixel;
  int index;
  float weight;
};

/// The votes of every `step`-th pixel of a view that has no depth and whose ray meets the lowest plane: for
/// the one on which it matches best, with the weight of by how much better than usually.
std::vector<Vote> votes_of(const GroundView& view, const std::vector<WorldPlane>& heights, double max_depth,
                           int step) {
  const PlaneView& reference = view.reference;
  const auto is_sky = [&](int x, int y) { return !reference.sky.empty() && reference.sky(x, y) != 0; };
  const SeenPlane lowest(heights.front(), reference.camera, reference.cam_from_world);
  std::vector<AreaPixel> pixels;
  for (int y = kMargin; y < reference.camera.height - kMargin; y += step)
    for (int x = kMargin; x < reference.camera.width - kMargin; x += step)
      if (std::isnan(reference.depth(x, y)) && !is_sky(x, y) && lowest.inverse_depth(pixel_centre(x, y)) > 0)
        pixels.push_back({x, y});
  if (pixels.empty() || view.sources.empty()) return {};
  std::vector<float> zncc(pixels.size() * heights.size());
  parallel_for(static_cast<int>(heights.size()), [&](int k) {
    const SeenPlane seen(heights[k], reference.camera, reference.cam_from_world);
    if (!seen.faces()) return;
    PlaneMatch match(reference, view.sources);
    match.set_plane(seen);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      if (seen.inverse_depth(pixel_centre(pixels[i].x, pixels[i].y)) * max_depth < 1) continue;
      const float found = match.zncc(pixels[i].x, pixels[i].y);
      zncc[i * heights.size() + k] = std::isnan(found) ? 0 : found;
    }
  });
  std::vector<Vote> votes;
  std::vector<float> sorted;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::span<const float> of_pixel = std::span(zncc).subspan(i * heights.size(), heights.size());
    const auto best = std::ranges::max_element(of_pixel);
    if (*best < kMinZncc) continue;
    sorted.assign(of_pixel.begin(), of_pixel.end());
    votes.push_back({pixels[i], static_cast<int>(best - of_pixel.begin()), *best - quantile(sorted, 0.5)});
  }
  return votes;
}

std::vector<std::vector<Vote>> votes_of(const std::vector<GroundView>& views,
                                        const std::vector<WorldPlane>& heights, double max_depth, int step,
                                        int at_once) {
  std::vector<std::vector<Vote>> votes(views.size());
  bounded_parallel_for(static_cast<int>(views.size()), at_once,
                       [&](int i) { votes[i] = votes_of(views[i], heights, max_depth, step); });
  return votes;
}

Vec3d mean_centre(const std::vector<GroundView>& views) {
  Vec3d sum{};
  for (const GroundView& view : views) sum = sum + camera_centre(view.reference.cam_from_world);
  return (1.0 / static_cast<double>(views.size())) * sum;
}

/// The height of the cameras above the ground that is clearly voted for.
std::optional<double> voted_height(const std::vector<GroundView>& views, Vec3d up, double depth,
                                   int at_once) {
  const double cameras = dot(up, mean_centre(views));
  std::vector<double> heights;
  std::vector<WorldPlane> planes;
  for (double height = kMaxHeight * depth; height >= kMinHeight * depth; height /= kHeightRatio) {
    heights.push_back(height);
    planes.push_back({up, cameras - height});
  }
  double pixels = 0;
  for (const GroundView& view : views)
    pixels += static_cast<double>(view.reference.camera.width) * view.reference.camera.height;
  const int step = std::max(kFineStep, static_cast<int>(std::ceil(std::sqrt(pixels / kCoarsePixels))));
  std::vector<std::size_t> votes(heights.size());
  for (const std::vector<Vote>& of_view : votes_of(views, planes, kMaxDepth * depth, step, at_once))
    for (const Vote& vote : of_view) ++votes[vote.index];
  const auto near = [&](std::size_t i) { return votes[i - 1] + votes[i] + votes[i + 1]; };  // it is not flat
  std::size_t best = 1;
  for (std::size_t i = 1; i + 1 < votes.size(); ++i)
    if (near(i) > near(best)) best = i;
  if (best <= kBeside || best + kBeside + 1 >= votes.size() || near(best) < kMinVotes) return {};
  const auto beside = static_cast<double>(std::max(near(best - kBeside), near(best + kBeside)));
  if (static_cast<double>(near(best)) < kMinClear * beside) return {};
  return heights[best];
}

/// Where a pixel's ray meets a plane.
std::optional<Vec3d> place_on(const SeenPlane& plane, const Pinhole& camera, const Pose& world_from_cam,
                              AreaPixel pixel) {
  const Vec2d centre = pixel_centre(pixel.x, pixel.y);
  const double inverse_depth = plane.inverse_depth(centre);
  if (!(inverse_depth > 0)) return {};
  return world_from_cam * (1 / inverse_depth * camera.ray(centre));
}

/// The level at which a pixel shows the ground; -1: none.
int level_of(const Ground& ground, const std::vector<AskedPlane>& levels, const Pinhole& camera,
             const Pose& world_from_cam, AreaPixel pixel) {
  auto level = static_cast<int>(levels.size()) / 2;
  for (int i = 0; i < 3; ++i) {  // of the place on the level that was found before
    const auto place = place_on(levels[level].seen(), camera, world_from_cam, pixel);
    const auto found = place ? ground.relief.level(*place) : std::nullopt;
    if (!found) return -1;
    level = static_cast<int>(std::lround(*found * kParts));
  }
  return level;
}

}  // namespace

std::optional<Vec3d> up_direction(const std::vector<PlaneView>& views,
                                  const std::vector<WorldPlane>& planes) {
  constexpr double kLevel = 0.34, kSameWall = 0.87, kUpright = 0.94;  // cosines of 70, 30 and 20 degrees
  Vec3d upper{};
  for (const PlaneView& view : views)
    upper = upper + transpose(view.cam_from_world.rotation) * Vec3d{0, -1, 0};
  if (!(norm(upper) > 0)) return {};
  upper = normalized(upper);
  std::vector<Vec3d> walls;
  for (const WorldPlane& plane : planes)
    if (std::abs(dot(plane.normal, upper)) < kLevel) walls.push_back(plane.normal);
  if (walls.empty()) return {};
  for (const Vec3d& wall : walls) {
    if (std::abs(dot(wall, walls.front())) > kSameWall) continue;
    const Vec3d across = normalized(cross(walls.front(), wall));
    if (std::abs(dot(across, upper)) > kUpright) return dot(across, upper) > 0 ? across : -across;
  }
  return normalized(upper - dot(upper, walls.front()) * walls.front());
}

std::optional<Ground> find_ground(const std::vector<GroundView>& views, Vec3d up, double depth, int at_once) {
  EXPECTS(depth > 0 && std::isfinite(depth));
  if (views.empty()) return {};
  const std::optional<double> height = voted_height(views, up, depth, at_once);
  if (!height) return {};
  Ground ground;
  const double cameras = dot(up, mean_centre(views));
  const auto level = [&](double i) {
    return WorldPlane{up, cameras - *height * (1 - kLevelStep * (i - kLevels / 2))};
  };
  std::vector<WorldPlane> levels;
  for (int i = 0; i < kLevels; ++i) levels.push_back(level(i));
  const auto votes = votes_of(views, levels, kMaxDepth * depth, kFineStep, at_once);
  const auto each_place = [&](const auto& body) {
    for (std::size_t i = 0; i < views.size(); ++i)
      for (const Vote& vote : votes[i]) {
        if (vote.index == 0 || vote.index == kLevels - 1) continue;  // it may be beyond them
        const PlaneView& view = views[i].reference;
        const SeenPlane seen(levels[vote.index], view.camera, view.cam_from_world);
        if (const auto place = place_on(seen, view.camera, inverse(view.cam_from_world), vote.pixel))
          body(*place, vote);
      }
  };
  PlaceBounds bounds(up);
  each_place([&](Vec3d place, const Vote&) { bounds.add(place); });
  ground.relief = GroundRelief(bounds, kLevels, kCell * *height);
  each_place([&](Vec3d place, const Vote& vote) { ground.relief.vote(place, vote.index, vote.weight); });
  ground.relief.decide();
  for (int i = 0; i < kGroundLevels; ++i) ground.levels.push_back(level(static_cast<double>(i) / kParts));
  return ground;
}

void label_ground(const GroundView& view, const Ground& ground, std::uint8_t first_label,
                  ImageView<std::uint8_t> labels) {
  const PlaneView& reference = view.reference;
  std::vector<AskedPlane> levels;
  for (std::size_t i = 0; i < ground.levels.size(); ++i)
    levels.emplace_back(ground.levels[i], static_cast<std::uint8_t>(first_label + i), reference,
                        view.sources);
  const Pose world_from_reference = inverse(reference.cam_from_world);
  parallel_for(reference.camera.height, [&](int y) {
    for (int x = 0; x < reference.camera.width; ++x) {
      if (labels(x, y) != kUnlabelled || !std::isnan(reference.depth(x, y))) continue;
      const int level = level_of(ground, levels, reference.camera, world_from_reference, {x, y});
      if (level < 0 || !levels[level].seen().faces()) continue;
      PlaneAnswers answers;
      levels[level].ask({x, y}, answers);
      if (answers.allow()) labels(x, y) = levels[level].label();
    }
  });
}

}  // namespace recon
