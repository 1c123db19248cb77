#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "io/file/output_file.hpp"

namespace recon {

/// The vertices of a PLY file. Missing properties are empty vectors; all others have the same length.
struct PlyCloud {
  std::vector<Vec3d> positions;
  std::vector<Vec3f> normals;      ///< nx ny nz
  std::vector<Rgb8> colours;       ///< red green blue: uchar, 16 bit (/257) or floats in [0, 1]
  std::vector<float> confidences;  ///< confidence, otherwise quality
};

/// Reads the vertices of a PLY file: ascii or binary of either byte order, any elements, properties and lists
/// in any order; properties not named above are skipped. Numbers may have any type. Vertices that are not
/// finite are omitted. What PlyWriter subtracted from the coordinates is added again.
/// @throws InputError with file and line (header, ascii) or byte (binary): not a PLY, no vertices with x y z,
/// counts that the size of the file contradicts, truncated
PlyCloud read_ply(const std::filesystem::path& path);
PlyCloud parse_ply(std::string_view bytes, const std::string& file);

/// Every n-th vertex of a binary file whose first element is "vertex", without lists, as PlyWriter writes it;
/// n is such that they are at most `max_vertices`, >= 1. Reads no other vertices.
/// @throws InputError as read_ply, and for other files
PlyCloud read_ply_sample(const std::filesystem::path& path, std::size_t max_vertices);

/// A point of the cloud to be written.
struct PlyPoint {
  Vec3d position{};
  Vec3f normal{};
  Rgb8 colour{};
  float confidence = 0;
  std::span<const std::uint32_t> views{};  ///< indices of the views that see the point
};

/// The written files of a cloud.
struct CloudFiles {
  FileIdentity cloud, visibility;
};

/// The type of x, y and z in the file.
enum class PlyPosition { kFloat, kDouble };

/// How a file has the coordinates of its points.
struct PlyCoordinates {
  PlyPosition type = PlyPosition::kFloat;
  Vec3d offset{};  ///< subtracted from them in the file, whose header names it; 0: they are as they are
};

/// Points as the bytes of a cloud's two files, which threads encode concurrently.
struct EncodedPoints {
  std::string cloud, visibility;
  std::uint64_t count = 0;

  void clear() {
    cloud.clear();
    visibility.clear();
    count = 0;
  }
};

/// Writes a cloud of any size as a stream: a binary little-endian PLY with x y z nx ny nz, red green blue,
/// confidence and views (their number, at most 255, since readers such as COLMAP's support no wider
/// integers), and beside it NAME.ply.vis, COLMAP's list of the views of each point. Both get their final
/// names on `commit`. All members throw OutputError.
class PlyWriter {
 public:
  /// Bytes of a point in the cloud; in the list of the views of each point, of their number and of each.
  static constexpr std::size_t vertex_bytes(PlyPosition position) {
    return 3 * (position == PlyPosition::kDouble ? sizeof(double) : sizeof(float)) + 4 * sizeof(float) + 4;
  }
  static constexpr std::size_t kListedBytes = sizeof(std::uint32_t);

  explicit PlyWriter(const std::filesystem::path& path, const PlyCoordinates& coordinates = {});

  void add(const PlyPoint& point);
  /// The next points of each file, and for the hashes of both. Three threads may do one each.
  void add_vertices(const EncodedPoints& points);
  void add_visibility(const EncodedPoints& points);
  void hash(const EncodedPoints& points);

  /// Appends a point to `points`. Thread-safe.
  void encode(const PlyPoint& point, EncodedPoints& points) const;

  std::uint64_t count() const { return count_; }

  /// Writes the number of points into both headers and renames the files to their final names.
  CloudFiles commit();

 private:
  PlyCoordinates coordinates_;
  AtomicFile cloud_;
  AtomicFile visibility_;
  std::uint64_t count_ = 0;
};

/// Reads COLMAP's visibility file of a cloud (`fused.ply.vis`): for each of `view_count` views, the ascending
/// indices of the points that it sees.
/// @throws InputError with file and byte if it is damaged, or does not belong to a cloud of `point_count`
/// points
std::vector<std::vector<std::uint32_t>> read_visibility(const std::filesystem::path& path,
                                                        std::size_t point_count, std::size_t view_count);
std::vector<std::vector<std::uint32_t>> parse_visibility(std::string_view bytes, const std::string& file,
                                                         std::size_t point_count, std::size_t view_count);

}  // namespace recon
