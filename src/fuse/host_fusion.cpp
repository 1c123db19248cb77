#include "fuse/host_fusion.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/parallel.hpp"
#include "fuse/agreement.hpp"

namespace recon {
namespace {

constexpr int kRowsPerTask = 4;  ///< threads that fuse adjacent rows change the same words of UsedPixels

int divide_up(int a, int b) {
  return (a + b - 1) / b;
}

/// A view with its maps.
struct LoadedView {
  explicit LoadedView(const FusionInput& input)
      : index(input.index),
        depth{input.view->camera, input.view->cam_from_world, input.maps->depth, input.maps->normal,
              input.maps->confidence},
        colour(input.maps->colour),
        world_from_cam(inverse(input.view->cam_from_world)),
        used(input.used) {
    const Pinhole& camera = depth.camera;
    EXPECTS(depth.depth.width == camera.width && depth.depth.height == camera.height);
    for (int x = 0; x < camera.width; ++x) ray_x.push_back(camera.ray(pixel_centre(x, 0)).x);
    for (int y = 0; y < camera.height; ++y) ray_y.push_back(camera.ray(pixel_centre(0, y)).y);
  }

  Vec3d point(int x, int y, double z) const { return world_from_cam * Vec3d{z * ray_x[x], z * ray_y[y], z}; }
  /// In world coordinates; NaN stays NaN.
  Vec3d normal(int x, int y) const { return world_from_cam.rotation * widened(depth.normal(x, y)); }

  int index;
  DepthView depth;
  ImageView<const Rgb8> colour;
  Pose world_from_cam;
  UsedPixels* used;
  double min_cosine = -1;            ///< of a neighbour: of its normals and those of the reference
  std::vector<double> ray_x, ray_y;  ///< of the rays of each column and row, whose z is 1
};

/// Pixels of a row that may start points, and their reprojections into each neighbour.
struct PixelBlock {
  int column[PointBlock::kMax];
  PointBlock points;
  std::vector<ReprojectedBlock> found;
};

/// The points of one view.
class ViewPoints {
 public:
  ViewPoints(const FusionJob& job, const FusionOptions& options)
      : job_(job), options_(options), reference_(job.reference) {
    for (const FusionInput& neighbour : job.neighbours) {
      neighbours_.emplace_back(neighbour);
      neighbours_.back().min_cosine =
          min_cosine(options.agreement, std::max(job.reference.normal_noise, neighbour.normal_noise));
    }
  }

  /// @param rows  buffers that are used again
  void pass_to(PointSink& sink, std::vector<FusedRow>& rows, FusionProgress& progress) {
    const int height = reference_.depth.camera.height, spacing = options_.spacing;
    // Rows depend on each other only with a spacing above 1: then all are kept until the last phase.
    const int rows_per_task = spacing > 1 || drops_pages() ? 1 : kRowsPerTask;  // few rows are between drops
    const int slots = divide_up(height, kFusionShares * rows_per_task);
    rows.resize(spacing == 1 ? slots : height);
    for (FusedRow& row : rows) row.clear();
    sink.reserve(slots);
    fuse_all_phases_but_last(rows);
    for_steps(progress.rows, height, [&](int begin, int end) {
      const auto row_of = [&](int task, int slot) -> FusedRow& {
        return rows[spacing == 1 ? slot : begin + task];
      };
      parallel_for_in_order(
          divide_up(end - begin, rows_per_task), slots,
          [&](int task, int slot) {
            FusedRow& row = row_of(task, slot);
            if (spacing == 1) row.clear();
            const int first = begin + task * rows_per_task;
            for (int y = first; y < std::min(first + rows_per_task, end); ++y)
              if (y % spacing == spacing - 1) fuse_row(spacing - 1, y, row);
            sink.keep(slot, row.all());
          },
          [&](int task, int slot) {
            progress.points += row_of(task, slot).points.size();
            sink.add(slot);
          });
      progress.rows = end;
    });
  }

 private:
  /// Pixels of one phase are so far apart that none marks another as used: the order within a phase is
  /// irrelevant.
  void fuse_all_phases_but_last(std::vector<FusedRow>& rows) const {
    const int spacing = options_.spacing;
    for (int phase = 0; phase + 1 < spacing * spacing; ++phase) {
      const int x_first = phase % spacing, y_first = phase / spacing;
      const int count = divide_up(reference_.depth.camera.height - y_first, spacing);
      for_steps(0, count, [&](int begin, int end) {
        parallel_for(end - begin, [&](int row) {
          const int y = y_first + (begin + row) * spacing;
          fuse_row(x_first, y, rows[y]);
        });
      });
    }
  }

  bool drops_pages() const { return job_.reference.maps->drop_pages != nullptr; }

  /// Calls `fuse(begin, end)` for ranges of rows, and drops pages that can be dropped after each.
  template <class Fuse>
  void for_steps(int first, int count, const Fuse& fuse) const {
    const int step = drops_pages() ? kRowsBetweenDrops : count;
    for (int begin = first; begin < count; begin += step) {
      fuse(begin, std::min(begin + step, count));
      if (!drops_pages()) continue;
      job_.reference.maps->drop_pages();
      for (const FusionInput& neighbour : job_.neighbours)
        if (neighbour.maps->drop_pages) neighbour.maps->drop_pages();
    }
  }

  /// The points that start at every `spacing`th pixel of row y.
  void fuse_row(int x_first, int y, FusedRow& out) const {
    PixelBlock block;
    block.found.resize(neighbours_.size());
    for (int x = x_first; x < reference_.depth.camera.width; x += options_.spacing) {
      const float z = reference_.depth.depth(x, y);
      if (std::isnan(z) || reference_.used->test(x, y)) continue;
      block.column[block.points.count] = x;
      block.points.push(reference_.point(x, y, static_cast<double>(z)));
      if (block.points.count == PointBlock::kMax) fuse_block(y, block, out);
    }
    fuse_block(y, block, out);
  }

  /// Fuses the pixels of a block and empties it.
  void fuse_block(int y, PixelBlock& block, FusedRow& out) const {
    for (std::size_t n = 0; n < neighbours_.size(); ++n) {
      const DepthView& view = neighbours_[n].depth;
      ReprojectedBlock& found = block.found[n];
      reproject(block.points, view.cam_from_world, view, options_.agreement, found);
      // They are needed soon, and lie apart from those of the other neighbours.
      for (std::uint64_t rest = found.agree; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        __builtin_prefetch(&view.normal(found.x[i], found.y[i]));
        __builtin_prefetch(&view.confidence(found.x[i], found.y[i]));
        __builtin_prefetch(&neighbours_[n].colour(found.x[i], found.y[i]));
      }
    }
    for (int i = 0; i < block.points.count; ++i) fuse_pixel(block, i, y, out);
    block.points.count = 0;
  }

  static void observe(const LoadedView& view, int x, int y, Vec3d normal, PointSums& sums) {
    const double z = static_cast<double>(view.depth.depth(x, y));
    sums.add(z, view.point(x, y, z), normal, view.colour(x, y), view.depth.confidence(x, y));
  }

  void fuse_pixel(const PixelBlock& block, int i, int y, FusedRow& out) const {
    const int x = block.column[i];
    const std::size_t first_view = out.views.size();
    const Vec3d normal = reference_.normal(x, y);
    PointSums sums;
    observe(reference_, x, y, normal, sums);
    out.views.push_back(static_cast<std::uint32_t>(reference_.index));
    int seeing_through = 0;
    bool lone = true;  // no other view has a depth there
    for (std::size_t n = 0; n < neighbours_.size(); ++n) {
      const ReprojectedBlock& found = block.found[n];
      if (found.has_depth(i)) lone = false;
      if (found.sees_through(i)) ++seeing_through;
      if (!found.agrees(i)) continue;
      const Vec3d other = neighbours_[n].normal(found.x[i], found.y[i]);
      if (!normals_agree(normal, other, neighbours_[n].min_cosine)) continue;
      observe(neighbours_[n], found.x[i], found.y[i], other, sums);
      out.views.push_back(static_cast<std::uint32_t>(neighbours_[n].index));
    }
    if (!sums.suffice(reference_.depth.confidence(x, y), lone, seeing_through, options_)) {
      out.views.resize(first_view);
      return;
    }
    std::sort(out.views.begin() + static_cast<std::ptrdiff_t>(first_view), out.views.end());
    out.points.push_back(sums.finish());
    const double z = static_cast<double>(reference_.depth.depth(x, y));
    use_up(reference_, x, y, z, options_.spacing - 1, pixel_centre(x, y), options_.spacing - 0.5);
    const double reach =
        used_reach(x, y, reference_.depth.camera, z, options_.spacing,
                   static_cast<double>(options_.agreement.max_relative_depth), reference_.depth.depth);
    for (std::size_t n = 0; n < neighbours_.size(); ++n) {
      const ReprojectedBlock& found = block.found[n];
      if (neighbours_[n].used != nullptr && found.agrees(i))
        use_up(neighbours_[n], found.x[i], found.y[i], found.predicted[i], options_.spacing,
               {found.u[i], found.v[i]}, reach);
    }
  }

  /// Marks the pixels around (x, y) on the surface of depth z as used.
  void use_up(const LoadedView& view, int x, int y, double z, int reach, Vec2d position,
              double max_distance) const {
    const int x_first = std::max(x - reach, 0);
    const int x_last = std::min(x + reach, view.depth.camera.width - 1);
    const std::uint32_t around = (std::uint32_t{2} << (x_last - x_first)) - 1;
    const double max_difference = static_cast<double>(options_.agreement.max_relative_depth);
    for (int j = std::max(y - reach, 0); j <= std::min(y + reach, view.depth.camera.height - 1); ++j) {
      std::uint32_t mask = 0;
      for (std::uint32_t rest = view.used->unset(x_first, j, around); rest != 0; rest &= rest - 1) {
        const int i = x_first + std::countr_zero(rest);
        if (is_used(position, i, j, max_distance) &&
            depths_agree(z, static_cast<double>(view.depth.depth(i, j)), max_difference))
          mask |= rest & -rest;
      }
      view.used->set(x_first, j, mask);
    }
  }

  const FusionJob& job_;
  const FusionOptions& options_;
  const LoadedView reference_;
  std::vector<LoadedView> neighbours_;
};

}  // namespace

void HostFusion::fuse(const FusionJob& job, PointSink& sink, FusionProgress& progress) {
  ViewPoints(job, options_).pass_to(sink, rows_, progress);
}

}  // namespace recon
