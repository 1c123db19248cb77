#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/interrupt.hpp"
#include "io/cloud/ply_vertices.hpp"
#include "io/file/byte_reader.hpp"

namespace recon {

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
