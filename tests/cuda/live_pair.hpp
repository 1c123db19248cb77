#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/testing/support.hpp"
#include "reconstruct/device_image.hpp"
#include "reference/block_cases.hpp"

namespace recon::test {

/// A pair on the host, and after `upload` on a device.
class LivePair {
 public:
  LivePair(int width, int height, int disparities, reconstruct::PixelType type)
      : width_(width),
        height_(height),
        type_(type),
        channels_(type == reconstruct::PixelType::kRgb8 ? 3 : 1) {
    const reference::BlockPair made = reference::textured_pair(width, height, {0, disparities}, {});
    for (const auto* image : {&made.left, &made.right}) {
      std::vector<std::uint8_t>& bytes = bytes_.emplace_back();
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          for (int c = 0; c < channels_; ++c)
            bytes.push_back(static_cast<std::uint8_t>((*image)(x, y) * (c + 1) + 40 * c));
    }
  }

  reconstruct::ImageView host(int i) const { return {bytes_[i].data(), width_, height_, row(), type_}; }
  ImageView<const std::uint8_t> rows(int i) const {
    return {bytes_[i].data(), width_ * channels_, height_, width_ * channels_};
  }
  /// @param padding  bytes at the end of a row
  reconstruct::DeviceImage upload(int i, cuda::Call& call, int padding = 0) const {
    return {call.upload(rows(i), row() + padding), width_, height_, row() + padding, type_};
  }

  std::ptrdiff_t row() const { return std::ptrdiff_t{width_} * channels_; }
  int width() const { return width_; }
  int height() const { return height_; }
  reconstruct::PixelType type() const { return type_; }

 private:
  int width_, height_;
  reconstruct::PixelType type_;
  int channels_;
  std::vector<std::vector<std::uint8_t>> bytes_;
};

/// Memory for a result, each byte 0xFF. @param padding  floats at the end of a row
inline reconstruct::DeviceMapView map_for(const LivePair& pair, cuda::Call& call, int padding = 0) {
  const std::ptrdiff_t pitch = pair.width() + padding;
  return {call.take<float>(element_count({pitch, pair.height()})), pair.width(), pair.height(),
          pitch * static_cast<std::ptrdiff_t>(sizeof(float))};
}

}  // namespace recon::test
