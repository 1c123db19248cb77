#include "cuda/methods/map_stream.hpp"

#include "core/error.hpp"
#include "cuda/refine/normals.hpp"

namespace recon::cuda {

/// The maps of a view on the device; if the cache does not have them, `upload` queues what makes them. Empty
/// if memory is short.
std::optional<DeviceMaps> MapStream::acquire(const Pinhole& camera, std::uint64_t id, const Upload& upload) {
  const std::size_t pixels = element_count({camera.width, camera.height});
  const auto take = [&](Arena& arena) {
    return DeviceMaps{arena.take<float>(pixels), arena.take<Vec3f>(pixels), arena.take<Agreement>(pixels),
                      camera.width, camera.height};
  };
  return cache_.acquire_arrays({id, 0, DeviceLayout::kMaps}, stream_, uses_, take, upload);
}

std::optional<DeviceMaps> MapStream::acquire(const DepthSource& source) {
  std::optional<DepthSource::Maps> loaded;
  // Loaded before the upload, during which other streams wait for the cache.
  if (!cache_.has({source.id, 0, DeviceLayout::kMaps})) loaded = source.load();
  return acquire(source.camera, source.id, [&](const DeviceMaps& maps) {
    if (!loaded) loaded = source.load();
    staging_.upload(loaded->depth, maps.depth, maps.width, stream_);
    staging_.upload(loaded->normal, maps.normal, maps.width, stream_);
  });
}

std::optional<Image<Vec3f>> MapStream::normals(ImageView<const float> depth, const Pinhole& camera,
                                               std::uint64_t id) {
  EXPECTS(depth.width == camera.width && depth.height == camera.height);
  const ImageCache::Release release(&cache_, uses_);
  const std::optional<DeviceMaps> maps = acquire(camera, id, [&](const DeviceMaps& device_maps) {
    staging_.upload(depth, device_maps.depth, device_maps.width, stream_);
    launch_normals(device_maps.depth, camera, device_maps.normal, stream_.get());
  });
  if (!maps) return std::nullopt;
  Image<Vec3f> normals(camera.width, camera.height);
  staging_.download<Vec3f>(maps->normal, maps->width, normals.view(), stream_);
  return normals;
}

std::optional<Image<Agreement>> MapStream::count_agreement(const DepthSource& reference,
                                                           const std::vector<DepthSource>& sources,
                                                           const ConsistencyOptions& options) {
  const ImageCache::Release release(&cache_, uses_);
  const std::optional<DeviceMaps> view = acquire(reference);
  if (!view) return std::nullopt;
  Image<Agreement> counts(view->width, view->height);
  const std::size_t pixels = element_count({view->width, view->height});
  RECON_CUDA_TRY(cudaMemsetAsync(view->counts, 0, pixels * sizeof(Agreement), stream_.get()));
  for (const DepthSource& source : sources) {
    const std::optional<DeviceMaps> other = acquire(source);
    if (!other) return std::nullopt;
    launch_agreement(agreement_geometry(reference.camera, reference.cam_from_world, source.camera,
                                        source.cam_from_world, options),
                     *view, *other, stream_.get());
  }
  staging_.download<Agreement>(view->counts, view->width, counts.view(), stream_);
  return counts;
}

}  // namespace recon::cuda
