#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/volume.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/device/volume.hpp"

/// Device memory for tests and the benchmark that launch kernels.

namespace recon::cuda {

/// Makes `device` the current one. @throws DeviceUnavailable
inline void use_device(int device) {
  const cudaError_t error = cudaSetDevice(device);
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that the next launch does not report it
  throw DeviceUnavailable("cuda:" + std::to_string(device) + " cannot be used: " + cudaGetErrorString(error));
}

/// A stream, and device memory that is freed with it; every byte of it is `poison` at first.
class Call : public Stream {
 public:
  /// @param poison  by default every float is NaN
  explicit Call(std::uint8_t poison = 0xFF) : poison_(poison) {}

  /// `count` elements of poison, aligned to 256 bytes.
  template <class T>
  T* take(std::size_t count) {
    const std::size_t bytes = arena_bytes(count * sizeof(T));
    if (pieces_.empty() || pieces_.back().capacity() - pieces_.back().used() < bytes) {
      Arena& piece = pieces_.emplace_back();
      piece.reset(std::max(bytes, kPieceBytes));
      RECON_CUDA_TRY(cudaMemsetAsync(piece.base(), poison_, piece.capacity(), get()));
    }
    return pieces_.back().take<T>(count);
  }
  /// The result of `take(arena)`, whose memory is of poison too.
  template <class Take>
  auto allocate(const Take& take) {
    const std::size_t bytes = bytes_taken(take);
    Arena arena(this->take<std::byte>(bytes), bytes);
    return take(arena);
  }
  DeviceVolume take_volume(int width, int planes, int height) {
    auto* data = take<float>(device_volume_floats(width, planes, height));
    return device_volume(data, width, planes, height);
  }

  /// @param pitch  elements from one row to the next on the device
  template <class T>
  T* upload(ImageView<const T> image, std::ptrdiff_t pitch) {
    T* to = take<T>(element_count({pitch, image.height}));
    copy_rows(to, pitch, image.data, image.pitch, image.width, image.height);
    return to;
  }
  DeviceVolume upload(VolumeView<const float> volume) {
    const DeviceVolume to = take_volume(volume.width, volume.planes, volume.height);
    copy_rows(to.data, to.pitch, volume.data, volume.pitch, volume.width, volume.height * volume.planes);
    return to;
  }

  /// The rest is complete on return.
  Volume<float> download(const DeviceVolume& volume) {
    Volume<float> to(volume.width, volume.planes, volume.height);
    copy_rows(to.view().data, to.view().pitch, volume.data, volume.pitch, volume.width,
              volume.height * volume.planes);
    synchronize();
    return to;
  }
  template <class T>
  Image<T> download(const T* data, std::ptrdiff_t pitch, int width, int height) {
    Image<T> to(width, height);
    copy_rows(to.view().data, to.pitch(), data, pitch, width, height);
    synchronize();
    return to;
  }

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 22;

  template <class T>
  void copy_rows(T* to, std::ptrdiff_t to_pitch, const T* from, std::ptrdiff_t from_pitch, int width,
                 int rows) {
    if (width == 0 || rows == 0) return;
    const auto bytes = [](std::ptrdiff_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
    RECON_CUDA_TRY(cudaMemcpy2DAsync(to, bytes(to_pitch), from, bytes(from_pitch), bytes(width),
                                     static_cast<std::size_t>(rows), cudaMemcpyDefault, get()));
  }

  std::uint8_t poison_;
  std::vector<Arena> pieces_;
};

}  // namespace recon::cuda
