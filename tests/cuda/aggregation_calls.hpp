#pragma once

#include <cstddef>

#include "aggregate/aggregation.hpp"
#include "cuda/aggregate/adaptive_weight.hpp"
#include "cuda/aggregate/constant_window.hpp"
#include "cuda/aggregate/cross_based.hpp"
#include "cuda/match/cross_arms.hpp"
#include "cuda/testing/support.hpp"

/// The kernels of cost aggregation, on a device whose memory is poisoned.

namespace recon::test {

inline Image<Cross> run_cross_arms(ImageView<const Rgb8> image, const CrossOptions& options) {
  cuda::Call call;
  const std::ptrdiff_t pitch = padded_count<Cross>(image.width),
                       pixel_pitch = padded_count<Rgb8>(image.width);
  auto* const crosses = call.take<Cross>(element_count({pitch, image.height}));
  cuda::queue_cross_arms({call.upload(image, pixel_pitch), pixel_pitch, image.width, image.height}, options,
                         crosses, pitch, call.get());
  return call.download(crosses, pitch, image.width, image.height);
}

inline Volume<float> run_constant_window(VolumeView<const float> costs, int radius, float max_cost) {
  const int width = costs.width, planes = costs.planes, height = costs.height;
  cuda::Call call;
  const cuda::DeviceVolume means = call.take_volume(width, planes, height);
  const auto sums = call.allocate(
      [&](cuda::Arena& arena) { return cuda::take_window_sums(width, planes, height, radius, arena); });
  cuda::queue_constant_window(call.upload(costs), radius, max_cost, means, sums, call.get());
  return call.download(means);
}

/// The images of both views on the device: colours or crosses.
template <class Images, class T>
Images uploaded(const SupportViews<T>& views, VolumeView<const float> costs, cuda::Call& call) {
  EXPECTS(views.fits(costs.width, costs.height));
  Images images;
  images.pitch = padded_count<T>(costs.width);
  images.reference = call.upload(views.reference, images.pitch);
  if (!views.source.empty()) images.source = call.upload(views.source, images.pitch);
  images.side = views.side;
  images.min_disparity = views.min_disparity;
  return images;
}

inline Volume<float> run_adaptive_weight(const SupportViews<Rgb8>& views,
                                         const AdaptiveWeightOptions& options,
                                         VolumeView<const float> costs) {
  const int width = costs.width, planes = costs.planes, height = costs.height;
  cuda::Call call;
  const auto images = uploaded<cuda::ColourImages>(views, costs, call);
  const cuda::DeviceVolume means = call.take_volume(width, planes, height);
  const auto memory = call.allocate(
      [&](cuda::Arena& arena) { return cuda::WeightMemory::take(width, planes, height, arena); });
  cuda::queue_adaptive_weight(images, options, call.upload(costs), means, memory, call.get());
  return call.download(means);
}

/// @param longest  no arm is longer
inline Volume<float> run_cross_based(const SupportViews<Cross>& views, int longest,
                                     const CrossBasedOptions& options, float max_cost,
                                     VolumeView<const float> costs) {
  cuda::Call call;
  auto arms = uploaded<cuda::CrossImages>(views, costs, call);
  arms.longest = longest;
  const auto memory = call.allocate([&](cuda::Arena& arena) {
    return cuda::CrossMemory::take(costs.width, costs.planes, costs.height, options, longest, arena);
  });
  return call.download(
      cuda::queue_cross_based(arms, options, max_cost, call.upload(costs), memory, call.get()));
}

}  // namespace recon::test
