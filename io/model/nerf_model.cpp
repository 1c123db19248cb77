#include "io/model/nerf_model.hpp"

#include <array>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "core/json_reader.hpp"
#include "core/paths.hpp"
#include "core/plain_number.hpp"
#include "io/file/text_scanner.hpp"
#include "io/model/posed_photos.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

/// Bytes that one byte of JSON may take when it is parsed.
constexpr std::size_t kParsedBytes = 32;

/// The members of a frame and, where it lacks one, of the file.
class Fields {
 public:
  Fields(JsonReader& file, JsonReader& frame) : file_(file), frame_(frame) {}

  JsonReader& of(const std::string& name) { return frame_.has(name) || !file_.has(name) ? frame_ : file_; }
  bool has(const std::string& name) { return of(name).has(name); }
  double number(const std::string& name) { return of(name).number(name); }
  double number(const std::string& name, double otherwise) { return of(name).number(name, otherwise); }
  /// The frame, then the file.
  std::array<JsonReader*, 2> in_order() const { return {&frame_, &file_}; }

 private:
  JsonReader& file_;
  JsonReader& frame_;
};

/// A number between 0 and `end`, both excluded.
double positive(JsonReader& reader, const std::string& name, double end, const std::string& rule) {
  const double value = reader.number(name);
  if (!(value > 0 && value < end)) reader.fail(name, "is {}; it must be {}", plain(value), rule);
  return value;
}

/// A side of the photo in pixels; instant-ngp writes it with a decimal point.
int side_of(Fields& fields, const std::string& name) {
  const double side =
      positive(fields.of(name), name, kMaxFileSide + 1, "a size; " + std::string(kImageSizeRule));
  if (side != std::floor(side)) fields.of(name).fail(name, "is {}; it must be an integer", plain(side));
  return static_cast<int>(side);
}

/// The focal length along an axis in pixels, or from the angle of view; nothing if the fields have none. What
/// the frame has is its own, be it the length or the angle.
std::optional<double> focal_length(const Fields& fields, const std::string& axis, int side) {
  constexpr double kMax = std::numeric_limits<double>::max();
  const std::string length = "fl_" + axis, angle = "camera_angle_" + axis;
  for (JsonReader* reader : fields.in_order()) {
    if (reader->has(length)) return positive(*reader, length, kMax, "a length in pixels, above 0");
    if (reader->has(angle))
      return 0.5 * side /
             std::tan(0.5 * positive(*reader, angle, std::numbers::pi, "an angle in radians, in (0, pi)"));
  }
  return std::nullopt;
}

/// What the fields say of the lens: kPinhole for all perspective ones, whose distortion is a matter of its
/// coefficients, kOpenCvFisheye or kEquirectangular.
CameraModel lens_of(Fields& fields) {
  if (!fields.has("camera_model"))
    return fields.of("is_fisheye").flag("is_fisheye", false) ? CameraModel::kOpenCvFisheye
                                                             : CameraModel::kPinhole;
  const std::string name = fields.of("camera_model").text("camera_model");
  for (const CameraModel lens : {CameraModel::kOpenCvFisheye, CameraModel::kEquirectangular})
    if (name == model_name(lens)) return lens;
  for (const char* perspective : {"OPENCV", "PINHOLE", "SIMPLE_PINHOLE", "RADIAL", "SIMPLE_RADIAL"})
    if (name == perspective) return CameraModel::kPinhole;
  fields.of("camera_model")
      .fail("camera_model", "is {}; it must be OPENCV, PINHOLE, OPENCV_FISHEYE or EQUIRECTANGULAR",
            in_quotes(name));
}

/// Sets the model by the lens and the distortion, whose coefficients follow the focal lengths and the
/// principal point.
void add_distortion(Fields& fields, Camera& camera) {
  const auto k = [&](const char* name) { return fields.number(name, 0); };
  const auto refuse = [&](const char* name, const char* model) {
    if (k(name) != 0)
      fields.of(name).fail(name, "is {}; it must be 0, for a {} camera has none", plain(k(name)), model);
  };
  const auto add = [&](std::initializer_list<double> values) {
    camera.params.insert(camera.params.end(), values);
  };
  if (lens_of(fields) == CameraModel::kOpenCvFisheye) {
    for (const char* name : {"p1", "p2"}) refuse(name, "fisheye");
    camera.model = CameraModel::kOpenCvFisheye;
    return add({k("k1"), k("k2"), k("k3"), k("k4")});
  }
  // What nerfstudio takes k4 for depends on the code: the power r^8, or a coefficient of OpenCV's
  // denominator.
  refuse("k4", "perspective");
  if (k("k1") == 0 && k("k2") == 0 && k("k3") == 0 && k("p1") == 0 && k("p2") == 0) return;
  camera.model = k("k3") == 0 ? CameraModel::kOpenCv : CameraModel::kFullOpenCv;
  add({k("k1"), k("k2"), k("p1"), k("p2")});
  if (k("k3") != 0) add({k("k3"), 0, 0, 0});
}

/// That the file or the frame has a focal length and an angle of view that contradict each other; else empty.
std::string contradiction(Fields& fields, ImageSize size) {
  constexpr double kTolerance = 0.02;
  for (JsonReader* reader : fields.in_order()) {
    if (!reader->is_number("fl_x") || !reader->is_number("camera_angle_x") ||
        lens_of(fields) != CameraModel::kPinhole)
      continue;
    const double length = reader->number("fl_x"), angle = reader->number("camera_angle_x");
    const double other = 0.5 * size.width / std::tan(0.5 * angle);
    if (std::abs(length / other - 1) <= kTolerance) continue;
    return fmt::format(
        "{} is {}, but camera_angle_x is {}, which means {} for a photo {} pixels wide; fl_x is used: if "
        "it is "
        "of images of another size, expect few and wrong points; correct one of them, or remove it",
        reader->place_of("fl_x"), plain(length), plain(angle), plain(other, 6), size.width);
  }
  return {};
}

Camera camera_of(Fields& fields, ImageSize size) {
  if (lens_of(fields) == CameraModel::kEquirectangular)
    return {CameraModel::kEquirectangular,
            size.width,
            size.height,
            {static_cast<double>(size.width), static_cast<double>(size.height)}};
  const auto fx = focal_length(fields, "x", size.width), fy = focal_length(fields, "y", size.height);
  if (!fx)
    fields.of("fl_x").fail("fl_x",
                           "is missing, as is camera_angle_x; give the focal length in pixels, in the frame "
                           "or for all frames");
  // No shift: in this format, too, the centre of the first pixel is at (0.5, 0.5).
  const double cx = fields.number("cx", 0.5 * size.width), cy = fields.number("cy", 0.5 * size.height);
  Camera camera{CameraModel::kPinhole, size.width, size.height, {*fx, fy.value_or(*fx), cx, cy}};
  add_distortion(fields, camera);
  return camera;
}

/// The inverse of a pose of a camera whose y axis points up and whose z axis points backward.
Pose cam_from_world(JsonReader& frame) {
  const std::string field = frame.place_of("transform_matrix");
  std::vector<double> rows = frame.matrix("transform_matrix", 3, 4, 4);
  if (rows.size() == 12) rows.insert(rows.end(), {0, 0, 0, 1});
  Pose pose = inverse(rigid_pose(std::span<const double, 16>(rows), {field}));
  for (int i = 3; i < 9; ++i) pose.rotation.m[i] = -pose.rotation.m[i];
  pose.translation = {pose.translation.x, -pose.translation.y, -pose.translation.z};
  return pose;
}

/// The name of a photo with its extension: where there is no such photo and the name has none, that of the
/// scenes of NeRF, so that views keep their order whichever photo is missing.
std::string with_extension(const fs::path& folder, const std::string& path, const std::string& name) {
  try {
    if (is_there_to_read(folder / path)) return name;
    if (const fs::path found = find_image(folder, path); !found.empty())
      return name + found.extension().string();
  } catch (const InputError&) {
    return name;  // what cannot be looked up leaves out its view alone, once the photo is read
  }
  return fs::path(name).has_extension() ? name : name + ".png";
}

/// Sets the mask of a photo: what the frame names as `mask_path` (nerfstudio), or else dynamic_mask_NAME.png
/// beside the photo (instant-ngp).
void add_mask(Fields& fields, const fs::path& folder, bool moved, View& view) {
  if (JsonReader& reader = fields.of("mask_path"); reader.is_text("mask_path")) {
    const std::string field = reader.place_of("mask_path");
    view.mask_file =
        (folder / find_model_file(folder, reader.text("mask_path"), moved, {field}).path).string();
    return;
  }
  const fs::path photo = folder / view.photo_file();
  const fs::path dynamic = photo.parent_path() / ("dynamic_mask_" + photo.stem().string() + ".png");
  if (!is_there(dynamic)) return;
  view.mask_file = dynamic.string();
  view.mask_kind = MaskKind::kNotBlack;
}

/// A file with frames, and where its photos are.
struct NerfFile {
  JsonReader& root;
  const fs::path& folder;
  bool moved;  ///< the photos are not in the folder of the file
};

/// The photo of a frame and what belongs to it; empty where it is not found, and its view left out.
/// @throws InputError for names that lead out of the folder
std::optional<View> view_of(const NerfFile& file, JsonReader& frame, PosedPhotos& photos) {
  const std::string field = frame.place_of("file_path"), stated = frame.text("file_path");
  const ModelFile photo = find_model_file(file.folder, stated, file.moved, {field});
  View view;
  view.name = with_extension(file.folder, photo.path, photo.name);
  if (!photo.found) {
    photos.leave_out(view.name, (file.folder / view.name).string() +
                                    ": there is no such photo, nor one below that folder at the last "
                                    "components of " +
                                    in_quotes(stated) + "; --images names another folder");
    return std::nullopt;
  }
  if (photo.path != photo.name) view.photo = with_extension(file.folder, photo.path, photo.path);
  Fields fields(file.root, frame);
  add_mask(fields, file.folder, file.moved, view);
  if (frame.is_text("depth_file_path")) view.depth_file = frame.text("depth_file_path");
  return view;
}

/// @param warning  set at the first contradiction
void add_frame(const NerfFile& file, JsonReader& frame, PosedPhotos& photos, std::string& warning) {
  std::optional<View> view = view_of(file, frame, photos);
  if (!view) return;
  const std::string field = frame.place_of("file_path"), name = view->name;
  Fields fields(file.root, frame);
  std::optional<Camera> camera;
  try {
    std::optional<ImageSize> size;
    if (fields.has("w") || fields.has("h"))
      size = {side_of(fields, "w"), side_of(fields, "h")};
    else
      size = photos.size_of(*view);
    if (!size) return;
    view->cam_from_world = cam_from_world(frame);
    camera = camera_of(fields, *size);
    if (warning.empty()) warning = contradiction(fields, *size);
  } catch (const InputError& error) {
    return photos.leave_out(name, error.what());
  }
  photos.add(*std::move(view), *std::move(camera), {field});
}

}  // namespace

Scene parse_nerf_model(std::string_view bytes, const std::string& file, const fs::path& folder,
                       std::size_t memory_limit, bool moved) {
  const nlohmann::json json = parse_json(bytes, file);
  JsonReader root(json, file, "");
  PosedPhotos photos(folder, memory_limit);
  std::string warning;
  for (JsonReader& frame : root.objects("frames")) add_frame({root, folder, moved}, frame, photos, warning);
  Scene scene = photos.finish(file);
  if (!warning.empty()) scene.warnings.push_back(warning);
  return scene;
}

Scene read_nerf_model(const fs::path& file, std::size_t memory_limit, const fs::path& images) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  if (!error && bytes > memory_limit / kParsedBytes)
    throw OutOfMemory(
        fmt::format("{}: it has {} bytes, which may take {} times as much memory, more than is left "
                    "for the model; raise --memory-limit",
                    file.string(), bytes, kParsedBytes));
  const bool moved = !images.empty();
  return parse_nerf_model(read_file(file), file.string(), moved ? images : file.parent_path(), memory_limit,
                          moved);
}

}  // namespace recon
