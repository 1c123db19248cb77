#include "fuse/fusion.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <future>
#include <optional>
#include <set>
#include <system_error>

#include "core/interrupt.hpp"
#include "core/lru_cache.hpp"
#include "core/parallel.hpp"
#include "fuse/consistency.hpp"
#include "fuse/reprojection.hpp"
#include "fuse/used_pixels.hpp"

namespace recon {
namespace {

constexpr int kRowsPerTask = 4;  ///< threads that fuse adjacent rows change the same words of UsedPixels

int divide_up(int a, int b) {
  return (a + b - 1) / b;
}

/// A view with its maps, which `maps` keeps in memory.
struct LoadedView {
  int index;
  std::shared_ptr<const FusionMaps> maps;
  DepthView depth;
  Pose world_from_cam;
  std::vector<double> ray_x, ray_y;  ///< of the rays of each column and row, whose z is 1

  Vec3d point(int x, int y, double z) const { return world_from_cam * Vec3d{z * ray_x[x], z * ray_y[y], z}; }
  /// In world coordinates; NaN stays NaN.
  Vec3d normal(int x, int y) const {
    const Vec3f n = depth.normal(x, y);
    return world_from_cam.rotation * Vec3d{n.x, n.y, n.z};
  }
};

/// Averages the observations that agree on a point.
class PointBuilder {
 public:
  /// @param normal  of the view at the pixel, in world coordinates
  void add(const LoadedView& view, int x, int y, Vec3d normal) {
    const double z = view.depth.depth(x, y);
    const double weight = 1.0 / (z * z);
    position_ = position_ + weight * view.point(x, y, z);
    weight_ += weight;
    if (!std::isnan(normal.x)) normal_ = normal_ + normal;
    const Rgb8 c = view.maps->colour(x, y);
    colour_ = colour_ + Vec3d{static_cast<double>(c.r), static_cast<double>(c.g), static_cast<double>(c.b)};
    confidence_ += static_cast<double>(view.depth.confidence(x, y));
    ++count_;
  }

  int count() const { return count_; }
  bool has_normal() const { return dot(normal_, normal_) > 0; }

  FusedPoint finish() const {
    const double n = count_;
    const auto channel = [&](double sum) { return static_cast<std::uint8_t>(sum / n + 0.5); };
    const Vec3d normal = normalized(normal_);
    return {(1.0 / weight_) * position_,
            {static_cast<float>(normal.x), static_cast<float>(normal.y), static_cast<float>(normal.z)},
            {channel(colour_.x), channel(colour_.y), channel(colour_.z)},
            static_cast<float>(confidence_ / n),
            static_cast<std::uint32_t>(count_)};
  }

 private:
  Vec3d position_{0, 0, 0}, normal_{0, 0, 0}, colour_{0, 0, 0};
  double weight_ = 0, confidence_ = 0;
  int count_ = 0;
};

/// Pixels of a row that may start points, and their reprojections into each neighbour.
struct PixelBlock {
  int column[PointBlock::kMax];
  PointBlock points;
  std::vector<ReprojectedBlock> found;
};

class Fusion {
 public:
  Fusion(const std::vector<FusionView>& views, FusionMapLoader& loader, const FusionOptions& options)
      : views_(views),
        loader_(loader),
        cache_(std::max<std::size_t>(options.max_cached_views, 2)),
        options_(options),
        cosine_(min_cosine(options.agreement)),
        used_(views.size()),
        done_after_(views.size()) {
    const int count = static_cast<int>(views.size());
    std::vector<int> last_user(views.size());
    for (int i = 0; i < count; ++i) {
      last_user[i] = std::max(last_user[i], i);
      for (const int j : views[i].neighbours) last_user[j] = std::max(last_user[j], i);
    }
    for (int i = 0; i < count; ++i) done_after_[last_user[i]].push_back(i);
  }

  /// Passes the points started by view `i` to `sink`, row by row.
  /// @return the number of points
  std::uint64_t fuse_view(int i, PointSink& sink) {
    const std::uint64_t count = fuse_loaded(i, sink);
    for (const int done : done_after_[i]) {
      cache_.erase(done);
      loader_.release(done);
    }
    return count;
  }

 private:
  std::uint64_t fuse_loaded(int i, PointSink& sink) {
    const std::optional<LoadedView> reference = load(i);
    if (!reference) return 0;
    std::vector<LoadedView> neighbours;
    for (int j : views_[i].neighbours) {
      if (j == i) continue;
      if (std::optional<LoadedView> neighbour = load(j)) {
        if (j > i) used_[j].prepare(neighbour->depth.camera.width, neighbour->depth.camera.height);
        neighbours.push_back(std::move(*neighbour));
      }
    }
    std::future<void> ahead = load_ahead(i);
    std::uint64_t count = 0;
    try {
      count = fuse_rows(*reference, neighbours, sink);
    } catch (...) {
      loader_.cancel();  // what is loaded ahead has to end first
      throw;
    }
    loader_.fused(i);
    if (ahead.valid()) ahead.get();
    return count;
  }

  /// Begins to load what the view after `i` needs, if it may and the cache holds that with what `i` needs.
  std::future<void> load_ahead(int i) {
    const int next = i + 1;
    if (!options_.reads_ahead || next == std::ssize(views_)) return {};
    std::vector<int> wanted = views_[next].neighbours;
    wanted.push_back(next);
    std::set<int> needed(wanted.begin(), wanted.end());
    needed.insert(i);
    needed.insert(views_[i].neighbours.begin(), views_[i].neighbours.end());
    if (needed.size() > options_.max_cached_views) return {};
    try {
      return std::async(std::launch::async, [this, wanted] {
        for (const int view : wanted) load(view);
      });
    } catch (const std::system_error&) {  // no thread can be created: the next view loads for itself
      return {};
    }
  }

  std::optional<LoadedView> load(int i) {
    const FusionView& view = views_[i];
    auto maps = cache_.get(
        i, [&] { return loader_.load(i); }, [](const FusionMaps&) { return std::size_t{1}; });
    if (!maps) return std::nullopt;
    EXPECTS(maps->depth.width == view.camera.width && maps->depth.height == view.camera.height);
    const DepthView depth{view.camera, view.cam_from_world, maps->depth, maps->normal, maps->confidence};
    LoadedView loaded{i, std::move(maps), depth, inverse(view.cam_from_world), {}, {}};
    for (int x = 0; x < view.camera.width; ++x) loaded.ray_x.push_back(view.camera.ray(pixel_centre(x, 0)).x);
    for (int y = 0; y < view.camera.height; ++y)
      loaded.ray_y.push_back(view.camera.ray(pixel_centre(0, y)).y);
    return loaded;
  }

  std::uint64_t fuse_rows(const LoadedView& reference, const std::vector<LoadedView>& neighbours,
                          PointSink& sink) {
    const int height = reference.depth.camera.height, spacing = options_.spacing;
    UsedPixels& used = used_[reference.index];
    used.prepare(reference.depth.camera.width, height);
    // Rows depend on each other only with a spacing above 1: then all are kept until the last phase.
    const int rows_per_task = reference.maps->drop_pages ? 1 : kRowsPerTask;  // few rows are between drops
    const int slots = divide_up(height, kFusionShares * rows_per_task);
    rows_.resize(spacing == 1 ? slots * rows_per_task : height);
    for (FusedRow& row : rows_) row.clear();
    sink.reserve(slots);
    fuse_all_phases_but_last(reference, neighbours);
    std::uint64_t count = 0;
    for_steps(height, reference, neighbours, [&](int begin, int end) {
      const auto rows_of = [&](int task, int slot) {
        const int first = begin + task * rows_per_task;
        const int rows = std::min(rows_per_task, end - first);
        return std::span(rows_).subspan(spacing == 1 ? slot * rows_per_task : first, rows);
      };
      parallel_for_in_order(
          divide_up(end - begin, rows_per_task), slots,
          [&](int task, int slot) {
            const std::span<FusedRow> rows = rows_of(task, slot);
            int y = begin + task * rows_per_task;
            for (FusedRow& row : rows) {
              if (spacing == 1) row.clear();
              if (y % spacing == spacing - 1) fuse_row(reference, neighbours, spacing - 1, y, row);
              ++y;
            }
            sink.keep(slot, rows);
          },
          [&](int task, int slot) {
            for (const FusedRow& row : rows_of(task, slot)) count += row.points.size();
            sink.add(slot);
          });
    });
    used.release();
    return count;
  }

  /// Pixels of one phase are so far apart that none marks another as used: the order within a phase is
  /// irrelevant.
  void fuse_all_phases_but_last(const LoadedView& reference, const std::vector<LoadedView>& neighbours) {
    const int spacing = options_.spacing;
    for (int phase = 0; phase + 1 < spacing * spacing; ++phase) {
      const int x_first = phase % spacing, y_first = phase / spacing;
      const int count = divide_up(reference.depth.camera.height - y_first, spacing);
      for_steps(count, reference, neighbours, [&](int begin, int end) {
        parallel_for(end - begin, [&](int row) {
          const int y = y_first + (begin + row) * spacing;
          fuse_row(reference, neighbours, x_first, y, rows_[y]);
        });
      });
    }
  }

  /// Calls `fuse(begin, end)` for ranges of `count` rows, and drops pages that can be dropped after each.
  template <class Fuse>
  static void for_steps(int count, const LoadedView& reference, const std::vector<LoadedView>& neighbours,
                        const Fuse& fuse) {
    const int step = reference.maps->drop_pages ? kRowsBetweenDrops : count;
    for (int begin = 0; begin < count; begin += step) {
      fuse(begin, std::min(begin + step, count));
      drop_pages(reference, neighbours);
    }
  }

  static void drop_pages(const LoadedView& reference, const std::vector<LoadedView>& neighbours) {
    if (reference.maps->drop_pages) reference.maps->drop_pages();
    for (const LoadedView& neighbour : neighbours)
      if (neighbour.maps->drop_pages) neighbour.maps->drop_pages();
  }

  /// The points that start at every `spacing`th pixel of row y.
  void fuse_row(const LoadedView& reference, const std::vector<LoadedView>& neighbours, int x_first, int y,
                FusedRow& out) {
    UsedPixels& used = used_[reference.index];
    PixelBlock block;
    block.found.resize(neighbours.size());
    for (int x = x_first; x < reference.depth.camera.width; x += options_.spacing) {
      const float z = reference.depth.depth(x, y);
      if (std::isnan(z) || used.test(x, y)) continue;
      block.column[block.points.count] = x;
      block.points.push(reference.point(x, y, static_cast<double>(z)));
      if (block.points.count == PointBlock::kMax) fuse_block(reference, neighbours, y, block, out);
    }
    fuse_block(reference, neighbours, y, block, out);
  }

  /// Fuses the pixels of a block and empties it.
  void fuse_block(const LoadedView& reference, const std::vector<LoadedView>& neighbours, int y,
                  PixelBlock& block, FusedRow& out) {
    for (std::size_t n = 0; n < neighbours.size(); ++n) {
      const DepthView& view = neighbours[n].depth;
      ReprojectedBlock& found = block.found[n];
      reproject(block.points, view.cam_from_world, view, options_.agreement, found);
      // They are needed soon, and lie apart from those of the other neighbours.
      for (std::uint64_t rest = found.agree; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        __builtin_prefetch(&view.normal(found.x[i], found.y[i]));
        __builtin_prefetch(&view.confidence(found.x[i], found.y[i]));
        __builtin_prefetch(&neighbours[n].maps->colour(found.x[i], found.y[i]));
      }
    }
    for (int i = 0; i < block.points.count; ++i) fuse_pixel(reference, neighbours, block, i, y, out);
    block.points.count = 0;
  }

  void fuse_pixel(const LoadedView& reference, const std::vector<LoadedView>& neighbours,
                  const PixelBlock& block, int i, int y, FusedRow& out) {
    const int x = block.column[i];
    const std::size_t first_view = out.views.size();
    const Vec3d normal = reference.normal(x, y);
    PointBuilder builder;
    builder.add(reference, x, y, normal);
    out.views.push_back(static_cast<std::uint32_t>(reference.index));
    int seeing_through = 0;
    bool lone = true;  // no other view has a depth there
    for (std::size_t n = 0; n < neighbours.size(); ++n) {
      const ReprojectedBlock& found = block.found[n];
      if (found.has_depth(i)) lone = false;
      if (found.sees_through(i)) ++seeing_through;
      if (!found.agrees(i)) continue;
      const Vec3d other = neighbours[n].normal(found.x[i], found.y[i]);
      if (!normals_agree(normal, other, cosine_)) continue;
      builder.add(neighbours[n], found.x[i], found.y[i], other);
      out.views.push_back(static_cast<std::uint32_t>(neighbours[n].index));
    }
    const bool enough = builder.count() >= options_.min_views ||
                        (lone && keeps_lone_depth(reference.depth.confidence(x, y), options_.agreement));
    if (!enough || seeing_through >= builder.count() || !builder.has_normal()) {
      out.views.resize(first_view);
      return;
    }
    std::sort(out.views.begin() + static_cast<std::ptrdiff_t>(first_view), out.views.end());
    out.points.push_back(builder.finish());
    use_up(reference, x, y, static_cast<double>(reference.depth.depth(x, y)), options_.spacing - 1);
    for (std::size_t n = 0; n < neighbours.size(); ++n) {
      const ReprojectedBlock& found = block.found[n];
      if (neighbours[n].index > reference.index && found.agrees(i))
        use_up(neighbours[n], found.x[i], found.y[i], found.predicted[i], options_.spacing);
    }
  }

  /// Marks the pixels around (x, y) on the surface of depth z as used.
  void use_up(const LoadedView& view, int x, int y, double z, int reach) {
    const int x_first = std::max(x - reach, 0);
    const int x_last = std::min(x + reach, view.depth.camera.width - 1);
    const std::uint32_t around = (std::uint32_t{2} << (x_last - x_first)) - 1;
    UsedPixels& used = used_[view.index];
    for (int j = std::max(y - reach, 0); j <= std::min(y + reach, view.depth.camera.height - 1); ++j) {
      std::uint32_t mask = 0;
      for (std::uint32_t rest = used.unset(x_first, j, around); rest != 0; rest &= rest - 1) {
        const int i = x_first + std::countr_zero(rest);
        if (depths_agree(z, view.depth.depth(i, j), options_.agreement)) mask |= rest & -rest;
      }
      used.set(x_first, j, mask);
    }
  }

  const std::vector<FusionView>& views_;
  FusionMapLoader& loader_;
  LruCache<int, FusionMaps> cache_;
  FusionOptions options_;
  double cosine_;
  std::vector<UsedPixels> used_;
  std::vector<std::vector<int>> done_after_;  ///< the views that no view after this one needs
  std::vector<FusedRow> rows_;  ///< of the current view; kept, as new memory costs as much as the points
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
