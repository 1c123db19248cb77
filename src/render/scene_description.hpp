#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/vec.hpp"
#include "render/shape.hpp"
#include "render/texture.hpp"
#include "scene/camera.hpp"
#include "scene/pose.hpp"

namespace recon {

/// A textured shape with a pose in the world.
struct SceneObject {
  Shape shape;
  Pose world_from_object;
  SurfaceTexture texture;
};

/// A point light plus ambient light. The radiance of a surface facing the light equals its reflectance.
struct Light {
  Vec3d position{0, 0, 10};
  double ambient = 0.45;  ///< share of ambient light, 0 to 1
  bool shadows = true;
};

/// One photo to be rendered.
struct RenderView {
  std::string name;  ///< file name with ending, such as "view00.png"
  int camera = 0;    ///< index into SceneDescription::cameras
  Pose cam_from_world;
  double gain = 1;  ///< exposure: factor on all grey levels, > 0
};

/// Number and precision of the simulated structure-from-motion points.
struct SparseOptions {
  int points = 1000;
  double noise = 0;   ///< standard deviation of each coordinate of an observation, pixels
  int min_views = 2;  ///< min number of views that see a point, >= 2
};

/// Description of a synthetic scene for the renderer. Names of views must be unique and in ascending order.
struct SceneDescription {
  std::vector<Camera> cameras;
  std::vector<RenderView> views;
  std::vector<SceneObject> objects;
  Light light;
  Vec3d background{0, 0, 0};  ///< colour where nothing is seen, 0 to 1
  double noise = 0;           ///< standard deviation of the Gaussian noise of each channel, grey levels
  int samples = 4;            ///< rays per pixel along x and along y, for colour only
  std::uint32_t seed = 1;     ///< seed of noise and sparse points
  SparseOptions sparse;
};

/// Checks all numbers and indices of a description.
/// @throws InputError with the field and its value
void validate(const SceneDescription& description);

/// The pose of a camera at `eye` that looks at `target`, +y of the image pointing away from `up` as far as
/// possible.
/// @throws InputError if `eye` equals `target` or `up` is parallel to the viewing direction
Pose look_at(Vec3d eye, Vec3d target, Vec3d up = {0, 0, 1});

/// Rotation about the fixed x axis, then y, then z; angles in degrees.
Mat3d rotation_xyz(Vec3d degrees);

/// A camera of any model with a moderate, typical distortion.
/// @param focal  in pixels, > 0; the principal point is the centre of the image
Camera typical_camera(CameraModel model, int width, int height, double focal);

/// The camera scaled to another image size: focal lengths and principal point scale with width and height (a
/// single focal length with the width).
Camera resized(const Camera& camera, int width, int height);

/// The name of view `index` of `count`: "view", as many digits as the last index needs, at least two, and
/// `ending`.
std::string view_name_of(int index, int count, const std::string& ending = ".png");

struct PlaneSceneOptions {
  int width = 160, height = 120;
  int views = 3;
  double focal = 160;         ///< pixels
  double distance = 2;        ///< distance of the plane along the axis of view 0, scene units
  double slant_degrees = 30;  ///< rotation of the plane about the vertical (y) axis of the views
  double baseline = 0.1;      ///< distance between neighbouring cameras, scene units
  double noise = 0;           ///< grey levels
};

/// A textured plane in front of a row of parallel pinhole cameras: world coordinates are the coordinates of
/// view 0; the other views alternate on its right and left at x = +b, -b, +2b, ... The plane contains (0, 0,
/// distance) and has the normal (sin(slant), 0, -cos(slant)), so that depth is z = distance + x tan(slant).
SceneDescription slanted_plane_scene(const PlaneSceneOptions& options);

}  // namespace recon
