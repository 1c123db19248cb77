#pragma once

#include <array>
#include <cstddef>

#include "core/image.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"

namespace recon::cuda {

/// Copies images between pageable host memory and the device through two page-locked halves, so that the bus
/// transfer and the host copy overlap. All copies of an object use the same stream.
class Staging {
 public:
  /// Page-locked bytes per object.
  static constexpr std::size_t kBytes = std::size_t{8} << 20;

  Staging() : buffer_(kBytes) {}

  /// Queues the copy of `image` to rows that are `pitch` elements apart; on return `image` may change.
  /// @throws std::logic_error if a row is longer than kBytes / 2; DeviceError
  template <class T>
  void upload(ImageView<const T> image, T* device, std::ptrdiff_t pitch, const Stream& stream) {
    send(reinterpret_cast<const std::byte*>(image.data), reinterpret_cast<std::byte*>(device),
         rows_of(image, pitch), stream);
  }

  /// Copies rows that are `pitch` elements apart to `image`; complete on return.
  /// @throws std::logic_error if a row is longer than kBytes / 2; DeviceError
  template <class T>
  void download(const T* device, std::ptrdiff_t pitch, ImageView<T> image, const Stream& stream) {
    receive(reinterpret_cast<const std::byte*>(device), reinterpret_cast<std::byte*>(image.data),
            rows_of(image, pitch), stream);
  }

 private:
  static constexpr std::size_t kHalf = kBytes / 2;

  /// Sizes of an image in bytes.
  struct Rows {
    int count;
    std::ptrdiff_t bytes, host_pitch, device_pitch;
  };
  template <class T>
  static Rows rows_of(const ImageView<T>& image, std::ptrdiff_t pitch) {
    constexpr auto kSize = static_cast<std::ptrdiff_t>(sizeof(T));
    return {image.height, image.width * kSize, image.pitch * kSize, pitch * kSize};
  }

  std::byte* next_part(std::size_t bytes, const Stream& stream);
  void send(const std::byte* host, std::byte* device, const Rows& rows, const Stream& stream);
  void receive(const std::byte* device, std::byte* host, const Rows& rows, const Stream& stream);
  std::byte* half(int i) const { return buffer_.data() + static_cast<std::size_t>(i) * kHalf; }

  PinnedBuffer buffer_;
  std::array<Event, 2> free_;  ///< recorded after the bus transfers from or to a half
  int turn_ = 0;               ///< the half that copies to the device use
  std::size_t used_ = 0;       ///< its bytes in use
};

}  // namespace recon::cuda
