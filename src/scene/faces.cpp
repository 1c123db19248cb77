#include "scene/faces.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/hypotenuse.hpp"
#include "core/parallel.hpp"

namespace recon {
namespace {

constexpr double kRadiansADegree = std::numbers::pi / 180;
constexpr double kWideAngle = kWideDegrees * kRadiansADegree;
/// Of a side, from its middle: 45 degrees, and the margin.
constexpr double kHalfAngle = 47 * kRadiansADegree;
/// Min share of a side of the cube that the photo shows.
constexpr double kMinShown = 0.05;
/// Points along each side of a face at which it is compared with the photo.
constexpr int kFaceSamples = 128;
/// Shorter sides are no images, pixels.
constexpr int kMinFaceSide = 16;

struct Side {
  const char* name;
  Mat3d face_from_photo;
};

constexpr Side kSides[] = {
    {"front", {{1, 0, 0, 0, 1, 0, 0, 0, 1}}},  {"left", {{0, 0, 1, 0, 1, 0, -1, 0, 0}}},
    {"right", {{0, 0, -1, 0, 1, 0, 1, 0, 0}}}, {"up", {{1, 0, 0, 0, 0, 1, 0, -1, 0}}},
    {"down", {{1, 0, 0, 0, 0, -1, 0, 1, 0}}},  {"back", {{-1, 0, 0, 0, 1, 0, 0, 0, -1}}}};

/// The largest angle to the axis between the principal point and `end`, a point on the photo's edge.
double angle_towards(const Lens& lens, Vec2d end) {
  const Vec2d centre = lens.principal_point();
  const auto angle = [&](double share) -> std::optional<double> {
    const auto ray =
        lens.unproject({centre.x + share * (end.x - centre.x), centre.y + share * (end.y - centre.y)});
    if (!ray) return std::nullopt;
    return std::atan2(hypotenuse(ray->x, ray->y), ray->z);
  };
  if (const auto whole = angle(1)) return *whole;
  double seen = 0, unseen = 1;
  while (unseen - seen > 1e-6) {
    const double middle = 0.5 * (seen + unseen);
    (angle(middle) ? seen : unseen) = middle;
  }
  return angle(seen).value_or(0);
}

bool shows(const Camera& camera, const Lens& lens, Vec3d direction) {
  const auto p = lens.project(direction);
  return p && p->x >= 0 && p->y >= 0 && p->x <= camera.width && p->y <= camera.height;
}

/// What a photo shows of a side of the cube.
struct Shown {
  double share = 0;                                                    ///< of the side without its margin
  bool all = true;                                                     ///< with its margin
  int left = kFaceSamples, top = kFaceSamples, right = 0, bottom = 0;  ///< in samples, with those around
};

Shown shown_of(const Camera& camera, const Lens& lens, const Mat3d& photo_from_face) {
  Shown shown;
  int inner = 0, shown_inner = 0;
  const double extent = std::tan(kHalfAngle);
  for (int j = 0; j <= kFaceSamples; ++j)
    for (int i = 0; i <= kFaceSamples; ++i) {
      const double x = extent * (2.0 * i / kFaceSamples - 1), y = extent * (2.0 * j / kFaceSamples - 1);
      const bool seen = shows(camera, lens, photo_from_face * Vec3d{x, y, 1});
      const bool is_inner = std::max(std::abs(x), std::abs(y)) <= 1;
      inner += is_inner ? 1 : 0;
      shown_inner += is_inner && seen ? 1 : 0;
      shown.all = shown.all && seen;
      if (!seen) continue;
      shown.left = std::min(shown.left, std::max(i - 1, 0));
      shown.top = std::min(shown.top, std::max(j - 1, 0));
      shown.right = std::max(shown.right, std::min(i + 1, kFaceSamples));
      shown.bottom = std::max(shown.bottom, std::min(j + 1, kFaceSamples));
    }
  shown.share = static_cast<double>(shown_inner) / inner;
  return shown;
}

/// The camera of a whole side.
Pinhole side_camera(const Camera& camera, const Lens& lens) {
  const double focal = std::sqrt(std::abs(lens.focal().x * lens.focal().y));
  const double wanted = 2 * std::ceil(focal * std::tan(kHalfAngle)),
               max = std::max(camera.width, camera.height);
  const int side = std::max(kMinFaceSide, static_cast<int>(std::min(wanted, max)));
  const double fitting = wanted > side ? 0.5 * side / std::tan(kHalfAngle) : focal;
  return {side, side, fitting, fitting, 0.5 * side, 0.5 * side};
}

/// The part of a side that the photo shows.
Pinhole cut_to(const Shown& shown, const Pinhole& side) {
  const auto first = [&](int sample) { return side.width * sample / kFaceSamples; };
  const auto last = [&](int sample) { return (side.width * sample + kFaceSamples - 1) / kFaceSamples; };
  const int left = std::min(first(shown.left), side.width - kMinFaceSide);
  const int top = std::min(first(shown.top), side.height - kMinFaceSide);
  return {std::max(last(shown.right) - left, kMinFaceSide),
          std::max(last(shown.bottom) - top, kMinFaceSide),
          side.fx,
          side.fy,
          side.cx - left,
          side.cy - top};
}

/// NAME.side.ending of a photo NAME.ending, or a name that is not taken.
std::string face_name(const std::string& photo, const std::string& side, std::set<std::string>& taken) {
  const std::size_t slash = photo.find_last_of('/');
  std::size_t dot = photo.find_last_of('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) dot = photo.size();
  std::string name = photo.substr(0, dot) + "." + side;
  for (int n = 1; !taken.insert(name + photo.substr(dot)).second; ++n)
    name = photo.substr(0, dot) + "." + side + "." + std::to_string(n);
  return name + photo.substr(dot);
}

/// Where an observation of a view of the whole scene is now.
struct Moved {
  int view = -1;
  std::uint32_t observation = 0;
};

/// Makes a scene with faces from one without, which it takes apart: there is one model in memory.
class Division {
 public:
  explicit Division(Scene scene) : scene_(std::move(scene)), faces_(scene_.cameras.size()) {
    for (std::size_t c = 0; c < scene_.cameras.size(); ++c)
      if (is_wide(scene_.cameras[c])) faces_[c] = faces_of(scene_.cameras[c]);
  }

  /// The last call.
  Scene divided() {
    if (!has_wide_views()) return std::move(scene_);
    result_.unusable = std::move(scene_.unusable);
    result_.warnings = std::move(scene_.warnings);
    add_cameras();
    add_views();
    sort_views();
    move_tracks();
    return std::move(result_);
  }

 private:
  bool has_wide_views() const {
    return std::ranges::any_of(scene_.views, [&](const View& view) { return !faces_[view.camera].empty(); });
  }

  void add_cameras() {
    std::uint32_t next = 0;
    for (const std::uint32_t id : scene_.camera_ids) next = std::max(next, id);
    for (std::size_t c = 0; c < scene_.cameras.size(); ++c) {
      first_camera_.push_back(static_cast<int>(result_.cameras.size()));
      if (faces_[c].empty()) {
        result_.cameras.push_back(scene_.cameras[c]);
        result_.camera_ids.push_back(scene_.camera_ids[c]);
      }
      for (const Face& face : faces_[c]) {
        result_.cameras.push_back(to_camera(face.camera));
        result_.camera_ids.push_back(++next);
      }
    }
  }

  void add_views() {
    std::set<std::string> taken;
    std::uint32_t next = 0;
    for (const View& view : scene_.views) taken.insert(view.name), next = std::max(next, view.id);
    const std::vector<Lens> lenses(scene_.cameras.begin(), scene_.cameras.end());
    moved_.resize(scene_.views.size());
    for (std::size_t v = 0; v < scene_.views.size(); ++v) {
      const View view = std::move(scene_.views[v]);
      const auto first = static_cast<int>(result_.views.size());
      for (const Face& face : faces_[view.camera]) {
        result_.views.push_back(view_of(view, face, face_name(view.name, face.side, taken)));
        result_.views.back().id = ++next;
        result_.views.back().camera =
            first_camera_[view.camera] + static_cast<int>(&face - faces_[view.camera].data());
      }
      if (faces_[view.camera].empty()) {
        result_.views.push_back(view);
        result_.views.back().camera = first_camera_[view.camera];
        for (std::uint32_t i = 0; i < view.observations.size(); ++i) moved_[v].push_back({first, i});
      } else {
        move_observations(view, lenses[view.camera], first, moved_[v]);
      }
    }
  }

  View view_of(const View& view, const Face& face, const std::string& name) const {
    View result = view;
    result.name = name;
    result.photo = view.photo_file();
    result.cam_from_world = Pose{face.face_from_photo, {0, 0, 0}} * view.cam_from_world;
    result.depth_file.clear();  // of the whole photo
    result.observations.clear();
    result.face = std::make_shared<const PhotoFace>(
        PhotoFace{view.name, face.side, scene_.cameras[view.camera], face.face_from_photo});
    if (!face.covered && result.mask_hash.empty()) result.mask_hash = "outside the photo";
    return result;
  }

  /// Gives each observation of a view to one of its faces.
  void move_observations(const View& view, const Lens& lens, int first, std::vector<Moved>& moved) {
    const std::vector<Face>& faces = faces_[view.camera];
    std::vector<std::vector<Observation>> of_face(faces.size());
    for (const Observation& observation : view.observations) {
      moved.emplace_back();
      const std::optional<Vec3d> ray = lens.unproject(observation.pixel);
      if (!ray) continue;
      double nearest = 0;
      std::optional<std::size_t> best;
      Vec2d pixel{0, 0};
      for (std::size_t f = 0; f < faces.size(); ++f) {
        const Vec3d x = faces[f].face_from_photo * *ray;
        if (!(x.z > nearest) || !faces[f].camera.contains(faces[f].camera.project(x))) continue;
        nearest = x.z, best = f, pixel = faces[f].camera.project(x);
      }
      if (!best) continue;
      moved.back() = {first + static_cast<int>(*best), static_cast<std::uint32_t>(of_face[*best].size())};
      of_face[*best].push_back({pixel, observation.point_id});
    }
    for (std::size_t f = 0; f < faces.size(); ++f)
      result_.views[static_cast<std::size_t>(first) + f].observations = std::move(of_face[f]);
  }

  /// Brings the views into the order of their names.
  void sort_views() {
    std::vector<int> order(result_.views.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](int a, int b) { return result_.views[a].name < result_.views[b].name; });
    std::vector<View> sorted;
    std::vector<int> place(order.size());
    for (const int view : order) {
      place[view] = static_cast<int>(sorted.size());
      sorted.push_back(std::move(result_.views[view]));
    }
    result_.views = std::move(sorted);
    for (std::vector<Moved>& list : moved_)
      for (Moved& it : list)
        if (it.view >= 0) it.view = place[it.view];
  }

  void move_tracks() {
    result_.points = std::move(scene_.points);
    for (SparsePoint& point : result_.points.edit()) {
      for (TrackElement& element : point.track) {
        const Moved& to = moved_[element.view][element.observation];
        element = {to.view, to.observation};
      }
      std::erase_if(point.track, [](const TrackElement& element) { return element.view < 0; });
    }
  }

  Scene scene_, result_;
  std::vector<std::vector<Face>> faces_;   ///< of each camera; empty: it is not wide
  std::vector<int> first_camera_;          ///< of each camera, its own or of its faces
  std::vector<std::vector<Moved>> moved_;  ///< of each view, the observations
};

}  // namespace

bool is_wide(const Camera& camera) {
  if (is_perspective(camera.model)) return false;
  if (is_panorama(camera.model)) return true;
  const Lens lens(camera);
  const auto [x, y] = lens.principal_point();
  const double w = camera.width, h = camera.height;
  return angle_towards(lens, {0, y}) + angle_towards(lens, {w, y}) > kWideAngle ||
         angle_towards(lens, {x, 0}) + angle_towards(lens, {x, h}) > kWideAngle;
}

std::vector<Face> faces_of(const Camera& camera) {
  const Lens lens(camera);
  const Pinhole whole = side_camera(camera, lens);
  std::vector<Face> faces;
  for (const Side& side : kSides) {
    const Shown shown = shown_of(camera, lens, transpose(side.face_from_photo));
    if (shown.share < kMinShown) continue;
    faces.push_back({side.name, side.face_from_photo, cut_to(shown, whole), shown.all});
  }
  return faces;
}

void ignore_margin(const Pinhole& face, Image<std::uint8_t>& mask) {
  EXPECTS(mask.width() == face.width && mask.height() == face.height);
  const auto is_on_side = [&](int x, int y) {
    const Vec3d first = face.ray({static_cast<double>(x), static_cast<double>(y)}),
                last = face.ray({x + 1.0, y + 1.0});
    return first.x >= -1 && first.y >= -1 && last.x <= 1 && last.y <= 1;
  };
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x)
      if (!is_on_side(x, y)) mask(x, y) = 0;
}

Scene with_faces(Scene scene) {
  return Division(std::move(scene)).divided();
}

}  // namespace recon
