#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/testing/support.hpp"
#include "reconstruct/sweep.hpp"
#include "reconstruct/sweeper.hpp"

namespace recon::test {

/// Grey levels that change from pixel to pixel and over tens of them.
inline std::uint8_t texture(int x, int y, unsigned seed) {
  const auto noise = [seed](int i, int j) {
    auto hash =
        static_cast<unsigned>(i) * 73856093u ^ static_cast<unsigned>(j) * 19349663u ^ seed * 83492791u;
    hash = (hash ^ hash >> 13) * 1274126177u;
    return static_cast<int>((hash ^ hash >> 16) & 0xFFu);
  };
  return static_cast<std::uint8_t>((noise(x, y) + noise(x / 4, y / 4) + 2 * noise(x / 9, y / 9)) / 4);
}

/// Views of a box before a wall by cameras beside each other, on the host and after `upload` on a device.
class LiveViews {
 public:
  LiveViews(int width, int height, int sources, reconstruct::PixelType type = reconstruct::PixelType::kGrey8)
      : width_(width),
        height_(height),
        type_(type),
        channels_(type == reconstruct::PixelType::kRgb8 ? 3 : 1) {
    for (const int step : {0, 1, -1, 2}) {
      if (std::ssize(steps_) > sources) break;
      steps_.push_back(step);
      std::vector<std::uint8_t>& bytes = bytes_.emplace_back();
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          const int at = x + kBoxShift * step;
          const bool box = at > width / 3 && at < 2 * width / 3 && y > height / 4 && y < 3 * height / 4;
          const int value = box ? texture(at, y, 1) : texture(x + kWallShift * step + 100, y, 2);
          for (int c = 0; c < channels_; ++c)
            bytes.push_back(static_cast<std::uint8_t>(c == 0 ? value : c == 1 ? 255 - value / 2 : value * 7));
        }
    }
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) mask_.push_back(x % 50 == 7 ? 0 : 255);
  }

  /// @param shift  of all cameras, which changes nothing but the numbers
  reconstruct::View host(int i, bool masked = false, double shift = 0) const {
    const std::ptrdiff_t row = std::ptrdiff_t{width_} * channels_;
    reconstruct::View view{{bytes_[at(i)].data(), width_, height_, row, type_}, camera(), pose(i, shift)};
    if (masked) view.mask = {mask_.data(), width_, height_, width_, reconstruct::PixelType::kGrey8};
    return view;
  }
  std::vector<reconstruct::View> host_sources() const {
    std::vector<reconstruct::View> views;
    for (int i = 1; i < std::ssize(bytes_); ++i) views.push_back(host(i));
    return views;
  }

  /// @param padding  bytes at the end of a row
  reconstruct::DeviceView upload(int i, cuda::Call& call, int padding = 0, bool masked = false) const {
    const int row = width_ * channels_;
    const ImageView<const std::uint8_t> rows{bytes_[at(i)].data(), row, height_, row};
    reconstruct::DeviceView view{
        {call.upload(rows, row + padding), width_, height_, row + padding, type_}, camera(), pose(i, 0)};
    const ImageView<const std::uint8_t> mask{mask_.data(), width_, height_, width_};
    if (masked) view.mask = {call.upload(mask, width_ + padding), width_, height_, width_ + padding};
    return view;
  }
  std::vector<reconstruct::DeviceView> upload_sources(cuda::Call& call, int padding = 0) const {
    std::vector<reconstruct::DeviceView> views;
    for (int i = 1; i < std::ssize(bytes_); ++i) views.push_back(upload(i, call, padding));
    return views;
  }

  int width() const { return width_; }
  int height() const { return height_; }

 private:
  static constexpr int kWallShift = 5, kBoxShift = 10;  ///< pixels from camera to camera
  static constexpr double kWall = 4;                    ///< its depth; the box has half of it

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  reconstruct::Camera camera() const { return {1.0 * width_, 1.0 * width_, width_ / 2.0, height_ / 2.0}; }
  reconstruct::Pose pose(int i, double shift) const {
    reconstruct::Pose pose;
    pose.translation[0] = -steps_[at(i)] * kWallShift * kWall / width_ + shift;
    return pose;
  }

  int width_, height_;
  reconstruct::PixelType type_;
  int channels_;
  std::vector<int> steps_;
  std::vector<std::vector<std::uint8_t>> bytes_;
  std::vector<std::uint8_t> mask_;
};

/// Memory for results, each byte 0xFF. @param padding  pixels at the end of a row
inline reconstruct::DeviceDepthMapsView maps_for(const LiveViews& views, cuda::Call& call, int padding = 0) {
  const std::ptrdiff_t pitch = views.width() + padding;
  const std::size_t pixels = element_count({pitch, views.height()});
  const auto bytes = pitch * static_cast<std::ptrdiff_t>(sizeof(float));
  const int width = views.width(), height = views.height();
  reconstruct::DeviceDepthMapsView maps;
  maps.depth = {call.take<float>(pixels), width, height, bytes};
  maps.normal = {reinterpret_cast<reconstruct::Vector3f*>(call.take<float>(3 * pixels)), width, height,
                 3 * bytes};
  maps.confidence = {call.take<float>(pixels), width, height, bytes};
  return maps;
}

}  // namespace recon::test
