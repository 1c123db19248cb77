#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "reconstruct/image.hpp"

namespace reconstruct {

/// An image of the caller in the memory of a GPU, such as one of cudaMalloc, a cv::cuda::GpuMat or an array
/// of another library. The caller keeps it unchanged until the work that was queued with it is done.
struct DeviceImage {
  const void* data = nullptr;
  int width = 0, height = 0;  ///< pixels
  std::ptrdiff_t pitch = 0;   ///< bytes from one row to the next, at least those of a row
  PixelType type = PixelType::kGrey8;
  /// The stream (cudaStream_t) on which it is written, where that is not the one of the call: the work of the
  /// call waits for what is queued there, and the stream may end after the call.
  std::optional<void*> stream = {};
};

/// A map of the caller in the memory of a GPU. The caller keeps it until the work that was queued with it is
/// done, and does not use it meanwhile but in work that waits for that.
template <class T>
struct DeviceMapViewOf {
  T* data = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;  ///< bytes from one row to the next, a multiple of sizeof(float)
  /// The stream on which it was used before, where that is not the one of the call: as of an image.
  std::optional<void*> stream = {};
};
using DeviceMapView = DeviceMapViewOf<float>;
using DeviceVectorMapView = DeviceMapViewOf<Vector3f>;

/// A map of the library in the memory of a GPU: a copy shares its values, which live as long as one copy
/// does.
template <class T>
struct DeviceMapOf {
  std::shared_ptr<T> data;  ///< the first row
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;  ///< bytes from one row to the next: rows have no padding

  operator DeviceMapViewOf<T>() const { return {data.get(), width, height, pitch}; }
};
using DeviceMap = DeviceMapOf<float>;
using DeviceVectorMap = DeviceMapOf<Vector3f>;

}  // namespace reconstruct
