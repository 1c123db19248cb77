#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"

namespace recon::cuda {

/// Copies images between pageable host memory and the device through two page-locked halves, so that the bus
/// transfer and the host copy overlap.
class Staging {
 public:
  /// Page-locked bytes per object.
  static constexpr std::size_t kBytes = std::size_t{8} << 20;

  Staging() : buffer_(kBytes) {}

  /// Queues the copy of `image` to rows of `pitch` bytes; on return `image` may change.
  void upload(ImageView<const std::uint8_t> image, std::uint8_t* device, std::ptrdiff_t pitch,
              const Stream& stream);

  /// Copies rows of `pitch` floats to `image`; complete on return.
  void download(const float* device, std::ptrdiff_t pitch, ImageView<float> image, const Stream& stream);

 private:
  static constexpr std::size_t kHalf = kBytes / 2;
  std::byte* half(int i) { return buffer_.data() + static_cast<std::size_t>(i) * kHalf; }

  PinnedBuffer buffer_;
  std::array<Event, 2> free_;  ///< recorded after the bus transfer from or to a half
};

}  // namespace recon::cuda
