#include "scene/faces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <set>

#include "scene/depth_range.hpp"
#include "scene/sparse_index.hpp"
#include "scene/undistort.hpp"
#include "scene/view_selection.hpp"

namespace recon {
namespace {

std::vector<Camera> wide_cameras() {
  using M = CameraModel;
  return {
      {M::kOpenCvFisheye, 640, 480, {193, 191, 322, 238, 0, 0.001, 0, 0}},
      {M::kRadialFisheye, 640, 640, {193, 320, 320, 0.01, -0.002}},
      {M::kThinPrismFisheye, 640, 480, {190, 190, 320, 240, 0.01, 0, 0.0005, -0.0004, 0, 0, 0.0004, 0.0003}},
      {M::kRadTanThinPrismFisheye,
       640,
       480,
       {190, 190, 320, 240, 0.01, 0, 0, 0, 0, 0, 0.0005, -0.0004, 0.0004, 0.0001, 0.0003, -0.0001}},
      {M::kFisheye, 640, 480, {250, 250, 320, 240}},
      {M::kFov, 640, 480, {280, 280, 320, 240, 1.0}},
      {M::kEucm, 640, 480, {280, 280, 320, 240, 0.6, 1.1}},
      {M::kEquirectangular, 512, 256, {512, 256}},
  };
}

class EveryWideCamera : public testing::TestWithParam<int> {
 protected:
  const Camera camera = wide_cameras()[static_cast<std::size_t>(GetParam())];
  const std::vector<Face> faces = faces_of(camera);
};

INSTANTIATE_TEST_SUITE_P(Cameras, EveryWideCamera,
                         testing::Range(0, static_cast<int>(wide_cameras().size())));

const Face* face_that_sees(const std::vector<Face>& faces, Vec3d direction) {
  for (const Face& face : faces) {
    const Vec3d x = face.face_from_photo * direction;
    if (x.z > 0 && face.camera.contains(face.camera.project(x))) return &face;
  }
  return nullptr;
}

TEST_P(EveryWideCamera, IsWideAndItsFacesAreRotations) {
  EXPECT_TRUE(is_wide(camera));
  ASSERT_GE(faces.size(), 3u);
  std::set<std::string> sides;
  for (const Face& face : faces) {
    EXPECT_TRUE(sides.insert(face.side).second);
    const Mat3d square = face.face_from_photo * transpose(face.face_from_photo);
    EXPECT_EQ(square.m[0] + square.m[4] + square.m[8], 3);
    const auto row = [&](int i) {
      return Vec3d{face.face_from_photo(i, 0), face.face_from_photo(i, 1), face.face_from_photo(i, 2)};
    };
    EXPECT_EQ(norm(cross(row(0), row(1)) - row(2)), 0) << face.side;
    EXPECT_LE(std::max(face.camera.width, face.camera.height), std::max(camera.width, camera.height));
  }
}

// But for the outermost ring, of which a side would have too little.
TEST_P(EveryWideCamera, FacesCoverThePhoto) {
  const Lens lens(camera);
  int seen = 0, pixels = 0;
  for (int y = 0; y < camera.height; y += 3)
    for (int x = 0; x < camera.width; x += 3) {
      const auto ray = lens.unproject(pixel_centre(x, y));
      if (!ray) continue;
      ++pixels;
      const double angle = std::atan2(std::hypot(ray->x, ray->y), ray->z) * 180 / std::numbers::pi;
      const bool covered = face_that_sees(faces, *ray) != nullptr;
      seen += covered ? 1 : 0;
      if (angle < 46) {
        ASSERT_TRUE(covered) << x << ' ' << y;
      }
    }
  EXPECT_GE(seen, 0.97 * pixels);
  if (is_panorama(camera.model)) {
    EXPECT_EQ(seen, pixels);
  }
}

// A pattern of the direction is the same in the photo and in each face.
TEST_P(EveryWideCamera, AFaceShowsWhatThePhotoShowsInItsDirections) {
  const Lens lens(camera);
  const auto level = [](Vec3d d) {
    const Vec3d u = normalized(d);
    return static_cast<std::uint8_t>(
        std::lround(127.5 + 40 * (std::sin(4 * u.x) + std::sin(3 * u.y + 1) + std::sin(3 * u.z))));
  };
  Image<Rgb8> photo(camera.width, camera.height, Rgb8{0, 0, 0});
  for (int y = 0; y < camera.height; ++y)
    for (int x = 0; x < camera.width; ++x)
      if (const auto ray = lens.unproject(pixel_centre(x, y))) {
        const std::uint8_t v = level(*ray);
        photo(x, y) = {v, v, v};
      }
  for (const Face& face : faces) {
    const Image<Rgb8> image = undistort_face(photo.view(), camera, face.camera, face.face_from_photo);
    const Image<std::uint8_t> mask = undistort_face_mask({}, camera, face.camera, face.face_from_photo);
    int worst = 0, shown = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) {
        const Vec3d d = transpose(face.face_from_photo) * face.camera.ray(pixel_centre(x, y));
        const auto pixel = lens.project(d);
        const bool inside = pixel && pixel->x > 1 && pixel->y > 1 && pixel->x < camera.width - 1 &&
                            pixel->y < camera.height - 1;
        if (inside) {
          ASSERT_EQ(mask(x, y), 255) << face.side << x << ' ' << y;
        }
        if (!inside && !is_panorama(camera.model)) continue;
        ++shown;
        worst = std::max(worst, std::abs(image(x, y).r - level(d)));
      }
    EXPECT_GT(shown, 100) << face.side;
    EXPECT_LE(worst, 2) << face.side;
    bool all = true;
    for (int y = 0; y < image.height(); ++y)
      all = all && std::all_of(mask.row(y), mask.row(y) + image.width(), [](auto m) { return m != 0; });
    if (face.covered) {
      EXPECT_TRUE(all) << face.side;
    }
  }
}

// Faces overlap, but not in the pixels that count: none of two faces confirms what the other one says.
TEST_P(EveryWideCamera, FacesHaveNoDirectionInCommonWithoutTheirMargins) {
  std::vector<Image<std::uint8_t>> masks;
  for (const Face& face : faces) {
    masks.emplace_back(face.camera.width, face.camera.height, 255);
    ignore_margin(face.camera, masks.back());
  }
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  int seen = 0, counted = 0;
  for (int i = 0; i < 200000; ++i) {
    const Vec3d direction{normal(random), normal(random), normal(random)};
    int with_margin = 0, without = 0;
    for (std::size_t f = 0; f < faces.size(); ++f) {
      const Vec3d x = faces[f].face_from_photo * direction;
      if (!(x.z > 0)) continue;
      const Vec2d p = faces[f].camera.project(x);
      if (!faces[f].camera.contains(p)) continue;
      ++with_margin;
      without += masks[f](static_cast<int>(p.x), static_cast<int>(p.y)) != 0 ? 1 : 0;
    }
    ASSERT_LE(without, 1);
    seen += with_margin > 0 ? 1 : 0;
    counted += without;
  }
  EXPECT_GT(counted, 0.95 * seen);
}

TEST(FaceMask, IgnoresWhatThePhotosMaskIgnoresAndWhatLiesOutside) {
  const Camera camera = wide_cameras()[0];
  Image<std::uint8_t> mask(camera.width, camera.height, 255);
  const Lens lens(camera);
  for (int y = 0; y < camera.height; ++y)
    for (int x = 0; x < 100; ++x) mask(x, y) = 0;
  int outside = 0, ignored = 0;
  for (const Face& face : faces_of(camera)) {
    const Image<std::uint8_t> cut =
        undistort_face_mask(mask.view(), camera, face.camera, face.face_from_photo);
    for (int y = 0; y < cut.height(); ++y)
      for (int x = 0; x < cut.width(); ++x) {
        const auto p = lens.project(transpose(face.face_from_photo) * face.camera.ray(pixel_centre(x, y)));
        const bool in_photo = p && p->x >= 0 && p->y >= 0 && p->x <= camera.width && p->y <= camera.height;
        outside += in_photo ? 0 : 1;
        if (!in_photo || p->x < 98) {
          ASSERT_EQ(cut(x, y), 0) << face.side;
        }
        if (in_photo && p->x > 103 && p->x < camera.width - 2 && p->y > 2 && p->y < camera.height - 2) {
          ASSERT_EQ(cut(x, y), 255) << face.side;
        }
        ignored += in_photo && cut(x, y) == 0;
      }
  }
  EXPECT_GT(outside, 1000);
  EXPECT_GT(ignored, 1000);
}

/// The middle pixel of the view backwards shows half of the last column and half of the first one.
TEST(FaceOfAPanorama, ContinuesAcrossTheEdgesOfThePhoto) {
  const Camera camera{CameraModel::kEquirectangular, 64, 32, {64, 32}};
  Image<Rgb8> photo(camera.width, camera.height);
  Image<std::uint8_t> mask(camera.width, camera.height, 255);
  for (int y = 0; y < camera.height; ++y) {
    for (int x = 0; x < camera.width; ++x) photo(x, y) = {0, 0, 0};
    photo(0, y) = {100, 100, 100};
    photo(camera.width - 1, y) = {200, 200, 200};
    mask(0, y) = 0;
  }
  const Mat3d back{-1, 0, 0, 0, 1, 0, 0, 0, -1};
  const double a_quarter_pixel = 1 / std::tan(0.25 * 2 * std::numbers::pi / camera.width);
  const Pinhole target{3, 3, a_quarter_pixel, a_quarter_pixel, 1.5, 1.5};
  const Image<Rgb8> face = undistort_face(photo.view(), camera, target, back);
  EXPECT_NEAR(face(0, 1).r, 175, 1);
  EXPECT_NEAR(face(1, 1).r, 150, 1);
  EXPECT_NEAR(face(2, 1).r, 125, 1);
  const Image<std::uint8_t> ignored = undistort_face_mask(mask.view(), camera, target, back);
  for (int x = 0; x < 3; ++x) EXPECT_EQ(ignored(x, 1), 0) << x;
}

TEST(Faces, NarrowAndPerspectiveCamerasHaveNone) {
  EXPECT_FALSE(is_wide({CameraModel::kPinhole, 640, 480, {100, 100, 320, 240}}));
  EXPECT_FALSE(is_wide({CameraModel::kOpenCv, 640, 480, {100, 100, 320, 240, 0, 0, 0, 0}}));
  EXPECT_FALSE(is_wide({CameraModel::kFisheye, 640, 480, {340, 340, 320, 240}}));
  EXPECT_TRUE(is_wide({CameraModel::kFisheye, 640, 480, {330, 330, 320, 240}}));
}

/// Two panoramas and a pinhole photo in a sphere of points.
Scene scene_of_panoramas() {
  Scene scene;
  scene.camera_ids = {3, 9};
  scene.cameras = {{CameraModel::kEquirectangular, 512, 256, {512, 256}},
                   {CameraModel::kPinhole, 200, 150, {150, 150, 100, 75}}};
  const struct {
    const char* name;
    int camera;
    Vec3d centre;
  } views[] = {{"a.left.jpg", 1, {0, 0, 0}}, {"a.jpg", 0, {0.1, 0, 0}}, {"sub/b.jpg", 0, {0.5, 0.1, 0.2}}};
  for (const auto& [name, camera, centre] : views) {
    View view;
    view.id = static_cast<std::uint32_t>(scene.views.size() + 4);
    view.name = name, view.camera = camera;
    view.cam_from_world.translation = -centre;
    scene.views.push_back(view);
  }
  std::sort(scene.views.begin(), scene.views.end(),
            [](const View& a, const View& b) { return a.name < b.name; });
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (std::uint64_t id = 1; id <= 600; ++id) {
    SparsePoint point;
    point.id = id;
    point.position = 4.0 * normalized(Vec3d{normal(random), normal(random), normal(random)});
    for (int v = 0; v < 3; ++v) {
      View& view = scene.views[static_cast<std::size_t>(v)];
      const Camera& camera = scene.cameras[static_cast<std::size_t>(view.camera)];
      const auto p = Lens(camera).project(view.cam_from_world * point.position);
      if (!p || p->x < 0 || p->y < 0 || p->x > camera.width || p->y > camera.height) continue;
      point.track.push_back({v, static_cast<std::uint32_t>(view.observations.size())});
      view.observations.push_back({*p, id});
    }
    scene.points.push_back(point);
  }
  return scene;
}

TEST(WithFaces, EveryObservationGoesToTheFaceThatSeesItAndTracksFollow) {
  const Scene scene = with_faces(scene_of_panoramas());
  ASSERT_EQ(scene.views.size(), 13u);
  std::set<std::string> names;
  std::set<std::uint32_t> ids, camera_ids(scene.camera_ids.begin(), scene.camera_ids.end());
  for (const View& view : scene.views) names.insert(view.name), ids.insert(view.id);
  EXPECT_EQ(names.size(), 13u);
  EXPECT_EQ(ids.size(), 13u);
  EXPECT_EQ(scene.cameras.size(), 7u);
  EXPECT_EQ(camera_ids.size(), 7u);
  EXPECT_TRUE(names.contains("a.front.jpg") && names.contains("sub/b.back.jpg"));
  EXPECT_TRUE(names.contains("a.left.jpg") && names.contains("a.left.1.jpg")) << "a name that is taken";
  EXPECT_TRUE(std::is_sorted(scene.views.begin(), scene.views.end(),
                             [](const View& a, const View& b) { return a.name < b.name; }));
  std::size_t elements = 0;
  for (const SparsePoint& point : scene.points) {
    EXPECT_GE(point.track.size(), 2u) << "each panorama sees every point once";
    for (const TrackElement& element : point.track) {
      const View& view = scene.views.at(static_cast<std::size_t>(element.view));
      const Observation& seen = view.observations[element.observation];
      EXPECT_EQ(seen.point_id, point.id);
      const auto p = Lens(scene.cameras[static_cast<std::size_t>(view.camera)])
                         .project(view.cam_from_world * point.position);
      ASSERT_TRUE(p);
      EXPECT_NEAR(p->x, seen.pixel.x, 1e-6);
      EXPECT_NEAR(p->y, seen.pixel.y, 1e-6);
      ++elements;
    }
  }
  std::size_t observations = 0;
  for (const View& view : scene.views) observations += view.observations.size();
  EXPECT_EQ(elements, observations);
  for (const View& view : scene.views) {
    if (!view.face) continue;
    EXPECT_EQ(view.photo_file(), view.face->photo);
    const Vec3d centre = camera_centre(view.cam_from_world);
    EXPECT_NEAR(centre.x, view.face->photo == "a.jpg" ? 0.1 : 0.5, 1e-12);
  }
}

TEST(WithFaces, TheModelIsNotHeldTwice) {
  Scene scene = scene_of_panoramas();
  const SparsePoint* const points = scene.points.begin();
  const auto pinhole = std::ranges::find_if(scene.views, [](const View& view) { return view.camera == 1; });
  const Observation* const observations = pinhole->observations.begin();
  const std::string name = pinhole->name;
  const Scene divided = with_faces(std::move(scene));
  EXPECT_EQ(divided.points.begin(), points);
  EXPECT_EQ(std::ranges::find(divided.views, name, &View::name)->observations.begin(), observations);
}

/// Panoramas in a plane, without points.
TEST(WithFaces, SidesOfACubeHaveNoViewingDistance) {
  Scene scene;
  scene.camera_ids = {1};
  scene.cameras = {{CameraModel::kEquirectangular, 512, 256, {512, 256}}};
  for (int i = 0; i < 8; ++i) {
    View view;
    view.id = static_cast<std::uint32_t>(i + 1);
    view.name = std::to_string(i) + ".jpg";
    view.cam_from_world.translation = {0.3 * (i % 3), 0, -0.5 * i};
    scene.views.push_back(view);
  }
  const Scene faces = with_faces(scene);
  for (const auto& distance : viewing_distances(SceneGeometry(faces))) EXPECT_FALSE(distance);
  // The axis of a lens is aimed, and the faces beside it have the distance of those.
  scene.cameras = {{CameraModel::kFisheye, 640, 480, {200, 200, 320, 240}}};
  for (std::size_t i = 0; i < scene.views.size(); ++i) {
    const double angle = 0.2 * static_cast<double>(i), c = std::cos(angle), s = std::sin(angle);
    scene.views[i].cam_from_world = {{c, 0, -s, 0, 1, 0, s, 0, c},
                                     {0, 0, 3}};  // on a circle around the origin
  }
  for (const auto& distance : viewing_distances(SceneGeometry(with_faces(scene)))) {
    ASSERT_TRUE(distance);
    EXPECT_NEAR(*distance, 3, 1e-6);
  }
}

TEST(WithFaces, ASceneWithoutWideViewsStaysAsItIs) {
  Scene scene = scene_of_panoramas();
  std::erase_if(scene.views, [](const View& view) { return view.camera == 0; });
  scene.points.clear();
  const Scene same = with_faces(scene);
  ASSERT_EQ(same.views.size(), 1u);
  EXPECT_EQ(same.views[0].id, scene.views[0].id);
  EXPECT_EQ(same.cameras.size(), 2u);
}

TEST(WithFaces, FacesOfOnePhotoAreNoSourcesAndNoNeighboursOfEachOther) {
  const Scene scene = with_faces(scene_of_panoramas());
  const SceneIndex index(scene);
  ViewSelectionOptions options;
  options.min_angle_degrees = 0;
  const auto sources = select_sources(index, options);
  const auto expected = expected_ranges(index, sources);
  const auto overlapping = overlapping_views(index, expected, 20);
  std::size_t chosen = 0;
  for (std::size_t v = 0; v < sources.size(); ++v) {
    const auto is_own = [&](int other) {
      return scene.views[static_cast<std::size_t>(other)].photo_name() == scene.views[v].photo_name();
    };
    EXPECT_TRUE(std::ranges::none_of(sources[v], is_own)) << scene.views[v].name;
    EXPECT_TRUE(std::ranges::none_of(overlapping[v], is_own)) << scene.views[v].name;
    EXPECT_TRUE(std::ranges::none_of(nearest_views(index.views, static_cast<int>(v), 12), is_own));
    chosen += sources[v].size();
  }
  EXPECT_GE(chosen, 12u);
}

}  // namespace
}  // namespace recon
