// Small patches of disparities on the device beside those of the host.

#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "cuda/gpu_test.hpp"
#include "cuda/methods/stereo/device_images.hpp"
#include "cuda/refine/surfaces.hpp"
#include "cuda/testing/support.hpp"
#include "refine/depth_filters.hpp"

namespace recon {
namespace {

/// Disparities of patches of several sizes, some of them unknown.
Image<float> patchy(int width, int height) {
  std::mt19937 random(static_cast<unsigned>(width * 1000 + height));
  std::uniform_int_distribution<int> percent(0, 99);
  Image<float> map(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const bool stripe = x / 7 % 3 == 0;
      map(x, y) = stripe && percent(random) < 90 ? 20.0f : static_cast<float>(percent(random) % 9) * 0.75f;
      if (percent(random) < 15) map(x, y) = kUnknown;
    }
  return map;
}

class CudaPatchSizes : public test::GpuTest<testing::TestWithParam<std::tuple<int, int, int>>> {};

TEST_P(CudaPatchSizes, LeaveOutWhatTheHostLeavesOut) {
  const auto [width, height, min_size] = GetParam();
  Image<float> expected = patchy(width, height);
  cuda::Call call;
  cuda::PairResult result;
  result.map = call.upload(ImageView<const float>(expected.view()), width);
  result.pitch = width;
  const std::size_t pixels = element_count({width, height});
  result.labels = call.take<int>(pixels);
  result.sizes = call.take<int>(pixels);
  result.min_size = min_size;
  cuda::queue_surface_sizes(result.map, width, height, min_size, result.labels, result.sizes, call.get());
  auto* const to = call.take<float>(pixels);
  cuda::launch_export(result, {to, width, width, height}, call.get());
  const Image<float> found = call.download(to, width, width, height);
  remove_disparity_speckles(expected.view(), min_size);
  EXPECT_TRUE(test::same_image(expected, found));
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaPatchSizes,
                         testing::Combine(testing::Values(1, 33, 300), testing::Values(1, 40, 150),
                                          testing::Values(2, 7, 60, 1000)));

}  // namespace
}  // namespace recon
