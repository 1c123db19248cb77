#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "methods/stereo/pair.hpp"

namespace recon {

/// An image of the caller in the memory of a GPU: grey or, with three channels, red, green and blue.
struct DevicePixels {
  const std::uint8_t* data = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;          ///< bytes from one row to the next
  int channels = 1;                  ///< 1 or 3
  std::optional<void*> stream = {};  ///< a cudaStream_t whose work the call waits for, if another one
};

/// A map of the caller in the memory of a GPU.
struct DeviceFloats {
  float* data = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;          ///< bytes from one row to the next, a multiple of sizeof(float)
  std::optional<void*> stream = {};  ///< as of an image
};

/// The pairs that a DeviceMatcher matches.
struct DeviceMatching {
  int width = 0, height = 0;  ///< pixels
  int channels = 1;           ///< of both images
  PairSpec spec = {};
  int min_patch = 0;  ///< the least patch of the result that stays, pixels
};

/// Checks all of a call but where its memory lies.
/// @throws UsageError that names the image, what was found and what it may be
void check_device_pair(const DeviceMatching& matching, const DevicePixels& left, const DevicePixels& right,
                       const DeviceFloats& disparity);

/// @throws UsageError for a method of which the host computes a part
void check_runs_on_device(const PairSpec& spec);

/// Matches pairs of one size in the memory of a GPU; the constructor takes all memory. Thread-safe, and calls
/// may name any streams: the work of each waits for that of the one before.
class DeviceMatcher {
 public:
  virtual ~DeviceMatcher() = default;

  /// Queues the disparities of the left image, those of Backend::match without small patches.
  /// @param stream  a cudaStream_t of the device
  /// @throws UsageError as check_device_pair, or for memory that is not on the device; DeviceError
  virtual void match(const DevicePixels& left, const DevicePixels& right, const DeviceFloats& disparity,
                     void* stream) = 0;

  /// Lets later work of a stream wait for the last call, if there was one. @throws DeviceError
  virtual void order_after_match(void* stream) = 0;

  /// A map of the size, rows without padding; it may outlive the matcher. @throws OutOfMemory, DeviceError
  virtual std::shared_ptr<float> new_map() const = 0;

  virtual std::size_t bytes() const = 0;  ///< of device memory that it works with
  virtual int device() const = 0;         ///< index of the GPU
};

}  // namespace recon
