#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "io/cloud/ply.hpp"
#include "io/cloud/ply_header.hpp"
#include "io/file/byte_reader.hpp"
#include "io/file/input_file.hpp"
#include "io/file/text_scanner.hpp"

namespace recon {

namespace {

/// The header for `count` points. Its length is the same for every count: a comment is padded with blanks,
/// since not all readers accept a padded number. CloudCompare takes by itself what is named scalar_*, MeshLab
/// takes confidence (as quality).
std::string header(std::uint64_t count, const PlyCoordinates& coordinates) {
  constexpr std::size_t kMostDigits = 20;
  const std::string digits = std::to_string(count);
  const Vec3d& offset = coordinates.offset;
  const std::string comment = dot(offset, offset) > 0
                                  ? fmt::format("comment {} {} {} {}\n", kPlyOffset, decimal(offset.x),
                                                decimal(offset.y), decimal(offset.z))
                                  : "";
  return fmt::format(
      "ply\nformat binary_little_endian 1.0\ncomment {4}{0}\n{3}element vertex {1}\n"
      "property {2} x\nproperty {2} y\nproperty {2} z\n"
      "property float nx\nproperty float ny\nproperty float nz\n"
      "property uchar red\nproperty uchar green\nproperty uchar blue\n"
      "property float confidence\nproperty uchar scalar_views\nend_header\n",
      std::string(kMostDigits - digits.size(), ' '), digits,
      coordinates.type == PlyPosition::kDouble ? "double" : "float", comment, kPlyAuthor);
}

std::string count_bytes(std::uint64_t count) {
  std::string bytes;
  append_number(bytes, count);
  return bytes;
}

}  // namespace

PlyWriter::PlyWriter(const std::filesystem::path& path, const PlyCoordinates& coordinates)
    : coordinates_(coordinates), cloud_(path), visibility_(path.string() + ".vis") {
  cloud_.write(header(0, coordinates_));
  visibility_.write(count_bytes(0));
}

void PlyWriter::add(const PlyPoint& point) {
  EncodedPoints one;
  encode(point, one);
  add_vertices(one);
  add_visibility(one);
  hash(one);
}

void PlyWriter::add_vertices(const EncodedPoints& points) {
  cloud_.append(points.cloud);
  count_ += points.count;
}

void PlyWriter::add_visibility(const EncodedPoints& points) {
  visibility_.append(points.visibility);
}

void PlyWriter::hash(const EncodedPoints& points) {
  cloud_.hash(points.cloud);
  visibility_.hash(points.visibility);
}

void PlyWriter::encode(const PlyPoint& point, EncodedPoints& points) const {
  std::array<char, vertex_bytes(PlyPosition::kDouble)> record;
  char* end = record.data();
  const auto put = [&end](auto value) {
    store_number(end, value);
    end += sizeof(value);
  };
  const Vec3d position = point.position - coordinates_.offset;
  for (const double value : {position.x, position.y, position.z}) {
    if (coordinates_.type == PlyPosition::kDouble)
      put(value);
    else
      put(static_cast<float>(value));
  }
  for (const float value : {point.normal.x, point.normal.y, point.normal.z}) put(value);
  for (const std::uint8_t channel : {point.colour.r, point.colour.g, point.colour.b}) put(channel);
  put(point.confidence);
  put(static_cast<std::uint8_t>(std::min<std::size_t>(point.views.size(), 255)));
  points.cloud.append(record.data(), end);
  append_number(points.visibility, static_cast<std::uint32_t>(point.views.size()));
  if constexpr (std::endian::native == std::endian::little)
    points.visibility.append(reinterpret_cast<const char*>(point.views.data()), point.views.size_bytes());
  else
    for (const std::uint32_t view : point.views) append_number(points.visibility, view);
  ++points.count;
}

CloudFiles PlyWriter::commit() {
  cloud_.replace_beginning(header(count_, coordinates_));
  visibility_.replace_beginning(count_bytes(count_));
  const FileIdentity visibility = visibility_.commit();
  return {cloud_.commit(), visibility};
}

std::vector<std::vector<std::uint32_t>> read_visibility(const std::filesystem::path& path,
                                                        std::size_t point_count, std::size_t view_count) {
  return parse_visibility(read_file(path), path.string(), point_count, view_count);
}

std::vector<std::vector<std::uint32_t>> parse_visibility(std::string_view bytes, const std::string& file,
                                                         std::size_t point_count, std::size_t view_count) {
  ByteReader reader(bytes, file);
  const FilePlace start = reader.place();
  const std::uint64_t count = reader.read_count(sizeof(std::uint32_t), "points");
  if (count != point_count)
    start.fail(
        "the file is about {} points, but the cloud has {}; they do not belong together: write both "
        "again, or do without it",
        count, point_count);
  std::vector<std::vector<std::uint32_t>> points_of_view(view_count);
  for (std::uint32_t point = 0; point < count; ++point) {
    const auto views = reader.read<std::uint32_t>("the number of views");
    for (std::uint32_t i = 0; i < views; ++i) {
      const FilePlace place = reader.place();
      const auto view = reader.read<std::uint32_t>("the views of a point");
      if (view >= view_count)
        place.fail(
            "view {} of a point, but the model has {} views; write both again, or do without this file", view,
            view_count);
      points_of_view[view].push_back(point);
    }
  }
  reader.expect_end();
  return points_of_view;
}

}  // namespace recon
