#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/fuse/fusion.hpp"
#include "cuda/methods/sweep/image_cache.hpp"
#include "cuda/methods/workspace.hpp"
#include "fuse/device_fusion.hpp"

namespace recon::cuda {

/// Fuses the views of a scene on one device, where their maps stay as long as the cache has memory. All
/// memory is of the cache. Not thread-safe but for `has`; the device must be current in the calling thread.
class FusionStream : public DeviceFusion {
 public:
  FusionStream(ImageCache& cache, const std::vector<FusionView>& views, const FusionOptions& options);
  ~FusionStream() override { cache_.release(uses_); }

  bool has(int view) const override { return cache_.has(key(view)); }
  bool begin(const FusionJob& job) override;
  void finish(const FusionJob& job, PointSink& sink, FusionProgress& progress) override;

 private:
  /// The max sizes of what a job takes.
  struct Sizes {
    std::size_t pixels = 0, rows = 0, views = 0, used_words = 0;
    std::size_t points = 0;  ///< bytes of the points that are copied at once, with their views
  };

  /// Device memory of a job.
  struct Work {
    static Work take(Arena& arena, const Sizes& sizes);

    DeviceFusionView* views;
    int* ascending;
    std::uint32_t* used;
    std::uint16_t* view_counts;
    RowCounts* rows;
    ListedPoint* list;
    std::array<std::byte*, 2> points;
  };

  /// What is created with the device: of the first job.
  struct Device {
    explicit Device(std::size_t point_bytes) : points(2 * point_bytes) {}

    Stream stream{StreamPriority::kHigh};
    Staging staging;
    PinnedBuffer points;  ///< two parts, as on the device
    std::array<Event, 2> copied;
  };

  /// The points of rows [begin, end).
  struct Portion {
    int begin, end;
  };

  ImageCache::Key key(int view) const {
    return {first_id_ + static_cast<std::uint64_t>(view), 0, DeviceLayout::kFusionMaps};
  }
  std::optional<DeviceFusionView> acquire(const FusionInput& input);
  bool acquire_all(const FusionJob& job);
  void describe(const FusionJob& job);
  void sum_rows();
  Portion next_portion(int begin) const;
  void queue(Portion portion, int half);
  void pass_on(Portion portion, int half, PointSink& sink);
  std::uint64_t points_before(int row) const { return sums_[static_cast<std::size_t>(row)].points; }
  std::uint64_t views_before(int row) const { return sums_[static_cast<std::size_t>(row)].views; }
  std::size_t bytes_of(Portion portion) const;

  struct Sums {
    std::uint64_t points, views;
  };

  ImageCache& cache_;
  const FusionOptions options_;
  const std::size_t view_count_;
  const std::uint64_t first_id_;
  Sizes sizes_;
  std::optional<Device> device_;
  std::vector<ImageCache::Use> uses_;    ///< of the job in progress
  std::vector<DeviceFusionView> views_;  ///< the same
  std::optional<Work> work_;             ///< the same
  DeviceFusionJob job_{};                ///< the same
  std::vector<Sums> sums_;               ///< of the rows before each, and of all
};

}  // namespace recon::cuda
