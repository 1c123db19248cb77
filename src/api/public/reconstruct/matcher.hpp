#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "reconstruct/device.hpp"
#include "reconstruct/device_image.hpp"
#include "reconstruct/export.hpp"

namespace reconstruct {

/// Of the library.
namespace detail {
struct MatcherState;
}

/// Matches rectified pairs of one size that are in the memory of a GPU, such as those of a live camera: no
/// copy to the host, and `match` allocates nothing. The disparities are those of
/// `match` on the same device, bit for bit. Copies are the same matcher. Thread-safe: calls may name any
/// streams, and the work of each waits on the GPU for that of the one before; a matcher for each stream works
/// side by side. One that was moved from is empty: its calls throw UsageError.
class RECONSTRUCT_API Matcher {
 public:
  /// Takes all memory and prepares the work.
  /// @param device  with a GPU, of several the first. Its limit of memory counts for each matcher by itself
  /// @param width, height  of the images, pixels
  /// @param type  of the images: kGrey8 or kRgb8
  /// @param options  as of `match`, without what the host computes: fill, graphcut in refine and optimizer,
  /// and sigma of the method bp
  /// @throws UsageError that names the option or the image, the value found and what it may be
  /// @throws DeviceUnavailable where the device is the CPU; OutOfMemory, DeviceError
  Matcher(const Device& device, int width, int height, PixelType type, const Options& options);

  /// Queues the disparities of the left image and returns at once. Errors of the GPU that come later are seen
  /// by the caller's next call of CUDA on the stream.
  /// @param left, right  of the size and type of the matcher, on its GPU
  /// @param disparity  written: d >= 0 for x_right = x_left - d, pixels; NaN where it is unknown
  /// @param stream  a cudaStream_t of the GPU, with which the work is ordered; null: the legacy default
  /// stream
  /// @throws UsageError for another size, type or pitch, for memory of the host or of another GPU, and where
  /// the matcher is empty
  /// @throws DeviceError
  void match(const DeviceImage& left, const DeviceImage& right, const DeviceMapView& disparity,
             void* stream = nullptr) const;

  /// Queues the disparities of several pairs, one after the other, as so many calls of `match` do; nothing
  /// where one of the images or maps is refused.
  /// @param left, right, disparities  of each pair, as many of each, at least one
  /// @param stream  as for `match`
  void match_batch(const std::vector<DeviceImage>& left, const std::vector<DeviceImage>& right,
                   const std::vector<DeviceMapView>& disparities, void* stream = nullptr) const;

  /// Lets work that is queued later on another stream of the GPU wait for the last call, if there was one.
  /// Returns at once.
  /// @param stream  null: the legacy default stream
  /// @throws UsageError where the matcher is empty; DeviceError
  void order_after_match(void* stream) const;

  /// Memory for a result, once for many calls. It may outlive the matcher. To allocate it and to free it may
  /// wait for the GPU.
  /// @throws UsageError where the matcher is empty; OutOfMemory, DeviceError
  DeviceMap new_map() const;
  /// The same for a batch: one after the other in one allocation. @param count  at least 1
  std::vector<DeviceMap> new_maps(int count) const;

  /// @throws UsageError where the matcher is empty, as what follows does
  int width() const;
  int height() const;
  PixelType type() const;
  int device() const;  ///< index of the GPU, as CUDA counts
  /// Device memory that it works with: without the maps of `new_map` and what the driver keeps for its graph.
  std::size_t bytes() const;

  /// Whether it was moved from.
  bool empty() const noexcept { return state_ == nullptr; }

 private:
  const detail::MatcherState& state() const;

  std::shared_ptr<const detail::MatcherState> state_;
};

}  // namespace reconstruct
