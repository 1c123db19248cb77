#include "io/model/colmap_rigs.hpp"

#include <algorithm>
#include <cmath>

#include "io/file/byte_reader.hpp"
#include "io/file/text_scanner.hpp"
#include "io/model/colmap_builder.hpp"

namespace recon {
namespace {

// Sizes of the smallest possible records, bytes.
constexpr std::size_t kPoseBytes = 7 * 8;
constexpr std::size_t kSensorBytes = 4 + 4;
constexpr std::size_t kRigBytes = 4 + 4;
constexpr std::size_t kFrameBytes = 4 + 4 + kPoseBytes + 4;
constexpr std::size_t kDataBytes = kSensorBytes + 8;

/// A camera or another sensor of a rig.
struct Sensor {
  bool is_camera = false;
  std::uint32_t id = 0;
};

Sensor read_sensor(WordScanner& words) {
  const bool is_camera = words.word("SENSOR_TYPE") == "CAMERA";
  return {is_camera, words.integer<std::uint32_t>("SENSOR_ID")};
}

Sensor read_sensor(ByteReader& reader) {
  constexpr std::int32_t kCamera = 0;
  const bool is_camera = reader.read<std::int32_t>("the type of a sensor") == kCamera;
  return {is_camera, reader.read<std::uint32_t>("the id of a sensor")};
}

std::optional<Pose> read_pose(WordScanner& words) {
  const Quaternion q{words.any_number("QW"), words.any_number("QX"), words.any_number("QY"),
                     words.any_number("QZ")};
  return pose_of(q, {words.any_number("TX"), words.any_number("TY"), words.any_number("TZ")});
}

std::optional<Pose> read_pose(ByteReader& reader) {
  const auto next = [&] { return reader.read<double>("a pose"); };
  const Quaternion q{next(), next(), next(), next()};
  return pose_of(q, {next(), next(), next()});
}

std::uint32_t read_short_count(ByteReader& reader, std::size_t record_bytes, std::string_view what) {
  const FilePlace place = reader.place();
  const auto count = reader.read<std::uint32_t>(what);
  reader.check_count(count, record_bytes, what, place);
  return count;
}

}  // namespace

void ColmapRigs::note_scale(const std::optional<Pose>& pose) {
  if (pose) scale_ = std::max(scale_, norm(pose->translation));
}

void ColmapRigs::add_camera(std::uint32_t rig, std::uint32_t camera, std::optional<Pose> camera_from_rig) {
  note_scale(camera_from_rig);
  cameras_.emplace(std::pair(rig, camera), camera_from_rig);
}

void ColmapRigs::add_image(std::uint32_t image, std::uint32_t rig, const std::optional<Pose>& rig_from_world,
                           const FilePlace& place) {
  note_scale(rig_from_world);
  if (!images_.emplace(image, ImageOfFrame{rig, rig_from_world}).second)
    place.fail("image {} is in two frames; it has to be in one", image);
}

std::optional<Pose> ColmapRigs::pose_of(std::uint32_t image, std::uint32_t camera) const {
  const auto frame = images_.find(image);
  if (frame == images_.end() || !frame->second.rig_from_world) return std::nullopt;
  const auto known = cameras_.find(std::pair(frame->second.rig, camera));
  if (known == cameras_.end() || !known->second) return std::nullopt;
  const Pose pose = *known->second * *frame->second.rig_from_world;
  return std::isfinite(norm(pose.translation)) ? std::optional(pose) : std::nullopt;
}

bool ColmapRigs::differ(const Pose& a, const Pose& b) const {
  constexpr double kRounding = 1e-6;
  double turn = 0;
  for (int i = 0; i < 9; ++i) turn = std::max(turn, std::abs(a.rotation.m[i] - b.rotation.m[i]));
  return turn > kRounding || norm(a.translation - b.translation) > kRounding * scale_;
}

void parse_rigs_text(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  LineScanner lines(stream, file);
  for (std::string_view line; lines.next_content(line);) {
    WordScanner words(line, lines.place());
    const auto rig = words.integer<std::uint32_t>("RIG_ID");
    const auto sensors = words.integer<std::uint32_t>("NUM_SENSORS");
    for (std::uint32_t i = 0; i < sensors; ++i) {
      const Sensor sensor = read_sensor(words);
      std::optional<Pose> pose = Pose{};
      if (i > 0) pose = words.word("HAS_POSE") == "1" ? read_pose(words) : std::nullopt;
      builder.claim_frame_image(lines.place());
      if (sensor.is_camera) builder.rigs().add_camera(rig, sensor.id, pose);
    }
  }
}

void parse_frames_text(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  LineScanner lines(stream, file);
  for (std::string_view line; lines.next_content(line);) {
    WordScanner words(line, lines.place());
    words.integer<std::uint32_t>("FRAME_ID");
    const auto rig = words.integer<std::uint32_t>("RIG_ID");
    const std::optional<Pose> rig_from_world = read_pose(words);
    const auto count = words.integer<std::uint32_t>("NUM_DATA_IDS");
    for (std::uint32_t i = 0; i < count; ++i) {
      const Sensor sensor = read_sensor(words);
      const auto data = words.integer<std::uint64_t>("DATA_ID");
      builder.claim_frame_image(lines.place());
      if (sensor.is_camera)
        builder.rigs().add_image(static_cast<std::uint32_t>(data), rig, rig_from_world, lines.place());
    }
  }
}

void parse_rigs_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  ByteReader reader(stream, file);
  for (auto left = reader.read_count(kRigBytes, "rigs"); left > 0; --left) {
    const FilePlace place = reader.place();
    const auto rig = reader.read<std::uint32_t>("the id of a rig");
    const std::uint32_t sensors = read_short_count(reader, kSensorBytes, "sensors");
    for (std::uint32_t i = 0; i < sensors; ++i) {
      const Sensor sensor = read_sensor(reader);
      std::optional<Pose> pose = Pose{};
      if (i > 0) pose = reader.read<std::uint8_t>("a sensor") != 0 ? read_pose(reader) : std::nullopt;
      builder.claim_frame_image(place);
      if (sensor.is_camera) builder.rigs().add_camera(rig, sensor.id, pose);
    }
  }
  reader.expect_end();
}

void parse_frames_binary(InputStream& stream, const std::string& file, ColmapBuilder& builder) {
  ByteReader reader(stream, file);
  for (auto left = reader.read_count(kFrameBytes, "frames"); left > 0; --left) {
    const FilePlace place = reader.place();
    reader.read<std::uint32_t>("the id of a frame");
    const auto rig = reader.read<std::uint32_t>("the rig of a frame");
    const std::optional<Pose> rig_from_world = read_pose(reader);
    const std::uint32_t count = read_short_count(reader, kDataBytes, "images");
    for (std::uint32_t i = 0; i < count; ++i) {
      const Sensor sensor = read_sensor(reader);
      const auto data = reader.read<std::uint64_t>("an image of a frame");
      builder.claim_frame_image(place);
      if (sensor.is_camera)
        builder.rigs().add_image(static_cast<std::uint32_t>(data), rig, rig_from_world, place);
    }
  }
  reader.expect_end();
}

}  // namespace recon
