#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "core/volume.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/device/volume.hpp"

/// Shared by the entry points that test single stages.

namespace recon::cuda {

/// Device memory of a call: poisoned at allocation, freed at the end.
class Call {
 public:
  Call(std::size_t bytes, std::uint8_t poison) {
    arena_.reset(bytes);
    RECON_CUDA_TRY(cudaMemsetAsync(arena_.base(), poison, arena_.capacity(), stream_.get()));
  }

  cudaStream_t stream() const { return stream_.get(); }
  std::byte* take_bytes(std::size_t bytes) { return arena_.take<std::byte>(bytes); }

  template <class T>
  T* upload(ImageView<const T> image, std::ptrdiff_t pitch) {
    T* to = arena_.take<T>(element_count({pitch, image.height}));
    copy_rows(to, pitch, image.data, image.pitch, image.width, image.height);
    return to;
  }
  /// A volume of the same shape.
  DeviceVolume take_volume(VolumeView<const float> volume) {
    float* data = arena_.take<float>(device_volume_floats(volume.width, volume.planes, volume.height));
    return device_volume(data, volume.width, volume.planes, volume.height);
  }
  DeviceVolume upload(VolumeView<const float> volume) {
    const DeviceVolume to = take_volume(volume);
    copy_rows(to.data, to.pitch, volume.data, volume.pitch, volume.width, volume.height * volume.planes);
    return to;
  }
  Volume<float> download(const DeviceVolume& volume) {
    Volume<float> to(volume.width, volume.planes, volume.height);
    copy_rows(to.view().data, to.view().pitch, volume.data, volume.pitch, volume.width,
              volume.height * volume.planes);
    stream_.synchronize();
    return to;
  }
  template <class T>
  Image<T> download(const T* data, std::ptrdiff_t pitch, int width, int height) {
    Image<T> to(width, height);
    copy_rows(to.view().data, to.pitch(), data, pitch, width, height);
    stream_.synchronize();
    return to;
  }

 private:
  template <class T>
  void copy_rows(T* to, std::ptrdiff_t to_pitch, const T* from, std::ptrdiff_t from_pitch, int width,
                 int rows) {
    if (width == 0 || rows == 0) return;
    const auto bytes = [](std::ptrdiff_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
    RECON_CUDA_TRY(cudaMemcpy2DAsync(to, bytes(to_pitch), from, bytes(from_pitch), bytes(width),
                                     static_cast<std::size_t>(rows), cudaMemcpyDefault, stream_.get()));
  }

  Stream stream_;
  Arena arena_;
};

inline std::size_t volume_bytes(VolumeView<const float> volume) {
  return arena_bytes(device_volume_floats(volume.width, volume.planes, volume.height) * sizeof(float));
}

template <class T>
std::size_t image_bytes(ImageView<const T> image) {
  return arena_bytes(element_count({padded_count<T>(image.width), image.height}) * sizeof(T));
}

}  // namespace recon::cuda
