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

/// A textured shape somewhere in the world.
struct SceneObject {
  Shape shape;
  Pose world_from_object;
  SurfaceTexture texture;
};

/// A small lamp; the ambient part reaches every surface. A surface facing the lamp shows its reflectance as
/// it is.
struct Light {
  Vec3d position{0, 0, 10};
  double ambient = 0.45;  ///< share of the light that does not come from the lamp, 0 to 1
  bool shadows = true;
};

/// One photo to be rendered.
struct RenderView {
  std::string name;  ///< file name with ending, such as "view00.png"
  int camera = 0;    ///< index into SceneDescription::cameras
  Pose cam_from_world;
  double gain = 1;  ///< exposure: factor on all grey levels, > 0
};

/// How many points a structure from motion is taken to have found, and how well.
struct SparseOptions {
  int points = 1000;
  double noise = 0;   ///< standard deviation of each coordinate of an observation, pixels
  int min_views = 2;  ///< views that must see a point, >= 2
};

/// All that the renderer needs to know of a synthetic scene. Names of views must be unique and in rising
/// order.
struct SceneDescription {
  std::vector<Camera> cameras;
  std::vector<RenderView> views;
  std::vector<SceneObject> objects;
  Light light;
  Vec3d background{0, 0, 0};  ///< colour where nothing is seen, 0 to 1
  double noise = 0;           ///< standard deviation of the Gaussian noise of each channel, grey levels
  int samples = 4;            ///< rays per pixel along x and along y, for colour only
  std::uint32_t seed = 1;     ///< of noise and sparse points
  SparseOptions sparse;
};

/// Checks all numbers and indices of a description.
/// @throws InputError naming the field and its value
void validate(const SceneDescription& description);

/// The pose of a camera at `eye` that looks at `target`, +y of the image pointing away from `up` as far as
/// possible.
/// @throws InputError when `eye` is `target` or `up` lies along the viewing direction
Pose look_at(Vec3d eye, Vec3d target, Vec3d up = {0, 0, 1});

/// Rotation about the fixed x axis, then y, then z, by angles in degrees.
Mat3d rotation_xyz(Vec3d degrees);

/// A camera of any model with a moderate distortion typical of it.
/// @param focal  in pixels, > 0; the principal point is the centre of the image
Camera typical_camera(CameraModel model, int width, int height, double focal);

/// The same camera with images of another size: focal lengths and principal point scale with width and height
/// (where a model has one focal length, with the width).
Camera resized(const Camera& camera, int width, int height);

/// The name of view `index` of `count`: "view", as many digits as the last one needs, at least two, and
/// `ending`.
std::string view_name_of(int index, int count, const std::string& ending = ".png");

struct PlaneSceneOptions {
  int width = 160, height = 120;
  int views = 3;
  double focal = 160;         ///< pixels
  double distance = 2;        ///< of the plane along the axis of view 0, scene units
  double slant_degrees = 30;  ///< turn of the plane about the vertical (y) axis of the views
  double baseline = 0.1;      ///< from one camera to the next, scene units
  double noise = 0;           ///< grey levels
};

/// A textured plane before a row of parallel pinhole cameras: world coordinates are the coordinates of view
/// 0, the others stand in turns to its right and left at x = +b, -b, +2b, ... The plane holds (0, 0,
/// distance) and has the normal (sin(slant), 0, -cos(slant)), so that depth is z = distance + x tan(slant).
SceneDescription slanted_plane_scene(const PlaneSceneOptions& options);

}  // namespace recon
