#include "render/description_file.hpp"

#include <array>
#include <cmath>
#include <map>
#include <ranges>
#include <utility>

#include "core/error.hpp"
#include "core/json_reader.hpp"
#include "render/hash.hpp"

namespace recon {
namespace {

constexpr int kMostViews = 100000;
/// Separates the hashes of this file from those of other random numbers.
constexpr std::uint64_t kGainStream = 0x4756;

int checked_count(JsonReader& reader, const std::string& name) {
  const int count = reader.integer(name);
  if (count < 1 || count > kMostViews) reader.fail(name, "is {}; it must be 1 to {}", count, int{kMostViews});
  return count;
}

/// Positions on a circular arc around `centre` in the xy plane, cycling through the given heights.
std::vector<Vec3d> arc(JsonReader reader, std::optional<int> count_instead) {
  const Vec3d centre = reader.vec3("centre");
  const double radius = reader.number("radius");
  const double from = reader.number("from"), to = reader.number("to");
  const int written = checked_count(reader, "count");
  const std::vector<double> heights =
      reader.has("heights") ? reader.numbers("heights") : std::vector<double>{0};
  if (heights.empty()) reader.fail("heights", "is empty; leave it out or give a height");
  reader.finish();
  const int count = count_instead.value_or(written);
  std::vector<Vec3d> eyes;
  for (int i = 0; i < count; ++i) {
    const double angle = kRadians * (count > 1 ? from + (to - from) * i / (count - 1) : 0.5 * (from + to));
    eyes.push_back(centre +
                   Vec3d{radius * std::cos(angle), radius * std::sin(angle), heights[i % heights.size()]});
  }
  return eyes;
}

/// origin + column * right + row * down, row by row.
std::vector<Vec3d> grid(JsonReader reader) {
  const Vec3d origin = reader.vec3("origin"), right = reader.vec3("right"),
              down = reader.vec3("down", {0, 0, 0});
  const int columns = checked_count(reader, "columns"),
            rows = reader.has("rows") ? checked_count(reader, "rows") : 1;
  reader.finish();
  std::vector<Vec3d> eyes;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      eyes.push_back(origin + static_cast<double>(column) * right + static_cast<double>(row) * down);
  return eyes;
}

std::vector<Vec3d> eyes_of(JsonReader& group, std::optional<int> arc_count) {
  if (group.has("arc")) return arc(group.object("arc"), arc_count);
  if (group.has("grid")) return grid(group.object("grid"));
  return {group.vec3("eye")};
}

/// Reads one member of "views": a single view or a group of views. Names are assigned later.
std::vector<RenderView> read_group(JsonReader group, std::optional<int> arc_count) {
  const std::vector<Vec3d> eyes = eyes_of(group, arc_count);
  const bool parallel = group.has("direction");
  const Vec3d aim = parallel ? group.vec3("direction") : group.vec3("target");
  const Vec3d up = group.vec3("up", {0, 0, 1});
  const int camera = group.integer("camera", 0);
  const double gain = group.number("gain", 1.0);
  group.finish();
  std::vector<RenderView> views;
  for (const Vec3d eye : eyes) {
    try {
      views.push_back({"", camera, look_at(eye, parallel ? eye + aim : aim, up), gain});
    } catch (const InputError& error) {
      group.fail(parallel ? "direction" : "target", error.what());
    }
  }
  return views;
}

constexpr int kMostCopies = 10000;

constexpr std::array<std::pair<const char*, Pattern>, 5> kPatterns{{{"plain", Pattern::kPlain},
                                                                    {"marble", Pattern::kMarble},
                                                                    {"checker", Pattern::kChecker},
                                                                    {"bricks", Pattern::kBricks},
                                                                    {"stripes", Pattern::kStripes}}};

Pattern read_pattern(JsonReader& reader) {
  if (!reader.has("pattern")) return Pattern::kPlain;
  const std::string name = reader.text("pattern");
  for (const auto& [word, pattern] : kPatterns)
    if (name == word) return pattern;
  reader.fail("pattern", "'{}' is not known; known are: {}", name,
              fmt::join(kPatterns | std::views::keys, ", "));
}

SurfaceTexture read_texture(JsonReader reader) {
  SurfaceTexture texture;
  texture.pattern = read_pattern(reader);
  texture.colour = reader.vec3("colour", texture.colour);
  texture.second_colour = reader.vec3("second_colour", texture.second_colour);
  texture.size = reader.number("size", texture.size);
  texture.contrast = reader.number("contrast", texture.contrast);
  texture.grain = reader.number("grain", texture.grain);
  texture.octaves = reader.integer("octaves", texture.octaves);
  texture.persistence = reader.number("persistence", texture.persistence);
  reader.finish();
  return texture;
}

std::map<std::string, SurfaceTexture> read_textures(JsonReader& root) {
  std::map<std::string, SurfaceTexture> textures;
  if (!root.has("textures")) return textures;
  JsonReader reader = root.object("textures");
  for (const std::string& name : reader.names()) textures[name] = read_texture(reader.object(name));
  return textures;
}

SurfaceTexture texture_of(JsonReader& object, const std::map<std::string, SurfaceTexture>& textures) {
  if (!object.is_text("texture")) return read_texture(object.object("texture"));
  const std::string name = object.text("texture");
  const auto found = textures.find(name);
  if (found != textures.end()) return found->second;
  object.fail("texture", "there is no texture '{}'; there are: {}", name,
              fmt::join(textures | std::views::keys, ", "));
}

HeightField read_height_field(JsonReader& object) {
  HeightField field{0.5 * object.number("width"), 0.5 * object.number("height"), {}};
  for (JsonReader& reader : object.objects("waves")) {
    const double amplitude = reader.number("amplitude"), wavelength = reader.number("wavelength");
    if (!(wavelength > 0)) reader.fail("wavelength", "it must be positive");
    field.waves.push_back(
        make_wave(amplitude, wavelength, reader.number("direction", 0.0), reader.number("phase", 0.0)));
    reader.finish();
  }
  return field;
}

Shape read_shape(JsonReader& object) {
  const std::string shape = object.text("shape");
  if (shape == "quad") return Quad{0.5 * object.number("width"), 0.5 * object.number("height")};
  if (shape == "box") return Box{0.5 * object.vec3("size")};
  if (shape == "sphere") return Sphere{object.number("radius")};
  if (shape == "cylinder") return Cylinder{object.number("radius"), 0.5 * object.number("height")};
  if (shape == "height_field") return read_height_field(object);
  object.fail("shape", "'{}' is not known; known are: quad, box, sphere, cylinder, height_field", shape);
}

/// Reads one member of "objects": a shape, or a row of copies. Every object has its own noise.
void read_object(JsonReader reader, const std::map<std::string, SurfaceTexture>& textures,
                 SceneDescription& scene) {
  SceneObject object;
  object.shape = read_shape(reader);
  object.world_from_object = {rotation_xyz(reader.vec3("rotate", {0, 0, 0})),
                              reader.vec3("position", {0, 0, 0})};
  object.texture = texture_of(reader, textures);
  int copies = 1;
  Vec3d step{0, 0, 0};
  if (reader.has("repeat")) {
    JsonReader repeat = reader.object("repeat");
    copies = repeat.integer("count");
    step = repeat.vec3("step");
    if (copies < 1 || copies > kMostCopies) repeat.fail("count", "must be 1 to {}", int{kMostCopies});
    repeat.finish();
  }
  reader.finish();
  for (int i = 0; i < copies; ++i) {
    object.texture.seed = static_cast<std::uint32_t>(hash_of(scene.seed, scene.objects.size()));
    scene.objects.push_back(object);
    object.world_from_object.translation = object.world_from_object.translation + step;
  }
}

/// Reads a camera with COLMAP's "params", or with a horizontal field of view and a typical distortion; of a
/// panorama the size is enough.
Camera read_camera(JsonReader reader) {
  const std::string name = reader.text("model");
  const auto model = model_from_name(name);
  if (!model) reader.fail("model", "'{}' is not known; known are COLMAP's, such as PINHOLE and OPENCV", name);
  const int width = reader.integer("width"), height = reader.integer("height");
  if (reader.has("params")) {
    Camera camera{*model, width, height, reader.numbers("params")};
    reader.finish();
    return camera;
  }
  if (is_panorama(*model)) {
    reader.finish();
    return typical_camera(*model, width, height, 0);
  }
  const double angle = reader.number("angle");
  if (!(angle > 0 && angle < 180)) reader.fail("angle", "must be between 0 and 180 degrees");
  reader.finish();
  return typical_camera(*model, width, height, 0.5 * width / std::tan(0.5 * kRadians * angle));
}

void read_light(JsonReader reader, Light& light) {
  light.position = reader.vec3("position", light.position);
  light.ambient = reader.number("ambient", light.ambient);
  light.shadows = reader.flag("shadows", light.shadows);
  reader.finish();
}

void read_sparse(JsonReader reader, SparseOptions& sparse) {
  sparse.points = reader.integer("points", sparse.points);
  sparse.noise = reader.number("noise", sparse.noise);
  sparse.min_views = reader.integer("min_views", sparse.min_views);
  reader.finish();
}

/// The views of a description file ("views", "exposure_spread", "image_format") in order.
/// @param count  overrides the number of views in the file, see parse_description
std::vector<RenderView> read_views(JsonReader& root, std::uint32_t seed, std::optional<int> count) {
  const std::vector<JsonReader> groups = root.objects("views");
  std::vector<RenderView> views;
  for (const JsonReader& group : groups) {
    const std::vector<RenderView> more = read_group(group, groups.size() == 1 ? count : std::nullopt);
    views.insert(views.end(), more.begin(), more.end());
  }
  if (views.empty()) root.fail("views", "is empty; a scene needs at least one view");
  if (count) {
    if (*count < 1 || *count > static_cast<int>(views.size()))
      root.fail("views", "there are {}, not {}; only an arc can be spread over more", views.size(), *count);
    views.resize(static_cast<std::size_t>(*count));
  }
  const std::string format = root.has("image_format") ? root.text("image_format") : "png";
  if (format != "png" && format != "jpg") root.fail("image_format", "is '{}'; it must be png or jpg", format);
  const double spread = root.number("exposure_spread", 0.0);
  if (!(spread >= 0)) root.fail("exposure_spread", "it must be zero or positive");
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i].name = view_name_of(static_cast<int>(i), static_cast<int>(views.size()), "." + format);
    views[i].gain *= std::pow(1 + spread, 2 * uniform_of(hash_of(kGainStream, seed, i)) - 1);
  }
  return views;
}

}  // namespace

DescriptionFile parse_description(std::string_view text, const std::string& file, std::optional<int> views) {
  const nlohmann::json json = parse_json(text, file);
  JsonReader root(json, file, "");
  DescriptionFile result;
  SceneDescription& scene = result.scene;
  result.title = root.has("title") ? root.text("title") : "";
  scene.seed = static_cast<std::uint32_t>(root.integer("seed", 1));
  scene.samples = root.integer("samples", scene.samples);
  scene.noise = root.number("noise", scene.noise);
  scene.background = root.vec3("background", scene.background);
  if (root.has("light")) read_light(root.object("light"), scene.light);
  if (root.has("sparse")) read_sparse(root.object("sparse"), scene.sparse);
  for (const JsonReader& camera : root.objects("cameras")) scene.cameras.push_back(read_camera(camera));
  const auto textures = read_textures(root);
  for (const JsonReader& object : root.objects("objects")) read_object(object, textures, scene);
  scene.views = read_views(root, scene.seed, views);
  root.finish();
  try {
    validate(scene);
  } catch (const InputError& error) {
    throw InputError(file + ": " + error.what());
  }
  return result;
}

}  // namespace recon
