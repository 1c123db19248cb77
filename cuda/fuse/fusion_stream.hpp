#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/unique_id.hpp"
#include "cuda/device/image_cache.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/staging.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/fuse/fusion.hpp"
#include "fuse/device_fusion.hpp"

namespace recon::cuda {

/// The memory on a device that the fusion of a view needs, in an ImageCache.
struct FusionMemoryKeys {
  /// @param views  that are fused
  /// @param jobs   that are begun at a time
  FusionMemoryKeys(std::size_t views, std::size_t jobs)
      : views_(views), first_id_(unique_ids(views + jobs)) {}

  ImageCache::Key maps(int view) const {
    return {first_id_ + static_cast<std::uint64_t>(view), 0, DeviceLayout::kFusionMaps};
  }
  ImageCache::Key work(std::size_t job) const {
    return {first_id_ + views_ + job, 0, DeviceLayout::kFusionWork};
  }

 private:
  std::size_t views_;
  std::uint64_t first_id_;
};

/// Fuses views of a scene on one device, one job at a time; their maps stay there as long as the cache has
/// memory. All memory is of the cache. Not thread-safe; the device must be current in the calling thread.
class FusionStream {
 public:
  /// @param keys  shared by the streams of a fusion
  /// @param index  of this one among them
  FusionStream(ImageCache& cache, const FusionMemoryKeys& keys, std::size_t index,
               const std::vector<FusionView>& views, const FusionOptions& options);
  ~FusionStream() { end(); }

  /// See DeviceFusion::begin, and FusionInProgress; `end` frees what is left of the job, which outlives it.
  /// @param others  bytes of the jobs of other streams
  bool begin(const FusionJob& job, std::size_t others);
  void mark();
  void pass_on(PointSink& sink, FusionProgress& progress);
  void end();

  /// Bytes of the job between `begin` and `end`; else 0.
  std::size_t bytes() const { return fusion_job_ != nullptr ? bytes_ : 0; }

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

  std::optional<DeviceFusionView> acquire(const FusionInput& input);
  bool acquire_all(const FusionJob& job, std::size_t others);
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
  const FusionMemoryKeys keys_;
  const std::size_t index_;
  const FusionOptions options_;
  Sizes sizes_;
  std::optional<Device> device_;
  const FusionJob* fusion_job_ = nullptr;  ///< the job in progress
  std::size_t bytes_ = 0;                  ///< of the job in progress
  std::vector<ImageCache::Use> uses_;      ///< of the job in progress
  std::vector<DeviceFusionView> views_;    ///< the same
  std::optional<Work> work_;               ///< the same
  DeviceFusionJob job_{};                  ///< the same
  std::vector<Sums> sums_;                 ///< of the rows before each, and of all
};

}  // namespace recon::cuda
