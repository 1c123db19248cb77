#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/interrupt.hpp"
#include "io/cloud/ply_header.hpp"
#include "io/file/byte_reader.hpp"
#include "io/file/input_file.hpp"

namespace recon {

/// The vertices of a binary PLY file whose first element is "vertex", without lists, as PlyWriter writes it.
/// They are read where they are needed: the file may be larger than the memory.
class PlyVertices {
 public:
  /// @throws InputError with file and line for other files, and for counts that the size of the file
  /// contradicts
  explicit PlyVertices(const std::filesystem::path& path);

  const std::string& file() const { return file_; }
  PlyFormat format() const { return format_; }
  /// The properties and the number of the vertices.
  const PlyElement& element() const { return element_; }
  std::uint64_t count() const { return element_.count; }
  /// See PlyHeader.
  const Vec3d& offset() const { return offset_; }

  /// Size of a vertex in bytes.
  std::size_t bytes() const { return bytes_; }

  /// Whether the file has nothing but vertices.
  bool alone() const { return alone_; }

  /// The header of a file with `count` of the vertices.
  std::string header(std::uint64_t count) const;

  /// Appends the bytes of `count` vertices to `out`. Thread-safe.
  /// @throws InputError if they are no longer there; Error as InputStream
  void read(std::uint64_t first, std::uint64_t count, std::string& out) const {
    read(stream_, first, count, out);
  }

  /// The same by another descriptor of the file: threads that share one wait for one another at each read.
  void read(const InputStream& own, std::uint64_t first, std::uint64_t count, std::string& out) const;

  /// The same for `count` vertices of which each is `step` after the one before.
  void read_every(std::uint64_t step, const InputStream& own, std::uint64_t first, std::uint64_t count,
                  std::string& out) const;

  /// @throws InputError with the line of the header that describes the vertices
  [[noreturn]] void fail(const std::string& message) const;

 private:
  std::string file_;
  InputStream stream_;
  std::string header_;
  PlyFormat format_ = PlyFormat::kAscii;
  PlyElement element_;
  Vec3d offset_{};
  std::size_t bytes_ = 0;
  bool alone_ = false;
};

/// Calls visit(vertex bytes) for all vertices in their order, of which few are in memory.
/// @throws as PlyVertices::read; Interrupted
template <class Visit>
void for_each_vertex(const PlyVertices& vertices, const Visit& visit) {
  constexpr std::size_t kChunkBytes = 1 << 20;
  const std::uint64_t at_once = std::max<std::uint64_t>(1, kChunkBytes / vertices.bytes());
  std::string chunk;
  for (std::uint64_t first = 0; first < vertices.count(); first += at_once) {
    check_interrupted();
    chunk.clear();
    vertices.read(first, std::min(at_once, vertices.count() - first), chunk);
    for (std::size_t at = 0; at < chunk.size(); at += vertices.bytes())
      visit(std::string_view(chunk).substr(at, vertices.bytes()));
  }
}

/// A coordinate of little-endian vertices, with what the header says is to be added to it.
class PlyCoordinate {
 public:
  /// @param axis  of the coordinate
  /// @throws InputError where the vertices have no property of this name that is a float or a double
  PlyCoordinate(const PlyVertices& vertices, const char* name, double Vec3d::*axis)
      : added_(vertices.offset().*axis) {
    for (const PlyProperty& property : vertices.element().properties) {
      if (property.name == name) {
        if (property.type != PlyType::kFloat && property.type != PlyType::kDouble) break;
        double_ = property.type == PlyType::kDouble;
        return;
      }
      offset_ += byte_count(property.type);
    }
    vertices.fail(std::string("the vertices have no property ") + name + " of type float or double");
  }

  double of(std::string_view vertex) const {
    const char* const bytes = vertex.data() + offset_;
    return added_ + (double_ ? load_number<double>(bytes) : static_cast<double>(load_number<float>(bytes)));
  }

 private:
  double added_ = 0;
  std::size_t offset_ = 0;
  bool double_ = false;
};

}  // namespace recon
