#include "io/cloud/ply_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/plain_number.hpp"
#include "io/cloud/ply_vertices.hpp"
#include "io/file/mapped_file.hpp"
#include "io/file/output_file.hpp"

namespace recon {

namespace {

/// Bytes that are read or written at once.
constexpr std::size_t kChunkBytes = 1 << 20;
/// Bytes of the temporary file that are read or written before their memory is given back.
constexpr std::size_t kHeldBytes = 32 << 20;

/// The indices of a tile.
using TileIndex = std::pair<std::int64_t, std::int64_t>;

struct Tile {
  std::uint64_t count = 0;  ///< points
  std::uint64_t next = 0;   ///< where its next point belongs in the temporary file, in points
};

using Tiles = std::map<TileIndex, Tile>;

/// The tiles of a cloud.
class Grid {
 public:
  Grid(const PlyVertices& vertices, double size)
      : vertices_(vertices), x_(vertices, "x", &Vec3d::x), y_(vertices, "y", &Vec3d::y), size_(size) {
    for_each_vertex(vertices, [this](std::string_view vertex) { count(vertex); });
    if (tiles_.size() > kMaxPlyTiles || !has_indices_) refuse();
    std::uint64_t begin = 0;
    for (auto& [index, tile] : tiles_) {
      tile.next = begin;
      begin += tile.count;
    }
  }

  const Tiles& tiles() const { return tiles_; }

  /// The tile of a vertex, which has been counted.
  Tile& tile_of(std::string_view vertex) {
    const TileIndex index = index_of(vertex);
    // Neighbours in the cloud are neighbours in space.
    if (last_ == tiles_.end() || last_->first != index) last_ = tiles_.find(index);
    return last_->second;
  }

 private:
  TileIndex index_of(std::string_view vertex) const {
    return {static_cast<std::int64_t>(std::floor(x_.of(vertex) / size_)),
            static_cast<std::int64_t>(std::floor(y_.of(vertex) / size_))};
  }

  void count(std::string_view vertex) {
    const double x = x_.of(vertex), y = y_.of(vertex);
    if (!std::isfinite(x) || !std::isfinite(y)) vertices_.fail("a vertex is not finite");
    min_x_ = std::min(min_x_, x);
    max_x_ = std::max(max_x_, x);
    min_y_ = std::min(min_y_, y);
    max_y_ = std::max(max_y_, y);
    // Beyond this, names no longer tell neighbouring corners apart.
    constexpr double kMaxIndex = 1e14;
    has_indices_ &= std::max(std::abs(x), std::abs(y)) / size_ < kMaxIndex;
    if (!has_indices_ || tiles_.size() > kMaxPlyTiles) return;  // only the extent is still of interest
    const TileIndex index = index_of(vertex);
    if (last_ == tiles_.end() || last_->first != index) last_ = tiles_.try_emplace(index).first;
    ++last_->second.count;
  }

  [[noreturn]] void refuse() const {
    // Tiles of this size are surely no more than kMaxPlyTiles, wherever the grid begins.
    const double width = max_x_ - min_x_, height = max_y_ - min_y_;
    const double least = std::max(width, height) / (std::sqrt(static_cast<double>(kMaxPlyTiles)) - 1);
    throw UsageError(
        fmt::format("{}: --tile {} would divide the cloud of {} x {} units, a grid of {} x "
                    "{} tiles, into more than {} tiles; give at least {}",
                    vertices_.file(), plain(size_, 6), plain(width, 6), plain(height, 6),
                    plain(std::ceil(width / size_), 6), plain(std::ceil(height / size_), 6), kMaxPlyTiles,
                    plain(1.05 * least, 2)));
  }

  const PlyVertices& vertices_;
  const PlyCoordinate x_, y_;
  const double size_;
  Tiles tiles_;
  Tiles::iterator last_ = tiles_.end();
  bool has_indices_ = true;
  double min_x_ = std::numeric_limits<double>::infinity(), max_x_ = -min_x_;
  double min_y_ = min_x_, max_y_ = -min_x_;
};

void check_form(const PlyVertices& vertices) {
  if (vertices.format() != PlyFormat::kBinaryLittleEndian || !vertices.alone())
    vertices.fail("a cloud that is divided into tiles has to be little-endian and to have vertices alone");
}

/// The vertices sorted by tiles, in a temporary file of which a share is in memory.
class SortedVertices {
 public:
  SortedVertices(const PlyVertices& vertices, Grid& grid, const std::filesystem::path& folder)
      : file_(folder, vertices.count() * vertices.bytes()) {
    for_each_vertex(vertices, [&](std::string_view vertex) {
      file_.write(grid.tile_of(vertex).next++ * vertices.bytes(), vertex);
      hold(vertex.size());
    });
  }

  /// Copies the next bytes to a file.
  void copy(std::size_t bytes, AtomicFile& output) {
    const char* const data = static_cast<const char*>(file_.data()) + next_;
    for (std::size_t at = 0; at < bytes; at += kChunkBytes) {
      const std::size_t piece = std::min(bytes - at, kChunkBytes);
      output.write({data + at, piece});
      hold(piece);
    }
    next_ += bytes;
  }

 private:
  void hold(std::size_t bytes) {
    held_ += bytes;
    if (held_ < kHeldBytes) return;
    file_.drop_pages();
    held_ = 0;
  }

  MappedFile file_;
  std::size_t next_ = 0, held_ = 0;
};

/// A coordinate of a corner, without what the product rounds, such as 0.3 and not 0.30000000000000004.
std::string coordinate(std::int64_t index, double size) {
  return fmt::format("{}{:.15g}", index < 0 ? "m" : "", std::abs(static_cast<double>(index)) * size);
}

std::string name_of(TileIndex index, double size) {
  return coordinate(index.first, size) + "_" + coordinate(index.second, size) + ".ply";
}

}  // namespace

std::vector<PlyTile> divide_ply(const std::filesystem::path& cloud, double size,
                                const std::filesystem::path& folder,
                                const std::function<void(const std::vector<std::string>&)>& claim) {
  EXPECTS(size > 0);
  const PlyVertices vertices(cloud);
  check_form(vertices);
  Grid grid(vertices, size);
  std::vector<PlyTile> written;
  if (grid.tiles().empty()) return written;
  std::vector<std::string> names;
  for (const auto& [index, tile] : grid.tiles()) names.push_back(name_of(index, size));
  claim(names);
  SortedVertices sorted(vertices, grid, cloud.parent_path());
  for (const auto& [index, tile] : grid.tiles()) {
    check_interrupted();
    const std::string name = name_of(index, size);
    AtomicFile output(folder / name);
    output.write(vertices.header(tile.count));
    sorted.copy(tile.count * vertices.bytes(), output);
    written.push_back({name, output.commit()});
  }
  return written;
}

}  // namespace recon
