#include "io/depth_preview.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace recon {
namespace {

/// The quantile `q` of `values`; reorders them.
float quantile(std::vector<float>& values, double q) {
  const auto index = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

/// The 256 colours of the colour map, from low to high.
std::vector<Rgb8> turbo() {
  cv::Mat levels(1, 256, CV_8UC1);
  for (int i = 0; i < 256; ++i) levels.at<std::uint8_t>(0, i) = static_cast<std::uint8_t>(i);
  cv::Mat bgr;
  cv::applyColorMap(levels, bgr, cv::COLORMAP_TURBO);
  std::vector<Rgb8> colours;
  for (int i = 0; i < 256; ++i) {
    const auto& c = bgr.at<cv::Vec3b>(0, i);
    colours.push_back({c[2], c[1], c[0]});
  }
  return colours;
}

/// Applies the colour map to `nearness(pixel)`, where larger is nearer and NaN is unknown.
template <class Nearness>
Image<Rgb8> preview(ImageView<const float> map, const Nearness& nearness) {
  Image<Rgb8> out(map.width, map.height, Rgb8{0, 0, 0});
  std::vector<float> known;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x)
      if (const float value = nearness(map(x, y)); std::isfinite(value)) known.push_back(value);
  if (known.empty()) return out;
  const float low = quantile(known, 0.02);
  const float high = quantile(known, 0.98);
  const float scale = high > low ? 255 / (high - low) : 0;
  const std::vector<Rgb8> colours = turbo();
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x)
      if (const float value = nearness(map(x, y)); std::isfinite(value))
        out(x, y) = colours[static_cast<std::size_t>(std::clamp((value - low) * scale, 0.0f, 255.0f))];
  return out;
}

}  // namespace

Image<Rgb8> depth_preview(ImageView<const float> depth) {
  return preview(depth, [](float value) { return value > 0 ? 1 / value : NAN; });
}

Image<Rgb8> disparity_preview(ImageView<const float> disparity) {
  return preview(disparity, [](float value) { return value; });
}

}  // namespace recon
