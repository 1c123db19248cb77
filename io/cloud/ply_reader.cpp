#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "io/cloud/ply.hpp"
#include "io/cloud/ply_header.hpp"
#include "io/cloud/ply_vertices.hpp"
#include "io/file/byte_reader.hpp"
#include "io/file/input_file.hpp"
#include "io/file/text_scanner.hpp"

namespace recon {

namespace {

/// Reads the numbers of a binary body.
class BinaryBody {
 public:
  BinaryBody(std::string_view file_bytes, const PlyHeader& header, const std::string& file)
      : reader_(file_bytes, file),
        order_(header.format == PlyFormat::kBinaryBigEndian ? std::endian::big : std::endian::little) {
    reader_.skip(file_bytes.size() - header.body.size(), "the header");
  }

  FilePlace place() const { return reader_.place(); }
  std::uint64_t remaining() const { return reader_.remaining(); }

  /// Min size of a property in bytes.
  static std::size_t min_bytes(const PlyProperty& property) {
    return byte_count(property.is_list ? property.count_type : property.type);
  }

  double read(PlyType type) {
    switch (type) {
      case PlyType::kInt8:
        return reader_.read<std::int8_t>(kWhat, order_);
      case PlyType::kUint8:
        return reader_.read<std::uint8_t>(kWhat, order_);
      case PlyType::kInt16:
        return reader_.read<std::int16_t>(kWhat, order_);
      case PlyType::kUint16:
        return reader_.read<std::uint16_t>(kWhat, order_);
      case PlyType::kInt32:
        return reader_.read<std::int32_t>(kWhat, order_);
      case PlyType::kUint32:
        return reader_.read<std::uint32_t>(kWhat, order_);
      case PlyType::kFloat:
        return static_cast<double>(reader_.read<float>(kWhat, order_));
      default:
        return reader_.read<double>(kWhat, order_);
    }
  }

  void skip(PlyType type, std::uint64_t count) { reader_.skip(byte_count(type) * count, kWhat); }

 private:
  static constexpr std::string_view kWhat = "an element";

  ByteReader reader_;
  std::endian order_;
};

/// Reads the numbers of an ascii body, separated by white space.
class AsciiBody {
 public:
  AsciiBody(const PlyHeader& header, const std::string& file)
      : rest_(header.body), file_(file), line_(header.line_count + 1) {}

  FilePlace place() const { return {file_, FilePlace::Unit::kLine, line_}; }
  /// Includes the separator that the last number may lack.
  std::uint64_t remaining() const { return rest_.size() + 1; }
  /// A digit and a separator.
  static std::size_t min_bytes(const PlyProperty&) { return 2; }

  double read(PlyType) {
    const std::string_view word = next_word();
    const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // Values out of the range of double become infinite or, if tiny, zero.
    if (error == std::errc::result_out_of_range)
      return digits.find("e-") == std::string_view::npos ? HUGE_VAL : 0;
    if (error != std::errc{} || end != digits.data() + digits.size())
      place().fail("{} stands where a number should; the file is corrupt", in_quotes(word));
    return value;
  }

  void skip(PlyType, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) next_word();
  }

 private:
  std::string_view next_word() {
    std::size_t begin = 0;
    while (begin < rest_.size() && is_space(rest_[begin])) line_ += rest_[begin++] == '\n';
    if (begin == rest_.size()) place().fail("the file ends inside an element; it is truncated");
    std::size_t end = begin;
    while (end < rest_.size() && !is_space(rest_[end])) ++end;
    const std::string_view word = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end);
    return word;
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  std::string_view rest_;
  const std::string& file_;
  std::uint64_t line_;
};

/// Destination of a value of a vertex.
enum Slot : std::size_t { kX, kY, kZ, kNx, kNy, kNz, kRed, kGreen, kBlue, kConfidence, kSlots };

constexpr std::array<std::string_view, kSlots> kSlotNames{"x",  "y",   "z",     "nx",   "ny",
                                                          "nz", "red", "green", "blue", "confidence"};

/// The destinations of the properties of a vertex: `slots` has one entry per property, kSlots if skipped.
struct VertexLayout {
  std::vector<std::size_t> slots;
  std::array<bool, kSlots> has{};
  PlyType colour_type = PlyType::kUint8;

  bool has_normal() const { return has[kNx] && has[kNy] && has[kNz]; }
  bool has_colour() const { return has[kRed] && has[kGreen] && has[kBlue]; }
};

std::size_t slot_of(const PlyProperty& property) {
  if (property.is_list) return kSlots;
  const auto found = std::ranges::find(kSlotNames, property.name);
  return static_cast<std::size_t>(found - kSlotNames.begin());
}

VertexLayout layout_of(const PlyElement& element, const std::string& file) {
  VertexLayout layout;
  for (const PlyProperty& property : element.properties) {
    const std::size_t slot = slot_of(property);
    layout.slots.push_back(slot);
    if (slot == kSlots) continue;
    layout.has[slot] = true;
    if (slot == kRed) layout.colour_type = property.type;
  }
  for (std::size_t i = 0; !layout.has[kConfidence] && i < element.properties.size(); ++i)
    if (element.properties[i].name == "quality" && !element.properties[i].is_list) {
      layout.slots[i] = kConfidence;
      layout.has[kConfidence] = true;
    }
  if (!layout.has[kX] || !layout.has[kY] || !layout.has[kZ])
    FilePlace{file, FilePlace::Unit::kLine, element.line}.fail("the vertices have no properties x, y and z");
  return layout;
}

std::uint8_t to_channel(double value, PlyType type) {
  if (type == PlyType::kFloat || type == PlyType::kDouble) value *= 255;
  if (type == PlyType::kUint16) value /= 257;
  return static_cast<std::uint8_t>(value > 0 ? std::min(value + 0.5, 255.0) : 0.0);
}

template <class Body>
std::uint64_t read_list_length(Body& body, PlyType type) {
  const FilePlace place = body.place();
  const double length = body.read(type);
  if (!(length >= 0) || length > static_cast<double>(body.remaining()) || length != std::floor(length))
    place.fail("a list has an impossible length; the file is truncated or corrupt");
  return static_cast<std::uint64_t>(length);
}

/// @throws InputError if the declared elements exceed the rest of the file
template <class Body>
void check_count(const Body& body, const PlyElement& element, const std::string& file) {
  std::uint64_t bytes = 0;
  for (const PlyProperty& property : element.properties) bytes += Body::min_bytes(property);
  if (bytes != 0 && element.count > body.remaining() / bytes)
    FilePlace{file, FilePlace::Unit::kLine, element.line}.fail(
        "the header announces {} elements {}, but the file is too short for them; it is truncated or corrupt",
        element.count, in_quotes(element.name));
}

template <class Body>
void skip_elements(Body& body, const PlyElement& element) {
  if (element.properties.empty()) return;
  for (std::uint64_t i = 0; i < element.count; ++i)
    for (const PlyProperty& property : element.properties)
      body.skip(property.type, property.is_list ? read_list_length(body, property.count_type) : 1);
}

void add_vertex(const std::array<double, kSlots>& v, const VertexLayout& layout, Vec3d offset,
                PlyCloud& cloud) {
  const auto vector = [&](std::size_t slot) {
    return Vec3f{static_cast<float>(v[slot]), static_cast<float>(v[slot + 1]),
                 static_cast<float>(v[slot + 2])};
  };
  const Vec3d position = offset + Vec3d{v[kX], v[kY], v[kZ]};
  if (!std::isfinite(position.x) || !std::isfinite(position.y) || !std::isfinite(position.z)) return;
  cloud.positions.push_back(position);
  if (layout.has_normal()) cloud.normals.push_back(vector(kNx));
  const auto channel = [&](std::size_t slot) { return to_channel(v[slot], layout.colour_type); };
  if (layout.has_colour()) cloud.colours.push_back({channel(kRed), channel(kGreen), channel(kBlue)});
  if (layout.has[kConfidence]) cloud.confidences.push_back(static_cast<float>(v[kConfidence]));
}

template <class Body>
PlyCloud read_vertices(Body& body, const PlyElement& element, Vec3d offset, const std::string& file) {
  const VertexLayout layout = layout_of(element, file);
  PlyCloud cloud;
  cloud.positions.reserve(element.count);
  if (layout.has_normal()) cloud.normals.reserve(element.count);
  if (layout.has_colour()) cloud.colours.reserve(element.count);
  if (layout.has[kConfidence]) cloud.confidences.reserve(element.count);
  std::array<double, kSlots> values{};
  for (std::uint64_t i = 0; i < element.count; ++i) {
    for (std::size_t p = 0; p < layout.slots.size(); ++p) {
      const PlyProperty& property = element.properties[p];
      if (layout.slots[p] != kSlots)
        values[layout.slots[p]] = body.read(property.type);
      else
        body.skip(property.type, property.is_list ? read_list_length(body, property.count_type) : 1);
    }
    add_vertex(values, layout, offset, cloud);
  }
  return cloud;
}

template <class Body>
PlyCloud read_body(Body body, const PlyHeader& header, const std::string& file) {
  for (const PlyElement& element : header.elements) {
    check_count(body, element, file);
    if (element.name == "vertex") return read_vertices(body, element, header.offset, file);
    skip_elements(body, element);
  }
  FilePlace{file, FilePlace::Unit::kLine, header.line_count}.fail(
      "the file has no element \"vertex\"; it is no cloud");
}

}  // namespace

PlyCloud read_ply_sample(const std::filesystem::path& path, std::size_t max_vertices) {
  EXPECTS(max_vertices >= 1);
  const PlyVertices vertices(path);
  const std::uint64_t count = vertices.count();
  const std::uint64_t step = std::max<std::uint64_t>(1, (count + max_vertices - 1) / max_vertices);
  const std::uint64_t sampled = (count + step - 1) / step;
  constexpr std::uint64_t kVerticesPerTask = 4096;
  std::vector<std::string> parts((sampled + kVerticesPerTask - 1) / kVerticesPerTask);
  parallel_for(static_cast<int>(parts.size()), [&](int part) {
    const InputStream own(path);  // threads that share a descriptor wait for one another at each read
    const std::uint64_t first = static_cast<std::uint64_t>(part) * kVerticesPerTask;
    const std::uint64_t size = std::min(kVerticesPerTask, sampled - first);
    vertices.read_every(step, own, first * step, size, parts[part]);
  });
  std::string sample = vertices.header(sampled);
  for (const std::string& part : parts) sample += part;
  return parse_ply(sample, vertices.file());
}

PlyCloud read_ply(const std::filesystem::path& path) {
  return parse_ply(read_file(path), path.string());
}

PlyCloud parse_ply(std::string_view bytes, const std::string& file) {
  const PlyHeader header = parse_ply_header(bytes, file);
  if (header.format == PlyFormat::kAscii) return read_body(AsciiBody(header, file), header, file);
  return read_body(BinaryBody(bytes, header, file), header, file);
}

}  // namespace recon
