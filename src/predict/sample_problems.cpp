#include "predict/sample_problems.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "match/posed_image.hpp"

namespace recon {
namespace {

/// A number 0 .. 255 from a place.
std::uint32_t hashed(std::uint32_t x, std::uint32_t y) {
  std::uint32_t h = x * 0x85EBCA6Bu ^ y * 0xC2B2AE35u;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  return (h ^ h >> 12) >> 24;
}

/// Patches of 24 pixels that differ much, of 4 that differ less, and a little noise.
std::uint8_t texture(int x, int y) {
  const auto at = [&](int size) {
    return hashed(static_cast<std::uint32_t>(x / size + size), static_cast<std::uint32_t>(y / size));
  };
  return static_cast<std::uint8_t>((4 * at(24) + 2 * at(4) + at(1) / 4) * 255 / (6 * 255 + 64));
}

template <class T, class Pixel>
Image<T> drawn(int width, int height, const Pixel& pixel) {
  Image<T> image(width, height);
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x) image(x, y) = pixel(x, y);
  });
  return image;
}

constexpr double kPi = 3.14159265358979;
constexpr double kNear = 1, kFar = 4;

}  // namespace

SampleSweep sample_sweep(const SampleSize& size, const SweepSpec& sweep) {
  SampleSweep sample;
  sample.image = drawn<std::uint8_t>(size.width, size.height, texture);
  sample.problem = {sweep, {}, {}, make_plane_set(kNear, kFar, size.planes)};
  PosedImage image;
  const double focal = size.width, middle = 0.5 * (1 / kNear + 1 / kFar);
  image.camera = {size.width, size.height, focal, focal, 0.5 * size.width, 0.5 * size.height};
  image.channel[0] = sample.image.view();
  sample.problem.reference = image;
  const double distance = size.reach / (1 / kNear - 1 / kFar);
  for (int s = 0; s < size.sources; ++s) {
    const double angle = 2 * kPi * s / size.sources;
    const double x = distance * std::cos(angle), y = distance * std::sin(angle);
    PosedImage source = image;
    source.cam_from_world.translation = {-x, -y, 0};
    source.camera.cx += focal * x * middle;
    source.camera.cy += focal * y * middle;
    sample.problem.sources.push_back(source);
  }
  return sample;
}

SamplePair sample_pair(const SampleSize& size, const PairOptions& options) {
  const int most = size.planes - 1;
  const auto disparity = [&](int x, int y) {
    const int jump = (x / 48 + y / 48) % 2 * most / 4;
    return std::clamp(most / 8 + most / 2 * y / size.height + jump, 0, most);
  };
  // The texture at a column of the right image, whose column 0 is `planes` pixels into the texture.
  const auto colour = [&](int column, int y) {
    const int x = column + size.planes;
    return Rgb8{texture(x, y), texture(x, y + 3), texture(x + 5, y)};
  };
  const auto red_of = [](const Image<Rgb8>& image) {
    return drawn<std::uint8_t>(image.width(), image.height(), [&](int x, int y) { return image(x, y).r; });
  };
  SamplePair sample;
  sample.left_colour =
      drawn<Rgb8>(size.width, size.height, [&](int x, int y) { return colour(x - disparity(x, y), y); });
  sample.right_colour = drawn<Rgb8>(size.width, size.height, colour);
  sample.left = red_of(sample.left_colour);
  sample.right = red_of(sample.right_colour);
  sample.problem.images.left = sample.left.view();
  sample.problem.images.right = sample.right.view();
  sample.problem.colour = {sample.left_colour.view(), sample.right_colour.view()};
  sample.problem.options = options;
  sample.problem.options.range = {0, size.planes};
  return sample;
}

}  // namespace recon
