#include "io/ply_writer.hpp"

#include <algorithm>
#include <string>

#include "io/byte_reader.hpp"

namespace recon {
namespace {

/// The header for `count` points. Its length is the same for every count: a comment is padded with blanks,
/// since not all readers accept a padded number.
std::string header(std::uint64_t count, PlyPosition position) {
  constexpr std::size_t kMostDigits = 20;
  const std::string digits = std::to_string(count);
  std::string text = "ply\nformat binary_little_endian 1.0\ncomment written by reconstruct";
  text += std::string(kMostDigits - digits.size(), ' ') + "\nelement vertex " + digits + "\n";
  const std::string_view type = position == PlyPosition::kDouble ? "double " : "float ";
  for (const char* name : {"x", "y", "z"}) text.append("property ").append(type).append(name) += '\n';
  for (const char* name : {"nx", "ny", "nz"}) text += std::string("property float ") + name + "\n";
  for (const char* name : {"red", "green", "blue"}) text += std::string("property uchar ") + name + "\n";
  return text + "property float confidence\nproperty uchar views\nend_header\n";
}

std::string count_bytes(std::uint64_t count) {
  std::string bytes;
  append_number(bytes, count);
  return bytes;
}

std::filesystem::path visibility_path(std::filesystem::path path) {
  return path += ".vis";
}

}  // namespace

PlyWriter::PlyWriter(const std::filesystem::path& path, PlyPosition position)
    : position_(position), cloud_(path), visibility_(visibility_path(path)) {
  cloud_.write(header(0, position_));
  visibility_.write(count_bytes(0));
}

void PlyWriter::add(const PlyPoint& point) {
  record_.clear();
  for (const double value : {point.position.x, point.position.y, point.position.z}) {
    if (position_ == PlyPosition::kDouble)
      append_number(record_, value);
    else
      append_number(record_, static_cast<float>(value));
  }
  for (const float value : {point.normal.x, point.normal.y, point.normal.z}) append_number(record_, value);
  for (const std::uint8_t channel : {point.colour.r, point.colour.g, point.colour.b})
    append_number(record_, channel);
  append_number(record_, point.confidence);
  append_number(record_, static_cast<std::uint8_t>(std::min<std::size_t>(point.views.size(), 255)));
  cloud_.write(record_);
  record_.clear();
  append_number(record_, static_cast<std::uint32_t>(point.views.size()));
  for (const std::uint32_t view : point.views) append_number(record_, view);
  visibility_.write(record_);
  ++count_;
}

CloudFiles PlyWriter::commit() {
  cloud_.write_at(0, header(count_, position_));
  visibility_.write_at(0, count_bytes(count_));
  const FileIdentity visibility = visibility_.commit();
  return {cloud_.commit(), visibility};
}

}  // namespace recon
