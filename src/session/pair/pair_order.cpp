#include "session/pair/pair_order.hpp"

#include <algorithm>
#include <cmath>

namespace recon {

namespace {

using Grey = ImageView<const std::uint8_t>;

/// Means of 2 x 2 pixels; a last odd row or column is repeated.
Image<std::uint8_t> halved(Grey image) {
  Image<std::uint8_t> half((image.width + 1) / 2, (image.height + 1) / 2);
  for (int y = 0; y < half.height(); ++y) {
    const std::uint8_t* top = image.row(2 * y);
    const std::uint8_t* bottom = image.row(std::min(2 * y + 1, image.height - 1));
    for (int x = 0; x < half.width(); ++x) {
      const int a = 2 * x, b = std::min(a + 1, image.width - 1);
      half(x, y) = static_cast<std::uint8_t>((top[a] + top[b] + bottom[a] + bottom[b] + 2) / 4);
    }
  }
  return half;
}

/// Block matching with its defaults of the disparities that `range` becomes at half the size.
PairOptions options_for(DisparityRange range) {
  PairOptions options;
  options.method = PairMethod::kBlockMatching;
  const int min = static_cast<int>(std::floor(range.min / 2.0));
  const int last = static_cast<int>(std::ceil((range.min + range.count - 1) / 2.0));
  options.range = {min, last - min + 1};
  return options;
}

double known_share(Backend& backend, const Image<std::uint8_t>& left, const Image<std::uint8_t>& right,
                   DisparityRange range) {
  PairProblem problem;
  problem.images.left = left.view();
  problem.images.right = right.view();
  problem.options = options_for(range);
  const Image<float> map = backend.match(problem).disparity;
  std::size_t known = 0;
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x) known += !std::isnan(map(x, y));
  return static_cast<double>(known) / (static_cast<double>(map.width()) * map.height());
}

}  // namespace

OrderShares compare_orders(Backend& backend, const GreyPair& images, DisparityRange range) {
  const Image<std::uint8_t> left = halved(images.left), right = halved(images.right);
  return {known_share(backend, left, right, range), known_share(backend, right, left, range)};
}

WorkMemory compare_orders_memory(const Backend& backend, int width, int height, DisparityRange range) {
  return backend.pair_memory((width + 1) / 2, (height + 1) / 2, options_for(range));
}

}  // namespace recon
