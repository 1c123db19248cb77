#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

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
  int channels = 1;                  ///< floats of a pixel
};

/// The images and maps that an object works on, for messages.
struct DeviceArrays {
  const char* owner;  ///< such as "the matcher"
  int width, height;  ///< pixels
};

// Check all of an array but where its memory lies.
// @throws UsageError that names it, what was found and what it may be

/// @param channels  that it must have
void check_pixels(const std::string& name, const DevicePixels& image, int channels,
                  const DeviceArrays& arrays);
void check_floats(const std::string& name, const DeviceFloats& map, const DeviceArrays& arrays);

/// Works on images and maps of one size in the memory of a GPU. Thread-safe, and calls may name any streams:
/// the work of each waits for that of the one before.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;

  /// Lets later work of a stream wait for the last call, if there was one. @throws DeviceError
  virtual void order_after(void* stream) = 0;

  /// Memory for results; it may outlive the object. @throws OutOfMemory, DeviceError
  virtual std::shared_ptr<float> new_floats(std::size_t count) const = 0;

  virtual std::size_t bytes() const = 0;  ///< of device memory that it works with
  virtual int device() const = 0;         ///< index of the GPU
};

}  // namespace recon
