#include "io/model/colmap_formats.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "core/parallel.hpp"
#include "core/plain_number.hpp"
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
      "camera {} has the model {}, which COLMAP does not have, perhaps a fork; undistort the images first or "
      "convert the model",
      camera, model);
}

std::vector<Observation> parse_observations(WordScanner words) {
  std::vector<Observation> observations;
  const std::string_view line = words.rest();
  observations.reserve(static_cast<std::size_t>(std::ranges::count(line, ' ')) / 3 + 1);
  while (!words.done()) {
    Observation observation;
    observation.pixel.x =
        words.any_number("X of an observation (images without observations need an empty second line)");
    observation.pixel.y = words.any_number("Y of an observation");
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
    while (!words.done()) camera.params.push_back(words.any_number("a parameter"));
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
  result.rotation = {words.any_number("QW"), words.any_number("QX"), words.any_number("QY"),
                     words.any_number("QZ")};
  view.cam_from_world.translation = {words.any_number("TX"), words.any_number("TY"), words.any_number("TZ")};
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
  point.position = {words.any_number("X"), words.any_number("Y"), words.any_number("Z")};
  point.colour = {words.integer<std::uint8_t>("R"), words.integer<std::uint8_t>("G"),
                  words.integer<std::uint8_t>("B")};
  point.error = words.any_number("ERROR");
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

/// Parses the records of a binary file. Where that fails and a value before was one that COLMAP does not
/// write, the file is not cut off, but has other fields: the message says so.
class RecordFile {
 public:
  /// @param file  its name; must outlive this
  RecordFile(InputStream& stream, const std::string& file) : reader_(stream, file) {}

  /// @param parse_record  reads one, and calls `expect` for values by which it sees that they are none
  template <class ParseRecord>
  void parse(std::size_t record_bytes, const char* what, const ParseRecord& parse_record) {
    try {
      for (std::uint64_t left = read_count(record_bytes, what); left > 0;) left -= parse_record(left);
      if (reader_.remaining() > 0)
        reader_.place().fail("{} bytes follow the last record; {}", reader_.remaining(), kOther);
    } catch (const InputError&) {
      if (!oddity_.empty()) throw InputError(oddity_ + "; " + kOther);
      throw;
    }
  }

  ByteReader& reader() { return reader_; }

  /// As ByteReader::read_count.
  std::uint64_t read_count(std::size_t record_bytes, std::string_view what) {
    const FilePlace place = reader_.place();
    const auto count = reader_.read<std::uint64_t>(what);
    expect(count >> 32 == 0, place, [&] { return fmt::format("{} {} are announced", count, what); });
    reader_.check_count(count, record_bytes, what, place);
    return count;
  }

  /// @param found  for people, where it is not `usual`
  template <class Found>
  void expect(bool usual, const FilePlace& place, const Found& found) {
    if (!usual && oddity_.empty()) oddity_ = place.text() + ": " + found();
  }

  /// That numbers have a magnitude that somebody measures; whatever is not finite is left out elsewhere.
  void expect_measured(std::initializer_list<double> values, const FilePlace& place, std::string_view of) {
    for (const double value : values)
      expect(value == 0 || !std::isfinite(value) || (std::abs(value) > 1e-100 && std::abs(value) < 1e100),
             place, [&] { return fmt::format("{} has the value {}", of, plain(value)); });
  }

 private:
  static constexpr const char* kOther =
      "COLMAP writes no such file: the program that did, perhaps a fork of COLMAP, has other fields in it, "
      "or it is corrupt; have that program write the model as text "
      "(colmap model_converter --output_type TXT)";

  ByteReader reader_;
  std::string oddity_;  ///< the first one
};

void parse_cameras_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  RecordFile records(stream, file);
  ByteReader& reader = records.reader();
  records.parse(kCameraBytes, "cameras", [&](std::uint64_t) {
    const FilePlace place = reader.place();
    const auto id = reader.read<std::uint32_t>("the id of a camera");
    const auto model_id = reader.read<std::int32_t>("the model of a camera");
    const auto model = model_from_id(model_id);
    if (!model) fail_model(place, id, plain(model_id));
    Camera camera;
    camera.model = *model;
    camera.width = read_side(reader, "width");
    camera.height = read_side(reader, "height");
    camera.params.resize(static_cast<std::size_t>(parameter_count(*model)));
    for (double& param : camera.params) {
      param = reader.read<double>("the parameters of a camera");
      records.expect_measured({param}, place, "a parameter of a camera");
    }
    builder.add_camera(id, std::move(camera), place);
    return 1;
  });
}

/// Expects what COLMAP writes before the name of an image and as its name.
void expect_image(RecordFile& records, const View& view, Quaternion q, const FilePlace& place) {
  const double length = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  records.expect(length == 0 || !std::isfinite(length) || (length > 0.1 && length < 10), place, [&] {
    return fmt::format("the quaternion of image {} has the length {}", view.id, plain(length, 4));
  });
  const auto& [x, y, z] = view.cam_from_world.translation;
  records.expect_measured({x, y, z}, place, "the translation of an image");
  const bool is_name =
      !view.name.empty() && std::ranges::none_of(view.name, [](unsigned char c) { return c < 0x20; });
  records.expect(is_name, place, [&] {
    return fmt::format("the name of image {} is {}: it is empty, or has control characters", view.id,
                       in_quotes(view.name));
  });
}

void parse_images_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  RecordFile records(stream, file);
  ByteReader& reader = records.reader();
  records.parse(kImageBytes, "images", [&](std::uint64_t) {
    const FilePlace place = reader.place();
    View view;
    view.id = reader.read<std::uint32_t>("the id of an image");
    const auto w = reader.read<double>("the rotation of an image");
    const Vec3d xyz = read_vector(reader, "the rotation of an image");
    const Quaternion rotation{w, xyz.x, xyz.y, xyz.z};
    view.cam_from_world.translation = read_vector(reader, "the translation of an image");
    const auto camera_id = reader.read<std::uint32_t>("the camera of an image");
    view.name = reader.read_c_string("the name of an image");
    expect_image(records, view, rotation, place);
    const std::uint64_t observation_count = records.read_count(kObservationBytes, "observations");
    builder.claim_observations(observation_count, place);
    std::vector<Observation> observations(observation_count);
    for (Observation& observation : observations) {
      observation.pixel.x = reader.read<double>("an observation");
      observation.pixel.y = reader.read<double>("an observation");
      observation.point_id = reader.read<std::uint64_t>("an observation");
    }
    view.observations = std::move(observations);
    builder.add_view(std::move(view), camera_id, rotation, place);
    return 1;
  });
}

SparsePoint read_point(RecordFile& records, ColmapBuilder& builder) {
  ByteReader& reader = records.reader();
  const FilePlace place = reader.place();
  SparsePoint point;
  point.id = reader.read<std::uint64_t>("the id of a point");
  point.position = read_vector(reader, "the position of a point");
  const auto channel = [&] { return reader.read<std::uint8_t>("the colour of a point"); };
  point.colour = {channel(), channel(), channel()};
  point.error = reader.read<double>("the error of a point");
  const auto& [x, y, z] = point.position;
  records.expect_measured({x, y, z, point.error}, place, "the position or the error of a point");
  const std::uint64_t length = records.read_count(kTrackElementBytes, "track elements");
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
  RecordFile records(stream, file);
  records.parse(kPointBytes, "points", [&](std::uint64_t left) {
    std::vector<SparsePoint> points(std::min(left, kBatch));
    std::vector<FilePlace> places;
    for (SparsePoint& point : points) {
      places.push_back(records.reader().place());
      point = read_point(records, builder);
    }
    const std::size_t count = points.size();
    builder.add_points(std::move(points), [&](int i) { return places[i]; });
    return count;
  });
}

}  // namespace

ColmapParsers colmap_parsers(ColmapFormat format) {
  if (format == ColmapFormat::kText)
    return {parse_cameras_text, parse_rigs_text, parse_frames_text, parse_images_text, parse_points_text};
  return {parse_cameras_binary, parse_rigs_binary, parse_frames_binary, parse_images_binary,
          parse_points_binary};
}

}  // namespace recon
