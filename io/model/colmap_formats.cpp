#include "io/model/colmap_formats.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/parallel.hpp"
#include "io/file/byte_reader.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_size.hpp"

namespace recon {

namespace {

/// The next records of a text file, each of `lines_each` lines that are copied here, to be parsed in
/// parallel.
class LineBatch {
 public:
  /// Reads up to 4096 records or 16 MiB; false at the end of the file. The first line of a record is a
  /// content line; the others are read as they are, and are empty behind the end of the file.
  bool read(LineScanner& lines, int lines_each) {
    constexpr int kRecords = 4096;
    constexpr std::size_t kBytes = std::size_t{16} << 20;
    text_.clear(), lines_.clear();
    lines_each_ = lines_each;
    std::string_view line;
    while (records() < kRecords && text_.size() < kBytes && lines.next_content(line)) {
      append(line, lines.place());
      for (int i = 1; i < lines_each; ++i) {
        if (!lines.next(line)) line = {};
        append(line, lines.place());
      }
    }
    return !lines_.empty();
  }

  int records() const { return static_cast<int>(lines_.size()) / lines_each_; }
  FilePlace place(int record, int line = 0) const { return at(record, line).place; }
  WordScanner words(int record, int line = 0) const {
    const Line& it = at(record, line);
    return {std::string_view(text_).substr(it.begin, it.size), it.place};
  }

  /// The results of `parse(record)` for all records, in their order, called in parallel.
  /// @throws what the first record throws that does
  template <class Parse>
  auto parse(const Parse& parse) const {
    std::vector<decltype(parse(0))> results(records());
    std::vector<FirstException> faults(results.size());
    parallel_for(records(), [&](int i) { faults[i].guard([&] { results[i] = parse(i); }); });
    for (const FirstException& fault : faults) fault.rethrow();
    return results;
  }

 private:
  struct Line {
    std::size_t begin, size;
    FilePlace place;
  };

  void append(std::string_view line, const FilePlace& place) {
    lines_.push_back({text_.size(), line.size(), place});
    text_ += line;
  }
  const Line& at(int record, int line) const { return lines_[record * lines_each_ + line]; }

  std::string text_;
  std::vector<Line> lines_;
  int lines_each_ = 1;
};

/// @param model  as the file has it
[[noreturn]] void fail_model(const FilePlace& place, std::uint32_t camera, const std::string& model) {
  place.fail(
      "camera {} has the model {}, which COLMAP does not have; undistort the images first or convert "
      "the model",
      camera, model);
}

std::vector<Observation> parse_observations(WordScanner words) {
  std::vector<Observation> observations;
  const std::string_view line = words.rest();
  observations.reserve(static_cast<std::size_t>(std::ranges::count(line, ' ')) / 3 + 1);
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
constexpr std::size_t kCameraBytes = 4 + 4 + 8 + 8 + 2 * 8;
constexpr std::size_t kImageBytes = 4 + 7 * 8 + 4 + 1 + 8;
constexpr std::size_t kObservationBytes = 2 * 8 + 8;
constexpr std::size_t kPointBytes = 8 + 3 * 8 + 3 + 8 + 8;
constexpr std::size_t kTrackElementBytes = 4 + 4;

/// Reads an image side, which must fit an int.
int read_side(ByteReader& reader, std::string_view what) {
  const FilePlace place = reader.place();
  const auto side = reader.read<std::uint64_t>(what);
  if (side > static_cast<std::uint64_t>(kMaxFileSide))
    place.fail("the {} of a camera is {} pixels; {}", what, side, kImageSizeRule);
  return static_cast<int>(side);
}

Vec3d read_vector(ByteReader& reader, std::string_view what) {
  return {reader.read<double>(what), reader.read<double>(what), reader.read<double>(what)};
}

void parse_cameras_text(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  LineScanner lines(stream, file);
  std::string_view line;
  while (lines.next_content(line)) {
    WordScanner words(line, lines.place());
    const auto id = words.integer<std::uint32_t>("CAMERA_ID");
    const std::string_view name = words.word("MODEL");
    const auto model = model_from_name(name);
    if (!model) fail_model(lines.place(), id, in_quotes(name));
    Camera camera{*model, words.integer<int>("WIDTH"), words.integer<int>("HEIGHT"), {}};
    while (!words.done()) camera.params.push_back(words.number("a parameter"));
    if (camera.params.size() != static_cast<std::size_t>(parameter_count(*model)))
      lines.place().fail("camera {} has {} parameters; the model {} has {}", id, camera.params.size(), name,
                         parameter_count(*model));
    builder.add_camera(id, std::move(camera), lines.place());
  }
}

/// A view as a file has it.
struct FileView {
  View view;  ///< without camera and rotation
  std::uint32_t camera_id = 0;
  Quaternion rotation{};
};

/// Reads the line of an image up to its name.
FileView parse_image_line(WordScanner words) {
  FileView result;
  View& view = result.view;
  view.id = words.integer<std::uint32_t>("IMAGE_ID");
  result.rotation = {words.number("QW"), words.number("QX"), words.number("QY"), words.number("QZ")};
  view.cam_from_world.translation = {words.number("TX"), words.number("TY"), words.number("TZ")};
  result.camera_id = words.integer<std::uint32_t>("CAMERA_ID");
  view.name = words.rest();
  return result;
}

bool is_image_line(const WordScanner& words) {
  try {
    return !parse_image_line(words).view.name.empty();
  } catch (const InputError&) {
    return false;
  }
}

FileView parse_image(const LineBatch& batch, int record) {
  FileView result = parse_image_line(batch.words(record));
  // The second line always belongs to the first: it is empty for a view without observations.
  const WordScanner second = batch.words(record, 1);
  try {
    result.view.observations = parse_observations(second);
  } catch (const InputError&) {
    if (!is_image_line(second)) throw;
    second.place().fail(
        "here stand the words of an image, where the observations of image {} should: its second line is "
        "missing; images without observations need an empty second line",
        result.view.id);
  }
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
  point.track.reserve(static_cast<std::size_t>(std::ranges::count(track, ' ')) / 2 + 1);
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

void parse_cameras_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  ByteReader reader(stream, file);
  const auto count = reader.read_count(kCameraBytes, "cameras");
  for (std::uint64_t i = 0; i < count; ++i) {
    const FilePlace place = reader.place();
    const auto id = reader.read<std::uint32_t>("the id of a camera");
    const auto model_id = reader.read<std::int32_t>("the model of a camera");
    const auto model = model_from_id(model_id);
    if (!model) fail_model(place, id, decimal(model_id));
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

}  // namespace

ColmapParsers colmap_parsers(ColmapFormat format) {
  if (format == ColmapFormat::kText) return {parse_cameras_text, parse_images_text, parse_points_text};
  return {parse_cameras_binary, parse_images_binary, parse_points_binary};
}

}  // namespace recon
