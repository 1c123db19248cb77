#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/error.hpp"
#include "core/image.hpp"
#include "core/vec.hpp"
#include "fuse/fusion_step.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

class DeviceFusion;

/// The consistency-checked maps of one view, the input of fusion; all of the camera's size, unknown is NaN.
struct FusionMaps {
  static constexpr std::size_t kPixelBytes = 2 * sizeof(float) + sizeof(Vec3f) + sizeof(Rgb8);

  ImageView<const float> depth;
  ImageView<const Vec3f> normal;
  ImageView<const float> confidence;
  ImageView<const Rgb8> colour;
  std::vector<std::shared_ptr<const void>> owners;  ///< of the pixels
  /// Gives back the memory of pixels that can be read again; empty where they are in memory only.
  std::function<void()> drop_pages;
};

/// A view to fuse: its geometry, and the indices of the views that may see the same surface.
struct FusionView {
  Pinhole camera;
  Pose cam_from_world;
  std::vector<int> neighbours;
};

/// Loads the maps of a view when fusion needs them. One thread loads at a time; another may release other
/// views, or say that the device has failed, meanwhile.
class FusionMapLoader {
 public:
  virtual ~FusionMapLoader() = default;
  /// A null pointer if the view has no maps (it failed): the view is then skipped.
  virtual std::shared_ptr<const FusionMaps> load(int view) = 0;
  /// The view is not loaded again.
  virtual void release(int /*view*/) {}
  /// The device has failed: the CPU fuses what is left.
  virtual void device_failed(const Error& /*error*/) {}
};

/// Consecutive points of the cloud.
struct FusedPoints {
  std::span<const FusedPoint> points;
  std::span<const std::uint32_t> views;  ///< of each point the indices of those that agree, ascending

  /// Calls `visit(point, its views)` for each point.
  template <class Visit>
  void visit(const Visit& visit) const {
    const std::uint32_t* first = views.data();
    for (const FusedPoint& point : points) {
      visit(point, std::span(first, point.view_count));
      first += point.view_count;
    }
  }
};

/// Receives the points, row by row.
class PointSink {
 public:
  virtual ~PointSink() = default;
  /// The slots are [0, count) from now on. All are free when it is called.
  virtual void reserve(int count) = 0;
  /// Keeps points in a free slot. Threads call it concurrently, for rows in any order.
  virtual void keep(int slot, const FusedPoints& points) = 0;
  /// The points in the slot are the next of the cloud; the slot is free after it. Called by one thread at a
  /// time.
  virtual void add(int slot) = 0;
};

struct FusionOptions : PointCriteria {
  int spacing = 1;                    ///< spacing of the points of a view, pixels, 1..8
  std::size_t max_cached_views = 64;  ///< max number of views with maps in memory, at least 2
  bool reads_ahead = false;           ///< loads what the next view needs while a view is fused
};

/// Where the maps are that a fusion holds.
enum class FusionMemory {
  kHeld,       ///< in memory, those that are being loaded included
  kReadAhead,  ///< and those of the next view are loaded while a view is fused
  kFiles,      ///< in files, whose pages are dropped
};

/// What the memory of a fusion depends on.
struct FusionSize {
  std::size_t pixels = 0;        ///< of a view
  std::size_t held_views = 0;    ///< whose maps are held
  std::size_t marked_views = 0;  ///< see views_marked_at_once
  int spacing = 1;               ///< see FusionOptions
  std::size_t loading = 0;       ///< bytes of loading the maps of a view beside them
  FusionMemory memory = FusionMemory::kHeld;
};

/// Max bytes of a fusion on the CPU, the maps included.
std::size_t fusion_bytes(const FusionSize& size);

/// The most views some of whose pixels are marked as used at a time.
/// @param neighbours  of the views that are fused, in their order
std::size_t views_marked_at_once(const std::vector<std::vector<int>>& neighbours);

/// With `spacing` 1 the points of at most a view's rows divided by this are in memory at a time.
inline constexpr int kFusionShares = 8;

/// Number of rows of points after which fusion drops the pages of maps that have them.
inline constexpr int kRowsBetweenDrops = 32;

/// Merges depth maps into points, view by view in the order of `views`. A point averages the agreeing depths
/// of other views, at the one pixel of its reprojection in each. It marks pixels of the same surface as used:
/// those less than `spacing` pixels away in its own view and, since positions are rounded there, up to
/// `spacing` pixels away in the others. A used pixel starts no point. A point is dropped if at least as many
/// views see through it as agree on it, or if fewer than `min_views` agree, but for a depth of enough
/// confidence where no neighbour has one (`agreement.min_lone_confidence`), for which it does not matter
/// whether the neighbours never had one or the check dropped theirs. Memory: the maps of a view and
/// its neighbours, one bit per pixel of every view, and the points of a view or, with a spacing of 1, of some
/// of its rows. Determinism: the same points in the same order for any number of threads, with or without
/// pages to drop, with or without a device.
/// @param device  fuses the views that fit into its memory until it fails; null: the CPU fuses all
/// @returns the number of points
std::uint64_t fuse(const std::vector<FusionView>& views, FusionMapLoader& loader,
                   const FusionOptions& options, PointSink& sink, DeviceFusion* device = nullptr);

/// The same, view by view. All that it is given outlives it.
class FusionByViews {
 public:
  FusionByViews(const std::vector<FusionView>& views, FusionMapLoader& loader, const FusionOptions& options,
                PointSink& sink, DeviceFusion* device = nullptr);
  ~FusionByViews();

  /// Fuses the next view. The points of one that a device fuses may follow with the next call; after the last
  /// view the sink has all.
  /// @returns the number of points that the sink has got since the last call
  std::uint64_t fuse_next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether single precision suffices for the positions of a view's points: rounding to floats moves none by
/// more than a tenth of the distance to its neighbours. It does not suffice for coordinates far from the
/// origin, such as those of a map projection. Testing the min depth suffices, since the distance between
/// points grows faster with the depth than the coordinates.
/// @param near     min depth of the points, scene units, > 0
/// @param spacing  spacing of the points of a view, pixels
bool floats_suffice(const FusionView& view, double near, int spacing);

}  // namespace recon
