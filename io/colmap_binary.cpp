#include "io/colmap_binary.hpp"

#include <utility>

#include "io/byte_reader.hpp"
#include "io/image_limits.hpp"

namespace recon {
namespace {

// Sizes of the smallest possible records, bytes.
constexpr std::size_t kCameraBytes = 4 + 4 + 8 + 8 + 3 * 8;
constexpr std::size_t kImageBytes = 4 + 7 * 8 + 4 + 1 + 8;
constexpr std::size_t kObservationBytes = 2 * 8 + 8;
constexpr std::size_t kPointBytes = 8 + 3 * 8 + 3 + 8 + 8;
constexpr std::size_t kTrackElementBytes = 4 + 4;

/// Reads an image side, which must fit an int.
int read_side(ByteReader& reader, std::string_view what) {
  const FilePlace place = reader.place();
  const auto side = reader.read<std::uint64_t>(what);
  if (side > static_cast<std::uint64_t>(kMaxFileSide))
    place.fail("the " + std::string(what) + " of a camera is " + std::to_string(side) + " pixels; " +
               std::string(kImageSizeRule));
  return static_cast<int>(side);
}

Vec3d read_vector(ByteReader& reader, std::string_view what) {
  const auto x = reader.read<double>(what);
  const auto y = reader.read<double>(what);
  return {x, y, reader.read<double>(what)};
}

void append_vector(std::string& out, Vec3d v) {
  for (const double value : {v.x, v.y, v.z}) append_number(out, value);
}

}  // namespace

void parse_cameras_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  ByteReader reader(stream, file);
  const auto count = reader.read_count(kCameraBytes, "cameras");
  for (std::uint64_t i = 0; i < count; ++i) {
    const FilePlace place = reader.place();
    const auto id = reader.read<std::uint32_t>("the id of a camera");
    const auto model_id = reader.read<std::int32_t>("the model of a camera");
    const auto model = model_from_id(model_id);
    if (!model)
      place.fail("camera " + std::to_string(id) + " has the model " + std::to_string(model_id) +
                 ", which COLMAP 3.8 does not have; undistort the images first or convert the model");
    Camera camera;
    camera.model = *model;
    camera.width = read_side(reader, "width");
    camera.height = read_side(reader, "height");
    camera.params.resize(static_cast<std::size_t>(parameter_count(*model)));
    for (double& param : camera.params) param = reader.read<double>("the parameters of a camera");
    builder.add_camera(id, std::move(camera), place);
  }
  reader.expect_end();
}

void parse_images_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  ByteReader reader(stream, file);
  const auto count = reader.read_count(kImageBytes, "images");
  for (std::uint64_t i = 0; i < count; ++i) {
    const FilePlace place = reader.place();
    View view;
    view.id = reader.read<std::uint32_t>("the id of an image");
    const auto w = reader.read<double>("the rotation of an image");
    const Vec3d xyz = read_vector(reader, "the rotation of an image");
    view.cam_from_world.translation = read_vector(reader, "the translation of an image");
    const auto camera_id = reader.read<std::uint32_t>("the camera of an image");
    view.name = reader.read_c_string("the name of an image");
    const std::uint64_t observation_count = reader.read_count(kObservationBytes, "observations");
    builder.claim_observations(observation_count, place);
    std::vector<Observation> observations(observation_count);
    for (Observation& observation : observations) {
      observation.pixel.x = reader.read<double>("an observation");
      observation.pixel.y = reader.read<double>("an observation");
      observation.point_id = reader.read<std::uint64_t>("an observation");
    }
    view.observations = std::move(observations);
    builder.add_view(std::move(view), camera_id, {w, xyz.x, xyz.y, xyz.z}, place);
  }
  reader.expect_end();
}

void parse_points_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  ByteReader reader(stream, file);
  const auto count = reader.read_count(kPointBytes, "points");
  std::vector<RawTrackElement> track;
  for (std::uint64_t i = 0; i < count; ++i) {
    const FilePlace place = reader.place();
    SparsePoint point;
    point.id = reader.read<std::uint64_t>("the id of a point");
    point.position = read_vector(reader, "the position of a point");
    point.colour.r = reader.read<std::uint8_t>("the colour of a point");
    point.colour.g = reader.read<std::uint8_t>("the colour of a point");
    point.colour.b = reader.read<std::uint8_t>("the colour of a point");
    point.error = reader.read<double>("the error of a point");
    const std::uint64_t length = reader.read_count(kTrackElementBytes, "track elements");
    builder.claim_track(length, place);
    track.resize(length);
    for (RawTrackElement& element : track) {
      element.image_id = reader.read<std::uint32_t>("a track");
      element.observation = reader.read<std::uint32_t>("a track");
    }
    builder.add_point(std::move(point), track, place);
  }
  reader.expect_end();
}

void format_cameras_binary(const Scene& scene, const ByteSink& sink) {
  std::string out;
  append_number<std::uint64_t>(out, scene.cameras.size());
  for (std::size_t i = 0; i < scene.cameras.size(); ++i) {
    const Camera& camera = scene.cameras[i];
    append_number(out, scene.camera_ids[i]);
    append_number(out, static_cast<std::int32_t>(camera.model));
    append_number(out, static_cast<std::uint64_t>(camera.width));
    append_number(out, static_cast<std::uint64_t>(camera.height));
    for (const double param : camera.params) append_number(out, param);
  }
  sink(out);
}

void format_images_binary(const Scene& scene, const ByteSink& sink) {
  std::string out;
  append_number<std::uint64_t>(out, scene.views.size());
  for (const View& view : scene.views) {
    append_number(out, view.id);
    const Quaternion q = quaternion_of(view.cam_from_world.rotation);
    for (const double value : {q.w, q.x, q.y, q.z}) append_number(out, value);
    append_vector(out, view.cam_from_world.translation);
    append_number(out, scene.camera_ids[static_cast<std::size_t>(view.camera)]);
    out += view.name;
    out += '\0';
    append_number<std::uint64_t>(out, view.observations.size());
    for (const Observation& observation : view.observations) {
      append_number(out, observation.pixel.x);
      append_number(out, observation.pixel.y);
      append_number(out, observation.point_id);
    }
    sink(out);
    out.clear();
  }
  sink(out);
}

void format_points_binary(const Scene& scene, const ByteSink& sink) {
  std::string out;
  append_number<std::uint64_t>(out, scene.points.size());
  for (const SparsePoint& point : scene.points) {
    append_number(out, point.id);
    append_vector(out, point.position);
    for (const std::uint8_t channel : {point.colour.r, point.colour.g, point.colour.b})
      append_number(out, channel);
    append_number(out, point.error);
    append_number<std::uint64_t>(out, point.track.size());
    for (const TrackElement& element : point.track) {
      append_number(out, scene.views[static_cast<std::size_t>(element.view)].id);
      append_number(out, element.observation);
    }
    sink(out);
    out.clear();
  }
  sink(out);
}

}  // namespace recon
