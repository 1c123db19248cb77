#pragma once

#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/vec.hpp"
#include "scene/camera.hpp"
#include "scene/pose.hpp"

namespace recon {

inline constexpr double kRadians = std::numbers::pi / 180;  ///< of a degree

/// Surfaces in object coordinates, in scene units. All are visible from both sides.

/// The rectangle |x| <= half_width, |y| <= half_height at z = 0.
struct Quad {
  double half_width = 1, half_height = 1;
};

/// The six faces |x| = half_size.x, |y| = half_size.y, |z| = half_size.z. Seen from inside, it is a room.
struct Box {
  Vec3d half_size{1, 1, 1};
};

struct Sphere {
  double radius = 1;
};

/// A closed cylinder around the z axis, |z| <= half_height.
struct Cylinder {
  double radius = 1, half_height = 1;
};

/// amplitude * sin(vector . (x, y) + phase)
struct Wave {
  double amplitude = 0.1;
  Vec2d vector{6.28, 0};  ///< radians per scene unit; its length is 2 pi / wavelength
  double phase = 0;       ///< radians
};

/// The wave in direction `direction`, measured from the x axis; angles in degrees.
Wave make_wave(double amplitude, double wavelength, double direction, double phase);

/// The surface z = sum of waves over |x| <= half_width, |y| <= half_height.
struct HeightField {
  double half_width = 1, half_height = 1;
  std::vector<Wave> waves;
};

using Shape = std::variant<Quad, Box, Sphere, Cylinder, HeightField>;

/// Intersection of a ray with a surface.
struct ShapeHit {
  double t;      ///< the point is origin + t direction
  Vec3d normal;  ///< unit length, on either side
  Vec2d uv;      ///< surface coordinates, scene units
};

/// The first intersection of a ray with a shape at t > t_min, if any. Exact up to rounding: closed forms, and
/// for height fields bracketed root finding to rounding precision.
/// @param direction  unit length, in object coordinates as `origin`
std::optional<ShapeHit> intersect(const Shape& shape, Vec3d origin, Vec3d direction, double t_min);

/// Radius of a bounding sphere around the shape's origin.
double bounding_radius(const Shape& shape);

enum class Pattern {
  kPlain,    ///< `colour` everywhere
  kMarble,   ///< a mix of both colours controlled by the noise
  kChecker,  ///< squares of both colours, `size` wide
  kBricks,   ///< shades of `colour`, `size` long and 0.4 `size` high, joints of `second_colour`
  kStripes,  ///< stripes along v with period `size`
};

/// Texture of a surface: a pattern in surface coordinates (u, v), multiplied by noise in object space. The
/// noise is a sum of octaves of value noise, each with half the size of the previous one, and gives detail
/// for stereo matching at any resolution: octaves too fine for a pixel fade out.
struct SurfaceTexture {
  Pattern pattern = Pattern::kPlain;
  Vec3d colour{0.6, 0.6, 0.6};         ///< reflectance of red, green and blue, 0 to 1
  Vec3d second_colour{0.3, 0.3, 0.3};  ///< second colour of the pattern
  double size = 0.2;                   ///< of the pattern, scene units, > 0
  double contrast = 0.3;      ///< standard deviation of the noise relative to the colour, >= 0; 0: no noise
  double grain = 0.2;         ///< size of the coarsest octave, scene units, > 0
  int octaves = 9;            ///< 1 to 20
  double persistence = 0.85;  ///< amplitude of an octave relative to the coarser one before it, > 0
  std::uint32_t seed = 0;
};

/// Reflectance of a texture, each channel in [0, 1].
/// @param x_in_object  the point in object coordinates, scene units
/// @param uv           the point in surface coordinates, scene units
/// @param footprint    footprint of one ray at the point, scene units: octaves of at most this size are
///                     omitted
Vec3d reflectance(const SurfaceTexture& texture, Vec3d x_in_object, Vec2d uv, double footprint);

/// Whether the surface has texture: false for a plain colour without noise.
bool has_detail(const SurfaceTexture& texture);

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

/// A camera of any model with a moderate, typical distortion; a panorama has none.
/// @param focal  in pixels, > 0; the principal point is the centre of the image
Camera typical_camera(CameraModel model, int width, int height, double focal);

/// The camera scaled to another image size: focal lengths and principal point scale with width and height (a
/// single focal length with the width).
Camera resized(const Camera& camera, int width, int height);

/// The name of view `index` of `count`: "view", as many digits as the last index needs, at least two, and
/// `ending`.
std::string view_name_of(int index, int count, const std::string& ending = ".png");

}  // namespace recon
