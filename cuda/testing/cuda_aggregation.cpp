#include "cuda/testing/cuda_aggregation.hpp"

#include "cuda/aggregate/adaptive_weight.hpp"
#include "cuda/aggregate/constant_window.hpp"
#include "cuda/aggregate/cross_based.hpp"
#include "cuda/match/cross_arms.hpp"
#include "cuda/testing/support.hpp"

namespace recon::cuda {

Image<Cross> run_cross_arms(ImageView<const Rgb8> image, const CrossOptions& options, std::uint8_t poison,
                            int device) {
  use_device(device);
  const std::ptrdiff_t pitch = padded_count<Cross>(image.width);
  const std::size_t crosses = element_count({pitch, image.height}) * sizeof(Cross);
  Call call(image_bytes(image) + arena_bytes(crosses), poison);
  const std::ptrdiff_t pixel_pitch = padded_count<Rgb8>(image.width);
  const DeviceColours colours{call.upload(image, pixel_pitch), pixel_pitch, image.width, image.height};
  auto* to = reinterpret_cast<Cross*>(call.take_bytes(crosses));
  queue_cross_arms(colours, options, to, pitch, call.stream());
  return call.download<Cross>(to, pitch, image.width, image.height);
}

Volume<float> run_constant_window(VolumeView<const float> costs, int radius, float max_cost,
                                  std::uint8_t poison, int device) {
  use_device(device);
  const std::size_t scratch = constant_window_bytes(costs.width, costs.planes, costs.height, radius);
  Call call(2 * volume_bytes(costs) + arena_bytes(scratch), poison);
  const DeviceVolume given = call.upload(costs), means = call.take_volume(costs);
  queue_constant_window(given, radius, max_cost, means, call.take_bytes(scratch), call.stream());
  return call.download(means);
}

Volume<float> run_adaptive_weight(const SupportViews<Rgb8>& views, const AdaptiveWeightOptions& options,
                                  VolumeView<const float> costs, std::uint8_t poison, int device) {
  EXPECTS(views.fits(costs.width, costs.height));
  use_device(device);
  const std::size_t scratch = adaptive_weight_bytes(costs.width, costs.planes, costs.height);
  Call call(2 * volume_bytes(costs) + 2 * image_bytes(views.reference) + arena_bytes(scratch), poison);
  ColourImages images;
  images.pitch = padded_count<Rgb8>(costs.width);
  images.reference = call.upload(views.reference, images.pitch);
  if (!views.source.empty()) images.source = call.upload(views.source, images.pitch);
  images.side = views.side;
  images.min_disparity = views.min_disparity;
  const DeviceVolume given = call.upload(costs), means = call.take_volume(costs);
  queue_adaptive_weight(images, options, given, means, call.take_bytes(scratch), call.stream());
  return call.download(means);
}

Volume<float> run_cross_based(const SupportViews<Cross>& views, int longest, const CrossBasedOptions& options,
                              float max_cost, VolumeView<const float> costs, std::uint8_t poison,
                              int device) {
  EXPECTS(views.fits(costs.width, costs.height));
  use_device(device);
  const std::size_t scratch = cross_based_bytes(costs.width, costs.planes, costs.height, options, longest);
  Call call(volume_bytes(costs) + 2 * image_bytes(views.reference) + arena_bytes(scratch), poison);
  CrossImages arms;
  arms.pitch = padded_count<Cross>(costs.width);
  arms.reference = call.upload(views.reference, arms.pitch);
  if (!views.source.empty()) arms.source = call.upload(views.source, arms.pitch);
  arms.side = views.side;
  arms.min_disparity = views.min_disparity;
  arms.longest = longest;
  const DeviceVolume given = call.upload(costs);
  return call.download(
      queue_cross_based(arms, options, max_cost, given, call.take_bytes(scratch), call.stream()));
}

}  // namespace recon::cuda
