#pragma once

#include <cstddef>
#include <cstring>

#include "core/image.hpp"
#include "core/parallel.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"

/// Transfer of images to and from the device, where their rows have no padding.

namespace recon::cuda {

/// Copies the rows of an image to `staged` without padding.
template <class T>
void pack_rows(ImageView<const T> image, std::byte* staged) {
  const std::size_t bytes = static_cast<std::size_t>(image.width) * sizeof(T);
  parallel_for(
      image.height,
      [&](int y) { std::memcpy(staged + static_cast<std::size_t>(y) * bytes, image.row(y), bytes); }, 64);
}

/// Ensures a capacity of `bytes`; the contents are lost.
inline void reserve(PinnedBuffer& staging, std::size_t bytes) {
  if (staging.bytes() < bytes) staging = PinnedBuffer(bytes);
}

/// Downloads a map from the device through `staging`; complete on return.
inline Image<float> download_map(const float* device, int width, int height, PinnedBuffer& staging,
                                 const Stream& stream) {
  const std::size_t row = static_cast<std::size_t>(width) * sizeof(float);
  const std::size_t bytes = row * static_cast<std::size_t>(height);
  reserve(staging, bytes);
  RECON_CUDA_TRY(cudaMemcpyAsync(staging.data(), device, bytes, cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  Image<float> map(width, height);
  parallel_for(
      height,
      [&](int y) { std::memcpy(map.row(y), staging.data() + static_cast<std::size_t>(y) * row, row); }, 64);
  return map;
}

}  // namespace recon::cuda
