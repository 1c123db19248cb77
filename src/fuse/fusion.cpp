#include "fuse/fusion.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/interrupt.hpp"
#include "core/lru_cache.hpp"
#include "core/parallel.hpp"
#include "fuse/consistency.hpp"

namespace recon {
namespace {

/// One bit per pixel: used by the points of an earlier view. Bits are set atomically and only for later
/// views, so that the bits of a view are final before they are read.
class UsedPixels {
 public:
  void prepare(int width, int height) {
    if (!bits_.empty()) return;
    width_ = width;
    bits_.resize((static_cast<std::size_t>(width) * static_cast<std::size_t>(height) + 31) / 32);
  }
  void set(int x, int y) {
    const std::size_t i = index(x, y);
    std::atomic_ref(bits_[i / 32]).fetch_or(1u << (i % 32), std::memory_order_relaxed);
  }
  bool test(int x, int y) const {
    if (bits_.empty()) return false;
    const std::size_t i = index(x, y);
    return (bits_[i / 32] >> (i % 32) & 1u) != 0;
  }
  void release() { bits_ = {}; }

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }
  int width_ = 0;
  std::vector<std::uint32_t> bits_;
};

struct LoadedView {
  int index;
  std::shared_ptr<const FusionMaps> maps;
  DepthView depth;
};

/// Averages the observations that agree on a point.
class PointBuilder {
 public:
  void add(const LoadedView& view, int x, int y) {
    const double z = view.depth.depth(x, y);
    const double weight = 1.0 / (z * z);
    position_ = position_ + weight * point_in_world(view.depth, x, y, z);
    weight_ += weight;
    const Vec3d n = normal_in_world(view.depth, x, y);
    if (!std::isnan(n.x)) normal_ = normal_ + n;
    const Rgb8 c = view.maps->colour(x, y);
    colour_ = colour_ + Vec3d{static_cast<double>(c.r), static_cast<double>(c.g), static_cast<double>(c.b)};
    confidence_ += static_cast<double>(view.depth.confidence(x, y));
    views_.push_back(static_cast<std::uint32_t>(view.index));
  }

  int count() const { return static_cast<int>(views_.size()); }
  bool has_normal() const { return dot(normal_, normal_) > 0; }

  FusedPoint finish() {
    const double n = count();
    const auto channel = [&](double sum) { return static_cast<std::uint8_t>(sum / n + 0.5); };
    const Vec3d normal = normalized(normal_);
    std::sort(views_.begin(), views_.end());
    return {(1.0 / weight_) * position_,
            {static_cast<float>(normal.x), static_cast<float>(normal.y), static_cast<float>(normal.z)},
            {channel(colour_.x), channel(colour_.y), channel(colour_.z)},
            static_cast<float>(confidence_ / n),
            std::move(views_)};
  }

 private:
  Vec3d position_{0, 0, 0}, normal_{0, 0, 0}, colour_{0, 0, 0};
  double weight_ = 0, confidence_ = 0;
  std::vector<std::uint32_t> views_;
};

class Fusion {
 public:
  Fusion(const std::vector<FusionView>& views, FusionMapLoader& loader, const FusionOptions& options)
      : views_(views),
        loader_(loader),
        cache_(std::max<std::size_t>(options.max_cached_views, 2)),
        options_(options),
        cosine_(min_cosine(options.agreement)),
        used_(views.size()) {}

  /// Passes the points started by view `i` to `sink`, row by row.
  /// @return the number of points
  std::uint64_t fuse_view(int i, PointSink& sink) {
    const std::optional<LoadedView> reference = load(i);
    if (!reference) return 0;
    std::vector<LoadedView> neighbours;
    for (int j : views_[static_cast<std::size_t>(i)].neighbours) {
      if (j == i) continue;
      if (std::optional<LoadedView> neighbour = load(j)) {
        if (j > i)
          used_[static_cast<std::size_t>(j)].prepare(neighbour->depth.camera.width,
                                                     neighbour->depth.camera.height);
        neighbours.push_back(std::move(*neighbour));
      }
    }
    const int height = reference->depth.camera.height;
    used_[static_cast<std::size_t>(i)].prepare(reference->depth.camera.width, height);
    // Rows depend on each other only with a spacing above 1.
    const int band = options_.spacing == 1 ? (height + kFusionBands - 1) / kFusionBands : height;
    std::uint64_t count = 0;
    for (int y = 0; y < height; y += band)
      count += fuse_rows(*reference, neighbours, y, std::min(y + band, height), sink);
    used_[static_cast<std::size_t>(i)].release();
    return count;
  }

 private:
  std::optional<LoadedView> load(int i) {
    const FusionView& view = views_[static_cast<std::size_t>(i)];
    auto maps = cache_.get(
        i, [&] { return loader_.load(i); }, [](const FusionMaps&) { return std::size_t{1}; });
    if (!maps) return std::nullopt;
    EXPECTS(maps->depth.width() == view.camera.width && maps->depth.height() == view.camera.height);
    const DepthView depth{view.camera, view.cam_from_world, maps->depth.view(), maps->normal.view(),
                          maps->confidence.view()};
    return LoadedView{i, std::move(maps), depth};
  }

  std::uint64_t fuse_rows(const LoadedView& reference, const std::vector<LoadedView>& neighbours, int y_begin,
                          int y_end, PointSink& sink) {
    const int spacing = options_.spacing;
    std::vector<std::vector<FusedPoint>> rows(static_cast<std::size_t>(y_end - y_begin));
    // Pixels of one phase are so far apart that none marks another as used: the order within a phase is
    // irrelevant.
    for (int phase = 0; phase < spacing * spacing; ++phase) {
      const int x_first = phase % spacing, y_first = y_begin + phase / spacing;
      parallel_for((y_end - y_first + spacing - 1) / spacing, [&](int row) {
        const int y = y_first + row * spacing;
        for (int x = x_first; x < reference.depth.camera.width; x += spacing)
          fuse_pixel(reference, neighbours, x, y, rows[static_cast<std::size_t>(y - y_begin)]);
      });
    }
    std::uint64_t count = 0;
    for (const std::vector<FusedPoint>& row : rows) {
      count += row.size();
      if (!row.empty()) sink.add(row);
    }
    return count;
  }

  void fuse_pixel(const LoadedView& reference, const std::vector<LoadedView>& neighbours, int x, int y,
                  std::vector<FusedPoint>& out) {
    const float z = reference.depth.depth(x, y);
    if (std::isnan(z) || used_[static_cast<std::size_t>(reference.index)].test(x, y)) return;
    const Vec3d point = point_in_world(reference.depth, x, y, z);
    const Vec3d normal = normal_in_world(reference.depth, x, y);
    PointBuilder builder;
    builder.add(reference, x, y);
    int seeing_through = 0;
    for (const LoadedView& neighbour : neighbours) {
      const std::optional<Reprojection> s = reproject(neighbour.depth, point);
      if (!s) continue;
      if (seen_through(*s, options_.agreement)) ++seeing_through;
      if (!depths_agree(*s, options_.agreement)) continue;
      if (!normals_agree(normal, normal_in_world(neighbour.depth, s->x, s->y), cosine_)) continue;
      builder.add(neighbour, s->x, s->y);
    }
    if (builder.count() < options_.min_views || seeing_through >= builder.count() || !builder.has_normal())
      return;
    use_up(reference, x, y, static_cast<double>(z), options_.spacing - 1);
    for (const LoadedView& neighbour : neighbours) {
      if (neighbour.index < reference.index) continue;
      const std::optional<Reprojection> s = reproject(neighbour.depth, point);
      if (s && depths_agree(*s, options_.agreement))
        use_up(neighbour, s->x, s->y, s->predicted, options_.spacing);
    }
    out.push_back(builder.finish());
  }

  /// Marks the pixels around (x, y) on the surface of depth z as used.
  void use_up(const LoadedView& view, int x, int y, double z, int reach) {
    for (int j = std::max(y - reach, 0); j <= std::min(y + reach, view.depth.camera.height - 1); ++j)
      for (int i = std::max(x - reach, 0); i <= std::min(x + reach, view.depth.camera.width - 1); ++i)
        if (depths_agree({i, j, z, view.depth.depth(i, j)}, options_.agreement))
          used_[static_cast<std::size_t>(view.index)].set(i, j);
  }

  const std::vector<FusionView>& views_;
  FusionMapLoader& loader_;
  LruCache<int, FusionMaps> cache_;
  FusionOptions options_;
  double cosine_;
  std::vector<UsedPixels> used_;
};

}  // namespace

std::uint64_t fuse(const std::vector<FusionView>& views, FusionMapLoader& loader,
                   const FusionOptions& options, PointSink& sink) {
  EXPECTS(options.spacing >= 1 && options.spacing <= 8);
  Fusion fusion(views, loader, options);
  std::uint64_t count = 0;
  for (int i = 0; i < static_cast<int>(views.size()); ++i) {
    check_interrupted();
    count += fusion.fuse_view(i, sink);
  }
  return count;
}

bool floats_suffice(const FusionView& view, double near, int spacing) {
  EXPECTS(near > 0 && spacing >= 1);
  constexpr double kRounding = 1.0 / (1 << 24);  // half a unit in the last place of a float, relative
  constexpr double kShareOfSpacing = 0.1;
  const Pose world_from_cam = inverse(view.cam_from_world);
  double largest = 0;
  for (const double x : {0.0, static_cast<double>(view.camera.width)})
    for (const double y : {0.0, static_cast<double>(view.camera.height)}) {
      const Vec3d corner = world_from_cam * (near * view.camera.ray({x, y}));
      largest = std::max({largest, std::abs(corner.x), std::abs(corner.y), std::abs(corner.z)});
    }
  const double distance = spacing * near / std::max(view.camera.fx, view.camera.fy);
  return kRounding * largest <= kShareOfSpacing * distance;
}

}  // namespace recon
