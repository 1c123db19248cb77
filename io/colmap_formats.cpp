#include "io/colmap_formats.hpp"

#include <algorithm>
#include <utility>

#include "io/byte_reader.hpp"
#include "io/image_file.hpp"
#include "io/line_batch.hpp"
#include "io/text_scanner.hpp"

namespace recon {

namespace {

void add_words(std::string& out, std::initializer_list<double> values) {
  for (const double value : values) out += ' ' + decimal(value);
}

std::vector<Observation> parse_observations(WordScanner words) {
  std::vector<Observation> observations;
  const std::string_view line = words.rest();
  observations.reserve(static_cast<std::size_t>(std::count(line.begin(), line.end(), ' ')) / 3 + 1);
  while (!words.done()) {
    Observation observation;
    observation.pixel.x =
        words.number("X of an observation (images without observations need an empty second line)");
    observation.pixel.y = words.number("Y of an observation");
    const auto id = words.word("POINT3D_ID of an observation");
    // COLMAP writes "no point" as -1.
    if (id != "-1")
      observation.point_id = WordScanner(id, words.place()).integer<std::uint64_t>("POINT3D_ID");
    observations.push_back(observation);
  }
  return observations;
}

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
  return {reader.read<double>(what), reader.read<double>(what), reader.read<double>(what)};
}

void append_vector(std::string& out, Vec3d v) {
  for (const double value : {v.x, v.y, v.z}) append_number(out, value);
}

void parse_cameras_text(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  LineScanner lines(stream, file);
  std::string_view line;
  while (lines.next_content(line)) {
    WordScanner words(line, lines.place());
    const auto id = words.integer<std::uint32_t>("CAMERA_ID");
    const std::string_view name = words.word("MODEL");
    const auto model = model_from_name(name);
    if (!model)
      lines.place().fail("camera " + std::to_string(id) + " has the model " + in_quotes(name) +
                         ", which COLMAP 3.8 does not have; undistort the images first or convert the model");
    Camera camera{*model, words.integer<int>("WIDTH"), words.integer<int>("HEIGHT"), {}};
    while (!words.done()) camera.params.push_back(words.number("a parameter"));
    if (camera.params.size() != static_cast<std::size_t>(parameter_count(*model)))
      lines.place().fail("camera " + std::to_string(id) + " has " + std::to_string(camera.params.size()) +
                         " parameters; the model " + std::string(name) + " has " +
                         std::to_string(parameter_count(*model)));
    builder.add_camera(id, std::move(camera), lines.place());
  }
}

/// A view as a file has it.
struct FileView {
  View view;  ///< without camera and rotation
  std::uint32_t camera_id = 0;
  Quaternion rotation{};
};

FileView parse_image(const LineBatch& batch, int record) {
  WordScanner words = batch.words(record);
  FileView result;
  View& view = result.view;
  view.id = words.integer<std::uint32_t>("IMAGE_ID");
  result.rotation = {words.number("QW"), words.number("QX"), words.number("QY"), words.number("QZ")};
  view.cam_from_world.translation = {words.number("TX"), words.number("TY"), words.number("TZ")};
  result.camera_id = words.integer<std::uint32_t>("CAMERA_ID");
  view.name = words.rest();
  // The second line always belongs to the first: it is empty for a view without observations.
  view.observations = parse_observations(batch.words(record, 1));
  return result;
}

void parse_images_text(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  LineScanner lines(stream, file);
  for (LineBatch batch; batch.read(lines, 2);) {
    std::vector<FileView> views = batch.parse([&](int i) { return parse_image(batch, i); });
    for (int i = 0; i < batch.records(); ++i) {
      FileView& it = views[i];
      builder.claim_observations(it.view.observations.size(), batch.place(i));
      builder.add_view(std::move(it.view), it.camera_id, it.rotation, batch.place(i));
    }
  }
}

SparsePoint parse_point(WordScanner words) {
  SparsePoint point;
  point.id = words.integer<std::uint64_t>("POINT3D_ID");
  point.position = {words.number("X"), words.number("Y"), words.number("Z")};
  point.colour = {words.integer<std::uint8_t>("R"), words.integer<std::uint8_t>("G"),
                  words.integer<std::uint8_t>("B")};
  point.error = words.number("ERROR");
  const std::string_view track = words.rest();
  point.track.reserve(static_cast<std::size_t>(std::count(track.begin(), track.end(), ' ')) / 2 + 1);
  while (!words.done()) {
    const auto image_id = words.integer<std::uint32_t>("IMAGE_ID of a track");
    point.track.push_back(
        {static_cast<int>(image_id), words.integer<std::uint32_t>("POINT2D_IDX of a track")});
  }
  return point;
}

void parse_points_text(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  LineScanner lines(stream, file);
  for (LineBatch batch; batch.read(lines, 1);) {
    std::vector<SparsePoint> points = batch.parse([&](int i) { return parse_point(batch.words(i)); });
    for (int i = 0; i < batch.records(); ++i) builder.claim_point(points[i].track.size(), batch.place(i));
    builder.add_points(std::move(points), [&](int i) { return batch.place(i); });
  }
}

void format_cameras_text(const Scene& scene, const ByteSink& sink) {
  std::string out =
      "# Camera list with one line of data per camera:\n#   CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]\n";
  out += "# Number of cameras: " + std::to_string(scene.cameras.size()) + "\n";
  for (std::size_t i = 0; i < scene.cameras.size(); ++i) {
    const Camera& camera = scene.cameras[i];
    out += std::to_string(scene.camera_ids[i]) + " " + std::string(model_name(camera.model)) + " " +
           std::to_string(camera.width) + " " + std::to_string(camera.height);
    for (const double param : camera.params) add_words(out, {param});
    out += '\n';
  }
  sink(out);
}

void format_images_text(const Scene& scene, const ByteSink& sink) {
  std::string out =
      "# Image list with two lines of data per image:\n"
      "#   IMAGE_ID, QW, QX, QY, QZ, TX, TY, TZ, CAMERA_ID, NAME\n"
      "#   POINTS2D[] as (X, Y, POINT3D_ID)\n";
  out += "# Number of images: " + std::to_string(scene.views.size()) + "\n";
  for (const View& view : scene.views) {
    if (trim(view.name) != view.name)
      throw InputError(
          "the image name " + in_quotes(view.name) +
          " begins or ends with a blank, which COLMAP's text format cannot hold; rename the image");
    const Quaternion q = quaternion_of(view.cam_from_world.rotation);
    const Vec3d t = view.cam_from_world.translation;
    out += decimal(view.id);
    add_words(out, {q.w, q.x, q.y, q.z, t.x, t.y, t.z});
    out += ' ' + std::to_string(scene.camera_ids[view.camera]) + ' ' + view.name + '\n';
    const std::size_t begin = out.size();
    for (const Observation& observation : view.observations) {
      add_words(out, {observation.pixel.x, observation.pixel.y});
      out += observation.point_id == kNoPoint ? " -1" : ' ' + std::to_string(observation.point_id);
    }
    if (out.size() > begin) out.erase(begin, 1);
    out += '\n';
    sink(out);
    out.clear();
  }
  sink(out);
}

void format_points_text(const Scene& scene, const ByteSink& sink) {
  std::string out =
      "# 3D point list with one line of data per point:\n"
      "#   POINT3D_ID, X, Y, Z, R, G, B, ERROR, TRACK[] as (IMAGE_ID, POINT2D_IDX)\n";
  out += "# Number of points: " + std::to_string(scene.points.size()) + "\n";
  for (const SparsePoint& point : scene.points) {
    out += decimal(point.id);
    add_words(out, {point.position.x, point.position.y, point.position.z});
    for (const std::uint8_t channel : {point.colour.r, point.colour.g, point.colour.b})
      out += ' ' + std::to_string(channel);
    add_words(out, {point.error});
    for (const TrackElement& element : point.track)
      out += ' ' + std::to_string(scene.views[element.view].id) + ' ' + std::to_string(element.observation);
    out += '\n';
    sink(out);
    out.clear();
  }
  sink(out);
}

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

SparsePoint read_point(ByteReader& reader, ColmapBuilder& builder) {
  const FilePlace place = reader.place();
  SparsePoint point;
  point.id = reader.read<std::uint64_t>("the id of a point");
  point.position = read_vector(reader, "the position of a point");
  const auto channel = [&] { return reader.read<std::uint8_t>("the colour of a point"); };
  point.colour = {channel(), channel(), channel()};
  point.error = reader.read<double>("the error of a point");
  const std::uint64_t length = reader.read_count(kTrackElementBytes, "track elements");
  builder.claim_point(length, place);
  point.track.resize(length);
  for (TrackElement& element : point.track) {
    element.view = static_cast<int>(reader.read<std::uint32_t>("a track"));
    element.observation = reader.read<std::uint32_t>("a track");
  }
  return point;
}

void parse_points_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  constexpr std::uint64_t kBatch = 1 << 14;
  ByteReader reader(stream, file);
  for (auto left = reader.read_count(kPointBytes, "points"); left > 0;) {
    std::vector<SparsePoint> points(std::min(left, kBatch));
    std::vector<FilePlace> places;
    for (SparsePoint& point : points) {
      places.push_back(reader.place());
      point = read_point(reader, builder);
    }
    left -= points.size();
    builder.add_points(std::move(points), [&](int i) { return places[i]; });
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
    append_number(out, scene.camera_ids[view.camera]);
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
      append_number(out, scene.views[element.view].id);
      append_number(out, element.observation);
    }
    sink(out);
    out.clear();
  }
  sink(out);
}

}  // namespace

ColmapParsers colmap_parsers(ColmapFormat format) {
  if (format == ColmapFormat::kText) return {parse_cameras_text, parse_images_text, parse_points_text};
  return {parse_cameras_binary, parse_images_binary, parse_points_binary};
}

ColmapFormatters colmap_formatters(ColmapFormat format) {
  if (format == ColmapFormat::kText) return {format_cameras_text, format_images_text, format_points_text};
  return {format_cameras_binary, format_images_binary, format_points_binary};
}

}  // namespace recon
