#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "io/atomic_file.hpp"

namespace recon {

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

/// Writes a cloud of any size as a stream: a binary little-endian PLY with x y z nx ny nz, red green blue,
/// confidence and views (their number, at most 255, since readers such as COLMAP's support no wider
/// integers), and beside it NAME.ply.vis, COLMAP's list of the views of each point. Both get their final
/// names on `commit`. All members throw OutputError.
class PlyWriter {
 public:
  explicit PlyWriter(const std::filesystem::path& path, PlyPosition position = PlyPosition::kFloat);

  void add(const PlyPoint& point);
  std::uint64_t count() const { return count_; }

  /// Writes the number of points into both headers and renames the files to their final names.
  CloudFiles commit();

 private:
  PlyPosition position_;
  AtomicFile cloud_;
  AtomicFile visibility_;
  std::uint64_t count_ = 0;
  std::string record_;
};

}  // namespace recon
