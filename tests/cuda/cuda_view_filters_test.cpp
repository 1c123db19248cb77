// The kernels that bring views in device memory to a sweep and filter its maps, beside the host's functions.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/confidence_step.hpp"
#include "core/pixels.hpp"
#include "cuda/gpu_test.hpp"
#include "cuda/methods/sweep/device_views.hpp"
#include "cuda/refine/median.hpp"
#include "cuda/refine/view_filters.hpp"
#include "cuda/testing/support.hpp"
#include "match/posed_image.hpp"
#include "methods/sweep/plane_sweep.hpp"

namespace recon {
namespace {

using Bytes = Image<std::uint8_t>;

class CudaViewFilters : public test::GpuTest<> {
 protected:
  int integer(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }
  float uniform() { return std::uniform_real_distribution<float>(0, 1)(random_); }

  Bytes bytes(int width, int height) {
    Bytes image(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int level = x < width / 2 ? 100 + integer(8) : integer(256);
        image(x, y) = static_cast<std::uint8_t>(level);
      }
    return image;
  }

  /// Depths of small patches beside each other, some unknown.
  DepthEstimate estimate(int width, int height) {
    DepthEstimate maps = uninitialised_estimate(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const float depth =
            2 + 0.03f * static_cast<float>(integer(3)) + (x / 9 % 2 == y / 3 % 2 ? 1.5f : 0.0f);
        maps.depth(x, y) = integer(9) == 0 ? kUnknown : depth;
        maps.cost(x, y) = uniform();
        maps.confidence(x, y) = uniform();
      }
    return maps;
  }

 private:
  std::mt19937 random_{7};
};

template <class T>
ImageView<const T> view_of(const Image<T>& image) {
  return image.view();
}

constexpr std::pair<int, int> kSizes[] = {{150, 13}, {1, 1},  {33, 7},   {129, 65},
                                          {70, 1},   {1, 40}, {300, 200}};

struct FilterCase {
  PhotometricFilterOptions filter = {};
  DepthRange bounds = kAnyDepth;
  int channels = 1;
  bool masked = false;
};

TEST_F(CudaViewFilters, EqualTheHost) {
  std::vector<FilterCase> cases(5);
  cases[0].filter = {0.8f, 0, 0, 0, true};
  cases[1] = {{0.9f, 0.05f, 5, 20, true}, {2.01, 3.5}, 1, true};
  cases[2].filter = {0.9f, 0.1f, 0, 200, false};
  cases[3] = {{0.95f, 0, 3, 4, true}, kAnyDepth, 3, true};
  cases[4] = {{2, 0, 0, 1, false}, {2.03, 1e30}, 1, false};
  for (const auto& [width, height] : kSizes)
    for (std::size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + ", case " + std::to_string(i));
      const auto& [filter, bounds, channels, masked] = cases[i];
      const Bytes channel[3] = {bytes(width, height), bytes(width, height), bytes(width, height)};
      Bytes mask(width, height);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) mask(x, y) = integer(15) == 0 ? 0 : 9;
      DepthEstimate maps = estimate(width, height);
      cuda::Call call;
      const std::ptrdiff_t pitch = width + 3;
      const cuda::ViewMaps given{call.upload(view_of(maps.depth), pitch),
                                 call.upload(view_of(maps.cost), pitch),
                                 call.upload(view_of(maps.confidence), pitch),
                                 pitch,
                                 width,
                                 height};
      cuda::TrustLimits limits{
          filter.max_cost, filter.min_confidence, filter.min_texture, 7, {}, pitch, nullptr, pitch};
      for (int c = 0; c < channels; ++c) limits.channel[c] = call.upload(view_of(channel[c]), pitch);
      if (masked) limits.mask = call.upload(view_of(mask), pitch);
      const std::size_t pixels = element_count({width, height});
      float *depth = call.take<float>(pixels), *other = call.take<float>(pixels);
      float* const confidence = call.take<float>(pixels);
      launch_trusted(given, limits, depth, call.get());
      if (filter.median) {
        cuda::launch_median_3x3(depth, width, height, other, call.get());
        std::swap(depth, other);
      }
      cuda::queue_remove_speckles(depth, width, height, filter.speckle_size, kSpeckleStep,
                                  call.take<int>(pixels), call.take<int>(pixels), call.get());
      launch_kept(given, kept_depths(bounds), depth, confidence, call.get());
      PosedImage reference;
      reference.camera.width = width, reference.camera.height = height;
      reference.channels = channels;
      for (std::size_t c = 0; c < 3; ++c) reference.channel[c] = channel[c].view();
      ViewDepth expected = filter_estimate(reference, 7, filter, std::move(maps),
                                           masked ? view_of(mask) : ImageView<const std::uint8_t>{});
      keep_within(bounds, expected);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          expected.confidence(x, y) = rounded_confidence(expected.confidence(x, y));
      EXPECT_TRUE(test::same_image(call.download(depth, width, width, height), expected.depth)) << "depth";
      EXPECT_TRUE(test::same_image(call.download(confidence, width, width, height), expected.confidence));
    }
}

TEST_F(CudaViewFilters, HalveAsTheHost) {
  for (const auto& [width, height] : kSizes) {
    const Bytes image = bytes(width, height), expected = halved(image.view());
    cuda::Call call;
    auto* const half = call.take<std::uint8_t>(element_count({expected.width() + 5, expected.height()}));
    cuda::launch_halved(call.upload(image.view(), width + 2), width + 2, width, height, half,
                        expected.width() + 5, call.get());
    const Bytes found = call.download(half, expected.width() + 5, expected.width(), expected.height());
    for (int y = 0; y < expected.height(); ++y)
      for (int x = 0; x < expected.width(); ++x) ASSERT_EQ(found(x, y), expected(x, y)) << x << " " << y;
  }
}

TEST_F(CudaViewFilters, ImportGreyAndColours) {
  for (const auto& [width, height] : kSizes)
    for (const int channels : {1, 3})
      for (const int wanted : {1, 3}) {
        const Bytes image = bytes(width * channels, height);
        cuda::Call call;
        const std::ptrdiff_t pitch = width * channels + 7, to_pitch = width + 9;
        const DevicePixels from{call.upload(image.view(), pitch), width, height, pitch, channels};
        cuda::ViewTarget to;
        to.pitch = to_pitch;
        for (int c = 0; c < wanted; ++c)
          to.channel[c] = call.take<std::uint8_t>(element_count({to_pitch, height}));
        if (wanted == 1) to.colours = call.take<Rgb8>(element_count({width, height}));
        cuda::launch_import_view(from, to, call.get());
        Bytes found[3];
        for (int c = 0; c < wanted; ++c) found[c] = call.download(to.channel[c], to_pitch, width, height);
        Image<Rgb8> colours;
        if (wanted == 1) colours = call.download(to.colours, width, width, height);
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x) {
            const std::uint8_t* at = image.row(y) + x * channels;
            const Rgb8 colour = channels == 1 ? Rgb8{*at, *at, *at} : Rgb8{at[0], at[1], at[2]};
            ASSERT_EQ(found[0](x, y), wanted == 1 ? luma(colour) : colour.r) << x << " " << y;
            ASSERT_TRUE(wanted == 3 || colours(x, y) == colour) << x << " " << y;
            ASSERT_TRUE(wanted == 1 || (found[1](x, y) == colour.g && found[2](x, y) == colour.b));
          }
      }
}

}  // namespace
}  // namespace recon
