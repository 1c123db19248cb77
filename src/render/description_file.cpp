#include "render/description_file.hpp"

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "core/error.hpp"
#include "render/description_views.hpp"
#include "render/hash.hpp"
#include "render/json_reader.hpp"

namespace recon {
namespace {

constexpr double kRadians = std::numbers::pi / 180;
constexpr int kMostCopies = 10000;

constexpr std::array<std::pair<const char*, Pattern>, 5> kPatterns{{{"plain", Pattern::kPlain},
                                                                    {"marble", Pattern::kMarble},
                                                                    {"checker", Pattern::kChecker},
                                                                    {"bricks", Pattern::kBricks},
                                                                    {"stripes", Pattern::kStripes}}};

Pattern read_pattern(JsonReader& reader) {
  if (!reader.has("pattern")) return Pattern::kPlain;
  const std::string name = reader.text("pattern");
  std::string known;
  for (const auto& [word, pattern] : kPatterns) {
    if (name == word) return pattern;
    known += std::string(known.empty() ? "" : ", ") + word;
  }
  reader.fail("pattern", "'" + name + "' is not known; known are: " + known);
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
  std::string known;
  for (const auto& [other, texture] : textures) known += (known.empty() ? "" : ", ") + other;
  object.fail("texture", "there is no texture '" + name + "'; there are: " + known);
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
  object.fail("shape", "'" + shape + "' is not known; known are: quad, box, sphere, cylinder, height_field");
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
    if (copies < 1 || copies > kMostCopies)
      repeat.fail("count", "must be 1 to " + std::to_string(kMostCopies));
    repeat.finish();
  }
  reader.finish();
  for (int i = 0; i < copies; ++i) {
    object.texture.seed = static_cast<std::uint32_t>(hash_of(scene.seed, scene.objects.size()));
    scene.objects.push_back(object);
    object.world_from_object.translation = object.world_from_object.translation + step;
  }
}

/// Reads a camera with COLMAP's "params", or with a horizontal field of view and a typical distortion.
Camera read_camera(JsonReader reader) {
  const std::string name = reader.text("model");
  const auto model = model_from_name(name);
  if (!model)
    reader.fail("model", "'" + name + "' is not known; known are COLMAP's, such as PINHOLE and OPENCV");
  const int width = reader.integer("width"), height = reader.integer("height");
  if (reader.has("params")) {
    Camera camera{*model, width, height, reader.numbers("params")};
    reader.finish();
    return camera;
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

nlohmann::json parse_json(std::string_view text, const std::string& file) {
  try {
    return nlohmann::json::parse(text, nullptr, true, /*ignore_comments=*/true);
  } catch (const nlohmann::json::parse_error& error) {
    throw InputError(file + ": byte " + std::to_string(error.byte) + ": this is not JSON: " + error.what());
  }
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
