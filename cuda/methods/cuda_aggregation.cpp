#include "methods/cuda_aggregation.hpp"

#include "cuda/aggregate/cross_based.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/match/cross_arms.hpp"
#include "cuda/methods/measure.hpp"

namespace recon::cuda {
namespace {

/// Memory of a call: all pieces poisoned, freed at the end.
class Call {
 public:
  Call(std::size_t bytes, std::uint8_t poison) {
    arena_.reset(bytes);
    RECON_CUDA_TRY(cudaMemsetAsync(arena_.base(), poison, arena_.capacity(), stream_.get()));
  }

  cudaStream_t stream() const { return stream_.get(); }
  std::byte* take_bytes(std::size_t bytes) { return arena_.take<std::byte>(bytes); }

  template <class T>
  T* upload(ImageView<const T> image, std::ptrdiff_t pitch) {
    T* to = arena_.take<T>(element_count({pitch, image.height}));
    copy_rows(to, pitch, image.data, image.pitch, image.width, image.height);
    return to;
  }
  DeviceVolume upload(VolumeView<const float> volume) {
    const int rows = volume.height * volume.planes;
    float* data = arena_.take<float>(device_volume_floats(volume.width, volume.planes, volume.height));
    const DeviceVolume to = device_volume(data, volume.width, volume.planes, volume.height);
    copy_rows(to.data, to.pitch, volume.data, volume.pitch, volume.width, rows);
    return to;
  }
  Volume<float> download(const DeviceVolume& volume) {
    Volume<float> to(volume.width, volume.planes, volume.height);
    copy_rows(to.view().data, to.view().pitch, volume.data, volume.pitch, volume.width,
              volume.height * volume.planes);
    stream_.synchronize();
    return to;
  }
  template <class T>
  Image<T> download(const T* data, std::ptrdiff_t pitch, int width, int height) {
    Image<T> to(width, height);
    copy_rows(to.view().data, to.pitch(), data, pitch, width, height);
    stream_.synchronize();
    return to;
  }

 private:
  template <class T>
  void copy_rows(T* to, std::ptrdiff_t to_pitch, const T* from, std::ptrdiff_t from_pitch, int width,
                 int rows) {
    if (width == 0 || rows == 0) return;
    const auto bytes = [](std::ptrdiff_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
    RECON_CUDA_TRY(cudaMemcpy2DAsync(to, bytes(to_pitch), from, bytes(from_pitch), bytes(width),
                                     static_cast<std::size_t>(rows), cudaMemcpyDefault, stream_.get()));
  }

  Stream stream_;
  Arena arena_;
};

std::size_t volume_bytes(VolumeView<const float> volume) {
  return arena_bytes(device_volume_floats(volume.width, volume.planes, volume.height) * sizeof(float));
}

template <class T>
std::size_t image_bytes(ImageView<const T> image) {
  return arena_bytes(element_count({padded_count<T>(image.width), image.height}) * sizeof(T));
}

}  // namespace

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

Volume<float> run_cross_based(const SupportViews<Cross>& views, int longest, const CrossBasedOptions& options,
                              VolumeView<const float> costs, std::uint8_t poison, int device) {
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
  return call.download(queue_cross_based(arms, options, given, call.take_bytes(scratch), call.stream()));
}

}  // namespace recon::cuda
